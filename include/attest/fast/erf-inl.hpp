// SPDX-License-Identifier: BSL-1.0
/// \file
/// erf in all lanes: the series of elementary/erf.hpp, and GELU with it.

#if defined(ATTEST_FAST_ERF_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTEST_FAST_ERF_INL_HPP
#undef ATTEST_FAST_ERF_INL_HPP
#else
#define ATTEST_FAST_ERF_INL_HPP
#endif

#include "attest/elementary/erf.hpp"
#include "attest/fast/pack-inl.hpp"

ATTEST_FAST_BEGIN
namespace attest::fast::ATTEST_FAST_TARGET {

// Σ (−1)^n x^2n / (n! (2n + 1)), without its first term 1, for |x| < 1/2: the coefficients from n = 12 down to 1.
inline constexpr double erf_coefficients[] = {1.0 / (25 * 479001600.0), -1.0 / (23 * 39916800.0), 1.0 / (21 * 3628800.0), -1.0 / (19 * 362880.0),
                                              1.0 / (17 * 40320.0),     -1.0 / (15 * 5040.0),     1.0 / (13 * 720.0),     -1.0 / (11 * 120.0),
                                              1.0 / (9 * 24.0),         -1.0 / (7 * 6.0),         1.0 / (5 * 2.0),        -1.0 / 3};
inline constexpr double reciprocals[] = {0,       1.0 / 1,  1.0 / 2,  1.0 / 3,  1.0 / 4,  1.0 / 5,  1.0 / 6,  1.0 / 7,  1.0 / 8, 1.0 / 9,
                                         1.0 / 10, 1.0 / 11, 1.0 / 12, 1.0 / 13, 1.0 / 14, 1.0 / 15, 1.0 / 16, 1.0 / 17, 1.0 / 18};

/// erf x, off by at most 2^−52 (the greatest measured is in tests/fast/rows.cpp; not proved). Both series in every lane, and then the one that holds: below
/// 1/2 around 0, above around the nearest eighth (elementary/erf.hpp). ±1 beyond ±5.93. NaN for NaN.
ATTEST_FAST_INLINE pack erf(pack x) {
    const pack size = absolute(x), last = pack::broadcast(5.93);
    // Around 0.
    const pack square = product(size, size);
    pack near = pack::zero();
    for (const double c : erf_coefficients) near = multiply_add(near, square, pack::broadcast(c));
    const pack line = product(size, pack::broadcast(0x1.20dd750429b6dp+0)); // 2/√π
    const pack from_zero = line + product(product(line, square), near);
    // Around the eighth c.
    const pack within = minimum(maximum(size, pack::broadcast(0.5)), last);
    const pack eighths = nearest_integer(within * pack::broadcast(8));
    double at[pack::lanes], high[pack::lanes], low[pack::lanes], slope[pack::lanes];
    eighths.store(at);
    for (std::size_t i = 0; i < pack::lanes; ++i) {
        const attest::detail::erf_at_eighth& table = attest::detail::erf_at_eighths[static_cast<int>(at[i]) - 4];
        high[i] = table.high;
        low[i] = table.low;
        slope[i] = table.slope;
    }
    const pack c = eighths * pack::broadcast(0.125), h = within - c, minus_2h = h * pack::broadcast(-2.0), one = pack::broadcast(1.0);
    pack before = pack::zero(), power = one, series = one;
    ATTEST_FAST_UNROLL
    for (std::size_t n = 1; n <= 15; ++n) {
        const pack next = product(product(minus_2h, multiply_add(h, before, product(c, power))), pack::broadcast(reciprocals[n]));
        before = power;
        power = next;
        series = multiply_add(power, pack::broadcast(reciprocals[n + 1]), series);
    }
    const pack from_eighth = pack::load(high) + (pack::load(low) + product(product(pack::load(slope), h), series));
    const pack result = select(size < pack::broadcast(0.5), from_zero, select(last < size, one, from_eighth));
    return select(x == x, select(x < pack::zero(), -result, result), x);
}

/// x (1 + erf(x/√2)) / 2, off by at most 2^−52 |x| (the greatest measured is in tests/fast/rows.cpp; not proved).
ATTEST_FAST_INLINE pack gelu(pack x) {
    const pack phi = pack::broadcast(1.0) + erf(product(x, pack::broadcast(0x1.6a09e667f3bcdp-1))); // 1/√2
    return product(product(x, phi), pack::broadcast(0.5));
}

} // namespace attest::fast::ATTEST_FAST_TARGET
ATTEST_FAST_END

#endif
