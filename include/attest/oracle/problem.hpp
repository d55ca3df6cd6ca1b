// SPDX-License-Identifier: BSL-1.0
/// \file
/// A question made ready to compute: named arrays sorted into inputs and candidates, shapes checked against each other, conventions applied.
#pragma once

#include "attest/oracle/stack.hpp"
#include "attest/question/named_view.hpp"
#include "attest/shape/rules.hpp"

#include <range/v3/algorithm/all_of.hpp>
#include <range/v3/algorithm/any_of.hpp>


namespace attest {

/// Attention ready to compute, one matrix problem a slice (batch and head).
struct attention_problem {
    conventions how;
    matrix_stack q, k, v;
    std::optional<matrix_stack> bias; ///< −∞ where the mask hides; 0 or the mask's entry elsewhere
    bool bias_adds = false;           ///< a float mask: the candidate adds it, and rounds
    std::vector<std::string> warnings; ///< what is allowed, and probably not meant
    std::vector<std::size_t> batch;
    std::size_t n_q = 0, n_k = 0, d_k = 0, d_v = 0;

    [[nodiscard]] std::size_t slices() const { return element_count(batch); }
    [[nodiscard]] std::vector<std::size_t> shape_of_output(std::string_view name) const {
        std::vector<std::size_t> shape = batch;
        shape.push_back(n_q);
        if (name == "out") shape.push_back(d_v);
        else if (name != "lse") shape.push_back(n_k);
        return shape;
    }
};

namespace detail {

inline const array_view& required(const std::vector<named_view>& inputs, std::string_view op, std::string_view name) {
    if (const array_view* found = find(inputs, name)) return *found;
    std::string have;
    for (const named_view& v : inputs) have += (have.empty() ? "" : ", ") + v.name;
    throw usage_error(std::string(op) + " needs an input '" + std::string(name) + "'; of its inputs the case has " + (have.empty() ? "none" : have) +
                      " (--name " + std::string(name) + "=MEMBER if it has another name)");
}

// A shape rule said with the tensors' names and shapes in front: the compiler's sentence, at run time.
template <class Rule>
void check_rule(std::string_view left_name, const array_view& left, std::size_t left_length, std::string_view right_name,
                const array_view& right, std::size_t right_length) {
    try {
        Rule::template check<dynamic_axis, dynamic_axis>(left_length, right_length);
    } catch (const shape_error& error) {
        throw usage_error(std::string(left_name) + " " + shape_text(left.shape) + " and " + std::string(right_name) + " " +
                          shape_text(right.shape) + ": " + error.what());
    }
}

// What a tensor over queries and keys is broadcast to.
struct pair_shape {
    std::vector<std::size_t> batch;
    std::size_t n_q = 0, n_k = 0;
};

// What a mask that does not broadcast is likely to be.
[[nodiscard]] inline std::string pair_hint(const array_view& given, const pair_shape& to) {
    const std::size_t rank = given.shape.size(), heads = to.batch.empty() ? 1 : to.batch.back(), batches = heads == 0 ? 0 : element_count(to.batch) / heads;
    const std::string b = std::to_string(batches), h = std::to_string(heads), q = std::to_string(to.n_q), k = std::to_string(to.n_k);
    if (rank == 2 && given.shape[0] == batches && given.shape[1] == to.n_k)
        return "; a key padding mask [b, n_k] is saved as [b, 1, 1, n_k] (mask[:, None, None, :]): [" + b + ", 1, 1, " + k + "]";
    if (rank == 3 && given.shape[0] == batches * heads && batches > 1) return "; a mask of b·H slices is saved as [b, H, n_q, n_k]: [" + b + ", " + h + ", " + q + ", " + k + "]";
    if (rank == 3 && given.shape[0] == batches) return "; the dimension before the last two is the head's: a mask of each batch element is saved as [b, 1, n_q, n_k] or [b, 1, 1, n_k]";
    return "";
}

// A tensor that broadcasts to [batch…, n_q, n_k]: each entry through `value`; expanded to n_q × n_k, not over the batch.
template <class Value> [[nodiscard]] matrix_stack pair_stack(std::string_view name, const array_view& given, const pair_shape& to, const Value& value) {
    const std::size_t rank = given.shape.size();
    const std::size_t rows = rank >= 2 ? given.shape[rank - 2] : 1;
    const std::size_t columns = rank >= 1 ? given.shape[rank - 1] : 1;
    const array_view pairs{dtype::f64, {to.n_q, to.n_k}};
    try {
        if (rows != 1) check_rule<rules::mask_row_for_each_query>("the scores", pairs, to.n_q, name, given, rows);
        if (columns != 1) check_rule<rules::mask_column_for_each_key>("the scores", pairs, to.n_k, name, given, columns);
    } catch (const usage_error& error) {
        throw usage_error(std::string(error.what()) + pair_hint(given, to));
    }
    matrix_stack stack{{}, to.n_q, to.n_k, {}};
    if (rank > 2) stack.batch.assign(given.shape.begin(), given.shape.end() - 2);
    while (stack.batch.size() > to.batch.size() && stack.batch.front() == 1) stack.batch.erase(stack.batch.begin());
    const std::size_t slices = element_count(stack.batch);
    stack.values.reserve(slices * to.n_q * to.n_k);
    for (std::size_t s = 0; s < slices; ++s)
        for (std::size_t i = 0; i < to.n_q; ++i)
            for (std::size_t j = 0; j < to.n_k; ++j)
                stack.values.push_back(value(decode(given, (s * rows + (rows == 1 ? 0 : i)) * columns + (columns == 1 ? 0 : j))));
    std::vector<std::size_t> scores = to.batch;
    scores.insert(scores.end(), {to.n_q, to.n_k});
    const std::string both = "the scores " + shape_text(scores) + " and " + std::string(name) + " " + shape_text(given.shape);
    std::vector<std::size_t> common;
    try {
        common = common_batch(to.batch, stack.batch, both, false);
    } catch (const usage_error& error) {
        throw usage_error(std::string(error.what()) + pair_hint(given, to));
    }
    if (to.batch != common) throw usage_error(std::string(name) + " " + shape_text(given.shape) + " has more batch dimensions than the scores " + shape_text(scores));
    return stack;
}

// The mask as what is added to the scores: −∞ hides a key.
[[nodiscard]] inline matrix_stack mask_stack(std::string_view name, const array_view& mask, const conventions& how, const pair_shape& to) {
    const auto fail = [&](const std::string& what) { throw usage_error(std::string(name) + " " + shape_text(mask.shape) + " " + what); };
    const bool additive = is_float(mask.type);
    if (mask.type == dtype::raw16) fail("holds two bytes of a type that NumPy does not know; if they are bf16, say so with --bf16 " + std::string(name));
    if (!additive && mask.type != dtype::boolean && !how.mask_polarity_declared)
        fail("holds integers: declare mask-polarity (keep: 1 may be seen; drop: 1 may not)");
    return pair_stack(name, mask, to, [&](double entry) {
        if (!additive && entry != 0 && entry != 1) fail("holds the integer " + std::to_string(static_cast<long long>(entry)) + "; expected 0 and 1 alone");
        return additive ? entry : (entry != 0) == how.mask_keeps ? 0.0 : -std::numeric_limits<double>::infinity();
    });
}

// A float mask of 0 and 1 alone is probably a boolean one.
inline void warn_of_float_mask(std::string_view name, const array_view& given, const matrix_stack& mask, std::vector<std::string>& warnings) {
    const auto zero_or_one = [](double x) { return x == 0 || x == 1; };
    if (is_float(given.type) && ranges::all_of(mask.values, zero_or_one) && ranges::any_of(mask.values, [](double x) { return x == 1; }))
        warnings.emplace_back(std::string(name) + ": the float mask holds 0 and 1 alone: a float mask is added to the scores; one that says which keys may be seen is bool, or integer");
}

// A mask [b, n_k] of b batch elements is read as [n_q, n_k] where b = n_q.
inline void warn_of_padding_mask(std::string_view name, const array_view& given, const pair_shape& to, std::vector<std::string>& warnings) {
    const std::size_t heads = to.batch.empty() ? 1 : to.batch.back(), batches = heads == 0 ? 0 : element_count(to.batch) / heads;
    if (given.shape.size() == 2 && batches > 1 && given.shape[0] == batches && batches == to.n_q)
        warnings.emplace_back(std::string(name) + " " + shape_text(given.shape) + " is read as [n_q, n_k]; if it is a key padding mask [b, n_k], save it as [b, 1, 1, n_k] (mask[:, None, None, :])");
}

} // namespace detail

/// Makes an attention problem from named arrays; usage_error names the tensors, their shapes and the rule that they break.
[[nodiscard]] inline attention_problem make_attention_problem(const conventions& how, const std::vector<named_view>& inputs) {
    const array_view& q = detail::required(inputs, "attention", "q");
    const array_view& k = detail::required(inputs, "attention", "k");
    const array_view& v = detail::required(inputs, "attention", "v");
    attention_problem p{how, stack_of("q", q, how.layout), stack_of("k", k, how.layout), stack_of("v", v, how.layout), {}, false, {}, {}};
    p.n_q = p.q.rows;
    p.n_k = p.k.rows;
    p.d_k = p.q.columns;
    p.d_v = p.v.columns;
    if (how.score == score_kind::scaled || how.score == score_kind::dot) detail::check_rule<rules::query_key_dimension>("q", q, p.q.columns, "k", k, p.k.columns);
    detail::check_rule<rules::value_for_each_key>("k", k, p.k.rows, "v", v, p.v.rows);
    if (p.d_k == 0 && !how.scale && !how.dot_score()) throw usage_error("q " + shape_text(q.shape) + ": with d_k = 0 the scale 1/sqrt(d_k) is undefined");
    p.batch = common_batch(p.q.batch, p.k.batch, "q " + shape_text(q.shape) + " and k " + shape_text(k.shape), true);
    p.batch = common_batch(p.batch, p.v.batch, "q " + shape_text(q.shape) + " and v " + shape_text(v.shape), true);
    const auto heads = [](const matrix_stack& s) { return s.batch.empty() ? std::size_t{1} : s.batch.back(); };
    if (heads(p.k) != heads(p.v) && heads(p.k) != 1 && heads(p.v) != 1)
        throw usage_error("k " + shape_text(k.shape) + " and v " + shape_text(v.shape) + ": keys and values must have the same number of heads (" +
                          std::to_string(heads(p.k)) + " and " + std::to_string(heads(p.v)) + ")");
    if (const array_view* mask = find(inputs, "mask")) {
        p.bias_adds = is_float(mask->type);
        p.bias = detail::mask_stack("mask", *mask, how, {p.batch, p.n_q, p.n_k});
        detail::warn_of_float_mask("mask", *mask, *p.bias, p.warnings);
        detail::warn_of_padding_mask("mask", *mask, {p.batch, p.n_q, p.n_k}, p.warnings);
    }
    return p;
}

/// Softmax ready to compute: every fibre of x along one axis.
struct softmax_problem {
    std::vector<std::size_t> shape;
    std::size_t axis = 0;
    std::vector<double> x; ///< C order

