// SPDX-License-Identifier: BSL-1.0
/// \file
/// names=torch: what PyTorch's modules call their parameters (the keys of `state_dict`), and which tensors of ours they are.
///
/// | PyTorch | here |
/// |---|---|
/// | `in_proj_weight`, `in_proj_bias` | `w_q`, `w_k`, `w_v` and `b_q`, `b_k`, `b_v`: the three blocks of rows, in this order |
/// | `q_proj_weight`, `k_proj_weight`, `v_proj_weight` | `w_q`, `w_k`, `w_v` |
/// | `out_proj.weight`, `out_proj.bias` | `w_o`, `b_o` |
/// | `linear1.weight`, `linear1.bias`, `linear2.weight`, `linear2.bias` | `w_1`, `b_1`, `w_2`, `b_2` of `feed_forward`, `ffn.w_1` … of layers |
/// | `norm1.weight`, `norm1.bias`, … | `norm1.gamma`, `norm1.beta`, … |
/// | `weight`, `bias` of LayerNorm and RMSNorm | `gamma`, `beta` |
/// | `weight` of Embedding | `table` |
/// | `multihead_attn.…` | `cross_attn.…` |
///
/// `NAME.grad` is the gradient of NAME. Layers have these with `self_attn.` in front, stacks with `layers.N.` as well, and `norm.weight`, `norm.bias`.
#pragma once

#include "attest/question/named_view.hpp"
#include "attest/question/op.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace attest {

namespace detail {

// A parameter of a module, and the tensors that it holds.
struct torch_parameter {
    std::string_view name;
    std::string_view tensors[3];
};
// A module inside of one of our ops: its prefix there and here, and its parameters.
struct torch_module {
    std::string_view prefix, ours;
    std::span<const torch_parameter> parameters;
};

inline constexpr torch_parameter of_attention[] = {{"in_proj_weight", {"w_q", "w_k", "w_v"}}, {"in_proj_bias", {"b_q", "b_k", "b_v"}}, {"q_proj_weight", {"w_q"}},
                                                   {"k_proj_weight", {"w_k"}},                {"v_proj_weight", {"w_v"}},              {"out_proj.weight", {"w_o"}},
                                                   {"out_proj.bias", {"b_o"}}};
inline constexpr torch_parameter of_feed_forward[] = {{"linear1.weight", {"w_1"}}, {"linear1.bias", {"b_1"}}, {"linear2.weight", {"w_2"}}, {"linear2.bias", {"b_2"}}};
inline constexpr torch_parameter of_norm[] = {{"weight", {"gamma"}}, {"bias", {"beta"}}};
inline constexpr torch_parameter of_rms_norm[] = {{"weight", {"gamma"}}};
inline constexpr torch_parameter of_embedding[] = {{"weight", {"table"}}};

inline constexpr torch_module in_attention[] = {{"", "", of_attention}};
inline constexpr torch_module in_feed_forward[] = {{"", "", of_feed_forward}};
inline constexpr torch_module in_layer_norm[] = {{"", "", of_norm}};
inline constexpr torch_module in_rms_norm[] = {{"", "", of_rms_norm}};
inline constexpr torch_module in_learned_position[] = {{"", "", of_embedding}};
inline constexpr torch_module in_encoder_layer[] = {{"self_attn.", "self_attn.", of_attention}, {"", "ffn.", of_feed_forward}, {"norm1.", "norm1.", of_norm}, {"norm2.", "norm2.", of_norm}};
inline constexpr torch_module in_decoder_layer[] = {{"self_attn.", "self_attn.", of_attention}, {"multihead_attn.", "cross_attn.", of_attention}, {"", "ffn.", of_feed_forward},
                                                    {"norm1.", "norm1.", of_norm},              {"norm2.", "norm2.", of_norm},                    {"norm3.", "norm3.", of_norm}};
inline constexpr torch_module in_stack[] = {{"norm.", "norm.", of_norm}};

inline std::span<const torch_module> modules_of(std::string_view op, bool inside_layer) {
    if (op == "encoder_layer" || (op == "encoder" && inside_layer)) return in_encoder_layer;
    if (op == "decoder_layer" || (op == "decoder" && inside_layer)) return in_decoder_layer;
    if (op == "encoder" || op == "decoder") return in_stack;
    if (op == "multi_head_attention") return in_attention;
    if (op == "feed_forward") return in_feed_forward;
    if (op == "layer_norm") return in_layer_norm;
    if (op == "rms_norm") return in_rms_norm;
    if (op == "learned_position") return in_learned_position;
    return {};
}

inline bool take_prefix(std::string_view& name, std::string_view prefix) {
    if (name.substr(0, prefix.size()) != prefix) return false;
    name.remove_prefix(prefix.size());
    return true;
}

// The tensors of a name without ".grad".
inline std::vector<std::string> tensors_of_parameter(const op_info& op, std::string_view name) {
    std::string before;
    const bool inside_layer = (op.name == "encoder" || op.name == "decoder") && layer_of(name);
    if (inside_layer) {
        const std::size_t end = name.find('.', 7) + 1;
        before = name.substr(0, end);
        name.remove_prefix(end);
    }
    std::vector<std::string> found;
    for (const torch_module& module : modules_of(op.name, inside_layer)) {
        std::string_view rest = name;
        if (!take_prefix(rest, module.prefix)) continue;
        const std::string ours = before + std::string(module.ours);
        for (const torch_parameter& parameter : module.parameters)
            if (parameter.name == rest)
                for (const std::string_view tensor : parameter.tensors)
                    if (!tensor.empty()) found.push_back(ours + std::string(tensor));
        // What PyTorch has no parameter for keeps our name after the module's: multihead_attn.weights.
        if (const std::string other = ours + std::string(rest); found.empty() && module.prefix != module.ours && !module.prefix.empty() && (is_input(op, other) || is_output(op, other)))
            found.push_back(other);
    }
    return found;
}

// A learned key and value beside those of the input (add_bias_kv): no op of ours has them.
inline void refuse_added_key(const op_info& op, std::string_view name) {
    const std::string_view last = name.substr(name.rfind('.') + 1);
    const bool attends = is_input(op, "w_q") || is_input(op, "self_attn.w_q") || is_input(op, "layers.0.self_attn.w_q");
    if (attends && (last == "bias_k" || last == "bias_v"))
        throw usage_error("member '" + std::string(name) + "' is a learned key or value beside those of the input (add_bias_kv=True), which " + std::string(op.name) + " does not have");
}

} // namespace detail

