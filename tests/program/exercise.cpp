// SPDX-License-Identifier: BSL-1.0
// attest exercise: the same sheet for the same seed, and keys that another evaluation confirms.
#include "catch.hpp"
#include "program/worked.hpp"

#include <regex>

using namespace program;

namespace {

const std::vector<std::string> topics = {"softmax", "attention", "causal", "multi-head", "positions", "cross-attention", "layer-norm", "feed-forward", "shapes", "variance", "gradients"};

outcome exercise(const std::string& topic, std::vector<std::string> more = {}) {
    more.insert(more.begin(), {"exercise", "--topic", topic});
    return run(more);
}

// The parts of a sheet: question and key, n of each.
std::vector<std::pair<std::string, std::string>> parts_of(const std::string& sheet, int n) {
    std::vector<std::pair<std::string, std::string>> parts;
    const auto between = [&](const std::string& begin, const std::string& end) {
        const std::size_t from = sheet.find("\n" + begin + "\n"), to = sheet.find("\n" + end, from);
        REQUIRE(from != std::string::npos);
        return sheet.substr(from, to - from);
    };
    for (int i = 1; i <= n; ++i) {
        const std::string now = std::to_string(i), next = std::to_string(i + 1);
        parts.emplace_back(between("Question " + now, i == n ? "Key: " : "Question " + next + "\n"), between("Key to question " + now, "Key to question " + next + "\n"));
    }
    return parts;
}

} // namespace

TEST_CASE("exercise: every topic gives the same sheet for the same seed, another for another, in every format", "[program]") {
    for (const std::string& topic : topics) {
        const outcome a = exercise(topic), again = exercise(topic, {"--seed", "1", "--count", "3"}), other = exercise(topic, {"--seed", "2"}), alone = exercise(topic, {"--no-key"});
        INFO(shown(a));
        CHECK(a.status == 0);
        CHECK(a.err.empty());
        CHECK(a.out == again.out);
        CHECK(a.out != other.out);
        CHECK(contains(a.out, "\nKey to question 3\n"));
        CHECK(!contains(a.out, "?"));
        CHECK(!contains(alone.out, "Key"));
        CHECK(a.out.rfind(alone.out.substr(0, alone.out.size() - 1), 0) == 0); // the sheet begins with its questions
        CHECK(exercise(topic, {"--format", "markdown"}).out.rfind("# Exercises: ", 0) == 0);
        CHECK(exercise(topic, {"--format", "latex"}).out.rfind("\\section*{Exercises: ", 0) == 0);
    }
}

TEST_CASE("exercise: seed 1 is this, on every machine", "[program]") {
    CHECK(contains(exercise("softmax", {"--count", "1"}).out, "  X = [ -1  -2  3  1 ]   1×4\n"));
    CHECK(contains(exercise("shapes", {"--count", "1"}).out, "9 tokens of 4 components attend to themselves with 2 heads"));
}

TEST_CASE("exercise: keys of attention, re-evaluated", "[program]") {
    for (const std::string topic : {"attention", "causal", "cross-attention", "gradients"}) {
        const outcome o = exercise(topic, {"--seed", "11", "--count", "20"});
        INFO(shown(o));
        REQUIRE(o.status == 0);
        for (const auto& [question, key] : parts_of(o.out, 20)) {
            const auto given = [&question = question](const char* name) { return values_of(matrix_in(question, name)); };
            const wide_attention exact(given("Q"), given("K"), given("V"), given("dZ"), 1 / sqrt(wide(2)), topic == "causal");
            CAPTURE(question, key);
            CHECK(is_right(matrix_in(key, "A"), exact.a, 5));
            CHECK(is_right(matrix_in(key, "Z"), exact.z, 5));
            if (topic != "gradients") continue;
            CHECK(is_right(matrix_in(key, "dV"), exact.dv, 5));
            CHECK(is_right(matrix_in(key, "dQ"), exact.dq, 5));
            CHECK(is_right(matrix_in(key, "dK"), exact.dk, 5));
        }
    }
}

TEST_CASE("exercise: keys of softmax and LayerNorm, re-evaluated", "[program]") {
    for (const auto& [question, key] : parts_of(exercise("softmax", {"--count", "20"}).out, 20)) {
        wide_matrix y = values_of(matrix_in(question, "X"));
        REQUIRE(y.size() == 1);
        wide sum = 0;
        for (wide& e : y[0]) sum += (e = exp(e));
        for (wide& e : y[0]) e /= sum;
        CAPTURE(question, key);
        CHECK(is_right(matrix_in(key, "Y"), y, 5));
    }
    for (const auto& [question, key] : parts_of(exercise("layer-norm", {"--count", "20"}).out, 20)) {
        wide_matrix y = values_of(matrix_in(question, "X"));
        const wide_matrix gamma = values_of(matrix_in(question, "γ")), beta = values_of(matrix_in(question, "β"));
        REQUIRE((y.size() == 1 && gamma.size() == 1 && beta.size() == 1));
        const int d = static_cast<int>(y[0].size());
        wide mean = 0, variance = 0;
        for (const wide& e : y[0]) mean += e / d;
        for (const wide& e : y[0]) variance += (e - mean) * (e - mean) / d;
        for (std::size_t c = 0; c < y[0].size(); ++c) y[0][c] = (y[0][c] - mean) / sqrt(variance) * gamma[0][c] + beta[0][c];
        CAPTURE(question, key);
        CHECK(is_right(matrix_in(key, "Y"), y, 5));
    }
}

