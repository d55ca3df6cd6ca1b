// SPDX-License-Identifier: BSL-1.0
// A mask with a row for each key.
// EXPECT: the mask must have one row for each query: entry (i, j) says whether query i may see key j
// EXPECT-GNU: (3 == 5)
// EXPECT-Clang: 3 == 5
#include "attest/formula/attention.hpp"

struct n_q : attest::axis<3> {};
struct n_k : attest::axis<5> {};
struct d : attest::axis<4> {};

int main() {
    attest::tensor<double, n_q, d> Q;
    attest::tensor<double, n_k, d> K;
#ifdef ATTEST_TWIN
    attest::tensor<bool, n_q, n_k> may_see;
#else
    attest::tensor<bool, n_k, n_k> may_see;
#endif
    return attest::attention(Q, K, K, attest::keep_mask{may_see})(0, 0) > 0;
}
