// SPDX-License-Identifier: BSL-1.0
// Right kernels pass, wrong ones fail. Right: emulated ones in many styles, on inputs that are known to mislead limits. Wrong: known mistakes, whose
// arithmetic is perfect otherwise. `tests/bench/trials.cpp` is the wider sweep of the first half.
#include "catch.hpp"
#include "judged.hpp"

using namespace kernels;
using attest::verdict;

namespace {

std::string told(const attest::output_result& o) {
    std::string text = o.name + ": " + std::string(name_of(o.verdict)) + ", outside " + std::to_string(o.outside_certain) + " of " + std::to_string(o.elements) +
                       ", share " + std::to_string(o.limit_share) + ", blind " + std::to_string(o.blind);
    if (o.first_outside)
        text += ", first got " + std::to_string(o.first_outside->got) + " expected " + o.first_outside->expected + ", off " +
                std::to_string(o.first_outside->ulp) + " ulp of " + std::to_string(o.first_outside->limit_ulp);
    return text;
}

named_values stages_of(const outputs& made, const style& how) {
    named_values stages;
    if (how.block == 0 && how.scale == scaling::of_product && !how.base_two) stages.emplace_back("raw_scores", made.raw_scores);
    if (how.block == 0 && !how.base_two) stages.emplace_back("scores", made.scores);
    if (how.block == 0) stages.emplace_back("weights", made.weights);
    if (!how.sum_of_stored) stages.emplace_back("lse", made.lse); // lse is kept in f32
    stages.emplace_back("out", made.out);
    return stages;
}

void right_kernels(std::size_t runs, const std::vector<std::size_t>& lengths, std::size_t widest, std::uint64_t seed) {
    for (const setting& s : settings_of_all)
        for (const family& f : families) {
            generator r(seed++);
            for (std::size_t run_number = 0; run_number < runs; ++run_number) {
                const std::size_t n_k = lengths[r.below(lengths.size())], n_q = 1 + r.below(n_k > 40 ? 1 : 4), d = std::size_t{1} << r.below(widest);
                const inputs in = make_inputs(f, r, n_q, n_k, d, *s.format);
                const style how = draw_style(s, r, n_k);
                const auto result = judge(in, s.stored, s.arithmetic, stages_of(run(s, in, how), how));
                for (const attest::output_result& o : result.outputs) {
                    const bool honest = passes(o.verdict) || (!f.mild && o.verdict == verdict::undecided);
                    if (!honest) {
                        CAPTURE(s.arithmetic, f.name, n_q, n_k, d, how.text(), told(o));
                        CHECK(honest);
                    }
                }
            }
        }
}

} // namespace

TEST_CASE("right kernels are consistent, or honestly undecided", "[oracle]") {
    right_kernels(4, {1, 2, 3, 4, 5, 6, 7, 8, 11, 16}, 5, 1);
}
TEST_CASE("right kernels on longer rows", "[oracle]") { right_kernels(1, {33, 100}, 4, 1000); }
TEST_CASE("right kernels on 683 keys", "[oracle]") {
    for (const setting& s : settings_of_all)
        for (const char* name : {"normal", "q = 0", "v mean 4", "repeated tokens"})
            for (const family& f : families) {
                if (f.name != std::string(name)) continue;
                generator r(5);
                const inputs in = make_inputs(f, r, 1, 683, 2, *s.format);
                const style how = draw_style(s, r, 683);
                const auto result = judge(in, s.stored, s.arithmetic, stages_of(run(s, in, how), how));
                for (const attest::output_result& o : result.outputs) {
                    CAPTURE(s.arithmetic, f.name, how.text(), told(o));
                    CHECK(passes(o.verdict));
                }
            }
}

