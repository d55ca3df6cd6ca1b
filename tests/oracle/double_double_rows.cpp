// SPDX-License-Identifier: BSL-1.0
#include "attest/oracle/double_double_rows.hpp"
#include "rows_held.hpp"

using namespace rows_held;

TEST_CASE("the second rung's enclosures in blocks hold the exact values", "[oracle]") {
    CHECK(hold_all_kinds<double_double_rows, double_double>() > 0.05); // the radii are not idle
}

TEST_CASE("a scale that is no double is a part of the radius, on the second rung", "[oracle]") { hold_scales<double_double_rows, double_double>(); }

TEST_CASE("a lone key and a column of zeros are exact, on the second rung", "[oracle]") { lone_keys_are_exact<double_double_rows, double_double>(); }

TEST_CASE("rows that see what is no number, or nothing, are not clear on the second rung; what is hidden does no harm", "[oracle]") {
    unknown_rows_are_not_clear<double_double_rows, double_double>();
}

TEST_CASE("the second rung settles nearly all of f64", "[oracle]") {
    const tensors t = random_case({48, 1024, 64, 64}, kind::plain, false, 3);
    const conventions how = read_conventions({{"op", "attention"}});
    const attention_problem p = make_attention_problem(how, t.views);
    attention_engine<ball<double_double>> engine(how, t.views, p);
    double_double_rows rows(how, p, fast::compiled_kernels());
    engine.enter(0);
    rows.enter(engine, 0);
    std::size_t elements = 0, small = 0, settled = 0;
    for (std::size_t first = 0; first < p.n_q; first += 12) {
        std::vector<std::size_t> some;
        for (std::size_t i = first; i < first + 12; ++i) some.push_back(i);
        rows.evaluate(some);
        for (std::size_t r = 0; r < some.size(); ++r)
            rows.for_each_result("out", r, [&](std::size_t, const ball<double_double>& x) {
                ++elements;
                small += x.radius().as_double() <= 0x1p-11 * ulp(formats::f64, x.middle().high) ? 1 : 0; // 2^−10 of half an ULP
                settled += ends_of(formats::f64, x).agree() ? 1 : 0;
            });
    }
    CHECK(elements == 48 * 64);
    CHECK(static_cast<double>(small) >= 0.999 * static_cast<double>(elements));
    CHECK(static_cast<double>(settled) >= 0.999 * static_cast<double>(elements));
}
