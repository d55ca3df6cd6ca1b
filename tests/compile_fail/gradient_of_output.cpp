// SPDX-License-Identifier: BSL-1.0
// The gradient of attention's output has the width of the values, not of the keys.
// EXPECT: the gradient of an output must have the shape of the output
// EXPECT-GNU: (16 == 64)
// EXPECT-Clang: 16 == 64
#include "attest/gradient/attention.hpp"

struct n : attest::axis<3> {};
struct d_k : attest::axis<16> {};
struct d_v : attest::axis<64> {};

int main() {
    attest::tensor<double, n, d_k> Q, K;
    attest::tensor<double, n, d_v> V;
#ifdef ATTEST_TWIN
    attest::tensor<double, n, d_v> dout;
#else
    attest::tensor<double, n, d_k> dout;
#endif
    return attest::attention_vjp(Q, K, V, dout).dq(0, 0) > 0;
}
