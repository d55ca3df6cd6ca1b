// SPDX-License-Identifier: BSL-1.0
// The example of docs/softmax.md.
#include "attest/formula/softmax.hpp"
#include "catch.hpp"
#include "docs/digits.hpp"

// In a namespace without a name, so that another example may have axes of the same name.
namespace {
// [snippet]
#include <attest/formula/softmax.hpp>

struct word : attest::axis<5> {};

constexpr attest::tensor<double, word> z{1.3, 5.1, 2.2, 0.7, 1.1};
constexpr auto a = attest::softmax(z); // 0.02, 0.90, 0.05, 0.01, 0.02

// Only the first two are visible: the others get exactly 0, and these two share all the weight.
constexpr auto b = attest::softmax(z, [](std::size_t j) { return j < 2; }); // 0.0219, 0.9781, 0, 0, 0
static_assert(b(2) == 0);

constexpr double lse = attest::log_sum_exp(z); // 5.20254; then a_j = exp(z_j - lse)
// [/snippet]
} // namespace

TEST_CASE("the digits of docs/softmax.md", "[docs]") {
    CHECK(docs::with_digits(a, 2) == "0.02, 0.90, 0.05, 0.01, 0.02");
    CHECK(docs::with_digits(b(0), 4) + ", " + docs::with_digits(b(1), 4) == "0.0219, 0.9781");
    CHECK(docs::with_digits(lse, 5) == "5.20254");
    CHECK(docs::with_digits(attest::softmax(attest::tensor<double, attest::axis<2>>{1000, 1000}), 1) == "0.5, 0.5");
}
