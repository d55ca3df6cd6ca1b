// SPDX-License-Identifier: BSL-1.0
// What is decided exactly of the gradients of a row, and of sums over rows.
#include "catch.hpp"
#include "decided_row.hpp"

using namespace decided_tests;

namespace {

const auto irrational = exact_fact::irrational();
const auto unknown = exact_fact::unknown();
exact_fact is(const exact_rational& x) { return exact_fact::of(x); }
exact_fact is(double x) { return exact_fact::of(exact_rational(dyadic(x))); }

exact_fact ds(const row& r, std::size_t j = 0) { return facts(r).say.ds(j); }
exact_fact dq(const row& r, std::size_t c = 0) { return facts(r).say.dq(c); }
exact_fact dk(const row& r, std::size_t j = 0, std::size_t c = 0) {
    const facts f(r);
    return times(f.say.dk_before_scale(j, c), r.scale);
}
exact_fact dv(const row& r, std::size_t j = 0, std::size_t c = 0) { return facts(r).say.dv(j, c); }
bool all_zero(const row& r) { return facts(r).say.gradient_is_zero(); }

} // namespace

TEST_CASE("rows whose gradients are all 0", "[oracle]") {
    row r = row_of({0.3, 7}, {1, 2}, {4, 5}); // one key: row 0 of a causal mask
    r.dz = {0.1, -3};
    CHECK(all_zero(r));
    CHECK(ds(r) == is(0.0));
    CHECK(dq(r, 1) == is(0.0));
    CHECK(dk(r, 0, 1) == is(0.0));
    CHECK(dv(r, 0, 1) == is(-3.0));
    // Constant V; any scores, and any score function.
    r = row_of({0.3, 7}, {1, 2, -3, 0.1, 5, 5}, {4, 0.1, 4, 0.1, 4, 0.1});
    r.dz = {0.1, -3};
    CHECK(all_zero(r));
    CHECK(dq(r) == is(0.0));
    r.score = score_kind::additive;
    CHECK(all_zero(r));
    CHECK(dk(r, 1) == is(0.0));
    r.kept = {1, 0, 1}; // dropout: the values are no longer the same
    CHECK(!all_zero(r));
    r.dz = {0, 0};
    CHECK(all_zero(r));
    // V is not constant, but dz · v is: exactly, though not in doubles.
    r = row_of({0.3}, {1, 2}, {1e16, 1, 1e16, 0});
    r.dz = {1, 1};
    CHECK(!all_zero(r));
    r.v = {3, 1, 1, 3};
    CHECK(all_zero(r));
    // A sink has da = 0.
    r.sink = 0.5;
    CHECK(!all_zero(r));
    r.v = {3, -3, -1, 1};
    CHECK(all_zero(r));
    // No key.
    r.visible.clear();
    r.sink.reset();
    CHECK(all_zero(r));
}

TEST_CASE("rows of equal scores have rational gradients", "[oracle]") {
    row r = row_of({0, 0}, {1, 2, 4, -1, 1, 5}, {1, 2, 6}); // da = 1, 2, 6: D = 3
    CHECK(ds(r, 0) == is(fraction(-2, 3)));
    CHECK(ds(r, 2) == is(1.0));
    CHECK(dq(r, 0) == is(fraction(-2 - 4 + 3, 3)));
    CHECK(dq(r, 1) == is(fraction(-4 + 1 + 15, 3)));
    CHECK(dk(r, 2, 0) == is(0.0)); // q = 0
    CHECK(dv(r, 1) == is(fraction(1, 3)));
    r.scale.reset();
    r.root_of = 2;
    CHECK(dq(r, 0) == irrational);
    r.v = {1, 2, 3}; // ds = −1/3, 0, 1/3: component 0 of k has the same at both ends
    CHECK(dq(r, 0) == is(0.0));
    CHECK(dq(r, 1) == irrational);
    CHECK(ds(r, 1) == is(0.0));
    r.q = {1, -1};
    r.k = {1, 1, 2, 2, 5, 5}; // equal raw scores
    CHECK(dk(r, 0, 1) == irrational);
    r.scale = fraction(1, 4);
    CHECK(dk(r, 0, 1) == is(fraction(1, 12)));
    r.keep_scale = fraction(10, 9);
    r.kept = {1, 1, 1};
    CHECK(dk(r, 0, 1) == is(fraction(10, 9 * 12)));
    CHECK(dv(r, 0) == is(fraction(10, 27)));
    r.kept = {0, 1, 1};
    CHECK(dv(r, 0) == is(0.0));
    r.sink = 0.0; // a fourth entry: da = 0, 2, 3, 0
    CHECK(ds(r, 0) == is(fraction(10, 9) * fraction(-5, 16)));
}

