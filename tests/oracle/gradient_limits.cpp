// SPDX-License-Identifier: BSL-1.0
// The limits of attention's gradients against right backward kernels, adversaries and wrong kernels.
#include "catch.hpp"
#include "gradient_held.hpp"

using namespace attest;
using namespace gradient_held;
using kernels::backward_style;
using kernels::generator;
using kernels::gradient_inputs;
using kernels::gradient_setting;

namespace {
const arithmetic& named(const char* name) { return *find_arithmetic(name); }
gradient_inputs normal(generator& r, std::size_t n_q, std::size_t n_k, std::size_t d_k, std::size_t d_v, const format& f) {
    return make_gradient_inputs(kernels::gradient_families[0], r, n_q, n_k, d_k, d_v, f);
}
} // namespace

TEST_CASE("right backward kernels stay inside both limits", "[oracle]") {
    for (const gradient_setting& s : kernels::gradient_settings) {
        generator r(21);
        for (const kernels::gradient_family& what : kernels::gradient_families)
            for (int run = 0; run < 3; ++run) {
                const std::size_t lengths[] = {1, 2, 3, 5, 8, 16, 24}, dimensions[] = {1, 2, 4, 8, 16};
                const std::size_t n_q = lengths[r.below(7)], n_k = r.below(2) == 0 ? n_q : lengths[r.below(7)], d_k = dimensions[r.below(5)],
                                  d_v = r.below(2) == 0 ? d_k : 1 + r.below(12);
                const gradient_inputs in = make_gradient_inputs(what, r, n_q, n_k, d_k, d_v, *s.format);
                const kernels::exact_gradients exact = differentiate(in);
                const limits_of_input limits(in, exact, {&named(s.arithmetic)}, 8);
                for (int kernel = 0; kernel < 3; ++kernel) {
                    const backward_style how = draw_backward_style(s, r);
                    const shares_of_all x = hold(*s.format, run_backward(s.wide, in, how), exact, limits, 0);
                    if (!x.outside()) continue;
                    CAPTURE(s.arithmetic, what.name, n_q, n_k, d_k, d_v, how.text(), x.text());
                    CHECK(!x.outside());
                }
            }
    }
}

TEST_CASE("rows that round alike: as many as a limit that took them for independent would not stand", "[oracle]") {
    for (const gradient_setting& s : kernels::gradient_settings) {
        if (!s.weights) continue;
        generator r(22);
        for (const kernels::gradient_family& what : kernels::gradient_families) {
            const std::string name = what.name;
            if (name.find("logits 1e-") != 0 && name.find("repeated") != 0 && name.find("one query") != 0 && name != "equal keys" && name != "q = 0")
                continue;
            gradient_inputs in = make_gradient_inputs(what, r, 341, 12, 1 + r.below(2), 1,
                                                      *s.format); // 1/341: where a weight of equal ones is most off
            for (double& x : in.dz) x = name.find("dout = q") == std::string::npos ? std::fabs(x) : x;
            const kernels::exact_gradients exact = differentiate(in);
            const limits_of_input limits(in, exact, {&named(s.arithmetic)}, 8);
            backward_style how;
            how.weights = how.ds = s.format;
            how.everything = s.everything ? s.format : nullptr;
            const shares_of_all x = hold(*s.format, kernels::run_backward(false, in, how), exact, limits, 0);
            CAPTURE(s.arithmetic, name, x.text());
            CHECK(!x.outside());
        }
    }
}

TEST_CASE("in 16 bits a kernel's greatest error is a fifth of the expected limit, or more", "[oracle]") {
    for (const gradient_setting& s : kernels::gradient_settings) {
        if (!s.weights) continue;
        generator r(5);
        shares_of_all x;
        double narrower = 1;
        for (int run = 0; run < 4; ++run) {
            const gradient_inputs in = normal(r, 80, 80, 32, 32, *s.format);
            const kernels::exact_gradients exact = differentiate(in);
            const limits_of_input limits(in, exact, {&named(s.arithmetic)}, 8);
            narrower = std::min(narrower, limits.share_of_narrower(0));
            backward_style how;
            how.weights = how.ds = s.format;
            if (s.everything) {
                how.everything = s.format;
                how.scale = kernels::scaling::of_both;
                how.product_apart = true;
            }
            x.take(hold(*s.format, kernels::run_backward(false, in, how), exact, limits, 0));
        }
        CAPTURE(s.arithmetic, x.text(), narrower);
        CHECK(x.dq.expected > 0.2);
        CHECK(x.dk.expected > 0.2);
        CHECK(x.dv.expected > 0.2);
        CHECK(!x.outside());
        if (s.everything) CHECK(narrower > 0.9);
    }
}

