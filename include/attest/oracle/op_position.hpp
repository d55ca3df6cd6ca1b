// SPDX-License-Identifier: BSL-1.0
/// \file
/// The ops of positions: sinusoidal, learned_position, rope, in `tracked`.
#pragma once

#include "attest/formula/position.hpp"
#include "attest/gradient/position.hpp"
#include "attest/oracle/pair_rules.hpp"
#include "attest/oracle/stages.hpp"

namespace attest::detail {

inline void run_sinusoidal(const conventions& how, stage_list& stages) {
    if (!how.length || !how.d_model) throw usage_error("sinusoidal has no inputs: it needs length and d-model");
    stage* const out = stages.begin("out", {*how.length, *how.d_model});
    if (out == nullptr) return;
    const auto table = sinusoidal<tracked>(*how.length, *how.d_model);
    for (std::size_t e = 0; e < out->values.size(); ++e) out->values[e] = table.data()[e];
}

inline void run_learned_position(const conventions& how, const std::vector<named_view>& inputs, stage_list& stages) {
    const tensor_layout layout = layout_of_tokens(how);
    const array_view& x_given = required(inputs, how.op, "x");
    const array_view& table_given = required(inputs, how.op, "table");
    const matrix_stack x = tokens_of("x", x_given, layout);
    const matrix_stack table_stack = stack_of("table", table_given, tensor_layout::bhnd);
    if (!table_stack.batch.empty()) throw usage_error("table " + shape_text(table_given.shape) + " must have two dimensions");
    const tracked_matrix table = tracked_of(table_stack[0]);
    check_rule<rules::position_component_for_each_component>("x", x_given, x.columns, "table", table_given, table.length(1));
    if (x.rows + how.position_offset > table.length(0))
        throw usage_error("x " + shape_text(x_given.shape) + " and table " + shape_text(table_given.shape) + ", with position-offset " + std::to_string(how.position_offset) + ": " +
                          shape_error(rules::position_in_table::sentence, x.rows + how.position_offset, table.length(0)).what());
    stage* const out = stages.begin("out", x_given.shape);
    stage* const dx = stages.begin("dx", x_given.shape);
    stage* const dtable = stages.begin("dtable", table_given.shape);
    std::optional<matrix_stack> dout;
    if (dx != nullptr || dtable != nullptr) dout = tokens_of("dout", dout_of(inputs, how.op, x_given.shape), layout);
    for (std::size_t s = 0; s < element_count(x.batch); ++s) {
        if (out != nullptr) put(out, x.batch, layout, s, add_positions(tracked_of(x[s]), table, how.position_offset));
        if (!dout) continue;
        const tracked_matrix dy = tracked_of((*dout)[s]);
        put(dx, x.batch, layout, s, dy);
        if (dtable != nullptr) // every sequence reads the same rows of the table
            for (std::size_t i = 0; i < x.rows; ++i)
                for (std::size_t c = 0; c < x.columns; ++c) {
                    tracked& sum = dtable->values[(i + how.position_offset) * x.columns + c];
                    sum = sum + dy(i, c);
                }
    }
}

inline void run_rope(const conventions& how, const std::vector<named_view>& inputs, stage_list& stages, const progress& tell) {
    const array_view& x_given = required(inputs, how.op, "x");
    const matrix_stack x = tokens_of("x", x_given, how.layout);
    const rope<tracked> by = rope_of<tracked>(how);
    check_rotation(how, "x", x_given, x.columns);
    // positions: [n] for all, or [b, n], where b counts slices, or slices without heads.
    const array_view* const given_positions = find(inputs, "positions");
    const std::size_t slices = element_count(x.batch), heads = x.batch.empty() ? 1 : x.batch.back();
    std::size_t slices_per_row = slices;
    if (given_positions != nullptr) {
        const auto& shape = given_positions->shape;
        const bool per_batch = shape.size() == 2 && shape[0] != 0 && (shape[0] == slices || shape[0] * heads == slices || shape[0] == 1);
        if ((shape.size() != 1 && !per_batch) || shape.back() != x.rows)
            throw usage_error("positions " + shape_text(shape) + " must be [n] or [b, n], with an entry for each row of x " + shape_text(x_given.shape));
        if (per_batch) slices_per_row = slices / shape[0];
    }
    const auto position = [&](std::size_t s, std::size_t i) {
        return given_positions != nullptr ? tracked(rotation_position("positions", decode(*given_positions, s / std::max<std::size_t>(slices_per_row, 1) * x.rows + i))) : tracked(static_cast<double>(how.position_offset + i));
    };
    stage* const out = stages.begin("out", x_given.shape);
    stage* const dx = stages.begin("dx", x_given.shape);
    std::optional<matrix_stack> dout;
    if (dx != nullptr) dout = tokens_of("dout", dout_of(inputs, how.op, x_given.shape), how.layout);
    for (std::size_t s = 0; s < slices; ++s) {
        auto y = tracked_matrix::with_lengths(x.rows, x.columns), g = y;
        const tracked_matrix given = tracked_of(x[s]), dy = dout ? tracked_of((*dout)[s]) : tracked_matrix();
        for (std::size_t i = 0; i < x.rows; ++i) {
            const auto row = out != nullptr ? by.rotate(given[i], position(s, i)) : tracked_vector::with_lengths(x.columns);
            const auto drow = dout ? by.rotate_back(dy[i], position(s, i)) : row;
            for (std::size_t c = 0; c < x.columns; ++c) {
                y(i, c) = row(c);
                g(i, c) = drow(c);
            }
        }
        put(out, x.batch, how.layout, s, y);
        put(dx, x.batch, how.layout, s, g);
        if (tell) tell(s + 1, slices);
    }
}

} // namespace attest::detail
