// SPDX-License-Identifier: BSL-1.0
#include "attest/elementary/exp.hpp"
#include "attest/arithmetic/formats.hpp"
#include "attest/arithmetic/real.hpp"
#include "catch.hpp"

#include <cmath>
#include <random>

using namespace attest;

namespace {

static_assert(attest::exp(0.0) == 1 && attest::exp(1.0) == 0x1.5bf0a8b145769p+1 && attest::exp(-1000.0) == 0);
static_assert(attest::exp(1000.0) == detail::infinity_of_double && attest::exp(1.0F) == 2.71828183F);

struct rational_like {};
static_assert(has_exp<double> && has_exp<float> && has_exp<real<50>> && !has_exp<rational_like>);
static_assert(!has_exp<long double> && !has_exp<const char*>, "no conversion brings another type to the double's function");

// What the docstring claims, proved for normal results.
constexpr double claimed_ulp = 0.8;

// The distance of y from e^x: in units of the last place of e^x, and as a part of the bound; by 50 digits.
struct errors {
    double in_ulp, of_bound;
};
errors errors_of(double x, double y) {
    const real<50> exact = attest::exp(real<50>(x)), off = real<50>(y) - exact;
    const int unit = formats::f64.ulp_exponent(static_cast<int>(exact.exponent()));
    const bool normal = exact.exponent() >= -1022;
    const real<50> bound = real<50>(exp_error_relative) * exact + real<50>(normal ? 0.0 : exp_error_absolute);
    return {std::abs(static_cast<double>(ldexp(off, -unit))), std::abs(static_cast<double>(off / bound))};
}
double ulp_error(double x, double y) { return errors_of(x, y).in_ulp; }

// Points at run time against the same points in a constant expression.
constexpr int point_count = 64;
constexpr double point(int i) { return -745.0 + 23.0 * i + 0.37 * i * i / 64; }
constexpr auto at_compile_time = [] {
    struct {
        double x[point_count], y[point_count];
    } values{};
    for (int i = 0; i < point_count; ++i) {
        values.x[i] = point(i);
        values.y[i] = attest::exp(point(i));
    }
    return values;
}();

} // namespace

