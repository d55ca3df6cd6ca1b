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
    if constexpr (has_fma && pack::lanes > 1) return multiply_add(a, b, c);
    else return a * b + c;
}

// `packs` packs of components from e on; with `part`, the one pack that is not whole.
template <std::size_t sets, std::size_t packs, bool part, bool more> void row_sums_of(const row_sums_call& call, std::size_t e) {
    pack sum[sets][packs];
    const std::size_t left = call.components - e;
    ATTEST_FAST_UNROLL
    for (std::size_t s = 0; s < sets; ++s) {
        ATTEST_FAST_UNROLL
        for (std::size_t v = 0; v < packs; ++v) sum[s][v] = pack::zero();
    }
    for (std::size_t l = 0; l < call.count; ++l) {
        const double* const row = call.row[l] + e;
        ATTEST_FAST_UNROLL
        for (std::size_t v = 0; v < packs; ++v) {
            const pack x = part ? load_first(row, left, 0.0) : pack::load(row + v * pack::lanes);
            ATTEST_FAST_UNROLL
            for (std::size_t s = 0; s < sets; ++s) {
                const pack coefficient = pack::broadcast(call.coefficient[s][l]);
                if constexpr (more) sum[s][v] += native_multiply_add(coefficient, x, pack::broadcast(call.more[l]));
                else sum[s][v] = native_multiply_add(coefficient, x, sum[s][v]);
            }
        }
    }
    ATTEST_FAST_UNROLL
    for (std::size_t s = 0; s < sets; ++s) {
        ATTEST_FAST_UNROLL
        for (std::size_t v = 0; v < packs; ++v) {
            if (part) store_first(sum[s][v], call.sums[s] + e, left);
            else sum[s][v].store(call.sums[s] + e + v * pack::lanes);
        }
    }
}
template <std::size_t sets, bool more> void row_sums_with(const row_sums_call& call) {
    constexpr std::size_t packs = registers >= 32 ? 8 : 4;
    std::size_t e = 0;
    for (; e + packs * pack::lanes <= call.components; e += packs * pack::lanes) row_sums_of<sets, packs, false, more>(call, e);
    for (; e + pack::lanes <= call.components; e += pack::lanes) row_sums_of<sets, 1, false, more>(call, e);
    if (e < call.components) row_sums_of<sets, 1, true, more>(call, e);
}
inline void row_sums(const row_sums_call& call) {
    if (call.more != nullptr) row_sums_with<1, true>(call);
    else call.sets == 1 ? row_sums_with<1, false>(call) : call.sets == 2 ? row_sums_with<2, false>(call) : row_sums_with<3, false>(call);
}

template <std::size_t packs, bool part, bool more> ATTEST_FAST_INLINE void add_products_to(const add_products_call& call, double* to, std::size_t k, std::size_t e) {
    pack sum[packs];
    const std::size_t left = call.components - e;
    ATTEST_FAST_UNROLL
    for (std::size_t v = 0; v < packs; ++v) sum[v] = part ? load_first(to + e, left, 0.0) : pack::load(to + e + v * pack::lanes);
    for (std::size_t r = 0; r < call.count; ++r) {
        const double c = call.coefficient[r * call.keys + k], also = more ? call.more[r * call.keys + k] : 0;
        if (c == 0 && also == 0) continue;
        const double* const row = call.x + r * call.components + e;
        ATTEST_FAST_UNROLL
        for (std::size_t v = 0; v < packs; ++v) {
            const pack x = part ? load_first(row, left, 0.0) : pack::load(row + v * pack::lanes);
            if constexpr (more) sum[v] += native_multiply_add(pack::broadcast(c), x, pack::broadcast(also));
            else sum[v] = native_multiply_add(pack::broadcast(c), x, sum[v]);
        }
    }
    ATTEST_FAST_UNROLL
    for (std::size_t v = 0; v < packs; ++v) {
        if (part) store_first(sum[v], to + e, left);
        else sum[v].store(to + e + v * pack::lanes);
    }
}
template <bool more> void add_products_with(const add_products_call& call) {
    constexpr std::size_t packs = 8;
    for (std::size_t k = 0; k < call.keys; ++k) {
        double* const to = call.to + k * call.components;
        std::size_t e = 0;
        for (; e + packs * pack::lanes <= call.components; e += packs * pack::lanes) add_products_to<packs, false, more>(call, to, k, e);
        for (; e + pack::lanes <= call.components; e += pack::lanes) add_products_to<1, false, more>(call, to, k, e);
        if (e < call.components) add_products_to<1, true, more>(call, to, k, e);
    }
}
inline void add_products(const add_products_call& call) { call.more != nullptr ? add_products_with<true>(call) : add_products_with<false>(call); }

} // namespace attest::fast::ATTEST_FAST_TARGET
ATTEST_FAST_END

#endif
