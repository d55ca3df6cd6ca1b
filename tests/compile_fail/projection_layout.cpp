// SPDX-License-Identifier: BSL-1.0
// The lecture's W x (B016) with the weights of the paper's X W: d_in × d_out instead of d_out × d_in.
// EXPECT: the product W x needs the weights W to have one column for each component of x (layout out_in: d_out x d_in)
// EXPECT-GNU: (512 == 64)
// EXPECT-Clang: 512 == 64
#include "attest/formula/projection.hpp"

struct d_model : attest::axis<512> {};
struct d_k : attest::axis<64> {};

int main() {
    attest::tensor<float, d_model> x;
    attest::tensor<float, d_model, d_k> W;
#ifdef ATTEST_TWIN
    return attest::project_in_out(x, W)(0) > 0;
#else
    return attest::project_out_in(x, W)(0) > 0;
#endif
}
