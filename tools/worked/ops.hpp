// SPDX-License-Identifier: BSL-1.0
// The steps of each op.
#pragma once

#include "attention.hpp"
#include "problem.hpp"

namespace attest::worked {

struct op_steps {
    std::string_view op;
    void (*write)(writer& to, const problem& given);
    std::vector<std::string_view> conventions, tensors; // that the steps read
};

// usage_error naming those that there are.
[[nodiscard]] const op_steps& steps_of(std::string_view op);

// Headings, the marks, and the op's steps. usage_error for what the steps do not know.
[[nodiscard]] document worked_solution(const problem& given, int decimals);

void write_score_op(writer& to, const problem& given);
void write_attention_op(writer& to, const problem& given);
void write_softmax_op(writer& to, const problem& given);
void write_layer_norm_op(writer& to, const problem& given);
void write_rms_norm_op(writer& to, const problem& given);
void write_relu_op(writer& to, const problem& given);
void write_gelu_op(writer& to, const problem& given);
void write_feed_forward_op(writer& to, const problem& given);
void write_multi_head_op(writer& to, const problem& given);
void write_sinusoidal_op(writer& to, const problem& given);
void write_rope_op(writer& to, const problem& given);

// Of the entries called `from`, those called `name`.
[[nodiscard]] table write_relu(writer& to, const table& x, const math& from, const math& name);
[[nodiscard]] table write_gelu(writer& to, const table& x, const math& from, const math& name);

// How scores are scaled; usage_error for scores that the steps do not know.
[[nodiscard]] score_rule rule_of(const conventions& how);
// Which keys are seen by the causal rule and the window.
[[nodiscard]] std::vector<bool> seen_by_rule(const conventions& how, std::size_t n_q, std::size_t n_k);

} // namespace attest::worked
