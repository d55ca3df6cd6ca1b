// SPDX-License-Identifier: BSL-1.0
#include "attest/formula/layer_norm.hpp"
#include "attest/arithmetic/real.hpp"
#include "attest/shape/ranges.hpp"
#include "catch.hpp"

#include <algorithm>
#include <boost/multiprecision/cpp_int.hpp>
#include <cmath>
#include <random>
#include <stdexcept>
#include <string>
#include <type_traits>

using namespace attest;

namespace layer_norm_test {

// Rational numbers. The root of a square alone; without NaN, infinity and order.
class rational {
public:
    using number = boost::multiprecision::cpp_rational;
    rational() = default;
    template <std::same_as<int> I> rational(I x) : value_(x) {} // NOLINT(google-explicit-constructor)
    explicit rational(number x) : value_(std::move(x)) {}
    [[nodiscard]] const number& value() const { return value_; }

    friend rational operator+(const rational& a, const rational& b) { return rational(number(a.value_ + b.value_)); }
    friend rational operator-(const rational& a, const rational& b) { return rational(number(a.value_ - b.value_)); }
    friend rational operator*(const rational& a, const rational& b) { return rational(number(a.value_ * b.value_)); }
    friend rational operator/(const rational& a, const rational& b) { return rational(number(a.value_ / b.value_)); } // throws for b = 0
    friend rational operator-(const rational& a) { return rational(number(-a.value_)); }
    friend bool operator==(const rational& a, const rational& b) { return a.value_ == b.value_; }
    friend rational attest_sqrt(const rational& a) {
        using boost::multiprecision::cpp_int;
        const cpp_int p = numerator(a.value_), q = denominator(a.value_);
        if (p < 0 || !is_square(p) || !is_square(q)) throw std::domain_error("the root is irrational: " + a.value_.str());
        return rational(number(boost::multiprecision::sqrt(p), boost::multiprecision::sqrt(q)));
    }
    [[nodiscard]] static bool is_square(const boost::multiprecision::cpp_int& x) {
        const boost::multiprecision::cpp_int root = boost::multiprecision::sqrt(x);
        return root * root == x;
    }
    friend std::ostream& operator<<(std::ostream& to, const rational& a) { return to << a.value_; }

private:
    number value_;
};

} // namespace layer_norm_test

