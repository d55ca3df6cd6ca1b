// SPDX-License-Identifier: BSL-1.0
// Three rows for an axis of two, in a constant.
// EXPECT: the braces must hold as many elements as the axes say
#include "attest/shape/tensor.hpp"

struct n : attest::axis<3> {};
struct d : attest::axis<2> {};

#ifdef ATTEST_TWIN
constexpr attest::tensor<double, n, d> x{{1, 2}, {3, 4}, {5, 6}};
#else
constexpr attest::tensor<double, d, d> x{{1, 2}, {3, 4}, {5, 6}};
#endif

int main() { return x.length(0) == 3; }
