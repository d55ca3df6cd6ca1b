// SPDX-License-Identifier: BSL-1.0
/// \file
/// Multi-head attention in `tracked`: as an op, and as the part of a layer.
#pragma once

#include "attest/formula/multi_head.hpp"
#include "attest/gradient/multi_head.hpp"
#include "attest/oracle/any_score.hpp"
#include "attest/oracle/load_weights.hpp"
#include "attest/oracle/pair_rules.hpp"
#include "attest/oracle/stages.hpp"

namespace attest::detail {

using tracked_heads = multi_head_weights<tracked, dynamic_axis, dynamic_axis, dynamic_axis, dynamic_axis, dynamic_axis, dynamic_axis>;

/// The masks of all heads of one batch element.
template <bool Sink> struct head_masks {
    const pair_rules<tracked>* rules;
    std::size_t b;
    [[nodiscard]] pair_mask<tracked, Sink> head(std::size_t h) const { return rules->template mask<Sink>(b * rules->heads() + h); }
};
template <bool Sink> using tracked_how = attention_how<head_masks<Sink>, any_score<tracked>, optional_rotation<tracked>>;

[[nodiscard]] inline head_counts heads_of(const conventions& how) {
    if (!how.heads) throw usage_error(how.op + " needs heads, the number of heads");
    return {*how.heads, how.kv_heads.value_or(*how.heads)};
}

/// One multi-head attention of a case, under a prefix ("", "self_attn.", "layers.0.cross_attn."): its weights, its rules, and its stages.
class multi_head_part {
public:
    /// `batch`: that of the tokens. `self`: keys and values come from the tokens themselves, so that causal masks apply.
    multi_head_part(const conventions& how, const std::vector<named_view>& inputs, const std::string& prefix, std::span<const std::size_t> batch, std::size_t n_q,
                    std::size_t n_k, bool self)
        : how_{how}, batch_{batch.begin(), batch.end()}, n_q_{n_q}, n_k_{n_k} {
        load(weights, inputs, prefix, how.weight_out_in ? weight_layout::out_in : weight_layout::in_out, heads_of(how));
        std::vector<std::size_t> with_heads = batch_;
        with_heads.push_back(weights.n_heads);
        rules_.emplace(how, inputs, prefix, std::move(with_heads), n_q, n_k, self);
        if (weights.d_k() == 0 && how.score == score_kind::scaled && !how.scale)
            throw usage_error(prefix + "w_q " + shape_text(find(inputs, prefix + "w_q")->shape) + ": with d_k = 0 the scale 1/sqrt(d_k) is undefined");
        score_.emplace(how, weights.d_k());
        if (rules_->position_rule() == position_kind::rope) check_rotation(how, "a head of " + prefix + "w_q", *find(inputs, prefix + "w_q"), weights.d_k());
        if (rules_->position_rule() == position_kind::rope && how.causal == causal_alignment::bottom_right && n_q != n_k)
            throw usage_error("position=rope with causal=bottom-right needs as many queries as keys here (" + std::to_string(n_q) + " and " + std::to_string(n_k) +
                              "): use op=attention, on the rotated heads");
    }
    /// Begins the stage of the weights.
    void begin_weights(stage_list& stages, const std::string& name) {
        std::vector<std::size_t> shape = batch_;
        if (!how_.weights_mean) shape.push_back(weights.n_heads);
        shape.insert(shape.end(), {n_q_, n_k_});
        weights_stage_ = stages.begin(name, shape);
    }
    /// Begins the stages of the parameters' gradients.
    void begin_gradients(stage_list& stages, const std::vector<named_view>& inputs, const std::string& prefix) {
        const char* const names[] = {"w_q", "b_q", "w_k", "b_k", "w_v", "b_v", "w_o", "b_o"};
        for (std::size_t p = 0; p < 8; ++p) gradients_[p] = begin_gradient(stages, inputs, prefix + names[p]);
    }