namespace {

using layer_norm_test::rational;
using dyn = axis<dynamic>;
struct n : axis<3> {};
struct d : axis<4> {};

constexpr auto in_variance = eps_placement::variance, beside_std = eps_placement::std;
constexpr auto biased = variance_kind::biased, unbiased = variance_kind::unbiased;

// B047: biased √3, unbiased 3/2; in constant expressions too.
constexpr tensor<double, d> one_hot{1, 0, 0, 0};
static_assert(layer_norm(one_hot, {.eps = 0, .variance = unbiased}) == tensor<double, d>{1.5, -0.5, -0.5, -0.5});
static_assert(layer_norm(one_hot, {.eps = 0})(0) > 1.73205080 && layer_norm(one_hot, {.eps = 0})(0) < 1.73205081);
static_assert(mean(one_hot) == 0.25 && variance(one_hot) == 0.1875 && variance(one_hot, unbiased) == 0.25);
static_assert(layer_norm_options<double>{}.eps == 1e-5 && layer_norm_options<float>{}.eps == 1e-5F);
// The named axis of γ names the result's.
static_assert(std::is_same_v<decltype(layer_norm(tensor<float, n, axis<4>>{}, layer_norm_weights<float, d>{})), tensor<float, n, d>>);
static_assert(std::is_same_v<decltype(rms_norm(tensor<float, axis<4>>{}, tensor<float, d>{})), tensor<float, d>>);
static_assert(std::is_same_v<decltype(layer_norm_weights{tensor<float, d>{}, tensor<float, d>{}}), layer_norm_weights<float, d>>);
// A077, A091: which γ and β fit.
static_assert(rules::norm_weight_for_each_component::holds<d, axis<4>> && !rules::norm_weight_for_each_component::holds<d, axis<3>>);

const double nan_value = std::numeric_limits<double>::quiet_NaN();

rational ratio(int p, int q) { return rational(p) / rational(q); }
rational random_ratio(std::mt19937_64& generator) {
    return ratio(static_cast<int>(generator() % 41) - 20, 1 + static_cast<int>(generator() % 6));
}
template <class S> S sum_of(const tensor<S, dyn>& x) {
    S sum(0);
    for (std::size_t c = 0; c < x.length(0); ++c) sum = sum + x(c);
    return sum;
}
template <class S> S squares_of(const tensor<S, dyn>& x) {
    S sum(0);
    for (std::size_t c = 0; c < x.length(0); ++c) sum = sum + x(c) * x(c);
    return sum;
}

// A row of rationals, and options in which every root that is needed is rational: √(v + ε), by the choice of ε, or √v, by that of x.
struct exact_row {
    tensor<rational, dyn> x;
    layer_norm_options<rational> options;
    rational v;
};
exact_row random_exact_row(std::mt19937_64& generator, eps_placement placement, variance_kind kind) {
    for (;;) {
        exact_row row;
        row.x = tensor<rational, dyn>::with_lengths(2 + generator() % 5);
        for (rational& value : attest::elements(row.x)) value = random_ratio(generator);
        row.v = variance(row.x, kind);
        row.options = {ratio(1 + static_cast<int>(generator() % 9), 10), placement, kind};
        if (placement == in_variance) {
            const rational root = rational(21 + static_cast<int>(generator() % 9)); // above every σ here
            row.options.eps = root * root - row.v;
            return row;
        }
        const auto v = row.v.value();
        if (!(v == 0) && rational::is_square(numerator(v)) && rational::is_square(denominator(v))) return row;
    }
}

tensor<double, dyn> random_row(std::mt19937_64& generator, std::size_t length, double middle, double spread) {
    auto x = tensor<double, dyn>::with_lengths(length);
    for (double& value : attest::elements(x)) value = std::uniform_real_distribution<>(middle - spread, middle + spread)(generator);
    return x;
}
template <class To, class From> tensor<To, dyn> converted(const tensor<From, dyn>& x) {
    auto result = tensor<To, dyn>::with_lengths(x.length(0));
    for (std::size_t c = 0; c < x.length(0); ++c) result(c) = To(x(c));
    return result;
}

} // namespace

TEST_CASE("A075, A089: the sum is 0, the sum of squares d v/(v + eps); exactly", "[formula]") {
    std::mt19937_64 generator(71);
    for (const auto placement : {in_variance, beside_std})
        for (const auto kind : {biased, unbiased})
            for (int round = 0; round < 60; ++round) {
                const auto row = random_exact_row(generator, placement, kind);
                const auto x_hat = layer_norm(row.x, row.options);
                const int length = static_cast<int>(row.x.length(0));
                const rational divided_by(kind == biased ? length : length - 1);
                CAPTURE(static_cast<int>(placement), static_cast<int>(kind), length, row.v, row.options.eps);
                CHECK(sum_of(x_hat) == 0);
                if (placement == in_variance) {
                    CHECK(squares_of(x_hat) == divided_by * row.v / (row.v + row.options.eps));
                } else {
                    const rational divisor = attest::sqrt(row.v) + row.options.eps;
                    CHECK(squares_of(x_hat) == divided_by * row.v / (divisor * divisor));
                }
                // |x̂_c| <= √(d − 1): c² <= (d − 1)/d Σ c², since the others must add to −c.
                if (kind == biased)
                    for (const rational& value : attest::elements(x_hat)) CHECK(value.value() * value.value() <= length - 1);
            }
    // The bound is reached: one component against all others, d = 5.
    const auto reached = layer_norm(tensor<rational, axis<5>>{5, 0, 0, 0, 0}, {rational(0)}); // σ² = 4
    CHECK(reached == tensor<rational, axis<5>>{2, ratio(-1, 2), ratio(-1, 2), ratio(-1, 2), ratio(-1, 2)});
    // A089: "variance 1" is σ²/(σ² + ε): 0.999990000099999 for σ = 1, ε = 10^−5.
    const auto standard = layer_norm(tensor<real<50>, axis<2>>{1, -1});
    CHECK(abs(variance(standard) - real<50>(1) / (real<50>(1) + real<50>(1) / real<50>(100000))) < ldexp(real<50>(1), -170));
    CHECK(variance(standard).text(15) == "0.999990000099999");
}

