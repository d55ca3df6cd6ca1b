// SPDX-License-Identifier: BSL-1.0
/// \file
/// From named tensors to the typed weights of formulas: `load(weights, tensors, prefix, layout)` fills one aggregate.
///
/// ```cpp
/// attest::layer_stack<layer, N> layers;
/// attest::load(layers, tensors, "layers.", attest::weight_layout::in_out);   // layers.0.self_attn.w_q, …
/// ```
/// Names behind the prefix: `w_q w_k w_v w_o b_q b_k b_v b_o` of attention, `gamma beta` of a norm, `w_1 b_1 w_2 b_2` of a feed-forward network; a layer puts
/// `self_attn.`, `cross_attn.`, `ffn.`, `norm1.` to `norm3.` in front of them, a range of layers its number and a dot. Matrices in the layout out_in
/// are transposed. Biases, gamma and beta may be missing: then they stay as they are, absent on a dynamic axis, zeros or ones on a fixed one.
///
/// A dynamic axis takes its length from the tensor. Any scalar S that an element converts to by `S(double)` will do: elements are decoded exactly.
/// usage_error, with the tensor's name, its shape, the one expected and the rule's sentence: a tensor is missing or not made of floating-point
/// numbers; its length on a fixed axis is another; it does not fit the tensors before it. `d_model`: the length that they ask for, if any.
#pragma once

#include "attest/formula/decoder.hpp"
#include "attest/oracle/decode.hpp"
#include "attest/question/named_view.hpp"

#include <algorithm>

namespace attest {

/// How many heads weights on dynamic axes have; where the types say it, these must agree or be 0.
struct head_counts {
    std::size_t n_heads = 0;
    std::size_t n_kv_heads = 0; ///< 0: as many as heads
};

/// Whether any tensor's name begins with this.
[[nodiscard]] inline bool any_begins_with(const std::vector<named_view>& tensors, std::string_view prefix) {
    return std::any_of(tensors.begin(), tensors.end(), [&](const named_view& t) { return std::string_view(t.name).starts_with(prefix); });
}

namespace detail {

// An expected length, or any.
inline constexpr std::size_t any_length = dynamic;

// Reads the tensors of one aggregate.
class weight_reader {
public:
    weight_reader(const std::vector<named_view>& tensors, std::string_view prefix, weight_layout layout) : tensors_{tensors}, prefix_{prefix}, layout_{layout} {}

    /// W in the layout in_out. `inputs`, `outputs`: the lengths that tensors before it ask for; where one is broken, `Inputs` or `Outputs` is to blame.
    template <class Inputs, class Outputs, class S, axis_type In, axis_type Out>
    void matrix(tensor<S, In, Out>& to, const char* name, std::size_t inputs = any_length, std::size_t outputs = any_length) const {
        const array_view& from = required(name);
        const bool transposed = layout_ == weight_layout::out_in;
        expect_rank(name, from, 2);
        const std::size_t in = from.shape[transposed ? 1 : 0], out = from.shape[transposed ? 0 : 1];
        const std::size_t wanted_in = is_dynamic<In> ? inputs : In::size, wanted_out = is_dynamic<Out> ? outputs : Out::size;
        const bool bad_in = wanted_in != any_length && in != wanted_in, bad_out = wanted_out != any_length && out != wanted_out;
        if (bad_in || bad_out) {
            const auto said = [](std::size_t length) { return length == any_length ? std::string("any") : std::to_string(length); };
            std::string text = "[" + said(transposed ? wanted_out : wanted_in) + ", " + said(transposed ? wanted_in : wanted_out) + "] (" +
                               (transposed ? "out_in: d_out x d_in" : "in_out: d_in x d_out") + ")";
            const bool would_fit = (wanted_in == any_length || out == wanted_in) && (wanted_out == any_length || in == wanted_out);
            if (would_fit) text += std::string("; it would fit in the layout ") + (transposed ? "in_out" : "out_in");
            refuse(name, from, text, bad_in ? Inputs::sentence : Outputs::sentence);
        }
        to = tensor<S, In, Out>::with_lengths(in, out);
        for (std::size_t i = 0; i < in; ++i)
            for (std::size_t o = 0; o < out; ++o) to(i, o) = S(decode(from, transposed ? o * in + i : i * out + o));
    }

