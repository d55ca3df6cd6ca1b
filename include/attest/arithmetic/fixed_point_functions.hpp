// SPDX-License-Identifier: BSL-1.0
/// \file
/// Bounds of π, tanh x, erf x, sin x and cos x on integers alone: x stands for x · 2^−F. The proofs stand beside the code,
/// and the rules are those of fixed_point.hpp.
#pragma once

#include "attest/arithmetic/fixed_point.hpp"

namespace attest::fixed_point {

/// Digits carried beyond the F asked for, where 64 would lengthen the integers without need: an error of some hundred
/// units of 2^−(F + 32) vanishes in the last rounding as well.
inline constexpr unsigned few_guard_bits = 32;

/// Bounds of arctan(1/n) · 2^W, for n >= 2: Σ ± 1/((2k+1) n^(2k+1)).
///
/// Floors of floors are floors, so power k is ⌊2^W/n^(2k+1)⌋ and each term is low by less than 1. The terms fall and
/// alternate: what follows the last one is below the first that is left out, which is below 1. Hence |sum − arctan| < k + 1.
template <unsigned W, class Z>
[[nodiscard]] constexpr bounds<Z> arctan_of_reciprocal(unsigned n) {
    natural<Z> power(Z(Z(1) << W));
    power /= n;
    natural<Z> added, subtracted;
    unsigned k = 0;
    while (!power.is_zero()) {
        natural<Z> term = power;
        term /= 2 * k + 1;
        (k % 2 == 0 ? added : subtracted) += term;
        power /= n * n;
        ++k;
    }
    const Z sum = Z(added) - Z(subtracted);
    return {sum - (k + 1), sum + (k + 1)};
}

namespace detail {
// ⌊π · 2^W⌋, by Machin's π/4 = 4 arctan(1/5) − arctan(1/239), with 32 digits more than needed; both bounds have the same
// floor, which is therefore the right one.
template <unsigned W, class Z>
constexpr Z floor_of_pi() {
    const auto fifth = arctan_of_reciprocal<W + 32, Z>(5), small = arctan_of_reciprocal<W + 32, Z>(239);
    const Z least = 16 * fifth.lower - 4 * small.upper, greatest = 16 * fifth.upper - 4 * small.lower;
    const Z floor = least >> 32;
    if (floor != Z(greatest >> 32)) throw std::logic_error("pi is not separated: its series need more digits");
    return floor;
}
} // namespace detail

/// ⌊π · 2^W⌋.
template <unsigned W, class Z>
inline constexpr Z pi = detail::floor_of_pi<W, Z>();

/// ⌊√π/2 · 2^W⌋: the root of π/4 · 2^2W = π · 2^(2W − 2), for ⌊√⌊z⌋⌋ = ⌊√z⌋.
template <unsigned W, class Z>
inline constexpr Z half_root_pi = floor_root(pi<2 * W - 2, Z>);

/// Bounds of tanh ξ · 2^F, for all ξ from x to x + width (in units of 2^−F); both ends >= 0 or both <= 0, and 2 · width at
/// most 2^(−F/2 − Guard).
///
/// tanh ξ = (1 − q)/(1 + q) with q = e^−2ξ, which falls with q; for ξ < 0, −tanh(−ξ). From ξ = F on, 1 − tanh ξ < 2q <=
/// 2e^−2F is below a unit.
template <unsigned F, unsigned Guard = few_guard_bits, class Z>
[[nodiscard]] constexpr bounds<Z> tanh_bounds(const Z& x, const Z& width = Z(0)) {
    if (x < 0) {
        const auto [lower, upper] = tanh_bounds<F, Guard>(Z(-(x + width)), width);
        return {-upper, -lower};
    }
    if (x >= (Z(F) << F)) return {(Z(1) << F) - 1, Z(1) << F};
    constexpr unsigned W = F + Guard;
    const Z one = Z(1) << W;
    auto [least, greatest] = exp_bounds<W, Guard>(Z(-((x + width) << (Guard + 1))), Z(width << (Guard + 1)));
    if (greatest > one) greatest = one; // q <= 1
    return {floor_quotient(Z((one - greatest) << F), Z(one + greatest)),
            ceiling_quotient(Z((one - least) << F), Z(one + least))};
}

/// Bounds of erf ξ · 2^F, for all ξ from x to x + width (in units of 2^−F); both ends >= 0 or both <= 0.
///
/// For ξ > 0: erf ξ = s/(√π/2 · e^(ξ²)) with s = Σ ξ y^n/(1·3·5·…·(2n+1)) and y = 2ξ², where all terms are positive
/// (DLMF 7.6.2). For ξ < 0, −erf(−ξ). For ξ² >= 0.7 F, 1 − erf ξ <= e^(−ξ²) < 2^−F.
///
/// All units are 2^−W. Term 0 is exact, and term n is ⌊term_{n−1} · y/(2n+1)⌋ with y rounded down.
/// - An error below 1 that the floor makes in term m makes one below Π_{j=m+1..n} y/(2j+1) in term n; since y/(2j+1) <
///   ξ²/(j−m), this is below ξ^(2k)/k! with k = n − m, and all together are below e^(ξ²). After a term of 0 all floors are
///   exact. So N terms lose less than N e^(ξ²), and the terms that are left out are part of it.
/// - y is low by less than 1, and ds/dy = Σ ξ n y^(n−1)/(1·3·…·(2n+1)) < s/2, for n/(2n+1) < 1/2: s loses less than s/2 <
///   e^(ξ²)/2 by it.
///
/// Hence sum <= s <= sum + (N + 1) e^(ξ²), and division by √π/2 · e^(ξ²) makes the second term less than 2(N + 1).
/// ξ² is low by less than 1 in the exponential: for the upper end, e^(1 unit) < 1 + 2 units. From ξ on, erf rises by at most
/// its slope at ξ, 1/(√π/2 · e^(ξ²)), times the width: as if s were greater by the width.
template <unsigned F, unsigned Guard = few_guard_bits, class Z>
[[nodiscard]] constexpr bounds<Z> erf_bounds(const Z& x, const Z& width = Z(0)) {
    if (x < 0) {
        const auto [lower, upper] = erf_bounds<F, Guard>(Z(-(x + width)), width);
        return {-upper, -lower};
    }
    if (x == 0 && width == 0) return {0, 0};
    constexpr unsigned W = F + Guard;
    const Z one = Z(1) << F;
    if (x >= (Z(F) << F)) return {one - 1, one};
    const Z square = x * x; // exactly, in units of 2^−2F
    if (10 * square >= (Z(7 * F) << (2 * F))) return {one - 1, one};

    const Z y = square >> (2 * F - W - 1);
    const natural<Z> factor(y);
    natural<Z> term(Z(x << Guard));
    natural<Z> all_terms = term;
    unsigned n = 0;
    while (!term.is_zero()) {
        ++n;
        term.template multiply_and_shift<W>(factor);
        term /= 2 * n + 1;
        all_terms += term;
    }
    const Z sum(all_terms);
    auto [e_lower, e_upper] = exp_bounds<W, Guard>(Z(y >> 1));
    e_upper += 2 * (Z(e_upper >> W) + 1);
    const Z root = half_root_pi<W, Z>;
    const Z least_divisor = floor_shift(Z(root * e_lower), W), greatest_divisor = ceiling_shift(Z((root + 1) * e_upper), W);
    const Z lower = floor_quotient(Z(sum << W), greatest_divisor);
    const Z sum_at_end = sum + (width << Guard);
    const Z upper = ceiling_shift(Z(ceiling_quotient(Z(sum_at_end << W), least_divisor) + 2 * (n + 1)), Guard);
    return {floor_shift(lower, Guard), upper > one ? one : upper};
}

/// Bounds of 1 − τ²/2! + τ⁴/4! − … = cos τ for first = 1 and m = 0, of τ − τ³/3! + … = sin τ for first = τ and m = 1, in
/// units of 2^−W, for 0 <= τ = t · 2^−W < 1.6.
///
/// Term k is ⌊term_{k−1} · y/((m+1)(m+2))⌋, with y = ⌊t² · 2^−W⌋ below τ² < 2.6 by less than 1 unit. So a term is low by
/// err_k < (2.6 err_{k−1} + term_{k−1})/((m+1)(m+2)) + 1, where the terms are below 1.6: err_0 = 0, err_1 < 1.6/2 + 1 and,
/// from the next on with a divisor of at least 12, err_k < (2.6 · 2 + 1.6)/12 + 1 < 2. The loop ends with a term k of 0,
/// so with a true one below 2; from there on the terms fall and alternate, and the rest is below 2. Hence the sum is less
/// than 2k + 2 off.
template <unsigned W, class Z>
[[nodiscard]] constexpr bounds<Z> alternating_series(const Z& first, const Z& t, unsigned m) {
    natural<Z> y(t);
    y.template multiply_and_shift<W>(natural<Z>(t));
    natural<Z> term(first);
    natural<Z> added = term, subtracted;
    unsigned k = 0;
    while (!term.is_zero()) {
        term.template multiply_and_shift<W>(y);
        term /= (m + 1) * (m + 2);
        m += 2;
        ++k;
        (k % 2 == 0 ? added : subtracted) += term;
    }
    const Z sum = Z(added) - Z(subtracted);
    return {sum - (2 * k + 2), sum + (2 * k + 2)};
}

/// x = count · π/2 + ρ, where ρ lies between rest and rest + 2 in units of 2^−W.
template <class Z>
struct quarter_turns {
    Z count, rest;
};

/// For |ξ| < 2^64, where ξ = x · 2^−F; otherwise throws std::domain_error.
///
/// In units of 2^−V, V = W + 64, and with π/2 rounded down for ξ < 0 and up for ξ >= 0, t = ξ − n π/2 lies in [0, π/2 + 1
/// unit), and t <= ρ <= t + |n| with |n| < 2^64: in units of 2^−W, ρ is above ⌊t⌋ by less than 1 + 1. (So ρ may be beyond
/// π/2 by 2^−W at most.)
template <unsigned F, unsigned Guard, class Z>
[[nodiscard]] constexpr quarter_turns<Z> in_quarter_turns(const Z& x) {
    const Z limit = Z(1) << (F + 64);
    if (x <= -limit || x >= limit)
        throw std::domain_error("sine and cosine of an interval are limited to |x| < 2^64, beyond which pi has too few digits");
    constexpr unsigned V = F + Guard + 64;
    const Z wide = x * (Z(1) << (V - F));
    const Z step = x < 0 ? pi<V - 1, Z> : pi<V - 1, Z> + 1;
    const Z n = floor_quotient(wide, step);
    return {n, Z(wide - n * step) >> 64};
}

/// n mod 4, of which 0 … 3.
template <class Z>
[[nodiscard]] constexpr unsigned quadrant_of(const Z& n) {
    return static_cast<unsigned>(Z(n - 4 * floor_shift(n, 2)));
}

/// Bounds of sin(n π/2 + ρ) · 2^F, for ρ between t and t + 2 units of 2^−W: ± sin ρ or ± cos ρ, which change by at most 2
/// units between there, and are at most 1.
template <unsigned F, unsigned Guard, class Z>
[[nodiscard]] constexpr bounds<Z> sine_after_turns(const Z& n, const Z& t) {
    constexpr unsigned W = F + Guard;
    const Z one = Z(1) << F;
    const unsigned quadrant = quadrant_of(n);
    auto [lower, upper] =
        quadrant % 2 == 0 ? alternating_series<W>(t, t, 1) : alternating_series<W>(Z(Z(1) << W), t, 0);
    lower = floor_shift(Z(lower - 2), Guard);
    upper = ceiling_shift(Z(upper + 2), Guard);
    if (upper > one) upper = one;
    if (quadrant >= 2) return {-upper, -lower};
    return {lower, upper};
}

/// Bounds of sin(ξ + quarters · π/2) · 2^F for all ξ from `lower` to `upper` (in units of 2^−F): for quarters = 0 the sine,
/// for 1 the cosine. Throws std::domain_error unless |ξ| < 2^64.
///
/// Between neighbouring multiples k π/2 the sine is monotone; at k ≡ 1 mod 4 it is 1, at k ≡ 3 it is −1. So its greatest
/// and least values are at the ends, or 1 or −1 if such a multiple is inside: if the counts at the ends differ by 4 or more,
/// both are. A count may be one too small, at an end which is then beyond the multiple by 2^−W at most: if the sine is
/// extreme there, then at this end it is 2^−2W away from ±1 at most, and its bound, a whole number of units, is ±1 itself.
template <unsigned F, unsigned Guard = few_guard_bits, class Z>
[[nodiscard]] constexpr bounds<Z> sine_bounds(const Z& lower, const Z& upper, unsigned quarters) {
    const Z one = Z(1) << F;
    if (lower == 0 && upper == 0) return quarters == 0 ? bounds<Z>{0, 0} : bounds<Z>{one, one};
    const auto at_lower = in_quarter_turns<F, Guard>(lower);
    const Z first = at_lower.count + quarters;
    bounds<Z> result = sine_after_turns<F, Guard>(first, at_lower.rest);
    if (lower == upper) return result;

    const auto at_upper = in_quarter_turns<F, Guard>(upper);
    const Z last = at_upper.count + quarters;
    if (last - first >= 4) return {-one, one};
    const auto end = sine_after_turns<F, Guard>(last, at_upper.rest);
    if (end.lower < result.lower) result.lower = end.lower;
    if (end.upper > result.upper) result.upper = end.upper;
    for (Z k = first + 1; k <= last; ++k) {
        if (quadrant_of(k) == 1) result.upper = one;
        if (quadrant_of(k) == 3) result.lower = -one;
    }
    return result;
}

} // namespace attest::fixed_point
