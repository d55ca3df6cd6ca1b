// SPDX-License-Identifier: BSL-1.0
/// \file
/// From the exact value to a format, rounded once; and distances in units of the last place.
#pragma once

#include "attest/arithmetic/formats.hpp"
#include "attest/arithmetic/real.hpp"

namespace attest {

/// What exact values are handed around in: 192 bits.
using exact_number = real<50>;

namespace detail {
// Exponent of the unit in the last place of f at the exact value x ≠ 0, finite.
template <unsigned D> [[nodiscard]] int ulp_exponent_at(const format& f, const real<D>& x) {
    const std::int64_t exponent = x.exponent();
    return f.ulp_exponent(exponent < f.min_exponent ? f.min_exponent : exponent > 100000 ? 100000 : static_cast<int>(exponent));
}
} // namespace detail

/// x rounded once to nearest, ties to even; subnormals and overflow as IEEE 754 says. The result is a double, which holds every format.
template <unsigned D> [[nodiscard]] double round_to(const format& f, const real<D>& x) {
    if (x.is_nan()) return std::numeric_limits<double>::quiet_NaN();
    const double sign = x.is_negative() ? -1.0 : 1.0;
    if (x.is_zero()) return sign * 0.0;
    if (!x.is_finite() || x.exponent() > f.max_exponent) return sign * detail::infinity_of_double;
    if (x.exponent() < f.tiny_exponent() - 1) return sign * 0.0; // less than half of the smallest subnormal
    const int unit = detail::ulp_exponent_at(f, x);
    const real<D> scaled = ldexp(abs(x), -unit); // below 2^53
    auto whole = boost::multiprecision::trunc(scaled.value()).template convert_to<std::uint64_t>();
    const real<D> rest = scaled - real<D>(static_cast<double>(whole));
    const real<D> half(0.5);
    if (rest > half || (rest == half && whole % 2 == 1)) ++whole;
    const double rounded = detail::times_power_of_two(static_cast<double>(whole), unit);
    return sign * (rounded > f.greatest() ? detail::infinity_of_double : rounded);
}

/// |got − exact| in units in the last place of the format at the exact value's binade (of the smallest subnormal at 0 and below the normal range).
/// Both finite: rounded to a double. Not finite on either side: 0 if they are the same (NaN is NaN), else infinity.
template <unsigned D> [[nodiscard]] double ulp_distance(const format& f, double got, const real<D>& exact) {
    if (got != got || exact.is_nan()) return got != got && exact.is_nan() ? 0.0 : detail::infinity_of_double;
    const bool got_infinite = got == detail::infinity_of_double || got == -detail::infinity_of_double;
    if (got_infinite || !exact.is_finite())
        return got_infinite && !exact.is_finite() && (got < 0) == exact.is_negative() ? 0.0 : detail::infinity_of_double;
    const int unit = exact.is_zero() ? f.tiny_exponent() : detail::ulp_exponent_at(f, exact);
    return static_cast<double>(ldexp(abs(real<D>(got) - exact), -unit));
}

} // namespace attest
