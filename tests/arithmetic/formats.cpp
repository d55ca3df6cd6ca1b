// SPDX-License-Identifier: BSL-1.0
#include "attest/arithmetic/formats.hpp"
#include "catch.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

using namespace attest;

namespace {

using formats::bf16, formats::f16, formats::f32, formats::f64;

static_assert(decode_bf16(0x3f80) == 1 && decode_f16(0x3c00) == 1 && encode_bf16(1) == 0x3f80 && encode_f16(-2) == 0xc000);
static_assert(round_to(bf16, 1 + 0x1p-8) == 1 && round_to(bf16, 1 + 0x1.8p-7) == 1 + 0x1p-6, "ties to even");
static_assert(f16.greatest() == 65504 && ulp(f16, 1) == 0x1p-10 && ulp(bf16, 1) == 0x1p-7 && bf16.unit_roundoff() == 0x1p-8);
static_assert(f64.greatest() == std::numeric_limits<double>::max() && f32.greatest() == static_cast<double>(std::numeric_limits<float>::max()));

bool same_bits(double a, double b) { return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b); }

// Twins: bf16 is the upper half of a float; f16 is the compiler's own, or by ldexp from the three fields.
double bf16_twin(std::uint16_t bits) { return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16)); }
double f16_twin(std::uint16_t bits) {
    const int exponent = (bits >> 10) & 31, fraction = bits & 1023;
    double size = std::ldexp(fraction, -24);
    if (exponent == 31) size = fraction == 0 ? INFINITY : NAN;
    else if (exponent != 0) size = std::ldexp(1.0 + fraction / 1024.0, exponent - 15);
    return std::copysign(size, bits >> 15 ? -1.0 : 1.0);
}

struct sixteen_bits {
    const char* name;
    format f;
    double (*decode)(std::uint16_t) noexcept;
    std::uint16_t (*encode)(double) noexcept;
    double (*twin)(std::uint16_t);
    std::uint16_t infinity;
};
constexpr sixteen_bits both[] = {{"bf16", bf16, decode_bf16, encode_bf16, bf16_twin, 0x7f80},
                                 {"f16", f16, decode_f16, encode_f16, f16_twin, 0x7c00}};

} // namespace

TEST_CASE("every pattern of 16 bits decodes as its twin, and encodes to itself", "[arithmetic]") {
    for (const sixteen_bits& t : both)
        for (std::uint32_t pattern = 0; pattern <= 0xffff; ++pattern) {
            const auto bits = static_cast<std::uint16_t>(pattern);
            const double value = t.decode(bits), twin = t.twin(bits);
            const bool nan = (bits & 0x7fff) > t.infinity;
            bool right = std::isnan(value) == nan && std::isnan(twin) == nan;
            if (nan) {
                const std::uint16_t again = t.encode(value); // NaN stays NaN, quiet, and keeps its sign
                right = right && std::isnan(t.decode(again)) && (again & 0x8000) == (bits & 0x8000) && (again & (0x4000 >> (16 - t.f.precision)));
            } else {
                right = right && same_bits(value, twin) && t.encode(value) == bits && same_bits(round_to(t.f, value), value);
            }
            if (!right) {
                CAPTURE(t.name, pattern, value, twin, t.encode(value));
                FAIL("the pattern is not taken for what it is");
            }
        }
}

#ifdef __FLT16_MAX__
#ifdef __GNUC__
#pragma GCC diagnostic ignored "-Wpedantic" // _Float16 is no part of C++20
#endif
TEST_CASE("f16 agrees with the compiler's own half precision in both directions", "[arithmetic]") {
    for (std::uint32_t pattern = 0; pattern <= 0xffff; ++pattern) {
        const auto bits = static_cast<std::uint16_t>(pattern);
        const auto half = std::bit_cast<_Float16>(bits);
        const auto value = static_cast<double>(half);
        if (!(std::isnan(value) ? std::isnan(decode_f16(bits)) : same_bits(value, decode_f16(bits)))) {
            CAPTURE(pattern, value, decode_f16(bits));
            FAIL("decodes differently");
        }
    }
    std::mt19937_64 generator(11);
    for (int i = 0; i < 200000; ++i) {
        const double x = std::ldexp(std::uniform_real_distribution<>(-2, 2)(generator), static_cast<int>(generator() % 50) - 30);
        const auto half = std::bit_cast<std::uint16_t>(static_cast<_Float16>(x));
        if (half != encode_f16(x)) {
            CAPTURE(x, half, encode_f16(x));
            FAIL("rounds differently");
        }
    }
}
#endif

TEST_CASE("between every two neighbours: the midpoint goes to the even one, and what lies beside it to the nearer", "[arithmetic]") {
    for (const sixteen_bits& t : both)
        for (std::uint32_t pattern = 0; pattern < t.infinity; ++pattern) {
            const auto low = static_cast<std::uint16_t>(pattern), high = static_cast<std::uint16_t>(pattern + 1);
            const double a = t.decode(low);
            // Above the greatest number the next of the same spacing would follow, were there room: from its midpoint on, all is infinite.
            const double b = high == t.infinity ? a + ulp(t.f, a) : t.decode(high);
            const double midpoint = a / 2 + b / 2; // exact in double
            const std::uint16_t even = pattern % 2 == 0 ? low : high;
            const bool right = b - a == ulp(t.f, a) && t.encode(midpoint) == even && t.encode(std::nextafter(midpoint, 0.0)) == low &&
                               t.encode(std::nextafter(midpoint, INFINITY)) == high && t.encode(-midpoint) == (even | 0x8000) &&
                               t.encode(std::nextafter(b, 0.0)) == high && (pattern == 0 || t.encode(std::nextafter(a, INFINITY)) == low) &&
                               same_bits(round_to(t.f, midpoint), t.decode(even)) && same_bits(round_to(t.f, -midpoint), -t.decode(even));
            if (!right) {
                CAPTURE(t.name, pattern, a, b, midpoint, t.encode(midpoint), even);
                FAIL("not rounded to nearest, ties to even");
            }
        }
}

