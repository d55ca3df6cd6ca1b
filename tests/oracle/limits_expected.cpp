// SPDX-License-Identifier: BSL-1.0
// The expected limit of the output: right kernels stay inside, also where errors are not independent; it is near enough to what they do; and it sees
// what the certain one does not.
#include "limits_rows.hpp"
#include "catch.hpp"

using namespace limit_rows;
using kernels::generator;
using kernels::inputs;
using kernels::kernel;
using kernels::style;

namespace {

struct family {
    const char* name;
    void (*change)(inputs&, generator&, const format&);
};
void all_of(std::vector<double>& x, const format& f, double value) { std::fill(x.begin(), x.end(), round_to(f, value)); }
void add(std::vector<double>& x, const format& f, double factor, double term) {
    for (double& value : x) value = round_to(f, factor * value + term);
}
constexpr family families[] = {
    {"normal", [](inputs&, generator&, const format&) {}},
    {"v mean 1", [](inputs& in, generator&, const format& f) { add(in.v, f, 1, 1); }},
    {"v mean 4", [](inputs& in, generator&, const format& f) { add(in.v, f, 0.05, 4); }},
    {"v constant", [](inputs& in, generator&, const format& f) { all_of(in.v, f, 1.7); }},
    {"q = 0", [](inputs& in, generator&, const format& f) { all_of(in.q, f, 0), add(in.v, f, 1, 2); }},
    {"two kinds of keys",
     [](inputs& in, generator& r, const format&) {
         for (std::size_t j = 2; j < in.n_k; ++j)
             for (std::size_t c = 0, kind = r.below(2); c < in.d_k; ++c)
                 in.k[j * in.d_k + c] = in.k[kind * in.d_k + c], in.v[j * in.d_v + c] = in.v[kind * in.d_v + c];
     }},
    {"spread 1e-2", [](inputs& in, generator& r, const format& f) { spread_keys(in, r, f, 1e-2); }},
    {"spread 1e-3, v follows", [](inputs& in, generator& r, const format& f) { spread_keys(in, r, f, 1e-3), follow_keys(in); }},
    {"spread 5e-4, k = v", [](inputs& in, generator& r, const format& f) { spread_keys(in, r, f, 5e-4), in.v = in.k; }},
    {"spread 0.1 about 20, v follows", [](inputs& in, generator& r, const format& f) { spread_keys(in, r, f, 0.1, 20), follow_keys(in); }},
    {"spread 1 about 20, v follows", [](inputs& in, generator& r, const format& f) { spread_keys(in, r, f, 1, 20), follow_keys(in); }},
    {"k = v", [](inputs& in, generator&, const format&) { in.v = in.k; }},
    {"k = v = 1 or -1",
     [](inputs& in, generator&, const format&) {
         for (double& k : in.k) k = k > 0 ? 1 : -1;
         in.v = in.k;
     }},
    {"v = score",
     [](inputs& in, generator&, const format& f) {
         for (std::size_t j = 0; j < in.n_k; ++j) {
             double s = 0;
             for (std::size_t c = 0; c < in.d_k; ++c) s += in.q[c] * in.k[j * in.d_k + c];
             for (std::size_t e = 0; e < in.d_v; ++e) in.v[j * in.d_v + e] = round_to(f, s / 8);
         }
     }},
    {"v = 1, then -1",
     [](inputs& in, generator&, const format&) {
         for (std::size_t e = 0; e < in.v.size(); ++e) in.v[e] = e < in.v.size() / 2 ? 1 : -1;
     }},
    {"scores ascend",
     [](inputs& in, generator&, const format& f) {
         all_of(in.q, f, 1);
         for (std::size_t j = 0; j < in.n_k; ++j)
             for (std::size_t c = 0; c < in.d_k; ++c) in.k[j * in.d_k + c] = round_to(f, static_cast<double>(j) / static_cast<double>(in.n_k));
     }},
    {"logits 10", [](inputs& in, generator&, const format& f) { add(in.q, f, 10, 0); }},
    {"logits 1000", [](inputs& in, generator&, const format& f) { add(in.q, f, 1000, 0); }},
    {"mask", [](inputs& in, generator& r, const format& f) { in.bias = kernels::draw(r, in.n_k, 0, 1, f); }},
};

style draw_style(generator& r, const arithmetic& a, std::size_t n) {
    const std::size_t blocks[] = {0, 0, 1, 16, 64, n};
    style how;
    how.block = blocks[r.below(6)];
    how.split = how.block != 0 && r.below(3) == 0;
    how.sum = static_cast<kernels::order>(r.below(4));
    how.fma = r.below(2) == 0;
    how.scale = static_cast<kernels::scaling>(r.below(3));
    how.base_two = r.below(3) == 0;
    how.divide_first = r.below(2) == 0;
    if (a.weight > 0) how.weights = &a.output;
    how.sum_of_stored = a.weight > 0 && !how.divide_first && r.below(3) == 0;
    if (a.score > 0) how.everything = &a.output;
    how.tf32 = a.operand > 0;
    how.exp_bias = static_cast<int>(r.below(3)) * 3 - 3;
    how.seed = r.bits();
    return how;
}

} // namespace

