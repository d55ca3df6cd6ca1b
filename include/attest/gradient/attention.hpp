// SPDX-License-Identifier: BSL-1.0
/// \file
/// The gradients of attention. With z_i = Σ_j a_ij f_ij v_j (f: dropout's factors, else 1) and dz_i the gradient of row i of the output,
///
///     dv_j = Σ_i a_ij f_ij dz_i,   da_ij = f_ij (dz_i · v_j),   D_i = Σ_j a_ij da_ij,   ds_ij = a_ij (da_ij − D_i)
///
/// and ds goes on to queries, keys and the score's weights (gradient/score.hpp), and to the bias of an additive mask as it is: dbias_ij = ds_ij. A sink's
/// weight has no value, so dsink = −Σ_i a_i,sink D_i.
///
/// Row by row: a row's weights are computed again and dropped, so that memory stays linear in the number of keys (arXiv 2205.14135). The sums over
/// queries run from the first query on.
#pragma once

#include "attest/formula/attention.hpp"
#include "attest/gradient/score.hpp"
#include "attest/gradient/softmax.hpp"

namespace attest {

/// dq, dk, dv have the shapes of q, k, v. `dsink` is 0 without a sink; `dscore` holds the gradients of the score's weights: `dscore.w` of `bilinear`, …
template <class DQ, class DK, class DV, class S, class DScore> struct attention_gradient {
    DQ dq;
    DK dk;
    DV dv;
    S dsink;
    DScore dscore;
};

/// Takes the gradient of a mask's bias, and drops it.
struct ignore_mask_gradient {
    template <class... Where> constexpr void operator()(const Where&...) const noexcept {}
};

namespace detail {

// What row i adds. `dz`: the gradient of its output.
template <class G, class Q, class K, class V, class M, class Score, class DZ, class Write>
constexpr void add_attention_row(G& gradient, const Q& q, const K& k, const V& v, std::size_t i, const M& m, const Score& score, const DZ& dz,
                                 const Write& write_mask) {
    using S = scalar_of<Q>;
    const mask_row<M> visible{m, i};
    const auto row = attend(q[i], k, v, i, m, score);
    auto da = row.weights; // overwritten
    for (std::size_t j = 0; j < k.length(0); ++j)
        if (visible(j)) {
            S factor(1), dot_with_value(0);
            if constexpr (has_factor<M>) factor = m.factor(i, j);
            const S weight = row.weights(j) * factor;
            for (std::size_t c = 0; c < v.length(1); ++c) {
                dot_with_value = dot_with_value + dz(c) * v(j, c);
                gradient.dv(j, c) = gradient.dv(j, c) + weight * dz(c);
            }
            da(j) = factor * dot_with_value;
        }
    const auto ds = softmax_vjp(row.weights, da, visible);
    for (std::size_t j = 0; j < k.length(0); ++j)
        if (visible(j)) {
            write_mask(i, j, ds(j));
            score_vjp(score, q[i], k[j], ds(j), gradient.dq[i], gradient.dk[j], gradient.dscore);
        }
    if constexpr (has_sink<M>)
        gradient.dsink = gradient.dsink - sink_weight(row.scores, visible, S(m.sink())) * weighted_mean(row.weights, da, visible);
}

// What all rows add. `score`: the score function itself, not scaled_by_dimension.
template <class G, class Q, class K, class V, class M, class Score, class DOut, class Write>
constexpr void add_attention_gradient(G& gradient, const Q& q, const K& k, const V& v, const M& m, const Score& score, const DOut& dout,
                                      const Write& write_mask) {
    constexpr bool known = differentiable_score<Score, std::remove_cvref_t<decltype(q[0])>, std::remove_cvref_t<decltype(k[0])>>;
    static_assert(known, "the score function has no gradient: overload score_vjp for it, and zero_score_gradient if it has weights");
    if constexpr (known)
        for (std::size_t i = 0; i < q.length(0); ++i) add_attention_row(gradient, q, k, v, i, m, score, dout[i], write_mask);
}

// Zeros in the shapes of q, k and v; `dscore`: what to begin with.
template <class Q, class K, class V, class DScore>
[[nodiscard]] constexpr auto zero_attention_gradient(const Q& q, const K& k, const V& v, DScore dscore) {
    auto dq = zeros_like(q);
    auto dk = zeros_like(k);
    auto dv = zeros_like(v);
    return attention_gradient<decltype(dq), decltype(dk), decltype(dv), scalar_of<Q>, DScore>{
        static_cast<decltype(dq)&&>(dq), static_cast<decltype(dk)&&>(dk), static_cast<decltype(dv)&&>(dv), scalar_of<Q>(0),
        static_cast<DScore&&>(dscore)};
}

} // namespace detail

/// The gradients of attention(q, k, v, mask, score, on_empty) from `dout`, that of its output.
/// Shapes: Q n_q × d_q, K n_k × d_k, V n_k × d_v, dout n_q × d_v → dq, dk, dv as q, k, v.
///
/// `write_mask(i, j, ds_ij)` is called for every visible key, row by row: the gradient of an additive mask (hidden entries have none: 0). A row without a
/// visible key is constant, so its gradients are 0, also where `on_empty` is NaN: they are never NaN there. Throws shape_error (or does not compile)
/// unless dout has the shape of the output, and where attention does.
template <matrix_like Q, matrix_like K, matrix_like V, mask M, class Score, matrix_like DOut, class Write = ignore_mask_gradient>
[[nodiscard]] constexpr auto attention_vjp(const Q& q, const K& k, const V& v, const M& mask, const Score& score, const DOut& dout,
                                           [[maybe_unused]] empty_row on_empty = empty_row::zero, const Write& write_mask = {}) {
    using S = scalar_of<Q>;
    using rule = rules::gradient_has_shape_of_output;
    constexpr bool same_scalar = std::same_as<S, scalar_of<K>> && std::same_as<S, scalar_of<V>> && std::same_as<S, scalar_of<DOut>>;
    static_assert(same_scalar, "Q, K, V and the gradient of the output must have the same scalar");
    check_score<axis_of<Q, 1>, axis_of<K, 1>>(score, q.length(1), k.length(1));
    rules::value_for_each_key::check<axis_of<K, 0>, axis_of<V, 0>>(k.length(0), v.length(0));
    check_mask<axis_of<Q, 0>, axis_of<K, 0>>(mask, q.length(0), k.length(0));
    rule::check<axis_of<DOut, 0>, axis_of<Q, 0>>(dout.length(0), q.length(0));
    rule::check<axis_of<DOut, 1>, axis_of<V, 1>>(dout.length(1), v.length(1));

    decltype(auto) scored = score_of_dimension<S>(score, q.length(1));
    auto gradient = detail::zero_attention_gradient(q, k, v, zero_score_gradient(scored));
    constexpr bool fits = score_fits<Score, axis_of<Q, 1>, axis_of<K, 1>>() && rules::value_for_each_key::holds<axis_of<K, 0>, axis_of<V, 0>> &&
                          rule::holds<axis_of<DOut, 0>, axis_of<Q, 0>> && rule::holds<axis_of<DOut, 1>, axis_of<V, 1>>;
    if constexpr (same_scalar && fits) // else the compiler has spoken
        detail::add_attention_gradient(gradient, q, k, v, mask, scored, dout, write_mask);
    return gradient;
}

/// The gradients of attention(q, k, v, mask), with the scaled dot product.
template <matrix_like Q, matrix_like K, matrix_like V, mask M, matrix_like DOut>
[[nodiscard]] constexpr auto attention_vjp(const Q& q, const K& k, const V& v, const M& mask, const DOut& dout) {
    return attention_vjp(q, k, v, mask, scaled_by_dimension{}, dout);
}
/// The gradients of attention(q, k, v).
template <matrix_like Q, matrix_like K, matrix_like V, matrix_like DOut>
[[nodiscard]] constexpr auto attention_vjp(const Q& q, const K& k, const V& v, const DOut& dout) {
    return attention_vjp(q, k, v, everything{}, scaled_by_dimension{}, dout);
}

} // namespace attest
