// SPDX-License-Identifier: BSL-1.0
// The example of docs/activation.md.
#include "attest/gradient/activation.hpp"
#include "catch.hpp"
#include "docs/digits.hpp"

// In a namespace without a name, so that another example may have axes of the same name.
namespace {
// [snippet]
#include <attest/gradient/activation.hpp>

struct hidden : attest::axis<5> {};

constexpr attest::tensor<double, hidden> u{-3, -0.5, 0, 0.5, 3};
constexpr auto r = attest::relu(u);                             // 0, 0, 0, 0.5, 3
constexpr auto g = attest::gelu(u);                             // -0.00405, -0.15427, 0.00000, 0.34573, 2.99595
constexpr auto t = attest::gelu(u, attest::gelu_form::tanh);    // -0.00364, -0.15429, 0.00000, 0.34571, 2.99636
constexpr auto s = attest::gelu(u, attest::gelu_form::sigmoid); // -0.01807, -0.14961, 0.00000, 0.35039, 2.98193

// The choice as a value, as the feed-forward network takes it; and the slopes.
constexpr attest::activation gpt_2{attest::activation_kind::gelu, attest::gelu_form::tanh};
static_assert(attest::activate(u, gpt_2) == t);
static_assert(attest::relu_slope(0.0) == 0 && attest::gelu_slope(0.0) == 0.5);
// [/snippet]
} // namespace

TEST_CASE("the digits of docs/activation.md", "[docs]") {
    CHECK(r == attest::tensor<double, hidden>{0, 0, 0, 0.5, 3});
    CHECK(docs::with_digits(g, 5) == "-0.00405, -0.15427, 0.00000, 0.34573, 2.99595");
    CHECK(docs::with_digits(t, 5) == "-0.00364, -0.15429, 0.00000, 0.34571, 2.99636");
    CHECK(docs::with_digits(s, 5) == "-0.01807, -0.14961, 0.00000, 0.35039, 2.98193");
}
