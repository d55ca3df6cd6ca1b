// SPDX-License-Identifier: BSL-1.0
/// \file
/// `double_double`: a number as an unevaluated sum of two doubles, about 106 binary digits, with a proved error bound for each operation.
///
/// It rests on two transformations without error: the sum of two doubles and what its rounding lost (2Sum; Fast2Sum where the first is the
/// greater), and the product of two doubles and what its rounding lost (by one fused multiplication and addition). Products that are added
/// afterwards pass through `unfused`, so the results have the same bits on every compiler, at every level of optimisation, whatever
/// -ffp-contract says.
///
/// The algorithms: addition is AccurateDWPlusDW and multiplication DWTimesDW3 of Joldes, Muller, Popescu, *Tight and rigorous error bounds for
/// basic building blocks of double-word arithmetic* (ACM TOMS 44(2), 2017, doi:10.1145/3121432), corrected and proved in Coq by Muller and
/// Rideau (doi:10.1145/3484514); division and root add to the rounded quotient (root) what its exact remainder says; the root is that of
/// Lefèvre, Louvet, Muller, Picot, Rideau (2023, doi:10.1145/3568672). The bound of the sum is that of the second paper. Those of product,
/// quotient and root are derived below, since they are to hold with underflow too; where the papers' (without underflow) are sharper, little is
/// lost.
#pragma once

#include "attest/arithmetic/power_of_two.hpp"
#include "attest/arithmetic/unfused.hpp"

#include <algorithm>
#include <cmath>
#include <compare>
#include <concepts>

namespace attest {

/// high + low, where high is the double nearest to the sum: high + low == high in double.
///
/// For finite operands, each operation is off by at most `…_error` · |exact result| + `…_error_absolute`; the first may be taken of the computed
/// result as well. The only condition: `high` of the result is finite. Overflow on the way, division by zero, the root of a negative number and
/// operands that are not finite give a result whose `high` is an infinity or NaN, never a wrong finite one.
///
/// (Greatest errors found in some 4 million pairs of hard operands: sum 2.5u², product 3.9u², quotient 7.1u², root 3.1u², with u = 2^−53.)
struct double_double {
    double high = 0;
    double low = 0;

    constexpr double_double() = default;
    // A template, so that 0.3 does not become an int and then 0.
    template <std::same_as<int> I> constexpr double_double(I x) noexcept : high{static_cast<double>(x)} {} // NOLINT(google-explicit-constructor)
    constexpr explicit double_double(double x) noexcept : high{x} {}
    /// For a `low` of at most half a unit in the last place of `high`: high + low == high.
    constexpr double_double(double high_part, double low_part) noexcept : high{high_part}, low{low_part} {}

    /// The value, rounded once.
    [[nodiscard]] constexpr explicit operator double() const noexcept { return high; }
    [[nodiscard]] constexpr bool is_finite() const noexcept { return high - high == 0; }

    // The bounds, with u = 2^−53. The factor takes up all that the derivations leave out: terms of u³ and underflow next to 1, together below
    // 2^−40 u². The absolute bounds are rounded up by a unit, for where the relative ones are taken of the computed result.
    static constexpr double u_squared = 0x1p-106;
    static constexpr double slack = 1 + 0x1p-40;
    static constexpr double sum_error = 3 * u_squared * slack;       ///< 3u²/(1 − 4u)
    static constexpr double sum_error_absolute = 0;                  ///< sums that are subnormal are exact
    static constexpr double product_error = 5 * u_squared * slack;   ///< 5u² + 11u³
    static constexpr double product_error_absolute = 6 * 0x1p-1074;  ///< where error terms are subnormal
    static constexpr double quotient_error = 11 * u_squared * slack; ///< 11u² + O(u³)
    static constexpr double quotient_error_absolute = 2 * 0x1p-1074; ///< where the result's parts are subnormal
    static constexpr double root_error = 4.125 * u_squared * slack;  ///< 4.125u² + O(u³)
    static constexpr double root_error_absolute = 0;                 ///< no root is small enough

    /// Does `quotient_error` bound the error of a/b alone, because 2^−1074 is far below it?
    [[nodiscard]] static bool quotient_holds(const double_double& a, const double_double& b) noexcept {
        return a.is_finite() && b.is_finite() && b.high != 0 && (a.high == 0 || std::fabs(a.high / b.high) >= 0x1p-900);
    }
    /// Has a a root? Then `root_error` bounds its error.
    [[nodiscard]] static bool root_holds(const double_double& a) noexcept { return a.is_finite() && a.high >= 0; }

    friend constexpr double_double operator-(const double_double& a) noexcept { return {-a.high, -a.low}; }

    friend constexpr double_double operator+(const double_double& a, const double_double& b) noexcept {
        const double_double s = sum_of(a.high, b.high), t = sum_of(a.low, b.low);
        const double_double v = ordered_sum(s.high, s.low + t.high);
        return ordered_sum(v.high, t.low + v.low);
    }
    friend constexpr double_double operator-(const double_double& a, const double_double& b) noexcept { return a + -b; }

