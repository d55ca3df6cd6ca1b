// SPDX-License-Identifier: BSL-1.0
/// \file
/// `attest::tanh`: a customisation point. For double and float it is our own: the same bits in constant expressions and at run
/// time, on every compiler that does not contract a·b + c (`-ffp-contract=off`; GCC and Clang contract by default where the
/// target has fma, and then the last bit may differ).
#pragma once

#include "attest/elementary/log_two.hpp"
#include "attest/elementary/two_doubles.hpp"

namespace attest {

namespace detail {

// tanh x = E / (E + 2) with E = e^y − 1, y = 2|x|. y = k·ln 2 + r, |r| <= ln(2)/2; e^r − 1 = r + r²/2 + r³·P(r), all in two
// doubles but P, which adds little.
constexpr double tanh_of_double(double x) noexcept {
    const double magnitude = x < 0 ? -x : x;
    if (x != x || magnitude < 0x1p-28) return x; // x − x³/3: less than a tenth of a unit away
    if (magnitude > 20) return x < 0 ? -1.0 : 1.0;
    constexpr double inverse_factorial[] = {
        1.0 / 1307674368000, 1.0 / 87178291200, 1.0 / 6227020800, 1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800, 1.0 / 362880,
        1.0 / 40320,         1.0 / 5040,        1.0 / 720,        1.0 / 120,       1.0 / 24,       1.0 / 6};
    const double y = 2 * magnitude;
    const int k = static_cast<int>(unfused(y * log2_e) + 0.5);
    const two_doubles r = exact_sum(y - unfused(k * ln2_high), -unfused(k * ln2_low));
    double series = 0;
    for (const double c : inverse_factorial) series = unfused(series * r.high) + c;
    const two_doubles square = r * r;
    const two_doubles expm1_of_r =
        r + (two_doubles{0.5 * square.high, 0.5 * square.low} + two_doubles{unfused(square.high * r.high * series), 0});
    const double scale = power_of_two(k);
    const two_doubles numerator = two_doubles{scale - 1, 0} + two_doubles{unfused(scale * expm1_of_r.high), unfused(scale * expm1_of_r.low)};
    const two_doubles denominator = numerator + two_doubles{2, 0};
    const double quotient = numerator.high / denominator.high;
    const two_doubles back = two_doubles{quotient, 0} * denominator;
    const double rest = ((numerator.high - back.high) - back.low) + numerator.low;
    const double result = quotient + rest / denominator.high;
    return x < 0 ? -result : result;
}

template <class S>
concept has_own_tanh = requires(const S& x) { attest_tanh(x); };

struct tanh_function {
    [[nodiscard]] constexpr double operator()(double x) const noexcept { return tanh_of_double(x); }
    [[nodiscard]] constexpr float operator()(float x) const noexcept { return static_cast<float>(tanh_of_double(x)); }
    template <has_own_tanh S>
    [[nodiscard]] constexpr S operator()(const S& x) const {
        return attest_tanh(x);
    }
};

} // namespace detail

/// (e^x − e^−x) / (e^x + e^−x). double: error below 0.6 ULP (not proved: the greatest measured on 6·10^6 points against 50
/// digits, with and without fma, is 0.55; `tests/elementary/tanh.cpp` repeats a part); float: the double result rounded. tanh(±0)
/// = ±0, tanh(±inf) = ±1, tanh(NaN) = NaN. A scalar of your own: give it a friend `attest_tanh`.
inline constexpr detail::tanh_function tanh{};

/// A scalar that has a hyperbolic tangent.
template <class S>
concept has_tanh = requires(const S& x) { attest::tanh(x); };

} // namespace attest