// Found by the trials and by the adversaries; each failed once.
TEST_CASE("right kernels that the limits once failed", "[oracle]") {
    const auto& f32 = attest::formats::f32;
    const auto& bf16 = attest::formats::bf16;
    const auto verdict_of = [](const inputs& in, attest::dtype stored, const char* arithmetic, const named_values& made) {
        const auto result = judge(in, stored, arithmetic, made);
        for (const attest::output_result& o : result.outputs) UNSCOPED_INFO(told(o));
        return result.verdict;
    };
    SECTION("the denominator sums stored weights: a weight's rounding acts through v − o, and that may exceed |v|") {
        // One key with v = 1 whose weight is rounded up, 62 with v = 0 whose weights are rounded down, and the maximum.
        inputs in{1, 64, 1, 1, {1}, {0}, {0}, {}, "none", 1};
        in.k.resize(64, std::log(0.5 * (1 + 0.00385)));
        in.v.resize(64, 0.0);
        in.k[1] = std::log(0.5 * (1 + 0.00395));
        in.v[1] = 1;
        for (double& k : in.k) k = attest::round_to(f32, k);
        style how;
        how.weights = &bf16;
        how.sum_of_stored = true;
        const double out = attest::round_to(f32, kernel<float>(in, how).run().out[0]);
        // Stored in f32; the limit has half a ULP of bf16 in it all the same.
        CHECK(verdict_of(in, attest::dtype::f32, "bf16+f32", {{"out", {out}}}) == verdict::consistent);
    }
    SECTION("scores stored in 16 bits: the second key catches up with the first, far above the others") {
        const inputs in{1, 2, 1, 1, {100}, {100, 99.5}, {1, 2}, {}, "none", 1};
        CHECK(verdict_of(in, attest::dtype::bf16, "bf16", {{"weights", {0.5, 0.5}}, {"out", {1.5}}}) == verdict::undecided);
    }
    SECTION("a sum of unnormalised weights times v overflows") {
        const inputs in{1, 4, 1, 1, {0}, {1, 1, 1, 1}, std::vector<double>(4, attest::round_to(f32, 2e38)), {}, "none", 0};
        CHECK(verdict_of(in, attest::dtype::f32, "f32", {{"out", {kernel<float>(in, style{}).run().out[0]}}}) == verdict::undecided);
    }
    SECTION("a scaled query below the normal range, against a huge key") {
        inputs in{1, 2, 64, 1, std::vector<double>(64, 0x1.8p-148), std::vector<double>(128, 0.0), {1, -1}, {}, "none", 0};
        std::fill_n(in.k.begin(), 64, 0x1.8p127);
        style how;
        how.scale = scaling::of_query; // 3 · 2^−149 / 8 rounds to 0
        CHECK(verdict_of(in, attest::dtype::f32, "f32", {{"out", {kernel<float>(in, how).run().out[0]}}}) <= verdict::undecided);
    }
    SECTION("operands of tf32 below the normal range") {
        const inputs in{1, 2, 1, 1, {0}, {1, 1}, {0x1p-140, 0x1p-140}, {}, "none", 0};
        CHECK(attest::passes(verdict_of(in, attest::dtype::f32, "tf32", {{"out", {0}}})));
    }
    SECTION("a mask of the least number, times log2 e, is -inf") {
        const double least = -f32.greatest();
        const inputs in{1, 2, 1, 1, {1}, {1, 2}, {1, 2}, {least, least}, "none", 1};
        style how;
        how.base_two = true;
        CHECK(verdict_of(in, attest::dtype::f32, "f32", {{"out", {kernel<float>(in, how).run().out[0]}}}) == verdict::undecided);
    }
}

