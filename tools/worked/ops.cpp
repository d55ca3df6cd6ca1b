// SPDX-License-Identifier: BSL-1.0
#include "ops.hpp"

namespace attest::worked {

namespace {

const std::vector<op_steps>& all_steps() {
    static const std::vector<op_steps> all = {
        {"score", write_score_op, {"score", "scale"}, {"q", "k"}},
        {"softmax", write_softmax_op, {}, {"x", "dout"}},
        {"attention", write_attention_op, {"score", "scale", "causal", "window"}, {"q", "k", "v", "mask", "dout"}},
        {"layer_norm", write_layer_norm_op, {"eps", "eps-placement", "variance"}, {"x", "gamma", "beta"}},
        {"rms_norm", write_rms_norm_op, {"eps", "eps-placement"}, {"x", "gamma"}},
        {"relu", write_relu_op, {}, {"x"}},
        {"gelu", write_gelu_op, {}, {"x"}},
        {"feed_forward", write_feed_forward_op, {"activation", "weight-layout"}, {"x", "w_1", "b_1", "w_2", "b_2"}},
        {"multi_head_attention", write_multi_head_op, {"score", "scale", "causal", "window", "heads", "kv-heads", "weight-layout"}, {"x", "memory", "w_q", "w_k", "w_v", "w_o", "b_q", "b_k", "b_v", "b_o"}},
        {"sinusoidal", write_sinusoidal_op, {"length", "d-model"}, {}},
        {"rope", write_rope_op, {"rope-pairing", "rope-base", "rope-dim", "position-offset"}, {"x"}},
    };
    return all;
}

} // namespace

const op_steps& steps_of(std::string_view op) {
    std::vector<std::string_view> names;
    for (const op_steps& s : all_steps()) {
        if (s.op == op) return s;
        names.push_back(s.op);
    }
    throw usage_error("attest trace has no steps for " + std::string(op) + "; it has them for " + detail::listed(names));
}

document worked_solution(const problem& given, int decimals) {
    const op_steps& steps = steps_of(given.how.op);
    refuse_conventions(given.how, steps.conventions);
    for (const auto& [name, t] : given.tensors)
        if (std::find(steps.tensors.begin(), steps.tensors.end(), name) == steps.tensors.end())
            throw usage_error("attest trace has no steps for " + name + " of " + given.how.op + "; it knows " + detail::listed(steps.tensors) + "; attest eval gives the values");
    writer to(decimals);
    steps.write(to, given);
    return std::move(to.steps);
}

} // namespace attest::worked
