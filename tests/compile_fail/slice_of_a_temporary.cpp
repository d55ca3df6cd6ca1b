// SPDX-License-Identifier: BSL-1.0
// A row of a product that nobody keeps: the view would look at nothing.
// EXPECT-GNU: use of deleted function
// EXPECT-Clang: overload resolution selected deleted operator '[]'
#include "attest/formula/matmul.hpp"

struct n : attest::axis<3> {};

int main() {
    const attest::tensor<double, n, n> A;
    const auto transposed = attest::transpose(A);
    const auto kept = [&]() -> const auto& { return transposed; };
    const auto thrown_away = [&]() { return transposed; };
#ifdef ATTEST_TWIN
    const auto row = kept()[0];
#else
    const auto row = thrown_away()[0];
#endif
    return row(0) + kept()(0, 0) > thrown_away()(0, 0);
}
