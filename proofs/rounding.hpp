// SPDX-License-Identifier: BSL-1.0
/// \file
/// `rounded`: what a computation in double is meant to give, and how far off it can be. A line of the code evaluated in `rounded` adds up what each
/// of its roundings can lose, for all arguments of an interval at once, in integers.
#pragma once

#include "attest/arithmetic/interval.hpp"
#include "attest/arithmetic/power_of_two.hpp"

#include <cstdint>
#include <stdexcept>

namespace attest::proofs {

/// x itself, for finite x whose last digit is at least 2^−128.
[[nodiscard]] constexpr interval exactly(double x) {
    if (x == 0) return 0;
    const auto [fraction, exponent] = attest::detail::split(x < 0 ? -x : x);
    const interval::integer digits = static_cast<std::int64_t>(fraction * 0x1p52);
    const int shift = exponent - 52 + static_cast<int>(interval::fraction_bits);
    const auto left = static_cast<unsigned>(shift < 0 ? 0 : shift), right = static_cast<unsigned>(shift < 0 ? -shift : 0);
    interval::integer units = interval::integer(digits << left) >> right;
    if (interval::integer(units << right) != interval::integer(digits << left)) throw std::domain_error("this double has digits below 2^-128");
    if (x < 0) units = -units;
    return interval::of_units(units, units);
}
/// The greatest |x|, a point.
[[nodiscard]] constexpr interval greatest(const interval& x) {
    const interval::integer below = -x.lower_units(), above = x.upper_units();
    return below > above ? interval::of_units(below, below) : interval::of_units(above, above);
}
/// The least |x|, a point.
[[nodiscard]] constexpr interval least(const interval& x) {
    if (x.lower_units() > 0) return x.lower();
    return x.upper_units() < 0 ? -x.upper() : interval(0);
}
[[nodiscard]] constexpr interval greater(const interval& a, const interval& b) { return a.upper_units() < b.upper_units() ? b : a; }
/// [−x, x] for the greatest |x|.
[[nodiscard]] constexpr interval plus_minus(const interval& x) { return hull(-greatest(x), greatest(x)); }

/// What rounding any t with |t| <= size to double can lose. With 2^e <= size < 2^(e + 1), that is 2^(e − 53); and if size = 2^e + δ for a small δ,
/// only 2^(e − 54) or δ, since 2^e is a double. In the subnormal range it is 2^−1075 at most, for which stands a unit of 2^−128.
[[nodiscard]] constexpr interval rounding(const interval& size) {
    const interval::integer units = greatest(size).upper_units();
    if (units == 0) return 0;
    const unsigned e = static_cast<unsigned>(msb(units));
    const interval::integer power = interval::integer(1) << e, beyond = units - power;
    interval::integer half = power >> 54;
    if (beyond > half) half = beyond;
    if (half > interval::integer(power >> 53)) half = power >> 53;
    ++half;
    return interval::of_units(half, half);
}

/// A double that is computed instead of a number in `exact`, and at most `error` away from it. Operations round.
struct rounded {
    interval exact;
    interval error = 0;

    /// The size of the double.
    [[nodiscard]] constexpr interval size() const { return greatest(exact) + error; }

    friend constexpr rounded operator-(const rounded& a) { return {-a.exact, a.error}; }
    friend constexpr rounded operator+(const rounded& a, const rounded& b) { return round(sum(a, b)); }
    friend constexpr rounded operator-(const rounded& a, const rounded& b) { return round(sum(a, -b)); }
    friend constexpr rounded operator*(const rounded& a, const rounded& b) {
        return round(rounded{a.exact * b.exact, greatest(a.exact) * b.error + b.size() * a.error});
    }
    // â/b̂ − a/b = ((â − a) + a/b · (b − b̂))/b̂, for b > 0
    friend constexpr rounded operator/(const rounded& a, const rounded& b) {
        const interval quotient = a.exact / b.exact;
        return round(rounded{quotient, greatest((a.error + greatest(quotient) * b.error) / (b.exact.lower() - b.error))});
    }
    /// a + b where the sum of the two doubles is a double.
    friend constexpr rounded sum(const rounded& a, const rounded& b) { return {a.exact + b.exact, a.error + b.error}; }
    friend constexpr rounded round(const rounded& a) { return {a.exact, a.error + rounding(a.size())}; }
};

} // namespace attest::proofs
