// SPDX-License-Identifier: BSL-1.0
/// \file
/// Encoder and decoder layers and their stacks in `tracked`.
#pragma once

#include "attest/formula/decoder.hpp"
#include "attest/gradient/decoder.hpp"
#include "attest/oracle/op_multi_head.hpp"
#include "attest/oracle/op_rows.hpp"

namespace attest::detail {

[[nodiscard]] inline block_options<tracked> block_of(const conventions& how) {
    return {how.norm_pre ? norm_position::pre : norm_position::post, norm_options_of(how), activation_of(how)};
}

using tracked_norm = layer_norm_weights<tracked, dynamic_axis>;
using tracked_encoder_layer = encoder_layer_weights<tracked, dynamic_axis, dynamic_axis, dynamic_axis, dynamic_axis, dynamic_axis, dynamic_axis>;
using tracked_decoder_layer = decoder_layer_weights<tracked, dynamic_axis, dynamic_axis, dynamic_axis, dynamic_axis, dynamic_axis, dynamic_axis, dynamic_axis>;

/// One norm of a layer under a prefix, and the stages of its gradients.
struct norm_part {
    tracked_norm weights;
    stage *gamma = nullptr, *beta = nullptr;
    norm_part(const std::vector<named_view>& inputs, const std::string& prefix, std::size_t d) {
        load(weights, inputs, prefix, {}, d);
    }
    void begin(stage_list& stages, const std::vector<named_view>& inputs, const std::string& prefix) {
        gamma = begin_gradient(stages, inputs, prefix + "gamma");
        beta = begin_gradient(stages, inputs, prefix + "beta");
    }
    void add(const tracked_norm& d) const {
        add_parameter(gamma, d.gamma, false);
        add_parameter(beta, d.beta, false);
    }
};

/// One layer of a case under a prefix ("" or "layers.3."): encoder's, or decoder's with a memory.
class layer_part {
public:
    layer_part(const conventions& how, const std::vector<named_view>& inputs, std::string prefix, std::span<const std::size_t> batch, std::size_t n, std::size_t m, std::size_t d,
               bool decodes)
        : how_{how}, inputs_{inputs}, prefix_{std::move(prefix)}, batch_{batch.begin(), batch.end()}, n_{n}, decodes_{decodes}, options_{block_of(how)},
          self_(how, inputs, prefix_ + "self_attn.", batch, n, n, true), norm1_(inputs, prefix_ + "norm1.", d), norm2_(inputs, prefix_ + "norm2.", d) {
        if (decodes) {
            cross_.emplace(how, inputs, prefix_ + "cross_attn.", batch, n, m, false);
            norm3_.emplace(inputs, prefix_ + "norm3.", d);
        }
        if (self_.rules().has_sink() || (cross_ && cross_->rules().has_sink()))
            throw usage_error(prefix_ + "self_attn.sink or cross_attn.sink: layers do not take sinks in this version; check the attention alone, op=multi_head_attention");
        load(ffn_, inputs, prefix_ + "ffn.", weights_lie(how));
    }
    [[nodiscard]] std::vector<std::string> warnings() const {
        auto all = self_.rules().warnings();
        if (cross_) all.insert(all.end(), cross_->rules().warnings().begin(), cross_->rules().warnings().end());
        return all;
    }

