// SPDX-License-Identifier: BSL-1.0
// What is decided exactly of scores, weights, log-sum-exp and output: each rule, and cases where a guess by doubles would go wrong.
#include "catch.hpp"
#include "decided_row.hpp"

using namespace decided_tests;

namespace {

const auto irrational = exact_fact::irrational();
const auto unknown = exact_fact::unknown();
exact_fact is(const exact_rational& x) { return exact_fact::of(x); }
exact_fact is(double x) { return exact_fact::of(exact_rational(dyadic(x))); }
exact_rational of(double x) { return exact_rational(dyadic(x)); }

exact_fact out(const row& r, std::size_t c = 0) { return facts(r).say.out(c); }
exact_fact weight(const row& r, std::size_t j = 0) { return facts(r).say.weight(j); }
exact_fact score(const row& r, std::size_t j = 0) { return facts(r).say.score(j); }
exact_fact lse(const row& r) { return facts(r).say.lse(); }

} // namespace

TEST_CASE("one key: weight 1, the value itself", "[oracle]") {
    row r = row_of({0x1.8p-30, 0.1}, {0x1.8p700, -3}, {0.1, -7e300});
    CHECK(weight(r) == is(1.0));
    CHECK(out(r) == is(0.1));
    CHECK(out(r, 1) == is(-7e300));
    CHECK(lse(r) == score(r));
    CHECK(score(r).has_value());
    r.kept = {1};
    r.keep_scale = fraction(1) / (fraction(1) - decimal("0.1"));
    CHECK(weight(r) == is(1.0));
    CHECK(out(r) == is(of(0.1) * fraction(10, 9)));
    r.kept = {0};
    CHECK(out(r) == is(0.0));
    r.sink = 0.0; // a second entry, with another score
    r.kept.clear();
    CHECK(weight(r) == irrational);
    CHECK(out(r) == irrational);
}

TEST_CASE("ties at midpoints of every format", "[oracle]") {
    for (const format& f : {formats::bf16, formats::f16, formats::f32, formats::f64}) {
        const double unit = 2 * f.unit_roundoff();
        CAPTURE(f.precision);
        // q = 0: all scores are 0 in rows of any keys.
        const row even = row_of({0, 0}, {3, 4, -1e300, 0.1}, {1, 1 + unit}), odd = row_of({0, 0}, {3, 4, -1e300, 0.1}, {1 + unit, 1 + 2 * unit});
        REQUIRE(out(even).has_value());
        CHECK(round_to(f, out(even).value) == 1);
        CHECK(round_to(f, out(odd).value) == 1 + 2 * unit);
        CHECK(facts(even).say.out_equals(0, (of(1) + of(1 + unit)) / 2) == true);
        CHECK(facts(even).say.out_equals(0, of(1)) == false);
        CHECK(weight(even) == is(0.5));
        CHECK(lse(even) == irrational);
        // Three keys: no tie, whatever the doubles say. 1/3 is the weight.
        const row three = row_of({0}, {1, 2, 3}, {1, 1, 1 + unit});
        CHECK(weight(three, 2) == is(fraction(1, 3)));
        CHECK(round_to(f, out(three).value) == 1);
        CHECK(out(three) == is((of(1) * 2 + of(1 + unit)) / 3));
    }
}

TEST_CASE("scores are equal exactly, or they are not", "[oracle]") {
    const auto scores_decide = [](const row& r) { return out(r).has_value(); };
    // The order of the sum makes a double 0 of 1.
    CHECK(scores_decide(row_of({1e16, 1, -1e16}, {1, 1, 1, 0, 1, 0}, {1, 2})));
    // Beyond the range of double, and below it.
    CHECK(scores_decide(row_of({1e300, 1e300}, {1e300, 0, 0, 1e300}, {1, 2})));
    CHECK(out(row_of({1e300, 1e300}, {1e300, 0, 0, 1.0000000000000002e300}, {1, 2})) == irrational);
    CHECK(out(row_of({0x1p-1074}, {0x1p-1074, 0x1p-1073}, {1, 2})) == irrational);
    // Differences that double sums lose: 2^53 + 1 against 2^53, and a bias of 2^−1000.
    CHECK(out(row_of({0x1p53, 1}, {1, 1, 1, 0}, {1, 2})) == irrational);
    row r = row_of({0}, {1, 2}, {1, 2});
    r.bias = {0, 0x1p-1000};
    CHECK(out(r) == irrational);
    CHECK(facts(r).say.out_equals(0, fraction(3, 2)) == false);
    CHECK(weight(r, 1) == irrational);
    r.bias = {-0.0, 0};
    CHECK(out(r) == is(1.5));
    // −0 is 0: the same key.
    CHECK(scores_decide(row_of({1}, {0.0, -0.0}, {1, 2})));
}