TEST_CASE("ds in rows of several groups", "[oracle]") {
    // Scores 0, 1, 0, 1.
    row r = row_of({1}, {0, 1, 0, 1}, {1, 2, 3, 2}); // both groups have the mean 2
    CHECK(ds(r, 1) == is(0.0));
    CHECK(ds(r, 3) == is(0.0));
    CHECK(ds(r, 0) == irrational);
    CHECK(!all_zero(r));
    r.v = {1, 2, 3, 4};
    for (std::size_t j = 0; j < 4; ++j) CHECK(ds(r, j) == irrational);
    r.cap = 2.0; // no converse
    CHECK(ds(r, 0) == unknown);
    r.v = {1, 2, 3, 2};
    CHECK(ds(r, 1) == is(0.0));
}

TEST_CASE("dq in rows of several groups", "[oracle]") {
    // Scores are q_0 k_0: 0, 0, 1, 3. da is the value.
    row r = row_of({1, 0, 0}, {0, 1, 2, 0, -1, 5, 1, 0, 2, 3, 0, 5}, {1, 3, 2, 2});
    // All means of da are 2; component 1 of k has covariance −1 in the first group and 0 in the others, component 0 has none.
    CHECK(dq(r, 0) == is(0.0));
    CHECK(dq(r, 1) == irrational);
    // Component 1 has the mean 0 in each group, and da what it likes, but for covariances.
    r.v = {3, 3, 7, -1};
    CHECK(dq(r, 1) == is(0.0));
    CHECK(dq(r, 0) == irrational);
    // Scores −1, 0, 0, 1: −1 + 1 = 0 + 0, and what the first pair gives is what the second takes away.
    row coincidence = row_of({1, 0}, {-1, 0, 0, 2, 0, -1, 1, 1}, {0, 1, 2, 3});
    CHECK(dq(coincidence, 1) == is(0.0));
    CHECK(abs(values(coincidence).dq(1)) < wide(1e-100));
    coincidence.k[6] = 1 + 0x1p-52;
    CHECK(dq(coincidence, 1) == irrational);
    // Two groups with the covariance 1/2 in component 1: that is dq if their means of k agree.
    row same = row_of({1, 0}, {0, 1, 0, 2, 1, 3, 1, 2}, {5, 7, 6, 4});
    CHECK(dq(same, 1) == irrational);
    same.k = {0, 1, 0, 2, 1, 2, 1, 1};
    CHECK(dq(same, 1) == is(0.5));
    same.scale.reset();
    same.root_of = 2;
    CHECK(dq(same, 1) == irrational);
    same.scale = fraction(0);
    CHECK(dq(same, 0) == is(fraction(0)));
}

TEST_CASE("dq where all keys are one", "[oracle]") {
    row r = row_of({1, 2}, {3, 0.1, 3, 0.1, 3, 0.1}, {1, 5, 7});
    r.bias = {0, 1, 0.5};
    CHECK(dq(r) == is(0.0));
    CHECK(ds(r) == irrational);
    r.score = score_kind::additive;
    r.cap = 5.0;
    CHECK(dq(r, 1) == is(0.0));
    r.score = score_kind::scaled;
    r.rotated = 2;
    r.positions = {4, 4, 4};
    CHECK(dq(r, 1) == is(0.0));
    r.positions = {4, 4, 3};
    CHECK(dq(r, 1) == unknown);
    r.rotated = 0;
    r.cap.reset();
    r.sink = 1.0; // D is not the mean over the keys alone
    CHECK(dq(r) == irrational);
}

TEST_CASE("gradients through a soft cap", "[oracle]") {
    row r = row_of({1}, {1, 1, 1}, {1, 2, 6});
    r.k = {2, 2, 2};
    r.cap = 2.0;
    CHECK(ds(r, 2) == is(1.0));
    CHECK(dq(r) == is(0.0)); // one key
    CHECK(dk(r, 2) == irrational);
    r = row_of({1, 0}, {2, 1, 2, 0, 2, 5}, {1, 2, 6});
    r.cap = 2.0;
    CHECK(dq(r, 0) == is(0.0));
    CHECK(dq(r, 1) == irrational);
    CHECK(dk(r, 2, 1) == is(0.0));
    r.q = {0, 0}; // tanh′(0) = 1
    CHECK(dq(r, 1) == is(fraction(-2 + 0 + 15, 3)));
    // Raw scores 2 and 0: a group each, of mean 2, without covariance.
    r = row_of({1, 0}, {2, 1, 2, 1, 0, 5}, {1, 3, 2});
    r.cap = 2.0;
    CHECK(dq(r, 1) == is(0.0));
    r.k = {2, 1, 2, 2, 0, 5};
    CHECK(dq(r, 1) == unknown);
    // Both groups have the covariance 1/2, which h counts differently in each.
    r = row_of({1, 0}, {2, 1, 2, 2, 0, 1, 0, 2}, {1, 3, 1, 3});
    CHECK(dq(r, 1) == is(0.5));
    r.cap = 2.0;
    CHECK(dq(r, 1) == unknown);
}

