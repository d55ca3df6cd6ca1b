// SPDX-License-Identifier: BSL-1.0
// The exact rows against the same formulas written out plainly in 100 digits, with Boost's exp and log: values, visibility, and whether the radius
// holds the difference.
#include "attest/oracle/exact.hpp"
#include "catch.hpp"
#include "kernels.hpp"

using namespace attest;
using kernels::generator;

namespace {

namespace mp = boost::multiprecision;
using hundred = real<100>::number;

hundred wide(const exact_number& x) { return hundred(x.value()); }
hundred wide(double x) { return hundred(x); }

// Where the estimate is below what any format can tell from 0, double holds it as 0.
bool holds(const exact_number& value, double radius, const hundred& truth) {
    const hundred off = mp::abs(wide(value) - truth);
    return off <= wide(radius) || off < mp::ldexp(hundred(1), -1100);
}

array doubles(std::vector<std::size_t> shape, const std::vector<double>& values) {
    array a{dtype::f64, std::move(shape), {}};
    a.data.resize(values.size() * sizeof(double));
    for (std::size_t i = 0; i < values.size(); ++i) encode(a, i, values[i]);
    return a;
}

struct truth_row {
    std::vector<bool> visible;
    std::vector<hundred> raw, score, weight, out;
    hundred lse;
};

struct heads {
    std::size_t h_q = 1, h_k = 1, n_q = 1, n_k = 1, d_k = 1, d_v = 1;
    std::vector<double> q, k, v, bias; // bias: n_q × n_k or empty
    conventions how;

