// SPDX-License-Identifier: BSL-1.0
// Two numbers for an axis of three.
// EXPECT: the braces must hold as many elements as the axes say
// EXPECT: n
#include "attest/shape/tensor.hpp"

struct n : attest::axis<3> {};
struct m : attest::axis<2> {};

int main() {
#ifdef ATTEST_TWIN
    const attest::tensor<double, m> x{1.3, 5.1};
#else
    const attest::tensor<double, n> x{1.3, 5.1};
#endif
    return x(0) > 0;
}