TEST_CASE("exercise: keys of shapes and variances follow from the question's words", "[program]") {
    const std::regex sizes(R"((\d+) tokens of (\d+) components attend to (a memory of (\d+) such tokens|themselves) with (\d+) heads?; in each, queries and keys have (\d+) components, values (\d+))");
    for (auto [question, key] : parts_of(exercise("shapes", {"--count", "20"}).out, 20)) {
        std::replace(question.begin(), question.end(), '\n', ' ');
        std::smatch m;
        CAPTURE(question, key);
        REQUIRE(std::regex_search(question, m, sizes));
        const int n = std::stoi(m[1]), d = std::stoi(m[2]), keys = m[4].matched ? std::stoi(m[4]) : n, h = std::stoi(m[5]), d_k = std::stoi(m[6]), d_v = std::stoi(m[7]);
        CHECK(contains(key, " = " + std::to_string(d * (2 * d_k + d_v)) + "\n"));
        CHECK(contains(key, " = " + std::to_string(h * d * (2 * d_k + 2 * d_v)) + "\n"));
        CHECK(contains(key, " = " + std::to_string(h * n * keys) + "\n"));
        CHECK(contains(key, "shape of A = " + std::to_string(n) + "×" + std::to_string(keys) + "\n"));
        CHECK(contains(key, " = " + std::to_string(n) + "×" + std::to_string(d_v) + "\n"));
    }
    const std::regex signs(R"(values -(\d+) and \d+, equally probable)"), whole(R"(whole numbers from -(\d+) to)"), rare(R"(values -(\d+) and \d+, each with probability 1/(\d+))"), length(R"(have (\d+) components)");
    for (auto [question, key] : parts_of(exercise("variance", {"--count", "30"}).out, 30)) {
        std::replace(question.begin(), question.end(), '\n', ' ');
        std::smatch m, components;
        CAPTURE(question, key);
        REQUIRE(std::regex_search(question, components, length));
        wide square = 0;
        if (std::regex_search(question, m, signs)) square = wide(std::stoi(m[1])) * std::stoi(m[1]);
        else if (std::regex_search(question, m, whole)) square = wide(std::stoi(m[1])) * (std::stoi(m[1]) + 1) / 3; // (n² − 1)/12 of n = 2a + 1 values
        else {
            REQUIRE(std::regex_search(question, m, rare));
            square = 2 * wide(std::stoi(m[1])) * std::stoi(m[1]) / std::stoi(m[2]);
        }
        const auto value_after = [&key = key](const std::string& left) {
            std::string line = key.substr(key.find("\n  " + left + " = ") + 1);
            line.erase(line.find('\n'));
            const std::size_t rounded = line.rfind("≈ "), equals = line.rfind("= ");
            return rounded == std::string::npos ? shown_number{line.substr(equals + 2), false} : shown_number{line.substr(rounded + std::string("≈ ").size()), true};
        };
        const wide variance = square * square;
        CHECK(is_right(value_after("Var(q·k)"), std::stoi(components[1]) * variance, 5));
        CHECK(is_right(value_after("std(q·k)"), sqrt(wide(std::stoi(components[1]) * variance)), 5));
        CHECK(is_right(value_after("Var(q·k/√" + std::string(components[1]) + ")"), variance, 5));
    }
}

TEST_CASE("exercise: what is asked wrongly is refused", "[program]") {
    CHECK(is_trouble(exercise("atention"), {"'atention'", "did you mean attention?", "softmax, attention, causal"}));
    CHECK(is_trouble(exercise(""), {"there is no topic ''"}));
    CHECK(is_trouble(run({"exercise"}), {"--topic"}));
    CHECK(is_trouble(exercise("softmax", {"--count", "0"}), {"--count"}));
    CHECK(is_trouble(exercise("softmax", {"--seed", "-1"}), {"--seed"}));
    CHECK(is_trouble(exercise("softmax", {"--seed", "x"}), {"--seed"}));
    CHECK(is_trouble(exercise("softmax", {"--format", "pdf"}), {"pdf"}));
    CHECK(is_trouble(exercise("softmax", {"--topc", "x"}), {"there is no option '--topc' (did you mean --topic?)"}));
}
