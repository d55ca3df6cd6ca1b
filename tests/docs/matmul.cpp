// SPDX-License-Identifier: BSL-1.0
// The example of docs/matmul.md.
#include "attest/formula/matmul.hpp"
#include "catch.hpp"

namespace {
// [snippet]
#include <attest/formula/matmul.hpp>

struct n : attest::axis<2> {};
struct d : attest::axis<3> {};
struct d_v : attest::axis<2> {};

constexpr attest::tensor<int, n, d> X{{1, 2, 3}, {4, 5, 6}};
constexpr attest::tensor<int, d, d_v> W{{1, 0}, {0, 1}, {2, 2}};

constexpr attest::tensor<int, n, d_v> V = attest::matmul(X, W); // matmul(W, X) does not compile: d_v and n are not the same axis
static_assert(V == attest::tensor<int, n, d_v>{{7, 8}, {16, 17}});
static_assert(attest::matmul(X, attest::transpose(X))(0, 1) == 32); // row 0 · row 1 = 4 + 10 + 18
// [/snippet]
static_assert(!attest::rules::inner_dimension::holds<d_v, n>);
} // namespace

TEST_CASE("the digits of docs/matmul.md", "[docs]") {
    CHECK(attest::dot(X[0], X[1]) == 4 + 10 + 18);
}