namespace {

// Attention in long double, to make mistakes in.
struct plain {
    std::vector<long double> scores, weights, out, lse;
};
template <class Visible> plain attend(const inputs& in, const Visible& visible, bool over_queries = false) {
    plain p;
    p.scores.assign(in.n_q * in.n_k, -INFINITY);
    p.weights.assign(in.n_q * in.n_k, 0);
    p.out.assign(in.n_q * in.d_v, 0);
    p.lse.assign(in.n_q, -INFINITY);
    const long double scale = in.scale != 0 ? static_cast<long double>(in.scale) : 1 / std::sqrt(static_cast<long double>(in.d_k));
    for (std::size_t i = 0; i < in.n_q; ++i)
        for (std::size_t j = 0; j < in.n_k; ++j) {
            if (!visible(i, j)) continue;
            long double s = 0;
            for (std::size_t c = 0; c < in.d_k; ++c) s += static_cast<long double>(in.q[i * in.d_k + c]) * in.k[j * in.d_k + c];
            p.scores[i * in.n_k + j] = s * scale + (in.bias.empty() || in.bias[i * in.n_k + j] == -infinity ? 0 : in.bias[i * in.n_k + j]);
        }
    for (std::size_t i = 0; i < in.n_q; ++i) {
        long double sum = 0;
        for (std::size_t j = 0; j < in.n_k; ++j) sum += std::exp(p.scores[i * in.n_k + j]);
        p.lse[i] = std::log(sum);
        for (std::size_t j = 0; j < in.n_k; ++j) {
            long double below = sum;
            if (over_queries) {
                below = 0;
                for (std::size_t row = 0; row < in.n_q; ++row) below += std::exp(p.scores[row * in.n_k + j]);
            }
            if (visible(i, j)) p.weights[i * in.n_k + j] = std::exp(p.scores[i * in.n_k + j]) / below;
            for (std::size_t c = 0; c < in.d_v; ++c) p.out[i * in.d_v + c] += p.weights[i * in.n_k + j] * in.v[j * in.d_v + c];
        }
    }
    return p;
}
std::vector<double> doubles(const std::vector<long double>& x) { return {x.begin(), x.end()}; }

struct mistake {
    const char* name;
    const char* output;
    bool bf16; // seen in bf16+f32 too
    std::vector<double> (*make)(const inputs&, generator&);
};

plain right(const inputs& in) {
    return attend(in, [&](std::size_t i, std::size_t j) { return in.visible(i, j); });
}
inputs with_scale(inputs in, double scale) {
    in.scale = scale;
    return in;
}
const mistake mistakes[] = {
    {"no scale", "out", true, [](const inputs& in, generator&) { return doubles(right(with_scale(in, 1)).out); }},
    {"1/d_k", "out", true, [](const inputs& in, generator&) { return doubles(right(with_scale(in, 1 / static_cast<double>(in.d_k))).out); }},
    {"scale off by one part in 10^4", "out", false, [](const inputs& in, generator&) { return doubles(right(with_scale(in, 1.0001 / std::sqrt(static_cast<double>(in.d_k)))).out); }},
    {"softmax over the queries", "out", true, [](const inputs& in, generator&) { return doubles(attend(in, [&](std::size_t i, std::size_t j) { return in.visible(i, j); }, true).out); }},
    {"softmax over the queries", "weights", true, [](const inputs& in, generator&) { return doubles(attend(in, [&](std::size_t i, std::size_t j) { return in.visible(i, j); }, true).weights); }},
    {"polarity", "out", true, [](const inputs& in, generator&) { return doubles(attend(in, [&](std::size_t i, std::size_t j) { return j == 0 || !in.visible(i, j); }).out); }},
    {"no mask", "out", true, [](const inputs& in, generator&) { return doubles(attend(in, [](std::size_t, std::size_t) { return true; }).out); }},
    {"top-left for bottom-right", "out", true, [](const inputs& in, generator&) { return doubles(attend(in, [](std::size_t i, std::size_t j) { return j <= i; }).out); }},
    {"one key too many", "out", true, [](const inputs& in, generator&) { return doubles(attend(in, [&](std::size_t i, std::size_t j) { return j + in.n_q <= i + in.n_k + 1; }).out); }},
    {"own key lost", "out", true, [](const inputs& in, generator&) { return doubles(attend(in, [&](std::size_t i, std::size_t j) { return j + in.n_q < i + in.n_k; }).out); }},
    {"mask after softmax", "out", true, [](const inputs& in, generator&) {
         const plain all = attend(in, [](std::size_t, std::size_t) { return true; });
         std::vector<double> out(in.n_q * in.d_v, 0.0);
         for (std::size_t i = 0; i < in.n_q; ++i)
             for (std::size_t j = 0; j < in.n_k; ++j)
                 for (std::size_t c = 0; c < in.d_v; ++c)
                     out[i * in.d_v + c] += in.visible(i, j) ? static_cast<double>(all.weights[i * in.n_k + j]) * in.v[j * in.d_v + c] : 0;
         return out;
     }},
    {"not normalised", "out", true, [](const inputs& in, generator&) {
         const plain p = right(in);
         std::vector<double> out = doubles(p.out);
         for (std::size_t e = 0; e < out.size(); ++e) out[e] *= static_cast<double>(std::exp(p.lse[e / in.d_v]));
         return out;
     }},
    {"lse in base 2", "lse", true, [](const inputs& in, generator&) {
         std::vector<double> lse = doubles(right(in).lse);
         for (double& x : lse) x *= 1.4426950408889634;
         return lse;
     }},
    {"lse without the greatest score", "lse", true, [](const inputs& in, generator&) {
         const plain p = right(in);
         std::vector<double> lse = doubles(p.lse);
         for (std::size_t i = 0; i < in.n_q; ++i) lse[i] -= static_cast<double>(*std::max_element(p.scores.begin() + static_cast<long>(i * in.n_k), p.scores.begin() + static_cast<long>((i + 1) * in.n_k)));
         return lse;
     }},
    {"scores for raw scores", "raw_scores", true, [](const inputs& in, generator&) { return doubles(attend(in, [](std::size_t, std::size_t) { return true; }).scores); }},
    {"scores without mask", "scores", true, [](const inputs& in, generator&) { return doubles(attend(in, [](std::size_t, std::size_t) { return true; }).scores); }},
    {"v transposed", "out", true, [](const inputs& in, generator&) {
         inputs other = in;
         for (std::size_t j = 0; j < in.n_k; ++j)
             for (std::size_t c = 0; c < in.d_v; ++c) other.v[c * in.n_k + j] = in.v[j * in.d_v + c]; // read with the axes exchanged
         return doubles(right(other).out);
     }},
    {"NaN in one element", "out", true, [](const inputs& in, generator& r) {
         std::vector<double> out = doubles(right(in).out);
         out[r.below(out.size())] = std::numeric_limits<double>::quiet_NaN();
         return out;
     }},
    {"infinity in one element", "out", true, [](const inputs& in, generator& r) {
         std::vector<double> out = doubles(right(in).out);
         out[r.below(out.size())] = infinity;
         return out;
     }},
    {"the greatest element negated", "out", true, [](const inputs& in, generator&) {
         std::vector<double> out = doubles(right(in).out);
         double& x = *std::max_element(out.begin(), out.end(), [](double a, double b) { return std::fabs(a) < std::fabs(b); });
         x = -x;
         return out;
     }},
    {"NaN weights", "weights", true, [](const inputs& in, generator&) { return std::vector<double>(in.n_q * in.n_k, std::numeric_limits<double>::quiet_NaN()); }},
    {"zeros", "out", true, [](const inputs& in, generator&) { return std::vector<double>(in.n_q * in.d_v, 0.0); }},
    {"zeros", "weights", true, [](const inputs& in, generator&) { return std::vector<double>(in.n_q * in.n_k, 0.0); }},
    {"zeros", "lse", true, [](const inputs& in, generator&) { return std::vector<double>(in.n_q, 0.0); }},
    {"equal weights", "weights", true, [](const inputs& in, generator&) { return std::vector<double>(in.n_q * in.n_k, 1 / static_cast<double>(in.n_k)); }},
    {"a constant", "out", true, [](const inputs& in, generator&) { return std::vector<double>(in.n_q * in.d_v, 0.125); }},
    {"the mean of v", "out", true, [](const inputs& in, generator&) {
         inputs other = in;
         std::fill(other.q.begin(), other.q.end(), 0.0);
         return doubles(right(other).out);
     }},
    {"the first query's row for all", "out", true, [](const inputs& in, generator&) {
         std::vector<double> out = doubles(right(in).out);
         for (std::size_t e = in.d_v; e < out.size(); ++e) out[e] = out[e - in.d_v];
         return out;
     }},
    {"weights stored in bf16", "out", false, [](const inputs& in, generator&) {
         style how;
         how.weights = &attest::formats::bf16;
         return kernel<float>(in, how).run().out;
     }},
    {"scores stored in bf16", "scores", false, [](const inputs& in, generator&) {
         std::vector<double> scores = doubles(right(in).scores);
         for (double& s : scores) s = attest::round_to(attest::formats::bf16, s);
         return scores;
     }},
};

} // namespace

