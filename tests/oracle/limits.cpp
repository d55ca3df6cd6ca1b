// SPDX-License-Identifier: BSL-1.0
// The certain limit against adversaries: kernels that make every error that their arithmetic allows them, all the same way. They must stay inside.
#include "attest/oracle/limits_sums.hpp"
#include "catch.hpp"
#include "kernels.hpp"

using namespace attest;
using kernels::generator;
using wide = long double;

namespace {

int sign(wide x) { return x < 0 ? -1 : 1; }

// One query with one output component, and its exact stages in long double: 2^−64 is nothing beside the errors that are allowed.
struct row {
    std::size_t d = 1;
    std::vector<std::vector<double>> k;
    std::vector<double> q, v, bias;
    double scale = 1;
    row_facts facts;
    std::vector<wide> score, weight;
    wide out = 0, lse = 0;

    void complete() {
        const std::size_t n = v.size();
        facts = {};
        wide greatest = -INFINITY, sum = 0;
        for (std::size_t j = 0; j < n; ++j) {
            wide s = 0, size = 0, operands = 0;
            for (std::size_t c = 0; c < d; ++c) {
                s += static_cast<wide>(q[c]) * k[j][c] * scale;
                size += std::fabs(static_cast<wide>(q[c]) * k[j][c] * scale);
                operands += std::fabs(q[c]) + std::fabs(k[j][c]);
            }
            facts.scaled.push_back(static_cast<double>(s));
            facts.sizes.push_back(
                {.terms = static_cast<double>(size / std::fabs(static_cast<wide>(scale))), .operands = static_cast<double>(operands)});
            score.push_back(s + (bias.empty() ? 0 : bias[j]));
            greatest = std::max(greatest, score[j]);
        }
        for (const wide s : score) sum += std::exp(s - greatest);
        lse = greatest + std::log(sum);
        for (std::size_t j = 0; j < n; ++j) {
            weight.push_back(std::exp(score[j] - greatest) / sum);
            out += weight[j] * v[j];
            facts.score.push_back(static_cast<double>(score[j]));
            facts.weight.push_back(static_cast<double>(weight[j]));
        }
        facts.lse = static_cast<double>(lse);
        facts.rule = score_rule::dot(d, scale);
        facts.mask = bias;
    }
    [[nodiscard]] double limit(const row_limits& limits) const {
        return certain_output(limits, static_cast<double>(out), [&](std::size_t j) { return v[j]; }).limit;
    }
};

row draw_row(generator& r, std::size_t n, const format& f, double logits) {
    row x;
    x.d = 1 + r.below(16);
    x.scale = 1 / std::sqrt(static_cast<double>(x.d));
    x.q = kernels::draw(r, x.d, 0, logits, f);
    const double means[] = {0, 0, 1, 4};
    x.v = kernels::draw(r, n, means[r.below(4)], r.below(3) == 0 ? 0.01 : 1, f);
    for (std::size_t j = 0; j < n; ++j) x.k.push_back(kernels::draw(r, x.d, 0, 1, f));
    switch (r.below(6)) {
    case 0: for (double& q : x.q) q = 0; break;                                  // all weights equal
    case 1: for (std::size_t j = 1; j < n; ++j) x.k[j] = x.k[0]; break;
    case 2: for (std::size_t j = 1; j < n; ++j) x.v[j] = 0; break;               // one value that is not 0
    case 3: x.bias = kernels::draw(r, n, 0, 1, f); break;
    default: break;
    }
    x.complete();
    return x;
}

// What every single operation may do, all of it in the direction that moves the output to `up` (+1 or −1). The errors of operations whose sign the
// adversary could not choose freely in a real kernel (a stored q_c acts on every key) are chosen freely here: that is stronger still.
struct adversary {
    const arithmetic& a;
    const row& x;
    int up;
    bool sum_of_stored;
    std::size_t block;

