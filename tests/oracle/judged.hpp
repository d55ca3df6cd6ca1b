// SPDX-License-Identifier: BSL-1.0
// An emulated kernel's inputs and outputs, put before `check`.
#pragma once

#include "attest/oracle/decode.hpp"
#include "checked.hpp"
#include "kernels.hpp"

#include <cstdio>

namespace kernels {

inline attest::array array_of(attest::dtype type, std::vector<std::size_t> shape, const std::vector<double>& values) {
    attest::array a{type, std::move(shape), {}};
    a.data.resize(values.size() * attest::size_of(type));
    for (std::size_t i = 0; i < values.size(); ++i) attest::encode(a, i, values[i]);
    return a;
}

using named_values = std::vector<std::pair<std::string, std::vector<double>>>;

// Outputs are encoded in `stored`, rounded once.
inline attest::check_result judge(const inputs& in, attest::dtype stored, const std::string& arithmetic, const named_values& made,
                                  attest::settings more = {}) {
    using attest::array;
    const array q = array_of(stored, {in.n_q, in.d_k}, in.q), k = array_of(stored, {in.n_k, in.d_k}, in.k), v = array_of(stored, {in.n_k, in.d_v}, in.v);
    const array bias = array_of(stored, {in.bias.empty() ? 0 : in.n_q, in.n_k}, in.bias);
    std::vector<attest::named_view> given{{"q", q}, {"k", k}, {"v", v}};
    if (!in.bias.empty()) given.emplace_back("mask", bias);
    std::vector<array> owned;
    owned.reserve(made.size());
    std::vector<attest::named_view> candidates;
    for (const auto& [name, values] : made) {
        owned.push_back(array_of(stored, name == "lse" ? std::vector{in.n_q} : std::vector{in.n_q, name == "out" ? in.d_v : in.n_k}, values));
        candidates.emplace_back(name, owned.back());
    }
    attest::settings settings{{"op", "attention"}, {"causal", in.causal}};
    if (!arithmetic.empty()) settings.emplace_back("arithmetic", arithmetic);
    if (in.scale != 0) {
        char text[40];
        std::snprintf(text, sizeof text, "%a", in.scale);
        settings.emplace_back("scale", text);
    }
    settings.insert(settings.end(), more.begin(), more.end());
    return once::check(settings, given, candidates);
}

// One arithmetic: its name, what it stores, and whether weights or everything is stored there.
struct setting {
    const char* arithmetic;
    attest::dtype stored;
    const attest::format* format;
    bool wide = false;       // f64 inside
    bool weights = false;    // weights may be stored in 16 bits
    bool everything = false; // scaled q and k and scores are
    bool tf32 = false;
};
inline constexpr setting settings_of_all[] = {
    {"f64", attest::dtype::f64, &attest::formats::f64, true},
    {"f32", attest::dtype::f32, &attest::formats::f32},
    {"tf32", attest::dtype::f32, &attest::formats::f32, false, false, false, true},
    {"bf16+f32", attest::dtype::bf16, &attest::formats::bf16, false, true},
    {"f16+f32", attest::dtype::f16, &attest::formats::f16, false, true},
    {"bf16", attest::dtype::bf16, &attest::formats::bf16, false, true, true},
    {"f16", attest::dtype::f16, &attest::formats::f16, false, true, true},
};

// A family of inputs that has something special, at n keys and in a format.
struct family {
    const char* name;
    bool mild; // scores are small: nothing may be undecided
    void (*change)(inputs&, generator&, const attest::format&);
};

inline double stored(const attest::format& f, double x) { return attest::round_to(f, x); }
inline void times(std::vector<double>& x, double factor, const attest::format& f) {
    for (double& value : x) value = stored(f, value * factor);
}
inline void plus(std::vector<double>& x, double term, const attest::format& f) {
    for (double& value : x) value = stored(f, value + term);
}
inline bool narrow(const attest::format& f) { return f == attest::formats::f16; }

inline constexpr family families[] = {
    {"normal", true, [](inputs&, generator&, const attest::format&) {}},
    {"v mean 1", true, [](inputs& in, generator&, const attest::format& f) { times(in.v, 0.25, f), plus(in.v, 1, f); }},
    {"v mean 4", true, [](inputs& in, generator&, const attest::format& f) { times(in.v, 0.05, f), plus(in.v, 4, f); }},
    {"v constant", true, [](inputs& in, generator&, const attest::format& f) { std::fill(in.v.begin(), in.v.end(), stored(f, 1.7)); }},
    {"v of one key", true, [](inputs& in, generator&, const attest::format&) { std::fill(in.v.begin() + static_cast<long>(in.d_v), in.v.end(), 0.0); }},
    {"q = 0", true, [](inputs& in, generator&, const attest::format&) { std::fill(in.q.begin(), in.q.end(), 0.0); }},
    {"equal keys", true, [](inputs& in, generator&, const attest::format&) { for (std::size_t e = in.d_k; e < in.k.size(); ++e) in.k[e] = in.k[e - in.d_k]; }},
    {"repeated tokens", true, [](inputs& in, generator&, const attest::format&) {
         for (std::size_t e = 3 * in.d_k; e < in.k.size(); ++e) in.k[e] = in.k[e - 3 * in.d_k];
         for (std::size_t e = 3 * in.d_v; e < in.v.size(); ++e) in.v[e] = in.v[e - 3 * in.d_v];
     }},
    {"nearly equal keys", true, [](inputs& in, generator& r, const attest::format& f) {
         for (std::size_t e = in.d_k; e < in.k.size(); ++e) in.k[e] = stored(f, in.k[e - in.d_k] * (1 + (r.bits() % 3 == 0 ? 2 * f.unit_roundoff() : 0)));
     }},
    {"k = v", true, [](inputs& in, generator&, const attest::format&) { if (in.d_k == in.d_v) in.v = in.k; }},
    {"top-left", true, [](inputs& in, generator&, const attest::format&) { in.causal = "top-left"; }},
    {"bottom-right", true, [](inputs& in, generator&, const attest::format&) { in.causal = "bottom-right"; }},
    {"one key seen", true, [](inputs& in, generator& r, const attest::format&) {
         in.bias.assign(in.n_q * in.n_k, -infinity);
         for (std::size_t i = 0; i < in.n_q; ++i) in.bias[i * in.n_k + r.below(in.n_k)] = 0;
     }},
    {"bias", true, [](inputs& in, generator& r, const attest::format& f) {
         in.bias = draw(r, in.n_q * in.n_k, 0, 1, f);
         for (double& b : in.bias) b = r.below(4) == 0 ? -infinity : b;
     }},
    {"bias -1e9", false, [](inputs& in, generator& r, const attest::format& f) {
         in.bias.assign(in.n_q * in.n_k, 0);
         for (double& b : in.bias) b = r.below(3) == 0 ? stored(f, narrow(f) ? -6e4 : -1e9) : 0;
     }},
    {"bias least", false, [](inputs& in, generator& r, const attest::format& f) {
         in.bias.assign(in.n_q * in.n_k, 0);
         for (double& b : in.bias) b = r.below(3) == 0 ? -f.greatest() : 0;
     }},
    {"scale 0.3", true, [](inputs& in, generator&, const attest::format&) { in.scale = static_cast<double>(0.3F); }},
    {"negative scale", true, [](inputs& in, generator&, const attest::format&) { in.scale = -0.25; }},
    {"logits 10", true, [](inputs& in, generator&, const attest::format& f) { times(in.q, 10, f); }},
    {"logits 100", false, [](inputs& in, generator&, const attest::format& f) { times(in.q, 100, f); }},
    {"logits 1e4", false, [](inputs& in, generator&, const attest::format& f) { times(in.q, 100, f), times(in.k, 100, f); }},
    {"logits near 1e4", false, [](inputs& in, generator&, const attest::format& f) {
         std::fill(in.q.begin(), in.q.end(), stored(f, 100 / std::sqrt(static_cast<double>(in.d_k))));
         times(in.k, 0.01, f), plus(in.k, 100, f);
     }},
    {"v subnormal", false, [](inputs& in, generator&, const attest::format& f) { times(in.v, 64 * attest::ulp(f, 0), f); }},
    {"q, k tiny", true, [](inputs& in, generator&, const attest::format& f) { times(in.q, narrow(f) ? 1e-5 : 1e-20, f), times(in.k, narrow(f) ? 1e-4 : 1e-20, f); }},
    {"q subnormal", true, [](inputs& in, generator&, const attest::format& f) { times(in.q, 64 * attest::ulp(f, 0), f); }},
    {"q subnormal, k huge", false, [](inputs& in, generator&, const attest::format& f) {
         times(in.q, 4 * attest::ulp(f, 0), f), times(in.k, f.greatest() / 16, f);
     }},
    {"v huge", false, [](inputs& in, generator&, const attest::format& f) { times(in.v, narrow(f) ? 1e4 : 1e30, f); }},
    {"v greatest", false, [](inputs& in, generator&, const attest::format& f) { for (double& v : in.v) v = std::copysign(f.greatest() / 2, v); }},
};

inline inputs make_inputs(const family& what, generator& r, std::size_t n_q, std::size_t n_k, std::size_t d, const attest::format& f) {
    inputs in{n_q, n_k, d, d, draw(r, n_q * d, 0, 1, f), draw(r, n_k * d, 0, 1, f), draw(r, n_k * d, 0, 1, f), {}, "none", 0};
    what.change(in, r, f);
    return in;
}

// A style drawn at random among those that the arithmetic allows.
inline style draw_style(const setting& s, generator& r, std::size_t n_k) {
    const std::size_t blocks[] = {0, 0, 1, 2, 7, 16, n_k};
    style how;
    how.block = blocks[r.below(7)];
    how.split = how.block != 0 && r.below(3) == 0;
    how.sum = static_cast<order>(r.below(4));
    how.fma = r.below(2) == 0;
    how.scale = static_cast<scaling>(r.below(3));
    how.base_two = r.below(3) == 0;
    how.divide_first = r.below(2) == 0;
    how.reciprocal = r.below(2) == 0;
    if (s.weights && r.below(4) != 0) {
        how.weights = s.format;
        how.sum_of_stored = r.below(3) == 0;
    }
    if (s.everything && r.below(4) != 0) how.everything = s.format;
    how.tf32 = s.tf32;
    // What is left of 4 ULP in f32 and of 1 in f64 after one rounding, with a mind to binades.
    const int bias = s.wide ? 0 : 3;
    how.exp_bias = bias == 0 ? 0 : static_cast<int>(r.below(3)) * bias - bias;
    how.seed = r.bits();
    return how;
}

inline outputs run(const setting& s, const inputs& in, const style& how) {
    inputs used = in;
    if (how.scale == scaling::of_both && used.scale < 0) { // a negative scale has no root
        style other = how;
        other.scale = scaling::of_query;
        return s.wide ? kernel<double>(used, other).run() : kernel<float>(used, other).run();
    }
    return s.wide ? kernel<double>(used, how).run() : kernel<float>(used, how).run();
}

} // namespace kernels
