// SPDX-License-Identifier: BSL-1.0
// A product of float and double.
// EXPECT: the two factors of a matrix product must have the same scalar
#include "attest/formula/matmul.hpp"

struct n : attest::axis<3> {};

int main() {
    attest::tensor<double, n, n> A;
#ifdef ATTEST_TWIN
    attest::tensor<double, n, n> B;
#else
    attest::tensor<float, n, n> B;
#endif
    return attest::matmul(A, B)(0, 0) > 0;
}