namespace {

// One row. Every error that the arithmetic allows, all in the direction `up` of dq_c, or of dv_jc: scores by their bounds, exps by theirs, and so on.
struct adversary {
    const arithmetic& a;
    const gradient_inputs& in;
    const kernels::exact_gradients& g;
    std::span<const double> score_error;
    wide up;

    [[nodiscard]] wide towards(wide derivative) const { return derivative * up < 0 ? -1 : 1; }
    [[nodiscard]] static wide moved(wide x, wide direction, wide relative) { return x + direction * std::fabs(x) * relative; }
    [[nodiscard]] wide stored(wide x, wide direction) const {
        return a.weight > 0 ? x + direction * static_cast<wide>(detail::store_error(a.output, static_cast<double>(std::fabs(x)))) : x;
    }
    // `direction(l)`: sign of the derivative to the logarithm of weight l; `common`: of all.
    template <class Direction> [[nodiscard]] std::vector<wide> weights(const Direction& direction, wide common) const {
        std::vector<wide> w(in.n_k);
        wide sum = 0, of_exp = 0;
        for (std::size_t l = 0; l < in.n_k; ++l) sum += w[l] = g.weight[l] * std::exp(direction(l) * static_cast<wide>(score_error[l]));
        for (std::size_t l = 0; l < in.n_k; ++l) {
            const wide of_key = static_cast<wide>(a.exp_relative) + static_cast<wide>(a.exp_slope) * std::fabs(g.score[l] - g.lse[0]);
            of_exp += g.weight[l] * of_key;
            w[l] = moved(w[l], direction(l), of_key) / sum;
        }
        for (wide& x : w)
            x *= std::exp(common * (of_exp + (static_cast<wide>(in.n_k) + 2 * std::fabs(g.lse[0])) *
                                                 static_cast<wide>(a.unit))); // the denominator, and a rounded lse
        return w;
    }
    [[nodiscard]] wide dq(std::size_t c) const {
        std::vector<wide> da(in.n_k), size(in.n_k), k(in.n_k);
        wide mean = 0, k_mean = 0, sum = 0;
        for (std::size_t l = 0; l < in.n_k; ++l) {
            for (std::size_t e = 0; e < in.d_v; ++e) {
                da[l] += static_cast<wide>(in.dz[e]) * in.v[l * in.d_v + e];
                size[l] += std::fabs(static_cast<wide>(in.dz[e]) * in.v[l * in.d_v + e]);
            }
            k[l] = static_cast<wide>(in.score_scale()) * in.k[l * in.d_k + c];
            mean += g.weight[l] * da[l];
            k_mean += g.weight[l] * k[l];
            sum += g.ds[l] * k[l];
        }
        const wide n = static_cast<wide>(in.n_k), u = static_cast<wide>(a.unit), operand = static_cast<wide>(a.operand);
        const std::vector<wide> w = weights([&](std::size_t l) { return towards(g.ds[l] * (k[l] - k_mean) - g.weight[l] * sum); },
                                            towards(sum - mean * k_mean));
        wide d = 0, rounding = 0, total = 0;
        for (std::size_t l = 0; l < in.n_k; ++l) {
            const wide direction = towards(k[l] - k_mean);
            da[l] += direction * size[l] * (static_cast<wide>(in.d_v) * u + 2 * operand);
            if (a.score > 0) da[l] = stored(da[l], direction);
            d += moved(w[l] * da[l], towards(-k_mean), n * u);
        }
        for (std::size_t l = 0; l < in.n_k; ++l) {
            const wide weight = a.score > 0 ? stored(w[l], towards((da[l] - d) * k[l])) : w[l];
            const wide ds = stored(moved(weight * (da[l] - d), towards(k[l]), 2 * u), towards(k[l]));
            total += moved(ds * k[l], up, 2 * operand + static_cast<wide>(a.query_key));
            rounding += std::fabs(total) * u;
        }
        return total + up * rounding;
    }
    [[nodiscard]] wide dv(std::size_t j, std::size_t c) const {
        const wide direction = towards(in.dz[c]), w = weights([&](std::size_t l) { return l == j ? direction : -direction; }, direction)[j];
        return moved(stored(w, direction) * in.dz[c], up, 2 * static_cast<wide>(a.operand) + static_cast<wide>(a.unit));
    }
};

} // namespace

