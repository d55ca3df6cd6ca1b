// SPDX-License-Identifier: BSL-1.0
/// \file
/// The kernels of fast/limit_kernels.hpp for limits of gradients: rows times coefficients. All products are exact (numbers in 26 bits), so that it does not
/// matter whether they are fused with a sum.

#if defined(ATTEST_FAST_LIMIT_ROWS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTEST_FAST_LIMIT_ROWS_INL_HPP
#undef ATTEST_FAST_LIMIT_ROWS_INL_HPP
#else
#define ATTEST_FAST_LIMIT_ROWS_INL_HPP
#endif

#include "attest/fast/limit_kernels.hpp"
#include "attest/fast/pack-inl.hpp"

ATTEST_FAST_BEGIN
namespace attest::fast::ATTEST_FAST_TARGET {

// Of an exact product: fused where that is one instruction.
ATTEST_FAST_INLINE pack native_multiply_add(pack a, pack b, pack c) {
    if constexpr (is_fused && pack::lanes > 1) return multiply_add(a, b, c);
    else return a * b + c;
}

// `packs` packs of components from e on; with `part`, the one pack that is not whole.
template <std::size_t packs, bool part, bool more> void row_sums_of(const row_sums_call& call, std::size_t e) {
    pack sum[packs];
    const std::size_t left = call.components - e;
    ATTEST_FAST_UNROLL
    for (std::size_t v = 0; v < packs; ++v) sum[v] = pack::zero();
    for (std::size_t l = 0; l < call.count; ++l) {
        const pack coefficient = pack::broadcast(call.coefficient[l]);
        const double* const row = call.row[l] + e;
        ATTEST_FAST_UNROLL
        for (std::size_t v = 0; v < packs; ++v) {
            const pack x = part ? load_first(row, left, 0.0) : pack::load(row + v * pack::lanes);
            if constexpr (more) sum[v] += native_multiply_add(coefficient, x, pack::broadcast(call.more[l]));
            else sum[v] = native_multiply_add(coefficient, x, sum[v]);
        }
    }
    ATTEST_FAST_UNROLL
    for (std::size_t v = 0; v < packs; ++v) {
        if (part) store_first(sum[v], call.sums + e, left);
        else sum[v].store(call.sums + e + v * pack::lanes);
    }
}
template <bool more> void row_sums_with(const row_sums_call& call) {
    constexpr std::size_t packs = 8;
    std::size_t e = 0;
    for (; e + packs * pack::lanes <= call.components; e += packs * pack::lanes) row_sums_of<packs, false, more>(call, e);
    for (; e + pack::lanes <= call.components; e += pack::lanes) row_sums_of<1, false, more>(call, e);
    if (e < call.components) row_sums_of<1, true, more>(call, e);
}
inline void row_sums(const row_sums_call& call) { call.more != nullptr ? row_sums_with<true>(call) : row_sums_with<false>(call); }

template <bool more> void add_to_rows_with(const add_to_rows_call& call) {
    for (std::size_t l = 0; l < call.count; ++l) {
        const pack coefficient = pack::broadcast(call.coefficient[l]), also = more ? pack::broadcast(call.more[l]) : pack::zero();
        double* const to = call.to[l];
        std::size_t e = 0;
        for (; e + pack::lanes <= call.components; e += pack::lanes) {
            const pack x = pack::load(call.x + e), before = pack::load(to + e);
            (more ? before + native_multiply_add(coefficient, x, also) : native_multiply_add(coefficient, x, before)).store(to + e);
        }
        if (e == call.components) continue;
        const std::size_t left = call.components - e;
        const pack x = load_first(call.x + e, left, 0.0), before = load_first(to + e, left, 0.0);
        store_first(more ? before + native_multiply_add(coefficient, x, also) : native_multiply_add(coefficient, x, before), to + e, left);
    }
}
inline void add_to_rows(const add_to_rows_call& call) { call.more != nullptr ? add_to_rows_with<true>(call) : add_to_rows_with<false>(call); }

} // namespace attest::fast::ATTEST_FAST_TARGET
ATTEST_FAST_END

#endif
