// SPDX-License-Identifier: BSL-1.0
#include "attest/gradient/layer_norm.hpp"
#include "attest/arithmetic/interval.hpp"
#include "gradient/derivatives.hpp"

#include <cmath>
#include <string>
#include <type_traits>

using namespace attest;
using exactly::rational;
using dyn = axis<dynamic>;

namespace {

using derived::big;
struct n : axis<3> {};
struct d : axis<4> {};

constexpr auto in_variance = eps_placement::variance, beside_std = eps_placement::std;
constexpr auto biased = variance_kind::biased, unbiased = variance_kind::unbiased;

template <class S> using matrix = tensor<S, dyn, dyn>;
template <class S> using row = tensor<S, dyn>;

static_assert(std::is_same_v<decltype(layer_norm_vjp(tensor<float, n, d>{}, layer_norm_weights<float, d>{}, {}, tensor<float, n, d>{})),
                             layer_norm_gradient<tensor<float, n, d>, layer_norm_weights<float, d>>>);
// In constant expressions too.
constexpr auto of_ones = layer_norm_vjp(tensor<double, axis<1>, d>{{1, 3, 5, 7}}, layer_norm_weights<double, d>{}, {}, tensor<double, axis<1>, d>{{1, 1, 1, 1}});
static_assert(of_ones.dweights.beta == tensor<double, d>{1, 1, 1, 1});

// Rows in which every root that is needed is rational: √v, and √(v + ε) by the choice of ε. The rows are one row, shifted, mirrored and turned, so that
// one ε does for all.
struct exact_case {
    matrix<rational> x, dy;
    layer_norm_weights<rational, dyn> weights;
    layer_norm_options<rational> options;
};
exact_case random_exact_case(std::uint64_t seed, eps_placement placement, variance_kind kind, bool centred) {
    std::mt19937_64 generator(seed);
    for (;; seed += 1000) {
        const std::size_t width = 2 + generator() % 4;
        exact_case c;
        const auto one = derived::filled(row<rational>::with_lengths(width), seed);
        const rational v = centred ? variance(one, kind) : detail::mean_square(one);
        c.options = {rational(1 + static_cast<int>(seed % 9), 10), placement, kind};
        if (placement == in_variance) {
            const rational root(3 + static_cast<int>(seed % 3)); // no σ here is above 3
            c.options.eps = root * root - v;
        } else {
            try {
                if (attest::sqrt(v) == 0) continue;
            } catch (const std::domain_error&) {
                continue;
            }
        }
        c.x = matrix<rational>::with_lengths(3, width);
        for (std::size_t k = 0; k < width; ++k) {
            c.x(0, k) = one(k);
            c.x(1, k) = centred ? rational(5) - one(k) : -one(k);
            c.x(2, k) = one(width - 1 - k);
        }
        c.dy = derived::filled(c.x, seed + 1);
        c.weights = {derived::filled(one, seed + 2), derived::filled(one, seed + 3)};
        return c;
    }
}

template <class S> layer_norm_options<dual<S>> lifted(const layer_norm_options<S>& options) {
    return {dual<S>(options.eps), options.placement, options.variance};
}

// Every component of the gradient against dual numbers.
template <class S>
void check_layer_norm(const matrix<S>& x, const layer_norm_weights<S, dyn>& weights, const layer_norm_options<S>& options, const matrix<S>& dy) {
    const auto gradient = layer_norm_vjp(x, weights, options, dy);
    auto dual_x = derived::constants(x);
    layer_norm_weights<dual<S>, dyn> dual_weights{derived::constants(weights.gamma), derived::constants(weights.beta)};
    const auto value = [&] { return derived::along(dy, layer_norm(dual_x, dual_weights, lifted(options))); };
    derived::check_derivative(dual_x, gradient.dx, value);
    derived::check_derivative(dual_weights.gamma, gradient.dweights.gamma, value);
    derived::check_derivative(dual_weights.beta, gradient.dweights.beta, value);
}
template <class S> void check_rms_norm(const matrix<S>& x, const row<S>& gamma, const layer_norm_options<S>& options, const matrix<S>& dy) {
    const auto gradient = rms_norm_vjp(x, gamma, options, dy);
    auto dual_x = derived::constants(x);
    auto dual_gamma = derived::constants(gamma);
    const auto value = [&] { return derived::along(dy, rms_norm(dual_x, dual_gamma, lifted(options))); };
    derived::check_derivative(dual_x, gradient.dx, value);
    derived::check_derivative(dual_gamma, gradient.dgamma, value);
}

} // namespace

