// SPDX-License-Identifier: BSL-1.0
// A077, A091: gamma and beta of d_ff components, for rows of d_model.
// EXPECT: gamma and beta must have one component for each component of x: they scale and shift each by itself
// EXPECT-GNU: (4 == 8)
// EXPECT-Clang: 4 == 8
#include "attest/formula/layer_norm.hpp"

struct n : attest::axis<2> {};
struct d_model : attest::axis<4> {};
struct d_ff : attest::axis<8> {};

int main() {
    attest::tensor<double, n, d_model> x;
#ifdef ATTEST_TWIN
    attest::layer_norm_weights<double, d_model> weights;
#else
    attest::layer_norm_weights<double, d_ff> weights;
#endif
    return attest::layer_norm(x, weights)(0, 0) > 0;
}
