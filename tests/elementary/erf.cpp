// SPDX-License-Identifier: BSL-1.0
#include "attest/elementary/erf.hpp"
#include "attest/arithmetic/formats.hpp"
#include "attest/arithmetic/real.hpp"
#include "catch.hpp"

#include <cmath>
#include <random>

using namespace attest;

namespace {

static_assert(attest::erf(0.0) == 0 && attest::erf(1.0) == 0x1.af767a741088bp-1 && attest::erf(-1000.0) == -1);
static_assert(attest::erf(detail::infinity_of_double) == 1 && attest::erf(1.0F) == 0.842700779F);

struct rational_like {};
static_assert(has_erf<double> && has_erf<float> && has_erf<real<50>> && !has_erf<rational_like>);
static_assert(!has_erf<long double> && !has_erf<int>, "no conversion brings another type to the double's function");

// What the docstring claims.
constexpr double claimed_ulp = 0.9;

// The distance of y from erf x in units of the last place of erf x; by 50 digits.
double ulp_error(double x, double y) {
    const real<50> exact = attest::erf(real<50>(x));
    const int unit = formats::f64.ulp_exponent(static_cast<int>(exact.exponent()));
    return std::abs(static_cast<double>(ldexp(real<50>(y) - exact, -unit)));
}

// Points at run time against the same points in a constant expression; exact, so that no contraction moves them.
constexpr int point_count = 64;
constexpr double point(int i) { return -6.25 + 0.1875 * i + i * i / 8192.0; }
constexpr auto at_compile_time = [] {
    struct {
        double y[point_count];
    } values{};
    for (int i = 0; i < point_count; ++i) values.y[i] = attest::erf(point(i));
    return values;
}();

} // namespace

TEST_CASE("the greatest error of erf in double is what its docstring claims, near 0 too", "[elementary]") {
    std::mt19937_64 generator(45);
    const auto uniform = [&](double a, double b) { return std::uniform_real_distribution<>(a, b)(generator); };
    double greatest = 0, at = 0;
    for (int i = 0; i < 60000; ++i) {
        double x = 0;
        switch (i % 5) {
        case 0: x = uniform(-6, 6); break;
        case 1: x = uniform(-0.5, 0.5); break;
        case 2: x = uniform(0.5, 1.5); break;
        case 3: x = uniform(-1, 1) * std::exp2(-static_cast<double>(generator() % 60)); break;
        default: x = uniform(-1, 1) * std::exp2(-static_cast<double>(generator() % 1074)); break; // down to the subnormals
        }
        if (x == 0) continue;
        const double error = ulp_error(x, attest::erf(x));
        if (error > greatest) {
            greatest = error;
            at = x;
        }
    }
    CAPTURE(at, greatest);
    CHECK(greatest <= claimed_ulp);
    CHECK(greatest > 0.5); // it is not correctly rounded, and the measure sees that
}

TEST_CASE("the errors of erf at the hardest points known, and where its ways meet, stay within the claim", "[elementary]") {
    for (const double x : {-0x1.e59378a0f8d9bp-2, -0x1.dfcbfcaab1d5p-2, 0x1.e12c560a6cb4p-2, 0x1.25dd33a94ac99p-1,
                           0x1.dca8eb7a4b1d4p-2, 0x1.ff947f1758258p-2, -0x0.8625e4fc346f1p-1022, -0x0.d253c19785404p-1022}) {
        CAPTURE(x);
        CHECK(ulp_error(x, attest::erf(x)) <= claimed_ulp);
    }
    for (int sixteenth = 7; sixteenth <= 96; ++sixteenth) {
        const double edge = sixteenth == 7 ? 0x1p-900 : sixteenth == 96 ? 5.93 : sixteenth / 16.0;
        for (const double x : {edge, std::nextafter(edge, 0.0), std::nextafter(edge, 30.0)}) {
            CAPTURE(x);
            CHECK(ulp_error(x, attest::erf(x)) <= claimed_ulp);
        }
    }
}