TEST_CASE("right kernels stay inside the expected limit, equal and nearly equal keys included", "[oracle]") {
    std::uint64_t seed = 1;
    for (const char* name : {"f32", "tf32", "bf16+f32", "f16+f32", "bf16", "f16"})
        for (const family& f : families)
            for (const std::size_t n : {5U, 16U, 100U, 683U})
                for (int run = 0; run < (n > 100 ? 1 : 4); ++run) {
                    generator r(seed++);
                    const arithmetic& a = *find_arithmetic(name);
                    inputs in = normal_inputs(r, n, 16, a.output);
                    f.change(in, r, a.output);
                    const style how = draw_style(r, a, n);
                    const shares s = shares_of(in, a, kernel<float>(in, how).run().out, expected_factor(16, 1e-9));
                    if (!(s.before <= 1 && s.stored <= 1)) {
                        CAPTURE(name, f.name, n, how.text(), s.before, s.stored, s.certain);
                        CHECK(s.before <= 1);
                        CHECK(s.stored <= 1);
                    }
                }
}

TEST_CASE("the expected limit is at most four times what random inputs do in 16 bits", "[oracle]") {
    std::uint64_t seed = 1000;
    for (const char* name : {"bf16+f32", "f16+f32", "bf16", "f16"}) {
        shares greatest;
        for (int run = 0; run < 300; ++run) {
            generator r(seed++);
            const arithmetic& a = *find_arithmetic(name);
            const std::size_t lengths[] = {16, 24, 33, 100};
            const inputs in = normal_inputs(r, lengths[r.below(4)], 64, a.output);
            style how = draw_style(r, a, in.n_k);
            how.scale = kernels::scaling::of_both;
            const shares s = shares_of(in, a, kernel<float>(in, how).run().out, expected_factor(64, 1e-9));
            greatest.before = std::max(greatest.before, s.before);
            greatest.stored = std::max(greatest.stored, s.stored);
        }
        CAPTURE(name, greatest.before, greatest.stored);
        CHECK(greatest.stored >= 0.25);
        CHECK(greatest.stored <= 1);
    }
}

