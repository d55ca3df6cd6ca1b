// SPDX-License-Identifier: BSL-1.0
/// \file
/// The ops score and attention with every option of a case, and attention's gradients, in `tracked`.
#pragma once

#include "attest/formula/attention.hpp"
#include "attest/gradient/attention.hpp"
#include "attest/oracle/any_score.hpp"
#include "attest/oracle/pair_rules.hpp"

namespace attest::detail {

// Whether attention asks for more than `exact.hpp` and `limits.hpp` know.
[[nodiscard]] inline bool attention_needs_tracking(const conventions& how, const std::vector<named_view>& inputs) {
    for (const char* name : {"q_lengths", "k_lengths", "sink", "alibi_slopes", "dropout_mask", "positions"})
        if (find(inputs, name) != nullptr) return true;
    return how.score == score_kind::bilinear || how.score == score_kind::additive || how.softcap || how.window || how.position != position_kind::none || how.dropout_p;
}

inline void run_score(const conventions& how, const std::vector<named_view>& inputs, stage_list& stages, const progress& tell) {
    const array_view& q_given = required(inputs, how.op, "q");
    const array_view& k_given = required(inputs, how.op, "k");
    const matrix_stack q = stack_of("q", q_given, how.layout), k = stack_of("k", k_given, how.layout);
    const any_score score(how, inputs, q_given, q.columns, k_given, k.columns);
    const auto batch = common_batch(q.batch, k.batch, "q " + shape_text(q_given.shape) + " and k " + shape_text(k_given.shape), true);
    std::vector<std::size_t> shape = batch;
    shape.insert(shape.end(), {q.rows, k.rows});
    stage* const out = stages.begin("scores", shape);
    const std::size_t slices = element_count(batch);
    for (std::size_t s = 0; s < slices && out != nullptr; ++s) {
        put(out, batch, tensor_layout::bhnd, s, scores(tracked_of(q[source_slice(batch, q.batch, s)]), tracked_of(k[source_slice(batch, k.batch, s)]), score));
        if (tell) tell(s + 1, slices);
    }
}

class attention_stages {
public:
    attention_stages(const conventions& how, const std::vector<named_view>& inputs, stage_list& stages)
        : how_{how}, p_{make_attention_problem(how, inputs)}, rules_(how, inputs, "", p_.batch, p_.n_q, p_.n_k),
          score_(how, inputs, *find(inputs, "q"), p_.d_k, *find(inputs, "k"), p_.k.columns) {
        if (how.position == position_kind::rope) {
            check_rotation(how, "q", *find(inputs, "q"), p_.d_k);
            check_rotation(how, "k", *find(inputs, "k"), p_.k.columns);
        }
        const auto begin = [&](const char* name) {
            const tensor_layout layout = std::string_view(name) == "out" ? how.layout : tensor_layout::bhnd;
            return stages.begin(name, shape_in_layout(p_.shape_of_output(name), layout));
        };
        raw_scores_ = begin("raw_scores");
        scores_ = begin("scores");
        weights_ = begin("weights");
        lse_ = begin("lse");
        out_ = begin("out");
        const auto shape = [&](const char* name) { return find(inputs, name)->shape; };
        dq_ = stages.begin("dq", shape("q"));
        dk_ = stages.begin("dk", shape("k"));
        dv_ = stages.begin("dv", shape("v"));
        if (stages.wants("dmask")) {
            const array_view* const mask = find(inputs, "mask");
            if (mask == nullptr || !is_float(mask->type)) throw usage_error("dmask is given, but no float mask that is added to the scores");
            dmask_ = stages.begin("dmask", mask->shape);
        }
        if (dq_ != nullptr || dk_ != nullptr || dv_ != nullptr || dmask_ != nullptr)
            dout_ = stack_of("dout", dout_of(inputs, how.op, shape_in_layout(p_.shape_of_output("out"), how.layout)), how.layout);
    }

    void run(const progress& tell) {
        for (std::size_t s = 0; s < p_.slices(); ++s) {
            if (rules_.has_sink()) slice<true>(s);
            else slice<false>(s);
            if (tell) tell(s + 1, p_.slices());
        }
        mark_gradient_padding(dq_, p_.q, &pair_rules::queries);
        mark_gradient_padding(dk_, p_.k, &pair_rules::keys);
        mark_gradient_padding(dv_, p_.v, &pair_rules::keys);
    }
    [[nodiscard]] std::vector<std::string> warnings() const { return rules_.warnings(); }

private:
    template <bool Sink> void slice(std::size_t s) {
        const std::size_t b = s / rules_.heads(), q_slice = source_slice(p_.batch, p_.q.batch, s), k_slice = source_slice(p_.batch, p_.k.batch, s),
                          v_slice = source_slice(p_.batch, p_.v.batch, s);
        const optional_rotation of_queries = rotation_of(how_, rules_, b, rules_.queries(s), rules_.shift(b)), of_keys = rotation_of(how_, rules_, b, p_.n_k, 0);
        const auto rotated = [](const matrix_view& given, const optional_rotation& rotation) {
            auto m = tracked_of(given);
            if (rotation.by)
                for (std::size_t i = 0; i < rotation.positions.size(); ++i) {
                    const tracked_vector row = rotation(m[i], i);
                    for (std::size_t c = 0; c < row.length(0); ++c) m(i, c) = row(c);
                }
            return m;
        };
        const tracked_matrix q = rotated(p_.q[q_slice], of_queries), k = rotated(p_.k[k_slice], of_keys), v = tracked_of(p_.v[v_slice]);
        const pair_mask<Sink> mask = rules_.mask<Sink>(s);
        forward(s, q, k, v, mask);
        mark_forward_padding(s);
        if (!dout_) return;
        const auto write_mask = [&](std::size_t i, std::size_t j, const tracked& ds) { add_to_mask(s, i, j, ds); };
        auto gradient = attention_vjp(q, k, v, mask, score_, tracked_of((*dout_)[s]), empty_row::zero, write_mask);
        const auto turn_back = [](tracked_matrix& m, const optional_rotation& rotation) {
            if (rotation.by)
                for (std::size_t i = 0; i < rotation.positions.size(); ++i) {
                    const tracked_vector row = rotation.back(m[i], i);
                    for (std::size_t c = 0; c < row.length(0); ++c) m(i, c) = row(c);
                }
        };
        turn_back(gradient.dq, of_queries);
        turn_back(gradient.dk, of_keys);
        add(dq_, p_.q.batch, how_.layout, q_slice, gradient.dq);
        add(dk_, p_.k.batch, how_.layout, k_slice, gradient.dk);
        add(dv_, p_.v.batch, how_.layout, v_slice, gradient.dv);
    }

