// SPDX-License-Identifier: BSL-1.0
// Cross-attention (B059) with keys from the decoder and values from the encoder. Both streams are equally long here: their names tell them apart.
// EXPECT: the values V must have one row for each key: column j of the weights is the weight of key j, and multiplies v_j [same length, different axis]
// EXPECT: decoder
// EXPECT: encoder
#include "attest/formula/attention.hpp"

struct encoder : attest::axis<6> {};
struct decoder : attest::axis<6> {};
struct d_k : attest::axis<8> {};

int main() {
    attest::tensor<double, decoder, d_k> Q;
    attest::tensor<double, encoder, d_k> V;
#ifdef ATTEST_TWIN
    attest::tensor<double, encoder, d_k> K;
#else
    attest::tensor<double, decoder, d_k> K;
#endif
    return attest::attention(Q, K, V)(0, 0) > 0;
}
