// SPDX-License-Identifier: BSL-1.0
#include "attest/elementary/tanh.hpp"
#include "attest/arithmetic/formats.hpp"
#include "attest/arithmetic/real.hpp"
#include "catch.hpp"

#include <cmath>
#include <random>

using namespace attest;

namespace {

static_assert(attest::tanh(0.0) == 0 && attest::tanh(1.0) == 0x1.85efab514f394p-1 && attest::tanh(-1000.0) == -1);
static_assert(attest::tanh(detail::infinity_of_double) == 1 && attest::tanh(1.0F) == 0.761594156F);

struct rational_like {};
static_assert(has_tanh<double> && has_tanh<float> && has_tanh<real<50>> && !has_tanh<rational_like>);
static_assert(!has_tanh<long double> && !has_tanh<int>, "no conversion brings another type to the double's function");

// What the docstring claims.
constexpr double claimed_ulp = 0.6;

// The distance of y from tanh x in units of the last place of tanh x; by 50 digits.
double ulp_error(double x, double y) {
    const real<50> exact = attest::tanh(real<50>(x));
    const int unit = formats::f64.ulp_exponent(static_cast<int>(exact.exponent()));
    return std::abs(static_cast<double>(ldexp(real<50>(y) - exact, -unit)));
}

// Points at run time against the same points in a constant expression; exact, so that no contraction moves them.
constexpr int point_count = 64;
constexpr double point(int i) { return -21.0 + 0.625 * i + i * i / 8192.0; }
constexpr auto at_compile_time = [] {
    struct {
        double y[point_count];
    } values{};
    for (int i = 0; i < point_count; ++i) values.y[i] = attest::tanh(point(i));
    return values;
}();

} // namespace

TEST_CASE("the greatest error of tanh in double is what its docstring claims", "[elementary]") {
    std::mt19937_64 generator(41);
    const auto uniform = [&](double a, double b) { return std::uniform_real_distribution<>(a, b)(generator); };
    double greatest = 0, at = 0;
    for (int i = 0; i < 100000; ++i) {
        double x = 0;
        switch (i % 5) {
        case 0: x = uniform(-20, 20); break;
        case 1: x = uniform(-3, 3); break;
        case 2: x = uniform(-0.4, 0.4); break; // where nothing is doubled
        case 3: x = uniform(-1, 1) * std::exp2(-static_cast<double>(generator() % 60)); break;
        default: x = uniform(-1, 1) * std::exp2(-static_cast<double>(generator() % 1074)); break; // down to the subnormals
        }
        if (x == 0) continue;
        const double error = ulp_error(x, attest::tanh(x));
        if (error > greatest) {
            greatest = error;
            at = x;
        }
    }
    CAPTURE(at, greatest);
    CHECK(greatest <= claimed_ulp);
    CHECK(greatest > 0.5); // it is not correctly rounded, and the measure sees that
}

TEST_CASE("the errors of tanh at the hardest points known, and where its ways meet, stay within the claim", "[elementary]") {
    for (const double x : {0x1.67abd5f72c6c8p-3, 0x1.4dc3aeefac28p-3, 0x1.6e4dc3700074p-3, -0x1.69e831c84a04cp-3,
                           -0x1.77ea4da4cc49fp-3, -0x1.800d45eefcdc6p-3}) {
        CAPTURE(x);
        CHECK(ulp_error(x, attest::tanh(x)) <= claimed_ulp);
    }
    // The ends of the small arguments, of each k in 2x = k ln 2 + r, and of the saturation.
    for (int k = 0; k < 59; ++k) {
        const double edge = k == 0 ? 0x1p-28 : k == 58 ? 20 : (k - 0.5) * 0.34657359027997264;
        for (const double x : {edge, std::nextafter(edge, 0.0), std::nextafter(edge, 30.0)}) {
            CAPTURE(x, k);
            CHECK(ulp_error(x, attest::tanh(x)) <= claimed_ulp);
        }
    }
}

