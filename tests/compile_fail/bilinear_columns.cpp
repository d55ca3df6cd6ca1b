// SPDX-License-Identifier: BSL-1.0
// sᵀ W h (B003) with a square W, and a key of another dimension than the query.
// EXPECT: the bilinear score q W k needs W to have one column for each component of the key k
// EXPECT-GNU: (6 == 4)
// EXPECT-Clang: 6 == 4
#include "attest/formula/learned_score.hpp"

struct d_q : attest::axis<4> {};
struct d_k : attest::axis<6> {};

int main() {
    attest::tensor<double, d_q> q;
    attest::tensor<double, d_k> k;
#ifdef ATTEST_TWIN
    const attest::bilinear score{attest::tensor<double, d_q, d_k>{}};
#else
    const attest::bilinear score{attest::tensor<double, d_q, d_q>{}};
#endif
    return score(q, k) > 0;
}
