// SPDX-License-Identifier: BSL-1.0
/// \file
/// The kernels of fast/limit_kernels.hpp for a row's weights: exponentials, and what weights grow and shrink to.

#if defined(ATTEST_FAST_LIMIT_WEIGHTS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTEST_FAST_LIMIT_WEIGHTS_INL_HPP
#undef ATTEST_FAST_LIMIT_WEIGHTS_INL_HPP
#else
#define ATTEST_FAST_LIMIT_WEIGHTS_INL_HPP
#endif

#include "attest/elementary/exp.hpp"
#include "attest/fast/exponentials-inl.hpp"
#include "attest/fast/limit_kernels.hpp"

ATTEST_FAST_BEGIN
namespace attest::fast::ATTEST_FAST_TARGET {

// Below log(2)/2 the k of attest::exp is 0, and what is left of its operations is this.
inline constexpr double near_zero = 0.34;
ATTEST_FAST_INLINE pack exp_near_zero(pack x) {
    pack series = pack::broadcast(attest::detail::exp_coefficients[0]);
    ATTEST_FAST_UNROLL
    for (std::size_t n = 1; n < sizeof attest::detail::exp_coefficients / sizeof(double); ++n)
        series = product(series, x) + pack::broadcast(attest::detail::exp_coefficients[n]);
    const pack one = pack::broadcast(1.0), sum = one + x, lost = (one - sum) + x;
    return sum + (lost + product(product(x, x), series));
}
ATTEST_FAST_INLINE pack exp_of_lanes(pack x) {
    if (all_of(absolute(x) < pack::broadcast(near_zero))) return exp_near_zero(x);
    double lanes[pack::lanes];
    x.store(lanes);
    for (double& one : lanes) one = attest::exp(one);
    return pack::load(lanes);
}
inline void exponentials_of_any(const double* x, std::size_t count, double* to) {
    for (std::size_t j = 0; j < count; j += pack::lanes) {
        const std::size_t here = count - j < pack::lanes ? count - j : pack::lanes;
        store_first(exp_of_lanes(load_first(x + j, here, 0.0)), to + j, here);
    }
}

// e^x and e^−x for |x| <= 2^−6, from their even and odd parts. What is left out is below x^8/40320 <= 2^−63.
inline constexpr double both_ways = 0x1p-6;
struct exp_pair {
    pack up, down;
};
ATTEST_FAST_INLINE exp_pair exp_both_ways(pack x) {
    const auto all = [](double number) { return pack::broadcast(number); };
    const pack square = product(x, x), even = all(1) + product(square, all(1 / 2.0) + product(square, all(1 / 24.0) + product(square, all(1 / 720.0)))),
               odd = product(x, all(1) + product(square, all(1 / 6.0) + product(square, all(1 / 120.0) + product(square, all(1 / 5040.0)))));
    return {even + odd, even - odd};
}
ATTEST_FAST_INLINE exp_pair exp_both_ways_of_any(pack x) { return {exp_of_lanes(x), exp_of_lanes(-x)}; }

template <bool near> void grow_weights(const grown_weights_call& call, grown_weights_sums& to) {
    const pack slack = pack::broadcast(call.slack);
    pack raised_sums[row_packs], shrunk_sums[row_packs], more_sums[row_packs];
    for (std::size_t v = 0; v < row_packs; ++v) raised_sums[v] = shrunk_sums[v] = more_sums[v] = pack::zero();
    for (std::size_t first = 0; first < call.count; first += row_lanes) {
        ATTEST_FAST_UNROLL
        for (std::size_t v = 0; v < row_packs; ++v) {
            const std::size_t j = first + v * pack::lanes;
            if (j >= call.count) break;
            const std::size_t here = call.count - j < pack::lanes ? call.count - j : pack::lanes;
            const pack w = load_first(call.weight + j, here, 0.0), bound = load_first(call.log_weight + j, here, 0.0);
            const exp_pair e = near ? exp_both_ways(bound) : exp_both_ways_of_any(bound);
            const pack raised = product(w, product(product(bound, e.up), slack));
            if (call.grown != nullptr) store_first(product(w, e.up), call.grown + j, here);
            store_first(raised, call.raised + j, here);
            raised_sums[v] += raised;
            shrunk_sums[v] += product(w, e.down);
            more_sums[v] += w + raised;
        }
    }
    to.raised = sum_of_lanes(raised_sums);
    to.shrunk = sum_of_lanes(shrunk_sums);
    to.more = sum_of_lanes(more_sums);
}
// The least of a row's numbers, and the greatest.
ATTEST_FAST_INLINE double least_of(const double* x, std::size_t count) {
    pack least = pack::broadcast(attest::detail::infinity_of_double);
    for (std::size_t j = 0; j < count; j += pack::lanes) least = minimum(load_first(x + j, count - j < pack::lanes ? count - j : pack::lanes, x[j]), least);
    double lanes[pack::lanes], all = attest::detail::infinity_of_double;
    least.store(lanes);
    for (const double one : lanes) all = one < all ? one : all;
    return all;
}
inline grown_weights_sums grown_weights(const grown_weights_call& call) {
    grown_weights_sums sums{least_of(call.weight, call.count), greatest_of(call.log_weight, call.count), 0, 0, 0};
    const bool near = sums.greatest_log_weight <= both_ways && -both_ways <= least_of(call.log_weight, call.count);
    near ? grow_weights<true>(call, sums) : grow_weights<false>(call, sums);
    return sums;
}

} // namespace attest::fast::ATTEST_FAST_TARGET
ATTEST_FAST_END

#endif