TEST_CASE("the table behind erf holds what it says", "[elementary]") {
    int eighths = 4;
    const real<50> two_over_root_pi = real<50>(2) / attest::sqrt(attest::pi<real<50>>());
    for (const auto& [high, low, slope] : detail::erf_at_eighths) {
        const real<50> c(eighths / 8.0), exact = attest::erf(c), derivative = two_over_root_pi * attest::exp(-(c * c));
        CAPTURE(eighths, high, low, slope);
        CHECK(high == static_cast<double>(exact));
        CHECK(low == static_cast<double>(exact - real<50>(high)));
        CHECK(slope == static_cast<double>(derivative));
        ++eighths;
    }
    CHECK(eighths == 48);
}

TEST_CASE("erf at special values", "[elementary]") {
    const double infinity = detail::infinity_of_double, tiny = 0x1p-1074;
    CHECK(attest::erf(infinity) == 1);
    CHECK(attest::erf(-infinity) == -1);
    CHECK(std::isnan(attest::erf(std::numeric_limits<double>::quiet_NaN())));
    CHECK((attest::erf(0.0) == 0 && !std::signbit(attest::erf(0.0))));
    CHECK((attest::erf(-0.0) == 0 && std::signbit(attest::erf(-0.0))));
    CHECK(attest::erf(tiny) == tiny); // 1.128 of it
    CHECK(attest::erf(0x1p-1040) == 0x1.20dd75044p-1040);
    CHECK(attest::erf(1e300) == 1);
    CHECK(attest::erf(5.9) < 1);
    CHECK(attest::erf(5.93) == 1);
}

TEST_CASE("erf has the same bits in a constant expression and at run time", "[elementary]") {
#if defined(__FP_FAST_FMA) || defined(__FMA__)
    constexpr double allowed = 1; // the compiler may contract a·b + c, and then the last bit may differ
#else
    constexpr double allowed = 0;
#endif
    for (int i = 0; i < point_count; ++i) {
        const double x = point(i), y = attest::erf(x);
        CAPTURE(x, y, at_compile_time.y[i]);
        if (y != at_compile_time.y[i]) CHECK(std::abs(y - at_compile_time.y[i]) <= allowed * ulp(formats::f64, y));
    }
}

TEST_CASE("erf is odd, bit for bit, and never leaves [-1, 1]", "[elementary]") {
    std::mt19937_64 generator(46);
    for (int i = 0; i < 20000; ++i) {
        const auto x = std::bit_cast<double>(generator());
        if (std::isnan(x)) continue;
        const double y = attest::erf(x);
        if (!(attest::erf(-x) == -y && std::abs(y) <= 1 && std::signbit(y) == std::signbit(x))) {
            CAPTURE(x, y);
            FAIL("not odd, or out of its range");
        }
    }
}

TEST_CASE("erf in float is the double's result rounded, and never 0.51 ULP off", "[elementary]") {
    std::mt19937_64 generator(47);
    for (int i = 0; i < 50000; ++i) {
        const auto x = static_cast<float>(std::uniform_real_distribution<>(-4, 4)(generator) *
                                          std::exp2(-static_cast<double>(generator() % 20)));
        const float y = attest::erf(x);
        const auto reference = static_cast<double>(std::erf(static_cast<long double>(x)));
        if (y != static_cast<float>(attest::erf(static_cast<double>(x))) ||
            !(std::abs(static_cast<double>(y) - reference) <= 0.51 * ulp(formats::f32, reference))) {
            CAPTURE(x, y, reference);
            FAIL("not the rounded double");
        }
    }
    CHECK(attest::erf(std::numeric_limits<float>::infinity()) == 1);
    CHECK(attest::erf(4.0F) == 1);
    CHECK(attest::erf(0x1p-149F) == 0x1p-149F);
    CHECK(std::isnan(attest::erf(std::numeric_limits<float>::quiet_NaN())));
}
