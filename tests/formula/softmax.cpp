// SPDX-License-Identifier: BSL-1.0
#include "attest/formula/softmax.hpp"
#include "attest/arithmetic/formats.hpp"
#include "attest/arithmetic/real.hpp"
#include "attest/formula/matmul.hpp"
#include "attest/shape/ranges.hpp"
#include "catch.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <type_traits>
#include <vector>

using namespace attest;

namespace {

using dyn = axis<dynamic>;
struct n : axis<5> {};

// The lecture's example, to the digits that it prints; at compile time on both compilers.
constexpr auto example = softmax(tensor<double, n>{1.3, 5.1, 2.2, 0.7, 1.1});
constexpr bool rounds_to_hundredths(double x, int hundredths) { return x * 100 > hundredths - 0.5 && x * 100 < hundredths + 0.5; }
static_assert(rounds_to_hundredths(example(0), 2) && rounds_to_hundredths(example(1), 90) && rounds_to_hundredths(example(2), 5) &&
              rounds_to_hundredths(example(3), 1) && rounds_to_hundredths(example(4), 2));
static_assert(softmax(tensor<double, n>{7, 7, 7, 7, 7}) == tensor<double, n>{0.2, 0.2, 0.2, 0.2, 0.2});
static_assert(softmax(tensor<float, axis<1>>{-3})(0) == 1, "one key has all the weight");
static_assert(std::is_same_v<decltype(softmax(tensor<float, n, axis<2>>{})), tensor<float, n, axis<2>>>);


const double infinity = std::numeric_limits<double>::infinity(), nan_value = std::numeric_limits<double>::quiet_NaN();

tensor<double, dyn> random_row(std::mt19937_64& generator, std::size_t length, double spread) {
    auto x = tensor<double, dyn>::with_lengths(length);
    for (double& value : attest::elements(x)) value = std::uniform_real_distribution<>(-spread, spread)(generator);
    return x;
}
tensor<real<50>, dyn> in_real(const tensor<double, dyn>& x) {
    auto result = tensor<real<50>, dyn>::with_lengths(x.length(0));
    for (std::size_t j = 0; j < x.length(0); ++j) result(j) = real<50>(x(j));
    return result;
}

} // namespace

TEST_CASE("softmax in double is as close to 50 digits as its docstring says", "[formula]") {
    std::mt19937_64 generator(31);
    for (int round = 0; round < 600; ++round) {
        const std::size_t length = 1 + generator() % 40;
        const auto x = random_row(generator, length, std::exp2(static_cast<double>(generator() % 10)) / 2);
        const auto a = softmax(x);
        const auto exact = softmax(in_real(x));
        double greatest = -infinity;
        for (const double value : attest::elements(x)) greatest = std::max(greatest, value);
        for (std::size_t j = 0; j < length; ++j) {
            const double wanted = static_cast<double>(exact(j));
            if (wanted < 0x1p-1000) continue; // subnormal weights have absolute errors, not relative ones
            const double error = std::abs(static_cast<double>((real<50>(a(j)) - exact(j)) / exact(j))) * 0x1p53;
            const double claimed = static_cast<double>(length) + 4 + std::abs(x(j) - greatest);
            if (!(error <= claimed)) {
                CAPTURE(length, j, x(j), greatest, a(j), wanted, error, claimed);
                FAIL("the relative error is greater than claimed");
            }
        }
    }
}

TEST_CASE("weights are positive, at most 1, and sum to 1", "[formula]") {
    std::mt19937_64 generator(32);
    for (int round = 0; round < 2000; ++round) {
        const std::size_t length = 1 + generator() % 60;
        const auto a = softmax(random_row(generator, length, 20));
        double sum = 0;
        for (const double weight : attest::elements(a)) {
            REQUIRE(weight > 0);
            REQUIRE(weight <= 1);
            sum += weight;
        }
        // n divisions of 1/2 ULP and n sums, twice: what is divided by, and what is summed here.
        if (!(std::abs(sum - 1) <= static_cast<double>(2 * length + 1) * 0x1p-53)) {
            CAPTURE(length, sum);
            FAIL("the weights do not sum to 1");
        }
    }
    // In 50 digits, to 50 digits.
    const auto a = softmax(in_real(random_row(generator, 50, 30)));
    real<50> sum(0);
    for (std::size_t j = 0; j < 50; ++j) sum = sum + a(j);
    CHECK(abs(sum - real<50>(1)) < ldexp(real<50>(1), -180));
}

