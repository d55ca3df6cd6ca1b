// SPDX-License-Identifier: BSL-1.0
// attest check --rows: a sample of the rows, the same for the same seed.
#include "catch.hpp"
#include "json_text.hpp"
#include "program/program.hpp"

#include "attest/oracle/row_sample.hpp"

using namespace program;

namespace {

// 40 queries; the output of one row is off.
std::string case_with_a_bad_row(const std::string& name, std::size_t bad) {
    attention_case c;
    c.n_q = 40;
    c.q = attention_case::some(c.n_q * c.d_k, 1);
    c.out = c.computed();
    c.out[bad * c.d_v] += 1;
    return c.write(name);
}

} // namespace

TEST_CASE("a sample of rows is checked, and nothing is said of the others", "[program]") {
    const std::vector<std::size_t> sampled = attest::sampled_rows(40, {10, 3});
    for (std::size_t row = 0; row < 40; ++row) {
        const bool in_sample = std::find(sampled.begin(), sampled.end(), row) != sampled.end();
        if (row % 3 != 0 && !in_sample) continue; // enough of those
        const std::string file = case_with_a_bad_row("bad-row.npz", row);
        const outcome o = run({"check", file, "--rows", "sample:10,seed=3", "--json"});
        CAPTURE(row);
        INFO(shown(o));
        CHECK(o.status == (in_sample ? 1 : 0));
        REQUIRE(objects(o).size() == 1);
        nlohmann::json object = objects(o)[0];
        CHECK(object["sample"] == nlohmann::json{{"rows", 10}, {"of", 40}, {"seed", 3}});
        CHECK(object["outputs"][0]["elements"] == 20);
        CHECK(object["outputs"][0]["rows"] == 10);
        CHECK(run({"check", file}).status == 1);
        CHECK(run({"check", file, "--rows", "all"}).status == 1);
    }
}

TEST_CASE("a sample as large as the output is all of it; the report says what was drawn", "[program]") {
    const std::string file = case_with_a_bad_row("bad-row.npz", 7);
    CHECK(run({"check", file, "--rows", "sample:40"}).status == 1);
    CHECK(run({"check", file, "--rows", "sample:1000"}).status == 1);
    const outcome o = run({"check", file, "--rows", "sample:5"});
    INFO(shown(o));
    CHECK(contains(o.out, "  rows         5 of 40 are checked, drawn with seed 0; of the others nothing is said\n"));
    const auto figures = [](const std::string& report) { return report.substr(0, report.find(" s for the exact values")).substr(0, report.rfind("\n\n")); };
    CHECK(figures(run({"check", file, "--rows", "sample:5,seed=0"}).out) == figures(o.out));
}
