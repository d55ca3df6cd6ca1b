// SPDX-License-Identifier: BSL-1.0
/// \file
/// A check's result as one line of JSON, in the form that other programs rely on. What this version does not compute is null.
#pragma once

#include "attest/oracle/verdict.hpp"
#include "attest/report/numbers.hpp"
#include "attest/version.hpp"

#include <nlohmann/json.hpp>

namespace attest::report {

using ordered_json = nlohmann::ordered_json;

namespace detail {

// A number, or the strings "nan", "inf", "-inf".
inline ordered_json number(double x) { return std::isfinite(x) ? ordered_json(x) : ordered_json(shortest(x)); }

inline ordered_json element(const worst_element& e) {
    return {{"index", e.index},
            {"got", hex(e.got)},
            {"got_decimal", shortest(e.got)},
            {"expected", e.expected},
            {"correctly_rounded", hex(e.correctly_rounded)},
            {"ulp", number(e.ulp)},
            {"expected_limit_ulp", number(e.expected_limit_ulp)},
            {"certain_limit_ulp", number(e.limit_ulp)}};
}

inline ordered_json output(const output_result& o) {
    return {{"name", o.name},
            {"dtype", name_of(o.type)},
            {"shape", o.shape},
            {"verdict", name_of(o.verdict)},
            {"arithmetic", o.arithmetic},
            {"weaker_arithmetic", o.weaker.empty() ? ordered_json(nullptr) : ordered_json(o.weaker)},
            {"elements", o.elements},
            {"outside_expected", o.outside_expected},
            {"outside_certain", o.outside_certain},
            {"rows", o.rows},
            {"rows_outside", o.rows_outside},
            {"rows_outside_expected", o.rows_outside_expected},
            {"exact", o.exact},
            {"not_finite", o.not_finite},
            {"not_finite_right", o.not_finite_right},
            {"blind", o.blind},
            {"unjudged", o.unjudged},
            {"limits_derived", o.limits_derived},
            {"limits_first_order", o.first_order},
            {"limit_share", number(o.limit_share)},
            {"expected_limit_share", number(o.expected_share)},
            {"max_ulp", number(o.max_ulp)},
            {"rms_ulp", number(o.rms_ulp)},
            {"expected_limit_ulp_at_worst", o.worst ? number(o.worst->expected_limit_ulp) : ordered_json(nullptr)},
            {"certain_limit_ulp_at_worst", o.worst ? number(o.worst->limit_ulp) : ordered_json(nullptr)},
            {"worst", o.worst ? element(*o.worst) : ordered_json(nullptr)},
            {"first_outside", o.first_outside ? element(*o.first_outside) : ordered_json(nullptr)},
            {"rungs", {{"double", o.rungs.in_double}, {"double_double", o.rungs.in_double_double}, {"real", o.rungs.in_real}}},
            {"decided", o.decided},
            {"unseparated", o.unseparated}};
}

} // namespace detail

/// The object of one case. `read_seconds`: what reading the file took.
[[nodiscard]] inline ordered_json json(const check_result& r, const std::string& name, double read_seconds) {
    ordered_json conventions = ordered_json::object(), outputs = ordered_json::array(), inputs = ordered_json::array();
    for (const auto& [key, value] : r.conventions) conventions[key] = value;
    for (const input_summary& i : r.inputs) inputs.push_back({{"name", i.name}, {"dtype", name_of(i.type)}, {"shape", i.shape}});
    for (const output_result& o : r.outputs) outputs.push_back(detail::output(o));
    return {{"attest", version},
            {"case", name},
            {"op", r.op},
            {"conventions", conventions},
            {"arithmetic", r.arithmetic},
            {"assumed", r.assumed},
            {"false_alarm", r.false_alarm},
            {"trials", r.trials},
            {"lambda", r.lambda == 0 ? ordered_json(nullptr) : ordered_json(r.lambda)},
            {"sample", r.sample ? ordered_json{{"rows", r.rows_checked}, {"of", r.rows_total}, {"seed", r.sample->seed}} : ordered_json(nullptr)},
            {"verdict", name_of(r.verdict)},
            {"first_bad_stage", r.first_bad_stage.empty() ? ordered_json(nullptr) : ordered_json(r.first_bad_stage)},
            {"inputs", inputs},
            {"outputs", outputs},
            {"mistakes", nullptr},
            {"seconds", {{"read", read_seconds}, {"evaluate", r.seconds.evaluate}, {"compare", r.seconds.compare}, {"diagnose", nullptr}}},
            {"warnings", r.warnings}};
}

/// The object of a case in trouble.
[[nodiscard]] inline ordered_json json_error(const std::string& name, const std::string& error) {
    return {{"attest", version}, {"case", name}, {"error", error}};
}

} // namespace attest::report
