// SPDX-License-Identifier: BSL-1.0
// The judge on elements made by hand: its verdicts, what it settles and what it leaves to the next rung, and that the order does not matter.
#include "attest/oracle/judge.hpp"
#include "catch.hpp"
#include "elements.hpp"

#include <algorithm>

using namespace attest;
using namespace elements;

namespace {

// One element of 1.0 in f32 that is `ulp` off, against limits in ULP; the store adds half a ULP.
constexpr double unit = 0x1p-23;
element off_by(double ulp, std::vector<element_limits> limits) {
    for (element_limits& l : limits) l = {l.certain * unit, l.expected * unit, l.beyond};
    return {.exact = exact_number(1), .got = 1 + ulp * unit, .limits = std::move(limits)};
}
// f32 may be 10 ULP off and is expected within 2, tf32 may be 100 off.
std::vector<element_limits> usual() { return {{10, 2}, {100, 20}}; }

verdict verdict_of(std::vector<element> all, std::size_t chosen = 0) { return judged(f32_and_tf32(), dtype::f32, all).finish(chosen).verdict; }

} // namespace

TEST_CASE("six verdicts, the first that holds", "[oracle]") {
    const element exact = off_by(0, usual()), inside = off_by(2, usual()), unlikely = off_by(3, usual()), coarse = off_by(11, usual()), far = off_by(101, usual());
    CHECK(verdict_of({exact, exact}) == verdict::exact);
    CHECK(verdict_of({exact, inside}) == verdict::consistent);
    CHECK(verdict_of({exact, inside, unlikely}) == verdict::suspicious);
    CHECK(verdict_of({exact, unlikely, coarse}) == verdict::inaccurate);
    CHECK(verdict_of({exact, unlikely, coarse, far}) == verdict::wrong);
    CHECK(verdict_of({unlikely, coarse}, 1) == verdict::consistent); // in tf32
    const output_result r = judged(f32_and_tf32(), dtype::f32, {exact, unlikely, coarse}).finish(0);
    CHECK((r.weaker == "tf32" && r.outside_expected == 2 && r.outside_certain == 1 && r.exact == 1));
    CHECK((r.worst->ulp == 11 && r.worst->limit_ulp == 10.5 && r.worst->expected_limit_ulp == 2.5));
    CHECK(r.limit_share == Approx(11 / 10.5).margin(1.0 / 8192));
    CHECK(r.expected_share == Approx(11 / 2.5).margin(1.0 / 8192));
    for (const verdict v : {verdict::undecided, verdict::suspicious, verdict::inaccurate, verdict::wrong}) CHECK_FALSE(passes(v));
    CHECK((verdict::exact < verdict::consistent && verdict::consistent < verdict::undecided && verdict::undecided < verdict::suspicious));
    CHECK((verdict::suspicious < verdict::inaccurate && verdict::inaccurate < verdict::wrong));
}

TEST_CASE("on the limit is inside, final store included", "[oracle]") {
    const std::vector<element_limits> limits{{10.5, 2.5}, {100, 20}};
    CHECK(verdict_of({off_by(3, limits)}) == verdict::consistent);
    CHECK(verdict_of({off_by(4, limits)}) == verdict::suspicious);
    CHECK(verdict_of({off_by(11, limits)}) == verdict::suspicious);
    CHECK(verdict_of({off_by(12, limits)}) == verdict::inaccurate);
    CHECK(verdict_of({off_by(1, {{0, 0}, {0, 0}})}) == verdict::wrong);
}

