// SPDX-License-Identifier: BSL-1.0
/// \file
/// MultiHead(X) = Concat(head_1, …, head_H) W_O with head_h = Attention(X W_Q,h, X W_K,h, X W_V,h) (B021, B022, E044; Vaswani et al., arXiv 1706.03762).
///
/// The weights of all heads lie side by side: W_Q is d_model × H·d_k, and head h has columns h·d_k to (h + 1)·d_k. Fewer key-value heads than heads
/// (arXiv 2305.13245): query head h reads key-value head ⌊h·H_kv/H⌋. Cross-attention: queries from X, keys and values from the memory (B056 to B059).
#pragma once

#include "attest/formula/attention.hpp"
#include "attest/formula/mask_extras.hpp"
#include "attest/formula/projection.hpp"
#include "attest/shape/heads.hpp"

namespace attest {

/// The weights of multi-head attention, in the layout in_out. A bias of a fixed axis starts as zeros; a dynamic one of length 0 is no bias.
/// `n_heads` and `n_kv_heads` are known from the types, unless those are dynamic.
template <class S, axis_type DModel, axis_type H, axis_type DK, axis_type DV = DK, axis_type HKV = H, axis_type DMemory = DModel>
struct multi_head_weights {
    tensor<S, DModel, heads<H, DK>> w_q = {};
    tensor<S, DMemory, heads<HKV, DK>> w_k = {};
    tensor<S, DMemory, heads<HKV, DV>> w_v = {};
    tensor<S, heads<H, DV>, DModel> w_o = {};
    tensor<S, heads<H, DK>> b_q = {};
    tensor<S, heads<HKV, DK>> b_k = {};
    tensor<S, heads<HKV, DV>> b_v = {};
    tensor<S, DModel> b_o = {};
    std::size_t n_heads = H::size;
    std::size_t n_kv_heads = HKV::size;

    using key_axis = DK;
    using value_axis = DV;
    using head_axis = H;
    using key_value_head_axis = HKV;

