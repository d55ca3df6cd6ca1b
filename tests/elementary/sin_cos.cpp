// SPDX-License-Identifier: BSL-1.0
#include "attest/elementary/sin_cos.hpp"
#include "attest/arithmetic/formats.hpp"
#include "attest/arithmetic/real.hpp"
#include "catch.hpp"

#include <algorithm>
#include <boost/multiprecision/cpp_int.hpp>
#include <cmath>
#include <iterator>
#include <random>
#include <utility>

using namespace attest;

namespace {

static_assert(attest::sin(0.0) == 0 && attest::sin(1.0) == 0x1.aed548f090ceep-1 && attest::cos(0.0) == 1 &&
              attest::cos(1.0) == 0x1.14a280fb5068cp-1);
static_assert(attest::sin(1e22) == -0x1.b453ab76bf397p-1, "the classic of a careless reduction: -0.8522008497671888");
static_assert(attest::sin(1.0F) == 0.841470985F && attest::cos(1.0F) == 0.540302306F);

struct rational_like {};
static_assert(has_sin<double> && has_cos<double> && has_sin<float> && has_cos<float> && has_sin<real<50>> && has_cos<real<50>>);
static_assert(!has_sin<rational_like> && !has_cos<rational_like>);
static_assert(!has_sin<long double> && !has_cos<int>, "no conversion brings another type to the double's function");

// What the docstring claims.
constexpr double claimed_ulp = 0.9;

using wide = real<400>; // 1344 bits: enough to reduce the greatest double, and 300 more

// sin x and cos x to 50 digits, relatively, for every double x: reduced here, with division and not with the digits of 2/π.
std::pair<real<50>, real<50>> sin_and_cos(double x) {
    using number = wide::number;
    static const number half_pi = wide::pi().value() / 2;
    const number k = floor(number(number(x) / half_pi + 0.5));
    const auto quadrant = number(k - 4 * floor(number(k / 4))).convert_to<int>();
    const real<50> rest(real<50>::number(number(number(x) - k * half_pi)));
    const real<50> s = attest::sin(rest), c = attest::cos(rest);
    switch (quadrant) {
    case 0: return {s, c};
    case 1: return {c, -s};
    case 2: return {-s, -c};
    default: return {-c, s};
    }
}

double ulp_distance(double y, const real<50>& exact) {
    const int unit = formats::f64.ulp_exponent(static_cast<int>(exact.exponent()));
    return std::abs(static_cast<double>(ldexp(real<50>(y) - exact, -unit)));
}

// The greater of the errors of sin and cos at x.
double ulp_error(double x) {
    const auto [s, c] = sin_and_cos(x);
    return std::max(ulp_distance(attest::sin(x), s), ulp_distance(attest::cos(x), c));
}

// Points at run time against the same points in a constant expression; exact, so that no contraction moves them.
constexpr int point_count = 64;
constexpr double point(int i) { return i < 32 ? -3.3125 + 0.2109375 * i : (i - 48.3) * detail::power_of_two((i - 32) * 31); }
constexpr auto at_compile_time = [] {
    struct {
        double sine[point_count], cosine[point_count];
    } values{};
    for (int i = 0; i < point_count; ++i) {
        values.sine[i] = attest::sin(point(i));
        values.cosine[i] = attest::cos(point(i));
    }
    return values;
}();

} // namespace

