// SPDX-License-Identifier: BSL-1.0
/// \file
/// Whether inputs and conventions belong together: no input that the conventions leave without a meaning, none missing that they ask for, no gap between layers.
#pragma once

#include "attest/question/conventions.hpp"
#include "attest/question/named_view.hpp"

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace attest {

namespace detail {

inline void refuse_idle_input(const conventions& how, const std::string& name) {
    const std::size_t dot = name.rfind('.');
    const std::string_view last = std::string_view(name).substr(dot == std::string::npos ? 0 : dot + 1);
    const bool attends = concerns(find_convention("position"), how.op), scores = how.op == "score" || how.op == "attention";
    const bool cross = name.find("cross_attn.") != std::string::npos;
    const auto idle = [&](const std::string& why) { throw usage_error("'" + name + "' is given, but " + why); };
    const auto only_with = [&](bool meant, const std::string& setting) {
        if (!meant) idle("means nothing without " + setting);
    };
    if (attends && (last == "positions" || last == "alibi_slopes") && cross) idle("position is a convention of self_attn alone");
    if (attends && last == "positions") only_with(how.position == position_kind::rope, "position=rope");
    if (attends && last == "alibi_slopes") only_with(how.position == position_kind::alibi, "position=alibi");
    if (attends && last == "dropout_mask") only_with(how.dropout_p.has_value(), "dropout-p, which says what the weights that it keeps are divided by");
    if (scores && last == "w") only_with(how.score == score_kind::bilinear, "score=bilinear");
    if (scores && (last == "w1" || last == "w2" || last == "b")) only_with(how.score == score_kind::additive, "score=additive");
}

inline void require_input(const conventions& how, const std::vector<named_view>& inputs, std::string_view name, const std::string& why) {
    if (find(inputs, name) == nullptr) throw usage_error(how.op + " needs an input '" + std::string(name) + "' with " + why);
}

// Layers are numbered from 0 without a gap, and each has all that a layer needs.
inline void require_whole_layers(const op_info& op, const std::vector<named_view>& inputs) {
    std::set<std::size_t> layers;
    for (const named_view& v : inputs)
        if (const auto layer = layer_of(v.name); layer && is_input(op, v.name)) layers.insert(*layer);
    if (layers.empty()) throw usage_error(std::string(op.name) + " needs layers: inputs such as 'layers.0.self_attn.w_q'; there is none");
    for (std::size_t n = 0; n <= *layers.rbegin(); ++n) {
        const std::string number = std::to_string(n);
        if (!layers.contains(n)) throw usage_error("layers." + std::to_string(*layers.lower_bound(n)) + " is there, but not layers." + number + "; layers are numbered from 0 without a gap");
        for (const tensor_info& t : op.inputs)
            if (!t.optional && t.name.substr(0, 9) == "layers.N.")
                if (const std::string name = "layers." + number + std::string(t.name.substr(8)); find(inputs, name) == nullptr)
                    throw usage_error(std::string(op.name) + " needs an input '" + name + "', which is not there");
    }
}

} // namespace detail

/// usage_error if an input means nothing under the conventions (`alibi_slopes` without position=alibi), if one is missing that they ask for (`w` with
/// score=bilinear), or if a stack has no layers, a gap between them, or a layer without one of its matrices.
inline void check_inputs(const conventions& how, const std::vector<named_view>& inputs) {
    const op_info& op = find_op(how.op);
    for (const named_view& v : inputs)
        if (is_input(op, v.name)) detail::refuse_idle_input(how, v.name);
    if (how.score == score_kind::bilinear) detail::require_input(how, inputs, "w", "score=bilinear");
    if (how.score == score_kind::additive)
        for (const std::string_view name : {"w1", "w2", "b"}) detail::require_input(how, inputs, name, "score=additive");
    if (how.dropout_p && !detail::is_zero(detail::parse_number("dropout-p", *how.dropout_p)) &&
        std::none_of(inputs.begin(), inputs.end(), [](const named_view& v) { return std::string_view(v.name).ends_with("dropout_mask"); }))
        throw usage_error("dropout-p=" + *how.dropout_p + " needs an input 'dropout_mask', which says which weights were kept");
    if (how.op == "encoder" || how.op == "decoder") detail::require_whole_layers(op, inputs);
}

} // namespace attest