    /// A vector that may be missing. `length`: what the tensors before it ask for.
    template <class Rule, class S, axis_type D> void optional_vector(tensor<S, D>& to, const char* name, std::size_t length) const {
        const array_view* const from = find(tensors_, full(name));
        if (from == nullptr) return;
        require_float(full(name), *from);
        expect_rank(name, *from, 1);
        const std::size_t wanted = is_dynamic<D> ? length : D::size;
        if (wanted != any_length && from->shape[0] != wanted) refuse(name, *from, "[" + std::to_string(wanted) + "]", Rule::sentence);
        to = tensor<S, D>::with_lengths(from->shape[0]);
        for (std::size_t c = 0; c < from->shape[0]; ++c) to(c) = S(decode(*from, c));
    }

    /// The length per head of a matrix whose columns are heads side by side.
    [[nodiscard]] std::size_t per_head(const char* name, std::size_t columns, std::size_t heads) const {
        try {
            return rules::heads_divide_model::length(columns, heads);
        } catch (const shape_error& e) {
            throw usage_error(full(name) + " " + shape_text(required(name).shape) + ": " + e.what());
        }
    }
    [[nodiscard]] std::string full(const char* name) const { return prefix_ + name; }

private:
    [[nodiscard]] const array_view& required(const char* name) const {
        const array_view* const found = find(tensors_, full(name));
        if (found == nullptr) throw usage_error("the tensor " + full(name) + " is missing");
        require_float(full(name), *found);
        return *found;
    }
    void expect_rank(const char* name, const array_view& from, std::size_t rank) const {
        if (from.shape.size() != rank)
            throw usage_error(full(name) + " " + shape_text(from.shape) + " must have " + (rank == 1 ? "one dimension" : "two dimensions"));
    }
    [[noreturn]] void refuse(const char* name, const array_view& from, const std::string& expected, const char* sentence) const {
        throw usage_error(full(name) + " " + shape_text(from.shape) + " does not fit; expected " + expected + ": " + sentence);
    }

