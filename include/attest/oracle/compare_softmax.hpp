// SPDX-License-Identifier: BSL-1.0
/// \file
/// Softmax's candidate against its exact fibres.
#pragma once

#include "attest/oracle/comparison.hpp"

namespace attest::detail {

inline void compare_softmax(const conventions& how, const std::vector<named_view>& inputs, const std::vector<named_view>& candidates,
                            std::vector<output_judge>& judges, check_seconds& seconds, const progress& tell) {
    const softmax_problem p = make_softmax_problem(how, inputs);
    output_judge& judge = judges.front();
    require_shape(judge, find(candidates, judge.name())->shape, p.shape);
    stopwatch watch;
    for (std::size_t fibre = 0; fibre < p.fibres(); ++fibre) {
        const exact_row row = exact_softmax(p, fibre);
        seconds.evaluate += watch.lap();
        row_facts facts = facts_of(row);
        facts.scores_are_inputs = true;
        limits_of_row limits(std::move(facts));
        judge.begin_row();
        for (std::size_t j = 0; j < p.length(); ++j) {
            std::vector<double> allowed;
            for (const arithmetic* a : judge.possible()) allowed.push_back(row.finite_inputs ? limits.of(*a).weight(j) : infinity_of_double);
            const double radius = row.finite_inputs ? static_cast<double>(row.weights(j)) * row.weight_radius : 0;
            judge.element(p.first(fibre) + j * p.stride(), {row.weights(j), radius, allowed, 1.0, row.finite_inputs});
        }
        seconds.compare += watch.lap();
        if (tell) tell(fibre + 1, p.fibres());
    }
}

} // namespace attest::detail
