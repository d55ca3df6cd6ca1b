// SPDX-License-Identifier: BSL-1.0
/// \file
/// The score function that a case declares: one of four, a scale, and a soft cap.
#pragma once

#include "attest/formula/learned_score.hpp"
#include "attest/gradient/score.hpp"
#include "attest/oracle/scalars.hpp"

namespace attest::detail {

/// cap · tanh(raw(q, k) · scale / cap), or raw(q, k) · scale without a cap.
template <class S> class any_score {
public:
    /// Reads the score's weights under a prefix. `d_q`, `d_k`: what they must fit.
    any_score(const conventions& how, const std::vector<named_view>& inputs, const array_view& q, std::size_t d_q, const array_view& k, std::size_t d_k) : kind_{how.score} {
        if (kind_ == score_kind::scaled || kind_ == score_kind::dot) check_rule<rules::query_key_dimension>("q", q, d_q, "k", k, d_k);
        if (how.scale) scale_ = number_of<S>("scale", *how.scale);
        else if (kind_ == score_kind::scaled) {
            if (d_k == 0) throw usage_error("q " + shape_text(q.shape) + ": with d_k = 0 the scale 1/sqrt(d_k) is undefined");
            scale_ = scaled_dot_product<S>::of_dimension(d_k).scale;
        }
        if (how.softcap) cap_ = number_of<S>("softcap", *how.softcap);
        const auto weights = [&](const char* name) {
            const array_view& given = required(inputs, how.op, name);
            if (given.shape.size() != 2) throw usage_error(std::string(name) + " " + shape_text(given.shape) + " must have two dimensions");
            return std::pair{&given, exact_matrix_of<S>(stack_of(name, given, tensor_layout::bhnd)[0])};
        };
        if (kind_ == score_kind::bilinear) {
            const auto [given, w] = weights("w");
            check_rule<rules::bilinear_row_for_each_query_component>("q", q, d_q, "w", *given, w.length(0));
            check_rule<rules::bilinear_column_for_each_key_component>("k", k, d_k, "w", *given, w.length(1));
            bilinear_.w = w;
        }
        if (kind_ == score_kind::additive) {
            const auto [given_1, w1] = weights("w1");
            const auto [given_2, w2] = weights("w2");
            const array_view& given_b = required(inputs, how.op, "b");
            check_rule<rules::weight_column_for_each_input>("k", k, d_k, "w1", *given_1, w1.length(1));
            check_rule<rules::weight_column_for_each_input>("q", q, d_q, "w2", *given_2, w2.length(1));
            check_rule<rules::additive_hidden_dimension>("w1", *given_1, w1.length(0), "w2", *given_2, w2.length(0));
            additive_ = {w1, w2, exact_vector_of<S>("b", given_b)};
            check_rule<rules::additive_hidden_dimension>("w1", *given_1, w1.length(0), "b", given_b, additive_.b.length(0));
        }
    }
    /// A dot product of known d_k, with the declared scale and cap: what multi-head attention uses.
    any_score(const conventions& how, std::size_t d_k) : kind_{how.score} {
        if (how.scale) scale_ = number_of<S>("scale", *how.scale);
        else if (kind_ == score_kind::scaled) scale_ = scaled_dot_product<S>::of_dimension(d_k).scale;
        if (how.softcap) cap_ = number_of<S>("softcap", *how.softcap);
    }

    [[nodiscard]] const S& scale() const { return scale_; }
    /// Before scale and cap.
    template <vector_like Q, vector_like K> [[nodiscard]] S raw(const Q& q, const K& k) const {
        if (kind_ == score_kind::bilinear) return bilinear_(q, k);
        if (kind_ == score_kind::additive) return additive_(q, k);
        return dot(q, k);
    }
    template <vector_like Q, vector_like K> [[nodiscard]] S operator()(const Q& q, const K& k) const {
        const S s = raw(q, k) * scale_;
        return cap_ ? *cap_ * attest::tanh(s / *cap_) : s;
    }
    template <vector_like Q, vector_like K, class DQ, class DK> void gradient(const Q& q, const K& k, const S& ds, DQ&& dq, DK&& dk) const {
        S through = ds;
        if (cap_) {
            const S t = attest::tanh(raw(q, k) * scale_ / *cap_);
            through = ds * (S(1) - t * t);
        }
        through = through * scale_;
        no_score_weights none;
        if (kind_ == score_kind::bilinear) {
            auto dw = zero_score_gradient(bilinear_);
            score_vjp(bilinear_, q, k, through, dq, dk, dw);
        } else if (kind_ == score_kind::additive) {
            auto dw = zero_score_gradient(additive_);
            score_vjp(additive_, q, k, through, dq, dk, dw);
        } else score_vjp(dot_product{}, q, k, through, dq, dk, none);
    }

private:
    score_kind kind_ = score_kind::scaled;
    S scale_{1};
    std::optional<S> cap_;
    bilinear<matrix_in<S>> bilinear_;
    additive<matrix_in<S>, matrix_in<S>, vector_in<S>> additive_;
};

template <class S, vector_like Q, vector_like K, class DQ, class DK>
void score_vjp(const any_score<S>& score, const Q& q, const K& k, const S& ds, DQ&& dq, DK&& dk, no_score_weights&) {
    score.gradient(q, k, ds, dq, dk);
}

} // namespace attest::detail
