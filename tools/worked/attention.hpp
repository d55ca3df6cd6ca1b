// SPDX-License-Identifier: BSL-1.0
// The steps of attention, forward and backward, for one slice.
#pragma once

#include "writer.hpp"

#include <optional>

namespace attest::worked {

struct score_rule {
    enum class kind { by_root, by_factor, plain } how = kind::by_root; // q·k/√d_k, q·k·factor, q·k
    number factor{1};

    [[nodiscard]] number scale(std::size_t d_k) const { return how == kind::by_root ? number(1) / sqrt(number(static_cast<int>(d_k))) : how == kind::plain ? number(1) : factor; }
};

struct attention_slice {
    table q, k, v;
    std::vector<bool> visible; // n_q × n_k
    std::optional<table> added; // to the scaled scores; not looked at where a key is hidden
    score_rule rule;
    std::optional<table> dout;

    [[nodiscard]] bool sees(std::size_t i, std::size_t j) const { return visible[i * k.rows + j]; }
    void see_all() { visible.assign(q.rows * k.rows, true); }
};

struct attention_values {
    table raw, scores, weights, out;
    std::vector<bool> visible;
};

// Raw and scaled scores.
void write_scores(writer& to, const attention_slice& a, attention_values& values);
// Softmax of rows with hidden entries: the weights. `name`: what a row's entries are called, s or x; `weight`: α or y.
[[nodiscard]] table write_softmax(writer& to, const table& scores, const std::vector<bool>& visible, const math& name, const math& weight, const math& matrix);
// Everything; the gradients if there is a dout.
attention_values write_attention(writer& to, const attention_slice& a);

void write_attention_gradients(writer& to, const attention_slice& a, const attention_values& values);
// dS = A ⊙ (dA − row sums of A ⊙ dA)
[[nodiscard]] table write_softmax_gradient(writer& to, const table& weights, const table& dweights, const math& weight, const math& dscore, const math& matrix);

} // namespace attest::worked
