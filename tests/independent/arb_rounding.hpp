// SPDX-License-Identifier: BSL-1.0
/// \file
/// From a ball to a format: the roundings of its ends.
#pragma once

#include "arb_number.hpp"
#include "attest_side.hpp"

#include <algorithm>
#include <cmath>

namespace independent {

// Ends of balls that do not fit into so many bits are rounded outwards. (Exact ends could need as many bits as there are between the exponents of middle and radius.)
inline constexpr slong bits_of_ends = 16384;

/// x rounded to nearest, ties to even; subnormals and overflow as IEEE 754 has them. A double holds every format.
[[nodiscard]] inline double rounded(const stored_format& f, const arf_number& x) {
    if (arf_is_nan(x.get())) return std::nan("");
    const double sign = arf_sgn(x.get()) < 0 ? -1.0 : 1.0;
    if (arf_is_inf(x.get()) || arf_cmpabs_2exp_si(x.get(), f.greatest_exponent + 1) >= 0) return sign * HUGE_VAL;
    const int least_unit = f.least_exponent - (f.precision - 1);
    if (arf_is_zero(x.get()) || arf_cmpabs_2exp_si(x.get(), least_unit - 2) < 0) return 0.0;
    // The exponent now fits into a long: 2^(e − 1) <= |x| < 2^e.
    fmpz_t exponent, units;
    fmpz_init(exponent);
    fmpz_init(units);
    arf_abs_bound_lt_2exp_fmpz(exponent, x.get());
    const int leading = static_cast<int>(fmpz_get_si(exponent)) - 1;
    const int unit = std::max(leading, f.least_exponent) - (f.precision - 1);
    arf_number scaled;
    arf_mul_2exp_si(scaled.get(), x.get(), -unit);
    arf_get_fmpz(units, scaled.get(), ARF_RND_NEAR); // to nearest, ties to even
    const double whole = std::fabs(fmpz_get_d(units)); // at most 2^53
    fmpz_clear(exponent);
    fmpz_clear(units);
    const double greatest = std::ldexp(2.0 - std::ldexp(1.0, 1 - f.precision), f.greatest_exponent);
    const double value = std::ldexp(whole, unit); // exact, or infinity
    return value == 0 ? 0.0 : sign * (value > greatest ? HUGE_VAL : value);
}

/// The roundings of the two ends of an enclosure. Equal: that is the correct rounding, proved.
struct two_roundings {
    double low = 0, high = 0;
    [[nodiscard]] bool one() const { return low == high; }
};

/// An enclosure by its ends.
struct two_ends {
    arf_number low, high;
    [[nodiscard]] two_roundings rounded_to(const stored_format& f) const { return {rounded(f, low), rounded(f, high)}; }
    /// Whether the two have a number in common.
    friend bool overlap(const two_ends& a, const two_ends& b) { return arf_cmp(a.low.get(), b.high.get()) <= 0 && arf_cmp(b.low.get(), a.high.get()) <= 0; }
};

[[nodiscard]] inline two_ends ends_of(const arb_number& a) {
    two_ends ends;
    arb_get_lbound_arf(ends.low.get(), a.get(), bits_of_ends);
    arb_get_ubound_arf(ends.high.get(), a.get(), bits_of_ends);
    return ends;
}
/// [middle − radius, middle + radius]
[[nodiscard]] inline two_ends ends_of(const arf_number& middle, const arf_number& radius) {
    two_ends ends;
    arf_sub(ends.low.get(), middle.get(), radius.get(), bits_of_ends, ARF_RND_FLOOR);
    arf_add(ends.high.get(), middle.get(), radius.get(), bits_of_ends, ARF_RND_CEIL);
    return ends;
}
/// A number of attest's side.
[[nodiscard]] inline arf_number number_of(const real_number& x) {
    arf_number sum;
    for (std::size_t i = x.limbs.size(); i-- > 0;) {
        arf_mul_2exp_si(sum.get(), sum.get(), 64);
        arf_add_ui(sum.get(), sum.get(), x.limbs[i], ARF_PREC_EXACT, ARF_RND_DOWN);
    }
    arf_mul_2exp_si(sum.get(), sum.get(), static_cast<slong>(x.exponent));
    if (x.negative) arf_neg(sum.get(), sum.get());
    return sum;
}

/// Whether the ends are neighbours of the format, so that the one tie that they may be is between them; `even`: the one that a tie goes to.
[[nodiscard]] inline bool neighbours(const stored_format& f, const two_roundings& r, double& even) {
    if (!std::isfinite(r.low) || !std::isfinite(r.high)) return false;
    const double smaller = std::min(std::fabs(r.low), std::fabs(r.high));
    const int exponent = smaller == 0 ? f.least_exponent : std::ilogb(smaller);
    const int unit = std::max(exponent, f.least_exponent) - (f.precision - 1);
    if (r.high - r.low != std::ldexp(1.0, unit)) return false;
    even = std::fmod(std::ldexp(r.low, -unit), 2.0) == 0 ? r.low : r.high;
    return true;
}

} // namespace independent
