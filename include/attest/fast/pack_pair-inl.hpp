// SPDX-License-Identifier: BSL-1.0
/// \file
/// Unevaluated sums of two doubles, in lanes: what arithmetic/double_double.hpp rests on.

#if defined(ATTEST_FAST_PACK_PAIR_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTEST_FAST_PACK_PAIR_INL_HPP
#undef ATTEST_FAST_PACK_PAIR_INL_HPP
#else
#define ATTEST_FAST_PACK_PAIR_INL_HPP
#endif

#include "attest/fast/pack-inl.hpp"

ATTEST_FAST_BEGIN
namespace attest::fast::ATTEST_FAST_TARGET {

struct pack_pair {
    pack high, low;
};

/// a + b exactly (2Sum).
ATTEST_FAST_INLINE pack_pair sum_of(pack a, pack b) {
    const pack sum = a + b, b_in_sum = sum - a;
    return {sum, (a - (sum - b_in_sum)) + (b - b_in_sum)};
}
/// a + b exactly, where |a| >= |b| or a = 0 (Fast2Sum).
ATTEST_FAST_INLINE pack_pair ordered_sum(pack a, pack b) {
    const pack sum = a + b;
    return {sum, b - (sum - a)};
}

} // namespace attest::fast::ATTEST_FAST_TARGET
ATTEST_FAST_END

#endif