    /// How batch element b attends.
    template <bool Sink> [[nodiscard]] tracked_how<Sink> how(std::size_t b) const {
        return {{&*rules_, b}, *score_, rotation_of(how_, *rules_, b, std::max(n_q_, n_k_), 0), how_.empty_row_is_nan ? empty_row::nan : empty_row::zero};
    }
    /// f(how) with the sink, if there is one.
    template <class F> auto with_how(std::size_t b, F f) const {
        if (rules_->has_sink()) return f(how<true>(b));
        return f(how<false>(b));
    }
    [[nodiscard]] const pair_rules<tracked>& rules() const { return *rules_; }

    /// Writes the weights of batch element b.
    void write_weights(std::size_t b, const tracked_matrix& x, const tracked_matrix& memory) const {
        if (weights_stage_ == nullptr) return;
        with_how(b, [&](const auto& attending) {
            const auto all = project_heads(x, memory, weights);
            std::vector<tracked>& to = weights_stage_->values;
            for (std::size_t h = 0; h < weights.n_heads; ++h) {
                const auto in = head_inputs(all, weights, attending, h);
                const auto mask = attending.mask.head(h);
                for (std::size_t i = 0; i < n_q_; ++i) {
                    const auto row = attend(in.q[i], in.k, in.v, i, mask, attending.score, attending.on_empty);
                    const std::size_t first = ((how_.weights_mean ? b : b * weights.n_heads + h) * n_q_ + i) * n_k_;
                    for (std::size_t j = 0; j < n_k_; ++j) to[first + j] = to[first + j] + row.weights(j);
                }
            }
            if (how_.weights_mean)
                for (std::size_t e = 0; e < n_q_ * n_k_; ++e) {
                    tracked& mean = to[b * n_q_ * n_k_ + e];
                    mean = mean / tracked(static_cast<double>(weights.n_heads));
                }
        });
    }
    void add_gradients(const tracked_heads& dw) const {
        const bool out_in = how_.weight_out_in;
        add_parameter(gradients_[0], dw.w_q, out_in);
        add_parameter(gradients_[1], dw.b_q, false);
        add_parameter(gradients_[2], dw.w_k, out_in);
        add_parameter(gradients_[3], dw.b_k, false);
        add_parameter(gradients_[4], dw.w_v, out_in);
        add_parameter(gradients_[5], dw.b_v, false);
        add_parameter(gradients_[6], dw.w_o, out_in);
        add_parameter(gradients_[7], dw.b_o, false);
    }
    /// Rows of queries that are padding are nobody's.
    void mark_queries(stage* of, tensor_layout layout) const {
        for (std::size_t b = 0; b < element_count(batch_); ++b) mark_padding(of, batch_, layout, b, n_q_, queries(b));
    }
    /// The same of the weights; `judged(b)`: how many rows are judged at most.
    template <class Judged> void mark_weights(const Judged& judged) const {
        if (weights_stage_ == nullptr) return;
        const std::vector<std::size_t> batch(weights_stage_->shape.begin(), weights_stage_->shape.end() - 2);
        const std::size_t per_element = how_.weights_mean ? 1 : weights.n_heads;
        for (std::size_t s = 0; s < element_count(batch); ++s)
            mark_padding(weights_stage_, batch, tensor_layout::bhnd, s, n_q_, std::min(queries(s / per_element), judged(s / per_element)));
    }
    [[nodiscard]] std::size_t queries(std::size_t b) const { return rules_->queries(b * rules_->heads()); }
    [[nodiscard]] std::size_t keys(std::size_t b) const { return rules_->keys(b * rules_->heads()); }