TEST_CASE("overflow, underflow and special values of the 16-bit formats", "[arithmetic]") {
    for (const sixteen_bits& t : both) {
        CAPTURE(t.name);
        const double greatest = t.f.greatest(), half_unit = ulp(t.f, greatest) / 2;
        CHECK(greatest == t.decode(static_cast<std::uint16_t>(t.infinity - 1)));
        CHECK(t.encode(greatest + half_unit) == t.infinity); // the tie would go to the even one, which is not there
        CHECK(t.encode(std::nextafter(greatest + half_unit, 0.0)) == t.infinity - 1);
        for (const double huge : {1e39, 1e300, 1e308, std::numeric_limits<double>::max()}) {
            CAPTURE(huge);
            CHECK(t.encode(huge) == t.infinity);
            CHECK(t.encode(-huge) == (t.infinity | 0x8000));
            CHECK(round_to(t.f, huge) == INFINITY);
            CHECK(round_to(t.f, -huge) == -INFINITY);
        }
        const double tiny = t.decode(1);
        CHECK(tiny == std::ldexp(1.0, t.f.tiny_exponent()));
        CHECK(t.encode(tiny / 2) == 0); // a tie, to the even zero
        CHECK(t.encode(std::nextafter(tiny / 2, 1.0)) == 1);
        CHECK(t.encode(-tiny / 2) == 0x8000);
        for (const double nothing : {1e-300, 0x1p-1074, 0.0}) {
            CHECK(t.encode(nothing) == 0);
            CHECK(t.encode(-nothing) == 0x8000);
            CHECK(same_bits(round_to(t.f, -nothing), -0.0));
        }
        CHECK(t.encode(INFINITY) == t.infinity);
        CHECK(t.encode(-INFINITY) == (t.infinity | 0x8000));
        CHECK(std::isnan(t.decode(t.encode(NAN))));
        CHECK(std::isnan(round_to(t.f, NAN)));
        CHECK(ulp(t.f, 0) == tiny);
        CHECK(ulp(t.f, tiny) == tiny);
        CHECK(ulp(t.f, -1) == 2 * t.f.unit_roundoff());
    }
}

TEST_CASE("rounding to f32 is the hardware's cast", "[arithmetic]") {
    std::mt19937_64 generator(12);
    for (int i = 0; i < 500000; ++i) {
        double x = 0;
        switch (i % 3) {
        case 0: x = std::bit_cast<double>(generator()); break; // any double
        case 1: x = std::ldexp(std::uniform_real_distribution<>(-2, 2)(generator), static_cast<int>(generator() % 290) - 155); break;
        default: { // a midpoint of two floats, and its neighbours
            const auto bits = static_cast<std::uint32_t>(generator() >> 33);
            const auto a = std::bit_cast<float>(bits), b = std::bit_cast<float>(bits + 1);
            x = static_cast<double>(a) / 2 + static_cast<double>(b) / 2;
            if (generator() % 3 == 0) x = std::nextafter(x, generator() % 2 == 0 ? 0.0 : INFINITY);
        }
        }
        if (std::isnan(x)) continue;
        float by_hardware = static_cast<float>(x);
        if (!same_bits(round_to(f32, x), static_cast<double>(by_hardware))) {
            CAPTURE(x, by_hardware, round_to(f32, x));
            FAIL("not what the hardware rounds to");
        }
    }
}

TEST_CASE("the unit in the last place is the distance of neighbours, in every format", "[arithmetic]") {
    std::mt19937_64 generator(13);
    for (int i = 0; i < 50000; ++i) {
        const double x = std::bit_cast<double>(generator() >> 1);
        if (!std::isfinite(x) || x == std::numeric_limits<double>::max()) continue;
        REQUIRE(ulp(f64, x) == std::nextafter(x, INFINITY) - x);
        const auto narrow = std::bit_cast<float>(static_cast<std::uint32_t>(generator() >> 33));
        if (!std::isfinite(narrow)) continue;
        const double next = static_cast<double>(std::nextafter(narrow, INFINITY));
        if (!std::isinf(next)) REQUIRE(ulp(f32, static_cast<double>(narrow)) == next - static_cast<double>(narrow));
        REQUIRE(ulp(f32, static_cast<double>(-narrow)) == ulp(f32, static_cast<double>(narrow)));
    }
    CHECK(ulp(f64, 0) == 0x1p-1074);
    CHECK(ulp(f32, 0) == 0x1p-149);
    CHECK(round_to(f64, 0.1) == 0.1);
}

TEST_CASE("rounding is idempotent, odd and monotone", "[arithmetic]") {
    std::mt19937_64 generator(14);
    for (const format& f : {bf16, f16, f32}) {
        double previous_x = -INFINITY, previous = -INFINITY;
        std::vector<double> points(20000);
        for (double& x : points) x = std::ldexp(std::uniform_real_distribution<>(-2, 2)(generator), static_cast<int>(generator() % 60) - 40);
        std::sort(points.begin(), points.end());
        for (const double x : points) {
            const double rounded = round_to(f, x);
            CAPTURE(f.precision, previous_x, x, previous, rounded);
            const bool lawful = round_to(f, rounded) == rounded && round_to(f, -x) == -rounded && previous <= rounded &&
                                (std::isinf(rounded) || std::abs(rounded - x) <= ulp(f, x) / 2);
            if (!lawful) FAIL("a law of rounding is broken");
            previous_x = x;
            previous = rounded;
        }
    }
}