TEST_CASE("wrong kernels fail", "[oracle]") {
    generator r(3);
    for (const setting& s : settings_of_all)
        for (const mistake& m : mistakes) {
            const std::string arithmetic = s.arithmetic;
            // In tf32 and bf16 the limits are wide: the mistakes are those of 10^−4, which they can't see.
            if (!m.bf16 && arithmetic != "f64" && arithmetic != "f32") continue;
            for (int run_number = 0; run_number < 3; ++run_number) {
                inputs in = make_inputs(families[0], r, 5, 8, 8, *s.format);
                times(in.k, 2, *s.format);
                in.causal = "bottom-right"; // rows see 4 to 8 keys
                const std::vector<double> made = m.make(in, r);
                const auto result = judge(in, s.stored, arithmetic, {{m.output, made}});
                if (result.verdict != verdict::wrong && result.verdict != verdict::inaccurate) {
                    CAPTURE(arithmetic, m.name, m.output, run_number, told(result.outputs.front()));
                    CHECK(result.verdict == verdict::wrong);
                }
            }
        }
}

TEST_CASE("a wrong kernel in f32 fails at logits of 1000, too", "[oracle]") {
    generator r(4);
    for (const setting& s : settings_of_all) {
        if (s.weights) continue;
        inputs in = make_inputs(families[0], r, 5, 8, 8, *s.format);
        times(in.q, 1000, *s.format);
        in.causal = "bottom-right";
        for (const mistake& m : mistakes) {
            const std::string name = m.name;
            if (name != "polarity" && name != "zeros" && name != "the mean of v" && name != "a constant") continue;
            const auto result = judge(in, s.stored, s.arithmetic, {{m.output, m.make(in, r)}});
            CAPTURE(s.arithmetic, m.name, m.output, told(result.outputs.front()));
            CHECK((result.verdict == verdict::wrong || result.verdict == verdict::inaccurate));
        }
    }
}

