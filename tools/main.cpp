// SPDX-License-Identifier: BSL-1.0
// attest: the command line. What is said here becomes options of a command; the commands do the rest.
#include "commands.hpp"

#include "attest/question/nearest.hpp"
#include "attest/version.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <utility>

namespace {

using namespace attest::program;

// --name q=query_states
std::pair<std::string, std::string> split_name(const std::string& text) {
    const std::size_t equals = text.find('=');
    if (equals == 0 || equals == std::string::npos || equals + 1 == text.size())
        throw attest::usage_error("--name " + text + ": expected KNOWN=MEMBER, such as q=query_states");
    return {text.substr(0, equals), text.substr(equals + 1)};
}

// --tensor q="1 0; 0 1"
std::pair<std::string, std::string> split_tensor(const std::string& text) {
    const std::size_t equals = text.find('=');
    if (equals == 0 || equals == std::string::npos) throw attest::usage_error("--tensor " + text + ": expected NAME=TEXT, such as q=\"1 0; 0 1\"");
    return {text.substr(0, equals), text.substr(equals + 1)};
}

// Some versions of CLI11 read -1 as 2^64 - 1.
std::uint64_t seed_from(const std::string& text) {
    if (text.empty() || text.size() > 18 || text.find_first_not_of("0123456789") != std::string::npos)
        throw attest::usage_error("--seed " + text + ": expected a whole number of at most 18 digits, 0 or greater");
    return std::stoull(text);
}

// The options that say what a case is: op, conventions, names, bf16. Filled in when the command runs.
struct case_arguments {
    std::map<std::string, std::string> settings;
    std::vector<std::string> names;
    std::vector<std::string> bf16;