TEST_CASE("the gradients are those of dual numbers, exactly, for each place of eps and kind of variance", "[gradient]") {
    for (const auto placement : {in_variance, beside_std})
        for (const auto kind : {biased, unbiased})
            for (std::uint64_t seed = 1; seed <= 12; ++seed) {
                CAPTURE(static_cast<int>(placement), static_cast<int>(kind), seed);
                const auto c = random_exact_case(seed, placement, kind, true);
                check_layer_norm(c.x, c.weights, c.options, c.dy);
                const auto r = random_exact_case(seed, placement, kind, false);
                check_rms_norm(r.x, r.weights.gamma, r.options, r.dy);
            }
}

TEST_CASE("and at 50 digits for rows of any kind", "[gradient]") {
    for (const auto placement : {in_variance, beside_std})
        for (const auto kind : {biased, unbiased})
            for (const int one_over_eps : {100000, 2}) {
                CAPTURE(static_cast<int>(placement), static_cast<int>(kind), one_over_eps);
                const layer_norm_options<big> options{big(1) / big(one_over_eps), placement, kind};
                const auto x = derived::filled(matrix<big>::with_lengths(3, 7), 21), dy = derived::filled(x, 22);
                const layer_norm_weights<big, dyn> weights{derived::filled(row<big>::with_lengths(7), 23), derived::filled(row<big>::with_lengths(7), 24)};
                check_layer_norm(x, weights, options, dy);
                check_rms_norm(x, weights.gamma, options, dy);
            }
}

TEST_CASE("absent gamma and beta are ones and zeros, and have gradients in full length", "[gradient]") {
    auto c = random_exact_case(3, in_variance, biased, true);
    for (std::size_t k = 0; k < c.x.length(1); ++k) c.weights.gamma(k) = rational(1);
    const auto given = layer_norm_vjp(c.x, c.weights, c.options, c.dy);
    const auto absent = layer_norm_vjp(c.x, layer_norm_weights<rational, dyn>{}, c.options, c.dy);
    CHECK(absent.dx == given.dx);
    CHECK(absent.dweights.gamma == given.dweights.gamma);
    CHECK(absent.dweights.beta == given.dweights.beta);
    REQUIRE(absent.dweights.gamma.length(0) == c.x.length(1));

    auto r = random_exact_case(3, in_variance, biased, false);
    for (std::size_t k = 0; k < r.x.length(1); ++k) r.weights.gamma(k) = rational(1);
    const auto given_rms = rms_norm_vjp(r.x, r.weights.gamma, r.options, r.dy), absent_rms = rms_norm_vjp(r.x, row<rational>{}, r.options, r.dy);
    CHECK(absent_rms.dx == given_rms.dx);
    CHECK(absent_rms.dgamma == given_rms.dgamma);
    // No rows: zeros, still in full length.
    const auto empty = matrix<double>::with_lengths(0, 5);
    CHECK(layer_norm_vjp(empty, layer_norm_weights<double, dyn>{}, {}, empty).dweights.beta == row<double>::with_lengths(5));
}