TEST_CASE("shift invariance: the same bits when the shift is exact, the same value in 50 digits when it is not", "[formula]") {
    std::mt19937_64 generator(33);
    for (int round = 0; round < 300; ++round) {
        const std::size_t length = 1 + generator() % 20;
        auto x = tensor<double, dyn>::with_lengths(length), shifted = x;
        const double shift = static_cast<double>(generator() % 2000000) - 1000000;
        for (std::size_t j = 0; j < length; ++j) {
            x(j) = static_cast<double>(generator() % 4096) / 64 - 32;
            shifted(j) = x(j) + shift; // multiples of 1/64 below 2^21: exact
        }
        CHECK(softmax(shifted) == softmax(x));
    }
    // The shift is the arithmetic's choice: 50 digits, shifted by π.
    const auto x = in_real(random_row(generator, 12, 10));
    auto shifted = x;
    for (std::size_t j = 0; j < 12; ++j) shifted(j) = shifted(j) + real<50>(3.141592653589793);
    const auto a = softmax(x), b = softmax(shifted);
    for (std::size_t j = 0; j < 12; ++j) CHECK(abs(a(j) / b(j) - real<50>(1)) < ldexp(real<50>(1), -180));
}

TEST_CASE("quotients of weights are exponentials of differences; permuting permutes", "[formula]") {
    std::mt19937_64 generator(34);
    const auto x = random_row(generator, 9, 5);
    const auto a = softmax(in_real(x));
    for (std::size_t i = 0; i < 9; ++i)
        for (std::size_t j = 0; j < 9; ++j)
            CHECK(abs(a(i) / a(j) / attest::exp(real<50>(x(i)) - real<50>(x(j))) - real<50>(1)) < ldexp(real<50>(1), -170));

    std::vector<std::size_t> order(9);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::shuffle(order.begin(), order.end(), generator);
    auto permuted = x;
    for (std::size_t j = 0; j < 9; ++j) permuted(j) = x(order[j]);
    const auto b = softmax(in_real(permuted));
    for (std::size_t j = 0; j < 9; ++j) CHECK(abs(b(j) / a(order[j]) - real<50>(1)) < ldexp(real<50>(1), -170)); // another order of the sum
}

TEST_CASE("what is not visible has weight exactly 0, and the rest is softmax of the rest", "[formula]") {
    std::mt19937_64 generator(35);
    for (int round = 0; round < 200; ++round) {
        const std::size_t length = 2 + generator() % 20;
        auto x = random_row(generator, length, 8);
        std::vector<bool> seen(length);
        std::vector<double> kept;
        for (std::size_t j = 0; j < length; ++j)
            if ((seen[j] = generator() % 2 == 0)) kept.push_back(x(j));
            else if (j % 3 == 0) x(j) = j % 2 == 0 ? nan_value : infinity; // hidden values are not looked at
        if (kept.empty()) continue;
        const auto a = softmax(x, [&](std::size_t j) { return static_cast<bool>(seen[j]); });
        const auto rest = softmax(shaped<dyn>(kept, kept.size()));
        std::size_t next = 0;
        for (std::size_t j = 0; j < length; ++j) {
            CAPTURE(length, j);
            if (seen[j]) CHECK(a(j) == rest(next++));
            else CHECK((a(j) == 0 && !std::signbit(a(j))));
        }
    }
}