TEST_CASE("the greatest error of sin and cos in double is what their docstring claims", "[elementary]") {
    std::mt19937_64 generator(48);
    const auto uniform = [&](double a, double b) { return std::uniform_real_distribution<>(a, b)(generator); };
    double greatest = 0, at = 0;
    for (int i = 0; i < 60000; ++i) {
        double x = 0;
        switch (i % 6) {
        case 0: x = uniform(-0.79, 0.79); break;
        case 1: x = uniform(-10, 10); break;
        case 2: x = std::round(uniform(0, 1e6)); break;                                     // positions
        case 3: x = std::round(uniform(0, 1e6)) * std::exp(-uniform(0, 9.21)); break;       // positions times frequencies of RoPE
        case 4: x = static_cast<double>(generator() % 4000000) * 1.5707963267948966; break; // near the zeros
        default:
            do x = std::bit_cast<double>(generator());
            while (!std::isfinite(x)); // every magnitude
        }
        if (x == 0) continue;
        const double error = ulp_error(x);
        if (error > greatest) {
            greatest = error;
            at = x;
        }
    }
    CAPTURE(at, greatest);
    CHECK(greatest <= claimed_ulp);
    CHECK(greatest > 0.5); // they are not correctly rounded, and the measure sees that
}

TEST_CASE("the errors of sin and cos at the hardest points known stay within the claim", "[elementary]") {
    for (const double x :
         {0x1.5c285ba7cc056p+69, 0x1.952811f25f22p-1, -0x1.480255e2af2b8p+84, -0x1.92df242e01376p-1, 0x1.84c51cac684d4p+95,
          0x1.1279cp+19, 0x1.0104p+15,
          // Of all doubles the nearest to a multiple of π/2, a well-known great one, the greatest, and the doubles next to π/2,
          // π, 3π/2.
          0x1.6ac5b262ca1ffp+849, 1e22, std::numeric_limits<double>::max(), 0x1.921fb54442d18p+0, 0x1.921fb54442d18p+1,
          0x1.2d97c7f3321d2p+2, 0x1.46d48p+20, 1e6, 1e9, 1e15, 0x1p1023, 0x1p53, 0.7853981633974483, 0.7853981633974484}) {
        CAPTURE(x, attest::sin(x), attest::cos(x));
        CHECK(ulp_error(x) <= claimed_ulp);
    }
}

TEST_CASE("sin and cos at special values", "[elementary]") {
    const double infinity = detail::infinity_of_double, nan = std::numeric_limits<double>::quiet_NaN(), tiny = 0x1p-1074;
    for (const double x : {infinity, -infinity, nan}) {
        CHECK(std::isnan(attest::sin(x)));
        CHECK(std::isnan(attest::cos(x)));
    }
    CHECK((attest::sin(0.0) == 0 && !std::signbit(attest::sin(0.0))));
    CHECK((attest::sin(-0.0) == 0 && std::signbit(attest::sin(-0.0))));
    CHECK(attest::sin(tiny) == tiny);
    CHECK(attest::sin(-0x1.8p-1060) == -0x1.8p-1060);
    CHECK(attest::cos(-0.0) == 1);
    CHECK(attest::cos(tiny) == 1);
    CHECK(attest::sin(0x1.921fb54442d18p+1) == 0x1.1a62633145c07p-53); // what π has beyond its double
    CHECK(attest::cos(0x1.921fb54442d18p+0) == 0x1.1a62633145c07p-54);
    CHECK(attest::cos(0x1.921fb54442d18p+1) == -1);
    CHECK(attest::sin(0x1.921fb54442d18p+0) == 1);
}

TEST_CASE("sin and cos have the same bits in a constant expression and at run time", "[elementary]") {
#if defined(__FP_FAST_FMA) || defined(__FMA__)
    constexpr double allowed = 1; // the compiler may contract a·b + c, and then the last bit may differ
#else
    constexpr double allowed = 0;
#endif
    for (int i = 0; i < point_count; ++i) {
        const double x = point(i), s = attest::sin(x), c = attest::cos(x);
        CAPTURE(x, s, at_compile_time.sine[i], c, at_compile_time.cosine[i]);
        if (s != at_compile_time.sine[i]) CHECK(std::abs(s - at_compile_time.sine[i]) <= allowed * ulp(formats::f64, s));
        if (c != at_compile_time.cosine[i]) CHECK(std::abs(c - at_compile_time.cosine[i]) <= allowed * ulp(formats::f64, c));
    }
}

