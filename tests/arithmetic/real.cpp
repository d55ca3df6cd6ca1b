// SPDX-License-Identifier: BSL-1.0
#include "attest/arithmetic/real.hpp"
#include "attest/elementary/exp.hpp"
#include "attest/elementary/log.hpp"
#include "attest/elementary/sqrt.hpp"
#include "catch.hpp"

#include <boost/multiprecision/cpp_int.hpp>
#include <cmath>
#include <random>
#include <type_traits>

using namespace attest;

namespace {

using low = real<50>;
using high = real<100>;

static_assert(low::bits == 192 && high::bits == 384, "50 and 100 digits, and guard bits");
static_assert(std::is_convertible_v<int, low> && !std::is_convertible_v<double, low> && !std::is_convertible_v<low, double>);
static_assert(!std::is_convertible_v<long long, low> && !std::is_convertible_v<bool, low>, "nothing becomes an int, and then a number, on the way");
static_assert(!std::is_constructible_v<low, high> && !std::is_constructible_v<low, const char*>);

// The same number with more digits: exact.
high widened(const low& x) { return high(high::number(x.value())); }

// |approximate − exact| / |exact| in units of 2^−192.
double relative_error(const low& approximate, const high& exact) {
    return std::abs(static_cast<double>(ldexp((widened(approximate) - exact) / exact, static_cast<int>(low::bits))));
}

double uniform(std::mt19937_64& generator, double a, double b) { return std::uniform_real_distribution<>(a, b)(generator); }

} // namespace

TEST_CASE("exp to 50 digits lies where exp to 100 digits says, within the docstring's bound", "[arithmetic]") {
    std::mt19937_64 generator(15);
    for (int i = 0; i < 10000; ++i) {
        const double x = uniform(generator, -1, 1) * std::exp2(static_cast<double>(generator() % 30) - 12);
        const double error = relative_error(attest::exp(low(x)), attest::exp(high(x)));
        if (!(error <= 2 * std::abs(x) + 64)) {
            CAPTURE(x, error);
            FAIL("exp is further off than its docstring says");
        }
    }
}

TEST_CASE("log to 50 digits lies where log to 100 digits says, near 1 too", "[arithmetic]") {
    std::mt19937_64 generator(16);
    for (int i = 0; i < 10000; ++i) {
        low x(uniform(generator, 0.5, 2));
        if (i % 3 == 1) x = ldexp(x, static_cast<int>(generator() % 2000) - 1000);
        if (i % 3 == 2) x = low(1) + ldexp(low(uniform(generator, -1, 1)), -static_cast<int>(generator() % 180)); // 1 ± 2^−180 at the nearest
        if (x == low(1)) continue;
        const double error = relative_error(attest::log(x), attest::log(widened(x)));
        if (!(error <= 64)) {
            CAPTURE(static_cast<double>(x - low(1)), error);
            FAIL("log is further off than its docstring says");
        }
    }
}

TEST_CASE("the root and the four operations are correctly rounded", "[arithmetic]") {
    // The exact value has at most 2 · 192 bits (a quotient or root: is known to 384), so rounding it to 192 bits is known.
    std::mt19937_64 generator(17);
    for (int i = 0; i < 20000; ++i) {
        const low a = low(uniform(generator, -1, 1)) / low(static_cast<int>(1 + generator() % 1000)); // all 192 bits in use
        const low b = low(uniform(generator, 0.1, 1)) / low(static_cast<int>(1 + generator() % 1000));
        const high A = widened(a), B = widened(b);
        const bool right = a + b == low(low::number((A + B).value())) && a - b == low(low::number((A - B).value())) &&
                           a * b == low(low::number((A * B).value())) && a / b == low(low::number((A / B).value())) &&
                           attest::sqrt(b) == low(low::number(attest::sqrt(B).value()));
        if (!right) {
            CAPTURE(static_cast<double>(a), static_cast<double>(b));
            FAIL("an operation is not correctly rounded");
        }
    }
}

TEST_CASE("known digits", "[arithmetic]") {
    // e, ln 2 and √2 to 55 digits (OEIS A001113, A002162, A002193).
    const auto agrees = [](const low& x, const char* digits) { return boost::multiprecision::abs(x.value() - low::number(digits)) < low::number("1e-54"); };
    CHECK(agrees(attest::exp(low(1)), "2.7182818284590452353602874713526624977572470936999595749"));
    CHECK(agrees(attest::log(low(2)), "0.6931471805599453094172321214581765680755001343602552541"));
    CHECK(agrees(attest::sqrt(low(2)), "1.4142135623730950488016887242096980785696718753769480731"));
}

