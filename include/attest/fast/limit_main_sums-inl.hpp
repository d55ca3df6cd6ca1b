// SPDX-License-Identifier: BSL-1.0
/// \file
/// main_sums of fast/limit_kernels.hpp, which the limits of all rows take most of their time for.
///
/// A block of entries at a time, whose values stay in the first cache: first the sums of distances, then those of terms, each of as many packs of components as
/// registers hold beside their sums.

#if defined(ATTEST_FAST_LIMIT_MAIN_SUMS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTEST_FAST_LIMIT_MAIN_SUMS_INL_HPP
#undef ATTEST_FAST_LIMIT_MAIN_SUMS_INL_HPP
#else
#define ATTEST_FAST_LIMIT_MAIN_SUMS_INL_HPP
#endif

#include "attest/fast/limit_values-inl.hpp"

ATTEST_FAST_BEGIN
namespace attest::fast::ATTEST_FAST_TARGET {

// Adds sums of distances over a block, for `packs` packs of components from e on.
template <bool factors, bool careful, bool all, std::size_t packs>
ATTEST_FAST_INLINE void add_distances(const main_sums_call& call, std::size_t first, std::size_t last, std::size_t e) {
    using term = main_sums_call;
    double* const to = call.sums + e;
    pack exact[packs], moved[packs], expected_moved[packs], expected_all[packs];
    ATTEST_FAST_UNROLL
    for (std::size_t i = 0; i < packs; ++i) {
        exact[i] = pack::load(call.v.exact + e + i * pack::lanes);
        moved[i] = expected_moved[i] = expected_all[i] = pack::zero();
    }
    for (std::size_t j = first; j < last; ++j) {
        const pack raised = pack::broadcast(call.raised[j]), expected_raised = pack::broadcast(call.expected_raised[j]);
        ATTEST_FAST_UNROLL
        for (std::size_t i = 0; i < packs; ++i) {
            const pack v = value_of<factors>(call.v, j, given_value(call.v, j, e + i * pack::lanes)), distance = absolute(v - exact[i]);
            if constexpr (careful) moved[i] += select_or_zero((distance > pack::zero()) & (raised > pack::zero()), product(raised, distance));
            else moved[i] += product(raised, distance);
            expected_moved[i] += product(expected_raised, distance);
            if constexpr (all) expected_all[i] += product(pack::broadcast(call.expected_most[j]), absolute(v));
        }
    }
    const auto add = [&](std::size_t of, const pack (&block)[packs]) {
        ATTEST_FAST_UNROLL
        for (std::size_t i = 0; i < packs; ++i) {
            double* const at = to + of * call.stride + i * pack::lanes;
            (pack::load(at) + block[i]).store(at);
        }
    };
    add(term::moved, moved);
    add(term::expected_moved, expected_moved);
    if constexpr (all) add(term::expected_all, expected_all);
}

// Adds sums of terms over a block. Entries come in pairs, so that no sum waits for each of them.
template <bool factors, std::size_t packs> ATTEST_FAST_INLINE void add_terms(const main_sums_call& call, std::size_t first, std::size_t last, std::size_t e) {
    using term = main_sums_call;
    pack prefix[packs], sizes[packs], squares[packs], greatest[packs];
    ATTEST_FAST_UNROLL
    for (std::size_t i = 0; i < packs; ++i) prefix[i] = sizes[i] = squares[i] = greatest[i] = pack::zero();
    for (std::size_t j = first; j < last; j += 2) {
        const bool alone = j + 1 == last; // the last of an odd number has itself beside it, with weight 0
        const std::size_t k = alone ? j : j + 1;
        const pack of_j = pack::broadcast(call.weight[j]), of_k = pack::broadcast(alone ? 0 : call.weight[k]);
        ATTEST_FAST_UNROLL
        for (std::size_t i = 0; i < packs; ++i) {
            const std::size_t at = e + i * pack::lanes;
            const pack s = product(of_j, value_of<factors>(call.v, j, given_value(call.v, j, at))), t = product(of_k, value_of<factors>(call.v, k, given_value(call.v, k, at)));
            prefix[i] += s + t;
            squares[i] += product(s, s) + product(t, t);
            const pack size_of_s = absolute(s), size_of_t = absolute(t);
            sizes[i] += size_of_s + size_of_t;
            greatest[i] = maximum(maximum(size_of_s, size_of_t), greatest[i]);
        }
    }
    ATTEST_FAST_UNROLL
    for (std::size_t i = 0; i < packs; ++i) {
        const auto at = [&](std::size_t of) { return call.sums + of * call.stride + e + i * pack::lanes; };
        const pack until_here = pack::load(at(term::prefix)) + prefix[i];
        until_here.store(at(term::prefix));
        minimum(until_here, pack::load(at(term::lowest))).store(at(term::lowest));
        maximum(until_here, pack::load(at(term::highest))).store(at(term::highest));
        (pack::load(at(term::sizes)) + sizes[i]).store(at(term::sizes));
        maximum(sizes[i], pack::load(at(term::greatest_block))).store(at(term::greatest_block));
        (pack::load(at(term::squares)) + squares[i]).store(at(term::squares));
        maximum(greatest[i], pack::load(at(term::greatest))).store(at(term::greatest));
    }
}

template <bool factors, bool careful, bool all> void main_sums_of(const main_sums_call& call) {
    using term = main_sums_call;
    constexpr std::size_t of_distances = (registers >= 32 ? 8 : 4) / (all ? 2 : 1), of_terms = registers >= 32 ? 4 : 2;
    const std::size_t padded = padded_to_lanes(call.v.components);
    for (std::size_t t = 0; t < term::terms; ++t)
        for (std::size_t e = 0; e < padded && (all || t != term::expected_all); e += pack::lanes) pack::zero().store(call.sums + t * call.stride + e);
    for (std::size_t first = 0; first < call.v.entries; first += term::partial_block) {
        const std::size_t last = call.v.entries - first < term::partial_block ? call.v.entries : first + term::partial_block;
        std::size_t e = 0;
        for (; e + of_distances * pack::lanes <= padded; e += of_distances * pack::lanes) add_distances<factors, careful, all, of_distances>(call, first, last, e);
        for (; e < padded; e += pack::lanes) add_distances<factors, careful, all, 1>(call, first, last, e);
        for (e = 0; e + of_terms * pack::lanes <= padded; e += of_terms * pack::lanes) add_terms<factors, of_terms>(call, first, last, e);
        for (; e < padded; e += pack::lanes) add_terms<factors, 1>(call, first, last, e);
    }
}
template <bool factors, bool careful> void main_sums_with(const main_sums_call& call) {
    call.expected_most != nullptr ? main_sums_of<factors, careful, true>(call) : main_sums_of<factors, careful, false>(call);
}
inline void main_sums(const main_sums_call& call) {
    if (call.v.factor != nullptr) call.careful ? main_sums_with<true, true>(call) : main_sums_with<true, false>(call);
    else call.careful ? main_sums_with<false, true>(call) : main_sums_with<false, false>(call);
}

template <bool factors> void partial_sums_of(const partial_sums_call& call) {
    for (std::size_t e = 0; e < call.v.components; e += pack::lanes) {
        pack sum = pack::zero(), low = sum, high = sum;
        for (std::size_t j = 0; j < call.v.entries; ++j) {
            sum += product(pack::broadcast(call.weight[j]), value_of<factors>(call.v, j, given_value(call.v, j, e)));
            low = minimum(sum, low);
            high = maximum(sum, high);
        }
        low.store(call.lowest + e);
        high.store(call.highest + e);
    }
}
inline void partial_sums(const partial_sums_call& call) { call.v.factor != nullptr ? partial_sums_of<true>(call) : partial_sums_of<false>(call); }

} // namespace attest::fast::ATTEST_FAST_TARGET
ATTEST_FAST_END

#endif