    /// Begins the stages in the order of computation. `shape`: of x. `out`: the layer's own output has this name.
    /// `given`: results of another implementation, of which the finite ones of that shape are gone on from.
    void begin(stage_list& stages, const std::vector<std::size_t>& shape, const std::string& out, const std::vector<named_view>& given) {
        out_name_ = out;
        const auto own = named_stages();
        for (const named_view& g : given) {
            const bool mine = g.name == out || std::any_of(own.begin(), own.end(), [&](const named_stage& s) { return g.name == prefix_ + std::string(s.first); });
            // Nothing goes on from the op's own output.
            if (mine && g.name != "out")
                if (g.value.shape == shape && is_float(g.value.type) && all_finite(g.value)) given_.emplace_back(g.name, stack_of(g.name, g.value, layout_of_tokens(how_)));
        }
        const auto attention = [&](multi_head_part& part, const char* name, stage*& to) {
            part.begin_weights(stages, prefix_ + name + ".weights");
            to = stages.begin(prefix_ + name + ".out", shape);
        };
        const auto plain = [&](const char* name, stage*& to) { to = stages.begin(prefix_ + name + ".out", shape); };
        if (how_.norm_pre) plain("norm1", norm1_out_);
        attention(self_, "self_attn", self_out_);
        if (!how_.norm_pre) plain("norm1", norm1_out_);
        if (decodes_) {
            if (how_.norm_pre) plain("norm2", norm2_out_);
            attention(*cross_, "cross_attn", cross_out_);
            if (!how_.norm_pre) plain("norm2", norm2_out_);
        }
        const auto last_norm = [&] { decodes_ ? plain("norm3", norm3_out_) : plain("norm2", norm2_out_); };
        if (how_.norm_pre) last_norm();
        plain("ffn", ffn_out_);
        if (!how_.norm_pre) last_norm();
        out_ = stages.begin(out, shape);
    }
    void begin_gradients(stage_list& stages) {
        self_.begin_gradients(stages, inputs_, prefix_ + "self_attn.");
        norm1_.begin(stages, inputs_, prefix_ + "norm1.");
        if (cross_) cross_->begin_gradients(stages, inputs_, prefix_ + "cross_attn.");
        norm2_.begin(stages, inputs_, prefix_ + "norm2.");
        dffn_.emplace(stages, inputs_, prefix_ + "ffn.");
        if (norm3_) norm3_->begin(stages, inputs_, prefix_ + "norm3.");
    }

    /// The layer's output for batch element b. `recorded`: its stages are written, and each goes on from the stages before it as the case gives them; else
    /// nothing is written, and the output is that of x alone.
    [[nodiscard]] tracked_matrix forward(std::size_t b, const tracked_matrix& x, const tracked_matrix* memory, bool recorded) const {
        const auto visit = [&](std::string_view name, tracked_matrix& value) {
            if (recorded) put_and_go_on(b, name, value);
        };
        if (decodes_) {
            const auto s = decoder_layer_stages(x, *memory, decoder_weights(), options_, self_.how<false>(b), cross_->how<false>(b), visit);
            if (!recorded) return s.out;
            self_.write_weights(b, how_.norm_pre ? s.norm1_out : x, how_.norm_pre ? s.norm1_out : x);
            cross_->write_weights(b, how_.norm_pre ? s.norm2_out : s.norm1_out, *memory);
            return out_of(b, s.out);
        }
        const auto s = encoder_layer_stages(x, encoder_weights(), options_, self_.how<false>(b), visit);
        if (!recorded) return s.out;
        self_.write_weights(b, how_.norm_pre ? s.norm1_out : x, how_.norm_pre ? s.norm1_out : x);
        return out_of(b, s.out);
    }
    /// Whether the case gives results that later ones go on from.
    [[nodiscard]] bool has_given() const { return !given_.empty(); }
    /// The gradient of x from that of the output; adds to dmemory, and to the parameters' stages.
    [[nodiscard]] tracked_matrix backward(std::size_t b, const tracked_matrix& x, const tracked_matrix* memory, const tracked_matrix& dout, tracked_matrix* dmemory) const {
        if (decodes_) {
            auto g = decoder_layer_vjp(x, *memory, decoder_weights(), options_, self_.how<false>(b), cross_->how<false>(b), dout);
            self_.add_gradients(g.dw.self_attn);
            norm1_.add(g.dw.norm1);
            cross_->add_gradients(g.dw.cross_attn);
            norm2_.add(g.dw.norm2);
            dffn_->add(g.dw.ffn, how_.weight_out_in);
            norm3_->add(g.dw.norm3);
            add_to(*dmemory, g.dmemory);
            return g.dx;
        }
        auto g = encoder_layer_vjp(x, encoder_weights(), options_, self_.how<false>(b), dout);
        self_.add_gradients(g.dw.self_attn);
        norm1_.add(g.dw.norm1);
        dffn_->add(g.dw.ffn, how_.weight_out_in);
        norm2_.add(g.dw.norm2);
        return g.dx;
    }
    /// How many tokens of batch element b are no padding to any part of the layer, and how many are looked at by one.
    [[nodiscard]] std::size_t queries(std::size_t b) const { return cross_ ? std::min(self_.queries(b), cross_->queries(b)) : self_.queries(b); }
    [[nodiscard]] std::size_t tokens_used(std::size_t b) const { return std::max(queries(b), self_.keys(b)); }
    [[nodiscard]] std::size_t memory_used(std::size_t b) const { return cross_ ? cross_->keys(b) : 0; }
    void mark_stages() const {
        for (stage* of : {self_out_, norm1_out_, cross_out_, norm2_out_, ffn_out_, norm3_out_, out_})
            for (std::size_t b = 0; b < element_count(batch_); ++b) mark_padding(of, batch_, layout_of_tokens(how_), b, n_, queries(b));
        const auto judged = [&](std::size_t b) { return queries(b); };
        self_.mark_weights(judged);
        if (cross_) cross_->mark_weights(judged);
    }

private:
    // Writes a stage; if the case gives it, what comes after it starts from that.
    void put_and_go_on(std::size_t b, std::string_view name, tracked_matrix& value) const {
        const tensor_layout layout = layout_of_tokens(how_);
        for (const auto& [of, to] : named_stages())
            if (of == name) put(to, batch_, layout, b, value);
        go_on(b, prefix_ + std::string(name), value);
    }
    [[nodiscard]] tracked_matrix out_of(std::size_t b, tracked_matrix value) const {
        put(out_, batch_, layout_of_tokens(how_), b, value);
        go_on(b, out_name_, value);
        return value;
    }
    void go_on(std::size_t b, const std::string& name, tracked_matrix& value) const {
        for (const auto& [of, stack] : given_)
            if (of == name) value = tracked_of(stack[b]);
    }
    using named_stage = std::pair<std::string_view, stage*>;
    [[nodiscard]] std::array<named_stage, 6> named_stages() const {
        return {{{"self_attn.out", self_out_}, {"norm1.out", norm1_out_}, {"cross_attn.out", cross_out_}, {"norm2.out", norm2_out_}, {"ffn.out", ffn_out_}, {"norm3.out", norm3_out_}}};
    }
    [[nodiscard]] tracked_encoder_layer encoder_weights() const { return {self_.weights, norm1_.weights, ffn_, norm2_.weights}; }
    [[nodiscard]] tracked_decoder_layer decoder_weights() const { return {self_.weights, norm1_.weights, cross_->weights, norm2_.weights, ffn_, norm3_->weights}; }

