// SPDX-License-Identifier: BSL-1.0
/// \file
/// Softmax's candidate against its exact fibres.
#pragma once

#include "attest/oracle/comparison.hpp"

namespace attest::detail {

inline void compare_softmax(const conventions& how, const std::vector<named_view>& inputs, const std::vector<named_view>& candidates,
                            std::vector<output_judge>& judges, check_result& result, const progress& tell) {
    const softmax_problem p = make_softmax_problem(how, inputs);
    output_judge& judge = judges.front();
    require_shape(judge, find(candidates, judge.name())->shape, p.shape);
    const bool in_f64 = find(inputs, "x")->type == dtype::f64;
    stopwatch watch;
    for (std::size_t fibre = 0; fibre < p.fibres(); ++fibre) {
        const exact_row row = exact_softmax(p, fibre);
        result.seconds.evaluate += watch.lap();
        row_facts facts = facts_of(row);
        facts.scores_are_inputs = true;
        facts.inputs_in_f64 = in_f64;
        limits_of_row row_bounds(std::move(facts));
        judge.begin_row();
        std::size_t at = 0; // the number of visible x before x_j
        for (std::size_t j = 0; j < p.length(); ++j) {
            const bool visible = at < row.visible.size() && row.visible[at] == j;
            std::vector<double> limits, beyond;
            for (const arithmetic* a : judge.possible()) {
                const bound b = !row.finite_inputs ? bound{} : visible ? row_bounds.of(*a).weight(at) : bound{0, 0};
                limits.push_back(b.limit);
                beyond.push_back(b.beyond);
            }
            const double radius = row.finite_inputs && visible ? static_cast<double>(row.weights(j)) * row.weight_radius : 0;
            judge.element(p.first(fibre) + j * p.stride(), {.exact = row.weights(j), .radius = radius, .limits = limits,
                                                            .reach = reach_of_weight(row.weights(j), row.visible.size()), .low = 0, .high = 1, .beyond = beyond,
                                                            .judged = row.finite_inputs});
            at += visible ? 1 : 0;
        }
        result.seconds.compare += watch.lap();
        if (tell) tell(fibre + 1, p.fibres());
    }
}

} // namespace attest::detail
