// SPDX-License-Identifier: BSL-1.0
// Weights for 6 keys, values for 5: the stream of another sentence.
// EXPECT: the values V must have one row for each key: column j of the weights is the weight of key j, and multiplies v_j
// EXPECT-GNU: (6 == 5)
// EXPECT-Clang: 6 == 5
// EXPECT: n_encoder
// EXPECT: n_decoder
#include "attest/formula/matmul.hpp"

struct n_encoder : attest::axis<6> {};
struct n_decoder : attest::axis<5> {};
struct d_v : attest::axis<8> {};

int main() {
    attest::tensor<double, n_decoder, n_encoder> weights;
#ifdef ATTEST_TWIN
    attest::tensor<double, n_encoder, d_v> V;
#else
    attest::tensor<double, n_decoder, d_v> V;
#endif
    return attest::matmul<attest::rules::value_for_each_key>(weights, V)(0, 0) > 0;
}