TEST_CASE("undecided: half of the elements blind by the expected limit, or one that differs where nothing is said", "[oracle]") {
    element blind = off_by(1, usual());
    blind.reach = 2 * unit; // the row's values are no farther than the expected limit
    const element seeing = off_by(1, usual());
    CHECK(verdict_of({blind, seeing}) == verdict::undecided);
    CHECK(verdict_of({blind, seeing, seeing}) == verdict::consistent);
    CHECK(verdict_of({blind, blind, off_by(3, usual())}) == verdict::suspicious); // comes before undecided
    blind.reach = 2.001 * unit; // inside the certain limit alone
    CHECK(verdict_of({blind}) == verdict::consistent);
    blind = off_by(1, {{10, 1}, {100, 20}});
    blind.reach = unit; // no wider than one ULP: nothing to be seen there
    CHECK(verdict_of({blind}) == verdict::consistent);
    // Elements on which nothing at all is allowed do not outvote blind ones.
    blind = off_by(1, usual());
    blind.reach = unit * 1.5;
    CHECK(verdict_of({blind, off_by(0, {{0, 0}, {0, 0}}), off_by(0, {{0, 0}, {0, 0}})}) == verdict::undecided);

    element unlimited = off_by(1, {{infinity, infinity}, {infinity, infinity}});
    CHECK(verdict_of({unlimited, seeing, seeing}) == verdict::undecided);
    unlimited.got = 1;
    CHECK(verdict_of({unlimited, seeing, seeing}) == verdict::consistent);
    element unjudged = off_by(1e6, usual());
    unjudged.judged = false;
    CHECK(verdict_of({unjudged, seeing, seeing}) == verdict::undecided);
    const output_result r = judged(f32_and_tf32(), dtype::f32, {unjudged, seeing, seeing}).finish(0);
    CHECK((r.unjudged == 1 && r.blind == 1 && r.outside_expected == 0 && r.exact == 0));
}

TEST_CASE("undeclared, the first arithmetic that passes; else the mildest verdict", "[oracle]") {
    const std::vector<const arithmetic*> tried{find_arithmetic("bf16+f32"), find_arithmetic("bf16")};
    constexpr double ulp = 0x1p-7;
    const auto chosen = [&](double off, double reach = infinity) {
        const auto judge = judged(tried, dtype::bf16, {{.exact = exact_number(1), .got = 1 + off * ulp, .limits = {{4 * ulp, ulp}, {16 * ulp, 8 * ulp}}, .reach = reach}});
        const std::size_t index = judge.assumed(tried);
        return std::pair{judge.possible()[index]->name, judge.finish(index).verdict};
    };
    using answer = std::pair<std::string_view, verdict>;
    CHECK(chosen(0) == answer{"bf16+f32", verdict::exact});
    CHECK(chosen(1) == answer{"bf16+f32", verdict::consistent});
    CHECK(chosen(4) == answer{"bf16", verdict::consistent});  // suspicious in bf16+f32
    CHECK(chosen(8) == answer{"bf16", verdict::consistent});  // inaccurate there
    CHECK(chosen(12) == answer{"bf16", verdict::suspicious}); // inaccurate there
    CHECK(chosen(20) == answer{"bf16+f32", verdict::wrong});
    CHECK(chosen(4, 5 * ulp) == answer{"bf16", verdict::undecided});
}

TEST_CASE("NaN and infinity are never wildcards", "[oracle]") {
    for (const double bad : {quiet, infinity, -infinity}) {
        element e = off_by(0, usual());
        e.got = bad;
        const output_result r = judged(f32_and_tf32(), dtype::f32, {off_by(0, usual()), e}).finish(0);
        CHECK((r.verdict == verdict::wrong && r.not_finite == 1 && r.outside_certain == 1 && r.exact == 1));
        CHECK((r.max_ulp == infinity && r.worst->index == std::vector<std::size_t>{0, 1} && r.rms_ulp == 0 && r.limit_share == infinity));
        e.limits = {{infinity, infinity}, {infinity, infinity}};
        CHECK(verdict_of({off_by(0, usual()), off_by(0, usual()), e}) == verdict::undecided);
        // As a declared answer each is right alone.
        for (const double declared : {quiet, infinity, -infinity}) {
            const element answer{.exact = exact_number(declared), .got = bad, .limits = {{0, 0}, {0, 0}}};
            const bool same = std::isnan(bad) ? std::isnan(declared) : bad == declared;
            CHECK(verdict_of({answer}) == (same ? verdict::exact : verdict::wrong));
        }
        element finite{.exact = exact_number(quiet), .got = 0, .limits = {{0, 0}, {0, 0}}};
        CHECK(verdict_of({finite}) == verdict::wrong);
        finite.judged = false;
        CHECK(verdict_of({finite, off_by(0, usual()), off_by(0, usual())}) == verdict::undecided);
    }
    // Beyond the greatest number of the format infinity is the correct rounding.
    const element overflow{.exact = exact_number(1e5), .got = infinity, .limits = {{1, 1}}};
    CHECK(judged({find_arithmetic("f16")}, dtype::f16, {overflow}).finish(0).verdict == verdict::exact);
}

