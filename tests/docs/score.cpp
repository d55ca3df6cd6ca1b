// SPDX-License-Identifier: BSL-1.0
// The example of docs/score.md.
#include "attest/formula/score.hpp"
#include "catch.hpp"
#include "docs/digits.hpp"

namespace {
// [snippet]
#include <attest/formula/score.hpp>

struct d_k : attest::axis<2> {};

constexpr attest::tensor<double, d_k> q{3, 4}, k{0, 2};
static_assert(attest::dot_product{}(q, k) == 8);
constexpr double s = attest::scaled_dot_product<double>::of_dimension(2)(q, k); // 8 / sqrt(2) = 5.65685

// A score of one's own: half the squared distance, with the sign that makes near keys relevant.
constexpr auto nearness = [](const auto& a, const auto& b) {
    double sum = 0;
    for (std::size_t c = 0; c < a.length(0); ++c) sum += (a(c) - b(c)) * (a(c) - b(c));
    return -sum / 2;
};
static_assert(nearness(q, k) == -6.5);
// [/snippet]
} // namespace

TEST_CASE("the digits of docs/score.md", "[docs]") {
    CHECK(docs::with_digits(s, 5) == "5.65685");
    CHECK(attest::scaled_dot_product<double>::of_dimension(64).scale == 1.0 / 8);
    // −½‖q − k‖² = q·k − ½‖q‖² − ½‖k‖²
    CHECK(nearness(q, k) == attest::dot(q, k) - attest::dot(q, q) / 2 - attest::dot(k, k) / 2);
}