    // A stored weight; 1 can be stored, so what is near it moves no farther than that.
    [[nodiscard]] static wide keep(wide p, double unit, int direction) {
        const wide most = p * static_cast<wide>(unit), to_one = std::fabs(p - 1);
        return p + direction * (to_one < most ? to_one : most);
    }
    [[nodiscard]] wide push(wide value, int direction) const { return value * (1 + sign(value) * direction * static_cast<wide>(a.unit)); }
    [[nodiscard]] wide exponential(wide t, int direction) const {
        return std::exp(t) * (1 + direction * (static_cast<wide>(a.exp_relative) + static_cast<wide>(a.exp_slope) * std::fabs(t)));
    }
    [[nodiscard]] wide score(std::size_t j, int direction) const {
        wide sum = 0;
        for (std::size_t c = 0; c < x.d; ++c) {
            wide term = static_cast<wide>(x.q[c]) * x.k[j][c];
            const wide raise = 1 + sign(term) * direction * static_cast<wide>(a.operand),
                       stored = 1 + sign(term) * direction * static_cast<wide>(a.query_key);
            term = push(term * raise * raise * stored * stored, direction);
            sum = c == 0 ? term : push(sum + term, direction);
        }
        wide s = sum * x.scale;
        for (int k = 0; k < 5; ++k) s = push(s, direction); // scale, its own roundings, log2 e
        s *= 1 + sign(s) * direction * static_cast<wide>(a.score);
        if (!x.bias.empty()) {
            s = push(s + x.bias[j], direction);
            s *= 1 + sign(s) * direction * static_cast<wide>(a.score);
        }
        return s;
    }
    // The weight of key j, raised or lowered against all others; stored, and divided by a sum of stored ones.
    [[nodiscard]] wide weight(std::size_t j) const {
        const std::size_t n = x.v.size();
        std::vector<wide> s(n);
        wide m = -INFINITY, l = 0, mine = 0;
        for (std::size_t k = 0; k < n; ++k) {
            s[k] = score(k, k == j ? up : -up);
            m = std::max(m, s[k]);
        }
        for (std::size_t k = 0; k < n; ++k) {
            const int direction = k == j ? up : -up;
            wide p = exponential(push(s[k] - m, direction), direction);
            const wide stored = p * (1 + direction * static_cast<wide>(a.weight));
            if (k == j) mine = stored;
            l = push(l + (sum_of_stored ? stored : p), -up);
        }
        return push(push(mine, up) / l, up);
    }
    [[nodiscard]] wide lse() const {
        const std::size_t n = x.v.size();
        std::vector<wide> s(n);
        wide m = -INFINITY, l = 0;
        for (std::size_t k = 0; k < n; ++k) {
            s[k] = score(k, up);
            m = std::max(m, s[k]);
        }
        for (std::size_t k = 0; k < n; ++k) l = push(l + exponential(push(s[k] - m, up), up), up);
        const wide log = std::log(l) * (1 + up * static_cast<wide>(a.exp_relative)); // as good as exp
        return push(m + log, up);
    }
    // The output of a blockwise kernel.
    [[nodiscard]] wide out() const {
        const std::size_t n = x.v.size();
        std::vector<wide> s(n);
        std::vector<int> raise(n);
        for (std::size_t j = 0; j < n; ++j) {
            raise[j] = up * sign(x.v[j] - x.out);
            s[j] = score(j, raise[j]);
        }
        wide m = -INFINITY, l = 0, sum = 0;
        for (std::size_t first = 0; first < n; first += block) {
            const std::size_t last = std::min(n, first + block);
            wide top = m;
            for (std::size_t j = first; j < last; ++j) top = std::max(top, s[j]);
            if (top != m && l != 0) {
                const int direction = up * sign(sum / l - x.out);
                const wide rescale = exponential(push(m - top, direction), direction);
                sum = push(sum * rescale, up);
                l = push(l * rescale, -up * sign(x.out));
            }
            m = top;
            for (std::size_t j = first; j < last; ++j) {
                wide p = exponential(push(s[j] - m, raise[j]), raise[j]);
                const int direction = sum_of_stored ? raise[j] : up * sign(x.v[j]);
                const wide stored = keep(keep(p, a.weight, direction), a.operand, direction);
                l = push(l + (sum_of_stored ? stored : p), -up * sign(x.out));
                const wide v = x.v[j] * (1 + up * sign(x.v[j]) * static_cast<wide>(a.operand));
                sum = push(sum + push(stored * v, up), up);
            }
        }
        return push(push(sum, up) / l, up); // times a reciprocal
    }
};

} // namespace

