// SPDX-License-Identifier: BSL-1.0
// Cross-attention with keys from the encoder and values from the decoder.
// EXPECT: the values V must have one row for each key: column j of the weights is the weight of key j, and multiplies v_j
// EXPECT-GNU: (6 == 5)
// EXPECT-Clang: 6 == 5
#include "attest/formula/attention.hpp"

struct n_encoder : attest::axis<6> {};
struct n_decoder : attest::axis<5> {};
struct d_k : attest::axis<8> {};

int main() {
    attest::tensor<double, n_decoder, d_k> Q;
    attest::tensor<double, n_encoder, d_k> K;
#ifdef ATTEST_TWIN
    attest::tensor<double, n_encoder, d_k> V;
#else
    attest::tensor<double, n_decoder, d_k> V;
#endif
    return attest::attention(Q, K, V)(0, 0) > 0;
}
