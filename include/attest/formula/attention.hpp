// SPDX-License-Identifier: BSL-1.0
/// \file
/// Attention(Q, K, V) = softmax(Q Kᵀ / √d_k) V (A067, B019; the lecture's A015 forgets V). Vaswani et al., arXiv 1706.03762.
///
/// Written row by row, z_i = Σ_j α_ij v_j (A013), so that memory stays linear in the number of keys.
#pragma once

#include "attest/formula/mask.hpp"
#include "attest/formula/score.hpp"
#include "attest/formula/softmax.hpp"

namespace attest {

/// One query's way through attention: every stage that a check may look at.
template <class S, axis_type Keys, axis_type DV> struct attention_row {
    tensor<S, Keys> scores;  ///< what enters softmax: score and bias; meaningless where not visible
    tensor<S, Keys> weights; ///< α_ij; 0 where not visible
    tensor<S, DV> out;       ///< z_i
};

/// z_i = Σ_j α_ij v_j with α_i = softmax_j(score(q_i, k_j) + bias_ij), over the keys that query i may see.
/// Shapes: q_i d_q, K n_k × d_k, V n_k × d_v → d_v. In a row without a visible key weights and output are zero, or NaN. A mask's factor (dropout)
/// multiplies the weight in the sum alone, and its sink joins the denominator: formula/mask_extras.hpp.
template <vector_like Q, matrix_like K, matrix_like V, mask M, class Score>
[[nodiscard]] constexpr auto attend(const Q& q_i, const K& k, const V& v, std::size_t i, const M& mask, const Score& score,
                                    empty_row on_empty = empty_row::zero) {
    using S = scalar_of<Q>;
    using keys = joined<axis_of<K, 0>, axis_of<V, 0>>;
    check_score<axis_of<Q, 0>, axis_of<K, 1>>(score, q_i.length(0), k.length(1));
    rules::value_for_each_key::check<axis_of<K, 0>, axis_of<V, 0>>(k.length(0), v.length(0));
    attention_row<S, keys, axis_of<V, 1>> row{tensor<S, keys>::with_lengths(k.length(0)),
                                              tensor<S, keys>::with_lengths(k.length(0)),
                                              tensor<S, axis_of<V, 1>>::with_lengths(v.length(1))};
    const detail::mask_row<M> visible{mask, i};
    for (std::size_t j = 0; j < k.length(0); ++j)
        if (visible(j)) row.scores(j) = with_bias(mask, i, j, S(score(q_i, k[j])));
    row.weights = detail::softmax_of_row(row.scores, mask, i, on_empty);
    bool any = detail::has_sink<M>;
    for (std::size_t j = 0; j < v.length(0); ++j)
        if (visible(j)) {
            any = true;
            S weight = row.weights(j);
            if constexpr (detail::has_factor<M>) weight = weight * mask.factor(i, j);
            for (std::size_t c = 0; c < v.length(1); ++c) row.out(c) = row.out(c) + weight * v(j, c);
        }
    if (!any && on_empty == empty_row::nan)
        for (std::size_t c = 0; c < v.length(1); ++c) row.out(c) = not_a_number<S>();
    return row;
}

/// Attention with a mask, a score function and a rule for rows without a visible key.
/// Shapes: Q n_q × d_q, K n_k × d_k, V n_k × d_v → n_q × d_v (A069, E057); d_q = d_k for scores that are dot products.
template <matrix_like Q, matrix_like K, matrix_like V, mask M, class Score>
[[nodiscard]] constexpr auto attention(const Q& q, const K& k, const V& v, const M& mask, const Score& score,
                                       empty_row on_empty = empty_row::zero) {
    using S = scalar_of<Q>;
    constexpr bool same_scalar = std::same_as<S, scalar_of<K>> && std::same_as<S, scalar_of<V>>;
    static_assert(same_scalar, "Q, K and V must have the same scalar");
    check_score<axis_of<Q, 1>, axis_of<K, 1>>(score, q.length(1), k.length(1));
    rules::value_for_each_key::check<axis_of<K, 0>, axis_of<V, 0>>(k.length(0), v.length(0));
    check_mask<axis_of<Q, 0>, axis_of<K, 0>>(mask, q.length(0), k.length(0));
    auto z = tensor<S, axis_of<Q, 0>, axis_of<V, 1>>::with_lengths(q.length(0), v.length(1));
    if constexpr (same_scalar && score_fits<Score, axis_of<Q, 1>, axis_of<K, 1>>() && rules::value_for_each_key::holds<axis_of<K, 0>, axis_of<V, 0>>) {
        decltype(auto) scored = score_of_dimension<S>(score, q.length(1));
        for (std::size_t i = 0; i < q.length(0); ++i) {
            const auto row = attend(q[i], k, v, i, mask, scored, on_empty);
            for (std::size_t c = 0; c < v.length(1); ++c) z(i, c) = row.out(c);
        }
    }
    return z;
}

/// Attention with the scaled dot product, and a mask if one is given.
template <matrix_like Q, matrix_like K, matrix_like V, mask M = everything>
[[nodiscard]] constexpr auto attention(const Q& q, const K& k, const V& v, const M& mask = {},
                                       empty_row on_empty = empty_row::zero) {
    return attention(q, k, v, mask, scaled_by_dimension{}, on_empty);
}

/// Self-attention on raw inputs: queries, keys and values are the tokens themselves, A(X, X, X) without weights (B013).
/// Shapes: X n × d → n × d. `score`: dot_product{} in the lecture's first form, scaled_by_dimension{} in the second.
template <matrix_like X, mask M = everything, class Score = dot_product>
[[nodiscard]] constexpr auto raw_self_attention(const X& x, const M& mask = {}, const Score& score = {}) {
    return attention(x, x, x, mask, score);
}

/// The weights alone: softmax(Q Kᵀ / √d_k), before a mask's factor. Shapes: Q n_q × d_k, K n_k × d_k → n_q × n_k (A053).
template <matrix_like Q, matrix_like K, mask M = everything>
[[nodiscard]] constexpr auto attention_weights(const Q& q, const K& k, const M& mask = {}, empty_row on_empty = empty_row::zero) {
    auto s = scaled_scores(q, k);
    if constexpr (detail::is_additive<M>)
        for (std::size_t i = 0; i < s.length(0); ++i)
            for (std::size_t j = 0; j < s.length(1); ++j)
                if (mask.visible(i, j)) s(i, j) = s(i, j) + mask.added(i, j);
    return softmax(s, mask, on_empty);
}

} // namespace attest
