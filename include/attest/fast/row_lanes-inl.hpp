// SPDX-License-Identifier: BSL-1.0
/// \file
/// The order in which rows are added up: in 8 lanes, and then the lanes in pairs.

#if defined(ATTEST_FAST_ROW_LANES_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTEST_FAST_ROW_LANES_INL_HPP
#undef ATTEST_FAST_ROW_LANES_INL_HPP
#else
#define ATTEST_FAST_ROW_LANES_INL_HPP
#endif

#include "attest/fast/pack-inl.hpp"

ATTEST_FAST_BEGIN
namespace attest::fast::ATTEST_FAST_TARGET {

// Sums of rows run in 8 lanes, in as many packs as that takes.
inline constexpr std::size_t row_lanes = pack::lanes < 8 ? 8 : pack::lanes;
static_assert(row_lanes == 8, "a wider vector would sum in another order");
inline constexpr std::size_t row_packs = row_lanes / pack::lanes;

// 8 lanes added in pairs: ((0 + 4) + (2 + 6)) + ((1 + 5) + (3 + 7)).
ATTEST_FAST_INLINE double sum_of_lanes(const pack (&lanes)[row_packs]) {
    double x[row_lanes];
    for (std::size_t v = 0; v < row_packs; ++v) lanes[v].store(x + v * pack::lanes);
    return ((x[0] + x[4]) + (x[2] + x[6])) + ((x[1] + x[5]) + (x[3] + x[7]));
}

} // namespace attest::fast::ATTEST_FAST_TARGET
ATTEST_FAST_END

#endif
