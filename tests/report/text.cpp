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
                                       "0x1.d88p-3", "errors reach 50.0 % of what bf16+f32 is expected to be off, 25.0 % of what it may be",
                                       "where bf16+f32 is expected within 2.25 ULP and may be off by 9.75",
                                       "settled in double 91.6 %, in double-double 7.6 %, in higher precision 0.8 %; decided by rules < 0.1 % (6 elements)",
                                       "  limits       certain: no right computation in bf16+f32 is farther off",
                                       "\n               expected: unbiased rounding goes beyond it anywhere here with a probability below 1e-9\n                         (8.25 times the root of the sum of squared bounds)\n"})
            CHECK(contains(report, part));
        CHECK(report.rfind("run7.npz: attention " + std::string(attest::name_of(v)) + "\n", 0) == 0); // the verdict stands in the first line
        CHECK(report.back() == '\n');
    }
}

TEST_CASE("each verdict has its sentence, with the numbers behind it", "[report]") {
    CHECK(contains(text(result(verdict::exact), "f"), "65536 correctly rounded (100.0 %)"));
    CHECK(contains(text(result(verdict::exact), "f"), "every element is the exact value, correctly rounded"));
    CHECK(contains(text(result(verdict::consistent), "f"), "every element lies inside the expected limit of bf16+f32"));
    CHECK(contains(text(result(verdict::undecided), "f"), "50000 of 65536 elements"));
    const std::string suspicious = text(result(verdict::suspicious), "f");
    CHECK(contains(suspicious, "41980 elements (64.1 %) in 950 of 1024 rows are outside the expected limit of bf16+f32, and inside its certain one"));
    CHECK(contains(suspicious, "with a probability below 1e-9 in all of this check"));
    CHECK(contains(suspicious, "declare bf16+f32/truncate)"));
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
    CHECK(contains(text(r, "f"), "    3 elements are unseparated: their exact value is too near to a tie, to a limit or to zero"));
    r.outputs[0].blind = 0;
    CHECK_FALSE(contains(text(r, "f"), "blind:"));
    r.outputs[0].blind = 5;
    CHECK(contains(text(r, "f"), "    blind: 5 of " + std::to_string(r.outputs[0].elements) + " elements ("));
    CHECK(contains(text(r, "f"), "), where nothing is judged, or limits are so wide that 0, or anything that the row's values can give, would pass\n"));
    CHECK_FALSE(contains(text(r, "f"), "warning"));
    r.warnings = {"member 'x' is not used", "and another"};
    CHECK(contains(text(r, "f"), "  warning      member 'x' is not used\n"));
    CHECK(contains(text(r, "f"), "  warning      and another\n"));
    r.outputs[0].worst.reset();
    r.outputs[0].first_outside.reset();
    CHECK_FALSE(contains(text(r, "f"), "farthest"));
}

TEST_CASE("without an expected limit nothing is said of one", "[report]") {
    attest::check_result r = result(verdict::consistent);
    r.lambda = 0;
    r.outputs[0].has_expected = false;
    const std::string report = text(r, "f");
    CAPTURE(report);
    CHECK_FALSE(contains(report, "expected"));
    CHECK(contains(report, "errors reach 25.0 % of what bf16+f32 may be off\n"));
    CHECK(contains(report, "where bf16+f32 may be off by 9.75 ULP\n"));
    CHECK(contains(report, "every element lies inside the certain limit of bf16+f32"));
    r.lambda = 8.25;
    CHECK(contains(text(r, "f"), "(8.25 times the root of the sum of squared bounds; here it is nowhere below the certain limit)\n"));
    r.outputs[0].propagated = true;
    CHECK(contains(text(r, "f"), "every element lies inside the worst-case limit of bf16+f32"));
    CHECK(contains(text(r, "f"), "  limits       propagated: the rounding bounds of double"));
    r.outputs[0].limits_derived = false;
    CHECK(contains(text(r, "f"), "  limits       none: no limits are derived yet"));
}

TEST_CASE("a probability that is declared is the one that is told", "[report]") {
    attest::check_result r = result(verdict::suspicious);
    r.false_alarm = 1e-6;
    CHECK(contains(text(r, "f"), "with a probability below 1e-6\n"));
    CHECK(contains(text(r, "f"), "with a probability below 1e-6 in all of this check"));
    // What truncates already is not told to.
    r.arithmetic = r.outputs[0].arithmetic = "bf16+f32/truncate/ftz";
    CHECK_FALSE(contains(text(r, "f"), "declare bf16"));
    r.arithmetic = r.outputs[0].arithmetic = "bf16+f32/ftz";
    CHECK(contains(text(r, "f"), "declare bf16+f32/truncate/ftz)"));
}

TEST_CASE("what was not checked is told", "[report]") {
    attest::check_result r = result(verdict::consistent);
    CHECK_FALSE(contains(text(r, "f"), "  rows "));
    r.sample = attest::row_sample{64, 7};
    r.rows_checked = 64;
    r.rows_total = 8192;
    CHECK(contains(text(r, "f"), "  rows         64 of 8192 are checked, drawn with seed 7; of the others nothing is said\n"));
    r.outputs[0].decided = 0;
    CHECK(contains(text(r, "f"), "in higher precision 0.8 %\n"));
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
    // What does not pass passes on no condition.
    for (const verdict v : {verdict::exact, verdict::undecided, verdict::suspicious, verdict::wrong}) {
        r.outputs[0].verdict = v;
        CHECK_FALSE(contains(text(r, "f"), "to forbid that"));
    }
    r.outputs[0].verdict = verdict::consistent;
    r.outputs.push_back(output(verdict::consistent)); // in bf16+f32
    r.outputs[0].name = "weights";
    CHECK(contains(text(r, "f"), "  weights passes only if scores and weights are stored in f16; declare --arithmetic f16+f32 to forbid that"));
    r.assumed = false;
    CHECK_FALSE(contains(text(r, "f"), "to forbid that"));
}
