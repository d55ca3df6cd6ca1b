// SPDX-License-Identifier: BSL-1.0
// A084: attention hands back d_v components, and there is no W_O that brings them back to d_model.
// EXPECT: a residual connection X + Sublayer(X) needs Sublayer(X) to have the shape of X
// EXPECT-GNU: (4 == 3)
// EXPECT-Clang: 4 == 3
#include "attest/formula/attention.hpp"
#include "attest/formula/residual.hpp"

struct n : attest::axis<2> {};
struct d_model : attest::axis<4> {};
struct d_v : attest::axis<3> {};

int main() {
    attest::tensor<double, n, d_model> x;
#ifdef ATTEST_TWIN
    attest::tensor<double, n, d_model> v;
#else
    attest::tensor<double, n, d_v> v;
#endif
    return attest::residual(x, attest::attention(x, x, v))(0, 0) > 0;
}
