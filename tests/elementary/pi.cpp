// SPDX-License-Identifier: BSL-1.0
#include "attest/elementary/pi.hpp"
#include "attest/arithmetic/dual.hpp"
#include "attest/arithmetic/real.hpp"
#include "catch.hpp"

#include <cmath>

using namespace attest;

namespace {

struct without_pi {};
static_assert(has_pi<double> && has_pi<float> && has_pi<real<50>> && has_pi<dual<double>> && has_pi<dual<dual<real<50>>>>);
static_assert(!has_pi<int> && !has_pi<long double> && !has_pi<without_pi> && !has_pi<dual<int>>);

static_assert(attest::pi<double>() == 3.14159265358979323846 && attest::pi<float>() == 3.14159265358979323846F);
static_assert(attest::pi<dual<double>>().value() == attest::pi<double>() && attest::pi<dual<double>>().derivative() == 0,
              "a constant");

} // namespace

TEST_CASE("pi is correctly rounded in double and float", "[elementary]") {
    const real<50> exact = attest::pi<real<50>>();
    const auto nearest = [&](auto value, auto below, auto above) {
        const real<50> distance = abs(real<50>(static_cast<double>(value)) - exact);
        return distance < abs(real<50>(static_cast<double>(below)) - exact) &&
               distance < abs(real<50>(static_cast<double>(above)) - exact);
    };
    const double d = attest::pi<double>();
    const float f = attest::pi<float>();
    CHECK(nearest(d, std::nextafter(d, 0.0), std::nextafter(d, 4.0)));
    CHECK(nearest(f, std::nextafter(f, 0.0F), std::nextafter(f, 4.0F)));
}

TEST_CASE("pi in many digits", "[elementary]") {
    // OEIS A000796.
    using number = real<100>::number;
    const number digits(
        "3.14159265358979323846264338327950288419716939937510582097494459230781640628620899862803482534211706798214808651");
    CHECK(boost::multiprecision::abs(number(attest::pi<real<100>>().value() - digits)) < number("1e-109"));
    // Machin: π/4 = 4 arctan(1/5) − arctan(1/239).
    const auto arctan_of_inverse = [](int n) {
        real<100> power = real<100>(1) / real<100>(n), sum(0);
        for (int k = 0; k < 180; ++k) {
            sum = k % 2 == 0 ? sum + power / real<100>(2 * k + 1) : sum - power / real<100>(2 * k + 1);
            power = power / real<100>(n * n);
        }
        return sum;
    };
    const real<100> machin = real<100>(16) * arctan_of_inverse(5) - real<100>(4) * arctan_of_inverse(239);
    CHECK(abs(machin - attest::pi<real<100>>()) < ldexp(real<100>(1), -static_cast<int>(real<100>::bits) + 8));
}