TEST_CASE("zeros: both signs are right, and what nothing is allowed on must be zero", "[oracle]") {
    const auto of = [](double got, double limit) { return element{.exact = exact_number(0), .got = got, .limits = {{limit, limit}, {limit, limit}}}; };
    CHECK(verdict_of({of(0.0, 0), of(-0.0, 0), of(0.0, 1e-3)}) == verdict::exact);
    CHECK(verdict_of({of(0x1p-149, 0)}) == verdict::wrong);
    CHECK(verdict_of({of(1e-4, 1e-3)}) == verdict::consistent);
    const output_result r = judged(f32_and_tf32(), dtype::f32, {of(0x1p-140, 1)}).finish(0);
    CHECK(r.max_ulp == 512); // of the smallest subnormal
}

TEST_CASE("no right kernel leaves the hull of the row's values", "[oracle]") {
    element e = off_by(3, {{10, 5, 0x1p-60}, {100, 20, 0x1p-60}});
    CHECK(verdict_of({e}) == verdict::consistent);
    e.hull_high = 1 + unit;
    CHECK(verdict_of({e}) == verdict::wrong);
    e.got = 1 + unit;
    CHECK(verdict_of({e}) == verdict::consistent);
    e.got = e.hull_low = 1 - 8 * unit;
    CHECK(verdict_of({e}) == verdict::suspicious);
    e.hull_low = 1 - 6 * unit;
    CHECK(verdict_of({e}) == verdict::wrong);
}

TEST_CASE("an element in doubt is left to the next rung, and counts nothing", "[oracle]") {
    const exact_number half_way = exact_number(1) + ldexp(exact_number(1), -24); // a tie
    const exact_number small = ldexp(exact_number(1), -60);
    // The element, its radius, and why there is doubt.
    struct doubt {
        const char* what;
        element e;
        exact_number radius;
        bool in_doubt_at_last;
    };
    const std::vector<doubt> doubts{
        {"(a) a tie", {.exact = half_way, .got = 1, .limits = usual()}, small, true},
        {"(b) the border of two cells of 1/64 ULP, of what would be the worst", {.exact = exact_number(1) - ldexp(exact_number(1), -31), .got = 1, .limits = usual()}, small, false},
        {"(b) the border of a binade, beside a number that is not the candidate's", {.exact = exact_number(1), .got = 1 + 8 * unit, .limits = usual()}, small, false},
        {"(c) the border of the expected limit", {.exact = exact_number(1.5), .got = 1.5 + 3 * unit, .limits = {{10 * unit, 2.5 * unit}, {100 * unit, 20 * unit}}}, small, true},
        {"(c) the border of the certain limit of another arithmetic", {.exact = exact_number(1.5), .got = 1.5 + 3 * unit, .limits = {{10 * unit, 8 * unit}, {2.5 * unit, 2 * unit}}}, small, true},
        {"(d) a value that is not told from zero", {.exact = ldexp(small, -3), .got = 0, .limits = usual()}, small, true},
        {"nothing is known", {.exact = exact_number(1), .got = 1, .limits = usual()}, exact_number(infinity), true},
    };
    for (const doubt& d : doubts) {
        CAPTURE(d.what);
        candidate made(dtype::f32, {d.e});
        output_judge judge = made.judge(f32_and_tf32());
        for (const rung from : {rung::in_double, rung::in_double_double}) CHECK_FALSE(judge.element(0, made.facts(0, d.radius, from)));
        CHECK(judge.finish(0).elements == 0);
        CHECK(judge.element(0, made.facts(0, d.radius, rung::in_real, true)));
        const output_result r = judge.finish(0);
        CHECK((r.elements == 1 && r.rungs == rung_counts{0, 0, 1} && r.unseparated == (d.in_doubt_at_last ? 1 : 0)));
        // The same beside a worse element, where the last digits do not count.
        const bool of_last_digits = d.what[1] == 'b';
        candidate two(dtype::f32, {{.exact = exact_number(1), .got = 1 + 9 * unit, .limits = {{10 * unit, 10 * unit}, {100 * unit, 20 * unit}}}, d.e});
        output_judge other = two.judge(f32_and_tf32());
        CHECK(other.element(0, two.facts(0, exact_number(0), rung::decided)));
        CHECK(other.element(1, two.facts(1, d.radius, rung::in_double)) == (of_last_digits && d.e.got != 1 + 8 * unit));
    }
}

