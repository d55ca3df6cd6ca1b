// SPDX-License-Identifier: BSL-1.0
#include "attest/elementary/sqrt.hpp"
#include "attest/arithmetic/real.hpp"
#include "catch.hpp"

#include <cmath>
#include <random>

using namespace attest;

namespace {

// In a constant expression the root is taken on integers; both compilers do it.
static_assert(attest::sqrt(4.0) == 2 && attest::sqrt(2.0) == 0x1.6a09e667f3bcdp0 && attest::sqrt(2.0F) == 0x1.6a09e6p0F);
static_assert(attest::sqrt(0x1p-1074) == 0x1p-537 && attest::sqrt(0.0) == 0 && attest::sqrt(detail::infinity_of_double) > 1e308);
static_assert(attest::sqrt(-1.0) != attest::sqrt(-1.0));

struct without_a_root {};
static_assert(has_sqrt<double> && has_sqrt<float> && has_sqrt<real<50>> && !has_sqrt<without_a_root>);

double any_positive(std::mt19937_64& generator) {
    for (;;) {
        const auto x = std::bit_cast<double>(generator() >> 1);
        if (std::isfinite(x) && x > 0) return x;
    }
}

// The correctly rounded root y of x, told without taking a root: x lies between the squares of the midpoints around y. With 50 digits the
// squares of 54 bits are exact.
bool is_correctly_rounded(double x, double y) {
    const real<50> exact(x);
    const real<50> below = (real<50>(std::nextafter(y, 0.0)) + real<50>(y)) / real<50>(2);
    const real<50> above = (real<50>(std::nextafter(y, INFINITY)) + real<50>(y)) / real<50>(2);
    return below * below <= exact && exact <= above * above;
}

} // namespace

TEST_CASE("the root of a double is correctly rounded, on integers and in hardware", "[elementary]") {
    std::mt19937_64 generator(3);
    for (int i = 0; i < 100000; ++i) {
        double x = any_positive(generator);
        if (i % 5 == 0) x = std::bit_cast<double>(1 + (generator() >> (12 + generator() % 50))); // subnormal
        if (i % 5 == 1) {                                                                       // near the square of a number and a half
            const double root = static_cast<double>((std::uint64_t{1} << 52) + (generator() >> 12)) + 0.5;
            x = std::fma(root, root, 0.0);
        }
        const double on_integers = detail::sqrt_on_integers(x);
        if (!(on_integers == attest::sqrt(x) && on_integers == std::sqrt(x) && is_correctly_rounded(x, on_integers))) {
            CAPTURE(x, on_integers, std::sqrt(x));
            FAIL("not the correctly rounded root");
        }
    }
    for (std::uint64_t root = 1; root < 100000; root += 7) // squares have exact roots
        REQUIRE(detail::sqrt_on_integers(static_cast<double>(root * root)) == static_cast<double>(root));
}

TEST_CASE("the root of a float is correctly rounded", "[elementary]") {
    std::mt19937 generator(4);
    for (int i = 0; i < 200000; ++i) {
        const auto x = std::bit_cast<float>(static_cast<std::uint32_t>(generator() >> 1));
        if (!std::isfinite(x)) continue;
        const float root = attest::sqrt(x);
        if (root != std::sqrt(x)) {
            CAPTURE(x, root, std::sqrt(x));
            FAIL("not the correctly rounded root");
        }
    }
}

TEST_CASE("roots of special values", "[elementary]") {
    for (const double x : {-1.0, -0x1p-1074, -detail::infinity_of_double, std::numeric_limits<double>::quiet_NaN()}) {
        CAPTURE(x);
        CHECK(std::isnan(attest::sqrt(x)));
        CHECK(std::isnan(detail::sqrt_on_integers(x)));
    }
    CHECK(std::signbit(detail::sqrt_on_integers(-0.0)));
    CHECK(std::signbit(attest::sqrt(-0.0)));
    CHECK(attest::sqrt(detail::infinity_of_double) == detail::infinity_of_double);
    CHECK(std::isnan(attest::sqrt(-1.0F)));
}