TEST_CASE("exp and log are inverse, and turn sums into products", "[arithmetic]") {
    std::mt19937_64 generator(18);
    for (int i = 0; i < 3000; ++i) {
        const low a(uniform(generator, -40, 40)), b(uniform(generator, -40, 40));
        const double inverse = static_cast<double>(ldexp(attest::log(attest::exp(a)) - a, low::bits));
        const double product = static_cast<double>(ldexp(attest::exp(a) * attest::exp(b) / attest::exp(a + b) - low(1), low::bits));
        CAPTURE(static_cast<double>(a), static_cast<double>(b), inverse, product);
        if (!(std::abs(inverse) <= 2 * 40 + 64 + 64 * 40)) FAIL("log(exp(a)) is not a");          // exp's bound, and log's at a value of 40
        if (!(std::abs(product) <= 2 * 160 + 3 * 64 + 8)) FAIL("exp(a) exp(b) is not exp(a + b)"); // three bounds of exp, and four roundings
    }
}

TEST_CASE("special values of real", "[arithmetic]") {
    const low infinity = std::numeric_limits<low>::infinity(), nan = std::numeric_limits<low>::quiet_NaN();
    CHECK(attest::exp(-infinity).is_zero());
    CHECK(attest::exp(infinity) == infinity);
    CHECK(attest::exp(nan).is_nan());
    CHECK(attest::exp(low(0)) == low(1));
    CHECK(attest::exp(low(1e9)) == infinity);
    CHECK(attest::exp(low(-1e9)).is_zero());
    CHECK(attest::exp(low(-1e6)) > low(0)); // far below the range of double
    CHECK(attest::log(low(0)) == -infinity);
    CHECK(attest::log(infinity) == infinity);
    CHECK(attest::log(low(-1)).is_nan());
    CHECK(attest::log(nan).is_nan());
    CHECK(attest::log(low(1)).is_zero());
    CHECK(attest::sqrt(low(0)).is_zero());
    CHECK(attest::sqrt(low(-1)).is_nan());
    CHECK((infinity - infinity).is_nan());
    CHECK(infinity.is_finite() == false);
    CHECK((-infinity).is_negative());
    CHECK_FALSE(nan < low(1));
    CHECK_FALSE(nan >= low(1));
    CHECK_FALSE(nan == nan);
}

TEST_CASE("from double and back, powers of two and exponents are exact", "[arithmetic]") {
    std::mt19937_64 generator(19);
    for (int i = 0; i < 20000; ++i) {
        const double x = std::bit_cast<double>(generator());
        if (!std::isfinite(x) || x == 0) continue;
        const low a(x);
        const int k = static_cast<int>(generator() % 4000) - 2000;
        const bool right = static_cast<double>(a) == x && a.exponent() == std::ilogb(x) && a.is_negative() == std::signbit(x) &&
                           static_cast<double>(ldexp(ldexp(a, k), -k)) == x && static_cast<double>(abs(a)) == std::abs(x);
        if (!right) {
            CAPTURE(x, k);
            FAIL("not exact");
        }
    }
    CHECK(static_cast<double>(low(0x1p-1074)) == 0x1p-1074);
    CHECK(low(0).is_zero());
}

TEST_CASE("conversion to double rounds once, to nearest, ties to even", "[arithmetic]") {
    std::mt19937_64 generator(20);
    for (int i = 0; i < 20000; ++i) {
        const double x = std::ldexp(uniform(generator, 1, 2), static_cast<int>(generator() % 2100) - 1074);
        if (!std::isfinite(x)) continue;
        const double next = std::nextafter(x, INFINITY);
        if (!std::isfinite(next)) continue;
        const low midpoint = (low(x) + low(next)) / low(2);
        const double even = std::bit_cast<std::uint64_t>(x) % 2 == 0 ? x : next;
        const low little = ldexp(low(1), static_cast<int>(midpoint.exponent()) - 150);
        const bool right = static_cast<double>(midpoint) == even && static_cast<double>(midpoint + little) == next &&
                           static_cast<double>(midpoint - little) == x;
        if (!right) {
            CAPTURE(x, next, even, static_cast<double>(midpoint), static_cast<double>(midpoint + little), static_cast<double>(midpoint - little));
            FAIL("not rounded to nearest");
        }
    }
}
