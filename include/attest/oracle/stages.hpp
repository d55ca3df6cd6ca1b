// SPDX-License-Identifier: BSL-1.0
/// \file
/// Stages: the named results of an op, in the order of computation, evaluated in `tracked`.
#pragma once

#include "attest/oracle/scalars.hpp"
#include "attest/oracle/tracked.hpp"

#include <deque>
#include <range/v3/algorithm/contains.hpp>

namespace attest {

using tracked_vector = vector_in<tracked>;
using tracked_matrix = matrix_in<tracked>;

/// One result of an op, in the layout of the question, C order.
struct stage {
    std::string name;
    std::vector<std::size_t> shape;
    std::vector<tracked> values;
    std::vector<bool> padding; ///< elements that are not judged; empty: none
};

/// The stages that somebody asked for.
class stage_list {
public:
    /// An element takes some 150 bytes.
    static constexpr std::size_t greatest_count = std::size_t{1} << 24;

    explicit stage_list(std::vector<std::string> wanted) : wanted_{std::move(wanted)} {}

    [[nodiscard]] bool wants(std::string_view name) const { return ranges::contains(wanted_, name); }
    /// Whether any stage of that kind is asked for.
    template <class Predicate> [[nodiscard]] bool wants_any(const Predicate& of_name) const {
        return std::any_of(wanted_.begin(), wanted_.end(), of_name);
    }
    /// Begins a stage, of zeros; nothing if nobody asked for it. Stages are begun in the order of computation.
    stage* begin(const std::string& name, std::vector<std::size_t> shape) {
        if (!wants(name)) return nullptr;
        for (stage& begun : stages_)
            if (begun.name == name) return &begun;
        const std::size_t count = element_count(shape);
        if (count > greatest_count) throw usage_error(name + " " + shape_text(shape) + " has " + std::to_string(count) + " elements; this op takes at most " + std::to_string(greatest_count) + " in this version");
        return &stages_.emplace_back(stage{name, std::move(shape), std::vector<tracked>(count), {}});
    }
    [[nodiscard]] std::deque<stage>& all() { return stages_; }

private:
    std::vector<std::string> wanted_;
    std::deque<stage> stages_; // pointers to its elements stay
};

namespace detail {

[[nodiscard]] inline tracked_matrix tracked_of(const matrix_view& m) { return exact_matrix_of<tracked>(m); }

[[nodiscard]] inline tracked_vector tracked_vector_of(std::string_view name, const array_view& a) { return exact_vector_of<tracked>(name, a); }

[[nodiscard]] inline tracked tracked_number(std::string_view key, const std::string& text) { return number_of<tracked>(key, text); }

// Calls f(position in the stage, row, column) for a matrix that is slice number `slice` of a stage with dimensions [batch…, rows, columns] in a layout.
template <class F>
void for_slice(const stage& of, std::span<const std::size_t> batch, tensor_layout layout, std::size_t slice, std::size_t rows, std::size_t columns, F f) {
    const placement at = place(of.shape, layout);
    for (std::size_t i = 0; i < rows; ++i) {
        const std::size_t first = first_of_row(at, batch, slice, i);
        for (std::size_t c = 0; c < columns; ++c) f(first + c * at.stride.back(), i, c);
    }
}

// Writes a matrix into its slice; nothing to do for a stage that nobody asked for.
template <class M> void put(stage* to, std::span<const std::size_t> batch, tensor_layout layout, std::size_t slice, const M& m) {
    if (to == nullptr) return;
    for_slice(*to, batch, layout, slice, m.length(0), m.length(1), [&](std::size_t at, std::size_t i, std::size_t c) { to->values[at] = m(i, c); });
}
// Adds a matrix to its slice: gradients of what several slices read.
template <class M> void add(stage* to, std::span<const std::size_t> batch, tensor_layout layout, std::size_t slice, const M& m) {
    if (to == nullptr) return;
    for_slice(*to, batch, layout, slice, m.length(0), m.length(1), [&](std::size_t at, std::size_t i, std::size_t c) { to->values[at] = to->values[at] + m(i, c); });
}
// Rows of a slice from `first` on are padding: nobody's.
inline void mark_padding(stage* of, std::span<const std::size_t> batch, tensor_layout layout, std::size_t slice, std::size_t rows, std::size_t first) {
    if (of == nullptr || first >= rows) return;
    of->padding.resize(of->values.size());
    for_slice(*of, batch, layout, slice, rows, of->shape.back(), [&](std::size_t at, std::size_t i, std::size_t) {
        if (i >= first) of->padding[at] = true;
    });
}

// Adds the gradient of a parameter to its stage, which lies in the parameter's own layout. An absent parameter has no stage.
template <class M> void add_parameter(stage* to, const M& m, bool transposed) {
    if (to == nullptr) return;
    if constexpr (M::rank == 1) {
        for (std::size_t c = 0; c < m.length(0); ++c) to->values[c] = to->values[c] + m(c);
    } else {
        for (std::size_t i = 0; i < m.length(0); ++i)
            for (std::size_t c = 0; c < m.length(1); ++c) {
                tracked& sum = to->values[transposed ? c * m.length(0) + i : i * m.length(1) + c];
                sum = sum + m(i, c);
            }
    }
}

// Begins the stage of a parameter's gradient, which has the parameter's shape. Of an absent one there is none.
inline stage* begin_gradient(stage_list& stages, const std::vector<named_view>& inputs, const std::string& name) {
    const array_view* const given = find(inputs, name);
    if (given == nullptr && stages.wants(gradient_name(name))) throw usage_error("'" + gradient_name(name) + "' is given, but '" + name + "' is not");
    return given == nullptr ? nullptr : stages.begin(gradient_name(name), given->shape);
}

// Tokens have no head dimension: bnhd is bhnd for them.
[[nodiscard]] inline tensor_layout layout_of_tokens(const conventions& how) { return how.layout == tensor_layout::nbd ? tensor_layout::nbd : tensor_layout::bhnd; }

// Rows of d components that enter a projection: its weights, if they are a matrix at all, must fit. (Before the weights are held against each other, so that
// the first that does not fit is to blame.)
inline void check_tokens_enter(const conventions& how, std::string_view name, const array_view& x, std::size_t d, const std::string& weight, const std::vector<named_view>& inputs) {
    const array_view* const w = find(inputs, weight);
    if (w == nullptr || w->shape.size() != 2) return;
    if (how.weight_out_in) check_rule<rules::weight_column_for_each_input>(name, x, d, weight, *w, w->shape[1]);
    else check_rule<rules::weight_row_for_each_input>(name, x, d, weight, *w, w->shape[0]);
}

// x (or dout, memory, …) as a stack of matrices. A vector is one row.
[[nodiscard]] inline matrix_stack tokens_of(std::string_view name, const array_view& a, tensor_layout layout) {
    if (a.shape.size() != 1) return stack_of(name, a, layout);
    array_view row = a;
    row.shape.insert(row.shape.begin(), 1);
    return stack_of(name, row, layout);
}

} // namespace detail

} // namespace attest