TEST_CASE("scale and bias", "[oracle]") {
    // σ = 1/√2 and a bias that is the nearest double to it: the scores agree to 53 bits, and differ.
    row r = row_of({1, 0}, {1, 0, 0, 0}, {1, 2});
    r.bias = {0, std::sqrt(0.5)};
    r.scale.reset();
    r.root_of = 2;
    CHECK(out(r) == irrational);
    CHECK(score(r, 0) == irrational);
    CHECK(score(r, 1) == is(std::sqrt(0.5)));
    // With irrational σ both parts must agree.
    r.bias = {0.25, 0.25};
    CHECK(out(r) == irrational);
    r.k = {1, 0, 1, 5};
    CHECK(out(r) == is(1.5));
    CHECK(lse(r) == irrational);
    // A rational σ: 3 · 1/8 = 1 · 1/8 + 1/4, and in decimals 1 · 0.1 = 0 + 0.1 does not hold for the double 0.1.
    r.scale = fraction(1, 8);
    r.k = {3, 0, 1, 0};
    r.bias = {0, 0.25};
    CHECK(out(r) == is(1.5));
    CHECK(score(r, 1) == is(0.375));
    r.scale = decimal("0.1");
    r.k = {1, 0, 0, 0};
    r.bias = {0, 0.1};
    CHECK(out(r) == irrational);
    CHECK(score(r) == is(fraction(1, 10)));
    r.k = {7.5, 0, 0, 0};
    r.bias = {0, 0.75};
    CHECK(out(r) == is(1.5));
    // σ = 0: only the bias counts.
    r.scale = fraction(0);
    r.bias = {0.5, 0.5};
    CHECK(out(r) == is(1.5));
    CHECK(score(r) == is(0.5));
    CHECK(facts(r).say.raw_score(0) == is(7.5));
}

TEST_CASE("groups of unequal scores with one mean", "[oracle]") {
    // Scores 0, 0, 1: values 0 and 2 average to 1, which the third has as well. Column 1 misses by 2^−52, column 2 is constant.
    row r = row_of({1}, {0, 1, 0}, {0, 0, 7, 1, 1 + 0x1p-52, 7, 2, 2, 7});
    CHECK(out(r, 0) == is(1.0));
    CHECK(out(r, 1) == irrational);
    CHECK(out(r, 2) == is(7.0));
    CHECK(weight(r, 0) == irrational);
    CHECK(weight(r, 1) == irrational);
    // Dropout changes the means.
    r.kept = {1, 1, 0};
    r.keep_scale = fraction(2);
    CHECK(out(r, 0) == irrational);
    CHECK(out(r, 2) == irrational);
    r.v = {2, 0, 0, 1, 0, 0, 9, 5, 0};
    CHECK(out(r, 0) == is(2.0));
    CHECK(out(r, 2) == is(0.0));
}

TEST_CASE("a sink is an entry of value 0", "[oracle]") {
    row r = row_of({0}, {1, 2}, {1, 5});
    r.sink = 0.0;
    CHECK(out(r) == is(2.0));
    CHECK(weight(r) == is(fraction(1, 3)));
    CHECK(lse(r) == irrational);
    r.sink = 0x1p-600;
    CHECK(out(r) == irrational);
    CHECK(weight(r) == irrational);
    r.v = {-5, 5}; // both groups average to 0
    CHECK(out(r) == is(0.0));
    r.v = {3, 3}; // constant values are no longer enough
    CHECK(out(r) == irrational);
    // Where σ is irrational, the sink meets scores with a = 0 alone.
    r.scale.reset();
    r.root_of = 3;
    r.sink = 0.25;
    r.bias = {0.25, 0.25};
    CHECK(out(r) == is(2.0));
    r.q = {1};
    CHECK(out(r) == irrational);
    // No key: the sink alone.
    r.visible.clear();
    r.bias.clear();
    CHECK(out(r) == is(0.0));
    CHECK(lse(r) == is(0.25));
    r.sink.reset();
    CHECK(out(r) == unknown); // declared, not decided
    CHECK(lse(r) == unknown);
}

