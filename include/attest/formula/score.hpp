// SPDX-License-Identifier: BSL-1.0
/// \file
/// Scores: how relevant key k_j is to query q_i. The scaled dot product of Vaswani et al., arXiv 1706.03762 (A005, B007).
///
/// A score function is a callable: `score(q_i, k_j)` on two vectors gives the scalar s_ij. Attention takes any.
#pragma once

#include "attest/elementary/sqrt.hpp"
#include "attest/formula/matmul.hpp"

namespace attest {

/// A callable that scores a query vector against a key vector.
template <class F, class Q, class K>
concept score_function = requires(const F& score, const Q& q, const K& k) {
    { score(q, k) } -> std::convertible_to<scalar_of<Q>>;
};

/// s_ij = q_i · k_j (B002).
struct dot_product {
    template <vector_like Q, vector_like K> [[nodiscard]] constexpr scalar_of<Q> operator()(const Q& q, const K& k) const {
        return dot<rules::query_key_dimension>(q, k);
    }
};

/// s_ij = (q_i · k_j) · scale, with scale = 1/√d_k unless another is given.
template <scalar S> struct scaled_dot_product {
    S scale;

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

/// All scores S_ij = score(q_i, k_j). Shapes: Q n_q × d_k, K n_k × d_k → n_q × n_k (A052).
template <matrix_like Q, matrix_like K, class Score = dot_product>
[[nodiscard]] constexpr auto scores(const Q& q, const K& k, const Score& score = {}) {
    rules::query_key_dimension::check<axis_of<Q, 1>, axis_of<K, 1>>(q.length(1), k.length(1));
    auto s = tensor<scalar_of<Q>, axis_of<Q, 0>, axis_of<K, 0>>::with_lengths(q.length(0), k.length(0));
    if constexpr (rules::query_key_dimension::holds<axis_of<Q, 1>, axis_of<K, 1>>) {
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
