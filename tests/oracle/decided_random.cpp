// SPDX-License-Identifier: BSL-1.0
// Exact decisions on random rows of small numbers, where equal scores, equal means and zeros are common, against the formulas in 384 bits: what is
// said to be a rational number is it, and what is said to be irrational is no fraction with a small denominator.
#include "catch.hpp"
#include "decided_row.hpp"

using namespace decided_tests;
using kernels::generator;

namespace {

std::vector<double> whole_numbers(generator& g, std::size_t count, int least, int greatest) {
    std::vector<double> x(count);
    for (double& one : x) one = least + static_cast<int>(g.below(static_cast<std::size_t>(greatest - least + 1)));
    return x;
}

row draw(generator& g) {
    row r;
    const std::size_t n = 1 + g.below(5), stored = n + g.below(3);
    r.d_k = 1 + g.below(3);
    r.d_v = 1 + g.below(2);
    const int spread = g.below(3) == 0 ? 0 : 1;
    r.q = whole_numbers(g, r.d_k, -spread, spread);
    r.k = whole_numbers(g, stored * r.d_k, -1, 1);
    if (g.below(6) == 0)
        for (std::size_t e = 0; e < r.k.size(); ++e) r.k[e] = r.k[e % r.d_k]; // all keys the same
    r.v = whole_numbers(g, stored * r.d_v, 0, 1 + static_cast<int>(g.below(2)));
    while (r.visible.size() < n) {
        const std::size_t j = r.visible.empty() ? 0 : r.visible.back() + 1;
        r.visible.push_back(j + (stored - j > n - r.visible.size() ? g.below(2) : 0));
    }
    r.dz = whole_numbers(g, r.d_v, -1, 1);
    if (g.below(3) == 0) r.bias = whole_numbers(g, n, -1, 1);
    if (g.below(4) == 0) r.sink = static_cast<double>(g.below(2));
    if (g.below(4) == 0) r.cap = 2.0;
    if (g.below(4) == 0) {
        for (std::size_t j = 0; j < n; ++j) r.kept.push_back(g.below(3) != 0);
        r.keep_scale = fraction(1) / (fraction(1) - decimal("0.1"));
    }
    switch (g.below(5)) {
    case 0: r.scale = decimal("0.1"); break;
    case 1: r.scale = fraction(1, 2); break;
    case 2: r.scale = fraction(static_cast<long long>(g.below(2))); break;
    default: r.scale.reset(), r.root_of = 2 + g.below(2);
    }
    if (g.below(4) == 0) {
        r.distance = whole_numbers(g, n, 0, 2);
        if (g.below(2) == 0) r.slope = 0.5;
        else r.irrational_slope_of = 16; // 2^−0.5
    }
    switch (g.below(6)) {
    case 0:
        r.score = score_kind::bilinear;
        r.w = whole_numbers(g, r.d_k * r.d_k, -1, 1);
        break;
    case 1:
        r.score = score_kind::additive;
        r.w1 = whole_numbers(g, 2 * r.d_k, -1, 1);
        r.w2 = whole_numbers(g, 2 * r.d_k, -1, 1);
        r.b = whole_numbers(g, 2, -1, 1);
        break;
    case 2:
        if (r.d_k < 2) break;
        r.rotated = 2;
        r.position = static_cast<double>(g.below(3));
        r.positions = whole_numbers(g, n, 0, 2);
        break;
    default: break;
    }
    return r;
}

// How many elements of each kind, and how many unknown ones a fraction fits.
struct counts {
    std::size_t values = 0, no_ties = 0, unknown = 0, missed = 0;
};

void hold(counts& count, const char* what, const exact_fact& said, const wide& value) {
    CAPTURE(what, value.text(40));
    if (said.has_value()) {
        ++count.values;
        if (!(abs(wide_of(said.value) - value) < wide(1e-90))) {
            CAPTURE(said.value.str());
            FAIL_CHECK("not the value");
        }
        return;
    }
    const auto fits = small_fraction(value);
    if (said.what == fact::unknown) {
        ++count.unknown;
        count.missed += fits.has_value();
        return;
    }
    ++count.no_ties;
    if (fits) {
        CAPTURE(fits->str());
        FAIL_CHECK("said to be irrational");
    }
}

} // namespace