    void add_to(CLI::App& command) {
        command.add_option("--op", settings["op"], "the op, such as attention or encoder_layer; attest list names all (or \"op\" in the case's attest.json)");
        for (const attest::convention_info& c : attest::convention_table()) {
            std::string values;
            for (const std::string_view value : c.values) values += (values.empty() ? "" : "|") + std::string(value);
            command.add_option("--" + std::string(c.key), settings[std::string(c.key)], std::string(c.summary) + " [" + values + "]")->group("Conventions");
        }
        command.add_option("--name", names, "KNOWN=MEMBER: the member that carries a known tensor, such as q=query_states");
        command.add_option("--bf16", bf16, "members to read as bf16, or all")->delimiter(',');
    }
    [[nodiscard]] attest::case_options options(const CLI::App& command) const {
        attest::case_options about;
        for (const auto& [key, value] : settings)
            if (command.count("--" + key) != 0) about.given.emplace_back(key, value);
        for (const std::string& name : names) about.names.push_back(split_name(name));
        about.bf16 = bf16;
        return about;
    }
};

// "there is no option '--cuasal' (did you mean --causal?)"
std::string no_option(const CLI::App& command, const std::string& argument) {
    std::vector<std::string> names;
    for (const CLI::Option* option : command.get_options())
        for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    const std::vector<std::string_view> known(names.begin(), names.end());
    return "there is no option '" + argument + "'" + attest::detail::did_you_mean(argument.substr(0, argument.find('=')), known);
}

// What begins like an option and is none: some versions of CLI11 take it for a file.
void refuse_option(const CLI::App& command, const std::string& name) {
    if (name.size() > 1 && name.front() == '-') throw attest::usage_error(no_option(command, name) + "; a file of that name is ./" + name);
}

colour colour_from(const std::string& text) { return text == "always" ? colour::always : text == "never" ? colour::never : colour::automatic; }

int run(int argc, char** argv) {
    CLI::App app{"attest: is this tensor what the formula gives, as far as its arithmetic can give it?", "attest"};
    app.set_version_flag("--version", std::string("attest ") + attest::version);
    app.require_subcommand(1);
    app.footer("Exit status: 0 everything passed; 1 a check failed; 2 trouble (usage, files, shapes); 3 undecided; 70 a fault of attest itself.");

    CLI::App& check = *app.add_subcommand("check", "judge the outputs in a case against the exact values");
    check_request check_to;
    case_arguments check_about;
    std::string colours = "auto", rows = "all";
    check.add_option("CASE", check_to.cases, ".npz or .safetensors files, or folders of .npy files")->required();
    check_about.add_to(check);
    check.add_option("--candidate", check_to.candidate, "take the outputs from this file (.npz, .safetensors, .npy or a folder)");
    check.add_option("--rows", rows, "all, or sample:N[,seed=S]: N rows drawn at random, of outputs too long to check whole");
    check.add_flag("--json", check_to.json, "one JSON object a line and case");
    check.add_option("--color", colours, "auto, always or never")->check(CLI::IsMember({"auto", "always", "never"}));

    CLI::App& eval = *app.add_subcommand("eval", "the exact values, each rounded once");
    eval_options eval_to;
    case_arguments eval_about;
    eval.add_option("CASE", eval_to.file, "a .npz or .safetensors file, or a folder of .npy files; none for an op without inputs (sinusoidal)");
    eval_about.add_to(eval);
    eval.add_option("-o,--output", eval_to.output, "write a .npz or .safetensors instead of text");
    eval.add_option("--dtype", eval_to.type, "f64, f32, bf16 or f16: the format in the file");
    eval.add_option("--digits", eval_to.digits, "significant digits of the text, 1 to 50")->check(CLI::Range(1, 50));
    eval.add_option("--outputs", eval_to.outputs, "which outputs, such as weights,lse,out")->delimiter(',');

    CLI::App& trace = *app.add_subcommand("trace", "the worked solution of a small case, step by step, every digit right");
    trace_request trace_to;
    case_arguments trace_about;
    std::vector<std::string> tensors;
    trace.add_option("CASE", trace_to.file, "a .npz or .safetensors file, or a folder of .npy files; its numbers are the binary ones that it holds");
    trace.add_option("--tensor", tensors, "NAME=TEXT instead of CASE, as often as needed: rows by ; as in q=\"1 0; 1/2 0.1\", exact decimals and fractions (0.1 is 1/10)")->allow_extra_args(false);
    std::map<std::string, std::string> short_tensors;
    for (const char* const name : {"q", "k", "v", "x", "mask", "dout"})
        trace.add_option("--" + std::string(name), short_tensors[name], "short for --tensor " + std::string(name) + "=TEXT");
    trace_about.add_to(trace);
    trace.add_option("--digits", trace_to.digits, "digits after the point, 1 to 40")->check(CLI::Range(1, 40));
    trace.add_option("--format", trace_to.format, "text, markdown or latex (a fragment; needs amsmath and amssymb)");

    CLI::App& exercise = *app.add_subcommand("exercise", "a sheet of questions with small numbers, and its key");
    exercise_request exercise_to;
    bool no_key = false;
    exercise.add_option("--topic", exercise_to.topic, "softmax, attention, causal, multi-head, positions, cross-attention, layer-norm, feed-forward, shapes, variance or gradients")->required();
    std::string seed = "1";
    exercise.add_option("--seed", seed, "the same seed gives the same sheet, everywhere");
    exercise.add_option("--count", exercise_to.count, "how many questions, 1 to 50")->check(CLI::Range(1, 50));
    exercise.add_option("--format", exercise_to.format, "text, markdown or latex (a fragment; needs amsmath and amssymb)");
    exercise.add_flag("--no-key", no_key, "the questions alone");

    CLI::App& inspect = *app.add_subcommand("inspect", "names, shapes, formats, ranges, NaN and Inf counts");
    std::string inspected;
    std::vector<std::string> inspected_bf16;
    inspect.add_option("FILE", inspected, "a .npz, .safetensors or .npy file, or a folder of .npy files")->required();
    inspect.add_option("--bf16", inspected_bf16, "members to read as bf16, or all")->delimiter(',');

    CLI::App& list = *app.add_subcommand("list", "ops and conventions");
    bool list_json = false;
    list.add_flag("--json", list_json, "as one JSON object");

    CLI::App& claims = *app.add_subcommand("claims", "every claim of the lectures: is it right, and how was that settled");
    bool claims_json = false;
    claims.add_flag("--json", claims_json, "as a JSON array of objects");
    attest::program::claims_filter claims_filter;
    claims.add_option("--text", claims_filter.text, "only those whose text is correct, imprecise, wrong or not-checkable");
    claims.add_option("--status", claims_filter.status, "only those that are proved, refuted, identity, tested or not-checkable");

    CLI::App& explain = *app.add_subcommand("explain", "one claim of the lectures, with the place of its proof");
    std::string code;
    explain.add_option("CODE", code, "a claim, such as A015")->required();
    bool explain_json = false;
    explain.add_flag("--json", explain_json, "as one JSON object, as in attest claims --json");

    const auto is_meant = [&](const CLI::App* command) { return argc > 1 && command->get_name() == argv[1]; };
    if (argc > 1 && *argv[1] != '-' && std::as_const(app).get_subcommands(is_meant).empty()) {
        say_error("there is no command '" + std::string(argv[1]) + "'; there are check, eval, trace, exercise, inspect, list, claims, explain; see attest --help");
        return trouble;
    }
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        if (error.get_exit_code() == 0) return app.exit(error); // --help, --version
        std::string command, text = error.what();
        for (const CLI::App* parsed : std::as_const(app).get_subcommands()) {
            command = parsed->get_name() + " ";
            // An option that is none is told first: that a CASE is missing may be its consequence.
            const std::vector<std::string> extras = parsed->remaining();
            const auto option = std::find_if(extras.begin(), extras.end(), [](const std::string& extra) { return extra.starts_with('-'); });
            if (option != extras.end()) text = no_option(*parsed, *option);
        }
        say_error(text + "; see attest " + command + "--help");
        return trouble;
    }
    const int status = guarded("", [&] {
        if (check.parsed()) {
            for (const std::string& name : check_to.cases) refuse_option(check, name);
            if (check.count("--candidate") != 0 && check_to.candidate.empty()) throw attest::usage_error("--candidate: expected a file, not an empty name");
            check_to.about = check_about.options(check);
            check_to.colours = colour_from(colours);
            check_to.rows = attest::parse_rows(rows);
            return run_check_command(check_to);
        }
        if (eval.parsed()) {
            if (eval.count("CASE") != 0 && eval_to.file.empty()) throw attest::usage_error("CASE: no such file: its name is empty");
            refuse_option(eval, eval_to.file);
            if (eval.count("--output") != 0 && eval_to.output.empty()) throw attest::usage_error("--output: expected a file, not an empty name");
            eval_to.about = eval_about.options(eval);
            eval_to.type_given = eval.count("--dtype") != 0;
            return run_eval_command(eval_to);
        }
        if (trace.parsed()) {
            if (trace.count("CASE") != 0 && trace_to.file.empty()) throw attest::usage_error("CASE: no such file: its name is empty");
            refuse_option(trace, trace_to.file);
            trace_to.about = trace_about.options(trace);
            for (const auto& [name, text] : short_tensors)
                if (trace.count("--" + name) != 0) trace_to.tensors.emplace_back(name, text);
            for (const std::string& text : tensors) trace_to.tensors.push_back(split_tensor(text));
            return run_trace_command(trace_to);
        }
        if (exercise.parsed()) {
            exercise_to.key = !no_key;
            exercise_to.seed = seed_from(seed);
            return run_exercise_command(exercise_to);
        }
        if (inspect.parsed()) refuse_option(inspect, inspected);
        if (inspect.parsed()) return run_inspect_command(inspected, inspected_bf16);
        for (const char* filter : {"--text", "--status"})
            if (claims.count(filter) != 0 && claims.get_option(filter)->as<std::string>().empty()) throw attest::usage_error(std::string(filter) + ": expected a word, not an empty one");
        if (claims.parsed()) return run_claims_command(claims_json, claims_filter);
        if (explain.parsed()) return run_explain_command(code, explain_json);
        return run_list_command(list_json);
    });
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
        say_error("standard output cannot be written");
        return worse(status, trouble);
    }
    return status;
}

} // namespace

int main(int argc, char** argv) { return run(argc, argv); }
