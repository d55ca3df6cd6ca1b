// SPDX-License-Identifier: BSL-1.0
#include "attest/elementary/log.hpp"
#include "attest/arithmetic/formats.hpp"
#include "attest/arithmetic/real.hpp"
#include "attest/elementary/exp.hpp"
#include "catch.hpp"

#include <cmath>
#include <random>

using namespace attest;

namespace {

static_assert(attest::log(1.0) == 0 && attest::log(2.0) == 0x1.62e42fefa39efp-1 && attest::log(0.0) == -detail::infinity_of_double);
static_assert(attest::log(-1.0) != attest::log(-1.0) && attest::log(2.0F) == 0.693147182F);

struct without_a_logarithm {};
static_assert(has_log<double> && has_log<float> && has_log<real<50>> && !has_log<without_a_logarithm> && !has_log<long double>);

// What the docstring claims.
constexpr double claimed_ulp = 0.9;

// The distance of y from log x: in units of the last place of log x, and as a part of the proved bound; by 50 digits.
struct errors {
    double in_ulp, of_bound;
};
errors errors_of(double x, double y) {
    const real<50> exact = attest::log(real<50>(x)), off = real<50>(y) - exact;
    if (exact.is_zero()) return y == 0 ? errors{0, 0} : errors{detail::infinity_of_double, detail::infinity_of_double};
    const int unit = formats::f64.ulp_exponent(static_cast<int>(exact.exponent()));
    return {std::abs(static_cast<double>(ldexp(off, -unit))), std::abs(static_cast<double>(off / (real<50>(log_error_relative) * exact)))};
}
double ulp_error(double x, double y) { return errors_of(x, y).in_ulp; }

constexpr int point_count = 64;
constexpr double point(int i) { return detail::power_of_two(i * 31 - 1000) * (1 + i / 64.0); }
constexpr auto at_compile_time = [] {
    struct {
        double x[point_count], y[point_count];
    } values{};
    for (int i = 0; i < point_count; ++i) {
        values.x[i] = point(i);
        values.y[i] = attest::log(point(i));
    }
    return values;
}();

} // namespace

TEST_CASE("the greatest error of log in double is below what its docstring claims, and below its proved bound", "[elementary]") {
    std::mt19937_64 generator(8);
    const auto uniform = [&](double a, double b) { return std::uniform_real_distribution<>(a, b)(generator); };
    double greatest = 0, at = 0, greatest_of_bound = 0, there = 0;
    for (int i = 0; i < 200000; ++i) {
        double x = 0;
        switch (i % 5) {
        case 0: x = std::bit_cast<double>(generator() >> 1); break; // any exponent
        case 1: x = uniform(0.5, 2); break;
        case 2: x = 1 + uniform(-1, 1) * std::exp2(-static_cast<double>(generator() % 52)); break; // where the digits of log are few
        case 3: x = uniform(1, 8192); break;                                                      // sums of softmax
        default: x = std::bit_cast<double>(1 + (generator() >> (12 + generator() % 40))); break;  // subnormal
        }
        if (!(x > 0) || x == detail::infinity_of_double) continue;
        const auto [in_ulp, of_bound] = errors_of(x, attest::log(x));
        if (in_ulp > greatest) {
            greatest = in_ulp;
            at = x;
        }
        if (of_bound > greatest_of_bound) {
            greatest_of_bound = of_bound;
            there = x;
        }
    }
    CAPTURE(at, greatest, there, greatest_of_bound);
    CHECK(greatest <= claimed_ulp);
    CHECK(greatest > 0.5);
    CHECK(greatest_of_bound <= 1);
    CHECK(greatest_of_bound > 0.5); // the bound is not idle
}

TEST_CASE("the errors at the hardest points known stay within the claim of log", "[elementary]") {
    for (const double x : {0x1.5b3ec83f4c47p+1, 0x1.6897be39f9413p+0, 0x1.677914fcd2207p+0, 0x1.4c2812ab8f721p+1}) {
        CAPTURE(x);
        CHECK(ulp_error(x, attest::log(x)) <= claimed_ulp);
    }
}

