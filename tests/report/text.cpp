// SPDX-License-Identifier: BSL-1.0
#include "attest/report/text.hpp"
#include "catch.hpp"
#include "report/results.hpp"

using namespace made;
using attest::verdict;
using attest::report::text;

TEST_CASE("a report holds what was checked, how, and what came out", "[report]") {
    for (const verdict v : all_verdicts) {
        const std::string report = text(result(v), "run7.npz");
        CAPTURE(report);
        for (const char* const part : {"run7.npz", "attention", "q [1, 8, 128, 64] bf16", "mask [128, 128] bool", "causal=bottom-right", "scale=1/sqrt(d_k)", "bf16+f32 (declared)", "certain",
                                       "out [1, 8, 128, 64] bf16", "65536 elements", "rms 7.50 ULP", "greatest 36.25 ULP", "[0, 3, 17, 5]", "0.1953125", "0x1.9p-3", "0.23071289062500000000",
                                       "0x1.d88p-3", "25.0 % of what bf16+f32"})
            CHECK(contains(report, part));
        CHECK(report.rfind("run7.npz: attention " + std::string(attest::name_of(v)) + "\n", 0) == 0); // the verdict stands in the first line
        CHECK(report.back() == '\n');
    }
}

TEST_CASE("each verdict has its sentence, with the numbers behind it", "[report]") {
    CHECK(contains(text(result(verdict::exact), "f"), "65536 correctly rounded (100.0 %)"));
    CHECK(contains(text(result(verdict::exact), "f"), "every element is the exact value, correctly rounded"));
    CHECK(contains(text(result(verdict::consistent), "f"), "every element lies inside the worst-case limit of bf16+f32"));
    CHECK(contains(text(result(verdict::undecided), "f"), "50000 of 65536 elements"));
    CHECK(contains(text(result(verdict::inaccurate), "f"), "41002 elements (62.6 %) are farther off than bf16+f32 can be"));
    CHECK(contains(text(result(verdict::inaccurate), "f"), "Errors this large are possible in bf16:"));
    CHECK(contains(text(result(verdict::wrong), "f"), "41002 elements (62.6 %) in 900 of 1024 rows"));
}

TEST_CASE("no colour unless asked for, and then the verdict alone", "[report]") {
    for (const verdict v : all_verdicts) {
        const std::string plain = text(result(v), "f"), coloured = text(result(v), "f", true);
        CAPTURE(coloured);
        CHECK_FALSE(contains(plain, "\x1b"));
        std::string without;
        for (std::size_t i = 0; i < coloured.size(); ++i) {
            if (coloured[i] == '\x1b') i = coloured.find('m', i);
            else without += coloured[i];
        }
        CHECK(without == plain);
        const std::string code = attest::passes(v) ? "32m" : v == verdict::undecided ? "33m" : "31m";
        CHECK(contains(coloured, code + std::string(attest::name_of(v)) + "\x1b[0m"));
    }
}

TEST_CASE("what is out of the ordinary has its line, and only then", "[report]") {
    attest::check_result r = result(verdict::wrong);
    CHECK(contains(text(r, "f"), "first outside [0, 0, 1, 2]"));
    r.outputs[0].first_outside->index = r.outputs[0].worst->index;
    CHECK_FALSE(contains(text(r, "f"), "first outside"));
    CHECK_FALSE(contains(text(r, "f"), "NaN or infinite"));
    r.outputs[0].not_finite = 7;
    CHECK(contains(text(r, "f"), "7 elements are NaN or infinite where the exact value is finite"));
    CHECK_FALSE(contains(text(r, "f"), "too near to a tie"));
    r.outputs[0].unseparated = 3;
    CHECK(contains(text(r, "f"), "3 elements are too near to a tie"));
    CHECK_FALSE(contains(text(r, "f"), "warning"));
    r.warnings = {"member 'x' is not used", "and another"};
    CHECK(contains(text(r, "f"), "  warning      member 'x' is not used\n"));
    CHECK(contains(text(r, "f"), "  warning      and another\n"));
    r.outputs[0].worst.reset();
    r.outputs[0].first_outside.reset();
    CHECK_FALSE(contains(text(r, "f"), "farthest"));
}

TEST_CASE("the first bad stage is named where there are several", "[report]") {
    attest::check_result r = result(verdict::wrong);
    CHECK_FALSE(contains(text(r, "f"), "first bad stage"));
    r.outputs.insert(r.outputs.begin(), output(verdict::consistent));
    r.outputs[0].name = "weights";
    CHECK(contains(text(r, "f"), "first bad stage, in the order of computation: out"));
    r.first_bad_stage.clear();
    CHECK_FALSE(contains(text(r, "f"), "first bad stage"));
}

TEST_CASE("an assumed arithmetic is said to be assumed, and a forgiving one how to forbid it", "[report]") {
    attest::check_result r = result(verdict::consistent);
    CHECK(contains(text(r, "f"), "bf16+f32 (declared)"));
    r.assumed = true;
    CHECK(contains(text(r, "f"), "bf16+f32 (assumed; declare it with --arithmetic)"));
    CHECK_FALSE(contains(text(r, "f"), "to forbid that"));
    r.arithmetic = r.outputs[0].arithmetic = "bf16";
    CHECK(contains(text(r, "f"), "passes only if scores and weights are stored in bf16; declare --arithmetic bf16+f32 to forbid that"));
    r.outputs[0].type = attest::dtype::f16;
    r.arithmetic = r.outputs[0].arithmetic = "f16";
    CHECK(contains(text(r, "f"), "declare --arithmetic f16+f32 to forbid that"));
    r.assumed = false;
    CHECK_FALSE(contains(text(r, "f"), "to forbid that"));
}
