// SPDX-License-Identifier: BSL-1.0
/// \file
/// What the second rung (oracle/sliced_rows.hpp) does between its matrix products, on unevaluated sums of two doubles. kernels.hpp says what each of them loses.

#if defined(ATTEST_FAST_SLICED_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTEST_FAST_SLICED_INL_HPP
#undef ATTEST_FAST_SLICED_INL_HPP
#else
#define ATTEST_FAST_SLICED_INL_HPP
#endif

#include "attest/fast/exp_in_two-inl.hpp"
#include "attest/fast/exponentials-inl.hpp"
#include "attest/fast/kernels.hpp"

ATTEST_FAST_BEGIN
namespace attest::fast::ATTEST_FAST_TARGET {

// See kernels::join_scores.
inline void join_scores(const join_call& call) {
    const pack scale_high = pack::broadcast(call.scale_high), scale_low = pack::broadcast(call.scale_low);
    const std::size_t padded = (call.n + row_lanes - 1) / row_lanes * row_lanes;
    for (std::size_t i = 0; i < call.m; ++i) {
        const auto row = static_cast<std::ptrdiff_t>(i);
        const double *a = call.a + row * call.row, *b = call.b + row * call.row, *c = call.c + row * call.row;
        double *high = call.high + row * call.s_row, *low = call.low + row * call.s_row;
        const double* bias = call.mask.bias != nullptr ? call.mask.bias + row * call.mask.bias_row : nullptr;
        for (std::size_t j = 0; j < call.n; j += pack::lanes) {
            const pack_pair most = sum_of(pack::load(a + j), pack::load(b + j));
            const pack_pair sum = sum_of(most.high, most.low + pack::load(c + j));
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

// One row of `Groups` times 8 keys: p = exp(s − shift), the slices of p, and what is added to the sums.
template <std::size_t Groups>
ATTEST_FAST_INLINE void exponentials_in_two_of_some(const double* high, const double* low, double* p_high, double* p_low, double* slices, std::ptrdiff_t next, pack shift,
                                                    pack (&sum_high)[row_packs], pack (&sum_low)[row_packs], pack (&squares)[row_packs]) {
    constexpr std::size_t packs = Groups * row_packs;
    // What rounds to a multiple of 2^−23, of 2^−46, when it is added and subtracted.
    const pack to_first = pack::broadcast(1.5 * attest::detail::power_of_two(52 - weight_bits)), to_second = pack::broadcast(1.5 * attest::detail::power_of_two(52 - 2 * weight_bits));
    pack_pair p[packs];
    ATTEST_FAST_UNROLL
    for (std::size_t v = 0; v < packs; ++v) {
        // −∞ would make NaN; 1000 below the shift, all is 0.
        const pack_pair difference = sum_of(maximum(pack::load(high + v * pack::lanes), shift - pack::broadcast(1000)), -shift);
        p[v] = sum_of(difference.high, difference.low + pack::load(low + v * pack::lanes));
    }
    exp_in_two(p);
    ATTEST_FAST_UNROLL
    for (std::size_t v = 0; v < packs; ++v) {
        const std::size_t at = v * pack::lanes;
        p[v].high.store(p_high + at);
        p[v].low.store(p_low + at);
        if (slices != nullptr) {
            const pack first = (p[v].high + to_first) - to_first, after_first = p[v].high - first;
            const pack second = (after_first + to_second) - to_second, third = (after_first - second) + p[v].low;
            double* const to = slices + at;
            first.store(to);
            second.store(to + next);
            third.store(to + 2 * next);
            (second + third).store(to + 3 * next);
        }
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
        double* slices = call.slices != nullptr ? call.slices + row * call.slice_row : nullptr;
        double* sums = call.sums + row * static_cast<std::ptrdiff_t>(3 * row_lanes);
        const pack shift = pack::broadcast(call.maximum[i] == minus_infinite ? 0.0 : call.maximum[i]);
        pack sum_high[row_packs], sum_low[row_packs], squares[row_packs];
        for (std::size_t v = 0; v < row_packs; ++v) {
            sum_high[v] = pack::load(sums + v * pack::lanes);
            sum_low[v] = pack::load(sums + row_lanes + v * pack::lanes);
            squares[v] = pack::load(sums + 2 * row_lanes + v * pack::lanes);
        }
        std::size_t j = 0;
        for (; j < most; j += at_once * row_lanes)
            exponentials_in_two_of_some<at_once>(high + j, low + j, p_high + j, p_low + j, slices != nullptr ? slices + j : nullptr, call.next_slice, shift, sum_high, sum_low, squares);
        for (; j < padded; j += row_lanes)
            exponentials_in_two_of_some<1>(high + j, low + j, p_high + j, p_low + j, slices != nullptr ? slices + j : nullptr, call.next_slice, shift, sum_high, sum_low, squares);
        for (std::size_t v = 0; v < row_packs; ++v) {
            sum_high[v].store(sums + v * pack::lanes);
            sum_low[v].store(sums + row_lanes + v * pack::lanes);
            squares[v].store(sums + 2 * row_lanes + v * pack::lanes);
        }
    }
}

// See kernels::add_to_pairs.
inline void add_to_pairs(const double* x, std::size_t n, double* high, double* low) {
    for (std::size_t j = 0; j < n; j += pack::lanes) {
        const std::size_t count = n - j < pack::lanes ? n - j : pack::lanes;
        const pack_pair sum = sum_of(load_first(high + j, count, 0), load_first(x + j, count, 0));
        store_first(sum.high, high + j, count);
        store_first(load_first(low + j, count, 0) + sum.low, low + j, count);
    }
}

// See kernels::quotients.
inline void quotients(const quotients_call& call) {
    for (std::size_t i = 0; i < call.m; ++i) {
        const pack divisor_high = pack::broadcast(call.divisor_high[i]), divisor_low = pack::broadcast(call.divisor_low[i]);
        for (std::size_t j = 0; j < call.n; j += pack::lanes) {
            const std::size_t count = call.n - j < pack::lanes ? call.n - j : pack::lanes, at = i * call.n + j;
            const auto load = [&](const double* x) { return load_first(x + at, count, 0); };
            const pack_pair most = sum_of(load(call.a_high), load(call.b_high));
            const pack_pair sum = sum_of(most.high, (load(call.a_low) + load(call.b_low)) + (most.low + load(call.c)));
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
