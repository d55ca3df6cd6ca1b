// SPDX-License-Identifier: BSL-1.0
/// \file
/// A pack of components of the values that a query sees (fast/limit_kernels.hpp).

#if defined(ATTEST_FAST_LIMIT_VALUES_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTEST_FAST_LIMIT_VALUES_INL_HPP
#undef ATTEST_FAST_LIMIT_VALUES_INL_HPP
#else
#define ATTEST_FAST_LIMIT_VALUES_INL_HPP
#endif

#include "attest/fast/limit_kernels.hpp"
#include "attest/fast/pack-inl.hpp"

ATTEST_FAST_BEGIN
namespace attest::fast::ATTEST_FAST_TARGET {

static_assert(limit_lanes % pack::lanes == 0);

// A pack of components of entry j's value; without its factor, and with it. (Not together in one struct: GCC 12 would write it to memory.)
ATTEST_FAST_INLINE pack given_value(const limit_values& values, std::size_t j, std::size_t e) { return pack::load(values.row[j] + e); }
template <bool factors> ATTEST_FAST_INLINE pack value_of(const limit_values& values, std::size_t j, pack given) {
    if constexpr (factors) return product(pack::broadcast(values.factor[j]), given);
    else return given;
}

} // namespace attest::fast::ATTEST_FAST_TARGET
ATTEST_FAST_END

#endif
