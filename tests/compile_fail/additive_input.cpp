// SPDX-License-Identifier: BSL-1.0
// b · tanh(W_1 h + W_2 s) (B005): W_1 is for the key. Here it has the columns of the query.
// EXPECT: the product W x needs the weights W to have one column for each component of x (layout out_in: d_out x d_in)
// EXPECT-GNU: (6 == 4)
// EXPECT-Clang: 6 == 4
#include "attest/formula/learned_score.hpp"

struct d_q : attest::axis<4> {};
struct d_k : attest::axis<6> {};
struct shared : attest::axis<5> {};

int main() {
    attest::tensor<double, d_q> q;
    attest::tensor<double, d_k> k;
    attest::tensor<double, shared, d_q> W_2;
    attest::tensor<double, shared> b;
#ifdef ATTEST_TWIN
    attest::tensor<double, shared, d_k> W_1;
#else
    attest::tensor<double, shared, d_q> W_1;
#endif
    return attest::additive{W_1, W_2, b}(q, k) > 0;
}
