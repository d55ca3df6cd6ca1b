// SPDX-License-Identifier: BSL-1.0
// Lengths known at run time alone, with names that the compiler compares: the values are those of another sequence.
// EXPECT: the values V must have one row for each key: column j of the weights is the weight of key j, and multiplies v_j [different axis]
// EXPECT: n_encoder
// EXPECT: n_decoder
#include "attest/formula/attention.hpp"

struct n_encoder : attest::axis<attest::dynamic> {};
struct n_decoder : attest::axis<attest::dynamic> {};
struct d_k : attest::axis<8> {};

int main() {
    attest::tensor<double, n_decoder, d_k> Q;
    attest::tensor<double, n_encoder, d_k> K;
#ifdef ATTEST_TWIN
    attest::tensor<double, n_encoder, d_k> V;
#else
    attest::tensor<double, n_decoder, d_k> V;
#endif
    return attest::attention(Q, K, V).length(0) > 0;
}
