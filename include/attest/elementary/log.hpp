// SPDX-License-Identifier: BSL-1.0
/// \file
/// `attest::log`: a customisation point. For double and float it is our own, with a proved bound: the same bits in constant expressions and at run
/// time, on every compiler, with and without contraction of a·b + c.
#pragma once

#include "attest/arithmetic/power_of_two.hpp"
#include "attest/arithmetic/unfused.hpp"
#include "attest/elementary/log_two.hpp"

namespace attest {

namespace detail {

inline constexpr double log_greatest_fraction = 1.4142135623730951; // √2
inline constexpr int log_last_power = 23;

// x = f · 2^e with f in [sqrt(1/2), sqrt(2)); log f = 2 artanh(t), t = (f − 1)/(f + 1), |t| <= 0.1716: odd powers to t^23. Each step, and what it
// loses, is in proofs/log.cpp: a change here is a change there.
constexpr double log_of_double(double x) noexcept {
    if (x != x || x < 0) return std::numeric_limits<double>::quiet_NaN();
    if (x == 0) return -infinity_of_double;
    if (x == infinity_of_double) return x;
    auto [f, e] = split(x);
    if (f > log_greatest_fraction) {
        f *= 0.5;
        e += 1;
    }
    const double g = f - 1; // exact
    const double t = g / (2 + g);
    const double t2 = unfused(t * t);
    double series = 0;
    for (int n = log_last_power; n >= 3; n -= 2) series = unfused((series + 1.0 / n) * t2);
    // log(1 + g) = g − (g²/2 − t·(g²/2 + 2·series)): what is large is exact, what is rounded is small.
    const double half_square = unfused(0.5 * g * g);
    const double correction = unfused(t * (half_square + 2 * series)) + unfused(e * ln2_low);
    return unfused(e * ln2_high) + (g - (half_square - correction));
}

template <class S>
concept has_own_log = requires(const S& x) { attest_log(x); };

struct log_function {
    [[nodiscard]] constexpr double operator()(double x) const noexcept { return log_of_double(x); }
    [[nodiscard]] constexpr float operator()(float x) const noexcept { return static_cast<float>(log_of_double(x)); }
    template <has_own_log S> [[nodiscard]] constexpr S operator()(const S& x) const { return attest_log(x); }
};

} // namespace detail

/// The natural logarithm. For finite x > 0: off by at most log_error_relative · |log x| (proved, in proofs/log.cpp; no result is small enough for
/// more), and by less than 0.9 ULP (not proved: the greatest measured is 0.83). log(0) = −inf, NaN below zero.
///
/// float: the double result rounded. A scalar of your own: give it a friend `attest_log`.
inline constexpr detail::log_function log{};

/// A bound of what log loses in double; see there. A part of log x, or of the result.
inline constexpr double log_error_relative = 0x1p-52;

/// A scalar that has a logarithm.
template <class S>
concept has_log = requires(const S& x) { attest::log(x); };

} // namespace attest