    const std::vector<named_view>& tensors_;
    std::string prefix_;
    weight_layout layout_;
};

// A number of heads, from the type or as given; usage_error if both say something and differ, or none does.
template <axis_type H> [[nodiscard]] std::size_t heads_of_type(const std::string& prefix, const char* what, std::size_t given) {
    if constexpr (!is_dynamic<H>) {
        if (given != 0 && given != H::size)
            throw usage_error(prefix + ": " + std::to_string(given) + " " + what + " are given; the weights' type has " + std::to_string(H::size));
        return H::size;
    } else {
        if (given == 0) throw usage_error(prefix + ": the number of " + what + " is not known; declare it");
        return given;
    }
}

template <class R>
concept resizable = requires(R& r) { r.resize(std::size_t{1}); };

template <class R> [[nodiscard]] std::size_t number_of_layers(const R& layers) {
    std::size_t count = 0;
    for (const auto& layer : layers) {
        (void)layer;
        ++count;
    }
    return count;
}

// The numbers N of names PREFIX N . …: they must be 0, 1, 2, … without a gap. Returns how many.
inline std::size_t layers_among(const std::vector<named_view>& tensors, std::string_view prefix) {
    std::size_t count = 0;
    while (any_begins_with(tensors, std::string(prefix) + std::to_string(count) + ".")) ++count;
    for (const named_view& t : tensors) {
        const std::string_view name = t.name;
        if (!name.starts_with(prefix)) continue;
        const std::string_view rest = name.substr(prefix.size());
        const std::size_t dot = rest.find('.');
        if (dot == 0 || dot == std::string_view::npos || rest.find_first_not_of("0123456789") != dot) continue; // not a layer's
        bool counted = false;
        for (std::size_t l = 0; l < count && !counted; ++l) counted = rest.substr(0, dot) == std::to_string(l);
        if (!counted)
            throw usage_error("the tensor " + t.name + " belongs to no layer: layers are numbered from 0 without a gap, and " + std::string(prefix) +
                              std::to_string(count) + " is missing");
    }
    return count;
}

} // namespace detail

/// γ and β of a norm, each if it is there. Shapes: d.
template <class S, axis_type D>
void load(layer_norm_weights<S, D>& weights, const std::vector<named_view>& tensors, std::string_view prefix, weight_layout layout = {},
          std::size_t d = detail::any_length) {
    const detail::weight_reader read(tensors, prefix, layout);
    using rule = rules::norm_weight_for_each_component;
    read.template optional_vector<rule>(weights.gamma, "gamma", d);
    read.template optional_vector<rule>(weights.beta, "beta", weights.gamma.length(0) == 0 ? d : weights.gamma.length(0));
}

/// W_1, b_1, W_2, b_2. Shapes: d_model × d_ff, d_ff, d_ff × d_model, d_model.
template <class S, axis_type DModel, axis_type DFF>
void load(feed_forward_weights<S, DModel, DFF>& weights, const std::vector<named_view>& tensors, std::string_view prefix, weight_layout layout,
          std::size_t d_model = detail::any_length) {
    const detail::weight_reader read(tensors, prefix, layout);
    using into = rules::weight_row_for_each_input;
    using bias = rules::bias_for_each_output;
    read.template matrix<into, into>(weights.w_1, "w_1", d_model);
    read.template optional_vector<bias>(weights.b_1, "b_1", weights.w_1.length(1));
    read.template matrix<into, rules::residual_keeps_shape>(weights.w_2, "w_2", weights.w_1.length(1), weights.w_1.length(0));
    read.template optional_vector<bias>(weights.b_2, "b_2", weights.w_2.length(1));
}

/// W_Q, W_K, W_V, W_O and their biases. Shapes: d_model × H·d_k, d_memory × H_kv·d_k, d_memory × H_kv·d_v, H·d_v × d_model.
template <class S, axis_type DModel, axis_type H, axis_type DK, axis_type DV, axis_type HKV, axis_type DMemory>
void load(multi_head_weights<S, DModel, H, DK, DV, HKV, DMemory>& weights, const std::vector<named_view>& tensors, std::string_view prefix,
          weight_layout layout, head_counts given = {}, std::size_t d_model = detail::any_length) {
    const detail::weight_reader read(tensors, prefix, layout);
    using into = rules::weight_row_for_each_input;
    using bias = rules::bias_for_each_output;
    auto& w = weights;
    w.n_heads = detail::heads_of_type<H>(read.full("w_q"), "heads", given.n_heads);
    w.n_kv_heads = detail::heads_of_type<HKV>(read.full("w_k"), "key-value heads", given.n_kv_heads != 0 || !is_dynamic<HKV> ? given.n_kv_heads : w.n_heads);
    if (w.n_kv_heads == 0 || w.n_heads % w.n_kv_heads != 0)
        throw usage_error(read.full("w_k") + ": " + rules::key_value_heads_divide_heads::sentence + " (" + std::to_string(w.n_heads) + " and " +
                          std::to_string(w.n_kv_heads) + ")");
    read.template matrix<into, rules::query_key_dimension>(w.w_q, "w_q", d_model);
    const std::size_t d_k = read.per_head("w_q", w.w_q.length(1), w.n_heads);
    read.template matrix<into, rules::query_key_dimension>(w.w_k, "w_k", detail::any_length, w.n_kv_heads * d_k);
    read.template matrix<into, rules::output_row_for_each_head_component>(w.w_v, "w_v", w.w_k.length(0));
    const std::size_t d_v = read.per_head("w_v", w.w_v.length(1), w.n_kv_heads);
    read.template matrix<rules::output_row_for_each_head_component, rules::residual_keeps_shape>(w.w_o, "w_o", w.n_heads * d_v, w.w_q.length(0));
    read.template optional_vector<bias>(w.b_q, "b_q", w.w_q.length(1));
    read.template optional_vector<bias>(w.b_k, "b_k", w.w_k.length(1));
    read.template optional_vector<bias>(w.b_v, "b_v", w.w_v.length(1));
    read.template optional_vector<bias>(w.b_o, "b_o", w.w_o.length(1));
}

/// `self_attn.`, `norm1.`, `ffn.`, `norm2.`
template <class S, axis_type DModel, axis_type H, axis_type DK, axis_type DV, axis_type DFF, axis_type HKV>
void load(encoder_layer_weights<S, DModel, H, DK, DV, DFF, HKV>& weights, const std::vector<named_view>& tensors, std::string_view prefix,
          weight_layout layout, head_counts given = {}, std::size_t d_model = detail::any_length) {
    const std::string of(prefix);
    load(weights.self_attn, tensors, of + "self_attn.", layout, given, d_model);
    d_model = weights.self_attn.w_q.length(0);
    load(weights.norm1, tensors, of + "norm1.", layout, d_model);
    load(weights.ffn, tensors, of + "ffn.", layout, d_model);
    load(weights.norm2, tensors, of + "norm2.", layout, d_model);
}

/// `self_attn.`, `norm1.`, `cross_attn.`, `norm2.`, `ffn.`, `norm3.`
template <class S, axis_type DModel, axis_type H, axis_type DK, axis_type DV, axis_type DFF, axis_type HKV, axis_type DMemory>
void load(decoder_layer_weights<S, DModel, H, DK, DV, DFF, HKV, DMemory>& weights, const std::vector<named_view>& tensors, std::string_view prefix,
          weight_layout layout, head_counts given = {}, std::size_t d_model = detail::any_length) {
    const std::string of(prefix);
    load(weights.self_attn, tensors, of + "self_attn.", layout, given, d_model);
    d_model = weights.self_attn.w_q.length(0);
    load(weights.norm1, tensors, of + "norm1.", layout, d_model);
    load(weights.cross_attn, tensors, of + "cross_attn.", layout, given, d_model);
    load(weights.norm2, tensors, of + "norm2.", layout, d_model);
    load(weights.ffn, tensors, of + "ffn.", layout, d_model);
    load(weights.norm3, tensors, of + "norm3.", layout, d_model);
}

/// Layers `PREFIX 0.`, `PREFIX 1.`, … (the prefix ends with a dot: "layers."). A std::vector becomes as long as there are layers; an array, a `layer_stack`
/// or a span must be as long. usage_error for a gap in the numbers.
template <detail::layer_range Layers>
void load(Layers& layers, const std::vector<named_view>& tensors, std::string_view prefix, weight_layout layout, head_counts given = {},
          std::size_t d_model = detail::any_length) {
    const std::size_t count = detail::layers_among(tensors, prefix);
    if constexpr (detail::resizable<Layers>) layers.resize(count);
    else if (const std::size_t wanted = detail::number_of_layers(layers); wanted != count)
        throw usage_error(std::string(prefix) + "0, " + std::string(prefix) + "1, ...: there are " + std::to_string(count) + " layers; expected " +
                          std::to_string(wanted));
    std::size_t l = 0;
    for (auto& layer : layers) {
        load(layer, tensors, std::string(prefix) + std::to_string(l++) + ".", layout, given, d_model);
        d_model = layer.self_attn.w_q.length(0);
    }
}

} // namespace attest
