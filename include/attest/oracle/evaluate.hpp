// SPDX-License-Identifier: BSL-1.0
/// \file
/// `evaluate`: the exact values of an op's outputs, element by element.
#pragma once

#include "attest/oracle/comparison.hpp"
#include "attest/oracle/run_stages.hpp"

#include <range/v3/algorithm/all_of.hpp>
#include <range/v3/algorithm/find_if.hpp>

namespace attest {

/// An output that is evaluated, and its shape in the layout of the question.
struct evaluated_output {
    std::string name;
    std::vector<std::size_t> shape;
};

/// Receives every element of every wanted output: number of the output, position in C order, value, error estimate.
using element_sink = std::function<void(std::size_t, std::size_t, const exact_number&, double)>;

namespace detail {

inline void evaluate_attention_row(const std::string& name, std::size_t output, std::size_t first, std::size_t stride, const exact_row& row,
                                   const element_sink& sink) {
    if (name == "lse") return sink(output, first, row.lse, row.lse_radius);
    if (name == "out") {
        for (std::size_t c = 0; c < row.out.length(0); ++c) sink(output, first + c * stride, row.out(c), row.out_radius[c]);
        return;
    }
    std::size_t at = 0;
    for (std::size_t j = 0; j < row.raw_size.size(); ++j) {
        const bool visible = at < row.visible.size() && row.visible[at] == j;
        at += visible ? 1 : 0;
        if (name == "raw_scores") sink(output, first + j * stride, row.raw_scores(j), 0x1p-180 * row.raw_size[j]);
        else if (name == "weights") sink(output, first + j * stride, row.weights(j), visible ? static_cast<double>(row.weights(j)) * row.weight_radius : 0);
        else if (visible) sink(output, first + j * stride, row.scores(j), row.score_radius[j]);
        else sink(output, first + j * stride, -std::numeric_limits<exact_number>::infinity(), 0);
    }
}

inline void evaluate_stages(const conventions& how, const std::vector<named_view>& inputs, const std::vector<std::string>& wanted,
                            const std::function<void(const std::vector<evaluated_output>&)>& begin, const element_sink& sink, const progress& tell) {
    // softmax's own out is not among the stages.
    for (const std::string& name : wanted)
        if (how.op == "softmax" && !is_tracked(how, inputs, name)) throw usage_error("'out' and 'dx' of softmax are evaluated one at a time: ask for one of them");
    const staged exact = run_stages(how, inputs, wanted, tell);
    std::vector<evaluated_output> outputs;
    for (const stage& s : exact.stages) outputs.push_back({s.name, s.shape});
    begin(outputs);
    for (std::size_t o = 0; o < exact.stages.size(); ++o)
        for (std::size_t e = 0; e < exact.stages[o].values.size(); ++e) {
            const tracked& value = exact.stages[o].values[e];
            double radius = value.value().is_finite() ? value.error(tracked_kind::value) : 0;
            // What its estimate does not tell from zero has no digits to show.
            if (!value.value().is_zero() && abs(value.value()) <= exact_number(radius)) radius = infinity_of_double;
            sink(o, e, value.value(), radius);
        }
}

} // namespace detail

/// Evaluates the wanted outputs of an op. `begin` gets their names and shapes, in the order of computation, before the first element comes.
/// Throws usage_error as `check` does, and for an output that the op does not have.
inline void evaluate(const settings& given, const std::vector<named_view>& inputs, const std::vector<std::string>& wanted,
                     const std::function<void(const std::vector<evaluated_output>&)>& begin, const element_sink& sink, const progress& tell = {}) {
    const conventions how = read_conventions(given);
    if (how.op.empty()) throw usage_error("no op is given; see `attest list` for the ops");
    const op_info& op = find_op(how.op);
    for (const std::string& name : wanted)
        if (!is_output(op, name)) throw usage_error("'" + name + "' is not an output of " + how.op);
    if (ranges::any_of(wanted, [&](const std::string& name) { return is_tracked(how, inputs, name); })) return detail::evaluate_stages(how, inputs, wanted, begin, sink, tell);
    if (how.op == "softmax") {
        const softmax_problem p = make_softmax_problem(how, inputs);
        begin({{"out", p.shape}});
        for (std::size_t fibre = 0; fibre < p.fibres(); ++fibre) {
            const exact_row row = exact_softmax(p, fibre);
            for (std::size_t j = 0; j < p.length(); ++j)
                sink(0, p.first(fibre) + j * p.stride(), row.weights(j),
                     row.weights(j).is_finite() ? static_cast<double>(row.weights(j)) * row.weight_radius : 0);
            if (tell) tell(fibre + 1, p.fibres());
        }
        return;
    }
    const attention_problem p = make_attention_problem(how, inputs);
    std::vector<evaluated_output> outputs;
    std::vector<placement> places;
    for (const tensor_info& output : op.outputs)
        if (ranges::contains(wanted, output.name)) {
            const tensor_layout layout = output.name == "out" ? how.layout : tensor_layout::bhnd;
            outputs.push_back({std::string(output.name), shape_in_layout(p.shape_of_output(output.name), layout)});
            places.push_back(place(outputs.back().shape, layout));
        }
    begin(outputs);
    if (ranges::all_of(outputs, [](const evaluated_output& output) { return element_count(output.shape) == 0; })) return;
    for_each_row(p, ranges::contains(wanted, "raw_scores"), [&](std::size_t slice, std::size_t i, const exact_row& row, const exact_attention&) {
        for (std::size_t o = 0; o < outputs.size(); ++o)
            detail::evaluate_attention_row(outputs[o].name, o, first_of_row(places[o], p.batch, slice, i), places[o].stride.back(), row, sink);
        if (tell) tell(slice * p.n_q + i + 1, p.slices() * p.n_q);
    });
}

} // namespace attest
