// SPDX-License-Identifier: BSL-1.0
// attest trace: a small case worked out step by step.
#include "commands.hpp"
#include "load.hpp"
#include "worked/ops.hpp"

#include <algorithm>

namespace attest::program {

namespace {

// Of tensors given as text: the op that takes them, where nobody said which.
std::string op_for(const std::vector<std::pair<std::string, std::string>>& tensors) {
    const auto there = [&](std::string_view name) { return std::any_of(tensors.begin(), tensors.end(), [&](const auto& t) { return t.first == name; }); };
    if (there("q") && there("k")) return there("v") ? "attention" : "score";
    throw usage_error("no op is given; declare --op (q and k alone are of score, with v of attention)");
}

worked::problem problem_from_texts(const trace_request& request) {
    if (!request.about.names.empty() || !request.about.bf16.empty()) throw usage_error("--name and --bf16 are about the members of a CASE; these tensors are given as text");
    settings given = request.about.given;
    if (detail::last_of(given, "op").empty()) given.emplace_back("op", op_for(request.tensors));
    worked::problem p;
    p.how = read_conventions(given);
    const op_info& op = find_op(p.how.op);
    for (const auto& [name, text] : request.tensors) {
        const tensor_info* known = find_tensor(op.inputs, name);
        if (known == nullptr) {
            std::vector<std::string_view> names;
            for (const tensor_info& t : op.inputs) names.push_back(t.name);
            throw usage_error("--tensor " + name + ": " + p.how.op + " has no input of that name" + detail::did_you_mean(name, names) + "; it takes " + detail::listed(names));
        }
        if (p.tensors.contains(name)) throw usage_error("--tensor " + name + " is given twice");
        const bool one_dimension = known->shape.find(',') == std::string_view::npos;
        p.tensors.emplace(name, worked::tensor_from_text(name, text, one_dimension));
    }
    return p;
}

worked::problem problem_from_case(const trace_request& request) {
    const loaded_case loaded = load_case(request.file, {}, request.about);
    for (const std::string& warning : loaded.asked.warnings) say_error(request.file + ": " + warning);
    worked::problem p;
    p.how = read_conventions(loaded.asked.given);
    (void)worked::steps_of(p.how.op);
    for (const named_view& input : loaded.asked.inputs) p.tensors.emplace(input.name, worked::tensor_from_array(input.name, input.value));
    return p;
}

} // namespace

int run_trace_command(const trace_request& request) {
    return guarded(request.file, [&] {
        const worked::style style = worked::style_of(request.format);
        const std::string op = detail::last_of(request.about.given, "op");
        const bool needs_nothing = !op.empty() && find_op(op).inputs.empty();
        if (!request.file.empty() && !request.tensors.empty()) throw usage_error("CASE and tensors are given; expected one of them");
        if (request.file.empty() && request.tensors.empty() && !needs_nothing)
            throw usage_error("nothing is given to work out: name a CASE, or write tensors, as in --q \"1 0; 0 1\" --k \"1 0; 0 1\" --v \"2 0; 0 3\"");
        const worked::problem given = request.file.empty() ? problem_from_texts(request) : problem_from_case(request);
        const worked::document steps = worked::worked_solution(given, request.digits);
        std::fputs(worked::render(steps, style).c_str(), stdout);
        if (steps.undetermined) say_error("a digit is not determined by " + std::to_string(worked::most_bits) + " bits; it is written as ?");
        return static_cast<int>(steps.undetermined ? undecided : passed);
    });
}

} // namespace attest::program