    template <bool Sink>
    void forward(std::size_t s, const tracked_matrix& q, const tracked_matrix& k, const tracked_matrix& v, const pair_mask<Sink>& mask) {
        if (raw_scores_ != nullptr)
            for_slice(*raw_scores_, p_.batch, tensor_layout::bhnd, s, p_.n_q, p_.n_k, [&](std::size_t at, std::size_t i, std::size_t j) { raw_scores_->values[at] = score_.raw(q[i], k[j]); });
        if (scores_ == nullptr && weights_ == nullptr && lse_ == nullptr && out_ == nullptr) return;
        const empty_row on_empty = how_.empty_row_is_nan ? empty_row::nan : empty_row::zero;
        for (std::size_t i = 0; i < p_.n_q; ++i) {
            const auto row = attend(q[i], k, v, i, mask, score_, on_empty);
            const mask_row<pair_mask<Sink>> visible{mask, i};
            const std::size_t first = (s * p_.n_q + i) * p_.n_k;
            for (std::size_t j = 0; j < p_.n_k; ++j) {
                if (scores_ != nullptr) scores_->values[first + j] = visible(j) ? row.scores(j) : -std::numeric_limits<tracked>::infinity();
                if (weights_ != nullptr) weights_->values[first + j] = row.weights(j);
            }
            if (lse_ != nullptr) {
                tracked sink(0);
                if constexpr (Sink) sink = mask.sink();
                lse_->values[s * p_.n_q + i] = log_sum_exp(row.scores, visible, Sink ? &sink : nullptr);
            }
            if (out_ != nullptr) {
                const placement at = place(out_->shape, how_.layout);
                const std::size_t start = first_of_row(at, p_.batch, s, i);
                for (std::size_t c = 0; c < p_.d_v; ++c) out_->values[start + c * at.stride.back()] = row.out(c);
            }
        }
    }

    // Queries that are padding are nobody's, and so are the raw scores of keys that are. (Their other scores are -infinity, and their weights 0.)
    void mark_forward_padding(std::size_t s) {
        const std::size_t queries = rules_.queries(s), keys = rules_.keys(s);
        for (stage* of : {raw_scores_, scores_, weights_}) mark_padding(of, p_.batch, tensor_layout::bhnd, s, p_.n_q, queries);
        mark_padding(out_, p_.batch, how_.layout, s, p_.n_q, queries);
        if (lse_ != nullptr && queries < p_.n_q) {
            lse_->padding.resize(lse_->values.size());
            for (std::size_t i = queries; i < p_.n_q; ++i) lse_->padding[s * p_.n_q + i] = true;
        }
        if (raw_scores_ == nullptr || keys == p_.n_k) return;
        raw_scores_->padding.resize(raw_scores_->values.size());
        for_slice(*raw_scores_, p_.batch, tensor_layout::bhnd, s, p_.n_q, p_.n_k, [&](std::size_t at, std::size_t, std::size_t j) {
            if (j >= keys) raw_scores_->padding[at] = true;
        });
    }
    // Several slices may read one: what is padding to all of them is.
    void mark_gradient_padding(stage* to, const matrix_stack& of, std::size_t (pair_rules::*length)(std::size_t) const) {
        std::vector<std::size_t> used(element_count(of.batch), 0);
        for (std::size_t s = 0; s < p_.slices(); ++s) {
            std::size_t& most = used[source_slice(p_.batch, of.batch, s)];
            most = std::max(most, (rules_.*length)(s));
        }
        for (std::size_t own = 0; own < used.size(); ++own) mark_padding(to, of.batch, how_.layout, own, of.rows, used[own]);
    }

    // The mask may broadcast over queries, keys, heads and batch: its gradient is then a sum.
    void add_to_mask(std::size_t s, std::size_t i, std::size_t j, const tracked& ds) {
        if (dmask_ == nullptr) return;
        const auto& shape = dmask_->shape;
        const std::size_t rank = shape.size(), rows = rank >= 2 ? shape[rank - 2] : 1, columns = rank >= 1 ? shape[rank - 1] : 1;
        const std::size_t slice = source_slice(p_.batch, p_.bias->batch, s);
        tracked& sum = dmask_->values[(slice * rows + (rows == 1 ? 0 : i)) * columns + (columns == 1 ? 0 : j)];
        sum = sum + ds;
    }

    const conventions& how_;
    attention_problem p_;
    pair_rules rules_;
    any_score score_;
    std::optional<matrix_stack> dout_;
    stage *raw_scores_ = nullptr, *scores_ = nullptr, *weights_ = nullptr, *lse_ = nullptr, *out_ = nullptr, *dq_ = nullptr, *dk_ = nullptr, *dv_ = nullptr, *dmask_ = nullptr;
};

} // namespace attest::detail
