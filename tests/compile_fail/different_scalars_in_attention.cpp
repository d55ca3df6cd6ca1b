// SPDX-License-Identifier: BSL-1.0
// Keys in float, the rest in double.
// EXPECT: Q, K and V must have the same scalar
#include "attest/formula/attention.hpp"

struct n : attest::axis<3> {};
struct d : attest::axis<2> {};

int main() {
    attest::tensor<double, n, d> Q;
#ifdef ATTEST_TWIN
    attest::tensor<double, n, d> K;
#else
    attest::tensor<float, n, d> K;
#endif
    return attest::attention(Q, K, Q)(0, 0) > 0;
}
