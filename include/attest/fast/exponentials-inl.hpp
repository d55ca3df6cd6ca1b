// SPDX-License-Identifier: BSL-1.0
/// \file
/// The exponentials of rows of scores, exp(s_ij − max_j s_ij), and their sums, with masks.

#if defined(ATTEST_FAST_EXPONENTIALS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTEST_FAST_EXPONENTIALS_INL_HPP
#undef ATTEST_FAST_EXPONENTIALS_INL_HPP
#else
#define ATTEST_FAST_EXPONENTIALS_INL_HPP
#endif

#include "attest/fast/exp-inl.hpp"
#include "attest/fast/kernels.hpp"
#include "attest/fast/row_lanes-inl.hpp"

ATTEST_FAST_BEGIN
namespace attest::fast::ATTEST_FAST_TARGET {

ATTEST_FAST_INLINE double greatest_of_lanes(const pack (&lanes)[row_packs]) {
    double x[row_lanes];
    for (std::size_t v = 0; v < row_packs; ++v) lanes[v].store(x + v * pack::lanes);
    for (std::size_t half = row_lanes / 2; half > 0; half /= 2)
        for (std::size_t i = 0; i < half; ++i) x[i] = x[i] > x[i + half] ? x[i] : x[i + half];
    return x[0];
}

inline constexpr double minus_infinite = -attest::detail::infinity_of_double;

// s where it may be seen, −∞ elsewhere: the scores of one row, in p.
inline void hide(const double* s, std::size_t n, double* p, const unsigned char* seen) {
    for (std::size_t j = 0; j < n; ++j) p[j] = seen[j] != 0 ? s[j] : minus_infinite;
}
// s + bias, in p.
inline void add_bias(const double* s, std::size_t n, double* p, const double* bias) {
    for (std::size_t j = 0; j < n; j += pack::lanes) {
        const std::size_t count = n - j < pack::lanes ? n - j : pack::lanes;
        store_first(load_first(s + j, count, 0) + load_first(bias + j, count, 0), p + j, count);
    }
}

inline double greatest_of(const double* s, std::size_t n) {
    pack greatest[row_packs];
    for (std::size_t v = 0; v < row_packs; ++v) greatest[v] = pack::broadcast(minus_infinite);
    const std::size_t whole = n / row_lanes * row_lanes;
    for (std::size_t j = 0; j < whole; j += row_lanes)
        for (std::size_t v = 0; v < row_packs; ++v) greatest[v] = maximum(pack::load(s + j + v * pack::lanes), greatest[v]);
    for (std::size_t j = whole, v = 0; j < n; j += pack::lanes, ++v)
        greatest[v] = maximum(load_first(s + j, n - j < pack::lanes ? n - j : pack::lanes, minus_infinite), greatest[v]);
    return greatest_of_lanes(greatest);
}

// p = exp(s − shift) for `Rows` times 8 scores, added to the sums.
template <std::size_t Rows> ATTEST_FAST_INLINE void exponentials_of_some(const double* s, double* p, pack shift, pack (&sums)[row_packs]) {
    pack e[Rows * row_packs];
    ATTEST_FAST_UNROLL
    for (std::size_t v = 0; v < Rows * row_packs; ++v) e[v] = pack::load(s + v * pack::lanes) - shift;
    exp_of(e);
    ATTEST_FAST_UNROLL
    for (std::size_t v = 0; v < Rows * row_packs; ++v) {
        e[v].store(p + v * pack::lanes);
        sums[v % row_packs] += e[v];
    }
}

// p = exp(s − shift), and their sum.
inline double exponentials_of(const double* s, std::size_t n, double* p, double shift) {
    constexpr std::size_t at_once = row_packs < 4 ? 4 / row_packs : 1;
    const pack from = pack::broadcast(shift);
    pack sums[row_packs];
    for (std::size_t v = 0; v < row_packs; ++v) sums[v] = pack::zero();
    const std::size_t whole = n / row_lanes * row_lanes, most = n / (at_once * row_lanes) * (at_once * row_lanes);
    for (std::size_t j = 0; j < most; j += at_once * row_lanes) exponentials_of_some<at_once>(s + j, p + j, from, sums);
    for (std::size_t j = most; j < whole; j += row_lanes) exponentials_of_some<1>(s + j, p + j, from, sums);
    for (std::size_t j = whole, v = 0; j < n; j += pack::lanes, ++v) {
        const std::size_t count = n - j < pack::lanes ? n - j : pack::lanes;
        const pack e = exp(load_first(s + j, count, minus_infinite) - from);
        store_first(e, p + j, count);
        sums[v] += e;
    }
    return sum_of_lanes(sums);
}

// See kernels::exponentials.
inline void exponentials(const exponentials_call& call) {
    const visibility& mask = call.mask;
    for (std::size_t i = 0; i < call.m; ++i) {
        const auto row = static_cast<std::ptrdiff_t>(i);
        std::size_t first = mask.first != nullptr ? mask.first[i] : 0, last = mask.last != nullptr ? mask.last[i] : call.n;
        if (last > call.n) last = call.n;
        if (first > last) first = last;
        const double* s = call.s + row * call.s_row + first;
        double* p = call.p + row * call.p_row;
        for (std::size_t j = 0; j < first; ++j) p[j] = 0;
        for (std::size_t j = last; j < call.n; ++j) p[j] = 0;
        p += first;
        if (mask.bias != nullptr) {
            add_bias(s, last - first, p, mask.bias + row * mask.bias_row + first);
            s = p;
        }
        if (mask.seen != nullptr) {
            hide(s, last - first, p, mask.seen + row * mask.seen_row + first);
            s = p;
        }
        const double greatest = call.given ? call.maximum[i] : greatest_of(s, last - first); // of the visible scores
        call.maximum[i] = greatest;
        // Where nothing is visible, all of it is 0 after any finite shift.
        call.sum[i] = exponentials_of(s, last - first, p, greatest == minus_infinite ? 0.0 : greatest);
    }
}

} // namespace attest::fast::ATTEST_FAST_TARGET
ATTEST_FAST_END

#endif
