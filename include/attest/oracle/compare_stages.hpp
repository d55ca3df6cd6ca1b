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

// Limits of elements whose propagated ones have grown too far, to first order; infinity where there is none.
using first_order_limits = std::vector<std::vector<double>>;

inline constexpr double grown_too_far = 0x1p-36; // of the value
inline constexpr std::size_t tape_capacity = 6'000'000;
// Operations visited, over all elements: a few seconds, and half a minute for elements that can't be judged else.
inline constexpr double visits_to_tighten = 2e9, visits_to_judge = 1e10;

[[nodiscard]] inline bool has_grown_to(const tracked& x, double share) {
    return x.value().is_finite() && !(x.error(tracked_kind::f64) <= share * size_of(static_cast<double>(x.value())));
}

// The computation once more, on a tape. Empty where that would cost too much.
[[nodiscard]] inline first_order_limits limits_to_first_order(const conventions& how, const std::vector<named_view>& inputs, const std::vector<std::string>& wanted, const staged& exact,
                                                       const std::vector<named_view>& given) {
    const bool any_grown = std::any_of(exact.stages.begin(), exact.stages.end(), [](const stage& s) {
        return std::any_of(s.values.begin(), s.values.end(), [](const tracked& x) { return has_grown_to(x, grown_too_far); });
    });
    if (!any_grown) return {};
    tape operations(tape_capacity);
    staged again;
    try {
        const recording on(operations);
        again = run_stages(how, inputs, wanted, {}, given);
        for (const stage& s : again.stages)
            for (const tracked& x : s.values) (void)x.operation(); // ends its sum
    } catch (const tape_full&) {
        // The forward results alone may fit.
        std::vector<std::string> forward;
        for (const std::string& name : wanted)
            if (!is_gradient(name)) forward.push_back(name);
        if (forward.empty() || forward.size() == wanted.size()) return {};
        return limits_to_first_order(how, inputs, forward, exact, given);
    }
    first_order_limits limits;
    for (const stage& s : exact.stages) limits.emplace_back(s.values.size(), infinity_of_double);
    double visits = 0;
    // First what would be blind, then what would be loose.
    for (const auto& [share, budget] : {std::pair{0.5, visits_to_judge}, std::pair{grown_too_far, visits_to_tighten}})
        for (std::size_t s = 0; s < exact.stages.size(); ++s) {
            const auto recorded = std::find_if(again.stages.begin(), again.stages.end(), [&](const stage& r) { return r.name == exact.stages[s].name; });
            if (recorded == again.stages.end()) continue;
            for (std::size_t e = 0; e < exact.stages[s].values.size() && visits < budget; ++e) {
                if (limits[s][e] < infinity_of_double || !has_grown_to(exact.stages[s].values[e], share)) continue;
                const std::int32_t result = recorded->values[e].operation();
                visits += static_cast<double>(result);
                const double first_order = operations.first_order_error(result);
                if (first_order - first_order == 0) limits[s][e] = 2 * first_order;
            }
        }
    return limits;
}

// How much more than double an arithmetic may lose, operation by operation.
[[nodiscard]] inline double times_double(tracked_kind kind) {
    switch (kind) {
    case tracked_kind::f32: return 0x1p30;
    case tracked_kind::tf32: return 0x1p44;
    case tracked_kind::sixteen_bits: return 0x1p48;
    default: return 1;
    }
}

// Some programs cube 1/sigma, others do not: beyond these, one of a norm's steps may leave the range of double, and nothing is said.
[[nodiscard]] inline bool inputs_in_range(const conventions& how, const std::vector<named_view>& inputs) {
    if (how.op != "layer_norm" && how.op != "rms_norm") return true;
    for (const named_view& input : inputs) {
        if (!is_input(find_op(how.op), input.name)) continue;
        for (std::size_t e = 0, count = input.value.elements(); e < count; ++e)
            if (const double size = size_of(decode(input.value, e)); size != 0 && size < infinity_of_double && (size > 0x1p340 || size < 0x1p-340)) return false;
    }
    return true;
}

// `first_order`: the limits of this stage to first order, or nothing.
inline void compare_stage(const stage& exact, output_judge& judge, bool limited, bool inputs_are_finite, const std::vector<double>* first_order) {
    for (std::size_t e = 0; e < exact.values.size(); ++e) {
        if (!exact.padding.empty() && exact.padding[e]) continue;
        const tracked& value = exact.values[e];
        const double radius = value.error(tracked_kind::value);
        // NaN and infinity are judged where they are declared, as of a row without keys, or all inputs are numbers.
        const bool judged = value.value().is_finite() ? radius < infinity_of_double : inputs_are_finite || radius == 0;
        std::vector<element_limits> limits;
        for (const arithmetic* a : judge.possible()) {
            double limit = infinity_of_double;
            if (!value.value().is_finite()) limit = judged ? 0 : infinity_of_double;
            else if (limited && judged) {
                limit = value.error(kind_of(*a));
                if (first_order != nullptr && (*first_order)[e] < infinity_of_double) limit = std::min(limit, (*first_order)[e] * times_double(kind_of(*a)));
            }
            limits.push_back({limit, limit, infinity_of_double});
        }
        // A limit that zero would pass says nothing, unless zero is the value, as far as its error estimate tells.
        const double size = size_of(static_cast<double>(value.value())) > radius ? size_of(static_cast<double>(value.value())) : 0;
        judge_estimate(judge, e, {.limits = limits, .reach = size > 0 ? size : infinity_of_double, .judged = judged}, value.value(), judged ? radius : 0);
    }
}

/// Judges the candidates that `judges` stand for. Afterwards the judges are in the order of computation.
inline void compare_stages(const conventions& how, const std::vector<named_view>& inputs, const std::vector<named_view>& candidates,
                           std::vector<output_judge>& judges, check_result& result, const progress& tell) {
    std::vector<std::string> wanted;
    for (const output_judge& judge : judges) wanted.push_back(judge.name());
    stopwatch watch;
    const staged exact = run_stages(how, inputs, wanted, tell, candidates);
    for (const std::string& warning : exact.warnings)
        if (!ranges::contains(result.warnings, warning)) result.warnings.push_back(warning);
    const bool finite = finite_inputs(how, inputs), in_range = inputs_in_range(how, inputs);
    result.seconds.evaluate += watch.lap();
    const bool any_derived = std::any_of(judges.begin(), judges.end(), [&](const output_judge& judge) { return limits_are_derived(find(candidates, judge.name())->type, how.arithmetic); });
    const first_order_limits first_order = any_derived ? limits_to_first_order(how, inputs, wanted, exact, candidates) : first_order_limits();
    std::vector<output_judge> ordered;
    for (std::size_t number = 0; number < exact.stages.size(); ++number) {
        const stage& s = exact.stages[number];
        const std::vector<double>* const of_stage = first_order.empty() ? nullptr : &first_order[number];
        const bool is_first_order = of_stage != nullptr && std::any_of(of_stage->begin(), of_stage->end(), [](double limit) { return limit < infinity_of_double; });
        for (output_judge& judge : judges)
            if (judge.name() == s.name) {
                const array_view& candidate = *find(candidates, s.name);
                require_shape(judge, candidate.shape, s.shape);
                const bool derived = limits_are_derived(candidate.type, how.arithmetic);
                judge.with_propagated_limits(derived, derived && is_first_order);
                compare_stage(s, judge, derived && in_range, finite, of_stage);
                ordered.push_back(std::move(judge));
            }
    }
    judges = std::move(ordered);
    result.seconds.compare += watch.lap();
}

} // namespace attest::detail
