// SPDX-License-Identifier: BSL-1.0
// The example of docs/layer_norm.md.
#include "attest/formula/layer_norm.hpp"
#include "attest/gradient/layer_norm.hpp"
#include "catch.hpp"
#include "docs/digits.hpp"

#include <cmath>

namespace {
// [snippet]
#include <attest/formula/layer_norm.hpp>
#include <attest/gradient/layer_norm.hpp>

struct n : attest::axis<2> {};
struct d : attest::axis<4> {};

constexpr attest::tensor<double, n, d> x{{1, 0, 0, 0}, {3, 5, 1, 7}};
constexpr auto x_hat = attest::layer_norm(x, {.eps = 0}); // row 0: 1.73205, -0.57735, -0.57735, -0.57735

// The other variance: 1.5 in the same place.
constexpr auto unbiased = attest::layer_norm(x, {.eps = 0, .variance = attest::variance_kind::unbiased});
static_assert(unbiased(0, 0) == 1.5);

// With weights, as a model has them, and the gradients of all that went in.
attest::layer_norm_weights<double, d> weights{.gamma = {1, 2, 3, 4}, .beta = {0.5, 0.5, 0.5, 0.5}};

auto backward(const attest::tensor<double, n, d>& dy) {
    return attest::layer_norm_vjp(x, weights, {}, dy); // .dx, .dweights.gamma, .dweights.beta
}
// [/snippet]
} // namespace

TEST_CASE("the digits of docs/layer_norm.md", "[docs]") {
    CHECK(docs::with_digits(x_hat[0], 5) == "1.73205, -0.57735, -0.57735, -0.57735");
    const auto y = attest::layer_norm(x, weights, {.eps = 0});
    CHECK(docs::with_digits(y(0, 1), 5) == docs::with_digits(0.5 - 2 * 0.57735026919, 5));
    const auto gradient = backward({{1, 2, 3, 4}, {5, 6, 7, 8}});
    CHECK(docs::with_digits(gradient.dweights.beta, 0) == "6, 8, 10, 12");
    // The table of the two places of ε: x̂ of a row (σ, −σ).
    for (const auto& [sigma, in_root, beside] : {std::tuple{1.0, "0.999995", "0.999990"}, std::tuple{0.01, "0.953463", "0.999001"}, std::tuple{0.001, "0.301511", "0.990099"}}) {
        const attest::tensor<double, attest::axis<2>> row{sigma, -sigma};
        CHECK(docs::with_digits(attest::layer_norm(row)(0), 6) == in_root);
        CHECK(docs::with_digits(attest::layer_norm(row, {1e-5, attest::eps_placement::std})(0), 6) == beside);
    }
    CHECK(docs::with_digits(std::sqrt(3.0 / 4), 4) == "0.8660");
    CHECK(docs::with_digits(1 - std::sqrt(767.0 / 768), 5) == "0.00065");
}