    [[nodiscard]] std::size_t length() const { return shape[axis]; }
    [[nodiscard]] std::size_t stride() const {
        std::size_t s = 1;
        for (std::size_t k = axis + 1; k < shape.size(); ++k) s *= shape[k];
        return s;
    }
    [[nodiscard]] std::size_t fibres() const { return x.empty() ? 0 : x.size() / length(); }
    /// Position of a fibre's first element.
    [[nodiscard]] std::size_t first(std::size_t fibre) const {
        return fibre / stride() * stride() * length() + fibre % stride();
    }
};

/// Makes a softmax problem; usage_error for an axis that x does not have.
[[nodiscard]] inline softmax_problem make_softmax_problem(const conventions& how, const std::vector<named_view>& inputs) {
    const array_view& x = detail::required(inputs, "softmax", "x");
    require_float("x", x);
    const int rank = static_cast<int>(x.shape.size());
    if (how.axis >= rank || how.axis < -rank)
        throw usage_error("x " + shape_text(x.shape) + " has no axis " + std::to_string(how.axis));
    softmax_problem p{x.shape, static_cast<std::size_t>(how.axis < 0 ? how.axis + rank : how.axis), {}};
    p.x.reserve(x.elements());
    for (std::size_t e = 0, count = x.elements(); e < count; ++e) p.x.push_back(decode(x, e));
    return p;
}

} // namespace attest
