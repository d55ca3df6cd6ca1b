// SPDX-License-Identifier: BSL-1.0
// V = X W_V (A062): W_V has a row for each component of a token, not for each token.
// EXPECT: the product X W needs the weights W to have one row for each component of a row of X (layout in_out: d_in x d_out)
// EXPECT-GNU: (512 == 3)
// EXPECT-Clang: 512 == 3
#include "attest/formula/projection.hpp"

struct n : attest::axis<3> {};
struct d : attest::axis<512> {};
struct d_v : attest::axis<64> {};

int main() {
    attest::tensor<float, n, d> X;
#ifdef ATTEST_TWIN
    attest::tensor<float, d, d_v> W_V;
#else
    attest::tensor<float, n, d_v> W_V;
#endif
    return attest::project_in_out(X, W_V)(0, 0) > 0;
}
