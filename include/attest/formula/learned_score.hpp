// SPDX-License-Identifier: BSL-1.0
/// \file
/// Scores with weights of their own, and the soft cap. See formula/score.hpp for all score functions side by side.
#pragma once

#include "attest/elementary/tanh.hpp"
#include "attest/formula/projection.hpp"
#include "attest/formula/score.hpp"

namespace attest {

/// s_ij = q_iᵀ W k_j (B003; "general" in Luong et al., arXiv 1508.04025). Shapes: q d_q, W d_q × d_k, k d_k → scalar.
/// Throws shape_error (or does not compile) unless W has a row for each component of q and a column for each of k.
template <matrix_like W> struct bilinear {
    W w;

    template <axis_type DQ, axis_type DK>
    static constexpr bool fits = rules::bilinear_row_for_each_query_component::holds<DQ, axis_of<W, 0>> &&
                                 rules::bilinear_column_for_each_key_component::holds<DK, axis_of<W, 1>>;
    template <axis_type DQ, axis_type DK> constexpr void check(std::size_t d_q, std::size_t d_k) const {
        rules::bilinear_row_for_each_query_component::check<DQ, axis_of<W, 0>>(d_q, w.length(0));
        rules::bilinear_column_for_each_key_component::check<DK, axis_of<W, 1>>(d_k, w.length(1));
    }
    template <vector_like Q, vector_like K> [[nodiscard]] constexpr scalar_of<Q> operator()(const Q& q, const K& k) const {
        check<axis_of<Q, 0>, axis_of<K, 0>>(q.length(0), k.length(0));
        scalar_of<Q> sum(0);
        if constexpr (fits<axis_of<Q, 0>, axis_of<K, 0>>)
            for (std::size_t a = 0; a < q.length(0); ++a) sum = sum + q(a) * dot<rules::bilinear_column_for_each_key_component>(w[a], k);
        return sum;
    }
};
template <class W> bilinear(W) -> bilinear<W>;

/// s_ij = b · tanh(W_1 k_j + W_2 q_i) (B005; Bahdanau et al., arXiv 1409.0473). Shapes: W_1 a × d_k, W_2 a × d_q, b a → scalar.
/// Throws shape_error (or does not compile) unless W_1, W_2 and b have equally many rows, W_1 a column for each component of k, W_2 of q.
template <matrix_like W1, matrix_like W2, vector_like B> struct additive {
    W1 w1;
    W2 w2;
    B b;

    template <axis_type DQ, axis_type DK>
    static constexpr bool fits =
        rules::weight_column_for_each_input::holds<DK, axis_of<W1, 1>> && rules::weight_column_for_each_input::holds<DQ, axis_of<W2, 1>> &&
        rules::additive_hidden_dimension::holds<axis_of<W1, 0>, axis_of<W2, 0>> && rules::additive_hidden_dimension::holds<axis_of<W1, 0>, axis_of<B, 0>>;
    template <axis_type DQ, axis_type DK> constexpr void check(std::size_t d_q, std::size_t d_k) const {
        rules::weight_column_for_each_input::check<DK, axis_of<W1, 1>>(d_k, w1.length(1));
        rules::weight_column_for_each_input::check<DQ, axis_of<W2, 1>>(d_q, w2.length(1));
        rules::additive_hidden_dimension::check<axis_of<W1, 0>, axis_of<W2, 0>>(w1.length(0), w2.length(0));
        rules::additive_hidden_dimension::check<axis_of<W1, 0>, axis_of<B, 0>>(w1.length(0), b.length(0));
    }
    template <vector_like Q, vector_like K> [[nodiscard]] constexpr scalar_of<Q> operator()(const Q& q, const K& k) const {
        static_assert(has_tanh<scalar_of<Q>>, "the additive score needs a scalar with a hyperbolic tangent: attest::tanh must take it");
        check<axis_of<Q, 0>, axis_of<K, 0>>(q.length(0), k.length(0));
        scalar_of<Q> sum(0);
        if constexpr (fits<axis_of<Q, 0>, axis_of<K, 0>> && has_tanh<scalar_of<Q>>)
            for (std::size_t a = 0; a < b.length(0); ++a)
                sum = sum + b(a) * attest::tanh(dot<rules::weight_column_for_each_input>(k, w1[a]) + dot<rules::weight_column_for_each_input>(q, w2[a]));
        return sum;
    }
};
template <class W1, class W2, class B> additive(W1, W2, B) -> additive<W1, W2, B>;

/// s_ij = cap · tanh(s/cap) of another score s: between −cap and cap, before any mask (Gemma 2, arXiv 2408.00118). cap > 0.
template <class Score, scalar S> struct softcapped {
    Score score;
    S cap;

    template <axis_type DQ, axis_type DK> static constexpr bool fits = score_fits<Score, DQ, DK>();
    template <axis_type DQ, axis_type DK> constexpr void check(std::size_t d_q, std::size_t d_k) const { check_score<DQ, DK>(score, d_q, d_k); }
    /// `softcapped{scaled_by_dimension{}, cap}` caps the scaled dot product of whatever d_k turns out to be.
    template <class T> [[nodiscard]] constexpr auto with_dimension(std::size_t d_k) const {
        using inner = std::remove_cvref_t<decltype(score_of_dimension<T>(score, d_k))>;
        return softcapped<inner, S>{score_of_dimension<T>(score, d_k), cap};
    }
    template <vector_like Q, vector_like K> [[nodiscard]] constexpr S operator()(const Q& q, const K& k) const {
        static_assert(has_tanh<S>, "the soft cap needs a scalar with a hyperbolic tangent: attest::tanh must take it");
        if constexpr (has_tanh<S>) return cap * attest::tanh(S(score(q, k)) / cap);
        else return S(0); // the compiler has spoken
    }
};
template <class Score, class S> softcapped(Score, S) -> softcapped<Score, S>;

} // namespace attest