TEST_CASE("at the last rung doubt is in the candidate's favour, unless the precision does not reach at all", "[oracle]") {
    const exact_number tie = exact_number(1) + ldexp(exact_number(1), -24), small = ldexp(exact_number(1), -60);
    const auto last = [&](const element& e, const exact_number& radius) {
        candidate made(dtype::f32, {e});
        output_judge judge = made.judge(f32_and_tf32());
        CHECK(judge.element(0, made.facts(0, radius, rung::in_real, true)));
        return judge.finish(0);
    };
    for (const double neighbour : {1.0, 1 + unit}) CHECK(last({.exact = tie, .got = neighbour, .limits = {{unit, unit}, {unit, unit}}}, small).verdict == verdict::exact);
    CHECK(last({.exact = tie, .got = 1 + 2 * unit, .limits = {{unit, unit}, {unit, unit}}}, small).verdict == verdict::consistent);
    CHECK(last({.exact = exact_number(1.5), .got = 1.5 + 3 * unit, .limits = {{10 * unit, 2.5 * unit}, {10 * unit, 2.5 * unit}}}, small).verdict == verdict::consistent);
    // What passes since precision does not separate it from its limit is not said to be beyond the limit.
    const output_result at_limit = last({.exact = exact_number(1.5), .got = 1.5 + 3 * unit, .limits = {{3 * unit, 3 * unit}, {10 * unit, 10 * unit}}}, exact_number(2 * unit));
    CHECK((at_limit.verdict == verdict::consistent && at_limit.unseparated == 1));
    CHECK((at_limit.limit_share == 1 && at_limit.expected_share == 1));
    // Zero, as far as is known; and a radius that any number would be inside of.
    const output_result zero = last({.exact = ldexp(small, -3), .got = 0, .limits = {{1, 1}, {1, 1}}}, small);
    CHECK((zero.verdict == verdict::exact && zero.unseparated == 1 && zero.worst->expected == "0"));
    for (const double got : {1.0, 0.0, 77.0})
        CHECK(last({.exact = exact_number(1), .got = got, .limits = {{unit, unit}, {unit, unit}}}, exact_number(1000)).verdict == verdict::undecided);
    CHECK(last({.exact = exact_number(1), .got = 1e4, .limits = {{unit, unit}, {unit, unit}}}, exact_number(1000)).verdict == verdict::wrong);
    for (const double got : {1.0, 1e30, quiet, infinity})
        CHECK(last({.exact = exact_number(1), .got = got, .limits = {{unit, unit}, {unit, unit}}}, exact_number(infinity)).verdict == verdict::undecided);
}

