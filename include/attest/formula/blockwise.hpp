// SPDX-License-Identifier: BSL-1.0
/// \file
/// Attention over blocks of keys with a running maximum, as fused kernels do it: the same value as `attention`, in memory that does not grow with the
/// number of keys (Milakov and Gimelshein, arXiv 1805.02867; Rabe and Staats, arXiv 2112.05682; FlashAttention, arXiv 2205.14135).
///
/// After each block, with the greatest score m so far:  l = Σ e^{s_j − m},  o = Σ e^{s_j − m} v_j.  A new maximum m' rescales both by e^{m − m'}.
#pragma once

#include "attest/formula/attention.hpp"

namespace attest {

/// What one query knows after some of the keys: shift m, denominator l, unnormalised output o.
template <class S, axis_type DV> struct running_softmax {
    S shift{0};
    S denominator{0};
    tensor<S, DV> output = {};
    bool any = false; ///< a visible key has been met; before that the shift means nothing

    /// Takes keys `first` to `last` (not included) of query i into account.
    template <vector_like Q, matrix_like K, matrix_like V, mask M, class Score>
    constexpr void add(const Q& q_i, const K& k, const V& v, std::size_t i, std::size_t first, std::size_t last, const M& mask, const Score& score) {
        auto s = tensor<S, axis<dynamic>>::with_lengths(last - first); // of this block alone
        S greatest = shift;
        bool found = any;
        for (std::size_t j = first; j < last; ++j)
            if (mask.visible(i, j)) {
                s(j - first) = with_bias(mask, i, j, S(score(q_i, k[j])));
                greatest = found ? shift_point(greatest, s(j - first)) : s(j - first);
                found = true;
            }
        if (!found) return;
        if (any) {
            const S rescale = attest::exp(shift - greatest);
            denominator = denominator * rescale;
            for (std::size_t c = 0; c < output.length(0); ++c) output(c) = output(c) * rescale;
        }
        shift = greatest;
        any = true;
        for (std::size_t j = first; j < last; ++j)
            if (mask.visible(i, j)) {
                const S p = attest::exp(s(j - first) - shift);
                denominator = denominator + p;
                for (std::size_t c = 0; c < output.length(0); ++c) output(c) = output(c) + p * v(j, c);
            }
    }
};

/// Attention, `block` keys at a time. Shapes: Q n_q × d_q, K n_k × d_k, V n_k × d_v → n_q × d_v. The value is that of `attention` for every block size
/// of at least 1 (shape_error for 0), as long as the scores are finite. A row without a visible key is zero, or NaN. Masks with a factor or a sink are
/// not for this form.
template <matrix_like Q, matrix_like K, matrix_like V, mask M = everything, class Score = scaled_by_dimension>
[[nodiscard]] constexpr auto blockwise_attention(const Q& q, const K& k, const V& v, std::size_t block, const M& mask = {}, const Score& score = {},
                                                 empty_row on_empty = empty_row::zero) {
    using S = scalar_of<Q>;
    static_assert(!detail::has_factor<M> && !detail::has_sink<M>, "blockwise_attention takes masks without dropout and without a sink");
    rules::index_in_range::check(0, block);
    check_score<axis_of<Q, 1>, axis_of<K, 1>>(score, q.length(1), k.length(1));
    rules::value_for_each_key::check<axis_of<K, 0>, axis_of<V, 0>>(k.length(0), v.length(0));
    check_mask<axis_of<Q, 0>, axis_of<K, 0>>(mask, q.length(0), k.length(0));
    auto z = tensor<S, axis_of<Q, 0>, axis_of<V, 1>>::with_lengths(q.length(0), v.length(1));
    if constexpr (score_fits<Score, axis_of<Q, 1>, axis_of<K, 1>>() && rules::value_for_each_key::holds<axis_of<K, 0>, axis_of<V, 0>>) {
        decltype(auto) scored = score_of_dimension<S>(score, q.length(1));
        for (std::size_t i = 0; i < q.length(0); ++i) {
            running_softmax<S, axis_of<V, 1>> row{.output = tensor<S, axis_of<V, 1>>::with_lengths(v.length(1))};
            for (std::size_t first = 0; first < k.length(0); first += block)
                row.add(q[i], k, v, i, first, k.length(0) - first < block ? k.length(0) : first + block, mask, scored);
            for (std::size_t c = 0; c < v.length(1); ++c)
                if (row.any) z(i, c) = row.output(c) / row.denominator;
                else if (on_empty == empty_row::nan) z(i, c) = not_a_number<S>();
        }
    }
    return z;
}

} // namespace attest
