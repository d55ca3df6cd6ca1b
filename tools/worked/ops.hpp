// SPDX-License-Identifier: BSL-1.0
// The steps of each op.
#pragma once

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

} // namespace attest::worked
