// SPDX-License-Identifier: BSL-1.0
// The encoder of docs/encoder.md with one dimension changed: d_model 500, which 8 heads do not divide.
// EXPECT: the number of heads H must divide d_model: each head has d_k = d_model / H components
// EXPECT: 500
// EXPECT: 8
#include "attest/formula/encoder.hpp"

struct n : attest::axis<64> {};
#ifdef ATTEST_TWIN
struct d_model : attest::axis<512> {};
#else
struct d_model : attest::axis<500> {};
#endif
struct H : attest::axis<8> {};
struct d_k : attest::per_head<d_model, H> {};
struct d_v : attest::per_head<d_model, H> {};
struct d_ff : attest::axis<2048> {};
using layer = attest::encoder_layer_weights<double, d_model, H, d_k, d_v, d_ff>;

int main() {
    extern attest::layer_stack<layer, 6> layers; // extern: GCC 12 computes at length whether a constructor of millions of zeros is constant
    attest::tensor<double, n, d_model> X;
    return attest::encoder(X, layers)(0, 0) > 0;
}
