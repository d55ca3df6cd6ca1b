// SPDX-License-Identifier: BSL-1.0
/// \file
/// The kernels of fast/limit_kernels.hpp: a pack of components at a time, over all entries of the row.

#if defined(ATTEST_FAST_LIMIT_SUMS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTEST_FAST_LIMIT_SUMS_INL_HPP
#undef ATTEST_FAST_LIMIT_SUMS_INL_HPP
#else
#define ATTEST_FAST_LIMIT_SUMS_INL_HPP
#endif

#include "attest/arithmetic/power_of_two.hpp"
#include "attest/fast/limit_values-inl.hpp"

ATTEST_FAST_BEGIN
namespace attest::fast::ATTEST_FAST_TARGET {

// o, in a pack of components.
struct exact_pack {
    pack exact, size;
    ATTEST_FAST_INLINE exact_pack(const limit_values& values, std::size_t e) : exact{pack::load(values.exact + e)}, size{absolute(exact)} {}
    // |v − o|: v − o as computed is off by the rounding of o as well. NaN for NaN.
    ATTEST_FAST_INLINE pack distance(pack x, pack size_of_value) const {
        return select(x == pack::zero(), pack::zero(), absolute(x) + product(pack::broadcast(0x1p-51), size_of_value + size));
    }
};

template <bool factors> void size_sums_of(const size_sums_call& call) {
    using term = size_sums_call;
    for (std::size_t e = 0; e < call.v.components; e += pack::lanes) {
        const exact_pack o(call.v, e);
        const pack of_size = pack::broadcast(call.of_size), of_exact = product(pack::broadcast(call.of_exact), o.size),
                   expected_of_size = pack::broadcast(call.expected_of_size), infinity = pack::broadcast(attest::detail::infinity_of_double);
        pack sum = pack::zero(), greatest = sum, low = infinity, high = -infinity, absolute_sum = pack::broadcast(call.start), expected = sum;
        for (std::size_t j = 0; j < call.v.entries; ++j) {
            const pack given = given_value(call.v, j, e), v = value_of<factors>(call.v, j, given), size = absolute(v);
            sum += size;
            greatest = maximum(size, greatest);
            low = minimum(v, low);
            high = maximum(v, high);
            pack one = product(of_size, size) + of_exact;
            if (call.of_entry != nullptr) one += pack::broadcast(call.of_entry[j]);
            absolute_sum += one;
            if (call.behind != nullptr) absolute_sum += product(pack::broadcast(call.behind[j]), absolute(given));
            expected += product(expected_of_size, size);
        }
        double* const to = call.sums + e;
        sum.store(to + term::sum * call.stride);
        greatest.store(to + term::greatest * call.stride);
        low.store(to + term::low * call.stride);
        high.store(to + term::high * call.stride);
        absolute_sum.store(to + term::absolute * call.stride);
        expected.store(to + term::expected_absolute * call.stride);
    }
}
inline void size_sums(const size_sums_call& call) { call.v.factor != nullptr ? size_sums_of<true>(call) : size_sums_of<false>(call); }

template <bool factors, bool careful> void pair_sums_of(const pair_sums_call& call) {
    for (std::size_t e = 0; e < call.v.components; e += pack::lanes) {
        const exact_pack o(call.v, e);
        pack of_size = pack::zero(), of_distance = of_size;
        for (std::size_t j = 0; j < call.v.entries; ++j) {
            const pack given = given_value(call.v, j, e), v = value_of<factors>(call.v, j, given), size = absolute(v);
            const pack distance = o.distance(v - o.exact, size), c = pack::broadcast(call.coefficient[j]);
            if constexpr (careful) {
                of_size += select_or_zero(size > pack::zero(), product(c, size));
                of_distance += select_or_zero(distance > pack::zero(), product(c, distance));
            } else {
                of_size += product(c, size);
                of_distance += product(c, distance);
            }
            if (call.behind == nullptr) continue;
            const pack behind = product(pack::broadcast(call.behind[j]), absolute(given));
            of_size += behind;
            of_distance += behind;
        }
        of_size.store(call.sums + e);
        of_distance.store(call.sums + call.stride + e);
    }
}
inline void pair_sums(const pair_sums_call& call) {
    if (call.careful) call.v.factor != nullptr ? pair_sums_of<true, true>(call) : pair_sums_of<false, true>(call);
    else call.v.factor != nullptr ? pair_sums_of<true, false>(call) : pair_sums_of<false, false>(call);
}

template <bool factors> void score_sums_of(const score_sums_call& call) {
    using term = score_sums_call;
    for (std::size_t e = 0; e < call.v.components; e += pack::lanes) {
        const exact_pack o(call.v, e);
        pack above = pack::zero(), below = above, cheap = above, rounded = above, of_slope = above, of_scale = above;
        for (std::size_t j = 0; j < call.v.entries; ++j) {
            const pack given = given_value(call.v, j, e), v = value_of<factors>(call.v, j, given), size = absolute(v);
            const pack x = v - o.exact, distance = o.distance(x, size), bent = product(pack::broadcast(call.bent[j]), distance),
                       query = pack::broadcast(call.query[j]);
            const auto is_above = x > pack::zero();
            above += select_or_zero(is_above, bent);
            below += select(is_above, pack::zero(), bent);
            cheap += product(query, distance);
            rounded += product(query, size + o.size);
            of_slope += product(pack::broadcast(call.alibi[j]), x);
            of_scale += product(pack::broadcast(call.scaled[j]), x);
        }
        double* const to = call.sums + e;
        above.store(to + term::above * call.stride);
        below.store(to + term::below * call.stride);
        cheap.store(to + term::cheap * call.stride);
        rounded.store(to + term::rounded * call.stride);
        of_slope.store(to + term::of_slope * call.stride);
        of_scale.store(to + term::of_scale * call.stride);
    }
}
inline void score_sums(const score_sums_call& call) { call.v.factor != nullptr ? score_sums_of<true>(call) : score_sums_of<false>(call); }

template <bool factors, bool from_exact> void alike_of(const alike_call& call) {
    for (std::size_t e = 0; e < call.v.components; e += pack::lanes) {
        const exact_pack o(call.v, e);
        const auto amplitude = [&](std::size_t k) {
            const std::size_t j = call.order[k];
            const pack v = value_of<factors>(call.v, j, given_value(call.v, j, e));
            return product(pack::broadcast(call.amplitude[j]), from_exact ? v - o.exact : v);
        };
        pack sum = pack::zero();
        std::size_t first = 0;
        for (std::size_t r = 0; r < call.count; first = call.runs[r++].end) {
            const std::size_t end = call.runs[r].end;
            if (end - first == 1) {
                const pack one = amplitude(first);
                sum += product(one, one);
                continue;
            }
            pack total = pack::zero(), squares = total, sizes = total, partial = total;
            for (std::size_t k = first; k < end; ++k) {
                const pack one = amplitude(k);
                total += one;
                squares += product(one, one);
                sizes += absolute(one);
            }
            pack greatest = absolute(total);
            if (call.runs[r].spread > 0) // equal values do not part
                for (std::size_t k = first; k < end; ++k) {
                    partial += amplitude(k);
                    greatest = maximum(absolute(total - (partial + partial)), greatest);
                }
            const pack moved = maximum(square_root(squares), greatest) + product(pack::broadcast(call.runs[r].spread), sizes);
            sum += product(moved, moved);
        }
        sum.store(call.squares + e);
    }
}
inline void alike(const alike_call& call) {
    if (call.from_exact) call.v.factor != nullptr ? alike_of<true, true>(call) : alike_of<false, true>(call);
    else call.v.factor != nullptr ? alike_of<true, false>(call) : alike_of<false, false>(call);
}

} // namespace attest::fast::ATTEST_FAST_TARGET
ATTEST_FAST_END

#endif
