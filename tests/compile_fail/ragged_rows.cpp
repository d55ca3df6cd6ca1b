// SPDX-License-Identifier: BSL-1.0
// The second row is shorter than the first.
// EXPECT: the rows of a matrix must have the same length
#include "attest/shape/tensor.hpp"

struct n : attest::axis<2> {};
struct d : attest::axis<3> {};

int main() {
    const double long_row[3] = {4, 5, 6};
    const double short_row[2] = {4, 5};
#ifdef ATTEST_TWIN
    const attest::tensor<double, n, d> x{{1, 2, 3}, long_row};
#else
    const attest::tensor<double, n, d> x{{1, 2, 3}, short_row};
#endif
    return x(1, 1) + long_row[0] > short_row[0];
}
