// SPDX-License-Identifier: BSL-1.0
// e = sᵀh (B002) needs s and h of one dimension.
// EXPECT: the keys K must have as many components as the queries Q: both have dimension d_k, and a score is the dot product q_i . k_j
// EXPECT-GNU: (256 == 300)
// EXPECT-Clang: 256 == 300
#include "attest/formula/score.hpp"

struct d_s : attest::axis<256> {};
struct d_h : attest::axis<300> {};

int main() {
    attest::tensor<double, d_s> s;
#ifdef ATTEST_TWIN
    attest::tensor<double, d_s> h;
#else
    attest::tensor<double, d_h> h;
#endif
    return attest::dot_product{}(s, h) > 0;
}