    // Let the parts be scaled by powers of two so that 1 <= a.high, b.high < 2, signs taken out, and |a.low|, |b.low| <= u; η is 2^−1075 in this
    // scale, the most that a rounding in the subnormal range loses. A number up to 2^k + δ is rounded by at most max(2^k u/2, δ, η), since 2^k is
    // a double.
    //
    //   lost  is a.high·b.high − p, at most 2u, or u if a.high·b.high < 2:      exact, or off by η
    //   c0    rounds a.low·b.low, at most u²:                                   off by u³/2 + η
    //   c1    rounds a.high·b.low + c0, at most (2 − 2u)u + u² + η:             off by u² + η
    //   c2    rounds c1 + a.low·b.high, at most (4 − 4u)u + 2u² + 2η:           off by 2u² + 2η
    //   c     rounds lost + c2, at most 6u + 5η:                                off by 4u² + 5η
    //
    // In all 7u² + u³/2 + 10η, of a product of at least 2 − 4u: that is 3.5u². But if a.high·b.high < 2, then (a.high − 1)(b.high − 1) >= 0 makes
    // a.high + b.high < 3, so at most 3 − 2u, as a multiple of 2u. So what c2 rounds is at most 3u + u³/2 + 2η, and |c2| <= 3u, unless η is about
    // u² or more. Then |lost + c2| <= 4u + η, and c is off by 2u² + 5η. In all 5u² + u³/2 + 10η, of a product of at least (1 − u)².
    //
    // p is at least c in size, or 0, so that the last sum is exact: where p is subnormal, the terms of c are at most η, which rounds to 0.
    friend double_double operator*(const double_double& a, const double_double& b) noexcept {
        const double p = detail::unfused(a.high * b.high), lost = std::fma(a.high, b.high, -p);
        const double c0 = detail::unfused(a.low * b.low);
        const double c1 = std::fma(a.high, b.low, c0);
        const double c2 = std::fma(a.low, b.high, c1);
        return ordered_sum(p, lost + c2);
    }

    // Operands far from 1 are brought there by powers of two first, so that nothing overflows or underflows on the way: what a low part loses by
    // that is 2^−1075 next to 1. The result is scaled back, and where it is subnormal each part is off by 2^−1075 more.
    friend double_double operator/(const double_double& a, const double_double& b) noexcept {
        if (is_moderate(a.high) && is_moderate(b.high)) return moderate_quotient(a, b);
        if (!a.is_finite() || !b.is_finite()) return double_double(std::numeric_limits<double>::quiet_NaN());
        if (a.high == 0 || b.high == 0) return double_double(a.high / b.high);
        const int exponent_a = exponent_of(a.high), exponent_b = exponent_of(b.high);
        return ldexp(moderate_quotient(ldexp(a, -exponent_a), ldexp(b, -exponent_b)), exponent_a - exponent_b);
    }

    // With x = a and X = a.high: s is √X rounded; d rounds x − s², the sum of X − s² and a.low; and √x = s + Δ, where (x − s²)/2s = Δ + Δ²/2s. √x is
    // within (u/2)√x of √X, and that within u√x of s, up to terms of u²: |Δ| <= 1.5u √x. So with two roundings, of d and of the quotient, the
    // correction is off by at most (1.5u)²/2 + 2u · 1.5u = 4.125u² of √x. X − s² is a double: a multiple of 2^(2e − 104), where 2^e <= s < 2^(e + 1),
    // and at most 2^(e − 53) · 2^(e + 2) in size.
    friend double_double attest_sqrt(const double_double& a) noexcept {
        if (a.high < 0x1p-900 && a.high > 0) return ldexp(attest_sqrt(ldexp(a, 200)), -100);
        if (a.high == 0) return a;
        const double s = std::sqrt(a.high);
        const double d = std::fma(-s, s, a.high) + a.low;
        return ordered_sum(s, d / (2 * s));
    }

    /// a · 2^k: exactly, but that each part is rounded once where it is subnormal, and that `high` may overflow.
    friend double_double ldexp(const double_double& a, int k) noexcept {
        const int shift = std::clamp(k, -2100, 2100); // beyond, every double is 0 or infinite
        const double scaled = detail::unfused(detail::times_power_of_two(a.high, shift));
        const double rest = detail::unfused(detail::times_power_of_two(a.low, shift));
        return ordered_sum(scaled, rest); // a low part that was rounded may be just half a unit in the last place of an odd high one
    }
    friend double_double abs(const double_double& a) noexcept { return a.high < 0 ? -a : a; }

    // high is the nearest double of the whole, and rounding keeps the order: the greater high, and among equals the greater low.
    friend constexpr bool operator==(const double_double&, const double_double&) = default;
    friend constexpr auto operator<=>(const double_double&, const double_double&) = default;

private:
    // a + b exactly.
    static constexpr double_double sum_of(double a, double b) noexcept {
        const double sum = a + b, b_in_sum = sum - a;
        return {sum, (a - (sum - b_in_sum)) + (b - b_in_sum)};
    }
    // a + b exactly, where |a| >= |b| or a = 0.
    static constexpr double_double ordered_sum(double a, double b) noexcept {
        const double sum = a + b;
        return {sum, b - (sum - a)};
    }
    static bool is_moderate(double x) noexcept { return std::fabs(x) >= 0x1p-450 && std::fabs(x) <= 0x1p450; }
    // e with 2^e <= |x| < 2^(e + 1), for finite x ≠ 0.
    static int exponent_of(double x) noexcept { return detail::split(std::fabs(x)).exponent; }

    // q is a.high/b.high rounded, and a/b = q + d/b with d = a − qb = (a.high − q·b.high) + (a.low − q·b.low). The first bracket is a double: a
    // multiple of 2^(e + f − 104), where 2^e <= q < 2^(e + 1) and 2^f <= b.high < 2^(f + 1), and at most 2^(e − 53) · 2^(f + 1) in size. Up to terms
    // of u², it is at most u·a, the second at most 2u·a, d at most 3u·a. So rounding the second is off by 2u² of a/b, and by 3u² each: rounding
    // their sum; dividing by b.high instead of b; rounding the quotient. In all 11u².
    static double_double moderate_quotient(const double_double& a, const double_double& b) noexcept {
        const double q = a.high / b.high;
        const double d = std::fma(-q, b.high, a.high) + std::fma(-q, b.low, a.low);
        return ordered_sum(q, d / b.high);
    }
};

} // namespace attest