    const conventions& how_;
    const std::vector<named_view>& inputs_;
    std::string prefix_;
    std::vector<std::size_t> batch_;
    std::size_t n_;
    bool decodes_;
    block_options<tracked> options_;
    multi_head_part self_;
    norm_part norm1_, norm2_;
    std::optional<multi_head_part> cross_;
    std::optional<norm_part> norm3_;
    tracked_feed_forward ffn_;
    std::optional<feed_forward_stages> dffn_;
    std::string out_name_;
    std::vector<std::pair<std::string, matrix_stack>> given_;
    stage *self_out_ = nullptr, *norm1_out_ = nullptr, *cross_out_ = nullptr, *norm2_out_ = nullptr, *ffn_out_ = nullptr, *norm3_out_ = nullptr, *out_ = nullptr;
};

/// encoder_layer, decoder_layer, encoder, decoder.
inline void run_layers(const conventions& how, const std::vector<named_view>& inputs, const std::vector<named_view>& given, stage_list& stages, std::vector<std::string>& warnings,
                       const progress& tell) {
    const bool decodes = how.op.starts_with("decoder"), stacked = !how.op.ends_with("_layer");
    const tensor_layout layout = layout_of_tokens(how);
    const array_view& x_given = required(inputs, how.op, "x");
    const matrix_stack x = stack_of("x", x_given, layout);
    if (decodes) (void)required(inputs, how.op, "memory");
    const std::optional<matrix_stack> memory = decodes ? memory_of(how, inputs, x, x_given) : std::nullopt;
    const std::size_t m = memory ? memory->rows : 0, count = stacked ? layers_among(inputs, "layers.") : 1;
    if (count == 0) throw usage_error(how.op + " needs layers: tensors named layers.0.self_attn.w_q and so on");
    std::deque<layer_part> layers;
    for (std::size_t l = 0; l < count; ++l) {
        const std::string prefix = stacked ? "layers." + std::to_string(l) + "." : "";
        for (const char* name : {"self_attn.w_q", "self_attn.w_k", "self_attn.w_v", "cross_attn.w_q", "ffn.w_1"})
            check_tokens_enter(how, "x", x_given, x.columns, prefix + name, inputs);
        if (decodes)
            for (const char* name : {"cross_attn.w_k", "cross_attn.w_v"}) check_tokens_enter(how, "memory", *find(inputs, "memory"), memory->columns, prefix + name, inputs);
        layer_part& layer = layers.emplace_back(how, inputs, prefix, x.batch, x.rows, m, x.columns, decodes);
        for (std::string& warning : layer.warnings()) warnings.push_back(std::move(warning));
    }
    std::optional<norm_part> final_norm;
    if (stacked && any_begins_with(inputs, "norm.")) final_norm.emplace(inputs, "norm.", x.columns);
    for (std::size_t l = 0; l < count; ++l) layers[l].begin(stages, x_given.shape, stacked ? "layers." + std::to_string(l) + ".out" : "out", given);
    stage* const out = stacked ? stages.begin("out", x_given.shape) : nullptr;
    const bool backward = stages.wants_any(is_gradient);
    stage* const dx = stages.begin("dx", x_given.shape);
    stage* const dmemory = memory ? stages.begin("dmemory", find(inputs, "memory")->shape) : nullptr;
    std::optional<matrix_stack> dout;
    if (backward) {
        dout = stack_of("dout", dout_of(inputs, how.op, x_given.shape), layout);
        for (layer_part& layer : layers) layer.begin_gradients(stages);
        if (final_norm) final_norm->begin(stages, inputs, "norm.");
    }
    const auto options = norm_options_of(how);
    const std::size_t batches = element_count(x.batch), steps = batches * count * (backward ? 2 : 1);
    std::size_t done = 0;
    for (std::size_t b = 0; b < batches; ++b) {
        const std::size_t b_memory = memory ? source_slice(x.batch, memory->batch, b) : 0;
        const tracked_matrix from = memory ? tracked_of((*memory)[b_memory]) : tracked_matrix();
        tracked_matrix tokens = tracked_of(x[b]);
        std::vector<tracked_matrix> borders = {tokens}; // of x alone, for the gradients
        for (const layer_part& layer : layers) {
            const bool goes_on_from_given = ranges::any_of(layers, &layer_part::has_given);
            tokens = layer.forward(b, tokens, &from, true);
            if (backward) borders.push_back(goes_on_from_given ? layer.forward(b, borders.back(), &from, false) : tokens);
            if (tell) tell(++done, steps);
        }
        if (out != nullptr) put(out, x.batch, layout, b, final_norm ? layer_norm(tokens, final_norm->weights, options) : tokens);
        if (!backward) continue;
        tracked_matrix gradient = tracked_of((*dout)[b]);
        tracked_matrix of_memory = tracked_matrix::with_lengths(from.length(0), from.length(1));
        if (final_norm) {
            auto g = layer_norm_vjp(borders.back(), final_norm->weights, options, gradient);
            final_norm->add(g.dweights);
            gradient = g.dx;
        }
        for (std::size_t l = count; l-- > 0;) {
            gradient = layers[l].backward(b, borders[l], &from, gradient, &of_memory);
            if (tell) tell(++done, steps);
        }
        put(dx, x.batch, layout, b, gradient);
        if (memory) add(dmemory, memory->batch, layout, b_memory, of_memory);
    }
    // Tokens that are padding are nobody's; of the gradients, what is padding to all layers, and to all batch elements that share a memory.
    for (const layer_part& layer : layers) layer.mark_stages();
    std::vector<std::size_t> used(memory ? element_count(memory->batch) : 0, 0);
    for (std::size_t b = 0; b < batches; ++b) {
        if (stacked) mark_padding(out, x.batch, layout, b, x.rows, layers.back().queries(b));
        std::size_t tokens = 0;
        for (const layer_part& layer : layers) {
            tokens = std::max(tokens, layer.tokens_used(b));
            if (!memory) continue;
            std::size_t& most = used[source_slice(x.batch, memory->batch, b)];
            most = std::max(most, layer.memory_used(b));
        }
        mark_padding(dx, x.batch, layout, b, x.rows, tokens);
    }
    for (std::size_t b = 0; b < used.size(); ++b) mark_padding(dmemory, memory->batch, layout, b, memory->rows, used[b]);
}

} // namespace attest::detail