TEST_CASE("A074, B047: biased and unbiased differ by the root of d/(d - 1)", "[formula]") {
    CHECK(variance(tensor<rational, d>{1, 0, 0, 0}) == ratio(3, 16));
    CHECK(variance(tensor<rational, d>{1, 0, 0, 0}, unbiased) == ratio(1, 4));
    std::mt19937_64 generator(72);
    for (int round = 0; round < 50; ++round) {
        auto x = tensor<rational, dyn>::with_lengths(2 + generator() % 6);
        for (rational& value : attest::elements(x)) value = random_ratio(generator);
        const int length = static_cast<int>(x.length(0));
        CHECK(rational(length) * variance(x) == rational(length - 1) * variance(x, unbiased));
        // The other way to write it, Σx²/d − μ²: equal in exact arithmetic.
        CHECK(variance(x) == squares_of(x) / rational(length) - mean(x) * mean(x));
    }
    const tensor<real<50>, d> x{1, 0, 0, 0};
    CHECK(layer_norm(x, {real<50>(0)})(0).text(12) == "1.73205080757");
    CHECK((layer_norm(x, {real<50>(0), in_variance, unbiased})(0) / layer_norm(x, {real<50>(0)})(0)).text(12) == "0.866025403784");
}

TEST_CASE("B046: the two places of eps", "[formula]") {
    const auto hundred_thousandth = real<50>(1) / real<50>(100000);
    // The row (σ, −σ) has the biased deviation σ; its x̂ is σ/divisor.
    const auto normalised = [&](const real<50>& sigma, eps_placement placement) {
        return layer_norm(tensor<real<50>, axis<2>>{sigma, -sigma}, {hundred_thousandth, placement})(0);
    };
    CHECK(normalised(1, beside_std).text(10) == "0.9999900001");
    CHECK(normalised(1, in_variance).text(11) == "0.99999500004");
    const auto ratio_at = [&](const real<50>& sigma) { return normalised(sigma, beside_std) / normalised(sigma, in_variance); };
    CHECK(ratio_at(real<50>(1) / real<50>(100)).text(5) == "1.0478");
    CHECK(ratio_at(real<50>(1) / real<50>(1000)).text(5) == "3.2838");
    // With ε = 0 they are one.
    const tensor<rational, axis<2>> x{3, 7};
    CHECK(layer_norm(x, {rational(0), beside_std}) == layer_norm(x, {rational(0), in_variance}));
    // Exactly, on a row with σ = 2: 2/(2 + 1) and 2/√(4 + 5).
    CHECK(layer_norm(x, {rational(1), beside_std}) == tensor<rational, axis<2>>{ratio(-2, 3), ratio(2, 3)});
    CHECK(layer_norm(x, {rational(5), in_variance}) == tensor<rational, axis<2>>{ratio(-2, 3), ratio(2, 3)});
}

TEST_CASE("what layer normalisation does not see, exactly", "[formula]") {
    std::mt19937_64 generator(73);
    for (const auto placement : {in_variance, beside_std})
        for (const auto kind : {biased, unbiased})
            for (int round = 0; round < 20; ++round) {
                const auto [x, options, v] = random_exact_row(generator, placement, kind);
                const auto x_hat = layer_norm(x, options);
                const rational shift = random_ratio(generator), factor = ratio(1 + static_cast<int>(generator() % 7), 3);
                auto shifted = x, scaled = x, mirrored = x, turned = x, negated = x_hat;
                for (std::size_t c = 0; c < x.length(0); ++c) {
                    shifted(c) = x(c) + shift;
                    scaled(c) = factor * x(c);
                    mirrored(c) = -x(c);
                    negated(c) = -x_hat(c);
                    turned(c) = x(x.length(0) - 1 - c);
                }
                CAPTURE(static_cast<int>(placement), static_cast<int>(kind), v, shift, factor);
                CHECK(layer_norm(shifted, options) == x_hat);
                CHECK(layer_norm(mirrored, options) == negated);
                // A factor does not matter if ε grows along: with its square in the root, as it is beside it.
                auto grown = options;
                grown.eps = placement == in_variance ? factor * factor * options.eps : factor * options.eps;
                CHECK(layer_norm(scaled, grown) == x_hat);
                // The order of the components.
                const auto y = layer_norm(turned, options);
                for (std::size_t c = 0; c < x.length(0); ++c) CHECK(y(c) == x_hat(x.length(0) - 1 - c));
            }
}

