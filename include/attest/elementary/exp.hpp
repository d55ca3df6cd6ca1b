// SPDX-License-Identifier: BSL-1.0
/// \file
/// `attest::exp`: a customisation point. For double and float it is our own, with a proved bound: the same bits in constant expressions and at run
/// time, on every compiler, with and without contraction of a·b + c.
#pragma once

#include "attest/arithmetic/power_of_two.hpp"
#include "attest/arithmetic/unfused.hpp"
#include "attest/elementary/log_two.hpp"

namespace attest {

namespace detail {

inline constexpr double exp_greatest_argument = 709.782712893384, exp_least_argument = -745.1332191019412;
// 1/13! … 1/2!
inline constexpr double exp_coefficients[] = {1.0 / 6227020800, 1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800, 1.0 / 362880, 1.0 / 40320,
                                              1.0 / 5040,       1.0 / 720,       1.0 / 120,      1.0 / 24,      1.0 / 6,      1.0 / 2};

// exp(x) = 2^k · e^r with k = round(x / ln 2) and |r| <= ln(2)/2: Taylor to r^13 (remainder below 2^-57 of the value), and ln 2 in two parts
// so that x - k·ln 2 loses nothing. Each step, and what it loses, is in proofs/exp.cpp: a change here is a change there.
constexpr double exp_of_double(double x) noexcept {
    if (x != x) return x;
    if (x > exp_greatest_argument) return infinity_of_double;
    if (x < exp_least_argument) return 0.0;
    const double scaled = unfused(x * log2_e);
    const int k = static_cast<int>(scaled + (scaled < 0 ? -0.5 : 0.5));
    const double r_high = x - unfused(k * ln2_high);
    const double r_low = unfused(k * ln2_low);
    const double r = r_high - r_low;
    double series = 0;
    for (const double c : exp_coefficients) series = unfused(series * r) + c;
    // e^r = 1 + r_high + (r² · series - r_low): the first sum in two parts, exactly, so that only what is small is rounded before the last sum.
    const double sum = 1.0 + r_high;
    const double lost = (1.0 - sum) + r_high;
    const double e_r = sum + (lost + (unfused(r * r * series) - r_low));
    return unfused(times_power_of_two(e_r, k));
}

template <class S>
concept has_own_exp = requires(const S& x) { attest_exp(x); };

struct exp_function {
    [[nodiscard]] constexpr double operator()(double x) const noexcept { return exp_of_double(x); }
    [[nodiscard]] constexpr float operator()(float x) const noexcept { return static_cast<float>(exp_of_double(x)); }
    template <has_own_exp S> [[nodiscard]] constexpr S operator()(const S& x) const { return attest_exp(x); }
};

} // namespace detail

/// e^x. For finite x: where e^x is a normal number, the result is off by at most exp_error_relative · e^x and by less than 0.8 ULP (proved, in
/// proofs/exp.cpp; the greatest measured is 0.71 ULP). Below, where it is subnormal or 0, it is rounded once more, by at most exp_error_absolute
/// beyond that (0.78 ULP measured). It is infinite only where e^x is above the greatest double. exp(−inf) = 0, exp(inf) = inf, exp(NaN) = NaN.
///
/// float: the double result rounded. A scalar of your own: give it a friend `attest_exp`.
inline constexpr detail::exp_function exp{};

/// Bounds of what exp loses in double; see there. The first is a part of e^x, or of the result.
inline constexpr double exp_error_relative = 0x1.2p-53;
inline constexpr double exp_error_absolute = 0x1p-1074; ///< 2^−1075, rounded up to a double

/// A scalar that has an exponential.
template <class S>
concept has_exp = requires(const S& x) { attest::exp(x); };

} // namespace attest