/// The names of the op's tensors that a member with PyTorch's name holds: one or, for `in_proj_weight` and `in_proj_bias`, three; none if the name is not
/// PyTorch's.
[[nodiscard]] inline std::vector<std::string> tensors_of_torch_name(const op_info& op, std::string_view name) {
    constexpr std::string_view gradient = ".grad";
    if (name.size() <= gradient.size() || name.substr(name.size() - gradient.size()) != gradient) return detail::tensors_of_parameter(op, name);
    const std::string_view base = name.substr(0, name.size() - gradient.size());
    std::vector<std::string> found = detail::tensors_of_parameter(op, base);
    if (found.empty()) found.emplace_back(base);
    for (std::string& tensor : found) tensor = gradient_name(tensor);
    if (!is_input(op, found.front()) && !is_output(op, found.front())) found.clear();
    return found;
}

/// The tensors that a member with PyTorch's name holds, as views of its rows; with a name that is not PyTorch's, itself.
/// usage_error if the rows cannot be split evenly, and for `bias_k` and `bias_v`.
[[nodiscard]] inline std::vector<named_view> from_torch(const op_info& op, const std::string& name, const array_view& value) {
    detail::refuse_added_key(op, name);
    const std::vector<std::string> tensors = tensors_of_torch_name(op, name);
    if (tensors.empty()) return {{name, value}};
    if (tensors.size() > 1 && (value.shape.empty() || value.shape[0] % tensors.size() != 0))
        throw usage_error("member '" + name + "' " + shape_text(value.shape) + " holds the rows of " + tensors[0] + ", " + tensors[1] + " and " + tensors[2] + " one below the other; expected a number of rows that 3 divides");
    std::vector<named_view> views;
    array_view part = value;
    if (tensors.size() > 1) part.shape[0] /= tensors.size();
    for (const std::string& tensor : tensors) {
        views.emplace_back(tensor, part);
        if (part.data != nullptr) part.data += part.bytes();
    }
    return views;
}

} // namespace attest
