// SPDX-License-Identifier: BSL-1.0
// A copy that would turn 5 rows into 3.
// EXPECT: tensors that are combined element by element must have the same shape
// EXPECT-GNU: (3 == 5)
// EXPECT-Clang: 3 == 5
#include "attest/shape/tensor.hpp"

struct n : attest::axis<3> {};
struct m : attest::axis<5> {};

int main() {
    attest::tensor<float, m> y;
#ifdef ATTEST_TWIN
    attest::tensor<double, m> x(y);
#else
    attest::tensor<double, n> x(y);
#endif
    return x(0) > 0;
}