TEST_CASE("a row without deviation", "[formula]") {
    for (const auto placement : {in_variance, beside_std})
        for (const auto kind : {biased, unbiased}) {
            // A076: with ε > 0, 0; √ε is rational for 1/4.
            CHECK(layer_norm(tensor<rational, n>{ratio(1, 3), ratio(1, 3), ratio(1, 3)}, {ratio(1, 4), placement, kind}) ==
                  tensor<rational, n>{});
            CHECK(layer_norm(tensor<double, n>{7, 7, 7}, {1e-5, placement, kind}) == tensor<double, n>{});
            CHECK(layer_norm(tensor<double, n>{7, 7, 7}, layer_norm_weights<double, n>{{1, 2, 3}, {4, 5, 6}}, {1e-5, placement, kind}) ==
                  tensor<double, n>{4, 5, 6});
            // With ε = 0 the arithmetic's own 0/0.
            const auto undefined = layer_norm(tensor<double, n>{7, 7, 7}, {0, placement, kind});
            for (const double value : attest::elements(undefined)) CHECK(std::isnan(value));
            CHECK_THROWS_AS(layer_norm(tensor<rational, n>{7, 7, 7}, {rational(0), placement, kind}), std::overflow_error);
        }
    // d = 1: biased, a constant row. Unbiased, σ is 0/0 as PyTorch's std gives it: NaN, and an arithmetic without NaN says so.
    for (const auto placement : {in_variance, beside_std}) {
        CHECK(layer_norm(tensor<double, axis<1>>{5}, {1e-5, placement})(0) == 0);
        CHECK(layer_norm(tensor<rational, axis<1>>{5}, {ratio(1, 4), placement})(0) == 0);
        CHECK(std::isnan(layer_norm(tensor<double, axis<1>>{5}, {1e-5, placement, unbiased})(0)));
        CHECK(std::isnan(layer_norm(tensor<float, axis<1>>{5}, {1e-5F, placement, unbiased})(0)));
        CHECK(layer_norm(tensor<real<50>, axis<1>>{5}, {real<50>(1), placement, unbiased})(0).is_nan());
        CHECK_THROWS_AS(layer_norm(tensor<rational, axis<1>>{5}, {ratio(1, 4), placement, unbiased}), no_such_value);
    }
    // Of nothing: nothing; but nothing has no mean.
    CHECK(layer_norm(tensor<rational, dyn>{}).length(0) == 0);
    CHECK(rms_norm(tensor<rational, dyn>{}).length(0) == 0);
    CHECK(layer_norm(tensor<rational, dyn, dyn>::with_lengths(3, 0)).length(0) == 3);
    CHECK(std::isnan(mean(tensor<double, dyn>{})));
    CHECK(std::isnan(variance(tensor<double, dyn>{})));
    CHECK_THROWS_AS(mean(tensor<rational, dyn>{}), no_such_value);
    CHECK_THROWS_AS(variance(tensor<rational, dyn>{}), no_such_value);
}

TEST_CASE("NaN and infinities make their own row NaN, and no other", "[formula]") {
    for (const double bad : {nan_value, std::numeric_limits<double>::infinity()}) {
        const auto y = layer_norm(tensor<double, n, axis<2>>{{1, 2}, {bad, 2}, {3, 5}});
        CHECK(std::isnan(y(1, 0)));
        CHECK(std::isnan(y(1, 1)));
        CHECK(y[0] == layer_norm(tensor<double, axis<2>>{1, 2}));
        CHECK(y[2] == layer_norm(tensor<double, axis<2>>{3, 5}));
    }
}

