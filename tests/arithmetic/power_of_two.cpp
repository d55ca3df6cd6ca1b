// SPDX-License-Identifier: BSL-1.0
#include "attest/arithmetic/power_of_two.hpp"
#include "catch.hpp"

#include <cmath>
#include <random>

using namespace attest::detail;

namespace {

static_assert(power_of_two(0) == 1 && power_of_two(10) == 1024 && power_of_two(-1022) == std::numeric_limits<double>::min());
static_assert(times_power_of_two(3, -1) == 1.5 && split(6.0).fraction == 1.5 && split(6.0).exponent == 2);

double random_double(std::mt19937_64& generator) {
    for (;;) {
        const auto x = std::bit_cast<double>(generator() >> 1);
        if (std::isfinite(x) && x > 0) return x;
    }
}

} // namespace

TEST_CASE("powers of two agree with ldexp over the normal range", "[elementary]") {
    int wrong = 0;
    for (int k = -1022; k <= 1023; ++k)
        if (power_of_two(k) != std::ldexp(1.0, k)) ++wrong;
    CHECK(wrong == 0);
}

TEST_CASE("times_power_of_two rounds once, as ldexp does, for |k| <= 2100", "[elementary]") {
    std::mt19937_64 generator(1);
    for (int i = 0; i < 200000; ++i) {
        const double x = (i % 2 == 0 ? 1.0 : -1.0) * (i % 7 == 0 ? 0.0 : random_double(generator));
        const int k = static_cast<int>(generator() % 4201) - 2100;
        const double got = times_power_of_two(x, k), wanted = std::ldexp(x, k);
        if (std::bit_cast<std::uint64_t>(got) != std::bit_cast<std::uint64_t>(wanted)) {
            CAPTURE(x, k, got, wanted);
            FAIL("not the same bits");
        }
    }
    // Into the subnormals, where rounding twice would show: 1.5 · 2^-1074 and its neighbours are ties or nearly so.
    for (int k = -1080; k <= -1020; ++k)
        for (const double x : {1.0, 1.5, 0x1.8000000000001p0, 0x1.7ffffffffffffp0, 0x1.fffffffffffffp0, 0x1.0000000000001p0}) {
            CAPTURE(x, k);
            CHECK(times_power_of_two(x, k) == std::ldexp(x, k));
        }
    // The ends: the greatest number brought down to the smallest, and back.
    CHECK(times_power_of_two(0x1.fffffffffffffp1023, -2097) == std::ldexp(0x1.fffffffffffffp1023, -2097));
    CHECK(times_power_of_two(0x1p-1074, 2097) == 0x1p1023);
    CHECK(times_power_of_two(0x1p-1074, 2098) == infinity_of_double);
    CHECK(times_power_of_two(infinity_of_double, -2000) == infinity_of_double);
}

TEST_CASE("split takes a number into fraction and exponent, exactly", "[elementary]") {
    std::mt19937_64 generator(2);
    for (int i = 0; i < 100000; ++i) {
        const double x = i % 4 == 0 ? std::bit_cast<double>(1 + (generator() >> (12 + generator() % 40))) : random_double(generator);
        const auto [fraction, exponent] = split(x);
        if (!(fraction >= 1 && fraction < 2 && exponent == std::ilogb(x) && std::ldexp(fraction, exponent) == x)) {
            CAPTURE(x, fraction, exponent);
            FAIL("not the parts of x");
        }
    }
    CHECK(split(0x1p-1074).exponent == -1074);
    CHECK(split(std::numeric_limits<double>::max()).exponent == 1023);
}
