// SPDX-License-Identifier: BSL-1.0
// The encoder of docs/encoder.md with one dimension changed: tokens of d_ff components.
// EXPECT: the product X W needs the weights W to have one row for each component of a row of X (layout in_out: d_in x d_out)
// EXPECT-GNU: (2048 == 512)
// EXPECT-Clang: 2048 == 512
// EXPECT: d_ff
#include "attest/formula/encoder.hpp"

struct n : attest::axis<64> {};
struct d_model : attest::axis<512> {};
struct H : attest::axis<8> {};
struct d_k : attest::per_head<d_model, H> {};
struct d_v : attest::per_head<d_model, H> {};
struct d_ff : attest::axis<2048> {};
using layer = attest::encoder_layer_weights<double, d_model, H, d_k, d_v, d_ff>;

int main() {
    extern attest::layer_stack<layer, 6> layers; // extern: GCC 12 computes at length whether a constructor of millions of zeros is constant
#ifdef ATTEST_TWIN
    attest::tensor<double, n, d_model> X;
#else
    attest::tensor<double, n, d_ff> X;
#endif
    return attest::encoder(X, layers)(0, 0) > 0;
}
