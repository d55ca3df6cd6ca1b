// SPDX-License-Identifier: BSL-1.0
// attest eval: exact values, rounded once; what it writes, check must call exact.
#include "catch.hpp"
#include "json_text.hpp"
#include "program/program.hpp"

#include "attest/io/metadata.hpp"

#include <sstream>

using namespace program;

namespace {

const std::vector<std::string> formats = {"f64", "f32", "bf16", "f16"};

std::vector<std::string> words(const std::string& text) {
    std::istringstream stream(text);
    return {std::istream_iterator<std::string>(stream), {}};
}

// What is written in each format is exact by the check.
void round_trip(const std::string& file, const std::vector<std::string>& conventions, const std::string& outputs) {
    for (const std::string& format : formats) {
        const std::string written = scratch("exact-" + format + ".npz").string();
        std::vector<std::string> evaluate = {"eval", file, "--dtype", format, "-o", written, "--outputs", outputs};
        evaluate.insert(evaluate.end(), conventions.begin(), conventions.end());
        const outcome e = run(evaluate);
        INFO(format << "\n" << shown(e));
        REQUIRE(e.status == 0);
        CHECK(e.out.empty());
        std::vector<std::string> check = {"check", "--json", file, "--candidate", written, "--bf16", "all"};
        check.insert(check.end(), conventions.begin(), conventions.end());
        const outcome o = run(check);
        INFO(shown(o));
        CHECK(o.status == 0);
        REQUIRE(objects(o).size() == 1);
        nlohmann::json result = objects(o)[0];
        CHECK(result["verdict"] == "exact");
        CHECK(result["outputs"].size() == static_cast<std::size_t>(1 + std::count(outputs.begin(), outputs.end(), ',')));
        for (nlohmann::json& output : result["outputs"]) {
            CHECK(output["dtype"] == format);
            CHECK(output["exact"] == output["elements"]);
        }
    }
}

} // namespace

TEST_CASE("what eval writes, check calls exact, in every format", "[program]") {
    round_trip(attention_case{}.write("plain.npz"), {}, "out");
    round_trip(attention_case{}.write("plain.npz"), {"--scale", "0.3"}, "raw_scores,scores,weights,lse,out");
    round_trip(attention_case{}.write("plain.npz"), {"--causal", "bottom-right"}, "weights,scores,lse,out");
    round_trip(attention_case{}.write("plain.npz"), {"--causal", "top-left", "--empty-row", "nan"}, "out");
    round_trip(dump("torch-math-f32-nbd.npz"), {}, "out,weights");
    round_trip(dump("jax-f32.npz"), {}, "out,lse");
    round_trip(dump("numpy-f32-gqa.npz"), {}, "out");
    round_trip(dump("torch-math-bf16.npz"), {"--bf16", "q,k,v,out"}, "out");
    round_trip(dump("numpy-softmax-f32-axis-1.npz"), {}, "out");
}

TEST_CASE("rows that see no key evaluate to what is declared, and the round trip is exact", "[program]") {
    attention_case c;
    c.mask = std::vector<double>(15, -INFINITY);
    const std::string file = c.write("empty-rows.npz");
    round_trip(file, {}, "scores,weights,lse,out");
    round_trip(file, {"--empty-row", "nan"}, "weights,out");
    const auto zero = words(run({"eval", file}).out), nan = words(run({"eval", file, "--empty-row", "nan"}).out);
    CHECK(zero == std::vector<std::string>{"out", "[3,", "2]", "0", "0", "0", "0", "0", "0"});
    CHECK(nan == std::vector<std::string>{"out", "[3,", "2]", "nan", "nan", "nan", "nan", "nan", "nan"});
    CHECK(words(run({"eval", file, "--outputs", "lse"}).out) == std::vector<std::string>{"lse", "[3]", "-inf", "-inf", "-inf"});
}

TEST_CASE("the file that eval writes carries the conventions in force, each once", "[program]") {
    attention_case c;
    c.json = R"({"op": "attention", "causal": "top-left", "scale": 0.5})";
    const std::string written = scratch("written.npz").string();
    const outcome o = run({"eval", c.write("told.npz"), "--causal", "bottom-right", "--scale", "1e-1", "-o", written, "--outputs", "lse,out", "--dtype", "f32"});
    INFO(shown(o));
    REQUIRE(o.status == 0);
    const attest::archive file = attest::read_npz(written);
    CHECK(member(file, "out").type == dtype::f32);
    CHECK(member(file, "out").shape == shape{3, 2});
    CHECK(member(file, "lse").shape == shape{3});
    REQUIRE(file.texts.size() == 1);
    attest::settings settings = attest::parse_settings(file.texts[0].second, "written.npz");
    std::sort(settings.begin(), settings.end());
    CHECK(settings == attest::settings{{"causal", "bottom-right"}, {"op", "attention"}, {"scale", "1e-1"}});
}