TEST_CASE("an adversary that uses every allowance stays inside the certain limit of gradients", "[oracle]") {
    generator r(7);
    for (const arithmetic& a : arithmetics) {
        double of_dq = 0, of_dv = 0;
        for (int run = 0; run < 300; ++run) {
            const std::size_t lengths[] = {1, 2, 3, 4, 8, 16, 33};
            gradient_inputs in = make_gradient_inputs(kernels::gradient_families[r.below(13)], r, 1, lengths[r.below(7)], 1 + r.below(8),
                                                      1 + r.below(8), formats::bf16);
            if (r.below(3) == 0) kernels::change::times(in.q, 10, formats::bf16);
            const kernels::exact_gradients exact = differentiate(in);
            const limits_of_input limits(in, exact, {&a}, 8);
            const std::size_t c = r.below(in.d_k), j = r.below(in.n_k), e = r.below(in.d_v);
            for (const wide up : {1, -1}) {
                const adversary kernel{a, in, exact, limits.score_errors_of_first_row[0].bound, up};
                const auto holds = [&](const char* output, wide made, wide right, double limit, double& greatest) {
                    const auto error = static_cast<double>(std::fabs(made - right));
                    if (limit > 0 && limit < kernels::infinity) greatest = std::max(greatest, error / limit);
                    if (error <= limit) return;
                    CAPTURE(a.name, output, run, in.n_k, in.d_k, in.d_v, static_cast<double>(up), error, limit);
                    CHECK(error <= limit);
                };
                holds("dq", kernel.dq(c), exact.dq[c], limits.dq[0][c].certain, of_dq);
                holds("dv", kernel.dv(j, e), exact.dv[j * in.d_v + e], limits.dv[0][j * in.d_v + e].certain, of_dv);
            }
        }
        INFO(a.name << ": the greatest errors, in units of the limit: dq " << of_dq << ", dv " << of_dv);
        CHECK(of_dq > 0.3); // the adversary is one
        CHECK(of_dv > 0.3);
    }
}

TEST_CASE("a weaker arithmetic has a wider limit of gradients", "[oracle]") {
    generator r(8);
    const std::pair<const char*, const char*> pairs[] = {{"f64", "f32"},       {"f32", "tf32"},    {"f32", "bf16+f32"},     {"f32", "f16+f32"},
                                                         {"bf16+f32", "bf16"}, {"f16+f32", "f16"}, {"f32", "f32/truncate"}, {"bf16", "bf16/ftz"}};
    for (int run = 0; run < 20; ++run) {
        const gradient_inputs in = make_gradient_inputs(kernels::gradient_families[r.below(13)], r, 1 + r.below(12), 1 + r.below(12), 1 + r.below(8),
                                                        1 + r.below(8), formats::bf16);
        const kernels::exact_gradients exact = differentiate(in);
        for (const auto& [strict, loose] : pairs) {
            const limits_of_input limits(in, exact, {&named(strict), &named(loose)}, 8);
            const auto is_wider = [&](const std::vector<std::vector<element_limits>>& x) {
                for (std::size_t e = 0; e < x[0].size(); ++e)
                    if (!(x[0][e].certain <= x[1][e].certain && x[0][e].expected <= x[0][e].certain && x[1][e].expected <= x[1][e].certain))
                        return false;
                return true;
            };
            CAPTURE(strict, loose, in.n_q, in.n_k);
            CHECK(is_wider(limits.dq));
            CHECK(is_wider(limits.dk));
            CHECK(is_wider(limits.dv));
            CHECK(is_wider(limits.ds));
        }
    }
}

namespace {
limits_of_input limits_of(const gradient_inputs& in, const char* name) { return {in, differentiate(in), {&named(name)}, 8}; }
gradient_inputs small(std::vector<double> q, std::vector<double> k, std::vector<double> v, std::vector<double> dz) { // d_k = d_v = 1
    gradient_inputs in;
    in.n_q = q.size();
    in.n_k = k.size();
    in.scale = 1;
    in.q = std::move(q);
    in.k = std::move(k);
    in.v = std::move(v);
    in.dz = std::move(dz);
    return in;
}
} // namespace

TEST_CASE("the limits of gradients are not wider than they need be", "[oracle]") {
    // The row sees one key and hardly the other: dS is nearly 0. (lse, rounded, is 60.)
    CHECK(limits_of(small({1}, {0, 60}, {1, 2}, {1}), "f32").dq[0][0].certain < 60 * 8192 * 0x1p-24);
    // All values are equal: only what da and D are off by is left.
    CHECK(limits_of(small({1, 1}, {0, 1}, {3, 3}, {1, 2}), "f32").dq[0][0].certain < 512 * 0x1p-24);
    // One key: its weight is 1, but for exp and lse.
    CHECK(limits_of(small({1}, {2}, {3}, {1}), "bf16+f32").dv[0][0].certain < 0x1p-8 * 1.01);
    CHECK(limits_of(small({1}, {2}, {3}, {1}), "f32").dv[0][0].certain < 300 * 0x1p-24);
    // A key that is hidden, and a row that sees none: nothing is allowed.
    gradient_inputs hidden = small({1, 1}, {0, 1}, {1, 2}, {1, 1});
    hidden.bias = {0, -kernels::infinity, 0, -kernels::infinity};
    const limits_of_input of_hidden = limits_of(hidden, "bf16");
    CHECK(of_hidden.dk[0][1].certain == 0);
    CHECK(of_hidden.dv[0][1].certain == 0);
    hidden.bias = {0, 0, -kernels::infinity, -kernels::infinity};
    CHECK(limits_of(hidden, "bf16").dq[0][1].certain == 0);
}

