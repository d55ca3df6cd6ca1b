// SPDX-License-Identifier: BSL-1.0
/// \file
/// `attest::log`: a customisation point. For double and float it is our own: the same bits in constant expressions and at run time,
/// on every compiler that does not contract a·b + c (`-ffp-contract=off`; GCC and Clang contract by default where the target has fma, and then the
/// last bit may differ).
#pragma once

#include "attest/arithmetic/power_of_two.hpp"

namespace attest {

namespace detail {

// x = f · 2^e with f in [sqrt(1/2), sqrt(2)); log f = 2 artanh(t), t = (f − 1)/(f + 1), |t| <= 0.1716: odd powers to t^23.
constexpr double log_of_double(double x) noexcept {
    if (x != x || x < 0) return std::numeric_limits<double>::quiet_NaN();
    if (x == 0) return -infinity_of_double;
    if (x == infinity_of_double) return x;
    auto [f, e] = split(x);
    if (f > 1.4142135623730951) {
        f *= 0.5;
        e += 1;
    }
    constexpr double ln2_high = 0x1.62e42fee00000p-1;
    constexpr double ln2_low = 0x1.a39ef35793c76p-33;
    const double g = f - 1; // exact
    const double t = g / (2 + g);
    const double t2 = t * t;
    double series = 0;
    for (int n = 23; n >= 3; n -= 2) series = (series + 1.0 / n) * t2;
    // log(1 + g) = g − (g²/2 − t·(g²/2 + 2·series)): what is large is exact, what is rounded is small.
    const double half_square = 0.5 * g * g;
    return e * ln2_high + (g - (half_square - (t * (half_square + 2 * series) + e * ln2_low)));
}

template <class S>
concept has_own_log = requires(const S& x) { attest_log(x); };

struct log_function {
    [[nodiscard]] constexpr double operator()(double x) const noexcept { return log_of_double(x); }
    [[nodiscard]] constexpr float operator()(float x) const noexcept { return static_cast<float>(log_of_double(x)); }
    template <has_own_log S> [[nodiscard]] constexpr S operator()(const S& x) const { return attest_log(x); }
};

} // namespace detail

/// The natural logarithm. double: error below 0.9 ULP (not proved: the greatest measured on 10^7 points against 50 digits, with and without fma,
/// is 0.83; `tests/elementary/log.cpp` repeats a part); float: the double result rounded.
/// log(0) = −inf, NaN below zero. A scalar of your own: give it a friend `attest_log`.
inline constexpr detail::log_function log{};

/// A scalar that has a logarithm.
template <class S>
concept has_log = requires(const S& x) { attest::log(x); };

} // namespace attest
