// SPDX-License-Identifier: BSL-1.0
// Rounding from the exact value, once: against the hardware's and against `round_to` on doubles; ties, what is 10^−50 beside them, subnormals, overflow,
// and where rounding twice goes wrong. And the laws of the ULP distance.
#include "attest/oracle/rounding.hpp"
#include "catch.hpp"
#include "kernels.hpp"

using namespace attest;
using kernels::generator;

namespace {

constexpr format all[] = {formats::f64, formats::f32, formats::f16, formats::bf16};
constexpr format narrow[] = {formats::f32, formats::f16, formats::bf16};

using exact = real<50>;

bool same_bits(double a, double b) { return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b); }

// A double of any magnitude that matters to the format, its subnormals and its overflow included.
double draw(generator& r, const format& f) {
    const int span = f.max_exponent + 3 - (f.tiny_exponent() - 3);
    const int exponent = f.tiny_exponent() - 3 + static_cast<int>(r.below(static_cast<std::size_t>(span)));
    double fraction = 1 + r.uniform();
    // Half of them end in zeros, so that numbers of the format and ties come up.
    if (r.below(2) == 0) fraction = std::ldexp(std::floor(std::ldexp(fraction, f.precision)), -f.precision);
    return std::ldexp(r.below(2) == 0 ? -fraction : fraction, std::min(exponent, 1023));
}

// 1 ± 10^−50, times x.
exact beside(double x, int direction) {
    exact tiny(1);
    for (int k = 0; k < 50; ++k) tiny = tiny / exact(10);
    return exact(x) * (exact(1) + exact(direction) * tiny);
}

// The next number of the format away from zero, for x >= 0 of the format.
double next(const format& f, double x) {
    const double up = x + ulp(f, x);
    return up > f.greatest() ? kernels::infinity : up;
}

} // namespace

TEST_CASE("of a double, the rounding from 50 digits is the hardware's and that of the formats", "[oracle]") {
    generator r(1);
    for (int run = 0; run < 20000; ++run) {
        const double x = draw(r, formats::f32);
        if (const double rounded = round_to(formats::f32, exact(x)); !same_bits(rounded, static_cast<double>(static_cast<float>(x)))) {
            CAPTURE(x, rounded, static_cast<float>(x));
            FAIL_CHECK("not what the hardware rounds to");
        }
        for (const format& f : narrow) {
            const double y = draw(r, f);
            if (const double rounded = round_to(f, exact(y)); !same_bits(rounded, round_to(f, y))) {
                CAPTURE(f.precision, y, rounded, round_to(f, y));
                FAIL_CHECK("not what the format rounds to");
            }
        }
        const double z = draw(r, formats::f64);
        if (!same_bits(round_to(formats::f64, exact(z)), z)) {
            CAPTURE(z);
            FAIL_CHECK("a double is not itself");
        }
    }
}

TEST_CASE("a tie goes to even, and 10^-50 beside it to the nearer", "[oracle]") {
    generator r(2);
    for (const format& f : all)
        for (int run = 0; run < 3000; ++run) {
            // A number of the format, its subnormals and 0 among them, and the next.
            const int exponent = f.tiny_exponent() + static_cast<int>(r.below(static_cast<std::size_t>(f.max_exponent - f.tiny_exponent())));
            double low = round_to(f, exact(std::ldexp(1 + r.uniform(), exponent)));
            if (run % 50 == 0) low = 0;
            if (run % 50 == 1) low = f.greatest() - ulp(f, f.greatest()); // just below the greatest
            if (run % 50 == 2) low = std::ldexp(1.0, f.min_exponent) - std::ldexp(1.0, f.tiny_exponent()); // the greatest subnormal
            const double high = next(f, low);
            if (high == kernels::infinity) continue;
            const double unit = ulp(f, low);
            const exact tie = exact(low) + exact(unit) * exact(0.5);
            const bool low_is_even = static_cast<std::uint64_t>(std::ldexp(low, -f.ulp_exponent(low == 0 ? f.min_exponent : std::ilogb(low)))) % 2 == 0;
            exact little(1);
            for (int k = 0; k < 50; ++k) little = little / exact(10);
            const exact above = tie * (exact(1) + little), below = tie * (exact(1) - little);
            CAPTURE(f.precision, low, high, unit, tie.text(60));
            const bool right = round_to(f, tie) == (low_is_even ? low : high) && round_to(f, above) == high && round_to(f, below) == low &&
                               round_to(f, -tie) == -(low_is_even ? low : high) && round_to(f, -above) == -high && round_to(f, -below) == -low &&
                               round_to(f, exact(low)) == low && round_to(f, exact(high)) == high;
            if (!right) {
                CAPTURE(round_to(f, tie), round_to(f, above), round_to(f, below));
                FAIL_CHECK("a tie or its neighbourhood is rounded wrongly");
            }
        }
}