TEST_CASE("eval's text is the exact value to the digits asked for", "[program]") {
    // softmax(0, 0, 0) = 1/3; softmax(0, 1) = 1 / (1 + e) and e / (1 + e).
    const std::string thirds = softmax_case("thirds.npz", dtype::f64, {3}, {0, 0, 0}, {0, 0, 0});
    const std::string logistic = softmax_case("logistic.npz", dtype::f32, {2}, {0, 1}, {0, 0});
    const auto text = [](const std::string& file, const std::string& digits) { return run({"eval", file, "--digits", digits}).out; };
    CHECK(text(thirds, "1") == "out [3]\n0.3 0.3 0.3\n");
    CHECK(text(thirds, "5") == "out [3]\n0.33333 0.33333 0.33333\n");
    CHECK(text(thirds, "50") == "out [3]\n" + ("0." + std::string(50, '3')) + " 0." + std::string(50, '3') + " 0." + std::string(50, '3') + "\n");
    CHECK(text(logistic, "5") == "out [2]\n0.26894 0.73106\n"); // 0.268941421… 0.731058578…
    // Digits of another program: Python's decimal with 60 digits, 1 / (1 + Decimal(1).exp()).
    CHECK(text(logistic, "40") == "out [2]\n0.2689414213699951207488407581781637256349 0.7310585786300048792511592418218362743651\n");
    CHECK(words(run({"eval", thirds}).out).size() == 5);
    CHECK(words(run({"eval", thirds}).out)[2] == "0.33333333333333333"); // 17 digits unless asked otherwise
}

TEST_CASE("eval prints a line for each row, and the outputs in the order of computation", "[program]") {
    const outcome o = run({"eval", attention_case{}.write("plain.npz"), "--outputs", "out,lse,weights", "--digits", "3"});
    INFO(shown(o));
    CHECK(o.status == 0);
    std::istringstream stream(o.out);
    std::vector<std::size_t> counts;
    std::string titles;
    for (std::string line; std::getline(stream, line);) {
        if (contains(line, "[")) titles += line + ";";
        else counts.push_back(words(line).size());
    }
    CHECK(titles == "weights [3, 5];lse [3];out [3, 2];");
    CHECK(counts == std::vector<std::size_t>{5, 5, 5, 3, 2, 2, 2});
}

TEST_CASE("eval needs no candidate, and does not look at one", "[program]") {
    attention_case c;
    c.out = std::vector<double>(6, NAN);
    attest::archive file = c.held();
    const std::string with = c.write("with.npz");
    file.arrays.pop_back();
    attest::write_npz(scratch("without.npz"), file);
    const outcome a = run({"eval", with}), b = run({"eval", scratch("without.npz").string()});
    INFO(shown(a) << shown(b));
    CHECK(a.status == 0);
    CHECK(a.out == b.out);
}

TEST_CASE("values beyond the precision are not made up", "[program]") {
    attention_case c;
    c.json = R"({"op": "attention", "scale": "1e300"})";
    const std::string file = c.write("far.npz");
    const outcome o = run({"eval", file, "--precision", "192"});
    INFO(shown(o));
    CHECK(o.status == 3);
    CHECK(lines(o.err) == 1);
    CHECK(contains(o.err, "6 of 6 elements are beyond"));
    CHECK(words(o.out) == std::vector<std::string>{"out", "[3,", "2]", "?", "?", "?", "?", "?", "?"});
    const std::string written = scratch("far-out.npz").string();
    CHECK(run({"eval", file, "--precision", "192", "-o", written}).status == 3);
    for (const double x : values(member(attest::read_npz(written), "out"))) CHECK(std::isnan(x));
    CHECK(run({"eval", file}).status == 0); // 2048 bits are enough
}

TEST_CASE("overflow, subnormals and −0 round once to each format", "[program]") {
    // One key: out is v.
    attention_case c;
    c.n_q = c.n_k = 1;
    c.q = c.k = {0, 0, 0, 0};
    c.d_v = 6;
    c.v = {65520, 65519.99, 0x1p-25, 0x1.0000000000001p-25, 1e39, 0x1p-149};
    const std::string file = c.write("edges.npz");
    const auto rounded = [&](const std::string& format) {
        const std::string written = scratch("edges-" + format + ".npz").string();
        const outcome o = run({"eval", file, "--dtype", format, "-o", written});
        INFO(shown(o));
        CHECK(o.status == 0);
        attest::array a = member(attest::read_npz(written), "out");
        if (a.type == dtype::raw16) a.type = dtype::bf16;
        return values(a);
    };
    CHECK(rounded("f64") == c.v);
    CHECK(rounded("f32") == std::vector<double>{65520, static_cast<double>(65519.99F), 0x1p-25, 0x1p-25, INFINITY, 0x1p-149});
    CHECK(rounded("f16") == std::vector<double>{INFINITY, 65504, 0, 0x1p-24, INFINITY, 0});
    CHECK(rounded("bf16") == std::vector<double>{65536, 65536, 0x1p-25, 0x1p-25, INFINITY, 0});
}
