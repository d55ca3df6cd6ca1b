// SPDX-License-Identifier: BSL-1.0
#include "attest/oracle/double_rows.hpp"
#include "rows_held.hpp"

using namespace rows_held;

TEST_CASE("the first rung's enclosures in blocks hold the exact values", "[oracle]") {
    CHECK(hold_all_kinds<double_rows, double>() > 0.1); // the radii are not idle
}

TEST_CASE("a scale that is no double is a part of the radius, on the first rung", "[oracle]") { hold_scales<double_rows, double>(); }

TEST_CASE("a lone key and a column of zeros are exact, on the first rung", "[oracle]") { lone_keys_are_exact<double_rows, double>(); }

TEST_CASE("rows that see what is no number, or nothing, are not clear on the first rung; what is hidden does no harm", "[oracle]") {
    unknown_rows_are_not_clear<double_rows, double>();
}

TEST_CASE("a great negative bias hides a key, and costs no precision elsewhere", "[oracle]") {
    for (const double hidden : {-1e9, -3.4028234663852886e38}) {
        tensors t = random_case({3, 5, 4, 2}, kind::plain, false, 8);
        t.add("mask", {3, 5}, {0, 0, hidden, 0, 0, 0, hidden, hidden, 0, 1, hidden, 0, 0, 0, hidden});
        const conventions how = read_conventions({{"op", "attention"}});
        const attention_problem p = make_attention_problem(how, t.views);
        attention_engine<ball<double>> engine(how, t.views, p);
        double_rows rows(how, p, fast::compiled_kernels());
        engine.enter(0);
        rows.enter(engine, 0);
        rows.evaluate(std::vector<std::size_t>{0, 1, 2});
        for (std::size_t r = 0; r < 3; ++r) {
            CHECK(rows.is_clear(r));
            rows.for_each_result("out", r, [&](std::size_t, const ball<double>& x) { CHECK(x.radius().as_double() < 1e-11); });
        }
    }
}

TEST_CASE("cases that blocks of rows do not know", "[oracle]") {
    tensors t = random_case({2, 3, 4, 2}, kind::plain, false, 7);
    const auto fits = [&](settings given) {
        given.emplace_back("op", "attention");
        const conventions how = read_conventions(given);
        const attention_problem p = make_attention_problem(how, t.views);
        return fits_in_blocks(how, t.views, p);
    };
    CHECK(fits({}));
    CHECK(fits({{"causal", "top-left"}}));
    CHECK_FALSE(fits({{"softcap", "3"}}));
    CHECK_FALSE(fits({{"position", "alibi"}}));
    CHECK_FALSE(fits({{"position", "rope"}}));
    t.add("sink", {1}, {0.5});
    CHECK_FALSE(fits({}));
}