TEST_CASE("gradients of which nothing can be said", "[oracle]") {
    const auto is_infinite = [](const gradient_inputs& in, const char* name) {
        const limits_of_input l = limits_of(in, name);
        return l.dq[0][0].certain == kernels::infinity && l.dk[0][0].certain == kernels::infinity && l.dv[0][0].certain == kernels::infinity;
    };
    CHECK(is_infinite(small({1}, {70000, 0}, {1, 2}, {1}), "f16")); // a score overflows
    CHECK(!is_infinite(small({1}, {60000, 0}, {1, 2}, {1}), "f16+f32"));
    CHECK(is_infinite(small({1}, {1, 0}, {300, -300}, {300}), "f16")); // da
    CHECK(!is_infinite(small({1}, {1, 0}, {300, -300}, {300}), "f16+f32"));
    CHECK(is_infinite(small({1}, {1, 0}, {60000, -60000}, {60000}), "f16+f32")); // dS
    CHECK(is_infinite(small({1}, {1, 0}, {1e30, -1e30}, {1e10}), "f32"));        // products of dout and v
    CHECK(!is_infinite(small({1}, {1, 0}, {1e30, -1e30}, {1e10}), "f64"));
    CHECK(limits_of(small({1}, {1e38, 0}, {1, -1}, {100}), "f32").dq[0][0].certain == kernels::infinity); // scores, too
    CHECK(limits_of(small({0}, {1e38, -1e38}, {1, -1}, {100}), "f32").dq[0][0].certain == kernels::infinity);
    CHECK(limits_of(small({0}, {1e38, -1e38}, {1, -1}, {100}), "f32").dk[0][0].certain < kernels::infinity);
    CHECK(limits_of(small({0, 0}, {0}, {1e-30}, {3e38, 3e38}), "f32").dv[0][0].certain == kernels::infinity);
    CHECK(limits_of(small({0, 0}, {0}, {1e-30}, {1e38, 1e38}), "f32").dv[0][0].certain < kernels::infinity);
}

TEST_CASE("wrong backward kernels are outside the certain limit", "[oracle]") {
    for (const gradient_setting& s : kernels::gradient_settings) {
        generator r(3);
        gradient_inputs in = normal(r, 12, 16, 8, 8, *s.format);
        in.causal = "bottom-right";
        const kernels::exact_gradients exact = differentiate(in);
        const limits_of_input limits(in, exact, {&named(s.arithmetic)}, 8);
        const auto held = [&](const kernels::exact_gradients& x) {
            return hold(*s.format, {doubles(x.dq), doubles(x.dk), doubles(x.dv), doubles(x.ds)}, exact, limits, 0);
        };
        CAPTURE(s.arithmetic);
        kernels::exact_gradients unscaled = exact;
        for (wide& x : unscaled.dq) x /= static_cast<wide>(in.score_scale());
        CHECK(held(unscaled).dq.certain > 1);
        kernels::exact_gradients without_mean = exact; // dS = α da
        for (std::size_t i = 0; i < in.n_q; ++i)
            for (std::size_t j = 0; j < in.n_k; ++j)
                for (std::size_t c = 0; c < in.d_k; ++c) {
                    wide da = 0;
                    for (std::size_t e = 0; e < in.d_v; ++e) da += static_cast<wide>(in.dz[i * in.d_v + e]) * in.v[j * in.d_v + e];
                    const wide off = exact.weight[i * in.n_k + j] * da - exact.ds[i * in.n_k + j];
                    without_mean.dk[j * in.d_k + c] += static_cast<wide>(in.score_scale()) * off * in.q[i * in.d_k + c];
                }
        CHECK(held(without_mean).dk.certain > 1);
        gradient_inputs other = in; // a row's own key is lost
        other.bias.assign(in.n_q * in.n_k, 0);
        for (std::size_t i = 0; i < in.n_q; ++i) other.bias[i * in.n_k + i + in.n_k - in.n_q] = -kernels::infinity;
        CHECK(held(differentiate(other)).dv.certain > 1);
        CHECK(held(differentiate(other)).dq.certain > 1);
        kernels::exact_gradients zero = exact;
        std::fill(zero.dq.begin(), zero.dq.end(), 0);
        CHECK(held(zero).dq.certain > 1);
    }
}
