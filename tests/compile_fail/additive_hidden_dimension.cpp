// SPDX-License-Identifier: BSL-1.0
// b · tanh(W_1 h + W_2 s) (B005) with a W_2 that projects into another space than W_1.
// EXPECT: the additive score b . tanh(W_1 k + W_2 q) needs b, W_1 and W_2 to have equally many rows
// EXPECT-GNU: (5 == 7)
// EXPECT-Clang: 5 == 7
#include "attest/formula/learned_score.hpp"

struct d : attest::axis<4> {};
struct shared : attest::axis<5> {};
struct another : attest::axis<7> {};

int main() {
    attest::tensor<double, d> q, k;
    attest::tensor<double, shared, d> W_1;
    attest::tensor<double, shared> b;
#ifdef ATTEST_TWIN
    attest::tensor<double, shared, d> W_2;
#else
    attest::tensor<double, another, d> W_2;
#endif
    return attest::additive{W_1, W_2, b}(q, k) > 0;
}
