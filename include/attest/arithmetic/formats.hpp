// SPDX-License-Identifier: BSL-1.0
/// \file
/// The stored formats f64, f32, f16 and bf16: exact decoding, one rounding to nearest (ties to even), and the unit in the last place.
#pragma once

#include "attest/arithmetic/power_of_two.hpp"

namespace attest {

/// A binary floating-point format: `precision` significant bits, leading bit of normal numbers from 2^min_exponent to 2^max_exponent.
struct format {
    int precision;
    int min_exponent;
    int max_exponent;

    /// Exponent of the unit in the last place of numbers whose leading bit is 2^exponent; of the smallest subnormal below the normal range.
    [[nodiscard]] constexpr int ulp_exponent(int exponent) const noexcept {
        return (exponent < min_exponent ? min_exponent : exponent) - (precision - 1);
    }
    /// Exponent of the smallest subnormal.
    [[nodiscard]] constexpr int tiny_exponent() const noexcept { return ulp_exponent(min_exponent); }
    /// (2 − 2^(1 − precision)) · 2^max_exponent.
    [[nodiscard]] constexpr double greatest() const noexcept {
        return detail::times_power_of_two(2.0 - detail::power_of_two(1 - precision), max_exponent);
    }
    /// 2^−precision: the greatest relative error of one rounding, for values in the normal range.
    [[nodiscard]] constexpr double unit_roundoff() const noexcept { return detail::power_of_two(-precision); }

    friend constexpr bool operator==(const format&, const format&) = default;
};

namespace formats {
inline constexpr format f64{53, -1022, 1023};
inline constexpr format f32{24, -126, 127};
inline constexpr format f16{11, -14, 15};
inline constexpr format bf16{8, -126, 127};
} // namespace formats

/// The unit in the last place of a format at |x|, x finite: the distance of neighbours in the binade of x; that of the smallest subnormal at 0.
/// May be subnormal itself, and is exact.
[[nodiscard]] constexpr double ulp(const format& f, double x) noexcept {
    const double size = x < 0 ? -x : x;
    const int exponent = size == 0 ? f.min_exponent : detail::split(size).exponent;
    return detail::times_power_of_two(1.0, f.ulp_exponent(exponent));
}

/// x rounded once to the format, to nearest, ties to even; overflow gives ±inf, and ±0 and NaN stay. For formats below f64.
[[nodiscard]] constexpr double round_to(const format& f, double x) noexcept {
    if (x != x || x == 0 || x == detail::infinity_of_double || x == -detail::infinity_of_double || f == formats::f64) return x;
    const double size = x < 0 ? -x : x;
    const int exponent = detail::split(size).exponent;
    if (exponent > f.max_exponent) return x < 0 ? -detail::infinity_of_double : detail::infinity_of_double;
    const int unit = f.ulp_exponent(exponent);
    if (exponent < unit - 1) return x < 0 ? -0.0 : 0.0; // less than half of the smallest subnormal
    // In units of the last place: below 2^precision, so truncation to an integer is exact.
    const double scaled = detail::times_power_of_two(size, -unit);
    auto whole = static_cast<std::uint64_t>(scaled);
    const double rest = scaled - static_cast<double>(whole);
    if (rest > 0.5 || (rest == 0.5 && whole % 2 == 1)) ++whole;
    double rounded = detail::times_power_of_two(static_cast<double>(whole), unit);
    if (rounded > f.greatest()) rounded = detail::infinity_of_double;
    return x < 0 ? -rounded : rounded;
}

namespace detail {
// Sign, exponent field and fraction field of a 16-bit format, as a double.
constexpr double decode_16(const format& f, std::uint16_t bits) noexcept {
    const int fraction_bits = f.precision - 1;
    const int fraction = bits & ((1 << fraction_bits) - 1);
    const int field = (bits & 0x7fff) >> fraction_bits;
    const int greatest_field = (0x7fff >> fraction_bits);
    double value = 0;
    if (field == greatest_field) value = fraction == 0 ? infinity_of_double : std::numeric_limits<double>::quiet_NaN();
    else if (field == 0) value = times_power_of_two(fraction, f.tiny_exponent());
    else value = times_power_of_two(fraction + (1 << fraction_bits), f.min_exponent + field - 1 - fraction_bits);
    return (bits & 0x8000) != 0 ? -value : value;
}
constexpr std::uint16_t encode_16(const format& f, double x) noexcept {
    const int fraction_bits = f.precision - 1;
    const auto sign = static_cast<unsigned>((std::bit_cast<std::uint64_t>(x) >> 63) << 15);
    const unsigned top = (0x7fffU >> fraction_bits) << fraction_bits; // the field of infinity
    if (x != x) return static_cast<std::uint16_t>(sign | top | (1U << (fraction_bits - 1)));
    const double rounded = round_to(f, x < 0 ? -x : x);
    if (rounded == infinity_of_double) return static_cast<std::uint16_t>(sign | top);
    if (rounded == 0) return static_cast<std::uint16_t>(sign);
    const int exponent = split(rounded).exponent;
    const auto whole = static_cast<unsigned>(times_power_of_two(rounded, -f.ulp_exponent(exponent))); // exact
    // A normal number's leading bit adds one to the exponent field by itself.
    const unsigned field = exponent < f.min_exponent ? 0U : static_cast<unsigned>(exponent - f.min_exponent);
    return static_cast<std::uint16_t>(sign | ((field << fraction_bits) + whole));
}
} // namespace detail

/// The value of a 16-bit pattern, exactly.
[[nodiscard]] constexpr double decode_f16(std::uint16_t bits) noexcept { return detail::decode_16(formats::f16, bits); }
[[nodiscard]] constexpr double decode_bf16(std::uint16_t bits) noexcept { return detail::decode_16(formats::bf16, bits); }
/// The pattern of x rounded once; NaN becomes a quiet NaN of the same sign.
[[nodiscard]] constexpr std::uint16_t encode_f16(double x) noexcept { return detail::encode_16(formats::f16, x); }
[[nodiscard]] constexpr std::uint16_t encode_bf16(double x) noexcept { return detail::encode_16(formats::bf16, x); }

} // namespace attest
