// SPDX-License-Identifier: BSL-1.0
// Questions about multi-head attention and layers.
#pragma once

#include "held.hpp"

namespace asked {

inline attest::settings settings_of_blocks(const std::string& op, const options& o) {
    attest::settings s{{"op", op}};
    if (o.heads != 0) s.emplace_back("heads", std::to_string(o.heads));
    if (o.kv_heads != o.heads) s.emplace_back("kv-heads", std::to_string(o.kv_heads));
    if (o.causal != "none") s.emplace_back("causal", o.causal);
    if (o.window) s.emplace_back("window", std::to_string(o.window->first) + "," + std::to_string(o.window->second));
    if (o.cap != 0) s.emplace_back("softcap", std::to_string(static_cast<int>(o.cap)));
    if (o.score == "dot") s.emplace_back("score", "dot");
    if (o.drop) s.emplace_back("mask-polarity", "drop");
    if (o.nan_if_empty) s.emplace_back("empty-row", "nan");
    if (o.dropped != 0) s.emplace_back("dropout-p", "0.5");
    if (o.position != "none") s.emplace_back("position", o.position);
    if (o.half) s.emplace_back("rope-pairing", "half");
    if (o.offset != 0) s.emplace_back("position-offset", std::to_string(o.offset));
    if (o.out_in) s.emplace_back("weight-layout", "out_in");
    if (o.mean_weights) s.emplace_back("weights", "mean");
    if (o.pre) s.emplace_back("norm", "pre");
    if (o.eps == 1e-6L) s.emplace_back("eps", "1e-6");
    if (o.eps_in_std) s.emplace_back("eps-placement", "std");
    if (o.unbiased) s.emplace_back("variance", "unbiased");
    if (o.activation != "relu") {
        s.emplace_back("activation", "gelu");
        s.emplace_back("gelu", o.activation.substr(5));
    }
    return s;
}

/// Lengths of a block. `memory` 0: none.
struct block_sizes {
    std::size_t b = 2, n = 3, memory = 0, d = 4, d_k = 2, d_v = 2, d_ff = 5, d_memory = 4, b_memory = 0;
};

inline void add_heads(members& to, const std::string& prefix, source& s, const options& o, const block_sizes& n, std::size_t d_memory, bool biases) {
    const auto matrix = [&](std::size_t in, std::size_t out) { return s.normal(o.out_in ? lengths{out, in} : lengths{in, out}, 0.75); };
    to[prefix + "w_q"] = matrix(n.d, o.heads * n.d_k);
    to[prefix + "w_k"] = matrix(d_memory, o.kv_heads * n.d_k);
    to[prefix + "w_v"] = matrix(d_memory, o.kv_heads * n.d_v);
    to[prefix + "w_o"] = matrix(o.heads * n.d_v, n.d);
    if (!biases) return;
    to[prefix + "b_q"] = s.normal({o.heads * n.d_k});
    to[prefix + "b_k"] = s.normal({o.kv_heads * n.d_k});
    to[prefix + "b_v"] = s.normal({o.kv_heads * n.d_v});
    to[prefix + "b_o"] = s.normal({n.d});
}

inline void add_layer(members& to, const std::string& prefix, source& s, const options& o, const block_sizes& n, bool biases) {
    const auto norm = [&](const std::string& name) {
        if (!biases) return;
        to[prefix + name + ".gamma"] = s.normal({n.d}, 0.25, 1);
        to[prefix + name + ".beta"] = s.normal({n.d}, 0.25);
    };
    add_heads(to, prefix + "self_attn.", s, o, n, n.d, biases);
    norm("norm1");
    if (n.memory != 0) {
        add_heads(to, prefix + "cross_attn.", s, o, n, n.d_memory, biases);
        norm("norm3");
    }
    norm("norm2");
    to[prefix + "ffn.w_1"] = s.normal(o.out_in ? lengths{n.d_ff, n.d} : lengths{n.d, n.d_ff});
    to[prefix + "ffn.w_2"] = s.normal(o.out_in ? lengths{n.d, n.d_ff} : lengths{n.d_ff, n.d});
    if (!biases) return;
    to[prefix + "ffn.b_1"] = s.normal({n.d_ff});
    to[prefix + "ffn.b_2"] = s.normal({n.d});
}

inline question asked_tokens(const std::string& op, source& s, const options& o, const block_sizes& n) {
    question asked{settings_of_blocks(op, o), {{"x", s.normal({n.b, n.n, n.d})}, {"dout", s.normal({n.b, n.n, n.d})}}};
    if (n.memory != 0) asked.inputs["memory"] = s.normal({n.b_memory == 0 ? n.b : n.b_memory, n.memory, n.d_memory});
    return asked;
}
inline question asked_heads(source& s, const options& o, const block_sizes& n, bool biases = true) {
    question asked = asked_tokens("multi_head_attention", s, o, n);
    add_heads(asked.inputs, "", s, o, n, n.memory == 0 ? n.d : n.d_memory, biases);
    return asked;
}
/// `stack` 0: the one layer itself.
inline question asked_layers(source& s, const options& o, const block_sizes& n, std::size_t stack = 0, bool biases = true) {
    question asked = asked_tokens(std::string(n.memory == 0 ? "encoder" : "decoder") + (stack == 0 ? "_layer" : ""), s, o, n);
    if (stack == 0) add_layer(asked.inputs, "", s, o, n, biases);
    for (std::size_t l = 0; l < stack; ++l) add_layer(asked.inputs, "layers." + std::to_string(l) + ".", s, o, n, biases);
    if (stack != 0 && biases) {
        asked.inputs["norm.gamma"] = s.normal({n.d}, 0.25, 1);
        asked.inputs["norm.beta"] = s.normal({n.d});
    }
    return asked;
}
inline auto heads_model(const options& o) {
    return [o](const auto& in) { return plain::multi_head_attention(in, o); };
}
inline auto layers_model(const options& o, std::size_t stack = 0) {
    return [o, stack](const auto& in) { return plain::layers(in, o, stack); };
}

} // namespace asked