TEST_CASE("a row without a visible index gives zeros or NaN, as asked", "[formula]") {
    const tensor<double, n> x{1, 2, 3, 4, 5};
    const auto nothing = [](std::size_t) { return false; };
    CHECK(softmax(x, nothing) == tensor<double, n>{});
    const auto nan_row = softmax(x, nothing, empty_row::nan);
    for (std::size_t j = 0; j < 5; ++j) CHECK(std::isnan(nan_row(j)));
    CHECK(softmax(tensor<double, dyn>{}).length(0) == 0);
    CHECK(log_sum_exp(x, nothing) == -infinity);
    CHECK(log_sum_exp(tensor<double, dyn>{}) == -infinity);
    // Row 0 of a bottom-right mask with more queries than keys sees nothing; the others do.
    const auto a = softmax(tensor<double, axis<3>, axis<2>>{}, causal_bottom_right{3, 2});
    CHECK(a == tensor<double, axis<3>, axis<2>>{{0, 0}, {1, 0}, {0.5, 0.5}});
    const auto b = softmax(tensor<double, axis<3>, axis<2>>{}, causal_bottom_right{3, 2}, empty_row::nan);
    CHECK(std::isnan(b(0, 0)));
    CHECK(std::isnan(b(0, 1)));
    CHECK(b(1, 0) == 1);
}

TEST_CASE("NaN and infinities among the visible", "[formula]") {
    const auto all_nan = [](const auto& a) {
        for (std::size_t j = 0; j < a.length(0); ++j)
            if (!std::isnan(a(j))) return false;
        return true;
    };
    for (std::size_t at = 0; at < 5; ++at) { // wherever it stands
        tensor<double, n> x{1, 2, 3, 4, 5};
        x(at) = nan_value;
        CAPTURE(at);
        CHECK(all_nan(softmax(x)));
        CHECK(std::isnan(log_sum_exp(x)));
        x(at) = infinity;
        const auto with_infinity = softmax(x);
        CHECK(all_nan(with_infinity));
        x(at) = -infinity; // a score of −∞ that is not masked: weight 0, as long as another is finite
        const auto a = softmax(x);
        CHECK(a(at) == 0);
        CHECK(std::accumulate(attest::elements(a).begin(), attest::elements(a).end(), 0.0) == Approx(1).epsilon(1e-15));
    }
    // Nothing but −∞, all visible: −∞ − (−∞) is NaN.
    CHECK(all_nan(softmax(tensor<double, n>{-infinity, -infinity, -infinity, -infinity, -infinity})));
}

TEST_CASE("scores far apart do not overflow", "[formula]") {
    CHECK(softmax(tensor<double, axis<2>>{1000, 1000}) == tensor<double, axis<2>>{0.5, 0.5});
    CHECK(softmax(tensor<double, axis<2>>{1e308, -1e308}) == tensor<double, axis<2>>{1, 0});
    CHECK(softmax(tensor<float, axis<2>>{3e38F, -3e38F}) == tensor<float, axis<2>>{1, 0});
    CHECK(softmax(tensor<double, axis<2>>{-1e5, -1e5 - 1})(0) == Approx(0.7310585786300049).epsilon(1e-14));
    CHECK(log_sum_exp(tensor<double, axis<2>>{1e5, 1e5}) == 1e5 + attest::log(2.0));
}

TEST_CASE("log-sum-exp is the logarithm of the denominator", "[formula]") {
    std::mt19937_64 generator(36);
    for (int round = 0; round < 200; ++round) {
        const auto x = in_real(random_row(generator, 1 + generator() % 20, 30));
        const auto lse = log_sum_exp(x);
        const auto a = softmax(x);
        real<50> sum(0);
        for (std::size_t j = 0; j < x.length(0); ++j) sum = sum + attest::exp(x(j));
        CHECK(abs(lse - attest::log(sum)) < ldexp(real<50>(1), -170));
        for (std::size_t j = 0; j < x.length(0); ++j) // log a_j = x_j − lse
            CHECK(abs(a(j) - attest::exp(x(j) - lse)) < ldexp(real<50>(1), -170));
        // In double: the shift, and a logarithm of a sum between 1 and n.
        auto narrow = tensor<double, dyn>::with_lengths(x.length(0));
        for (std::size_t j = 0; j < x.length(0); ++j) narrow(j) = static_cast<double>(x(j));
        CHECK(log_sum_exp(narrow) == Approx(static_cast<double>(lse)).epsilon(1e-14).margin(1e-14));
    }
    CHECK(log_sum_exp(tensor<double, n>{2, 9, 4, 1, 7}, [](std::size_t j) { return j == 2; }) == 4);
}