TEST_CASE("components that RoPE does not turn", "[oracle]") {
    row r = row_of({1, 1, 1}, {1, 0, 1, 1, 0, 1, 0, 2, 4}, {1, 3, 2});
    r.rotated = 2;
    r.position = 1;
    r.positions = {7, 7, 2};
    CHECK(dq(r, 2) == is(0.0)); // two groups of mean 2, without covariance
    CHECK(dq(r, 0) == unknown);
    CHECK(ds(r, 2) == is(0.0));
    CHECK(dk(r, 2, 0) == is(0.0));
    CHECK(dk(r, 0, 0) == unknown);
    r.q = {0, 0, 0};
    CHECK(!ds(r, 0).is_zero());
    CHECK(dk(r, 0, 0) == is(0.0));
}

TEST_CASE("many groups", "[oracle]") {
    // More than the sums of two scores are looked at for: only the means speak.
    std::vector<double> k, v;
    for (int j = 0; j < 200; ++j) {
        const bool even = j % 2 == 0;
        k.insert(k.end(), {static_cast<double>(j / 2), static_cast<double>(even ? j : -j)});
        v.push_back(even ? 1 : 3);
    }
    row r = row_of({1, 0}, k, v);
    CHECK(dq(r, 0) == is(0.0));
    CHECK(dq(r, 1) == unknown);
    CHECK(ds(r, 7) == irrational);
}

TEST_CASE("sums over rows", "[oracle]") {
    // dk of key 0 from three rows: of one key, of equal scores, and of zeros in dz.
    const row one = row_of({3}, {0.1}, {7});
    row equal = row_of({2}, {4, 4, 4, 4}, {1, 2, 3, 4});
    row nothing = row_of({5}, {0.1, 4}, {7, 1});
    nothing.dz = {0};
    const auto sum = [&](std::initializer_list<row> rows) {
        exact_sum s;
        for (const row& r : rows) s.add(facts(r).say.dk_before_scale(0, 0));
        return s.result();
    };
    CHECK(sum({one, equal, nothing}) == is(-0.75)); // 2 · (1 − 2.5)/4
    CHECK(times(sum({one, equal, nothing}), std::nullopt) == irrational);
    row other = row_of({1}, {0, 1}, {1, 2});
    CHECK(sum({one, other}) == irrational);
    CHECK(sum({other, other}) == unknown);
}

TEST_CASE("softmax and its gradient", "[oracle]") {
    const std::vector<double> x{0.1, 0.1, 3}, da{1, 3, 2};
    decided_inputs in;
    in.bias = x;
    in.da = da;
    const decided_row several(in);
    CHECK(several.weight(0) == irrational);
    CHECK(several.ds(2) == is(0.0));
    CHECK(several.ds(0) == irrational);
    CHECK(several.lse() == irrational);
    CHECK(several.score(2) == is(3.0));
    in.bias = std::span(x).first(2);
    in.da = std::span(da).first(2);
    const decided_row equal(in);
    CHECK(equal.weight(1) == is(0.5));
    CHECK(equal.ds(0) == is(-0.5));
}

TEST_CASE("gradients of what is not finite", "[oracle]") {
    const double inf = kernels::infinity;
    row r = row_of({0}, {1, 2}, {1, 2, 1, 2});
    CHECK(all_zero(r));
    r.dz[1] = inf;
    CHECK(!all_zero(r));
    CHECK(ds(r) == unknown);
    CHECK(dq(r) == unknown);
    CHECK(dv(r, 0, 0) == is(0.5));
    CHECK(dv(r, 0, 1) == unknown);
    r = row_of({0}, {1, 2}, {1, 2, 1, inf});
    CHECK(ds(r) == unknown);
    r = row_of({inf}, {1, 2}, {1, 1});
    CHECK(!all_zero(r));
    CHECK(ds(r) == unknown);
    CHECK(dk(r) == unknown);
}