    /// Components of a head's queries and keys.
    [[nodiscard]] constexpr std::size_t d_k() const { return rules::heads_divide_model::length(w_q.length(1), n_heads); }
    /// Components of a head's values.
    [[nodiscard]] constexpr std::size_t d_v() const { return rules::heads_divide_model::length(w_v.length(1), n_kv_heads); }
};

/// Queries and keys as they are.
struct no_rotation {
    template <vector_like X> [[nodiscard]] constexpr const X& operator()(const X& row, std::size_t) const { return row; }
    template <vector_like X> [[nodiscard]] constexpr const X& back(const X& row, std::size_t) const { return row; }
};

/// How heads attend: who sees whom (one mask, or a family with `head(h)`), the score function, the rotation of queries and keys by their position
/// (`rope_rotation`), and what a row without a visible key gives. `attention_how{.mask = causal_top_left{}}`.
template <class Mask = everything, class Score = scaled_by_dimension, class Rotation = no_rotation> struct attention_how {
    Mask mask = {};
    Score score = {};
    Rotation rotation = {};
    empty_row on_empty = empty_row::zero;
};

/// Columns h·d to (h + 1)·d of a matrix whose columns are heads side by side: a view of head h, n × d.
template <axis_type D, class X>
    requires matrix_like<X>
[[nodiscard]] constexpr auto head_columns(X& of, std::size_t h, std::size_t d) {
    using T = std::remove_reference_t<decltype(*of.data())>;
    using rows = axis_of<std::remove_const_t<X>, 0>;
    std::ptrdiff_t strides[] = {static_cast<std::ptrdiff_t>(of.length(1)), 1};
    if constexpr (requires { of.stride(0); }) { // a view
        strides[0] = of.stride(0);
        strides[1] = of.stride(1);
    }
    const std::ptrdiff_t first = of.length(0) == 0 ? 0 : static_cast<std::ptrdiff_t>(h * d) * strides[1]; // without rows there may be no memory to step in
    return view<T, rows, D>(of.data() + first, extents<rows, D>(of.length(0), d), strides);
}

/// Q, K and V of all heads, side by side. Shapes: n × H·d_k, m × H_kv·d_k, m × H_kv·d_v.
template <class Q, class K, class V> struct projected {
    Q q;
    K k;
    V v;
};

/// X W_Q + b_Q, M W_K + b_K, M W_V + b_V. Shapes: X n × d_model, M m × d_memory (X itself for self-attention).
template <matrix_like X, matrix_like M, class W> [[nodiscard]] constexpr auto project_heads(const X& x, const M& memory, const W& w) {
    rules::key_value_heads_divide_heads::check<typename W::head_axis, typename W::key_value_head_axis>(w.n_heads, w.n_kv_heads);
    const std::size_t d_k_of_keys = rules::heads_divide_model::length(w.w_k.length(1), w.n_kv_heads);
    rules::query_key_dimension::check<axis<dynamic>, axis<dynamic>>(w.d_k(), d_k_of_keys); // of dynamic axes
    auto q = project_in_out(x, w.w_q, w.b_q);
    auto k = project_in_out(memory, w.w_k, w.b_k);
    auto v = project_in_out(memory, w.w_v, w.b_v);
    return projected<decltype(q), decltype(k), decltype(v)>{static_cast<decltype(q)&&>(q), static_cast<decltype(k)&&>(k), static_cast<decltype(v)&&>(v)};
}

/// The rows of head h, rotated by their positions. Shapes: n × H·d → n × d.
template <axis_type D, matrix_like X, class Rotation>
[[nodiscard]] constexpr auto rotated_head(const X& side_by_side, std::size_t h, std::size_t d, const Rotation& rotation) {
    auto rows = tensor<scalar_of<X>, axis_of<X, 0>, D>::with_lengths(side_by_side.length(0), d);
    const auto head = head_columns<D>(side_by_side, h, d);
    for (std::size_t i = 0; i < rows.length(0); ++i) {
        const auto plain = head[i]; // outlives what the rotation may refer to
        decltype(auto) row = rotation(plain, i);
        for (std::size_t c = 0; c < d; ++c) rows(i, c) = row(c);
    }
    return rows;
}

/// Q, K and V of query head h, rotated: what its attention works on. Shapes: n × d_k, m × d_k, m × d_v.
template <class P, class W, class How> [[nodiscard]] constexpr auto head_inputs(const P& all, const W& w, const How& how, std::size_t h) {
    const std::size_t of_keys = h * w.n_kv_heads / w.n_heads, d_k = w.d_k(), d_v = w.d_v();
    auto q = rotated_head<typename W::key_axis>(all.q, h, d_k, how.rotation);
    auto k = rotated_head<typename W::key_axis>(all.k, of_keys, d_k, how.rotation);
    auto v = rotated_head<typename W::value_axis>(all.v, of_keys, d_v, no_rotation{});
    return projected<decltype(q), decltype(k), decltype(v)>{static_cast<decltype(q)&&>(q), static_cast<decltype(k)&&>(k), static_cast<decltype(v)&&>(v)};
}

/// Concat(head_1, …, head_H) of projected heads. Shapes: n × H·d_k, m × H_kv·d_k, m × H_kv·d_v → n × H·d_v.
template <class P, class W, class How> [[nodiscard]] constexpr auto attend_heads(const P& all, const W& w, const How& how, empty_row on_empty) {
    using q_type = decltype(all.q);
    const std::size_t d_v = w.d_v();
    auto concat = tensor<scalar_of<q_type>, axis_of<q_type, 0>, axis_of<decltype(w.w_o), 0>>::with_lengths(all.q.length(0), w.w_o.length(0));
    rules::output_row_for_each_head_component::check<axis<dynamic>, axis<dynamic>>(w.n_heads * d_v, concat.length(1)); // of dynamic axes
    for (std::size_t h = 0; h < w.n_heads; ++h) {
        const auto in = head_inputs(all, w, how, h);
        const auto head = attention(in.q, in.k, in.v, mask_of_head(how.mask, h), how.score, on_empty);
        for (std::size_t i = 0; i < head.length(0); ++i)
            for (std::size_t c = 0; c < d_v; ++c) concat(i, h * d_v + c) = head(i, c);
    }
    return concat;
}

/// Concat(head_1, …, head_H), before W_O. Shapes: X n × d_model, M m × d_memory → n × H·d_v.
template <matrix_like X, matrix_like M, class W, class How> [[nodiscard]] constexpr auto concatenated_heads(const X& x, const M& memory, const W& w, const How& how) {
    return attend_heads(project_heads(x, memory, w), w, how, how.on_empty);
}

/// Multi-head cross-attention: queries from X, keys and values from the memory M (B056 to B059).
/// Shapes: X n × d_model, M m × d_memory → n × d_model. Throws shape_error (or does not compile) where the weights' axes do not meet those of X and M.
template <matrix_like X, matrix_like M, class W, class How = attention_how<>>
    requires requires(const W& w) { w.w_q; }
[[nodiscard]] constexpr auto multi_head_attention(const X& x, const M& memory, const W& w, const How& how = {}) {
    constexpr bool says_how = requires { how.mask; how.score; how.rotation; };
    static_assert(says_how, "how heads attend is said by attention_how: attention_how{.mask = causal_top_left{}}, not by the mask alone");
    const auto concat = concatenated_heads(x, memory, w, how);
    return with_bias_on_rows(matmul<rules::output_row_for_each_head_component>(concat, w.w_o), w.b_o);
}

/// Multi-head self-attention: queries, keys and values from the same tokens. Shapes: X n × d_model → n × d_model.
template <matrix_like X, class W, class How = attention_how<>>
    requires requires(const W& w) { w.w_q; }
[[nodiscard]] constexpr auto multi_head_attention(const X& x, const W& w, const How& how = {}) {
    return multi_head_attention(x, x, w, how);
}

} // namespace attest
