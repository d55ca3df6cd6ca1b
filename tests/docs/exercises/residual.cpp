// SPDX-License-Identifier: BSL-1.0
// Answers of the exercises in docs/residual.md.
#include "attest/arithmetic/dual.hpp"
#include "attest/arithmetic/rational.hpp"
#include "attest/formula/layer_norm.hpp"
#include "attest/formula/residual.hpp"
#include "attest/gradient/projection.hpp"
#include "attest/gradient/residual.hpp"
#include "catch.hpp"
#include "docs/digits.hpp"

namespace {

using attest::axis;
using attest::rational;
using attest::tensor;
using slope = attest::dual<rational>;

// [exercise 1]
using token = tensor<int, axis<1>, axis<2>>;
constexpr tensor<int, axis<2>, axis<2>> A{{0, -1}, {1, 0}}; // f(x) = A x: the layout out_in
constexpr auto back = attest::residual_vjp(token{{1, 0}});
constexpr auto dx = attest::residual(back.dx, attest::project_out_in_vjp(token{}, A, back.dsublayer).dx);
static_assert(dx == token{{1, -1}});
static_assert(dx(0, 0) * dx(0, 0) + dx(0, 1) * dx(0, 1) == 2);
// [/exercise 1]

// [exercise 2]
constexpr rational reciprocal(int parts) { return rational::ratio(1, parts); }
template <class S> constexpr S through(const S& x, const S& slope_of_f) {
    return attest::residual(tensor<S, axis<1>>{x}, tensor<S, axis<1>>{slope_of_f * x})(0);
}
constexpr auto after_three = through(through(through(slope(7, 1), slope(reciprocal(2))), slope(reciprocal(3))), slope(reciprocal(4)));
constexpr rational over_paths = [] {
    rational sum = 0;
    for (int path = 0; path < 8; ++path) { // bit s: through sublayer s
        rational product = 1;
        for (int s = 0; s < 3; ++s)
            if ((path >> s) % 2 == 1) product = product * reciprocal(s + 2);
        sum = sum + product;
    }
    return sum;
}();
static_assert(after_three.derivative() == rational::ratio(5, 2) && over_paths == rational::ratio(5, 2));
// [/exercise 2]

// [exercise 3]
TEST_CASE("what is left of a gradient after 12 sublayers") {
    attest::dual<double> with(0, 1), without(0, 1);
    const attest::dual<double> falling(-0.01);
    for (int layer = 0; layer < 12; ++layer) {
        with = through(with, falling);
        without = falling * without;
    }
    CHECK(docs::with_digits(with.derivative(), 3) == "0.886");
    CHECK(docs::with_digits(without.derivative() * 1e24, 6) == "1.000000");
}
// [/exercise 3]

// [exercise 4]
using moving = tensor<slope, axis<4>>;
constexpr moving without_mean(const moving& x) {
    const slope minus_mean = slope(0) - attest::mean(x);
    return attest::residual(x, moving{minus_mean, minus_mean, minus_mean, minus_mean});
}
constexpr auto alike = without_mean({slope(5, 1), slope(1, 1), slope(3, 1), slope(3, 1)});
static_assert(alike(0).value() == 2 && alike(1).value() == -2 && alike(2).value() == 0 && alike(3).value() == 0);
static_assert(alike(0).derivative() == 0 && alike(1).derivative() == 0 && alike(2).derivative() == 0 && alike(3).derivative() == 0);
// [/exercise 4]

// [exercise 5]
using pair = tensor<rational, axis<2>>;
constexpr pair one{3, -3}, other{5, -1}; // 2 is added
static_assert(attest::layer_norm(one, {.eps = 0}) == attest::layer_norm(other, {.eps = 0}));
constexpr pair some_f(const pair& normed) { return {7 * normed(0), normed(0) + 2 * normed(1)}; }
constexpr pair right_block(const pair& x) { return attest::residual(x, some_f(attest::layer_norm(x, {.eps = 0}))); }
constexpr pair mistaken_block(const pair& x) {
    const pair normed = attest::layer_norm(x, {.eps = 0});
    return attest::residual(normed, some_f(normed));
}
static_assert(mistaken_block(one) == mistaken_block(other) && right_block(one) != right_block(other));
// [/exercise 5]

} // namespace
