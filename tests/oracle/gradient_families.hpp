// SPDX-License-Identifier: BSL-1.0
// Inputs that mislead limits of gradients, and the styles of kernel that each arithmetic allows.
#pragma once

#include "gradient_kernels.hpp"

namespace kernels {

// One arithmetic: its name, what it stores, and whether weights or everything is stored there.
struct gradient_setting {
    const char* arithmetic;
    const attest::format* format;
    bool wide = false;       // f64 inside
    bool weights = false;    // weights, dS and the out of D may be stored in 16 bits
    bool everything = false; // scaled q and k, scores, da, and the gradients of scaled q and k are
    bool tf32 = false;
};
inline constexpr gradient_setting gradient_settings[] = {
    {"f64", &attest::formats::f64, true},
    {"f32", &attest::formats::f32},
    {"tf32", &attest::formats::f32, false, false, false, true},
    {"bf16+f32", &attest::formats::bf16, false, true},
    {"f16+f32", &attest::formats::f16, false, true},
    {"bf16", &attest::formats::bf16, false, true, true},
    {"f16", &attest::formats::f16, false, true, true},
};

// A family of inputs that has something special.
struct gradient_family {
    const char* name;
    void (*change)(gradient_inputs&, generator&, const attest::format&);
};
namespace change {
inline void times(std::vector<double>& x, double factor, const attest::format& f) {
    for (double& value : x) value = attest::round_to(f, value * factor);
}
inline void plus(std::vector<double>& x, double term, const attest::format& f) {
    for (double& value : x) value = attest::round_to(f, value + term);
}
// Rows of d numbers are those `period` rows before.
inline void repeat(std::vector<double>& x, std::size_t d, std::size_t period) {
    for (std::size_t e = period * d; e < x.size(); ++e) x[e] = x[e - period * d];
}
inline bool narrow(const attest::format& f) { return f == attest::formats::f16; }
} // namespace change

inline constexpr gradient_family gradient_families[] = {
    {"normal", [](gradient_inputs&, generator&, const attest::format&) {}},
    {"v mean 1", [](gradient_inputs& in, generator&, const attest::format& f) { change::times(in.v, 0.25, f), change::plus(in.v, 1, f); }},
    {"v mean 4", [](gradient_inputs& in, generator&, const attest::format& f) { change::times(in.v, 0.05, f), change::plus(in.v, 4, f); }},
    {"dout mean 2", [](gradient_inputs& in, generator&, const attest::format& f) { change::plus(in.dz, 2, f); }},
    {"dout 1", [](gradient_inputs& in, generator&, const attest::format&) { std::fill(in.dz.begin(), in.dz.end(), 1.0); }},
    {"k mean 4", [](gradient_inputs& in, generator&,
                    const attest::format& f) { change::times(in.k, 0.25, f), change::plus(in.k, 4, f), change::times(in.q, 0.25, f); }},
    {"q mean 2", [](gradient_inputs& in, generator&,
                    const attest::format& f) { change::times(in.q, 0.25, f), change::plus(in.q, 2, f), change::times(in.k, 0.5, f); }},
    {"v constant", [](gradient_inputs& in, generator&, const attest::format& f) { std::fill(in.v.begin(), in.v.end(), attest::round_to(f, 1.7)); }},
    {"v of all keys equal", [](gradient_inputs& in, generator&, const attest::format&) { change::repeat(in.v, in.d_v, 1); }},
    {"q = 0", [](gradient_inputs& in, generator&, const attest::format&) { std::fill(in.q.begin(), in.q.end(), 0.0); }},
    {"logits 1e-2", [](gradient_inputs& in, generator&, const attest::format& f) { change::times(in.q, 1e-2, f); }},
    {"logits 1e-3", [](gradient_inputs& in, generator&, const attest::format& f) { change::times(in.q, 1e-3, f); }},
    {"logits 5e-4", [](gradient_inputs& in, generator&, const attest::format& f) { change::times(in.q, 5e-4, f); }},
    {"logits 1e-3, dout = q",
     [](gradient_inputs& in, generator&, const attest::format& f) { // weights in the order of their derivatives
         change::times(in.q, 1e-3, f);
         for (std::size_t i = 0; i < in.n_q; ++i)
             for (std::size_t c = 0; c < in.d_v; ++c) in.dz[i * in.d_v + c] = in.q[i * in.d_k + c % in.d_k];
     }},
    {"equal keys", [](gradient_inputs& in, generator&, const attest::format&) { change::repeat(in.k, in.d_k, 1); }},
    {"repeated keys",
     [](gradient_inputs& in, generator&, const attest::format&) { change::repeat(in.k, in.d_k, 3), change::repeat(in.v, in.d_v, 3); }},
    {"repeated queries", [](gradient_inputs& in, generator&, const attest::format&) { change::repeat(in.q, in.d_k, 3); }},
    {"repeated queries and dout",
     [](gradient_inputs& in, generator&, const attest::format&) { change::repeat(in.q, in.d_k, 3), change::repeat(in.dz, in.d_v, 3); }},
    {"one query and dout",
     [](gradient_inputs& in, generator&, const attest::format&) { change::repeat(in.q, in.d_k, 1), change::repeat(in.dz, in.d_v, 1); }},
    {"query and its negative",
     [](gradient_inputs& in, generator&, const attest::format&) {
         for (std::size_t e = in.d_k; e < in.q.size(); ++e) in.q[e] = -in.q[e - in.d_k];
     }},
    {"k = v",
     [](gradient_inputs& in, generator&, const attest::format&) {
         if (in.d_k == in.d_v) in.v = in.k;
     }},
    {"q = k = v = dout",
     [](gradient_inputs& in, generator&, const attest::format&) {
         if (in.n_q == in.n_k && in.d_k == in.d_v) in.q = in.v = in.dz = in.k;
     }},
    {"dout = q",
     [](gradient_inputs& in, generator&, const attest::format&) {
         if (in.d_k == in.d_v) in.dz = in.q;
     }},
    {"top-left", [](gradient_inputs& in, generator&, const attest::format&) { in.causal = "top-left"; }},
    {"bottom-right", [](gradient_inputs& in, generator&, const attest::format&) { in.causal = "bottom-right"; }},
    {"one key seen",
     [](gradient_inputs& in, generator& r, const attest::format&) {
         in.bias.assign(in.n_q * in.n_k, -infinity);
         for (std::size_t i = 0; i < in.n_q; ++i) in.bias[i * in.n_k + r.below(in.n_k)] = 0;
     }},
    {"bias",
     [](gradient_inputs& in, generator& r, const attest::format& f) {
         in.bias = draw(r, in.n_q * in.n_k, 0, 1, f);
         for (double& b : in.bias) b = r.below(4) == 0 ? -infinity : b;
     }},
    {"bias least",
     [](gradient_inputs& in, generator& r, const attest::format& f) {
         in.bias.assign(in.n_q * in.n_k, 0);
         for (double& b : in.bias) b = r.below(3) == 0 ? attest::round_to(f, change::narrow(f) ? -3e4 : -1e9) : 0;
     }},
    {"alibi",
     [](gradient_inputs& in, generator&, const attest::format& f) { // distances that the format holds
         in.causal = "top-left";
         in.bias.assign(in.n_q * in.n_k, 0);
         for (std::size_t i = 0; i < in.n_q; ++i)
             for (std::size_t j = 0; j < in.n_k; ++j)
                 in.bias[i * in.n_k + j] = attest::round_to(f, -0.0625 * std::fabs(static_cast<double>(i) - static_cast<double>(j)));
     }},
    {"softcap 5", [](gradient_inputs& in, generator&, const attest::format& f) { in.cap = 5, change::times(in.q, 3, f); }},
    {"softcap 50", [](gradient_inputs& in, generator&, const attest::format&) { in.cap = 50; }},
    {"dropout",
     [](gradient_inputs& in, generator& r, const attest::format&) {
         in.drop_p = 0.3;
         in.kept.resize(in.n_q * in.n_k);
         for (double& x : in.kept) x = r.uniform() < 0.3 ? 0 : 1;
     }},
    {"sink", [](gradient_inputs& in, generator&, const attest::format&) { in.has_sink = true, in.sink = 3; }},
    {"scale -0.25", [](gradient_inputs& in, generator&, const attest::format&) { in.scale = -0.25; }},
    {"scale 3", [](gradient_inputs& in, generator&, const attest::format& f) { in.scale = 3, change::times(in.q, 0.1, f); }},
    {"logits 10", [](gradient_inputs& in, generator&, const attest::format& f) { change::times(in.q, 10, f); }},
    {"logits 100", [](gradient_inputs& in, generator&, const attest::format& f) { change::times(in.q, 100, f); }},
    {"logits 1e3", [](gradient_inputs& in, generator&, const attest::format& f) { change::times(in.q, 100, f), change::times(in.k, 10, f); }},
    {"logits 1e4", [](gradient_inputs& in, generator&, const attest::format& f) { change::times(in.q, 100, f), change::times(in.k, 100, f); }},
    {"dout tiny", [](gradient_inputs& in, generator&, const attest::format& f) { change::times(in.dz, change::narrow(f) ? 1e-4 : 1e-20, f); }},
    {"q, k tiny", [](gradient_inputs& in, generator&,
                     const attest::format&
                         f) { change::times(in.q, change::narrow(f) ? 1e-3 : 1e-18, f), change::times(in.k, change::narrow(f) ? 1e-3 : 1e-18, f); }},
};

inline gradient_inputs make_gradient_inputs(const gradient_family& what, generator& r, std::size_t n_q, std::size_t n_k, std::size_t d_k,
                                            std::size_t d_v, const attest::format& f) {
    gradient_inputs in;
    in.n_q = n_q;
    in.n_k = n_k;
    in.d_k = d_k;
    in.d_v = d_v;
    in.q = draw(r, n_q * d_k, 0, 1, f);
    in.k = draw(r, n_k * d_k, 0, 1, f);
    in.v = draw(r, n_k * d_v, 0, 1, f);
    in.dz = draw(r, n_q * d_v, 0, 1, f);
    what.change(in, r, f);
    return in;
}

// A style drawn at random among those that the arithmetic allows.
inline backward_style draw_backward_style(const gradient_setting& s, generator& r) {
    const std::size_t blocks[] = {0, 0, 1, 2, 7, 16};
    backward_style how;
    how.sum = static_cast<order>(r.below(4));
    how.block = blocks[r.below(6)];
    how.fma = r.below(3) == 0;
    how.scale = static_cast<scaling>(r.below(3));
    how.base_two = r.below(3) == 0;
    how.recompute = r.below(2) == 0;
    how.repeat_differently = r.below(2) == 0;
    how.d_from_out = r.below(2) == 0;
    how.product_apart = r.below(3) == 0;
    how.tf32 = s.tf32;
    if (s.weights) {
        if (r.below(4) != 0) {
            how.weights = s.format;
            how.sum_of_stored = r.below(3) == 0;
        }
        if (r.below(4) != 0) {
            how.ds = s.format;
            how.scaled_ds = r.below(2) == 0;
        }
        if (r.below(4) != 0) how.out = s.format;
    }
    if (s.everything && r.below(4) != 0) how.everything = s.format;
    // What is left of 4 ULP in f32 and of 1 in f64 after one rounding, with a mind to binades.
    const int bias = s.wide ? 0 : 3;
    how.exp_bias = bias == 0 ? 0 : static_cast<int>(r.below(3)) * bias - bias;
    how.seed = r.bits();
    return how;
}

} // namespace kernels