TEST_CASE("rows that lose their own key are seen in the expected limit, not in the certain one", "[oracle]") {
    const arithmetic& a = *find_arithmetic("bf16+f32");
    for (const std::size_t n : {1024U, 4096U}) {
        generator r(n);
        const std::size_t d = 64, rows = 24;
        const std::vector<double> k = kernels::draw(r, n * d, 0, 1, a.output), v = kernels::draw(r, n * d, 0, 1, a.output);
        std::size_t outside = 0, outside_certain = 0, right_outside = 0;
        for (std::size_t t = 0; t < rows; ++t) {
            const std::size_t i = n / 2 + (n / 2 - 1) * t / (rows - 1);
            const inputs in{1,
                            i + 1,
                            d,
                            d,
                            kernels::draw(r, d, 0, 1, a.output),
                            {k.begin(), k.begin() + static_cast<long>((i + 1) * d)},
                            {v.begin(), v.begin() + static_cast<long>((i + 1) * d)},
                            {},
                            "none",
                            0};
            inputs mistaken = in;
            mistaken.n_k = i;
            style how;
            how.block = 64;
            how.weights = &a.output;
            const row x(in, 0, keys_of(in), false);
            const forward_limits limits(a, x.facts, expected_factor(static_cast<double>(n * d), 1e-9));
            const std::vector<double> right = kernel<float>(in, how).run().out, wrong = kernel<float>(mistaken, how).run().out;
            for (std::size_t e = 0; e < d; ++e) {
                const double o = static_cast<double>(x.out[e]);
                const element_limits l = limits.out(o, [&](std::size_t j) { return v[j * d + e]; });
                const auto is_outside = [&](double got, double limit) {
                    return std::fabs(round_to(a.output, got) - o) > limit + half_ulp_of_store(a.output, std::fabs(o) + limit);
                };
                outside += is_outside(wrong[e], l.expected) ? 1 : 0;
                outside_certain += is_outside(wrong[e], l.certain) ? 1 : 0;
                right_outside += is_outside(right[e], l.expected) ? 1 : 0;
            }
        }
        CAPTURE(n, outside, outside_certain);
        CHECK(right_outside == 0);
        CHECK(outside > rows * d / 100);
        CHECK(outside > 2 * outside_certain);
    }
}

TEST_CASE("errors that are no independent ones would be missed by a plain root of squares", "[oracle]") {
    // q = 0: all weights are 1/n, and their stores are all off alike.
    const arithmetic& a = *find_arithmetic("bf16+f32");
    generator r(3);
    bool was_missed = false;
    for (const std::size_t n : {683U, 1366U, 2731U, 5400U}) {
        inputs in = normal_inputs(r, n, 4, a.output);
        all_of(in.q, a.output, 0);
        add(in.v, a.output, 1, 2);
        style how;
        how.divide_first = true;
        how.weights = &a.output;
        const double lambda = expected_factor(4, 1e-9);
        const row x(in, 0, keys_of(in), false);
        const std::vector<double> made = kernel<float>(in, how).run().out;
        double squares = 0;
        for (std::size_t j = 0; j < n; ++j) squares += std::pow(a.weight * x.facts.weight[j] * in.v[j * in.d_v], 2);
        was_missed = was_missed || std::fabs(made[0] - static_cast<double>(x.out[0])) > lambda * std::sqrt(squares);
        CHECK(shares_of(in, a, made, lambda).before <= 1);
    }
    CHECK(was_missed);
}

TEST_CASE("where nothing can err, little is allowed", "[oracle]") {
    generator r(5);
    for (const char* name : {"bf16+f32", "f16+f32", "bf16", "f16"}) {
        const arithmetic& a = *find_arithmetic(name);
        const auto limits_of = [&](const inputs& in) {
            const row x(in, 0, keys_of(in), a.score > 0);
            return forward_limits(a, x.facts, 8)
                .out(static_cast<double>(x.out[0]), [&](std::size_t j) { return in.v[x.visible[j] * in.d_v]; }, x.query(), 0);
        };
        // One key: its weight is 1, and that can be stored.
        inputs one = normal_inputs(r, 1, 4, a.output);
        one.v[0] = 3;
        CHECK(limits_of(one).certain < 64 * 0x1p-24 * 3);
        // All others hidden by a large negative number.
        inputs hidden = normal_inputs(r, 9, 4, a.output);
        hidden.bias.assign(9, -30000);
        hidden.bias[4] = 0;
        hidden.v[4 * 4] = 3;
        CHECK(limits_of(hidden).certain < 256 * 0x1p-24 * 3);
        // A constant v: scores do not matter, stored weights do.
        inputs constant = normal_inputs(r, 1000, 4, a.output);
        all_of(constant.v, a.output, 3);
        const element_limits l = limits_of(constant);
        CHECK(l.certain < 1.01 * a.weight * 3 + 6000 * 0x1p-24 * 3);
        CHECK(l.expected < 0.6 * l.certain + 3000 * 0x1p-24 * 3);
    }
}
