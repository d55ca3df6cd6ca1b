// SPDX-License-Identifier: BSL-1.0
// Cross-attention whose memory has another width than the weights of keys and values expect.
// EXPECT: the product X W needs the weights W to have one row for each component of a row of X (layout in_out: d_in x d_out)
// EXPECT-GNU: (12 == 16)
// EXPECT-Clang: 12 == 16
#include "attest/formula/multi_head.hpp"

struct decoder : attest::axis<2> {};
struct encoder : attest::axis<3> {};
struct d_model : attest::axis<16> {};
struct d_encoder : attest::axis<12> {};
struct H : attest::axis<4> {};
struct d_k : attest::axis<4> {};

int main() {
    const attest::tensor<float, decoder, d_model> X;
    const attest::tensor<float, encoder, d_encoder> memory;
#ifdef ATTEST_TWIN
    const attest::multi_head_weights<float, d_model, H, d_k, d_k, H, d_encoder> w;
#else
    const attest::multi_head_weights<float, d_model, H, d_k, d_k, H, d_model> w;
#endif
    return attest::multi_head_attention(X, memory, w)(0, 0) > 0;
}