TEST_CASE("a sink is one more logit, whose weight is not returned", "[formula]") {
    std::mt19937_64 generator(47);
    for (int round = 0; round < 50; ++round) {
        const std::size_t length = 1 + generator() % 12;
        auto x = in_real(random_row(generator, length, 20));
        const real<50> sink(static_cast<double>(generator() % 81) / 2 - 20);
        auto longer = tensor<real<50>, dyn>::with_lengths(length + 1);
        for (std::size_t j = 0; j < length; ++j) longer(j) = x(j);
        longer(length) = sink;
        const auto visible = [](std::size_t j) { return j % 3 != 1; };
        const auto visible_or_sink = [&](std::size_t j) { return j == length || visible(j); };
        const auto a = softmax(x, visible, empty_row::zero, &sink), wanted = softmax(longer, visible_or_sink);
        for (std::size_t j = 0; j < length; ++j) {
            CAPTURE(round, length, j);
            CHECK(abs(a(j) - wanted(j)) < real<50>(1e-50));
            if (!visible(j)) CHECK(a(j) == real<50>(0));
        }
        CHECK(abs(log_sum_exp(x, visible, &sink) - log_sum_exp(longer, visible_or_sink)) < real<50>(1e-48));
    }
    // Nothing but the sink: 0, also where NaN is asked for; its logit is the log-sum-exp.
    const tensor<double, n> x{1, 2, 3, 4, 5};
    const auto hidden = [](std::size_t) { return false; };
    const double sink = 0.25;
    CHECK(softmax(x, hidden, empty_row::nan, &sink) == tensor<double, n>{});
    CHECK(log_sum_exp(x, hidden, &sink) == 0.25);
    // A sink far above or below neither overflows nor leaves a trace.
    const double high = 1e300, low = -1e300;
    CHECK(softmax(x, detail::every_index{}, empty_row::zero, &high) == tensor<double, n>{});
    CHECK(softmax(x, detail::every_index{}, empty_row::zero, &low) == softmax(x));
}

TEST_CASE("softmax of a matrix is that of its rows, not of its columns", "[formula]") {
    std::mt19937_64 generator(37);
    tensor<double, axis<3>, axis<4>> x;
    for (double& value : attest::elements(x)) value = std::uniform_real_distribution<>(-2, 2)(generator);
    const auto a = softmax(x, causal_top_left{});
    const auto unmasked = softmax(x);
    for (std::size_t i = 0; i < 3; ++i) {
        CHECK(unmasked[i] == softmax(x[i]));
        CHECK(a[i] == softmax(x[i], [i](std::size_t j) { return j <= i; }));
    }
    CHECK(softmax(transpose(x)) != transpose(unmasked));
}

TEST_CASE("softmax on fixed and dynamic axes and on views with strides has the same bits", "[formula]") {
    std::mt19937_64 generator(38);
    tensor<double, axis<4>, n> x;
    for (double& value : attest::elements(x)) value = std::uniform_real_distribution<>(-9, 9)(generator);
    const auto a = softmax(x);
    CHECK(softmax(tensor<double, dyn, dyn>(x)) == a);
    CHECK(softmax(view<const double, n, axis<4>>(x.data(), {}, {1, 5})) == softmax(transpose(x)));
    CHECK(softmax(attest::columns(x)[2]) == softmax(tensor<double, axis<4>>(attest::columns(x)[2])));
}

TEST_CASE("softmax in float, double and 50 digits agrees to their own precision", "[formula]") {
    std::mt19937_64 generator(39);
    for (int round = 0; round < 100; ++round) {
        tensor<float, n> x;
        for (float& value : attest::elements(x)) value = std::uniform_real_distribution<float>(-4, 4)(generator);
        const auto in_float = softmax(x);
        const auto in_double = softmax(tensor<double, n>(x));
        const auto exact = softmax(in_real(tensor<double, dyn>(x)));
        for (std::size_t j = 0; j < 5; ++j) {
            const double wanted = static_cast<double>(exact(j));
            CAPTURE(j, in_float(j), in_double(j), wanted);
            CHECK(std::abs(static_cast<double>(in_float(j)) - wanted) <= (5 + 4 + 8) * 0x1p-24 * wanted);
            CHECK(std::abs(in_double(j) - wanted) <= (5 + 4 + 8) * 0x1p-53 * wanted);
        }
    }
}
