// SPDX-License-Identifier: BSL-1.0
// The example of docs/feed_forward.md.
#include "attest/formula/feed_forward.hpp"
#include "catch.hpp"
#include "docs/digits.hpp"

namespace {
// [snippet]
#include <attest/formula/feed_forward.hpp>

struct n : attest::axis<2> {};
struct d_model : attest::axis<2> {};
struct d_ff : attest::axis<3> {};

constexpr attest::feed_forward_weights<double, d_model, d_ff> W{
    .w_1 = {{1, 0, -1}, {0, 1, 1}}, .b_1 = {0, 0, 1}, .w_2 = {{1, 0}, {0, 1}, {2, 2}}, .b_2 = {0, -1}};
constexpr attest::tensor<double, n, d_model> X{{2, -1}, {0, 0}};

constexpr auto Y = attest::feed_forward(X, W); // ReLU: (2, -1) and, for the token (0, 0), (2, 1)
constexpr auto Y_gelu = attest::feed_forward(X, W, {attest::activation_kind::gelu}); // (1.86, -1.25) and (1.68, 0.68)
static_assert(Y(0, 0) == 2 && Y(0, 1) == -1 && Y(1, 0) == 2 && Y(1, 1) == 1);
// [/snippet]
} // namespace

TEST_CASE("the digits of docs/feed_forward.md", "[docs]") {
    CHECK(docs::with_digits(Y[0], 0) + "; " + docs::with_digits(Y[1], 0) == "2, -1; 2, 1");
    CHECK(docs::with_digits(Y_gelu[0], 2) + "; " + docs::with_digits(Y_gelu[1], 2) == "1.86, -1.25; 1.68, 0.68");
}
