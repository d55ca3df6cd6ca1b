// SPDX-License-Identifier: BSL-1.0
/// \file
/// e^x in all lanes: the algorithm of elementary/exp.hpp, step by step, so that its proof (proofs/exp.cpp) holds for it; proofs/exp_in_lanes.cpp adds the rest.
///
/// Three things differ, and none weakens the proof. k is rounded by adding and subtracting 1.5 · 2^52: so |x/log 2 − k| <= 1/2 + 2^−41, which is step 1.
/// In the series, a product and a sum are rounded once instead of twice: steps 5 and 6 lose no more. Where the result would be below 2^−1021, it
/// is 0: step 9 is exact.

#if defined(ATTEST_FAST_EXP_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTEST_FAST_EXP_INL_HPP
#undef ATTEST_FAST_EXP_INL_HPP
#else
#define ATTEST_FAST_EXP_INL_HPP
#endif

#include "attest/elementary/exp.hpp"
#include "attest/fast/pack-inl.hpp"

ATTEST_FAST_BEGIN
namespace attest::fast::ATTEST_FAST_TARGET {

inline constexpr double exp_least = -708, exp_greatest = 709;

/// x becomes e^x in each of several packs, for x <= 709 (beyond, anything). Off by at most exp_error_relative · e^x for −708 <= x; 0 below −708 and for −∞,
/// off by less than 2^−1021 there. NaN for NaN. Several at once, because each is a chain of operations that wait for one another.
template <std::size_t Packs> ATTEST_FAST_INLINE void exp_of(pack (&x)[Packs]) {
    const pack shift = pack::broadcast(integer_shift), one = pack::broadcast(1.0);
    pack power[Packs], r_high[Packs], r_low[Packs], r[Packs], series[Packs];
    ATTEST_FAST_UNROLL
    for (std::size_t i = 0; i < Packs; ++i) {
        const pack shifted = product(x[i], pack::broadcast(attest::detail::log2_e)) + shift;
        const pack k = shifted - shift;
        power[i] = power_of_two(shifted);
        r_high[i] = x[i] - product(k, pack::broadcast(attest::detail::ln2_high)); // exactly
        r_low[i] = product(k, pack::broadcast(attest::detail::ln2_low));
        r[i] = r_high[i] - r_low[i];
        series[i] = pack::broadcast(attest::detail::exp_coefficients[0]);
    }
    ATTEST_FAST_UNROLL
    for (std::size_t n = 1; n < sizeof attest::detail::exp_coefficients / sizeof(double); ++n) {
        ATTEST_FAST_UNROLL
        for (std::size_t i = 0; i < Packs; ++i)
            series[i] = multiply_add(series[i], r[i], pack::broadcast(attest::detail::exp_coefficients[n]));
    }
    ATTEST_FAST_UNROLL
    for (std::size_t i = 0; i < Packs; ++i) {
        const pack sum = one + r_high[i];
        const pack lost = (one - sum) + r_high[i];
        const pack e_r = sum + (lost + (product(product(r[i], r[i]), series[i]) - r_low[i]));
        x[i] = select(x[i] < pack::broadcast(exp_least), pack::zero(), product(e_r, power[i]));
    }
}
ATTEST_FAST_INLINE pack exp(pack x) {
    pack one[] = {x};
    exp_of(one);
    return one[0];
}

} // namespace attest::fast::ATTEST_FAST_TARGET
ATTEST_FAST_END

#endif