TEST_CASE("an adversary that uses every allowance stays inside the certain limit", "[oracle]") {
    generator r(7);
    for (const arithmetic& a : arithmetics) {
        double of_out = 0, of_weight = 0, of_lse = 0;
        for (int run = 0; run < 300; ++run) {
            const std::size_t lengths[] = {1, 2, 3, 4, 8, 16, 33, 100};
            const double logits[] = {0.1, 1, 10, 100};
            const std::size_t n = lengths[r.below(8)];
            const row x = draw_row(r, n, formats::bf16, logits[r.below(4)]);
            const row_limits limits(a, x.facts);
            const std::size_t j = r.below(n);
            for (const int up : {1, -1})
                for (const bool sum_of_stored : {false, true}) {
                    const adversary kernel{a, x, up, sum_of_stored, r.below(2) == 0 ? 1 : 1 + r.below(n)};
                    const auto holds = [&](const char* what, wide made, wide exact, double limit, double& greatest) {
                        const auto error = static_cast<double>(std::fabs(made - exact));
                        greatest = std::max(greatest, error / limit);
                        if (!(error <= limit)) {
                            CAPTURE(a.name, what, run, n, x.d, up, sum_of_stored, kernel.block, x.v, x.facts.score, j, error, limit);
                            CHECK(error <= limit);
                        }
                    };
                    holds("out", kernel.out(), x.out, x.limit(limits), of_out);
                    holds("weight", kernel.weight(j), x.weight[j], limits.weight(j).limit, of_weight);
                    if (!sum_of_stored) holds("lse", kernel.lse(), x.lse, limits.lse(), of_lse);
                }
        }
        INFO(a.name << ": the greatest errors, in units of the limit: out " << of_out << ", weight " << of_weight << ", lse " << of_lse);
        CHECK(of_out < 1);
        CHECK(of_out > 0.5); // the adversary is one
        CHECK(of_weight > 0.3);
        CHECK(of_lse > 0.2);
    }
}

namespace {
// A row with d_k = 1, q = 1 and scale 1: the keys are the scores.
row row_of(std::vector<double> scores, std::vector<double> v) {
    row x;
    x.q = {1};
    for (const double s : scores) x.k.push_back({s});
    x.v = std::move(v);
    x.complete();
    return x;
}
const arithmetic& named(const char* name) { return *find_arithmetic(name); }
} // namespace

TEST_CASE("a weaker arithmetic has a wider limit", "[oracle]") {
    generator r(8);
    const std::pair<const char*, const char*> pairs[] = {{"f64", "f32"},     {"f32", "tf32"},      {"f32", "bf16+f32"},
                                                         {"f32", "f16+f32"}, {"bf16+f32", "bf16"}, {"f16+f32", "f16"}};
    for (int run = 0; run < 200; ++run) {
        const std::size_t n = 1 + r.below(20);
        const row x = draw_row(r, n, formats::bf16, 1);
        for (const auto& [strict, loose] : pairs) {
            const row_limits tight(named(strict), x.facts), wide_limits(named(loose), x.facts);
            const std::size_t j = r.below(n);
            CAPTURE(strict, loose, n);
            if (!(x.limit(tight) <= x.limit(wide_limits) && tight.weight(j).limit <= wide_limits.weight(j).limit &&
                  tight.lse() <= wide_limits.lse() && tight.score(j) <= wide_limits.score(j)))
                FAIL_CHECK("the limit of the weaker arithmetic is narrower");
        }
    }
}

