// SPDX-License-Identifier: BSL-1.0
// The example of docs/fast.md.
#include "attest/fast/attention.hpp"
#include "attest/formula/attention.hpp"
#include "catch.hpp"

#include <cmath>

namespace {
// [snippet]
#include <attest/fast/attention.hpp>

struct n : attest::axis<3> {};
struct d : attest::axis<4> {};

const attest::tensor<double, n, d> q{{1, 0, 0, 1}, {0, 2, 0, 0}, {1, 1, 1, 1}}, k{{1, 1, 0, 0}, {0, 1, 1, 0}, {2, 0, 0, 1}}, v{{1, 2, 3, 4}, {5, 6, 7, 8}, {9, 10, 11, 12}};

const auto z = attest::fast::attention(q, k, v, attest::causal_top_left{}); // tensor<double, n, d>
// [/snippet]
} // namespace

TEST_CASE("the example of docs/fast.md is attention", "[docs]") {
    const auto formula = attest::attention(q, k, v, attest::causal_top_left{});
    STATIC_REQUIRE(std::same_as<std::remove_const_t<decltype(z)>, std::remove_const_t<decltype(formula)>>);
    for (std::size_t i = 0; i < 3; ++i)
        for (std::size_t c = 0; c < 4; ++c) CHECK(std::fabs(z(i, c) - formula(i, c)) <= 0x1p-48); // values up to 12, some 10 roundings
}
