// SPDX-License-Identifier: BSL-1.0
/// \file
/// Attention of a head so small that calls, packing and lists would cost more than its numbers, in a shape that the compiler knows: what attend_block
/// (fast/attention_block.hpp) does with the kernels, operation by operation in the same order, and so with the same bits; in registers.

#if defined(ATTEST_FAST_TINY_ATTENTION_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTEST_FAST_TINY_ATTENTION_INL_HPP
#undef ATTEST_FAST_TINY_ATTENTION_INL_HPP
#else
#define ATTEST_FAST_TINY_ATTENTION_INL_HPP
#endif

#include "attest/elementary/log.hpp"
#include "attest/fast/exponentials-inl.hpp"
#include "attest/fast/kernels.hpp"

ATTEST_FAST_BEGIN
namespace attest::fast::ATTEST_FAST_TARGET {

/// The greatest length of an axis that is tiny: a row of scores is one sum of lanes.
inline constexpr std::size_t tiny = row_lanes;

template <std::size_t Count> ATTEST_FAST_INLINE pack load_known(const double* p, double rest) {
    if constexpr (Count >= pack::lanes) return pack::load(p);
    else return load_first(p, Count, rest);
}

// `Rows` rows of the output, from row i on. `keys`: Kᵀ, in rows of whole packs.
template <std::size_t Rows, std::size_t Keys, std::size_t D, std::size_t D_v>
ATTEST_FAST_INLINE void attend_tiny_rows(const strided& q, const double* keys, const strided& v, double scale, std::size_t i, double* out, double* lse) {
    constexpr std::size_t packs = (Keys + pack::lanes - 1) / pack::lanes, in_last = Keys - (packs - 1) * pack::lanes;
    pack s[Rows * packs];
    ATTEST_FAST_UNROLL
    for (std::size_t r = 0; r < Rows * packs; ++r) s[r] = pack::zero();
    ATTEST_FAST_UNROLL
    for (std::size_t c = 0; c < D; ++c) {
        ATTEST_FAST_UNROLL
        for (std::size_t r = 0; r < Rows; ++r) {
            const pack element = pack::broadcast(q.at[static_cast<std::ptrdiff_t>(i + r) * q.row + static_cast<std::ptrdiff_t>(c) * q.column]);
            ATTEST_FAST_UNROLL
            for (std::size_t w = 0; w < packs; ++w) s[r * packs + w] = multiply_add(element, pack::load(keys + (c * packs + w) * pack::lanes), s[r * packs + w]);
        }
    }
    double greatest[Rows], p[Rows][row_lanes], sum[Rows];
    ATTEST_FAST_UNROLL
    for (std::size_t r = 0; r < Rows; ++r) {
        pack most = pack::broadcast(minus_infinite);
        ATTEST_FAST_UNROLL
        for (std::size_t w = 0; w < packs; ++w) {
            pack& one = s[r * packs + w];
            if (scale != 1) one = product(one, pack::broadcast(scale));
            if (w + 1 == packs && in_last < pack::lanes) { // nothing behind the last key
                one.store(p[r]);
                one = load_known<in_last>(p[r], minus_infinite);
            }
            most = maximum(one, most);
        }
        double lanes[pack::lanes];
        most.store(lanes);
        greatest[r] = lanes[0];
        for (std::size_t l = 1; l < pack::lanes; ++l) greatest[r] = greatest[r] > lanes[l] ? greatest[r] : lanes[l];
        ATTEST_FAST_UNROLL
        for (std::size_t w = 0; w < packs; ++w) s[r * packs + w] -= pack::broadcast(greatest[r]);
    }
    exp_of(s);
    ATTEST_FAST_UNROLL
    for (std::size_t r = 0; r < Rows; ++r) {
        ATTEST_FAST_UNROLL
        for (std::size_t w = 0; w < row_packs; ++w) (w < packs ? s[r * packs + (w < packs ? w : 0)] : pack::zero()).store(p[r] + w * pack::lanes);
        const double* const x = p[r];
        sum[r] = ((x[0] + x[4]) + (x[2] + x[6])) + ((x[1] + x[5]) + (x[3] + x[7]));
        if (lse != nullptr) lse[i + r] = greatest[r] + attest::log(sum[r]);
    }
    ATTEST_FAST_UNROLL
    for (std::size_t e = 0; e < D_v; e += pack::lanes) {
        const std::size_t here = D_v - e < pack::lanes ? D_v - e : pack::lanes;
        pack sums[Rows];
        ATTEST_FAST_UNROLL
        for (std::size_t r = 0; r < Rows; ++r) sums[r] = pack::zero();
        ATTEST_FAST_UNROLL
        for (std::size_t j = 0; j < Keys; ++j) {
            const double* const row = v.at + static_cast<std::ptrdiff_t>(j) * v.row + e;
            const pack value = here == pack::lanes ? pack::load(row) : load_first(row, here, 0);
            ATTEST_FAST_UNROLL
            for (std::size_t r = 0; r < Rows; ++r) sums[r] = multiply_add(pack::broadcast(p[r][j]), value, sums[r]);
        }
        ATTEST_FAST_UNROLL
        for (std::size_t r = 0; r < Rows; ++r) {
            const pack mean = sums[r] / pack::broadcast(sum[r]);
            if (here == pack::lanes) mean.store(out + (i + r) * D_v + e);
            else store_first(mean, out + (i + r) * D_v + e, here);
        }
    }
}

/// All of a head whose queries see all keys. Shapes, at most `tiny` each: q Queries × D, k Keys × D, v Keys × D_v, v in columns that are neighbours; out
/// Queries × D_v, lse (or null) Queries.
template <std::size_t Queries, std::size_t Keys, std::size_t D, std::size_t D_v>
void attend_tiny(const strided& q, const strided& k, const strided& v, double scale, double* out, double* lse) {
    constexpr std::size_t packs = (Keys + pack::lanes - 1) / pack::lanes, at_once = packs < 4 ? 4 / packs : 1;
    double keys[D * packs * pack::lanes];
    if constexpr (Keys % pack::lanes != 0)
        for (double& one : keys) one = 0;
    ATTEST_FAST_UNROLL
    for (std::size_t c = 0; c < D; ++c) {
        ATTEST_FAST_UNROLL
        for (std::size_t j = 0; j < Keys; ++j) keys[c * packs * pack::lanes + j] = k.at[static_cast<std::ptrdiff_t>(j) * k.row + static_cast<std::ptrdiff_t>(c) * k.column];
    }
    std::size_t i = 0;
    for (; i + at_once <= Queries; i += at_once) attend_tiny_rows<at_once, Keys, D, D_v>(q, keys, v, scale, i, out, lse);
    for (; i < Queries; ++i) attend_tiny_rows<1, Keys, D, D_v>(q, keys, v, scale, i, out, lse);
}

} // namespace attest::fast::ATTEST_FAST_TARGET
ATTEST_FAST_END

#endif
