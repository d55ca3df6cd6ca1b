// SPDX-License-Identifier: BSL-1.0
// Q Kᵀ with queries of 64 components and keys of 32. (A008)
// EXPECT: the keys K must have as many components as the queries Q: both have dimension d_k, and a score is the dot product q_i . k_j
// EXPECT-GNU: (64 == 32)
// EXPECT-Clang: 64 == 32
// EXPECT: d_k
// EXPECT: d_other
#include "attest/formula/score.hpp"

struct n_q : attest::axis<3> {};
struct n_k : attest::axis<5> {};
struct d_k : attest::axis<64> {};
struct d_other : attest::axis<32> {};

int main() {
    attest::tensor<double, n_q, d_k> Q;
#ifdef ATTEST_TWIN
    attest::tensor<double, n_k, d_k> K;
#else
    attest::tensor<double, n_k, d_other> K;
#endif
    return attest::scaled_scores(Q, K)(0, 0) > 0;
}
