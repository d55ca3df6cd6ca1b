// SPDX-License-Identifier: BSL-1.0
/// \file
/// Scores: how relevant key k_j is to query q_i.
///
/// | score | s_ij | parameters | source |
/// |---|---|---|---|
/// | `dot_product` | q · k | | B002, Luong et al., arXiv 1508.04025 |
/// | `scaled_dot_product` | (q · k) · scale, scale = 1/√d_k | | A005, B007, Vaswani et al., arXiv 1706.03762 |
/// | `bilinear` | qᵀ W k | W d_q × d_k | B003, Luong's "general" |
/// | `additive` | b · tanh(W_1 k + W_2 q) | W_1 a × d_k, W_2 a × d_q, b a | B005, Bahdanau et al., arXiv 1409.0473 |
/// | `softcapped` | cap · tanh(s/cap) of another score s | | Gemma 2, arXiv 2408.00118 |
///
/// A score function is a callable: `score(q_i, k_j)` on two vectors gives the scalar s_ij. Attention takes any; one with a member
/// `check<DQ, DK>(d_q, d_k)` says its own shape rules there, and `fits<DQ, DK>` is their predicate.
#pragma once

#include "attest/elementary/sqrt.hpp"
#include "attest/formula/matmul.hpp"

namespace attest {

/// A callable that scores a query vector against a key vector.
template <class F, class Q, class K>
concept score_function = requires(const F& score, const Q& q, const K& k) {
    { score(q, k) } -> std::convertible_to<scalar_of<Q>>;
};

namespace detail {
// The rule of scores that are dot products.
struct same_dimension {
    template <axis_type DQ, axis_type DK> static constexpr bool fits = rules::query_key_dimension::holds<DQ, DK>;
    template <axis_type DQ, axis_type DK> static constexpr void check(std::size_t d_q, std::size_t d_k) {
        rules::query_key_dimension::check<DQ, DK>(d_q, d_k);
    }
};
} // namespace detail

/// Whether a score function takes queries and keys on these axes, as far as the compiler can know.
template <class Score, axis_type DQ, axis_type DK> [[nodiscard]] consteval bool score_fits() {
    if constexpr (requires { Score::template fits<DQ, DK>; }) return Score::template fits<DQ, DK>;
    else return true;
}
/// Says a score function's shape rules, if it has any.
template <axis_type DQ, axis_type DK, class Score> constexpr void check_score(const Score& score, std::size_t d_q, std::size_t d_k) {
    if constexpr (requires { score.template check<DQ, DK>(d_q, d_k); }) score.template check<DQ, DK>(d_q, d_k);
}

/// s_ij = q_i · k_j (B002).
struct dot_product : detail::same_dimension {
    template <vector_like Q, vector_like K> [[nodiscard]] constexpr scalar_of<Q> operator()(const Q& q, const K& k) const {
        return dot<rules::query_key_dimension>(q, k);
    }
};

/// s_ij = (q_i · k_j) · scale, with scale = 1/√d_k unless another is given.
template <scalar S> struct scaled_dot_product : detail::same_dimension {
    S scale;

    constexpr scaled_dot_product(const S& factor) : scale{factor} {} // NOLINT(google-explicit-constructor): braces are what is meant

    /// 1/√d_k, which keeps the variance of a score at 1 (A039 to A042).
    [[nodiscard]] static constexpr scaled_dot_product of_dimension(std::size_t d_k) {
        static_assert(has_sqrt<S>, "the scale 1/sqrt(d_k) needs a scalar with a root: attest::sqrt must take it; or give a scale");
        if constexpr (has_sqrt<S>) return {S(1) / attest::sqrt(S(static_cast<int>(d_k)))};
        else return {S(1)}; // the compiler has spoken
    }
    template <vector_like Q, vector_like K> [[nodiscard]] constexpr S operator()(const Q& q, const K& k) const {
        return dot<rules::query_key_dimension>(q, k) * scale;
    }
};

/// Stands for the scaled dot product of whatever d_k turns out to be.
struct scaled_by_dimension : detail::same_dimension {};

/// The score function itself: `scaled_by_dimension` becomes the scaled dot product of d_k, also inside a score that says so by a member
/// `with_dimension<S>(d_k)`; every other stays what it is.
template <class S, class Score> [[nodiscard]] constexpr decltype(auto) score_of_dimension(const Score& score, [[maybe_unused]] std::size_t d_k) {
    if constexpr (std::same_as<Score, scaled_by_dimension>) return scaled_dot_product<S>::of_dimension(d_k);
    else if constexpr (requires { score.template with_dimension<S>(d_k); }) return score.template with_dimension<S>(d_k);
    else return (score);
}

/// All scores S_ij = score(q_i, k_j). Shapes: Q n_q × d_q, K n_k × d_k → n_q × n_k (A052).
template <matrix_like Q, matrix_like K, class Score = dot_product>
[[nodiscard]] constexpr auto scores(const Q& q, const K& k, const Score& score = {}) {
    check_score<axis_of<Q, 1>, axis_of<K, 1>>(score, q.length(1), k.length(1));
    auto s = tensor<scalar_of<Q>, axis_of<Q, 0>, axis_of<K, 0>>::with_lengths(q.length(0), k.length(0));
    if constexpr (score_fits<Score, axis_of<Q, 1>, axis_of<K, 1>>()) {
        for (std::size_t i = 0; i < q.length(0); ++i)
            for (std::size_t j = 0; j < k.length(0); ++j) s(i, j) = score(q[i], k[j]);
    }
    return s;
}

/// Q Kᵀ / √d_k. Shapes: Q n_q × d_k, K n_k × d_k → n_q × n_k (A005, A052).
template <matrix_like Q, matrix_like K> [[nodiscard]] constexpr auto scaled_scores(const Q& q, const K& k) {
    return scores(q, k, scaled_dot_product<scalar_of<Q>>::of_dimension(q.length(1)));
}

} // namespace attest