TEST_CASE("overflow, underflow, and what is not finite", "[oracle]") {
    for (const format& f : all) {
        CAPTURE(f.precision, f.max_exponent);
        const double greatest = f.greatest(), half = ulp(f, greatest) / 2;
        const exact threshold = exact(greatest) + exact(half); // the tie between the greatest number and what would be 2^(max_exponent + 1)
        CHECK(round_to(f, threshold) == kernels::infinity);
        CHECK(round_to(f, -threshold) == -kernels::infinity);
        CHECK(round_to(f, threshold * beside(1, -1)) == greatest);
        CHECK(round_to(f, threshold * beside(1, 1)) == kernels::infinity);
        CHECK(round_to(f, exact(greatest)) == greatest);
        CHECK(round_to(f, ldexp(exact(1), 5000)) == kernels::infinity);
        const double tiny = ulp(f, 0);
        const exact half_tiny = ldexp(exact(1), f.tiny_exponent() - 1);
        CHECK(same_bits(round_to(f, half_tiny), 0.0));
        CHECK(same_bits(round_to(f, -half_tiny), -0.0));
        CHECK(round_to(f, half_tiny * beside(1, 1)) == tiny);
        CHECK(round_to(f, half_tiny * beside(1, -1)) == 0);
        CHECK(round_to(f, half_tiny * exact(3)) == 2 * tiny); // 1.5: a tie, to even
        CHECK(round_to(f, half_tiny * exact(5)) == 2 * tiny); // 2.5
        CHECK(same_bits(round_to(f, ldexp(exact(-1), -5000)), -0.0));
        CHECK(same_bits(round_to(f, exact(0)), 0.0));
        CHECK(round_to(f, std::numeric_limits<exact>::infinity()) == kernels::infinity);
        CHECK(round_to(f, -std::numeric_limits<exact>::infinity()) == -kernels::infinity);
        CHECK(std::isnan(round_to(f, std::numeric_limits<exact>::quiet_NaN())));
    }
}

TEST_CASE("rounding twice would go wrong, and does not happen", "[oracle]") {
    // 1 + half a ULP of the narrow format + 2^−60: to f64 first, it becomes the tie, and then 1.
    for (const format& f : narrow) {
        CAPTURE(f.precision);
        const exact x = exact(1) + exact(f.unit_roundoff()) + ldexp(exact(1), -60);
        const double twice = round_to(f, static_cast<double>(x));
        CHECK(twice == 1);
        CHECK(round_to(f, x) == 1 + 2 * f.unit_roundoff());
    }
    // The same by way of f32, for the 16-bit formats.
    for (const format& f : {formats::f16, formats::bf16}) {
        CAPTURE(f.precision);
        const exact x = exact(1) + exact(f.unit_roundoff()) + ldexp(exact(1), -30);
        CHECK(round_to(f, round_to(formats::f32, x)) == 1);
        CHECK(round_to(f, x) == 1 + 2 * f.unit_roundoff());
    }
    // Into the subnormals: 2^−149 · 0.5 · (1 + 2^−60).
    CHECK(round_to(formats::f32, ldexp(exact(1) + ldexp(exact(1), -60), -150)) == 0x1p-149);
}

TEST_CASE("the ULP distance", "[oracle]") {
    generator r(3);
    const double inf = kernels::infinity, nan = std::numeric_limits<double>::quiet_NaN();
    for (const format& f : all) {
        for (int run = 0; run < 2000; ++run) {
            const double x = draw(r, f);
            const exact value = exact(x) * (exact(1) + exact(r.uniform()) / exact(3));
            const double rounded = round_to(f, value);
            if (rounded == inf || rounded == -inf || rounded == 0) continue;
            const double distance = ulp_distance(f, rounded, value);
            const double other = ulp_distance(f, -rounded, -value);
            // One ULP on, in the value's binade, is one more or one less.
            const double unit = std::ldexp(1.0, f.ulp_exponent(std::max<int>(f.min_exponent, static_cast<int>(value.exponent()))));
            const double apart = static_cast<double>(abs(exact(rounded) - value) / exact(unit));
            const double onward = ulp_distance(f, rounded + unit, value);
            const double direction = exact(rounded) >= value ? distance : -distance;
            const bool right = distance <= 0.5 && distance >= 0 && distance == other && std::fabs(distance - apart) <= 1e-15 &&
                               (f == formats::f64 || std::fabs(onward - std::fabs(direction + 1)) <= 1e-12) && ulp_distance(f, rounded, exact(rounded)) == 0;
            if (!right) {
                CAPTURE(f.precision, x, value.text(40), rounded, distance, other, apart, onward);
                FAIL_CHECK("a law of the ULP distance is broken");
            }
        }
        CAPTURE(f.precision);
        const double tiny = ulp(f, 0);
        CHECK(ulp_distance(f, 0, exact(0)) == 0);
        CHECK(ulp_distance(f, -0.0, exact(0)) == 0);
        CHECK(ulp_distance(f, 0, -exact(0)) == 0);
        CHECK(ulp_distance(f, tiny, exact(0)) == 1);
        CHECK(ulp_distance(f, -3 * tiny, exact(0)) == 3);
        CHECK(ulp_distance(f, 0, exact(5 * tiny)) == 5);
        CHECK(ulp_distance(f, nan, exact(1)) == inf);
        CHECK(ulp_distance(f, 1, std::numeric_limits<exact>::quiet_NaN()) == inf);
        CHECK(ulp_distance(f, nan, std::numeric_limits<exact>::quiet_NaN()) == 0);
        CHECK(ulp_distance(f, inf, exact(1)) == inf);
        CHECK(ulp_distance(f, 1, std::numeric_limits<exact>::infinity()) == inf);
        CHECK(ulp_distance(f, inf, std::numeric_limits<exact>::infinity()) == 0);
        CHECK(ulp_distance(f, -inf, std::numeric_limits<exact>::infinity()) == inf);
        CHECK(ulp_distance(f, nan, std::numeric_limits<exact>::infinity()) == inf);
    }
    // At a power of two the exact value's binade counts, not the candidate's: below 1 the unit is half as long.
    CHECK(ulp_distance(formats::f32, 1 - 0x1p-24, exact(1)) == 0.5);
    CHECK(ulp_distance(formats::f32, 1, exact(1) - ldexp(exact(1), -24)) == 1);
    CHECK(ulp_distance(formats::bf16, 0.25, exact(0.5)) == 64);
}
