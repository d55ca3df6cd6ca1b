// SPDX-License-Identifier: BSL-1.0
// A mask with a column for each query, added to the scores.
// EXPECT: the mask must have one column for each key: entry (i, j) says whether query i may see key j
// EXPECT-GNU: (5 == 3)
// EXPECT-Clang: 5 == 3
#include "attest/formula/softmax.hpp"

struct n_q : attest::axis<3> {};
struct n_k : attest::axis<5> {};

int main() {
    attest::tensor<double, n_q, n_k> scores;
#ifdef ATTEST_TWIN
    attest::tensor<double, n_q, n_k> bias;
#else
    attest::tensor<double, n_q, n_q> bias;
#endif
    return attest::softmax(scores, attest::additive_mask{bias})(0, 0) > 0;
}
