// SPDX-License-Identifier: BSL-1.0
/// \file
/// Attention's results as outputs: their shapes, where their rows lie, which of them are padding; and the rows that see a NaN or an infinity.
#pragma once

#include "attest/oracle/attention_engine.hpp"

namespace attest {

/// What is evaluated: one of attention's results, and where its elements lie.
struct certified_output {
    std::string name;
    placement at;
    bool of_rows;                      ///< false: sums over rows (dk, dv, dmask; dq where several slices read one q)
    const matrix_stack* of = nullptr;  ///< gradients: of which input
};

/// The position of the first element of a slice's row i (of a gradient's own row i).
[[nodiscard]] inline std::size_t first_element_of_row(const attention_problem& p, const certified_output& output, std::size_t slice, std::size_t i) {
    if (output.of == nullptr) return first_of_row(output.at, p.batch, slice, i);
    return first_of_row(output.at, output.of->batch, source_slice(p.batch, output.of->batch, slice), i);
}

namespace detail {

// Calls f(element, value) for the elements of one result of row i.
template <class T, class F>
void for_each_result(std::string_view name, const evaluated_row<T>& row, const attention_engine<T>& engine, const slice_gradient<T>& gradient, std::size_t slice, std::size_t i, const F& f) {
    if (name == "lse") f(0, row.lse);
    else if (name == "out")
        for (std::size_t c = 0; c < row.out.length(0); ++c) f(c, row.out(c));
    else if (name == "dq") {
        const auto dq = engine.turned_back_query(gradient.dq[i], i);
        for (std::size_t c = 0; c < dq.length(0); ++c) f(c, dq(c));
    } else if (name == "raw_scores")
        for (std::size_t j = 0; j < engine.rules().keys(slice); ++j) f(j, row.raw_scores(j)); // those of keys that are padding are nobody's
    else {
        const T hidden = -std::numeric_limits<T>::infinity();
        std::size_t at = 0;
        for (std::size_t j = 0; j < row.weights.length(0); ++j) {
            const bool seen = at < row.visible.size() && row.visible[at] == j;
            at += seen ? 1 : 0;
            f(j, name == "weights" ? row.weights(j) : seen ? row.scores(j) : hidden);
        }
    }
}

} // namespace detail

/// The op score as attention without a mask: its scores. The keys stand for the values, too.
struct score_as_attention {
    conventions how;
    std::vector<named_view> inputs;
    score_as_attention(const conventions& given, const std::vector<named_view>& all) : how{given} {
        (void)detail::required(all, "score", "q");
        const array_view& k = detail::required(all, "score", "k");
        for (const named_view& input : all)
            if (input.name != "q" && input.name != "v" && is_input(find_op("score"), input.name)) inputs.push_back(input);
        inputs.push_back({"q", detail::required(all, "score", "q")});
        inputs.push_back({"v", k});
        how.causal = causal_alignment::none;
        how.window.reset();
        how.position = position_kind::none;
        how.dropout_p.reset();
    }
};

/// One of attention's results by name; usage_error where the inputs do not give it.
[[nodiscard]] inline std::pair<certified_output, std::vector<std::size_t>> attention_output(const conventions& how, const std::vector<named_view>& inputs, const attention_problem& p,
                                                                                          const std::string& name) {
    const auto gradient = [&](const char* of, const matrix_stack& stack) {
        const std::vector<std::size_t>& shape = find(inputs, of)->shape;
        return std::pair{certified_output{name, place(shape, how.layout), name == "dq" && stack.batch == p.batch, &stack}, shape};
    };
    if (detail::is_gradient(name)) (void)detail::dout_of(inputs, how.op, shape_in_layout(p.shape_of_output("out"), how.layout));
    if (name == "dq") return gradient("q", p.q);
    if (name == "dk") return gradient("k", p.k);
    if (name == "dv") return gradient("v", p.v);
    if (name == "dmask") {
        const array_view* const mask = find(inputs, "mask");
        if (mask == nullptr || !is_float(mask->type)) throw usage_error("dmask is given, but no float mask that is added to the scores");
        return {{name, place(mask->shape, tensor_layout::bhnd), false, nullptr}, mask->shape};
    }
    const tensor_layout layout = name == "out" ? how.layout : tensor_layout::bhnd;
    const std::vector<std::size_t> shape = shape_in_layout(p.shape_of_output(name), layout);
    return {{name, place(shape, layout), true, nullptr}, shape};
}

namespace detail {

[[nodiscard]] inline bool is_finite_number(double x) { return x - x == 0; }

// Which rows of a slice of q, k, v and dout hold numbers alone.
class rows_of_numbers {
public:
    rows_of_numbers(const attention_problem& p, const std::optional<matrix_stack>& dout, std::size_t slice)
        : q_{flags(p.q[source_slice(p.batch, p.q.batch, slice)])}, k_{flags(p.k[source_slice(p.batch, p.k.batch, slice)])}, v_{flags(p.v[source_slice(p.batch, p.v.batch, slice)])} {
        if (dout) dout_ = flags((*dout)[slice]);
        if (p.bias) bias_.emplace((*p.bias)[source_slice(p.batch, p.bias->batch, slice)]);
        const auto all_of = [](const std::vector<bool>& flags) { return std::find(flags.begin(), flags.end(), false) == flags.end(); };
        all_ = !bias_ && all_of(q_) && all_of(k_) && all_of(v_) && all_of(dout_);
    }
    /// Whether row i sees numbers alone: in q, in the keys and values that it sees, in what is added to the scores, and, where gradients are asked for, in dout.
    template <class Visible> [[nodiscard]] bool sees_numbers_alone(std::size_t i, const Visible& visible) const {
        if (all_) return true;
        bool any = false;
        for (std::size_t j = 0; j < k_.size(); ++j) {
            if (!visible(i, j)) continue;
            any = true;
            if (!k_[j] || !v_[j] || (bias_ && !is_finite_number((*bias_)(i, j)))) return false;
        }
        return (!any || q_[i]) && (dout_.empty() || dout_[i]);
    }

private:
    static std::vector<bool> flags(const matrix_view& m) {
        std::vector<bool> all(m.length(0), true);
        for (std::size_t i = 0; i < m.length(0); ++i)
            for (std::size_t c = 0; c < m.length(1); ++c) all[i] = all[i] && is_finite_number(m(i, c));
        return all;
    }
    std::vector<bool> q_, k_, v_, dout_;
    std::optional<matrix_view> bias_;
    bool all_ = false; // there is nothing else, and no mask that could have any
};

} // namespace detail

/// Gradients that are sums over rows, in the outputs that are not of rows.
template <class T> class gradient_sums {
public:
    gradient_sums(const attention_problem& p, const std::vector<certified_output>& outputs) : p_{p}, outputs_{outputs}, sum_(outputs.size()) {}

    /// Begins an output's sums.
    void want(std::size_t output) {
        if (!sum_[output].empty()) return;
        std::size_t size = 1;
        for (const std::size_t length : outputs_[output].at.length) size *= length;
        sum_[output].resize(size);
    }
    /// In C order of the output.
    [[nodiscard]] const std::vector<T>& of(std::size_t output) const { return sum_[output]; }

    /// What a slice gives to dk, dv, and dq where several slices read one q.
    void add(const attention_engine<T>& engine, const slice_gradient<T>& gradient, std::size_t slice) {
        for (std::size_t o = 0; o < outputs_.size(); ++o) {
            const std::string& name = outputs_[o].name;
            if (sum_[o].empty() || name == "dmask") continue;
            for (std::size_t r = 0; r < outputs_[o].of->rows; ++r) {
                const auto row = name == "dq" ? engine.turned_back_query(gradient.dq[r], r) : name == "dk" ? engine.turned_back_key(gradient.dk[r], r) : vector_in<T>(gradient.dv[r]);
                const std::size_t first = first_element_of_row(p_, outputs_[o], slice, r);
                for (std::size_t c = 0; c < row.length(0); ++c) {
                    T& to = sum_[o][first + c * outputs_[o].at.stride.back()];
                    to = to + row(c);
                }
            }
        }
    }
    /// The mask may broadcast over queries, keys, heads and batch.
    void add_to_mask(std::size_t slice, std::size_t i, std::size_t j, const T& ds) {
        for (std::size_t o = 0; o < outputs_.size(); ++o) {
            if (outputs_[o].name != "dmask" || sum_[o].empty()) continue;
            T& to = sum_[o][position_in_mask(p_, outputs_[o], slice, i, j)];
            to = to + ds;
        }
    }
    /// The entry of the mask that query i and key j of the slice read.
    [[nodiscard]] static std::size_t position_in_mask(const attention_problem& p, const certified_output& output, std::size_t slice, std::size_t i, std::size_t j) {
        const auto& length = output.at.length;
        const std::size_t rank = length.size(), rows = rank >= 2 ? length[rank - 2] : 1, columns = rank >= 1 ? length[rank - 1] : 1;
        return (source_slice(p.batch, p.bias->batch, slice) * rows + (rows == 1 ? 0 : i)) * columns + (columns == 1 ? 0 : j);
    }

private:
    const attention_problem& p_;
    const std::vector<certified_output>& outputs_;
    std::vector<std::vector<T>> sum_;
};

} // namespace attest