    // What Q K V are, head by head, in the declared layout.
    [[nodiscard]] double at(const std::vector<double>& x, std::size_t n_heads, std::size_t n, std::size_t d, std::size_t h, std::size_t i, std::size_t c) const {
        if (how.layout == tensor_layout::bnhd) return x[(i * n_heads + h) * d + c];
        if (how.layout == tensor_layout::nbd) return x[(i * n_heads + h) * d + c];
        return x[(h * n + i) * d + c];
    }
    [[nodiscard]] std::vector<std::size_t> shape(std::size_t n_heads, std::size_t n, std::size_t d) const {
        if (how.layout == tensor_layout::bhnd) return {n_heads, n, d};
        return {n, n_heads, d};
    }
    [[nodiscard]] truth_row row(std::size_t h, std::size_t i) const {
        const std::size_t h_from = h * h_k / h_q;
        const hundred scale = how.dot_score() ? hundred(1) : how.scale ? hundred(*how.scale) : 1 / mp::sqrt(hundred(d_k));
        truth_row t;
        hundred greatest = 0, sum = 0;
        bool any = false;
        for (std::size_t j = 0; j < n_k; ++j) {
            hundred raw = 0;
            for (std::size_t c = 0; c < d_k; ++c) raw += wide(at(q, h_q, n_q, d_k, h, i, c)) * wide(at(k, h_k, n_k, d_k, h_from, j, c));
            bool visible = bias.empty() || bias[i * n_k + j] != -kernels::infinity;
            if (how.causal == causal_alignment::top_left) visible = visible && j <= i;
            if (how.causal == causal_alignment::bottom_right) visible = visible && static_cast<long>(j) <= static_cast<long>(i + n_k) - static_cast<long>(n_q);
            t.raw.push_back(raw);
            t.visible.push_back(visible);
            t.score.push_back(raw * scale + (visible && !bias.empty() ? wide(bias[i * n_k + j]) : hundred(0)));
            if (visible && (!any || t.score[j] > greatest)) greatest = t.score[j];
            any = any || visible;
        }
        t.out.assign(d_v, 0);
        for (std::size_t j = 0; j < n_k; ++j) {
            t.weight.push_back(t.visible[j] ? hundred(mp::exp(hundred(t.score[j] - greatest))) : hundred(0));
            sum += t.weight[j];
        }
        for (std::size_t j = 0; j < n_k; ++j)
            if (any) {
                t.weight[j] /= sum;
                if (t.visible[j])
                    for (std::size_t c = 0; c < d_v; ++c) t.out[c] += t.weight[j] * wide(at(v, h_k, n_k, d_v, h_from, j, c));
            }
        if (any) t.lse = greatest + mp::log(sum);
        return t;
    }
    [[nodiscard]] attention_problem problem() const {
        const array q_array = doubles(shape(h_q, n_q, d_k), q), k_array = doubles(shape(h_k, n_k, d_k), k), v_array = doubles(shape(h_k, n_k, d_v), v);
        const array mask = doubles({bias.empty() ? 0 : n_q, n_k}, bias);
        std::vector<named_view> given{{"q", q_array}, {"k", k_array}, {"v", v_array}};
        if (!bias.empty()) given.emplace_back("mask", mask);
        return make_attention_problem(how, given);
    }
};

heads draw_heads(generator& r) {
    heads x;
    const std::size_t groups[][2] = {{1, 1}, {2, 2}, {4, 2}, {6, 3}, {3, 1}};
    const auto& group = groups[r.below(5)];
    x.h_q = group[0];
    x.h_k = group[1];
    x.n_q = 1 + r.below(5);
    x.n_k = 1 + r.below(7);
    x.d_k = 1 + r.below(6);
    x.d_v = r.below(4);
    const format f = formats::f64;
    x.q = kernels::draw(r, x.h_q * x.n_q * x.d_k, 0, 1, f);
    x.k = kernels::draw(r, x.h_k * x.n_k * x.d_k, 0, 1, f);
    x.v = kernels::draw(r, x.h_k * x.n_k * x.d_v, 0, 1, f);
    if (r.below(2) == 0) {
        x.bias = kernels::draw(r, x.n_q * x.n_k, 0, 1, f);
        for (double& b : x.bias) b = r.below(3) == 0 ? -kernels::infinity : b;
    }
    x.how.op = "attention";
    x.how.causal = static_cast<causal_alignment>(r.below(3));
    x.how.layout = static_cast<tensor_layout>(r.below(3));
    if (r.below(3) == 0) x.how.scale = "0.3";
    else x.how.score = r.below(3) == 0 ? attest::score_kind::dot : attest::score_kind::scaled;
    return x;
}

// Inputs that lose digits.
void make_hostile(heads& x, generator& r) {
    const auto times = [](std::vector<double>& values, double factor) {
        for (double& value : values) value *= factor;
    };
    switch (r.below(9)) {
    case 0: times(x.q, 1e2), times(x.k, 1e2); break;                       // logits to 1e4
    case 1: times(x.q, 1e15), times(x.k, 1e15); break;                     // and far beyond what f64 can do
    case 2: times(x.v, 1e-300); break;
    case 3: times(x.q, 1e-300), times(x.v, 1e300); break;
    case 4: times(x.q, 1e-200), times(x.k, 1e-200); break;                 // products below the range of double
    case 5:                                                                // V cancels
        for (std::size_t e = 0; e + 1 < x.v.size(); e += 2) x.v[e + 1] = -x.v[e];
        times(x.q, 1e-9);
        break;
    case 6:                                                                // scores cancel
        for (std::size_t e = 0; e + 1 < x.k.size(); e += 2) x.k[e + 1] = -x.k[e] * (1 + 1e-15);
        for (double& q : x.q) q = 1e8;
        break;
    case 7:                                                                // one key far above the others, with v = 0
        if (x.bias.empty()) x.bias.assign(x.n_q * x.n_k, 0);
        for (double& b : x.bias) b = r.below(2) == 0 ? -800 : b;
        times(x.v, 1e300);
        break;
    default: times(x.v, 1e-20); break;
    }
}

void compare(const heads& x, double& greatest_share) {
    const attention_problem p = x.problem();
    for_each_row(p, true, [&](std::size_t slice, std::size_t i, const exact_row& row, const exact_attention&) {
        const truth_row t = x.row(slice, i);
        CAPTURE(slice, i, x.h_q, x.h_k, x.n_q, x.n_k, x.d_k, x.d_v, static_cast<int>(x.how.layout), static_cast<int>(x.how.causal), x.q, x.k, x.v, x.bias);
        std::vector<std::size_t> visible;
        for (std::size_t j = 0; j < x.n_k; ++j)
            if (t.visible[j]) visible.push_back(j);
        if (row.visible != visible) FAIL_CHECK("the visible keys differ");
        if (!row.finite_inputs) FAIL_CHECK("finite inputs are called infinite");
        const auto check = [&](const char* what, std::size_t at, const exact_number& value, double radius, const hundred& truth) {
            if (!holds(value, radius, truth)) {
                CAPTURE(what, at, value.text(60), radius, truth.str(60, std::ios_base::fmtflags{}));
                CHECK(holds(value, radius, truth));
            }
            if (radius > 1e-290) greatest_share = std::max(greatest_share, hundred(mp::abs(wide(value) - truth) / radius).convert_to<double>());
        };
        for (std::size_t j = 0; j < x.n_k; ++j) {
            check("raw score", j, row.raw_scores(j), 0x1p-180 * row.raw_size[j], t.raw[j]);
            if (!t.visible[j]) {
                if (!row.weights(j).is_zero()) FAIL_CHECK("a key that is not visible has a weight");
                continue;
            }
            check("score", j, row.scores(j), row.score_radius[j], t.score[j]);
            check("weight", j, row.weights(j), static_cast<double>(row.weights(j)) * row.weight_radius, t.weight[j]);
        }
        for (std::size_t c = 0; c < x.d_v; ++c) check("out", c, row.out(c), row.out_radius[c], t.out[c]);
        if (visible.empty()) {
            if (row.lse.is_finite() || !row.lse.is_negative()) FAIL_CHECK("lse of no key is not -inf");
        } else check("lse", 0, row.lse, row.lse_radius, t.lse);
    });
}

} // namespace

