// SPDX-License-Identifier: BSL-1.0
/// \file
/// The gradients of the score functions. `score_vjp(score, q_i, k_j, ds, dq_i, dk_j, dscore)` adds to dq_i, dk_j and dscore what one score contributes:
///
/// | score | dq += | dk += | dscore += |
/// |---|---|---|---|
/// | `dot_product` | ds k | ds q | |
/// | `scaled_dot_product` | ds·scale k | ds·scale q | |
/// | `bilinear` | ds W k | ds Wᵀ q | dW: ds q kᵀ |
/// | `additive` | W_2ᵀ g | W_1ᵀ g | dW_1: g kᵀ, dW_2: g qᵀ, db: ds t |
/// | `softcapped` | that of the score inside, with ds (1 − tanh²(s/cap)) for ds | | |
///
/// with t = tanh(W_1 k + W_2 q) and g = ds b ⊙ (1 − t²). `zero_score_gradient(score)` is the dscore to begin with: the same struct, over tensors of zeros;
/// `no_score_weights` where there is nothing to learn. Scale and cap count as constants. A score function of your own joins by two overloads of these
/// names beside it.
#pragma once

#include "attest/formula/learned_score.hpp"

namespace attest {

/// The gradient of the weights of a score function that has none.
struct no_score_weights {};

/// Zeros in the shape of the weights of a score function; `no_score_weights` unless it has any.
template <class Score> [[nodiscard]] constexpr no_score_weights zero_score_gradient(const Score&) { return {}; }

namespace detail {
template <vector_like X> [[nodiscard]] constexpr auto zeros_like(const X& x) {
    return tensor<scalar_of<X>, axis_of<X, 0>>::with_lengths(x.length(0));
}
template <matrix_like X> [[nodiscard]] constexpr auto zeros_like(const X& x) {
    return tensor<scalar_of<X>, axis_of<X, 0>, axis_of<X, 1>>::with_lengths(x.length(0), x.length(1));
}
} // namespace detail

template <class W> [[nodiscard]] constexpr auto zero_score_gradient(const bilinear<W>& score) { return bilinear{detail::zeros_like(score.w)}; }
template <class W1, class W2, class B> [[nodiscard]] constexpr auto zero_score_gradient(const additive<W1, W2, B>& score) {
    return additive{detail::zeros_like(score.w1), detail::zeros_like(score.w2), detail::zeros_like(score.b)};
}
/// That of the score inside.
template <class Score, class S> [[nodiscard]] constexpr auto zero_score_gradient(const softcapped<Score, S>& score) {
    return zero_score_gradient(score.score);
}

/// s = q · k.
template <vector_like Q, vector_like K, class DQ, class DK>
constexpr void score_vjp(const dot_product&, const Q& q, const K& k, const scalar_of<Q>& ds, DQ&& dq, DK&& dk, no_score_weights&) {
    for (std::size_t c = 0; c < q.length(0); ++c) {
        dq(c) = dq(c) + ds * k(c);
        dk(c) = dk(c) + ds * q(c);
    }
}

/// s = (q · k) · scale.
template <class S, vector_like Q, vector_like K, class DQ, class DK>
constexpr void score_vjp(const scaled_dot_product<S>& score, const Q& q, const K& k, const scalar_of<Q>& ds, DQ&& dq, DK&& dk, no_score_weights& none) {
    score_vjp(dot_product{}, q, k, S(ds * score.scale), dq, dk, none);
}

/// s = qᵀ W k.
template <class W, class DW, vector_like Q, vector_like K, class DQ, class DK>
constexpr void score_vjp(const bilinear<W>& score, const Q& q, const K& k, const scalar_of<Q>& ds, DQ&& dq, DK&& dk, bilinear<DW>& dscore) {
    using S = scalar_of<Q>;
    for (std::size_t a = 0; a < q.length(0); ++a) {
        S w_k(0);
        const S ds_q = ds * q(a);
        for (std::size_t c = 0; c < k.length(0); ++c) {
            w_k = w_k + score.w(a, c) * k(c);
            dk(c) = dk(c) + ds_q * score.w(a, c);
            dscore.w(a, c) = dscore.w(a, c) + ds_q * k(c);
        }
        dq(a) = dq(a) + ds * w_k;
    }
}

/// s = b · tanh(W_1 k + W_2 q).
template <class W1, class W2, class B, class DW1, class DW2, class DB, vector_like Q, vector_like K, class DQ, class DK>
constexpr void score_vjp(const additive<W1, W2, B>& score, const Q& q, const K& k, const scalar_of<Q>& ds, DQ&& dq, DK&& dk,
                         additive<DW1, DW2, DB>& dscore) {
    using S = scalar_of<Q>;
    for (std::size_t a = 0; a < score.b.length(0); ++a) {
        const S t = attest::tanh(dot<rules::weight_column_for_each_input>(k, score.w1[a]) + dot<rules::weight_column_for_each_input>(q, score.w2[a]));
        const S g = ds * score.b(a) * ((S(1) - t) * (S(1) + t)); // 1 − t² would lose the digits of 1 − t near t = 1
        dscore.b(a) = dscore.b(a) + ds * t;
        for (std::size_t c = 0; c < k.length(0); ++c) {
            dk(c) = dk(c) + g * score.w1(a, c);
            dscore.w1(a, c) = dscore.w1(a, c) + g * k(c);
        }
        for (std::size_t c = 0; c < q.length(0); ++c) {
            dq(c) = dq(c) + g * score.w2(a, c);
            dscore.w2(a, c) = dscore.w2(a, c) + g * q(c);
        }
    }
}

/// cap · tanh(s/cap).
template <class Score, class S, vector_like Q, vector_like K, class DQ, class DK, class DScore>
constexpr void score_vjp(const softcapped<Score, S>& score, const Q& q, const K& k, const scalar_of<Q>& ds, DQ&& dq, DK&& dk, DScore& dscore) {
    const S t = attest::tanh(S(score.score(q, k)) / score.cap);
    score_vjp(score.score, q, k, S(ds * ((S(1) - t) * (S(1) + t))), dq, dk, dscore);
}

/// What a score function's weights' gradients are kept in.
template <class Score> using score_gradient_of = decltype(zero_score_gradient(*static_cast<const Score*>(nullptr)));

/// A score function whose gradient is known, on these vectors.
template <class Score, class Q, class K>
concept differentiable_score =
    requires(const Score& score, const Q& q, const K& k, const scalar_of<Q>& ds, tensor<scalar_of<Q>, axis_of<Q, 0>>& dq,
             tensor<scalar_of<Q>, axis_of<K, 0>>& dk, score_gradient_of<Score>& dscore) { score_vjp(score, q, k, ds, dq, dk, dscore); };

} // namespace attest