TEST_CASE("the greatest error of exp in double is below its proved bounds", "[elementary]") {
    std::mt19937_64 generator(5);
    const auto uniform = [&](double a, double b) { return std::uniform_real_distribution<>(a, b)(generator); };
    double greatest = 0, at = 0, greatest_of_bound = 0, there = 0;
    for (int i = 0; i < 1000000; ++i) {
        double x = 0;
        switch (i % 5) {
        case 0: x = uniform(-708, 709.78); break;
        case 1: x = uniform(-50, 0); break; // where softmax lives
        case 2: x = uniform(-1, 1); break;
        case 3: x = uniform(-1, 1) * std::exp2(-static_cast<double>(generator() % 60)); break;
        default: x = uniform(-745.13, -708); break; // subnormal results
        }
        const auto [in_ulp, of_bound] = errors_of(x, attest::exp(x));
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
    CHECK(greatest > 0.5); // it is not correctly rounded, and the measure sees that
    CHECK(greatest_of_bound <= 1);
    CHECK(greatest_of_bound > 0.8); // the bound is not idle
}

TEST_CASE("the errors at the hardest points known stay within the claim", "[elementary]") {
    for (const double x : {-0x1.6260f566050c3p+9, -0x1.72d53c3b333bp+7, 0x1.957f99b30337p+4, 0x1.62f0d9c69a9p-2, -0x1.6b2aafe48cf48p-2}) {
        CAPTURE(x);
        CHECK(ulp_error(x, attest::exp(x)) <= claimed_ulp);
    }
}

TEST_CASE("the bounds of exp hold where results become subnormal, and 0", "[elementary]") {
    const auto outside = [](double x) { return !(errors_of(x, attest::exp(x)).of_bound <= 1); };
    for (const double first : {-708.3964185322, -745.13321910193}) { // e^x passes 2^-1022, and 2^-1075
        double x = first;
        int count = 0;
        for (int i = 0; i < 20000; ++i, x = std::nextafter(x, -800.0)) count += outside(x) ? 1 : 0;
        CAPTURE(first, x);
        CHECK(count == 0);
    }
    for (const double far : {-745.2, -746.0, -1000.0, -99999.0}) CHECK_FALSE(outside(far));
}

TEST_CASE("exp at the ends of its range", "[elementary]") {
    const double greatest = std::numeric_limits<double>::max(), tiny = 0x1p-1074;
    CHECK(attest::exp(709.782712893384) <= greatest);
    CHECK(attest::exp(709.782712893384) > 0.999999999999 * greatest);
    CHECK(attest::exp(std::nextafter(709.782712893384, 800.0)) == detail::infinity_of_double);
    CHECK(attest::exp(-745.1332191019411) == tiny);
    CHECK(attest::exp(std::nextafter(-745.1332191019412, -800.0)) == 0);
    CHECK(attest::exp(-detail::infinity_of_double) == 0);
    CHECK_FALSE(std::signbit(attest::exp(-detail::infinity_of_double)));
    CHECK(attest::exp(detail::infinity_of_double) == detail::infinity_of_double);
    CHECK(std::isnan(attest::exp(std::numeric_limits<double>::quiet_NaN())));
    CHECK(attest::exp(-0.0) == 1);
    CHECK(attest::exp(tiny) == 1);
    CHECK(attest::exp(1e300) == detail::infinity_of_double);
    CHECK(attest::exp(-1e300) == 0);
}

TEST_CASE("exp has the same bits in a constant expression and at run time", "[elementary]") {
    for (int i = 0; i < point_count; ++i) {
        const double x = at_compile_time.x[i], y = attest::exp(x);
        CAPTURE(x, y, at_compile_time.y[i]);
        CHECK(y == at_compile_time.y[i]);
    }
}

TEST_CASE("exp has the same bits on every compiler, at every level of optimisation, with contraction and without", "[elementary]") {
    std::mt19937_64 generator(11);
    std::uint64_t hash = 0xcbf29ce484222325ULL; // FNV-1a, over words
    for (int i = 0; i < 200000; ++i) {
        // From the bits alone: distributions differ between standard libraries.
        const std::uint64_t bits = generator();
        const double sign = (bits & 1) == 0 ? -1 : 1, fraction = 1 + static_cast<double>(bits >> 12) * 0x1p-52;
        const double x = detail::times_power_of_two(sign * fraction, 9 - static_cast<int>((bits >> 1) % 16));
        // And in a sum, with which a compiler would contract the last product of exp if it could.
        hash = (hash ^ std::bit_cast<std::uint64_t>(attest::exp(x))) * 0x100000001b3ULL;
        hash = (hash ^ std::bit_cast<std::uint64_t>(attest::exp(x) + 0x1.23456789abcdep-1022)) * 0x100000001b3ULL;
    }
    CAPTURE(hash);
    CHECK(hash == 0x32584a2a72080a09ULL);
}

TEST_CASE("exp(a + b) is exp(a) exp(b), to what the roundings allow", "[elementary]") {
    std::mt19937_64 generator(6);
    std::uniform_int_distribution<int> sixteenths(-4000, 4000); // a + b is exact
    for (int i = 0; i < 20000; ++i) {
        const double a = sixteenths(generator) / 16.0, b = sixteenths(generator) / 16.0;
        const double whole = attest::exp(a + b), product = attest::exp(a) * attest::exp(b);
        // Three results of 0.8 ULP, each at most 2^-52 of its value a ULP, and one rounded product.
        if (!(std::abs(whole - product) <= (3 * 0.8 + 0.5) * 0x1p-52 * 1.0000001 * whole)) {
            CAPTURE(a, b, whole, product);
            FAIL("the law of exponents is broken");
        }
    }
}

TEST_CASE("exp in float is the double's result rounded, and never 0.51 ULP off", "[elementary]") {
    std::mt19937_64 generator(7);
    std::uniform_real_distribution<float> any(-110, 95);
    for (int i = 0; i < 100000; ++i) {
        const float x = any(generator);
        const float y = attest::exp(x);
        const auto reference = static_cast<double>(std::exp(static_cast<long double>(x)));
        if (y != static_cast<float>(attest::exp(static_cast<double>(x))) ||
            (std::isfinite(y) && !(std::abs(static_cast<double>(y) - reference) <= 0.51 * ulp(formats::f32, reference)))) {
            CAPTURE(x, y, reference);
            FAIL("not the rounded double");
        }
    }
    CHECK(attest::exp(100.0F) == std::numeric_limits<float>::infinity());
    CHECK(attest::exp(-104.0F) == 0);
    CHECK(attest::exp(-103.0F) == 0x1p-149F);
    CHECK(std::isnan(attest::exp(std::numeric_limits<float>::quiet_NaN())));
}
