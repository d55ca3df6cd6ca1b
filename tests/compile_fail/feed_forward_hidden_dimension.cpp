// SPDX-License-Identifier: BSL-1.0
// A103: W_1 makes 2048 components of 512, and W_2 takes 512 of them.
// EXPECT: the product X W needs the weights W to have one row for each component of a row of X (layout in_out: d_in x d_out)
// EXPECT-GNU: (2048 == 512)
// EXPECT-Clang: 2048 == 512
// EXPECT: d_ff
#include "attest/formula/feed_forward.hpp"

struct n : attest::axis<3> {};
struct d_model : attest::axis<512> {};
struct d_ff : attest::axis<2048> {};

int main() {
    attest::tensor<float, n, d_model> X;
    attest::tensor<float, d_model, d_ff> W_1;
    attest::tensor<float, d_ff> b_1;
    attest::tensor<float, d_model> b_2;
#ifdef ATTEST_TWIN
    attest::tensor<float, d_ff, d_model> W_2;
#else
    attest::tensor<float, d_model, d_model> W_2;
#endif
    return attest::feed_forward(X, W_1, b_1, W_2, b_2)(0, 0) > 0;
}