TEST_CASE("tanh at special values", "[elementary]") {
    const double infinity = detail::infinity_of_double, tiny = 0x1p-1074;
    CHECK(attest::tanh(infinity) == 1);
    CHECK(attest::tanh(-infinity) == -1);
    CHECK(std::isnan(attest::tanh(std::numeric_limits<double>::quiet_NaN())));
    CHECK((attest::tanh(0.0) == 0 && !std::signbit(attest::tanh(0.0))));
    CHECK((attest::tanh(-0.0) == 0 && std::signbit(attest::tanh(-0.0))));
    CHECK(attest::tanh(tiny) == tiny);
    CHECK(attest::tanh(-0x1.8p-1060) == -0x1.8p-1060);
    CHECK(attest::tanh(1e300) == 1);
    CHECK(attest::tanh(19.1) == 1);
    CHECK(attest::tanh(18.0) < 1);
}

TEST_CASE("tanh has the same bits in a constant expression and at run time", "[elementary]") {
#if defined(__FP_FAST_FMA) || defined(__FMA__)
    constexpr double allowed = 1; // the compiler may contract a·b + c, and then the last bit may differ
#else
    constexpr double allowed = 0;
#endif
    for (int i = 0; i < point_count; ++i) {
        const double x = point(i), y = attest::tanh(x);
        CAPTURE(x, y, at_compile_time.y[i]);
        if (y != at_compile_time.y[i]) CHECK(std::abs(y - at_compile_time.y[i]) <= allowed * ulp(formats::f64, y));
    }
}

TEST_CASE("tanh is odd, bit for bit, and never leaves [-1, 1]", "[elementary]") {
    std::mt19937_64 generator(42);
    for (int i = 0; i < 20000; ++i) {
        const auto x = std::bit_cast<double>(generator());
        if (std::isnan(x)) continue;
        const double y = attest::tanh(x);
        if (!(attest::tanh(-x) == -y && std::abs(y) <= 1 && std::abs(y) <= std::abs(x) && std::signbit(y) == std::signbit(x))) {
            CAPTURE(x, y);
            FAIL("not odd, or out of its range");
        }
    }
}

TEST_CASE("tanh 2x = 2 tanh x / (1 + tanh² x), to what the roundings allow", "[elementary]") {
    std::mt19937_64 generator(43);
    for (int i = 0; i < 20000; ++i) {
        const double x = std::uniform_real_distribution<>(-12, 12)(generator) * std::exp2(-static_cast<double>(generator() % 40));
        const double t = attest::tanh(x), whole = attest::tanh(2 * x), formula = 2 * t / (1 + t * t);
        // whole: 0.6 ULP; t: 0.6 ULP, whose weight in 2t/(1 + t²) is at most 1; three roundings of half a ULP. An ULP is at most
        // 2^-52 of the value.
        if (!(std::abs(whole - formula) <= (0.6 + 0.6 + 1.5) * 0x1p-52 * 1.0000001 * std::abs(whole))) {
            CAPTURE(x, whole, formula);
            FAIL("the doubling of tanh is broken");
        }
    }
}

TEST_CASE("tanh in float is the double's result rounded, and never 0.51 ULP off", "[elementary]") {
    std::mt19937_64 generator(44);
    for (int i = 0; i < 50000; ++i) {
        const auto x = static_cast<float>(std::uniform_real_distribution<>(-10, 10)(generator) *
                                          std::exp2(-static_cast<double>(generator() % 20)));
        const float y = attest::tanh(x);
        const auto reference = static_cast<double>(std::tanh(static_cast<long double>(x)));
        if (y != static_cast<float>(attest::tanh(static_cast<double>(x))) ||
            !(std::abs(static_cast<double>(y) - reference) <= 0.51 * ulp(formats::f32, reference))) {
            CAPTURE(x, y, reference);
            FAIL("not the rounded double");
        }
    }
    CHECK(attest::tanh(std::numeric_limits<float>::infinity()) == 1);
    CHECK(attest::tanh(10.0F) == 1);
    CHECK(attest::tanh(0x1p-149F) == 0x1p-149F);
    CHECK(std::isnan(attest::tanh(std::numeric_limits<float>::quiet_NaN())));
}
