// SPDX-License-Identifier: BSL-1.0
/// \file
/// From an op's name to its stages.
#pragma once

#include "attest/oracle/op_layers.hpp"
#include "attest/oracle/op_position.hpp"

namespace attest {

/// The results that were asked for, in the order of computation, and what should be said of the case.
struct staged {
    std::deque<stage> stages;
    std::vector<std::string> warnings;
};

/// Whether all inputs but masks are finite; −∞ in a mask, or in softmax's x, is a key that is hidden.
[[nodiscard]] inline bool finite_inputs(const conventions& how, const std::vector<named_view>& inputs) {
    for (const named_view& input : inputs)
        if (is_input(find_op(how.op), input.name) && !input.name.ends_with("mask") && !detail::all_finite(input.value)) return false;
    return true;
}

/// Evaluates the wanted results of an op in `tracked`. `given`: intermediate results of another implementation; in layers and stacks, each later result
/// but gradients is then evaluated from those before it that are given and finite, so that it is judged by itself. Throws usage_error: an input is missing, shapes that do not fit, a result that the inputs do not give.
[[nodiscard]] inline staged run_stages(const conventions& how, const std::vector<named_view>& inputs, const std::vector<std::string>& wanted, const progress& tell = {},
                                       const std::vector<named_view>& given = {}) {
    using namespace detail;
    stage_list stages(wanted);
    staged result;
    const std::string& op = how.op;
    if (op == "relu" || op == "gelu") run_activation(how, inputs, stages);
    else if (op == "layer_norm" || op == "rms_norm") run_norm(how, inputs, stages, tell);
    else if (op == "feed_forward") run_feed_forward(how, inputs, stages, tell);
    else if (op == "sinusoidal") run_sinusoidal(how, stages);
    else if (op == "learned_position") run_learned_position(how, inputs, stages);
    else if (op == "rope") run_rope(how, inputs, stages, tell);
    else if (op == "multi_head_attention") run_multi_head(how, inputs, stages, result.warnings, tell);
    else run_layers(how, inputs, given, stages, result.warnings, tell);
    result.stages = std::move(stages.all());
    for (const std::string& name : wanted)
        if (std::none_of(result.stages.begin(), result.stages.end(), [&](const stage& s) { return s.name == name; }))
            throw usage_error("'" + name + "' is a result of " + op + ", but not with these inputs and conventions");
    return result;
}

/// Whether an op's values are certified, up the ladder, and its limits derived for every arithmetic; the others come from `tracked`.
[[nodiscard]] inline bool is_certified(std::string_view op) { return op == "softmax" || op == "score" || op == "attention"; }

} // namespace attest