TEST_CASE("log of special values", "[elementary]") {
    CHECK(attest::log(0.0) == -detail::infinity_of_double);
    CHECK(attest::log(-0.0) == -detail::infinity_of_double);
    CHECK(attest::log(detail::infinity_of_double) == detail::infinity_of_double);
    CHECK(std::isnan(attest::log(-0x1p-1074)));
    CHECK(std::isnan(attest::log(-detail::infinity_of_double)));
    CHECK(std::isnan(attest::log(std::numeric_limits<double>::quiet_NaN())));
    CHECK(attest::log(1.0) == 0);
    CHECK_FALSE(std::signbit(attest::log(1.0)));
    CHECK(attest::log(0.0F) == -std::numeric_limits<float>::infinity());
    CHECK(std::isnan(attest::log(-1.0F)));
}

TEST_CASE("log has the same bits in a constant expression and at run time", "[elementary]") {
    for (int i = 0; i < point_count; ++i) {
        const double x = at_compile_time.x[i], y = attest::log(x);
        CAPTURE(x, y, at_compile_time.y[i]);
        CHECK(y == at_compile_time.y[i]);
    }
}

TEST_CASE("log has the same bits on every compiler, at every level of optimisation, with contraction and without", "[elementary]") {
    std::mt19937_64 generator(12);
    std::uint64_t hash = 0xcbf29ce484222325ULL; // FNV-1a, over words
    for (int i = 0; i < 200000; ++i) {
        const std::uint64_t bits = generator();
        const double fraction = 1 + static_cast<double>(bits >> 12) * 0x1p-52; // from the bits alone: distributions differ between standard libraries
        const double x = i % 2 == 0 ? fraction : detail::times_power_of_two(fraction, static_cast<int>(bits % 2098) - 1074);
        hash = (hash ^ std::bit_cast<std::uint64_t>(attest::log(x))) * 0x100000001b3ULL;
    }
    CAPTURE(hash);
    CHECK(hash == 0x356ffc0c5bff7433ULL);
}

TEST_CASE("log undoes exp, and turns products into sums", "[elementary]") {
    std::mt19937_64 generator(9);
    std::uniform_real_distribution<double> any(-700, 700);
    for (int i = 0; i < 20000; ++i) {
        const double x = any(generator);
        // exp is off by 0.9 ULP, at most 2^-52 of its value each: log then by that much absolutely, and by its own 0.9 ULP.
        if (!(std::abs(attest::log(attest::exp(x)) - x) <= 0.9 * 0x1p-52 * 1.0000001 + 0.9 * ulp(formats::f64, x) * 2)) {
            CAPTURE(x, attest::log(attest::exp(x)));
            FAIL("log(exp(x)) is not x");
        }
    }
    for (int k = -1074; k <= 1023; ++k) // powers of two: one rounding of k · ln 2, or its neighbour
        REQUIRE(ulp_error(std::ldexp(1.0, k), attest::log(std::ldexp(1.0, k))) <= claimed_ulp);
}

TEST_CASE("log in float is the double's result rounded", "[elementary]") {
    std::mt19937_64 generator(10);
    for (int i = 0; i < 100000; ++i) {
        const auto x = std::bit_cast<float>(static_cast<std::uint32_t>(generator() >> 33));
        if (!std::isfinite(x) || x == 0) continue;
        const float y = attest::log(x);
        const auto reference = static_cast<double>(std::log(static_cast<long double>(x)));
        if (y != static_cast<float>(attest::log(static_cast<double>(x))) ||
            !(std::abs(static_cast<double>(y) - reference) <= 0.51 * ulp(formats::f32, reference))) {
            CAPTURE(x, y, reference);
            FAIL("not the rounded double");
        }
    }
}
