// SPDX-License-Identifier: BSL-1.0
/// \file
/// `attest::sqrt`: a customisation point; correctly rounded for double and float, in constant expressions too.
#pragma once

#include "attest/arithmetic/power_of_two.hpp"

#include <type_traits>

namespace attest {

namespace detail {

// The root digit by digit on integers: x = m · 2^e with m < 2^54 and e even; floor(sqrt(m · 2^52)) has 53 or 54 bits, and the remainder rounds it.
constexpr double sqrt_on_integers(double x) noexcept {
    if (x != x || x < 0) return std::numeric_limits<double>::quiet_NaN();
    if (x == 0 || x == infinity_of_double) return x;
    auto [fraction, exponent] = split(x);
    std::uint64_t m = (std::bit_cast<std::uint64_t>(fraction) & 0x000fffffffffffffULL) | 0x0010000000000000ULL; // 53 bits
    if (exponent % 2 != 0) {
        m <<= 1;
        exponent -= 1;
    }
    // 54 digits of sqrt(m · 2^54): two bits of the radicand a step, most significant first (m has at most 54 bits, then 54 zeros).
    std::uint64_t root = 0, remainder = 0;
    for (int step = 0; step < 54; ++step) {
        const std::uint64_t two_bits = step < 27 ? (m >> (52 - 2 * step)) & 3 : 0;
        remainder = (remainder << 2) | two_bits;
        const std::uint64_t trial = (root << 2) | 1;
        root <<= 1;
        if (remainder >= trial) {
            remainder -= trial;
            root |= 1;
        }
    }
    // root = floor(sqrt(m · 2^54)) has 54 bits: one more than a double. A tie cannot be (the root would be an exact odd 54-bit number, whose
    // square has more bits than the radicand), so the last bit decides.
    const std::uint64_t rounded = (root >> 1) + (root & 1);
    return times_power_of_two(static_cast<double>(rounded), exponent / 2 - 52);
}

constexpr double sqrt_of_double(double x) noexcept {
    if (std::is_constant_evaluated()) return sqrt_on_integers(x);
    return __builtin_sqrt(x);
}

template <class S>
concept has_own_sqrt = requires(const S& x) { attest_sqrt(x); };

struct sqrt_function {
    [[nodiscard]] constexpr double operator()(double x) const noexcept { return sqrt_of_double(x); }
    // A double has more than twice the digits of a float, plus two: rounding twice is rounding once here.
    [[nodiscard]] constexpr float operator()(float x) const noexcept { return static_cast<float>(sqrt_of_double(x)); }
    template <has_own_sqrt S> [[nodiscard]] constexpr S operator()(const S& x) const { return attest_sqrt(x); }
};

} // namespace detail

/// The root of x. double, float: correctly rounded; NaN below zero. A scalar of your own: give it a friend `attest_sqrt`.
inline constexpr detail::sqrt_function sqrt{};

/// A scalar that has a root.
template <class S>
concept has_sqrt = requires(const S& x) { attest::sqrt(x); };

} // namespace attest