TEST_CASE("where the limit covers all that a row could give, nothing passes", "[oracle]") {
    generator r(5);
    // bf16 scores at 1e4: the weights are not known at all.
    inputs in = make_inputs(families[0], r, 4, 8, 4, attest::formats::bf16);
    std::fill(in.q.begin(), in.q.end(), 50.0);
    std::fill(in.k.begin(), in.k.end(), 100.0);
    const plain exact = right(in);
    for (const mistake& m : mistakes) {
        const std::string name = m.name, output = m.output;
        if (output != "out" && output != "weights" && output != "lse") continue;
        const auto result = judge(in, attest::dtype::bf16, "bf16", {{m.output, m.make(in, r)}});
        CAPTURE(m.name, m.output, told(result.outputs.front()));
        if (output != "lse" && name.find("NaN") == std::string::npos) CHECK(result.verdict != verdict::consistent);
    }
    CHECK(judge(in, attest::dtype::bf16, "bf16", {{"out", doubles(exact.out)}}).verdict != verdict::wrong);
}

TEST_CASE("heads that read the wrong key-value head fail", "[oracle]") {
    generator r(6);
    const std::size_t heads = 4, kv_heads = 2, n = 3, d = 4;
    const auto f = attest::formats::f32;
    const auto q = draw(r, heads * n * d, 0, 1, f), k = draw(r, kv_heads * n * d, 0, 1, f), v = draw(r, kv_heads * n * d, 0, 1, f);
    const auto made = [&](bool tile) {
        std::vector<double> out;
        for (std::size_t h = 0; h < heads; ++h) {
            const std::size_t from = tile ? h % kv_heads : h * kv_heads / heads;
            const auto part = [&](const std::vector<double>& x, std::size_t head) {
                return std::vector<double>(x.begin() + static_cast<long>(head * n * d), x.begin() + static_cast<long>((head + 1) * n * d));
            };
            const inputs in{n, n, d, d, part(q, h), part(k, from), part(v, from), {}, "none", 0};
            const auto one = kernel<float>(in, style{}).run().out;
            out.insert(out.end(), one.begin(), one.end());
        }
        return array_of(attest::dtype::f32, {heads, n, d}, out);
    };
    const auto q_array = array_of(attest::dtype::f32, {heads, n, d}, q), k_array = array_of(attest::dtype::f32, {kv_heads, n, d}, k),
               v_array = array_of(attest::dtype::f32, {kv_heads, n, d}, v);
    const auto verdict_of = [&](const attest::array& out) {
        return once::check({{"op", "attention"}}, {{"q", q_array}, {"k", k_array}, {"v", v_array}}, {{"out", out}}).verdict;
    };
    CHECK(attest::passes(verdict_of(made(false))));
    CHECK(verdict_of(made(true)) == verdict::wrong);
}
