// SPDX-License-Identifier: BSL-1.0
/// \file
/// Bounds of e^x, log x, √x and quotients on integers alone: x stands for x · 2^−F. The proofs stand beside the code.
///
/// The integers have a fixed width and are checked: a result that does not fit throws `std::overflow_error`; in a
/// constant expression it does not compile. No floating-point number occurs.
#pragma once

#include "attest/arithmetic/natural.hpp"

#include <boost/multiprecision/cpp_int.hpp>
#include <stdexcept>

namespace attest::fixed_point {

/// A signed integer of at most `Bits` bits, without allocation, usable in constant expressions.
template <unsigned Bits>
using integer = boost::multiprecision::number<
    boost::multiprecision::cpp_int_backend<Bits, Bits, boost::multiprecision::signed_magnitude,
                                           boost::multiprecision::checked, void>,
    boost::multiprecision::et_off>;

/// A real number that is not known, between two that are.
template <class Z>
struct bounds {
    Z lower, upper;
};

/// The greatest integer <= a/b, for b > 0.
template <class Z>
[[nodiscard]] constexpr Z floor_quotient(const Z& a, const Z& b) {
    Z quotient, remainder;
    divide_qr(a, b, quotient, remainder); // toward zero; the remainder has the sign of a
    if (remainder < 0) --quotient;
    return quotient;
}
/// The least integer >= a/b, for b > 0.
template <class Z>
[[nodiscard]] constexpr Z ceiling_quotient(const Z& a, const Z& b) {
    Z quotient, remainder;
    divide_qr(a, b, quotient, remainder);
    if (remainder > 0) ++quotient;
    return quotient;
}

/// The greatest integer <= a · 2^−bits.
template <class Z>
[[nodiscard]] constexpr Z floor_shift(const Z& a, unsigned bits) {
    if (a >= 0) return Z(a >> bits);
    const Z least_multiple_above = (Z(1) << bits) - 1 - a;
    return -Z(least_multiple_above >> bits);
}
/// The least integer >= a · 2^−bits.
template <class Z>
[[nodiscard]] constexpr Z ceiling_shift(const Z& a, unsigned bits) {
    return -floor_shift(Z(-a), bits);
}

/// The greatest integer <= √n, for n >= 0.
///
/// Newton's iteration from above: while r > √n, the next (r + n/r)/2 is below r and, by the inequality of the means,
/// its floor is not below ⌊√n⌋.
template <class Z>
[[nodiscard]] constexpr Z floor_root(const Z& n) {
    if (n == 0) return n;
    Z root = Z(1) << (msb(n) / 2 + 1); // 2^(⌊log2 n⌋/2 + 1) > √n
    for (;;) {
        const Z next = Z(root + floor_quotient(n, root)) >> 1;
        if (next >= root) return root;
        root = next;
    }
}

/// Digits carried beyond the F asked for, so that the error of a series (some hundred units) vanishes in one rounding
/// at its end.
inline constexpr unsigned guard_bits = 64;

/// Bounds of e^τ · 2^W, for 0 <= τ = t · 2^−W < 1.
///
/// Term k is ⌊term_{k−1} · τ/k⌋, below the true τ^k/k! by err_k < err_{k−1}/k + 1, so by less than 2. The loop ends
/// with a term n of 0, so with τ^n/n! below 2 units, and what follows it sums to at most τ^n/n! · (1/(n+1) + 1/(n+1)² +
/// …) <= 2 units. Hence sum <= e^τ <= sum + 2n + 2.
template <unsigned W, class Z>
[[nodiscard]] constexpr bounds<Z> exp_series(const Z& t) {
    const natural<Z> factor(t);
    natural<Z> term(Z(Z(1) << W));
    natural<Z> sum = term;
    unsigned n = 0;
    while (!term.is_zero()) {
        ++n;
        term.template multiply_and_shift<W>(factor);
        term /= n; // ⌊⌊x⌋/n⌋ = ⌊x/n⌋: one rounding
        sum += term;
    }
    const Z lower(sum);
    return {lower, lower + (2 * n + 2)};
}

/// Bounds of artanh(p/q) · 2^W, for 0 <= p/q <= 1/3.
///
/// z = ⌊p/q · 2^W⌋ and its square are low by less than 1 and 2 units. Then power k, ⌊power_{k−1} · z²⌋, is low by err_k
/// < err_{k−1}/9 + 2/3 + 1, so by less than 2, and each term of Σ power_k/(2k+1) by less than 3. The loop ends with a
/// power below 2 units: the rest sums to at most 2 · (1 + 1/9 + …) < 3. Hence sum <= artanh <= sum + 3n + 3.
template <unsigned W, class Z>
[[nodiscard]] constexpr bounds<Z> artanh_series(const Z& p, const Z& q) {
    natural<Z> power(floor_quotient(Z(p << W), q));
    natural<Z> square = power;
    square.template multiply_and_shift<W>(power);
    natural<Z> sum;
    unsigned n = 0;
    while (!power.is_zero()) {
        natural<Z> term = power;
        term /= 2 * n + 1;
        sum += term;
        power.template multiply_and_shift<W>(square);
        ++n;
    }
    const Z lower(sum);
    return {lower, lower + (3 * n + 3)};
}

namespace detail {
// ⌊log 2 · 2^W⌋. log 2 = 2 artanh(1/3), with 32 digits more than needed; both bounds have the same floor, which is
// therefore the right one.
template <unsigned W, class Z>
constexpr Z floor_of_log_two() {
    const auto [lower, upper] = artanh_series<W + 32, Z>(1, 3);
    const Z floor = lower >> 31;
    if (floor != Z(upper >> 31)) throw std::logic_error("log 2 is not separated: its series needs more digits");
    return floor;
}
} // namespace detail

/// ⌊log 2 · 2^W⌋.
template <unsigned W, class Z>
inline constexpr Z log_two = detail::floor_of_log_two<W, Z>();

/// Bounds of e^ξ · 2^F, for all ξ from x to x + width (in units of 2^−F); the width must be at most 2^(−W/2).
///
/// ξ = n log 2 + ρ, and e^ξ = 2^n e^ρ. Since 1/log 2 · 2^16 = 94548.46…, n <= ξ/log 2 < n + 1.1 for |ξ| <= 4F. With log 2
/// rounded down for n < 0 and up for n >= 0, in units of 2^−W, t = ξ − n log 2 is in [0, 0.8) and t <= ρ <= t + |n|; e^ρ <=
/// e^t · (1 + 2|n| 2^−W), where the bound of e^t is below 3, adds at most 6|n| units. A width δ makes it e^ρ e^δ <= e^ρ (1 +
/// δ + δ²), where e^ρ δ² is at most 3 units.
template <unsigned F, unsigned Guard = guard_bits, class Z>
[[nodiscard]] constexpr bounds<Z> exp_bounds(const Z& x, const Z& width = Z(0)) {
    constexpr unsigned W = F + Guard;
    if (x == 0 && width == 0) return {Z(1) << F, Z(1) << F};
    if (x <= -(Z(F) << F)) return {0, 1}; // e^(−F) < 2^−F, and with a width too
    if (x >= (Z(4 * F) << F)) throw std::overflow_error("the exponential of an interval is too large for its digits");
    const auto sixteenth_digits = static_cast<long long>(floor_shift(x, F - 16));
    const auto n = static_cast<int>((sixteenth_digits * (x < 0 ? 94549 : 94548)) >> 32);
    const Z step = x < 0 ? log_two<W, Z> : log_two<W, Z> + 1;
    auto [lower, upper] = exp_series<W>(Z(x * (Z(1) << Guard) - n * step));
    upper += 6 * (n < 0 ? -n : n);
    if (width != 0) upper += ceiling_shift(Z(upper * width), F) + 3;
    const int shift = static_cast<int>(Guard) - n;
    if (shift <= 0) return {lower << -shift, upper << -shift};
    return {floor_shift(lower, static_cast<unsigned>(shift)), ceiling_shift(upper, static_cast<unsigned>(shift))};
}

/// Bounds of log ξ · 2^F, for ξ = x · 2^−F > 0.
///
/// ξ = 2^e f with 1 <= f < 2, and log f = 2 artanh((f − 1)/(f + 1)), where the quotient is one of integers, at most
/// 1/3.
template <unsigned F, unsigned Guard = guard_bits, class Z>
[[nodiscard]] constexpr bounds<Z> log_bounds(const Z& x) {
    constexpr unsigned W = F + Guard;
    const auto top = static_cast<unsigned>(msb(x));
    const Z power = Z(1) << top;
    const auto [lower, upper] = artanh_series<W>(Z(x - power), Z(x + power));
    const int e = static_cast<int>(top) - static_cast<int>(F);
    const Z log_two_down = log_two<W, Z>, log_two_up = log_two_down + 1;
    const Z least = 2 * lower + e * (e < 0 ? log_two_up : log_two_down);
    const Z greatest = 2 * upper + e * (e < 0 ? log_two_down : log_two_up);
    return {floor_shift(least, Guard), ceiling_shift(greatest, Guard)};
}

} // namespace attest::fixed_point
