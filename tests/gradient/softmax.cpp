// SPDX-License-Identifier: BSL-1.0
#include "attest/gradient/softmax.hpp"
#include "catch.hpp"
#include "gradient/derivatives.hpp"

#include <cmath>
#include <limits>
#include <string>
#include <type_traits>

using namespace attest;
using derived::big;
using exactly::rational;

namespace {

struct n_q : axis<3> {};
struct n_k : axis<5> {};
using dyn = axis<dynamic>;
using keys = tensor<big, n_k>;

static_assert(std::is_same_v<decltype(softmax_vjp(tensor<float, n_k>{}, tensor<float, dyn>{})), tensor<float, n_k>>);
static_assert(std::is_same_v<decltype(softmax_vjp(tensor<float, n_q, n_k>{}, tensor<float, dyn, dyn>{})), tensor<float, n_q, n_k>>);

// In a constant expression: weights (1/4, 3/4), da = (4, 0): D = 1, dx = (3/4, −3/4).
static_assert(softmax_vjp(tensor<double, axis<2>>{0.25, 0.75}, tensor<double, axis<2>>{4, 0}) == tensor<double, axis<2>>{0.75, -0.75});

tensor<rational, n_k> some_weights(std::uint64_t seed) { // a distribution
    auto a = derived::filled(tensor<rational, n_k>{}, seed);
    rational sum(0);
    for (std::size_t j = 0; j < 5; ++j) {
        a(j) = a(j) + rational(3); // positive
        sum = sum + a(j);
    }
    for (std::size_t j = 0; j < 5; ++j) a(j) = a(j) / sum;
    return a;
}

} // namespace

TEST_CASE("the gradient of softmax is that of dual numbers", "[gradient]") {
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
        const auto x = derived::filled(keys{}, seed), da = derived::filled(keys{}, seed + 100);
        auto dual_x = derived::constants(x);
        derived::check_derivative(dual_x, softmax_vjp(softmax(x), da), [&] { return derived::along(da, softmax(dual_x)); });
        const auto hidden = [](std::size_t j) { return j % 2 == 0; };
        derived::check_derivative(dual_x, softmax_vjp(softmax(x, hidden), da, hidden), [&] { return derived::along(da, softmax(dual_x, hidden)); });
        // With a sink: its weight is in no output.
        const big sink(0.75);
        const dual<big> dual_sink(sink);
        derived::check_derivative(dual_x, softmax_vjp(softmax(x, hidden, empty_row::zero, &sink), da, hidden),
                                  [&] { return derived::along(da, softmax(dual_x, hidden, empty_row::zero, &dual_sink)); });
    }
}

TEST_CASE("given weights, the gradient of softmax is the Jacobian a_j (δ_jl − a_l) times da, exactly", "[gradient]") {
    for (std::uint64_t seed = 10; seed < 30; ++seed) {
        const auto a = some_weights(seed), da = derived::filled(tensor<rational, n_k>{}, seed + 100);
        const auto dx = softmax_vjp(a, da);
        rational sum(0);
        for (std::size_t l = 0; l < 5; ++l) {
            rational wanted(0);
            for (std::size_t j = 0; j < 5; ++j) wanted = wanted + da(j) * a(j) * (rational(j == l ? 1 : 0) - a(l));
            CAPTURE(seed, l, dx(l), wanted);
            CHECK(dx(l) == wanted);
            sum = sum + dx(l);
        }
        CHECK(sum == rational(0)); // what is added to every score changes nothing (A011)
        // And what is added to every da changes nothing: the weights add to 1.
        auto more = da;
        for (std::size_t j = 0; j < 5; ++j) more(j) = more(j) + rational(7);
        CHECK(softmax_vjp(a, more) == dx);
        // One key has weight 1, and nothing moves it.
        CHECK(softmax_vjp(tensor<rational, axis<1>>{rational(1)}, tensor<rational, axis<1>>{rational(5)})(0) == rational(0));
    }
}

TEST_CASE("a sink's own gradient is −a_sink D", "[gradient]") {
    const auto x = derived::filled(keys{}, 40), da = derived::filled(keys{}, 41);
    const auto visible = [](std::size_t j) { return j != 1; };
    for (const double logit : {-3.0, 0.0, 2.5, 30.0}) {
        const big sink(logit);
        const auto a = softmax(x, visible, empty_row::zero, &sink);
        big rest(1);
        for (std::size_t j = 0; j < 5; ++j) rest = rest - a(j);
        const big weight = detail::sink_weight(x, visible, sink);
        CAPTURE(logit, weight.text(50), rest.text(50));
        CHECK(abs(weight - rest) < big(1e-48)); // what the keys leave; by subtraction, so absolute
        const dual<big> dual_sink(sink, big(1));
        const auto wanted = derived::along(da, softmax(derived::constants(x), visible, empty_row::zero, &dual_sink)).derivative();
        const big got = -(weight * detail::weighted_mean(a, da, visible));
        CAPTURE(got.text(50), wanted.text(50));
        CHECK(derived::agrees(got, wanted));
    }
}

TEST_CASE("hidden entries of softmax have gradient 0 and are not read", "[gradient]") {
    const double nan = std::nan(""), infinity = std::numeric_limits<double>::infinity();
    const tensor<double, axis<3>> a{0.25, 0, 0.75}, da{4, infinity, 0};
    const auto visible = [](std::size_t j) { return j != 1; };
    CHECK(softmax_vjp(a, da, visible) == tensor<double, axis<3>>{0.75, 0, -0.75});
    CHECK(std::isnan(softmax_vjp(a, da)(0))); // unless nobody says that it is hidden
    // Row by row with a mask, and a row without a visible key, whose weights were asked to be NaN.
    const tensor<double, axis<2>, axis<3>> weights{{0.25, 0, 0.75}, {nan, nan, nan}}, dweights{{4, nan, 0}, {1, 2, 3}};
    const tensor<bool, axis<2>, axis<3>> may_see{{true, false, true}, {false, false, false}};
    CHECK(softmax_vjp(weights, dweights, keep_mask{may_see}) == tensor<double, axis<2>, axis<3>>{{0.75, 0, -0.75}, {0, 0, 0}});
}

TEST_CASE("row-wise gradients of softmax are those of the rows, on fixed and dynamic axes", "[gradient]") {
    const auto x = derived::filled(tensor<big, n_q, n_k>{}, 50), da = derived::filled(tensor<big, n_q, n_k>{}, 51);
    const auto dx = softmax_vjp(softmax(x), da);
    for (std::size_t i = 0; i < 3; ++i) CHECK(softmax_vjp(softmax(x[i]), da[i]) == dx[i]);
    CHECK(softmax_vjp(softmax(tensor<big, dyn, dyn>(x)), tensor<big, dyn, dyn>(da)) == dx);
    auto dual_x = derived::constants(x);
    derived::check_derivative(dual_x, softmax_vjp(softmax(x, causal_top_left{}), da, causal_top_left{}),
                              [&] { return derived::along(da, softmax(dual_x, causal_top_left{})); });
    const std::string sentence = rules::gradient_has_shape_of_output::sentence;
    CHECK_THROWS_WITH(softmax_vjp(x, tensor<big, dyn, dyn>::with_lengths(3, 4)), sentence + " (4 and 5)");
    CHECK_THROWS_WITH(softmax_vjp(x, tensor<big, dyn, dyn>::with_lengths(2, 5)), sentence + " (2 and 3)");
    CHECK_THROWS_WITH(softmax_vjp(x[0], tensor<big, dyn>::with_lengths(6)), sentence + " (6 and 5)");
}
