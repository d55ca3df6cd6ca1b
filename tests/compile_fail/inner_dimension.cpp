// SPDX-License-Identifier: BSL-1.0
// X (3 × 512) times a matrix with 64 rows: the projection, transposed.
// EXPECT: the product A B needs B to have one row for each column of A
// EXPECT-GNU: (512 == 64)
// EXPECT-Clang: 512 == 64
#include "attest/formula/matmul.hpp"

struct n : attest::axis<3> {};
struct d_model : attest::axis<512> {};
struct d_k : attest::axis<64> {};

int main() {
    attest::tensor<float, n, d_model> X;
#ifdef ATTEST_TWIN
    attest::tensor<float, d_model, d_k> W;
#else
    attest::tensor<float, d_k, d_k> W;
#endif
    return attest::matmul(X, W)(0, 0) > 0;
}
