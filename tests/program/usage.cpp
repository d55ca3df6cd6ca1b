// SPDX-License-Identifier: BSL-1.0
// What is asked wrongly, and what is asked about the program itself.
#include "catch.hpp"
#include "json_text.hpp"
#include "program/program.hpp"

#include "attest/version.hpp"

using namespace program;

TEST_CASE("--version and --help answer on standard output", "[program]") {
    const outcome version = run({"--version"});
    INFO(shown(version));
    CHECK(version.status == 0);
    CHECK(version.out == "attest " + std::string(attest::version) + "\n");
    CHECK(version.err.empty());
    for (const std::vector<std::string>& arguments : {std::vector<std::string>{"--help"}, {"-h"}, {"check", "--help"}, {"eval", "--help"}, {"trace", "--help"}, {"exercise", "--help"}, {"inspect", "--help"}, {"list", "--help"}}) {
        const outcome help = run(arguments);
        INFO(arguments.front() << "\n" << shown(help));
        CHECK(help.status == 0);
        CHECK(help.err.empty());
        CHECK(lines(help.out) > 3);
        if (arguments.size() > 1) CHECK(contains(help.out, arguments.front()));
    }
    const outcome help = run({"--help"});
    INFO(shown(help));
    for (const char* const word : {"check", "eval", "trace", "exercise", "inspect", "list", "--version", "Exit status", "0 ", "70 "}) CHECK(contains(help.out, word));
    const outcome check = run({"check", "--help"});
    INFO(shown(check));
    for (const char* const word : {"--op", "--causal", "--scale", "--score", "--mask-polarity", "--empty-row", "--layout", "--axis", "--arithmetic", "--false-alarm", "--precision", "--rows", "--name", "--bf16", "--candidate", "--json",
                                   "--color", "top-left", "bf16+f32"})
        CHECK(contains(check.out, word));
}

TEST_CASE("usage errors are trouble, in one line", "[program]") {
    const std::string good = attention_case{}.write("good.npz");
    REQUIRE(run({"check", good}).status == 0);
    const auto refused = [](const std::vector<std::string>& arguments, const std::vector<std::string>& parts = {}) {
        const outcome o = run(arguments);
        INFO(arguments.size() << " arguments, the last: " << (arguments.empty() ? "" : arguments.back()) << "\n" << shown(o));
        CHECK(is_trouble(o, parts));
    };
    refused({});
    refused({"help"}, {"there is no command 'help'", "check, eval, trace, exercise, inspect, list"});
    refused({""}, {"no command ''"});
    refused({"Check", good}, {"'Check'"});
    refused({"--nope"});
    refused({"check"}, {"CASE"});
    refused({"eval"}, {"CASE"});
    refused({"inspect"}, {"FILE"});
    refused({"check", good, "--nope"}, {"--nope"});
    refused({"check", good, "--false-alrm", "1"}, {"there is no option '--false-alrm' (did you mean --false-alarm?)", "see attest check --help"});
    refused({"check", "--false-alrm=1", good}, {"there is no option '--false-alrm=1' (did you mean --false-alarm?)"});
    refused({"check", "--false-alrm=1"}, {"there is no option '--false-alrm=1' (did you mean --false-alarm?)"});
    refused({"check", good, "--qwertyuiop"}, {"there is no option '--qwertyuiop'; "});
    refused({"check", good, "--op"}, {"--op"});
    refused({"check", good, "--op", "attn"}, {"good.npz", "no op 'attn'", "softmax, attention, multi_head_attention"});
    refused({"check", good, "--op", "softmax"}, {"good.npz", "softmax needs an input 'x'"});
    refused({"check", good, "--causal", "yes"}, {"good.npz", "'causal' has no value 'yes'", "top-left"});
    refused({"check", good, "--causal", "none", "--causal", "none"}, {"--causal"});
    refused({"check", good, "--softcap", "0"}, {"good.npz", "'softcap' must be greater than 0"});
    refused({"check", good, "--window", "0"}, {"good.npz", "'window' is W, 1 or greater"});
    refused({"check", good, "--heads", "2"}, {"good.npz", "'heads' is a convention of multi_head_attention", "not of attention"});
    refused({"check", good, "--rope-base", "500000"}, {"rope-base=500000 means nothing with position=none", "position=rope"});
    refused({"check", good, "--precision", "32"}, {"'precision' is a number of bits, 64 to 1048576, not '32'"});
    refused({"check", good, "--precision", "50 digits"}, {"'precision' is a number of bits"});
    refused({"check", good, "--false-alarm", "0"}, {"'false-alarm' is a probability, greater than 0 and less than 1"});
    refused({"check", good, "--false-alarm", "1"}, {"'false-alarm' is a probability"});
    refused({"check", good, "--arithmetic", "f64/round"}, {"'arithmetic' has no value 'f64/round'", "/truncate and /ftz"});
    refused({"check", good, "--rows", "sample:0"}, {"--rows sample:0: expected all, sample:N or sample:N,seed=S"});
    refused({"check", good, "--rows", "many"}, {"--rows many"});
    refused({"eval", good, "--rows", "all"}, {"--rows"});
    refused({"check", good, "--scale", "fast"}, {"'scale' must be a number", "'fast'"});
    refused({"check", good, "--scale", "1e400"}, {"'scale' 1e400 is beyond the range of f64"});
    refused({"check", good, "--axis", "one"}, {"'axis' is an integer"});
    refused({"check", good, "--arithmetic", "fp8"}, {"'arithmetic' has no value 'fp8'"});
    refused({"check", good, "--score", "dot", "--scale", "2"}, {"score=dot"});
    refused({"check", good, "--color", "pink"}, {"--color"});
    refused({"check", good, "--name", "q"}, {"--name q", "q=query_states"});
    refused({"check", good, "--name", "=q"}, {"--name =q"});
    refused({"check", good, "--name", "q="}, {"--name q="});
    refused({"check", good, "--name", "q=nope"}, {"no member 'nope'"});
    refused({"check", good, "--bf16", "nope"}, {"--bf16 nope"});
    refused({"check", good, "--bf16", "q"}, {"--bf16 q", "f64"});
    refused({"check", good, "--candidate", ""}, {"--candidate"});
    refused({"eval", good, good});
    refused({"eval", good, "--digits", "0"}, {"--digits"});
    refused({"eval", good, "--digits", "51"}, {"--digits"});
    refused({"eval", good, "--digits", "many"}, {"--digits"});
    refused({"eval", good, "--dtype", "f8"}, {"--dtype f8", "f64, f32, bf16 or f16"});
    refused({"eval", good, "--outputs", "probabilities"}, {"'probabilities' is not an output of attention"});
    refused({"eval", good, "-o", ""}, {"--output"});
    refused({"list", "extra"}, {"extra"});
    refused({"inspect", good, good});
}