TEST_CASE("what is told does not depend on the order of the elements, nor on the rungs", "[oracle]") {
    kernels::generator r(7);
    for (int round = 0; round < 20; ++round) {
        const std::vector<element> all = drawn(r, 96);
        const output_result expected = judged(f32_and_tf32(), dtype::f32, all).finish(0);
        std::vector<element> turned(all.rbegin(), all.rend());
        CHECK(judged(f32_and_tf32(), dtype::f32, turned).finish(0).rms_ulp == expected.rms_ulp); // its sums are exact
        for (int shuffle = 0; shuffle < 6; ++shuffle) {
            const output_result result = climbed(f32_and_tf32(), dtype::f32, all, r).finish(0);
            CAPTURE(round, shuffle);
            CHECK(told(result) == told(expected));
            CHECK(result.rungs.in_double + result.rungs.in_double_double + result.rungs.in_real + result.decided == all.size());
            CHECK(result.rungs.in_double > all.size() / 4); // not all climb, though they are drawn to
        }
    }
}

TEST_CASE("rows are counted by their number, or lie along the last dimension", "[oracle]") {
    std::vector<element> all(12, off_by(0, usual()));
    for (const std::size_t at : {1U, 3U, 9U}) all[at] = off_by(200, usual());
    all[7] = off_by(5, usual());
    output_result r = judged(f32_and_tf32(), dtype::f32, all, {3, 4}).finish(0);
    CHECK((r.rows == 3 && r.rows_outside == 2 && r.rows_outside_expected == 3));
    CHECK(r.first_outside->index == std::vector<std::size_t>{0, 1});
    for (std::size_t e = 0; e < 12; ++e) all[e].row = e % 6;
    r = judged(f32_and_tf32(), dtype::f32, all, {3, 4}).finish(0);
    CHECK((r.rows == 6 && r.rows_outside == 2 && r.rows_outside_expected == 2));
}

TEST_CASE("the exact value is shown with as many digits as are certain, and with 20 once it is known better", "[oracle]") {
    const exact_number third = exact_number(1) / exact_number(3);
    candidate made(dtype::f32, {{.exact = third, .got = 0.5, .limits = {{1e-9, 1e-9}, {1e-9, 1e-9}}}});
    output_judge judge = made.judge(f32_and_tf32());
    REQUIRE(judge.element(0, made.facts(0, ldexp(exact_number(1), -50), rung::in_double)));
    CHECK(judge.finish(0).worst->expected.size() < 18);
    CHECK(judge.finish(0).worst->expected.substr(0, 12) == "0.3333333333");
    CHECK(judge.shown(0) == std::vector<std::size_t>{0});
    CHECK_FALSE(judge.show(0, third, ldexp(exact_number(1), -60)));
    CHECK(judge.show(0, third, ldexp(exact_number(1), -100)));
    CHECK(judge.finish(0).worst->expected == "0.33333333333333333333");
    CHECK(judge.finish(0).first_outside->expected == "0.33333333333333333333");
}

TEST_CASE("a limit or a radius that is no number is a fault of ours", "[oracle]") {
    for (const element_limits& bad : {element_limits{quiet, 1, 1}, element_limits{1, quiet, 1}, element_limits{1, 1, quiet}, element_limits{-1, 1, 1}}) {
        const element e{.exact = exact_number(1), .got = 1, .limits = {{1, 1}, bad}};
        CHECK_THROWS_AS(judged(f32_and_tf32(), dtype::f32, {e}), std::logic_error);
    }
    candidate made(dtype::f32, {off_by(0, usual())});
    output_judge judge = made.judge(f32_and_tf32());
    CHECK_THROWS_AS(judge.element(0, made.facts(0, exact_number(quiet), rung::in_double)), std::logic_error);
    candidate few(dtype::f32, {off_by(0, {{1, 1}})});
    CHECK_THROWS_AS(few.judge(f32_and_tf32()).element(0, few.facts(0, exact_number(0), rung::decided)), std::logic_error);
}