TEST_CASE("a soft cap", "[oracle]") {
    row r = row_of({1}, {1, 1, 1}, {1, 2, 6});
    r.cap = 2.0;
    CHECK(out(r) == is(3.0)); // equal raw scores suffice
    CHECK(score(r) == irrational);
    CHECK(lse(r) == unknown);
    r.bias = {0, 0, 1}; // e^{s} times 1 and e
    CHECK(out(r) == irrational);
    r.bias.clear();
    r.k = {1, -1, 1};
    CHECK(out(r) == unknown); // no converse
    CHECK(weight(r) == unknown);
    r.v = {1, 3, 5}; // but enough: the mean of 1 and 5 is 3
    CHECK(out(r) == is(3.0));
    r.k = {0, 0, 0};
    CHECK(score(r) == is(0.0));
    CHECK(lse(r) == irrational);
    r.sink = 0.0;
    CHECK(out(r) == is(fraction(9, 4)));
    r.k = {1, 1, 1};
    CHECK(out(r) == unknown);
}

TEST_CASE("ALiBi's slopes", "[oracle]") {
    row r = row_of({1}, {1, 2, 1}, {1, 9, 3});
    r.distance = {2, 0, 2};
    r.slope = 0.5; // scores 0, 2, 0
    CHECK(score(r) == is(0.0));
    CHECK(out(r) == irrational);
    r.bias = {2, 0, 2};
    CHECK(out(r) == is(fraction(13, 3)));
    // 2^−0.5 cancels against nothing that is rational …
    r.slope.reset();
    r.irrational_slope_of = 16;
    CHECK(score(r) == irrational);
    CHECK(score(r, 1) == is(2.0));
    CHECK(out(r) == irrational);
    r.v = {1, 2, 3};
    CHECK(out(r) == is(2.0));
    // … but perhaps against σ = 1/√2: then nothing is said where the distances differ.
    r.scale.reset();
    r.root_of = 2;
    r.k = {1, 0, 1};
    r.v = {1, 9, 3};
    CHECK(out(r) == unknown);
    CHECK(score(r) == unknown);
    r.distance = {2, 2, 2};
    CHECK(out(r) == irrational);

    std::size_t rational = 0;
    for (std::size_t heads = 1; heads <= 40; ++heads)
        for (std::size_t h = 0; h < heads; ++h) {
            const auto slope = exact_alibi_slope(h, heads);
            const wide exact = alibi_slope<wide>(h, heads);
            rational += slope.has_value();
            if (slope ? !(wide(*slope) == exact) : small_fraction(exact).has_value()) FAIL_CHECK("head " << h << " of " << heads);
        }
    CHECK(rational > 100);
}

