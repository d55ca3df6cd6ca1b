// SPDX-License-Identifier: BSL-1.0
/// \file
/// Attention with every option of a case, evaluated in a scalar S a row at a time: the formulas of formula/ and gradient/ themselves.
#pragma once

#include "attest/formula/attention.hpp"
#include "attest/gradient/attention.hpp"
#include "attest/oracle/any_score.hpp"
#include "attest/oracle/pair_rules.hpp"

#include <optional>

namespace attest {

/// One query's results.
template <class S> struct evaluated_row {
    std::vector<std::size_t> visible; ///< the keys that the query sees, ascending
    vector_in<S> scores;              ///< what enters softmax; meaningless where not visible
    vector_in<S> weights;             ///< 0 where not visible, or NaN in an empty row that is declared so
    vector_in<S> out;
    S lse{0};
    vector_in<S> raw_scores; ///< of every key; empty unless asked for
};

/// The gradients of one slice.
template <class S> using slice_gradient = attention_gradient<matrix_in<S>, matrix_in<S>, matrix_in<S>, S, no_score_weights>;

/// See the head of this file. The problem, the conventions and the inputs are the caller's, and must stay.
template <class S> class attention_engine {
public:
    attention_engine(const conventions& how, const std::vector<named_view>& inputs, const attention_problem& p)
        : how_{how}, p_{p}, rules_(how, inputs, "", p.batch, p.n_q, p.n_k), score_(how, inputs, *find(inputs, "q"), p.d_k, *find(inputs, "k"), p.k.columns) {
        if (how.position != position_kind::rope) return;
        detail::check_rotation(how, "q", *find(inputs, "q"), p.d_k);
        detail::check_rotation(how, "k", *find(inputs, "k"), p.k.columns);
    }

    [[nodiscard]] const detail::pair_rules<S>& rules() const { return rules_; }
    [[nodiscard]] const detail::any_score<S>& score() const { return score_; }
    /// q and k of the slice, rotated where positions are.
    [[nodiscard]] const matrix_in<S>& q() const { return matrices().q; }
    [[nodiscard]] const matrix_in<S>& k() const { return matrices().k; }

    /// Makes a slice (batch element and head) current.
    void enter(std::size_t slice) {
        slice_ = slice;
        const std::size_t b = slice / rules_.heads();
        of_queries_ = detail::rotation_of(how_, rules_, b, rules_.queries(slice), rules_.shift(b));
        of_keys_ = detail::rotation_of(how_, rules_, b, p_.n_k, 0);
        matrices_.reset();
        enter_mask(slice);
    }
    /// Of a slice, but what is visible, and nothing to compute with.
    void enter_mask(std::size_t slice) {
        if (rules_.has_sink()) with_sink_.emplace(rules_.template mask<true>(slice));
        else without_sink_.emplace(rules_.template mask<false>(slice));
    }

    [[nodiscard]] bool visible(std::size_t i, std::size_t j) const {
        return with_mask([&](const auto& mask) { return mask.visible(i, j); });
    }

    /// The slice's slope of ALiBi, and its sink's logit, near enough in double.
    [[nodiscard]] std::optional<double> alibi_slope() const {
        return with_mask([](const auto& mask) { return mask.slope ? std::optional(mask.slope->nearest_double()) : std::nullopt; });
    }
    [[nodiscard]] std::optional<double> sink_logit() const { return with_sink_ ? std::optional(with_sink_->sink_logit.nearest_double()) : std::nullopt; }
    /// Whether dropout keeps the weight.
    [[nodiscard]] bool keeps(std::size_t i, std::size_t j) const {
        return with_mask([&](const auto& mask) { return !mask.kept || (*mask.kept)(i, j) != 0; });
    }
    /// The keys that query i sees, ascending.
    [[nodiscard]] std::vector<std::size_t> visible_keys(std::size_t i) const {
        std::vector<std::size_t> keys;
        for (std::size_t j = 0; j < p_.n_k; ++j)
            if (visible(i, j)) keys.push_back(j);
        return keys;
    }

    /// Row i of the current slice.
    [[nodiscard]] evaluated_row<S> row(std::size_t i, bool want_raw_scores) const {
        const auto& [q, k, v] = matrices();
        return with_mask([&, &q = q, &k = k, &v = v](const auto& mask) {
            evaluated_row<S> r;
            r.visible = visible_keys(i);
            auto row = attend(q[i], k, v, i, mask, score_, how_.empty_row_is_nan ? empty_row::nan : empty_row::zero);
            const detail::mask_row<std::remove_cvref_t<decltype(mask)>> seen{mask, i};
            if constexpr (detail::has_sink<std::remove_cvref_t<decltype(mask)>>) {
                const S sink = mask.sink();
                r.lse = log_sum_exp(row.scores, seen, &sink);
            } else r.lse = log_sum_exp(row.scores, seen);
            r.scores = std::move(row.scores);
            r.weights = std::move(row.weights);
            r.out = std::move(row.out);
            if (want_raw_scores) {
                r.raw_scores = vector_in<S>::with_lengths(p_.n_k);
                for (std::size_t j = 0; j < p_.n_k; ++j) r.raw_scores(j) = score_.raw(q[i], k[j]);
            }
            return r;
        });
    }

    /// Zeros in the shapes of the slice's q, k and v.
    [[nodiscard]] slice_gradient<S> no_gradient() const { return detail::zero_attention_gradient(matrices().q, matrices().k, matrices().v, no_score_weights{}); }
    /// Adds what row i gives to the slice's gradients (of the rotated q and k). `write_mask(i, j, ds)`: what the mask gets.
    template <class Write> void add_gradient(slice_gradient<S>& gradient, std::size_t i, const vector_in<S>& dout, const Write& write_mask) const {
        with_mask([&](const auto& mask) {
            detail::add_attention_row(gradient, matrices().q, matrices().k, matrices().v, i, mask, score_, dout, write_mask);
            return 0;
        });
    }
    /// Row i of dq, turned back; the same for a key.
    template <vector_like X> [[nodiscard]] vector_in<S> turned_back_query(const X& row, std::size_t i) const { return turned_back(row, i, of_queries_); }
    template <vector_like X> [[nodiscard]] vector_in<S> turned_back_key(const X& row, std::size_t j) const { return turned_back(row, j, of_keys_); }

private:
    struct inputs_of_slice {
        matrix_in<S> q, k, v;
    };
    // Made when they are asked for first: rungs in blocks (oracle/double_rows.hpp) read the problem themselves.
    const inputs_of_slice& matrices() const {
        if (!matrices_)
            matrices_.emplace(inputs_of_slice{rotated(p_.q[source_slice(p_.batch, p_.q.batch, slice_)], of_queries_), rotated(p_.k[source_slice(p_.batch, p_.k.batch, slice_)], of_keys_),
                              detail::exact_matrix_of<S>(p_.v[source_slice(p_.batch, p_.v.batch, slice_)])});
        return *matrices_;
    }
    static matrix_in<S> rotated(const matrix_view& given, const detail::optional_rotation<S>& rotation) {
        auto m = detail::exact_matrix_of<S>(given);
        if (rotation.by)
            for (std::size_t i = 0; i < rotation.positions.size(); ++i) {
                const vector_in<S> row = rotation(m[i], i);
                for (std::size_t c = 0; c < row.length(0); ++c) m(i, c) = row(c);
            }
        return m;
    }
    template <vector_like X> static vector_in<S> turned_back(const X& row, std::size_t i, const detail::optional_rotation<S>& rotation) {
        return rotation.by && i < rotation.positions.size() ? rotation.back(row, i) : vector_in<S>(row);
    }
    template <class F> auto with_mask(const F& f) const { return with_sink_ ? f(*with_sink_) : f(*without_sink_); }

    const conventions& how_;
    const attention_problem& p_;
    detail::pair_rules<S> rules_;
    detail::any_score<S> score_;
    std::size_t slice_ = 0;
    mutable std::optional<inputs_of_slice> matrices_;
    detail::optional_rotation<S> of_queries_, of_keys_;
    std::optional<detail::pair_mask<S, true>> with_sink_;
    std::optional<detail::pair_mask<S, false>> without_sink_;
};

} // namespace attest