TEST_CASE("dx is blind to what the value is blind to", "[gradient]") {
    for (const auto placement : {in_variance, beside_std})
        for (const auto kind : {biased, unbiased})
            for (std::uint64_t seed = 31; seed <= 36; ++seed) {
                const auto c = random_exact_case(seed, placement, kind, true);
                const auto dx = layer_norm_vjp(c.x, c.weights, c.options, c.dy).dx;
                for (std::size_t i = 0; i < 3; ++i) { // a shift of the row changes nothing, so dx adds to 0
                    rational sum(0);
                    for (std::size_t k = 0; k < c.x.length(1); ++k) sum = sum + dx(i, k);
                    CHECK(sum == 0);
                }
            }
    // With ε = 0 nor does a factor: dx · x = 0. σ = 2 and 5 are rational.
    const tensor<rational, axis<2>, axis<2>> x{{3, 7}, {11, 1}}, dy{{2, 5}, {-1, 4}};
    for (const auto placement : {in_variance, beside_std}) {
        const auto dx = layer_norm_vjp(x, layer_norm_weights<rational, axis<2>>{{3, 8}, {0, 0}}, {rational(0), placement}, dy).dx;
        for (std::size_t i = 0; i < 2; ++i) CHECK(dx(i, 0) * x(i, 0) + dx(i, 1) * x(i, 1) == 0);
    }
}

TEST_CASE("a row without deviation: eps in the root", "[gradient]") {
    // √ε is rational, and so dual numbers know the derivative.
    const auto dy = derived::filled(matrix<rational>::with_lengths(2, 3), 41);
    auto x = dy;
    for (std::size_t k = 0; k < 3; ++k) x(0, k) = rational(5, 3), x(1, k) = rational(0);
    const layer_norm_weights<rational, dyn> weights{{2, -3, 5}, {1, 1, 1}};
    for (const auto kind : {biased, unbiased}) check_layer_norm(x, weights, {rational(1, 4), in_variance, kind}, dy);
    for (std::size_t k = 0; k < 3; ++k) x(0, k) = rational(0);
    check_rms_norm(x, weights.gamma, {rational(1, 4), in_variance, biased}, dy);
}

TEST_CASE("a row without deviation: eps beside sigma, where sigma has no derivative and the value has one", "[gradient]") {
    // From a constant row, t steps along u: x̂ = t c/(t σ_u + ε) exactly, so that (Σ g x̂)/t = (dx · u) ε/(t σ_u + ε), for every t > 0.
    const tensor<rational, axis<1>, axis<5>> start{{7, 7, 7, 7, 7}}, dy{{3, -1, 4, 1, -5}};
    const tensor<rational, axis<5>> u{5, 0, 0, 0, 0}; // σ_u = 2
    const layer_norm_weights<rational, axis<5>> weights{{2, 7, -1, 8, 2}, {0, 0, 0, 0, 0}};
    const layer_norm_options<rational> options{rational(1, 3), beside_std};
    const auto dx = layer_norm_vjp(start, weights, options, dy).dx;
    for (const int one_over_t : {1, 1000, 1000000}) {
        const rational t(1, one_over_t);
        auto moved = start;
        rational along_u(0), change(0);
        for (std::size_t k = 0; k < 5; ++k) {
            moved(0, k) = start(0, k) + t * u(k);
            along_u = along_u + dx(0, k) * u(k);
        }
        const auto y = layer_norm(moved, weights, options);
        for (std::size_t k = 0; k < 5; ++k) change = change + dy(0, k) * y(0, k);
        CHECK(change / t == along_u * options.eps / (t * rational(2) + options.eps));
        CHECK_FALSE(along_u == 0);
    }
    // RMSNorm from 0 likewise, along the same direction: √(25/5) is no fraction, but that of (2, 2, 2, 2, 2) is.
    const tensor<rational, axis<1>, axis<5>> zero;
    const auto rms_dx = rms_norm_vjp(zero, weights.gamma, options, dy).dx;
    for (std::size_t k = 0; k < 5; ++k) CHECK(rms_dx(0, k) == weights.gamma(k) * dy(0, k) / options.eps);
    // Never NaN while ε > 0; neither where the squares underflow.
    for (const double step : {0.0, 1e-200}) {
        const auto tiny = layer_norm_vjp(tensor<double, axis<1>, n>{{step, -step, 0}}, layer_norm_weights<double, n>{}, {1e-5, beside_std},
                                         tensor<double, axis<1>, n>{{1, 2, 4}});
        for (std::size_t k = 0; k < 3; ++k) CHECK(std::isfinite(tiny.dx(0, k)));
    }
}

