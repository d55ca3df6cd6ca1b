// SPDX-License-Identifier: BSL-1.0
/// \file
/// What the second rung (oracle/double_double_rows.hpp) does between its matrix products, on unevaluated sums of two doubles. kernels.hpp says what each of them loses.

#if defined(ATTEST_FAST_ROWS_IN_TWO_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTEST_FAST_ROWS_IN_TWO_INL_HPP
#undef ATTEST_FAST_ROWS_IN_TWO_INL_HPP
#else
#define ATTEST_FAST_ROWS_IN_TWO_INL_HPP
#endif

#include "attest/fast/exp_in_two-inl.hpp"
#include "attest/fast/exponentials-inl.hpp"
#include "attest/fast/kernels.hpp"

ATTEST_FAST_BEGIN
namespace attest::fast::ATTEST_FAST_TARGET {

// See kernels::scale_scores.
inline void scale_scores(const scale_scores_call& call) {
    const pack scale_high = pack::broadcast(call.scale_high), scale_low = pack::broadcast(call.scale_low);
    const std::size_t padded = (call.n + row_lanes - 1) / row_lanes * row_lanes;
    for (std::size_t i = 0; i < call.m; ++i) {
        const auto row = static_cast<std::ptrdiff_t>(i);
        double *high = call.high + row * call.s_row, *low = call.low + row * call.s_row;
        const double* bias = call.mask.bias != nullptr ? call.mask.bias + row * call.mask.bias_row : nullptr;
        for (std::size_t j = 0; j < call.n; j += pack::lanes) {
            const pack_pair sum = sum_of(pack::load(high + j), pack::load(low + j));
            const pack p = product(sum.high, scale_high);
            const pack lost = multiply_add(sum.high, scale_high, -p);
            const pack rest = multiply_add(sum.low, scale_high, multiply_add(sum.high, scale_low, product(sum.low, scale_low)));
            pack_pair s = ordered_sum(p, lost + rest);
            if (bias != nullptr) {
                const std::size_t count = call.n - j < pack::lanes ? call.n - j : pack::lanes;
                const pack_pair with = sum_of(s.high, load_first(bias + j, count, 0));
                s = sum_of(with.high, with.low + s.low);
            }
            s.high.store(high + j);
            s.low.store(low + j);
        }
        for (std::size_t j = call.n; j < padded; ++j) {
            high[j] = minus_infinite;
            low[j] = 0;
        }
        if (call.mask.seen != nullptr) {
            const unsigned char* seen = call.mask.seen + row * call.mask.seen_row;
            for (std::size_t j = 0; j < call.n; ++j)
                if (seen[j] == 0) {
                    high[j] = minus_infinite;
                    low[j] = 0;
                }
        }
        const double greatest = greatest_of(high, padded);
        if (greatest > call.maximum[i]) call.maximum[i] = greatest;
    }
}

// One row of `Groups` times 8 keys: p = exp(s − shift), and what is added to the sums.
template <std::size_t Groups>
ATTEST_FAST_INLINE void exponentials_in_two_of_some(const double* high, const double* low, double* p_high, double* p_low, pack shift,
                                                    pack (&sum_high)[row_packs], pack (&sum_low)[row_packs], pack (&squares)[row_packs]) {
    constexpr std::size_t packs = Groups * row_packs;
    pack_pair p[packs];
    ATTEST_FAST_UNROLL
    for (std::size_t v = 0; v < packs; ++v) {
        // −∞ would make NaN, and low parts far below the shift can be great; from 1000 below it on, all is 0.
        const pack score = pack::load(high + v * pack::lanes), least = shift - pack::broadcast(1000);
        const pack_mask below = score < least;
        const pack_pair difference = sum_of(select(below, least, score), -shift);
        p[v] = sum_of(difference.high, difference.low + select(below, pack::zero(), pack::load(low + v * pack::lanes)));
    }
    exp_in_two(p);
    ATTEST_FAST_UNROLL
    for (std::size_t v = 0; v < packs; ++v) {
        const std::size_t at = v * pack::lanes;
        p[v].high.store(p_high + at);
        p[v].low.store(p_low + at);
        const pack_pair sum = sum_of(sum_high[v % row_packs], p[v].high);
        sum_high[v % row_packs] = sum.high;
        sum_low[v % row_packs] += sum.low + p[v].low;
        squares[v % row_packs] = multiply_add(p[v].high, p[v].high, squares[v % row_packs]);
    }
}

// See kernels::exponentials_in_two.
inline void exponentials_in_two(const exponentials_in_two_call& call) {
    constexpr std::size_t at_once = row_packs < 2 ? 2 / row_packs : 1;
    const std::size_t padded = (call.n + row_lanes - 1) / row_lanes * row_lanes, most = padded / (at_once * row_lanes) * (at_once * row_lanes);
    for (std::size_t i = 0; i < call.m; ++i) {
        const auto row = static_cast<std::ptrdiff_t>(i);
        const double *high = call.high + row * call.s_row, *low = call.low + row * call.s_row;
        double *p_high = call.p_high + row * call.p_row, *p_low = call.p_low + row * call.p_row;
        double* sums = call.sums + row * static_cast<std::ptrdiff_t>(3 * row_lanes);
        const pack shift = pack::broadcast(call.maximum[i] == minus_infinite ? 0.0 : call.maximum[i]);
        pack sum_high[row_packs], sum_low[row_packs], squares[row_packs];
        for (std::size_t v = 0; v < row_packs; ++v) {
            sum_high[v] = sum_low[v] = squares[v] = pack::zero();
        }
        std::size_t j = 0;
        for (; j < most; j += at_once * row_lanes)
            exponentials_in_two_of_some<at_once>(high + j, low + j, p_high + j, p_low + j, shift, sum_high, sum_low, squares);
        for (; j < padded; j += row_lanes)
            exponentials_in_two_of_some<1>(high + j, low + j, p_high + j, p_low + j, shift, sum_high, sum_low, squares);
        for (std::size_t v = 0; v < row_packs; ++v) {
            sum_high[v].store(sums + v * pack::lanes);
            sum_low[v].store(sums + row_lanes + v * pack::lanes);
            squares[v].store(sums + 2 * row_lanes + v * pack::lanes);
        }
    }
}

// See kernels::quotients.
inline void quotients(const quotients_call& call) {
    for (std::size_t i = 0; i < call.m; ++i) {
        const pack divisor_high = pack::broadcast(call.divisor_high[i]), divisor_low = pack::broadcast(call.divisor_low[i]);
        for (std::size_t j = 0; j < call.n; j += pack::lanes) {
            const std::size_t count = call.n - j < pack::lanes ? call.n - j : pack::lanes, at = i * call.n + j;
            const pack_pair sum = sum_of(load_first(call.high + at, count, 0), load_first(call.low + at, count, 0));
            const pack q = sum.high / divisor_high;
            const pack rest = multiply_subtract_from(q, divisor_high, sum.high) + multiply_subtract_from(q, divisor_low, sum.low);
            const pack_pair result = ordered_sum(q, rest / divisor_high);
            store_first(result.high, call.high + at, count);
            store_first(result.low, call.low + at, count);
        }
    }
}

} // namespace attest::fast::ATTEST_FAST_TARGET
ATTEST_FAST_END

#endif
