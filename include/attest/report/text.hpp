// SPDX-License-Identifier: BSL-1.0
/// \file
/// A check's result as text for a person.
#pragma once

#include "attest/oracle/verdict.hpp"
#include "attest/report/numbers.hpp"

#include <iterator>
#include <range/v3/algorithm/all_of.hpp>
#include <range/v3/algorithm/any_of.hpp>
#include <range/v3/algorithm/find.hpp>
#include <range/v3/algorithm/find_if.hpp>
#include <range/v3/range/conversion.hpp>
#include <range/v3/view/join.hpp>
#include <range/v3/view/transform.hpp>

namespace attest::report {

namespace detail {

inline std::string coloured(verdict v, const std::string& text, bool colours) {
    if (!colours) return text;
    const char* const code = passes(v) ? "\x1b[1;32m" : v == verdict::undecided ? "\x1b[1;33m" : "\x1b[1;31m";
    return code + text + "\x1b[0m";
}

inline std::string index_text(const std::vector<std::size_t>& index) { return shape_text(index); }

// Strings with a separator between them, in lines of at most `width` bytes; those after the first are indented to a report's values.
template <class Range> std::string wrapped(const Range& parts, const char* separator, std::size_t width = 140) {
    const std::string indent(15, ' ');
    std::string text, line;
    for (const std::string& part : parts) {
        if (!line.empty() && indent.size() + line.size() + part.size() + 2 > width) {
            text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n" + indent;
            line.clear();
        }
        line += part + separator;
    }
    text += line;
    const std::size_t end = text.find_last_not_of(separator);
    return end == std::string::npos ? "" : text.substr(0, end + 1);
}

inline void element_lines(std::string& to, const char* title, const worst_element& e, const output_result& o) {
    auto out = std::back_inserter(to);
    fmt::format_to(out, "    {} {}: {} ULP from the exact value", title, index_text(e.index), ulp_text(e.ulp));
    if (std::isfinite(e.limit_ulp) && o.has_expected)
        fmt::format_to(out, ", where {} is expected within {} ULP and may be off by {}\n", o.arithmetic, ulp_text(e.expected_limit_ulp), ulp_text(e.limit_ulp));
    else if (std::isfinite(e.limit_ulp)) fmt::format_to(out, ", where {} may be off by {} ULP\n", o.arithmetic, ulp_text(e.limit_ulp));
    else fmt::format_to(out, "\n");
    fmt::format_to(out, "      got                {:<24} {}\n", shortest(e.got), hex(e.got));
    fmt::format_to(out, "      exact              {}\n", e.expected);
    fmt::format_to(out, "      correctly rounded  {:<24} {}\n", shortest(e.correctly_rounded), hex(e.correctly_rounded));
}

// "errors reach 45.0 % of what f32 is expected to be off, 3.1 % of what it may be"
inline std::string reach(const output_result& o) {
    if (!o.has_expected) return fmt::format("errors reach {} what {} may be off", share(o.limit_share), o.arithmetic);
    return fmt::format("errors reach {} what {} is expected to be off, {} what it may be", share(o.expected_share), o.arithmetic, share(o.limit_share));
}

// f32/ftz: f32/truncate/ftz is what it would be.
inline std::string truncating(const std::string& arithmetic) {
    const std::size_t slash = std::min(arithmetic.find('/'), arithmetic.size());
    return arithmetic.substr(0, slash) + "/truncate" + arithmetic.substr(slash);
}

// What the verdict means for this output, and what to do about it.
inline std::string meaning(const output_result& o, double false_alarm) {
    const char* const stages = o.propagated ? "intermediate results, if the op has any (attest list names them)," : "stages (raw_scores, scores, weights, lse)";
    switch (o.verdict) {
    case verdict::exact: return "every element is the exact value, correctly rounded.";
    case verdict::consistent:
        if (o.has_expected)
            return fmt::format("every element lies inside the expected limit of {}: unbiased rounding explains the difference.\n    A mistake smaller than the limit is not excluded.",
                               o.arithmetic);
        return fmt::format("every element lies inside the {} limit of {}: rounding can explain the difference.\n    A mistake smaller than the limit is not excluded.",
                           o.first_order ? "first-order" : o.propagated ? "worst-case" : "certain", o.arithmetic);
    case verdict::undecided:
        if (!o.limits_derived)
            return fmt::format("no limits are derived yet for this op in {}: the distances above are exact, but nothing says how large they may be.\n    A dump of the same in f64 can be judged.",
                               o.arithmetic);
        if (o.unjudged != 0)
            return fmt::format("{} elements differ where nothing is judged: their rows see NaN or infinity, or {} may overflow there.", o.unjudged, o.arithmetic);
        return fmt::format("for {} of {} elements the {}limit of {} is so wide that zero or any value of the row would pass, or the precision of the exact value does not "
                           "reach;\n    declare a stricter arithmetic, or use shorter rows or smaller scores.",
                           o.blind, o.elements, o.has_expected ? "expected " : "", o.arithmetic);
    case verdict::suspicious:
        return fmt::format("{} elements ({}) in {} of {} rows are outside the expected limit of {}, and inside its certain one: possible, but for unbiased\n    rounding "
                           "with a probability below {} in all of this check. More likely is a mistake that is too small for the certain limit ({}),\n    or rounding that always "
                           "errs to one side{}. Look at the conventions first.",
                           o.outside_expected, percent(o.outside_expected, o.elements), o.rows_outside_expected, o.rows, o.arithmetic, probability(false_alarm),
                           o.propagated ? "a wrong constant, a lost term" : "a lost key in long rows, a slightly wrong scale",
                           o.arithmetic.find("/truncate") == std::string::npos ? fmt::format(" (if its sums are cut off, declare {})", truncating(o.arithmetic)) : "");
    case verdict::inaccurate:
        return fmt::format("{} elements ({}) are farther off than {} can be{}.\n    Errors this large are possible in {}: either something inside is "
                           "computed that coarsely,\n    or there is a small mistake ({}, other inputs than those in the case). Look at the conventions first.",
                           o.outside_certain, percent(o.outside_certain, o.elements), o.arithmetic,
                           o.first_order ? " to first order" : ", whatever the order of its sums", o.weaker, o.propagated ? "a wrong constant, a lost term" : "a lost key, a slightly wrong scale");
    case verdict::wrong:
        return fmt::format("{} elements ({}) in {} of {} rows are outside what any arithmetic known here can do for {}: its rounding of the formula above does not explain them.\n    "
                           "Look at the conventions first; {} in the case would show where it begins.",
                           o.outside_certain, percent(o.outside_certain, o.elements), o.rows_outside, o.rows, name_of(o.type), stages);
    }
    return "";
}

// What an assumed weaker arithmetic means, for 16-bit outputs.
inline std::string assumption(const check_result& r) {
    const auto only_weaker = [](const output_result& o) { return passes(o.verdict) && o.verdict != verdict::exact && (o.arithmetic == "bf16" || o.arithmetic == "f16"); };
    const auto found = ranges::find_if(r.outputs, only_weaker);
    if (!r.assumed || found == r.outputs.end()) return "";
    return fmt::format("  {1}passes only if scores and weights are stored in {0}; declare --arithmetic {0}+f32 to forbid that\n", found->arithmetic, r.outputs.size() > 1 ? found->name + " " : "");
}

// Who settled how many.
inline std::string rungs_line(const output_result& o) {
    const auto part = [&](std::size_t count) { return percent(count, o.elements); };
    return fmt::format("    settled in double {}, in double-double {}, in higher precision {}{}\n", part(o.rungs.in_double), part(o.rungs.in_double_double), part(o.rungs.in_real),
                       o.decided == 0 ? "" : fmt::format("; decided by rules {} ({} elements)", part(o.decided), o.decided));
}

} // namespace detail

/// One output: figures, the worst element, and what the verdict means. `false_alarm`: the probability that the expected limits stand for.
[[nodiscard]] inline std::string output_text(const output_result& o, bool colours = false, double false_alarm = 1e-9) {
    std::string text = fmt::format("  {} {} {}: {}", o.name, shape_text(o.shape), name_of(o.type), detail::coloured(o.verdict, std::string(name_of(o.verdict)), colours));
    text += o.limits_derived ? ", " + detail::reach(o) + "\n" : "\n";
    auto out = std::back_inserter(text);
    fmt::format_to(out, "    {} elements, {} correctly rounded ({}); rms {} ULP, greatest {} ULP\n", o.elements, o.exact, percent(o.exact, o.elements),
                   ulp_text(o.rms_ulp), ulp_text(o.max_ulp));
    text += detail::rungs_line(o);
    if (o.not_finite != 0) fmt::format_to(out, "    {} elements are NaN or infinite where the exact value is finite; rms is of the others\n", o.not_finite);
    if (o.not_finite_right != 0) fmt::format_to(out, "    {} elements are NaN or infinite, as the exact value is\n", o.not_finite_right);
    if (o.unseparated != 0)
        fmt::format_to(out, "    {} elements are unseparated: their exact value is too near to a tie, to a limit or to zero for the precision, and both sides pass\n", o.unseparated);
    if (o.limits_derived && o.blind != 0 && o.verdict != verdict::exact)
        fmt::format_to(out, "    blind: {} of {} elements ({}), where nothing is judged, or limits are so wide that 0, or anything that the row's values can give, would pass\n",
                       o.blind, o.elements, percent(o.blind, o.elements));
    if (o.worst) detail::element_lines(text, "farthest", *o.worst, o);
    if (o.first_outside && o.worst && o.first_outside->index != o.worst->index) detail::element_lines(text, "first outside", *o.first_outside, o);
    fmt::format_to(std::back_inserter(text), "    {}: {}\n", name_of(o.verdict), detail::meaning(o, false_alarm));
    return text;
}

namespace detail {

// In a case of many outputs, those that are not the first to look at take one line each.
inline std::string short_text(const output_result& o, bool colours) {
    if (!o.limits_derived)
        return fmt::format("  {} {} {}: {}; {} of {} correctly rounded, rms {} ULP, greatest {} ULP\n", o.name, shape_text(o.shape), name_of(o.type),
                           coloured(o.verdict, std::string(name_of(o.verdict)), colours), o.exact, o.elements, ulp_text(o.rms_ulp), ulp_text(o.max_ulp));
    return fmt::format("  {} {} {}: {}, {}; {} of {} correctly rounded, greatest {} ULP\n", o.name, shape_text(o.shape), name_of(o.type),
                       coloured(o.verdict, std::string(name_of(o.verdict)), colours), reach(o), o.exact, o.elements, ulp_text(o.max_ulp));
}

// Of a layer or a stack, the tensors that pass through, and how many parameters there are.
inline std::vector<std::string> few_inputs(const check_result& r, std::vector<std::string> inputs) {
    constexpr std::size_t many = 12;
    if (inputs.size() <= many) return inputs;
    std::vector<std::string> few;
    for (std::size_t i = 0; i < inputs.size(); ++i)
        if (r.inputs[i].name.find('.') == std::string::npos) few.push_back(inputs[i]);
    few.push_back(fmt::format("and {} parameters and masks", inputs.size() - few.size()));
    return few;
}

// Conventions as they would be written: those that differ from the default, and the others.
inline std::pair<std::vector<std::string>, std::vector<std::string>> sorted_conventions(const settings& in_force) {
    std::pair<std::vector<std::string>, std::vector<std::string>> sorted;
    for (const auto& [key, value] : in_force) {
        if (key == "arithmetic") continue; // has a line of its own
        const auto info = ranges::find(convention_table(), key, &convention_info::key);
        const bool is_default = info != convention_table().end() && value == info->values.front();
        (is_default ? sorted.second : sorted.first).push_back(key + "=" + value);
    }
    return sorted;
}

// Whether results go on from those before them.
inline bool is_staged(const check_result& r) {
    return r.outputs.size() > 1 && ranges::any_of(r.outputs, [](const output_result& o) { return o.name.ends_with(".out"); });
}

// What the limits of these outputs are, a line each.
inline std::vector<std::string> limit_lines(const check_result& r) {
    std::vector<std::string> lines;
    const bool own = !ranges::all_of(r.outputs, [](const output_result& o) { return o.propagated; });
    if (own) lines.push_back(fmt::format("certain: no right computation in {} is farther off, in whatever order it sums, plain or blockwise", r.arithmetic));
    if (own && r.lambda > 0) {
        const bool lower = ranges::any_of(r.outputs, [](const output_result& o) { return o.has_expected; });
        lines.push_back(fmt::format("expected: unbiased rounding goes beyond it anywhere here with a probability below {}", probability(r.false_alarm)));
        lines.push_back(fmt::format("          ({:.2f} times the root of the sum of squared bounds{})", r.lambda, lower ? "" : "; here it is nowhere below the certain limit"));
    }
    if (ranges::any_of(r.outputs, [](const output_result& o) { return o.propagated && o.limits_derived; }))
        lines.emplace_back("propagated: the rounding bounds of double carried through the formula, for any order of its sums");
    if (ranges::any_of(r.outputs, [](const output_result& o) { return o.first_order; }))
        lines.emplace_back("first-order, where those grow too far: twice their sum through the derivatives, which is first-order and not proved");
    if (lines.empty()) lines.emplace_back("none: no limits are derived yet for this op in this arithmetic");
    return lines;
}

} // namespace detail

/// The whole report. `name`: what was checked, such as the file.
[[nodiscard]] inline std::string text(const check_result& r, const std::string& name, bool colours = false) {
    std::string report = fmt::format("{}: {} {}\n", name, r.op, detail::coloured(r.verdict, std::string(name_of(r.verdict)), colours));
    auto out = std::back_inserter(report);
    const auto inputs = r.inputs | ranges::views::transform([](const input_summary& i) { return fmt::format("{} {} {}", i.name, shape_text(i.shape), name_of(i.type)); }) |
                        ranges::to<std::vector<std::string>>();
    fmt::format_to(out, "  inputs       {}\n", detail::wrapped(detail::few_inputs(r, inputs), ", "));
    const auto [declared, by_default] = detail::sorted_conventions(r.conventions);
    fmt::format_to(out, "  conventions  {}\n", declared.empty() ? "all as by default" : detail::wrapped(declared, " "));
    if (!by_default.empty()) fmt::format_to(out, "  by default   {}\n", detail::wrapped(by_default, " "));
    fmt::format_to(out, "  arithmetic   {}{}\n", r.arithmetic, r.assumed ? " (assumed; declare it with --arithmetic)" : " (declared)");
    const char* label = "limits";
    for (const std::string& line : detail::limit_lines(r)) {
        fmt::format_to(out, "  {:<12} {}\n", label, line);
        label = "";
    }
    if (r.sample) fmt::format_to(out, "  rows         {} of {} are checked, drawn with seed {}; of the others nothing is said\n", r.rows_checked, r.rows_total, r.sample->seed);
    if (detail::is_staged(r)) fmt::format_to(out, "  stages       each but gradients is evaluated from those before it as the case gives them\n");
    for (const std::string& warning : r.warnings) fmt::format_to(out, "  warning      {}\n", warning);
    if (!r.first_bad_stage.empty() && r.outputs.size() > 1) fmt::format_to(out, "  first bad stage, in the order of computation: {}\n", r.first_bad_stage);
    report += "\n";
    constexpr std::size_t few = 4;
    bool short_before = false;
    for (const output_result& o : r.outputs) {
        const bool is_first = o.name == r.first_bad_stage || (r.first_bad_stage.empty() && o.name == "out");
        const bool is_short = r.outputs.size() > few && !is_first && (passes(o.verdict) || !r.first_bad_stage.empty() || !o.limits_derived);
        if (!is_short && short_before) report += "\n";
        report += is_short ? detail::short_text(o, colours) : output_text(o, colours, r.false_alarm) + "\n";
        short_before = is_short;
    }
    if (short_before) report += "\n";
    report += detail::assumption(r);
    fmt::format_to(std::back_inserter(report), "  {:.3g} s for the exact values, {:.3g} s for limits and verdict\n", r.seconds.evaluate, r.seconds.compare);
    return report;
}

} // namespace attest::report