TEST_CASE("the exact rows are the formulas, for masks, alignments, grouped heads and layouts", "[oracle]") {
    generator r(1);
    double share = 0;
    for (int run = 0; run < 150; ++run) compare(draw_heads(r), share);
    INFO("the greatest difference is " << share << " of the radius");
    CHECK(share < 1);
}

TEST_CASE("the radius holds the difference to 100 digits on hostile inputs", "[oracle]") {
    generator r(2);
    double share = 0;
    for (int run = 0; run < 250; ++run) {
        heads x = draw_heads(r);
        make_hostile(x, r);
        compare(x, share);
    }
    INFO("the greatest difference is " << share << " of the radius");
    CHECK(share < 1);
}

TEST_CASE("softmax along any axis, with -inf, and with no finite value", "[oracle]") {
    generator r(3);
    for (int run = 0; run < 60; ++run) {
        const std::vector<std::size_t> shape{1 + r.below(3), 1 + r.below(5), 1 + r.below(4)};
        const double factors[] = {1, 100, 1e4, 1e300};
        std::vector<double> x = kernels::draw(r, shape[0] * shape[1] * shape[2], 0, factors[r.below(4)], formats::f64);
        if (run % 3 == 0)
            for (double& value : x) value = r.below(3) == 0 ? -kernels::infinity : value;
        conventions how;
        how.op = "softmax";
        how.axis = static_cast<int>(r.below(6)) - 3;
        const array x_array = doubles(shape, x);
        const softmax_problem p = make_softmax_problem(how, {{"x", x_array}});
        const std::size_t axis = static_cast<std::size_t>(how.axis < 0 ? how.axis + 3 : how.axis);
        std::size_t seen = 0;
        for (std::size_t fibre = 0; fibre < p.fibres(); ++fibre) {
            const exact_row row = exact_softmax(p, fibre);
            // The fibre's members, found from their indices.
            std::vector<std::size_t> at;
            for (std::size_t e = 0; e < x.size(); ++e) {
                std::size_t index[3] = {e / (shape[1] * shape[2]), e / shape[2] % shape[1], e % shape[2]}, first[3];
                const std::size_t start = p.first(fibre);
                first[0] = start / (shape[1] * shape[2]), first[1] = start / shape[2] % shape[1], first[2] = start % shape[2];
                index[axis] = first[axis] = 0;
                if (std::equal(index, index + 3, first)) at.push_back(e);
            }
            REQUIRE(at.size() == shape[axis]);
            double greatest = -kernels::infinity;
            for (const std::size_t e : at) greatest = std::max(greatest, x[e]);
            hundred sum = 0;
            for (const std::size_t e : at)
                if (x[e] != -kernels::infinity) sum += mp::exp(hundred(wide(x[e]) - wide(greatest)));
            for (std::size_t j = 0; j < at.size(); ++j, ++seen) {
                REQUIRE(p.first(fibre) + j * p.stride() == at[j]);
                if (greatest == -kernels::infinity) {
                    CHECK(row.weights(j).is_nan());
                    continue;
                }
                const hundred truth = x[at[j]] == -kernels::infinity ? hundred(0) : hundred(mp::exp(hundred(wide(x[at[j]]) - wide(greatest))) / sum);
                const double radius = static_cast<double>(row.weights(j)) * row.weight_radius;
                if (!holds(row.weights(j), radius, truth)) {
                    CAPTURE(x, how.axis, fibre, j, row.weights(j).text(60), radius, truth.str(60, std::ios_base::fmtflags{}));
                    CHECK(holds(row.weights(j), radius, truth));
                }
            }
            if (greatest != -kernels::infinity) CHECK(mp::abs(wide(row.lse) - (wide(greatest) + mp::log(sum))) <= 1e-40 * (1 + std::fabs(greatest)));
        }
        CHECK(seen == x.size());
    }
}

TEST_CASE("what is not finite is marked, seen or not", "[oracle]") {
    heads x{1, 1, 1, 2, 1, 1, {1}, {1, 2}, {1, 2}, {}, {}};
    x.how.op = "attention";
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const auto finite = [](const heads& of) {
        bool result = true;
        for_each_row(of.problem(), false, [&](std::size_t, std::size_t, const exact_row& row, const exact_attention&) { result = row.finite_inputs; });
        return result;
    };
    CHECK(finite(x));
    for (double bad : {nan, kernels::infinity, -kernels::infinity}) {
        heads other = x;
        other.v[1] = bad;
        CHECK(!finite(other));
        other.bias = {0, -kernels::infinity}; // the bad key is hidden
        CHECK(finite(other));
        other = x;
        other.k[1] = bad;
        CHECK(!finite(other));
        other.bias = {0, -kernels::infinity};
        CHECK(finite(other));
        other = x;
        other.q[0] = bad;
        CHECK(!finite(other));
    }
    heads huge = x;
    huge.q[0] = huge.k[0] = 1e200; // the product leaves the range of double
    CHECK(!finite(huge));
}