    tracked_heads weights;

private:
    const conventions& how_;
    std::vector<std::size_t> batch_;
    std::size_t n_q_, n_k_;
    std::optional<pair_rules<tracked>> rules_;
    std::optional<any_score<tracked>> score_;
    stage* weights_stage_ = nullptr;
    stage* gradients_[8] = {};
};

// The memory of a case, or nothing; it must have the batch of x.
[[nodiscard]] inline std::optional<matrix_stack> memory_of(const conventions& how, const std::vector<named_view>& inputs, const matrix_stack& x, const array_view& x_given) {
    const array_view* const given = find(inputs, "memory");
    if (given == nullptr) return {};
    matrix_stack memory = tokens_of("memory", *given, layout_of_tokens(how));
    if (memory.batch != x.batch && element_count(memory.batch) != 1)
        throw usage_error("x " + shape_text(x_given.shape) + " and memory " + shape_text(given->shape) + " must have the same batch dimensions, " + shape_text(x.batch));
    return memory;
}

inline void run_multi_head(const conventions& how, const std::vector<named_view>& inputs, stage_list& stages, std::vector<std::string>& warnings, const progress& tell) {
    const tensor_layout layout = layout_of_tokens(how);
    const array_view& x_given = required(inputs, how.op, "x");
    const matrix_stack x = tokens_of("x", x_given, layout);
    const std::optional<matrix_stack> memory = memory_of(how, inputs, x, x_given);
    const matrix_stack& keys = memory ? *memory : x;
    check_tokens_enter(how, "x", x_given, x.columns, "w_q", inputs);
    for (const char* name : {"w_k", "w_v"}) check_tokens_enter(how, memory ? "memory" : "x", memory ? *find(inputs, "memory") : x_given, keys.columns, name, inputs);
    multi_head_part part(how, inputs, "", x.batch, x.rows, keys.rows, true);
    warnings = part.rules().warnings();
    std::vector<std::size_t> shape = x.batch;
    shape.insert(shape.end(), {x.rows, part.weights.w_o.length(1)});
    if (x_given.shape.size() == 1) shape.erase(shape.begin());
    part.begin_weights(stages, "weights");
    const std::vector<std::size_t> out_shape = x_given.shape.size() == 1 ? shape : shape_in_layout(shape, layout);
    stage* const out = stages.begin("out", out_shape);
    stage* const dx = stages.begin("dx", x_given.shape);
    if (stages.wants("dmemory") && !memory) throw usage_error("dmemory is given, but no memory");
    stage* const dmemory = memory ? stages.begin("dmemory", find(inputs, "memory")->shape) : nullptr;
    part.begin_gradients(stages, inputs, "");
    std::optional<matrix_stack> dout;
    if (stages.wants_any(is_gradient)) dout = tokens_of("dout", dout_of(inputs, how.op, out_shape), layout);
    const std::size_t batches = element_count(x.batch);
    for (std::size_t b = 0; b < batches; ++b) {
        const std::size_t b_memory = memory ? source_slice(x.batch, memory->batch, b) : b;
        const tracked_matrix tokens = tracked_of(x[b]), from = memory ? tracked_of((*memory)[b_memory]) : tokens;
        part.write_weights(b, tokens, from);
        part.with_how(b, [&](const auto& attending) {
            if (out != nullptr) put(out, x.batch, layout, b, multi_head_attention(tokens, from, part.weights, attending));
            if (!dout) return;
            const tracked_matrix dy = tracked_of((*dout)[b]);
            auto g = multi_head_attention_vjp(tokens, from, part.weights, attending, dy);
            if (!memory) add_to(g.dx, g.dmemory);
            put(dx, x.batch, layout, b, g.dx);
            if (memory) add(dmemory, memory->batch, layout, b_memory, g.dmemory);
            part.add_gradients(g.dw);
        });
        if (tell) tell(b + 1, batches);
    }
    // Tokens that are padding are nobody's; where keys are those of a memory that several batch elements share, only what is padding to all.
    part.mark_queries(out, layout);
    part.mark_weights([&](std::size_t) { return x.rows; });
    std::vector<std::size_t> used(memory ? element_count(memory->batch) : 0, 0);
    for (std::size_t b = 0; b < batches; ++b) {
        mark_padding(dx, x.batch, layout, b, x.rows, memory ? part.queries(b) : std::max(part.queries(b), part.keys(b)));
        if (memory) {
            std::size_t& most = used[source_slice(x.batch, memory->batch, b)];
            most = std::max(most, part.keys(b));
        }
    }
    for (std::size_t b = 0; b < used.size(); ++b) mark_padding(dmemory, memory->batch, layout, b, memory->rows, used[b]);
}

} // namespace attest::detail
