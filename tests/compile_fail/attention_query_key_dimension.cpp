// SPDX-License-Identifier: BSL-1.0
// Attention of queries of 64 components to keys of 32.
// EXPECT: the keys K must have as many components as the queries Q: both have dimension d_k, and a score is the dot product q_i . k_j
// EXPECT-GNU: (64 == 32)
// EXPECT-Clang: 64 == 32
#include "attest/formula/attention.hpp"

struct n : attest::axis<3> {};
struct d_k : attest::axis<64> {};
struct d_other : attest::axis<32> {};

int main() {
    attest::tensor<double, n, d_k> Q;
    attest::tensor<double, n, d_k> V;
#ifdef ATTEST_TWIN
    attest::tensor<double, n, d_k> K;
#else
    attest::tensor<double, n, d_other> K;
#endif
    return attest::attention(Q, K, V)(0, 0) > 0;
}