TEST_CASE("A077, A092: gamma and beta scale and shift; absent, they do nothing", "[formula]") {
    const tensor<rational, n> x{1, 4, 7}; // σ² = 6
    const layer_norm_options<rational> options{rational(3)};
    const auto x_hat = layer_norm(x, options);
    CHECK(x_hat == tensor<rational, n>{-1, 0, 1});
    const tensor<rational, n> gamma{5, 6, 7}, beta{2, 3, 4};
    CHECK(layer_norm(x, layer_norm_weights<rational, n>{gamma, beta}, options) == tensor<rational, n>{-5 + 2, 3, 7 + 4});
    // A093: the defaults are γ = 1, β = 0.
    CHECK(layer_norm_weights<rational, n>{}.gamma == tensor<rational, n>{1, 1, 1});
    CHECK(layer_norm_weights<rational, n>{}.beta == tensor<rational, n>{});
    CHECK(layer_norm(x, layer_norm_weights<rational, n>{}, options) == x_hat);
    CHECK(layer_norm_weights<rational, dyn>{}.gamma.length(0) == 0);
    CHECK(layer_norm(x, layer_norm_weights<rational, dyn>{}, options) == x_hat);
    CHECK(layer_norm(x, layer_norm_weights<rational, dyn>{{}, {2, 3, 4}}, options) == tensor<rational, n>{1, 3, 5});
    CHECK(layer_norm(x, layer_norm_weights<rational, dyn>{{5, 6, 7}, {}}, options) == tensor<rational, n>{-5, 0, 7});
}

TEST_CASE("gamma and beta of another length are refused, with the two lengths", "[formula]") {
    const auto x = tensor<double, dyn, dyn>::with_lengths(2, 4);
    const auto nothing = tensor<double, dyn, dyn>::with_lengths(0, 4);
    const layer_norm_weights<double, dyn> short_gamma{{1, 2, 3}, {}}, long_beta{{}, {1, 2, 3, 4, 5}};
    const std::string sentence = rules::norm_weight_for_each_component::sentence;
    for (const auto* rows : {&x, &nothing}) {
        CHECK_THROWS_WITH(layer_norm(*rows, short_gamma), sentence + " (4 and 3)");
        CHECK_THROWS_WITH(layer_norm(*rows, long_beta), sentence + " (4 and 5)");
        CHECK_THROWS_WITH(rms_norm(*rows, short_gamma.gamma), sentence + " (4 and 3)");
    }
    CHECK_THROWS_WITH(layer_norm(x[0], long_beta), sentence + " (4 and 5)");
    CHECK_THROWS_WITH(rms_norm(x[0], tensor<double, axis<5>>{}), sentence + " (4 and 5)");
    CHECK_THROWS_AS(layer_norm(x, layer_norm_weights<double, axis<3>>{}), shape_error); // a fixed γ is never absent
}

TEST_CASE("B049, A088: rows are normalised by themselves, in any layout and on any axes", "[formula]") {
    std::mt19937_64 generator(74);
    tensor<double, axis<5>, d> x;
    for (double& value : attest::elements(x)) value = std::uniform_real_distribution<>(-9, 9)(generator);
    layer_norm_weights<double, d> weights{{0.5, -1, 2, 3}, {1, 2, 3, -4}};
    for (const auto placement : {in_variance, beside_std})
        for (const auto kind : {biased, unbiased}) {
            const layer_norm_options<double> options{1e-3, placement, kind};
            const auto y = layer_norm(x, weights, options);
            const auto x_hat = layer_norm(x, options);
            const auto by_root = rms_norm(x, options), by_root_scaled = rms_norm(x, weights.gamma, options);
            for (std::size_t i = 0; i < 5; ++i) {
                CHECK(y[i] == layer_norm(x[i], weights, options));
                CHECK(x_hat[i] == layer_norm(x[i], options));
                CHECK(by_root_scaled[i] == rms_norm(x[i], weights.gamma, options));
                CHECK(by_root[i] == rms_norm(x[i], options));
                auto other = x; // the other rows do not matter: not a bit
                for (std::size_t row = 0; row < 5; ++row)
                    if (row != i) other(row, 1) = 1e9;
                const auto with_others = layer_norm(other, weights, options);
                CHECK(with_others[i] == y[i]);
            }
            const tensor<double, dyn, dyn> on_dynamic(x);
            const layer_norm_weights<double, dyn> dynamic_weights{tensor<double, dyn>(weights.gamma), tensor<double, dyn>(weights.beta)};
            CHECK(layer_norm(on_dynamic, dynamic_weights, options) == y);
            CHECK(rms_norm(on_dynamic, dynamic_weights.gamma, options) == by_root_scaled);
            // The columns of x, seen as rows.
            const view<const double, d, axis<5>> columns(x.data(), {}, {1, 4});
            const auto z = layer_norm(columns, options);
            for (std::size_t c = 0; c < 4; ++c) CHECK(z[c] == layer_norm(attest::columns(x)[c], options));
        }
}