TEST_CASE("the limits are not wider than they need be", "[oracle]") {
    // Weights in f64 that are near 1, and near 0: a few units in the last place (once 10^7 of them).
    const row x = row_of({0, 5}, {1, 2});
    const row_limits f64(named("f64"), x.facts);
    CHECK(f64.weight(1).limit < 128 * 0x1p-53); // it may be e^(s − lse), with lse near 5
    CHECK(f64.weight(0).limit < 192 * 0x1p-53 * x.facts.weight[0]);
    CHECK(f64.lse() < 32 * 0x1p-53 * 5);
    // A constant v: nothing acts through v − o.
    const row constant = row_of({100, 101, 99, 100.5}, {3, 3, 3, 3});
    CHECK(constant.limit(row_limits(named("f32"), constant.facts)) < 36 * 0x1p-24 * 3);
    // One key: no weight can move it.
    const row one = row_of({100}, {3});
    CHECK(one.limit(row_limits(named("bf16+f32"), one.facts)) < 3 * 1.01 * 0x1p-8);
    // The hull of v cuts what scores of 10^4 in bf16 would do.
    const row far = row_of({10000, 9000, 0}, {1, 2, 3});
    CHECK(far.limit(row_limits(named("bf16"), far.facts)) < 2 + 3 * 3 * 0x1p-8);
}

TEST_CASE("limits where the factors leave the range of double, and where nothing can be said", "[oracle]") {
    // The second key can catch up with the first, and the first then weigh anything: once lost in a difference of sums.
    const row close = row_of({10000, 9950}, {1, 2});
    const row_limits bf16(named("bf16"), close.facts);
    CHECK(bf16.weight(0).limit >= 0.5);
    CHECK(bf16.weight(1).limit >= 0.5);
    CHECK(close.limit(bf16) >= 0.5);
    // Weights far below the range of double.
    const row steep = row_of({0, -800, -2000}, {1, 1e30, 1e300});
    const row_limits f64(named("f64"), steep.facts);
    CHECK(steep.limit(f64) >= 0x1p-1022 * 1e300); // exp may be 0 there
    CHECK(std::isfinite(steep.limit(f64)));
    CHECK(f64.weight(2).limit >= 0x1p-1022);
    // A score that overflows f16, and one that overflows f32 on the way.
    CHECK(row_limits(named("f16"), row_of({70000, 0}, {1, 2}).facts).unbounded());
    CHECK(!row_limits(named("f16+f32"), row_of({70000, 0}, {1, 2}).facts).unbounded());
    CHECK(row_limits(named("f32"), row_of({1e38, 3e38}, {1, 2}).facts).unbounded());
    // Σ |v| overflows f32 if it is not divided first.
    const row heavy = row_of({0, 0, 0}, {2e38, -2e38, 1e38});
    CHECK(!std::isfinite(heavy.limit(row_limits(named("f32"), heavy.facts))));
    CHECK(std::isfinite(heavy.limit(row_limits(named("f64"), heavy.facts))));
    // Sums that are too long for the unit.
    arithmetic coarse = named("f32");
    coarse.unit = 0.1;
    CHECK(row_limits(coarse, close.facts).unbounded());
    CHECK(close.limit(row_limits(coarse, close.facts)) == kernels::infinity);
    // No key: the result is decided.
    const row_facts none;
    const row_limits empty(named("f32"), none);
    CHECK(empty.lse() == 0);
    CHECK(certain_output(empty, 0, [](std::size_t) { return 0.0; }).limit == 0);
}

TEST_CASE("half a ULP of the store", "[oracle]") {
    CHECK(half_ulp_of_store(formats::f32, 1) == 0x1p-24);
    CHECK(half_ulp_of_store(formats::bf16, 1.99) == 0x1p-8);
    CHECK(half_ulp_of_store(formats::f32, 0x1p-130) == 0x1p-150);
    CHECK(half_ulp_of_store(formats::f16, 65504) == kernels::infinity);
    CHECK(half_ulp_of_store(formats::f16, 65503) == 16);
    CHECK(half_ulp_of_store(formats::f64, std::numeric_limits<double>::quiet_NaN()) == kernels::infinity);
}