TEST_CASE("RoPE and learned scores: equal keys are one", "[oracle]") {
    row r = row_of({1, 2, 3}, {1, 1, 1, 1, 1, 1, 0, 0, 2, 3, 1, 4}, {1, 3, 2, 2});
    r.rotated = 2;
    r.position = 5;
    r.positions = {3, 3, 4, 5};
    const facts f(r);
    CHECK(f.say.raw_score(0) == unknown);
    CHECK(f.say.raw_score(2) == is(6.0));  // turned zeros
    CHECK(f.say.raw_score(3) == is(17.0)); // turned as the query is
    CHECK(out(r) == is(2.0));              // keys 0 and 1 are one, of mean 2
    r.v[1] = 4;
    CHECK(out(r) == unknown);
    r.v[1] = 3;
    r.positions[1] = 2;
    CHECK(out(r) == unknown);
    r.q = {0, 0, 3};
    CHECK(facts(r).say.raw_score(0) == is(3.0));
    r.q = {0, 0, 0};
    r.v[1] = 4;
    CHECK(out(r) == is(fraction(9, 4)));

    row b = row_of({1, 2}, {1, 0, 0, 1, 2, -1}, {1, 2, 6});
    b.score = score_kind::bilinear;
    b.w = {0, 1, 1, 0}; // a = q_1 k_0 + q_0 k_1: 2, 1, 3
    CHECK(facts(b).say.raw_score(2) == is(3.0));
    CHECK(out(b) == irrational);
    b.w = {1, 3, 1, 0}; // Wᵀ q = (3, 3)
    CHECK(out(b) == is(3.0));

    // W mixes what RoPE turns: equal angles do not cancel, and zeros on one side are not enough.
    b.rotated = 2;
    b.position = 1;
    b.positions = {1, 0, 3};
    for (const std::size_t j : {0U, 1U, 2U}) CHECK(facts(b).say.raw_score(j) == unknown);
    CHECK(!small_fraction(values(b).raw(0)));
    b.position = 0;
    CHECK(facts(b).say.raw_score(0) == unknown);
    CHECK(facts(b).say.raw_score(1) == is(3.0));
    b.k[4] = b.k[5] = 0;
    CHECK(facts(b).say.raw_score(2) == is(0.0));
    b.q = {0, 0};
    CHECK(facts(b).say.raw_score(0) == is(0.0));

    row a = row_of({1}, {1, 1, 2}, {1, 5, 3});
    a.score = score_kind::additive;
    a.w1 = {1}, a.w2 = {1}, a.b = {1};
    CHECK(out(a) == is(3.0));
    CHECK(score(a) == unknown);
    a.v[2] = 4;
    CHECK(out(a) == unknown);
    a.visible = {0, 1};
    CHECK(out(a) == is(3.0));
    CHECK(weight(a) == is(0.5));
}

TEST_CASE("log-sum-exp and scores in general", "[oracle]") {
    const row r = row_of({1, 2}, {0.5, 0.25, 2, -1}, {1, 2});
    CHECK(score(r) == is(1.0));
    CHECK(score(r, 1) == is(0.0));
    CHECK(facts(r).say.raw_score(0) == is(1.0));
    CHECK(lse(r) == irrational);
}

TEST_CASE("of what is not finite nothing is said", "[oracle]") {
    const double nan = std::numeric_limits<double>::quiet_NaN(), inf = kernels::infinity;
    const row good = row_of({0}, {1, 2}, {1, 2, 3, 4});
    row r = good;
    r.v[1] = inf;
    CHECK(out(r, 0) == is(2.0));
    CHECK(out(r, 1) == unknown);
    for (const double bad : {nan, inf, -inf}) {
        for (std::vector<double> row::* part : {&row::q, &row::k}) {
            r = good;
            (r.*part)[0] = bad;
            CHECK(out(r) == unknown);
            CHECK(weight(r) == unknown);
            CHECK(score(r, 1) == unknown);
            CHECK(lse(r) == unknown);
        }
        r = good;
        r.bias = {0, bad};
        CHECK(out(r) == unknown);
        r = good;
        r.sink = bad;
        CHECK(weight(r) == unknown);
        r = good;
        r.k.push_back(bad); // a key that is not seen
        CHECK(out(r) == is(2.0));
    }
}

TEST_CASE("what conventions say, in fractions", "[oracle]") {
    conventions how;
    CHECK(exact_scale(how, 64) == fraction(1, 8));
    CHECK(exact_scale(how, 1) == fraction(1));
    CHECK(!exact_scale(how, 128));
    how.scale = "1e-1";
    CHECK(exact_scale(how, 128) == fraction(1, 10));
    how.scale = "0x1.8p-3";
    CHECK(exact_scale(how, 128) == fraction(3, 16));
    how = {};
    how.score = score_kind::dot;
    CHECK(exact_scale(how, 2) == fraction(1));
    CHECK(exact_keep_scale(how) == fraction(1));
    how.dropout_p = "0.1";
    CHECK(exact_keep_scale(how) == fraction(10, 9));
}
