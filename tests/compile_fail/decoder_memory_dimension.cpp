// SPDX-License-Identifier: BSL-1.0
// The weights of the cross-attention read a memory of another model: as wide, and another axis.
// EXPECT: the product X W needs the weights W to have one row for each component of a row of X (layout in_out: d_in x d_out) [same length, different axis]
// EXPECT: d_image
// EXPECT: d_text
#include "attest/formula/decoder.hpp"

struct n : attest::axis<3> {};
struct m : attest::axis<5> {};
struct d_model : attest::axis<8> {};
struct d_image : attest::axis<6> {};
struct d_text : attest::axis<6> {};
struct H : attest::axis<2> {};
struct d_k : attest::per_head<d_model, H> {};
struct d_ff : attest::axis<16> {};

int main() {
    attest::tensor<float, n, d_model> X;
    attest::decoder_layer_weights<float, d_model, H, d_k, d_k, d_ff, H, d_text> weights;
#ifdef ATTEST_TWIN
    attest::tensor<float, m, d_text> memory;
#else
    attest::tensor<float, m, d_image> memory;
#endif
    return attest::decoder_layer(X, memory, weights, {}, attest::attention_how<attest::causal_top_left>{})(0, 0) > 0;
}