TEST_CASE("exact facts of random rows of small numbers", "[oracle]") {
    generator g(1);
    counts raw, score, lse, weight, out, ds, dv, dq, dk;
    std::size_t all_zero = 0;
    for (int run = 0; run < 4000; ++run) {
        const row r = draw(g);
        const facts f(r);
        const values exact(r);
        CAPTURE(run, r.q, r.k, r.v, r.visible, r.bias, r.distance, r.kept, r.positions, r.dz, r.root_of, static_cast<int>(r.score), r.rotated);
        hold(lse, "lse", f.say.lse(), exact.lse);
        for (std::size_t j = 0; j < r.n(); ++j) {
            hold(raw, "raw score", f.say.raw_score(j), exact.raw(j));
            hold(score, "score", f.say.score(j), exact.scores(j));
            hold(weight, "weight", f.say.weight(j), exact.weights(j));
            hold(ds, "ds", f.say.ds(j), exact.ds(j));
            if (f.say.gradient_is_zero() && !(abs(exact.ds(j)) < wide(1e-90))) FAIL_CHECK("the gradient is not zero");
            for (std::size_t c = 0; c < r.d_v; ++c) hold(dv, "dv", f.say.dv(j, c), exact.dv(j, c));
            for (std::size_t c = 0; c < r.d_k; ++c) {
                const exact_fact before = f.say.dk_before_scale(j, c);
                hold(dk, "dk without scale", before, exact.dk_before_scale(j, c));
                hold(dk, "dk", times(before, r.scale), exact.dk_before_scale(j, c) * exact.sigma);
            }
        }
        all_zero += f.say.gradient_is_zero();
        for (std::size_t c = 0; c < r.d_v; ++c) hold(out, "out", f.say.out(c), exact.out(c));
        for (std::size_t c = 0; c < r.q.size(); ++c) hold(dq, "dq", f.say.dq(c), exact.dq(c));
        // With rational raw scores, without a cap, and with one irrational factor at most, nothing is left open.
        const bool complete = !r.cap && r.score != score_kind::additive && r.rotated == 0 && (r.scale || r.irrational_slope_of == 0);
        if (!complete) continue;
        if (f.say.lse().what == fact::unknown) FAIL_CHECK("lse is unknown");
        for (std::size_t j = 0; j < r.n(); ++j)
            for (const exact_fact& said : {f.say.raw_score(j), f.say.score(j), f.say.weight(j), f.say.ds(j)})
                if (said.what == fact::unknown) FAIL_CHECK("a score, a weight or the score's gradient is unknown");
        for (std::size_t c = 0; c < r.d_v; ++c)
            if (f.say.out(c).what == fact::unknown) FAIL_CHECK("an output is unknown");
        for (std::size_t c = 0; c < r.d_k; ++c)
            if (f.say.dq(c).what == fact::unknown) FAIL_CHECK("dq is unknown");
    }
    // All of this came up, and often.
    const auto often = [](const char* what, const counts& c, std::size_t values, std::size_t no_ties) {
        CAPTURE(what, c.values, c.no_ties, c.unknown, c.missed);
        CHECK(c.values > values);
        CHECK(c.no_ties >= no_ties);
    };
    often("raw", raw, 5000, 0);
    often("score", score, 5000, 1000);
    often("lse", lse, 200, 1000);
    often("weight", weight, 2000, 3000);
    often("out", out, 2000, 1000);
    often("ds", ds, 4000, 2000);
    often("dv", dv, 5000, 3000);
    often("dq", dq, 3000, 1000);
    often("dk", dk, 15000, 3000);
    CHECK(all_zero > 1000);
}
