// SPDX-License-Identifier: BSL-1.0
// The tensors of a layer's weights, one after the other, for tests that fill or change every one of them.
#pragma once

#include "attest/formula/decoder.hpp"

#include <cstdint>
#include <random>
#include <string>

namespace layers {

// f(name, tensor) for each tensor. W may be const.
template <class W, class F> void each_tensor(W& w, const F& f, const std::string& prefix = "") {
    if constexpr (requires { w.self_attn; }) {
        each_tensor(w.self_attn, f, prefix + "self_attn.");
        each_tensor(w.norm1, f, prefix + "norm1.");
        if constexpr (requires { w.cross_attn; }) each_tensor(w.cross_attn, f, prefix + "cross_attn.");
        each_tensor(w.norm2, f, prefix + "norm2.");
        each_tensor(w.ffn, f, prefix + "ffn.");
        if constexpr (requires { w.norm3; }) each_tensor(w.norm3, f, prefix + "norm3.");
    } else if constexpr (requires { w.w_q; }) {
        f(prefix + "w_q", w.w_q), f(prefix + "w_k", w.w_k), f(prefix + "w_v", w.w_v), f(prefix + "w_o", w.w_o);
        f(prefix + "b_q", w.b_q), f(prefix + "b_k", w.b_k), f(prefix + "b_v", w.b_v), f(prefix + "b_o", w.b_o);
    } else if constexpr (requires { w.w_1; }) {
        f(prefix + "w_1", w.w_1), f(prefix + "b_1", w.b_1), f(prefix + "w_2", w.w_2), f(prefix + "b_2", w.b_2);
    } else {
        f(prefix + "gamma", w.gamma), f(prefix + "beta", w.beta);
    }
}

// Numbers k/16 between −2 and 2: exact in every arithmetic.
template <class X> void fill(X& x, std::mt19937_64& generator) {
    using S = typename X::value_type;
    for (std::size_t e = 0; e < x.elements(); ++e) x.data()[e] = S(static_cast<int>(generator() % 65) - 32) / S(16);
}
// Weights that are all different, the same in every arithmetic.
template <class W> W filled_weights(std::uint64_t seed) {
    std::mt19937_64 generator(seed);
    W w{};
    each_tensor(w, [&](const std::string&, auto& t) { fill(t, generator); });
    return w;
}
template <class X> X filled(std::uint64_t seed) {
    std::mt19937_64 generator(seed);
    X x{};
    fill(x, generator);
    return x;
}

} // namespace layers