TEST_CASE("where there is no value there is no gradient", "[gradient]") {
    const tensor<double, axis<1>, n> constant{{7, 7, 7}}, dy{{1, 2, 4}};
    for (const auto placement : {in_variance, beside_std}) {
        const auto gradient = layer_norm_vjp(constant, layer_norm_weights<double, n>{}, {0, placement}, dy);
        for (std::size_t k = 0; k < 3; ++k) CHECK(std::isnan(gradient.dx(0, k)));
        CHECK_THROWS_AS(layer_norm_vjp(tensor<rational, axis<1>, n>{{7, 7, 7}}, layer_norm_weights<rational, n>{}, {rational(0), placement},
                                       tensor<rational, axis<1>, n>{{1, 2, 4}}),
                        std::domain_error);
    }
    // d = 1: biased, y = β whatever x is. Unbiased: 0/0.
    const tensor<double, axis<1>, axis<1>> x{{5}}, one{{3}};
    for (const auto placement : {in_variance, beside_std}) {
        const auto gradient = layer_norm_vjp(x, layer_norm_weights<double, axis<1>>{}, {1e-5, placement}, one);
        CHECK(gradient.dx(0, 0) == 0);
        CHECK(gradient.dweights.gamma(0) == 0);
        CHECK(gradient.dweights.beta(0) == 3);
        CHECK(std::isnan(layer_norm_vjp(x, layer_norm_weights<double, axis<1>>{}, {1e-5, placement, unbiased}, one).dx(0, 0)));
        CHECK_THROWS_AS(layer_norm_vjp(tensor<rational, axis<1>, axis<1>>{{5}}, layer_norm_weights<rational, axis<1>>{},
                                       {rational(1), placement, unbiased}, tensor<rational, axis<1>, axis<1>>{{3}}),
                        no_such_value);
    }
    CHECK(layer_norm_vjp(matrix<double>::with_lengths(2, 0), layer_norm_weights<double, dyn>{}, {}, matrix<double>::with_lengths(2, 0)).dx.length(0) == 2);
}

TEST_CASE("an arithmetic whose comparisons answer with a truth", "[gradient]") {
    const tensor<interval, axis<1>, axis<2>> x{{3, 7}}, dy{{2, 5}}, constant{{3, 3}};
    for (const auto placement : {in_variance, beside_std}) {
        const tensor<rational, axis<1>, axis<2>> exact_x{{3, 7}}, exact_dy{{2, 5}};
        const auto enclosed = layer_norm_vjp(x, layer_norm_weights<interval, axis<2>>{}, {interval(5), placement}, dy);
        const auto exact = layer_norm_vjp(exact_x, layer_norm_weights<rational, axis<2>>{}, {rational(5), placement}, exact_dy); // √(4 + 5) = 3
        for (std::size_t k = 0; k < 2; ++k) {
            const auto value = exact.dx(0, k).value();
            CHECK(contains(enclosed.dx(0, k), interval::ratio(static_cast<long long>(numerator(value)), static_cast<long long>(denominator(value))).lower()));
            CHECK(surely(enclosed.dx(0, k).width() < interval::power_of_two(-120)));
        }
    }
    const auto at_constant = layer_norm_vjp(constant, layer_norm_weights<interval, axis<2>>{}, {interval(1), beside_std}, dy);
    CHECK(surely(at_constant.dx(0, 0) == interval::ratio(-3, 2))); // (2 − 7/2)/ε
}

TEST_CASE("a gradient of another shape is refused", "[gradient]") {
    const auto x = matrix<double>::with_lengths(2, 4);
    const std::string sentence = rules::gradient_has_shape_of_output::sentence;
    CHECK_THROWS_WITH(layer_norm_vjp(x, layer_norm_weights<double, dyn>{}, {}, matrix<double>::with_lengths(3, 4)), sentence + " (3 and 2)");
    CHECK_THROWS_WITH(rms_norm_vjp(x, row<double>{}, {}, matrix<double>::with_lengths(2, 5)), sentence + " (5 and 4)");
    CHECK_THROWS_AS(layer_norm_vjp(x, layer_norm_weights<double, dyn>{{1, 2}, {}}, {}, x), shape_error);
    CHECK_THROWS_AS(rms_norm_vjp(x, row<double>{1, 2}, {}, x), shape_error);
}
