// SPDX-License-Identifier: BSL-1.0
/// \file
/// Candidates against the stages of an op. The limits are plain propagation of the rounding bounds, and are derived for double alone.
#pragma once

#include "attest/oracle/comparison.hpp"
#include "attest/oracle/run_stages.hpp"

namespace attest::detail {

// Whose errors in `tracked` stand for an arithmetic.
[[nodiscard]] inline tracked_kind kind_of(const arithmetic& a) {
    if (a.name == "f64") return tracked_kind::f64;
    if (a.name == "f32") return tracked_kind::f32;
    return a.name == "tf32" ? tracked_kind::tf32 : tracked_kind::sixteen_bits;
}

// Limits are derived for what is computed and stored in double. Then the weaker arithmetics' errors tell `inaccurate` from `wrong`.
[[nodiscard]] inline bool limits_are_derived(dtype stored, const std::optional<std::string>& declared) {
    return stored == dtype::f64 && (!declared || *declared == "f64");
}

inline void compare_stage(const stage& exact, output_judge& judge, bool derived, bool inputs_are_finite) {
    const std::size_t columns = exact.shape.empty() ? 1 : exact.shape.back();
    for (std::size_t e = 0; e < exact.values.size(); ++e) {
        if (columns == 0 || e % columns == 0) judge.begin_row();
        if (!exact.padding.empty() && exact.padding[e]) continue;
        const tracked& value = exact.values[e];
        const double radius = value.error(tracked_kind::value);
        // NaN and infinity are judged where they are the declared answer of a row without keys, and all inputs are numbers.
        const bool judged = value.value().is_finite() ? radius < infinity_of_double : inputs_are_finite;
        std::vector<double> limits;
        for (const arithmetic* a : judge.possible()) {
            if (!value.value().is_finite()) limits.push_back(judged ? 0 : infinity_of_double);
            else limits.push_back(derived && judged ? value.error(kind_of(*a)) : infinity_of_double);
        }
        // A limit that zero would pass says nothing, unless zero is the value, as far as its error estimate tells.
        const double size = absolute(static_cast<double>(value.value())) > radius ? absolute(static_cast<double>(value.value())) : 0;
        judge.element(e, {.exact = value.value(), .radius = value.value().is_finite() && judged ? radius : 0, .limits = limits,
                          .reach = size > 0 ? size : infinity_of_double, .judged = judged});
    }
}

/// Judges the candidates that `judges` stand for. Afterwards the judges are in the order of computation.
inline void compare_stages(const conventions& how, const std::vector<named_view>& inputs, const std::vector<named_view>& candidates,
                           std::vector<output_judge>& judges, check_result& result, const progress& tell) {
    std::vector<std::string> wanted;
    for (const output_judge& judge : judges) wanted.push_back(judge.name());
    stopwatch watch;
    const staged exact = run_stages(how, inputs, wanted, tell);
    for (const std::string& warning : exact.warnings)
        if (!ranges::contains(result.warnings, warning)) result.warnings.push_back(warning);
    const bool finite = finite_inputs(how, inputs);
    result.seconds.evaluate += watch.lap();
    std::vector<output_judge> ordered;
    for (const stage& s : exact.stages)
        for (output_judge& judge : judges)
            if (judge.name() == s.name) {
                const array_view& candidate = *find(candidates, s.name);
                require_shape(judge, candidate.shape, s.shape);
                const bool derived = limits_are_derived(candidate.type, how.arithmetic);
                judge.with_propagated_limits(derived);
                compare_stage(s, judge, derived, finite);
                ordered.push_back(std::move(judge));
            }
    judges = std::move(ordered);
    result.seconds.compare += watch.lap();
}

} // namespace attest::detail