TEST_CASE("an error stays one line of clean text whatever stands in it", "[program]") {
    const std::string good = attention_case{}.write("good.npz");
    for (const std::string nasty : {"a\nb", "\x1b[31mred", "tab\there", "\xff\xfe", "\r"}) {
        for (const std::vector<std::string>& arguments : {std::vector<std::string>{"check", nasty}, {"check", good, "--causal", nasty}, {"check", good, "--scale", nasty}, {nasty},
                                                          {"check", good, "--op", nasty}, {"check", good, "--" + nasty}, {"eval", good, "--outputs", nasty}}) {
            const outcome o = run(arguments);
            INFO(shown(o));
            CHECK(is_trouble(o));
            CHECK(attest::printable(o.err.substr(0, o.err.size() - 1)) == o.err.substr(0, o.err.size() - 1));
        }
    }
}

TEST_CASE("of several cases the worst status counts: 2 before 1 before 3 before 0", "[program]") {
    const std::string right = attention_case{}.write("right.npz");
    attention_case bad;
    bad.out = std::vector<double>(6, 0.25);
    const std::string wrong = bad.write("wrong.npz");
    // Every row sees an infinity, and then nothing is said.
    attention_case infinite;
    infinite.v[0] = INFINITY;
    infinite.out = std::vector<double>(6, 0.5);
    const std::string undecided = infinite.write("undecided.npz");
    const std::string missing = scratch("missing.npz").string();
    REQUIRE(run({"check", right}).status == 0);
    REQUIRE(run({"check", wrong}).status == 1);
    REQUIRE(run({"check", undecided}).status == 3);
    REQUIRE(run({"check", missing}).status == 2);
    const std::pair<std::vector<std::string>, int> expected[] = {
        {{right, right}, 0}, {{right, undecided}, 3}, {{undecided, wrong}, 1}, {{wrong, undecided}, 1}, {{wrong, right}, 1}, {{missing, wrong, right}, 2}, {{right, wrong, undecided, missing}, 2}};
    for (const auto& [cases, status] : expected) {
        std::vector<std::string> arguments = {"check", "--json"};
        arguments.insert(arguments.end(), cases.begin(), cases.end());
        const outcome o = run(arguments);
        INFO(shown(o));
        CHECK(o.status == status);
        // Trouble with one case does not keep the others from being judged.
        const auto all = objects(o);
        REQUIRE(all.size() == cases.size());
        for (std::size_t i = 0; i < cases.size(); ++i) {
            CHECK(all[i]["case"] == cases[i]);
            CHECK(all[i].contains("verdict") == (cases[i] != missing));
        }
    }
}

TEST_CASE("a full disk is trouble, not silence", "[program]") {
    if (!std::filesystem::exists("/dev/full")) {
        WARN("no /dev/full here");
        return;
    }
    const std::string good = attention_case{}.write("good.npz");
    for (const std::vector<std::string>& arguments : {std::vector<std::string>{"check", good}, {"check", "--json", good}, {"eval", good}, {"exercise", "--topic", "shapes"}, {"trace", "--q", "1", "--k", "1"}, {"inspect", good}, {"list"}, {"list", "--json"}}) {
        const outcome o = run(arguments, "", ">/dev/full");
        INFO(arguments.front() << "\n" << shown(o));
        CHECK(is_trouble(o, {"standard output cannot be written"}));
    }
}
