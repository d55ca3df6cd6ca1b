// SPDX-License-Identifier: BSL-1.0
/// \file
/// `check`: is this tensor what the formula gives, as far as the declared arithmetic can give it? Plain data in and out; no files.
///
/// ```cpp
/// const auto result = attest::check({{"op", "attention"}, {"causal", "top-left"}, {"arithmetic", "f32"}},
///                                   {{"q", q}, {"k", k}, {"v", v}}, {{"out", out}});
/// if (!attest::passes(result.verdict)) …
/// ```
#pragma once

#include "attest/oracle/compare_attention.hpp"
#include "attest/oracle/compare_softmax.hpp"
#include "attest/oracle/compare_stages.hpp"

#include <range/v3/algorithm/find_if.hpp>
#include <range/v3/algorithm/all_of.hpp>
#include <range/v3/algorithm/max.hpp>
#include <range/v3/view/transform.hpp>

namespace attest {

/// What a check may leave out.
struct check_options {
    std::optional<row_sample> rows = {};      ///< nothing: all rows are checked
    const fast::kernels* kernels = nullptr;   ///< of the first rung; nothing: those of the caller's compiler flags. What is said does not depend on it.
};

namespace detail {

inline void compare(const conventions& how, const std::vector<named_view>& inputs, const std::vector<named_view>& candidates, std::vector<output_judge>& judges,
                    check_result& result, const check_options& options, const progress& tell) {
    const fast::kernels& kernels = options.kernels == nullptr ? fast::compiled_kernels() : *options.kernels;
    if (how.op == "softmax") compare_softmax(how, inputs, candidates, judges, result, options.rows, tell);
    else if (how.op == "attention") compare_attention(how, inputs, candidates, judges, result, options.rows, kernels, tell);
    else if (how.op == "score") {
        const score_as_attention scores(how, inputs);
        compare_attention(scores.how, scores.inputs, candidates, judges, result, options.rows, kernels, tell);
    } else compare_stages(how, inputs, candidates, judges, result, tell);
}

// Whether other arithmetics than the first that is asked for have a say: they do where it does not hold an element (is a weaker one enough?), where precision
// ran out (what a doubt is measured by is the strictest), and where it does not pass and another may be assumed.
[[nodiscard]] inline bool need_all_arithmetics(const std::vector<output_judge>& judges, const conventions& how, const std::vector<named_view>& candidates) {
    return ranges::any_of(judges, [&](const output_judge& judge) {
        if (judge.strictest_that_holds() != 0 || judge.unseparated() != 0) return true;
        return !passes(judge.verdict_of(0)) && arithmetics_tried(how.arithmetic, find(candidates, judge.name())->type).size() > 1;
    });
}

} // namespace detail

/// Checks candidates against the exact values of an op under its conventions.
///
/// `given`: the op and its conventions, as on the command line ({"op", "attention"}, {"causal", "top-left"}, …). `inputs`: the op's inputs; what
/// it does not use is ignored. `candidates`: one or more of its outputs.
/// Throws usage_error, one line: unknown op, convention or value; an input that is missing; shapes that do not fit; nothing to compare.
/// The memory behind the arrays must stay while the call runs. Time grows as n_q·n_k·(d_k + d_v), memory as n·d.
[[nodiscard]] inline check_result check(const settings& given, const std::vector<named_view>& inputs, const std::vector<named_view>& candidates,
                                        const progress& tell = {}, const check_options& options = {}) {
    const conventions how = read_conventions(given);
    if (how.op.empty()) throw usage_error("no op is given; see `attest list` for the ops");
    const bool certified = is_certified(how.op);
    std::vector<output_judge> judges = detail::make_judges(find_op(how.op), how, candidates, certified ? detail::against::first : detail::against::all);
    if (ranges::all_of(candidates, [](const named_view& candidate) { return candidate.value.elements() == 0; }))
        throw usage_error("nothing to compare: the outputs have no elements");
    if (options.rows && !certified) throw usage_error("--rows sample: rows of " + how.op + " can't be checked by themselves in this version; those of softmax, score and attention can");
    check_result result;
    result.op = how.op;
    result.false_alarm = how.false_alarm;
    result.sample = options.rows;
    if (certified) {
        std::size_t trials = 0;
        for (const output_judge& judge : judges) {
            const array_view& candidate = *find(candidates, judge.name());
            trials += candidate.elements() * detail::arithmetics_tried(how.arithmetic, candidate.type).size();
        }
        result.lambda = expected_factor(static_cast<double>(trials), how.false_alarm);
    }
    // Limits take long, and most candidates pass in the first arithmetic that is asked for; if one does not, all is compared again (and progress begins again).
    check_result compared = result;
    detail::compare(how, inputs, candidates, judges, compared, options, tell);
    if (certified && detail::need_all_arithmetics(judges, how, candidates)) {
        judges = detail::make_judges(find_op(how.op), how, candidates, detail::against::all);
        result.seconds = compared.seconds;
        compared = result;
        detail::compare(how, inputs, candidates, judges, compared, options, tell);
    }
    result = compared;

    for (const tensor_info& input : find_op(how.op).inputs)
        for (const named_view& given_input : inputs)
            if (matches(input.name, given_input.name)) result.inputs.push_back({given_input.name, given_input.value.type, given_input.value.shape});
    result.assumed = !how.arithmetic.has_value();
    for (const output_judge& judge : judges) {
        result.outputs.push_back(judge.finish(detail::arithmetic_in_force(judge, how, candidates)));
        result.trials += result.outputs.back().elements * detail::arithmetics_tried(how.arithmetic, find(candidates, judge.name())->type).size();
    }
    if (ranges::all_of(result.outputs, [](const output_result& output) { return output.elements == 0; }))
        throw usage_error("nothing to compare: every row of the outputs is padding (q_lengths)");
    result.verdict = ranges::max(result.outputs | ranges::views::transform(&output_result::verdict));
    const auto bad = ranges::find_if(result.outputs, [](const output_result& output) { return !passes(output.verdict) && output.verdict != verdict::undecided; });
    if (bad != result.outputs.end()) result.first_bad_stage = bad->name;
    // The arithmetic of the whole case is that of its last output, `out` where there is one.
    const auto out = ranges::find_if(result.outputs, [](const output_result& output) { return output.name == "out"; });
    result.arithmetic = (out != result.outputs.end() ? *out : result.outputs.back()).arithmetic;
    result.conventions = conventions_in_force(how);
    return result;
}

} // namespace attest
