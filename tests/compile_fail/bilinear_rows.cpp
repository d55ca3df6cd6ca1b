// SPDX-License-Identifier: BSL-1.0
// sᵀ W h (B003) with W transposed: its rows are those of the key.
// EXPECT: the bilinear score q W k needs W to have one row for each component of the query q
// EXPECT-GNU: (4 == 6)
// EXPECT-Clang: 4 == 6
#include "attest/formula/attention.hpp"
#include "attest/formula/learned_score.hpp"

struct n : attest::axis<3> {};
struct d_q : attest::axis<4> {};
struct d_k : attest::axis<6> {};

int main() {
    attest::tensor<double, n, d_q> Q;
    attest::tensor<double, n, d_k> K;
#ifdef ATTEST_TWIN
    const attest::bilinear score{attest::tensor<double, d_q, d_k>{}};
#else
    const attest::bilinear score{attest::tensor<double, d_k, d_k>{}};
#endif
    return attest::attention(Q, K, K, attest::everything{}, score)(0, 0) > 0;
}