TEST_CASE("RMSNorm divides by the root of the mean square, and centres nothing", "[formula]") {
    const tensor<rational, axis<2>> x{1, 7}; // (1 + 49)/2 = 25
    CHECK(rms_norm(x, {rational(0)}) == tensor<rational, axis<2>>{ratio(1, 5), ratio(7, 5)});
    CHECK(rms_norm(x, {rational(11)}) == tensor<rational, axis<2>>{ratio(1, 6), ratio(7, 6)});
    CHECK(rms_norm(x, {rational(2), beside_std}) == tensor<rational, axis<2>>{ratio(1, 7), 1});
    CHECK(rms_norm(x, tensor<rational, axis<2>>{3, 5}, {rational(0)}) == tensor<rational, axis<2>>{ratio(3, 5), 7});
    CHECK(rms_norm(x, tensor<rational, dyn>{}, {rational(0)}) == rms_norm(x, {rational(0)}));
    CHECK(rms_norm(x, {rational(0), in_variance, unbiased}) == rms_norm(x, {rational(0)})); // always divided by d
    CHECK(rms_norm(tensor<rational, n>{}, {ratio(1, 4)}) == tensor<rational, n>{});
    CHECK(rms_norm(tensor<rational, n>{}, {ratio(1, 4), beside_std}) == tensor<rational, n>{});
    CHECK(std::isnan(rms_norm(tensor<double, n>{}, {0})(0)));
    // On a centred row it is layer normalisation; and the mean of its squares is m/(m + ε).
    std::mt19937_64 generator(75);
    for (const auto placement : {in_variance, beside_std})
        for (int round = 0; round < 20; ++round) {
            auto [x_row, options, v] = random_exact_row(generator, placement, biased);
            const rational mu = mean(x_row);
            for (rational& value : attest::elements(x_row)) value = value - mu;
            CHECK(rms_norm(x_row, options) == layer_norm(x_row, options));
        }
}

TEST_CASE("in double, the error is what the page says", "[formula]") {
    std::mt19937_64 generator(76);
    for (int round = 0; round < 400; ++round) {
        const std::size_t length = 2 + generator() % 100;
        const auto x = random_row(generator, length, static_cast<double>(round % 5 * 10), 1);
        const auto placement = round % 2 == 0 ? in_variance : beside_std;
        const auto kind = round % 4 < 2 ? biased : unbiased;
        const auto y = layer_norm(x, {1e-5, placement, kind});
        const auto exact_x = converted<real<50>>(x);
        const layer_norm_options<real<50>> exact_options{real<50>(1e-5), placement, kind};
        const auto exact = layer_norm(exact_x, exact_options);
        double greatest = 0;
        for (const double value : attest::elements(x)) greatest = std::max(greatest, std::abs(value));
        const double divisor = static_cast<double>(detail::norm_divisor_of(variance(exact_x, kind), exact_options).divisor);
        for (std::size_t c = 0; c < length; ++c) {
            const double wanted = static_cast<double>(exact(c)), size = static_cast<double>(length);
            const double error = std::abs(static_cast<double>(real<50>(y(c)) - exact(c)));
            CAPTURE(length, c, x(c), y(c), wanted);
            CHECK(error <= 0x1p-53 * (size * greatest / divisor + (size + 8) * std::abs(wanted)));
        }
    }
}