TEST_CASE("the digits of 2/π are right, to the last limb", "[elementary]") {
    using number = wide::number;
    number rest = 2 / wide::pi().value();
    for (const std::uint64_t limb : detail::two_over_pi) {
        rest = ldexp(rest, 64);
        const number whole = floor(rest);
        CHECK(limb == whole.convert_to<std::uint64_t>());
        rest -= whole;
    }
    CHECK(std::size(detail::two_over_pi) == 19); // of 1344 bits 1216 were read
    // What the greatest double reads last: 192 digits from 2^971's on.
    static_assert(971 - 2 + 192 <= 19 * 64);
}

TEST_CASE("the product of two limbs is exact", "[elementary]") {
    std::mt19937_64 generator(49);
    const auto check = [](std::uint64_t a, std::uint64_t b) {
        const auto [high, low] = detail::limb_product(a, b);
        const boost::multiprecision::number<boost::multiprecision::cpp_int_backend<>> exact =
            boost::multiprecision::number<boost::multiprecision::cpp_int_backend<>>(a) * b;
        if (exact != ((boost::multiprecision::number<boost::multiprecision::cpp_int_backend<>>(high) << 64) | low)) {
            CAPTURE(a, b, high, low);
            FAIL("not the product");
        }
    };
    for (int i = 0; i < 20000; ++i) check(generator(), generator());
    for (const std::uint64_t a : {0ULL, 1ULL, 0xffffffffULL, 0x100000000ULL, ~0ULL})
        for (const std::uint64_t b : {0ULL, 1ULL, 0xffffffffULL, 0x100000000ULL, ~0ULL}) check(a, b);
}

TEST_CASE("symmetries of sin and cos hold bit for bit, and sin² + cos² is 1 to what the roundings allow", "[elementary]") {
    std::mt19937_64 generator(50);
    for (int i = 0; i < 20000; ++i) {
        const auto x = std::bit_cast<double>(generator());
        if (!std::isfinite(x)) continue;
        const double s = attest::sin(x), c = attest::cos(x);
        // |s|, |c| <= 1: an error of 0.9 ULP is at most 0.9·2^-53 of absolute size for values below 1, and three roundings of
        // numbers at most 1. |d(s² + c²)| <= 2 (|s| + |c|) 0.9·2^-53 <= 2.6·2^-53, and 1.5·2^-53 for the roundings.
        if (!(attest::sin(-x) == -s && attest::cos(-x) == c && std::abs(s * s + c * c - 1) <= 4.1 * 0x1p-53 && std::abs(s) <= 1 &&
              std::abs(c) <= 1)) {
            CAPTURE(x, s, c);
            FAIL("not odd and even, or not on the circle");
        }
    }
}

TEST_CASE("sin and cos in float are the double's results rounded, and never 0.51 ULP off", "[elementary]") {
    std::mt19937_64 generator(51);
    for (int i = 0; i < 50000; ++i) {
        const auto x = static_cast<float>(std::uniform_real_distribution<>(-10, 10)(generator) *
                                          std::exp2(static_cast<double>(generator() % 40) - 20));
        const float s = attest::sin(x), c = attest::cos(x);
        const auto sine = static_cast<double>(std::sin(static_cast<long double>(x))),
                   cosine = static_cast<double>(std::cos(static_cast<long double>(x)));
        if (s != static_cast<float>(attest::sin(static_cast<double>(x))) ||
            c != static_cast<float>(attest::cos(static_cast<double>(x))) ||
            !(std::abs(static_cast<double>(s) - sine) <= 0.51 * ulp(formats::f32, sine)) ||
            !(std::abs(static_cast<double>(c) - cosine) <= 0.51 * ulp(formats::f32, cosine))) {
            CAPTURE(x, s, sine, c, cosine);
            FAIL("not the rounded double");
        }
    }
    CHECK(std::isnan(attest::sin(std::numeric_limits<float>::infinity())));
    CHECK(std::isnan(attest::cos(std::numeric_limits<float>::quiet_NaN())));
    CHECK(attest::sin(0x1p-149F) == 0x1p-149F);
}
