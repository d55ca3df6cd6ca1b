// SPDX-License-Identifier: BSL-1.0
/// \file
/// The table of conventions: key, values, the ops that each concerns, and what it means.
#pragma once

#include "attest/question/nearest.hpp"
#include "attest/question/usage_error.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace attest {

/// One convention: its key, its values (default first; a word in capitals is a kind of value), and the ops that it concerns, separated by spaces.
struct convention_info {
    std::string_view key;
    std::vector<std::string_view> values;
    std::string_view ops;
    std::string_view summary;
};

namespace detail {
// Layers and stacks take the conventions of their parts.
inline constexpr std::string_view ops_of_blocks = "encoder_layer decoder_layer encoder decoder";
inline constexpr std::string_view ops_with_heads = "multi_head_attention encoder_layer decoder_layer encoder decoder";
inline constexpr std::string_view ops_that_attend = "attention multi_head_attention encoder_layer decoder_layer encoder decoder";
inline constexpr std::string_view ops_that_score = "score attention multi_head_attention encoder_layer decoder_layer encoder decoder";
inline constexpr std::string_view ops_that_rotate = "rope attention multi_head_attention encoder_layer decoder_layer encoder decoder";
inline constexpr std::string_view ops_with_positions = "learned_position rope attention multi_head_attention encoder_layer decoder_layer encoder decoder";
inline constexpr std::string_view ops_with_weights = "multi_head_attention feed_forward encoder_layer decoder_layer encoder decoder";
inline constexpr std::string_view ops_with_sequences = "score attention multi_head_attention learned_position rope encoder_layer decoder_layer encoder decoder";
inline constexpr std::string_view ops_with_eps = "layer_norm rms_norm encoder_layer decoder_layer encoder decoder";
inline constexpr std::string_view ops_with_variance = "layer_norm encoder_layer decoder_layer encoder decoder";
inline constexpr std::string_view ops_with_activation = "feed_forward encoder_layer decoder_layer encoder decoder";
inline constexpr std::string_view ops_with_gelu = "gelu feed_forward encoder_layer decoder_layer encoder decoder";
inline constexpr std::string_view every_op = "score softmax attention multi_head_attention sinusoidal learned_position rope layer_norm rms_norm relu gelu feed_forward "
                                             "encoder_layer decoder_layer encoder decoder";
} // namespace detail

/// The conventions of this version. In decoders `causal` and `window` are those of self_attn alone.
[[nodiscard]] inline const std::vector<convention_info>& convention_table() {
    using namespace detail;
    static const std::vector<convention_info> table = {
        {"causal", {"none", "top-left", "bottom-right"}, ops_that_attend, "query i sees keys j <= i, or j <= i + n_k - n_q"},
        {"window", {"none", "W", "L,R"}, ops_that_attend, "query i sees fewer than W keys to each side of its own, or at most L before it and R after it"},
        {"score", {"scaled", "dot", "bilinear", "additive"}, ops_that_score, "q.k times scale; q.k; q w k; b.tanh(w1 k + w2 q)"},
        {"scale", {"1/sqrt(d_k)", "NUMBER"}, ops_that_score, "what q.k is multiplied by"},
        {"softcap", {"none", "NUMBER"}, ops_that_score, "scores become cap.tanh(score/cap), before any mask"},
        {"mask-polarity", {"keep", "drop"}, ops_that_attend, "what true (or 1) in a boolean mask means: may be seen, or may not"},
        {"empty-row", {"zero", "nan"}, ops_that_attend, "the output of a row that sees no key"},
        {"dropout-p", {"0", "NUMBER"}, ops_that_attend, "weights that dropout_mask keeps are divided by 1 - p"},
        {"position", {"none", "rope", "alibi"}, ops_that_attend, "how attention knows positions: rotated q and k, or a penalty that grows with the distance"},
        {"rope-pairing", {"interleaved", "half"}, ops_that_rotate, "components 2i and 2i+1 rotate together, or i and i + d/2"},
        {"rope-base", {"10000", "NUMBER"}, ops_that_rotate, "the angle of pair i at position t is t.base^(-2i/d)"},
        {"rope-dim", {"d", "INTEGER"}, ops_that_rotate, "how many components rotate, the first ones; all if it is d"},
        {"position-offset", {"0", "INTEGER"}, ops_with_positions, "the position of the first token"},
        {"heads", {"none", "INTEGER"}, ops_with_heads, "how many heads stand side by side in the columns of w_q; must be given"},
        {"kv-heads", {"heads", "INTEGER"}, ops_with_heads, "how many stand in those of w_k and w_v; divides heads"},
        {"weights", {"per-head", "mean"}, ops_with_heads, "the output weights: of each head, or their mean over the heads"},
        {"weight-layout", {"in_out", "out_in"}, ops_with_weights, "matrices of weights are [in, out], x.W, or [out, in], x.W^T"},
        {"names", {"attest", "torch"}, every_op, "whose names the members have; torch is PyTorch's, and implies weight-layout=out_in"},
        {"layout", {"bhnd", "bnhd", "nbd"}, ops_with_sequences, "order of batch, head and sequence in q, k, v, x, memory, out and their gradients"},
        {"norm", {"post", "pre"}, ops_of_blocks, "LayerNorm after the residual sum, or before the sublayer"},
        {"eps", {"1e-5", "NUMBER"}, ops_with_eps, "the epsilon of LayerNorm and RMSNorm"},
        {"eps-placement", {"variance", "std"}, ops_with_eps, "where it is added: sqrt(variance + eps), or sqrt(variance) + eps"},
        {"variance", {"biased", "unbiased"}, ops_with_variance, "squares are divided by d, or by d - 1"},
        {"activation", {"relu", "gelu"}, ops_with_activation, "between the two matrices of the feed-forward part"},
        {"gelu", {"erf", "tanh", "sigmoid"}, ops_with_gelu, "GELU itself, its approximation by tanh, or x.sigmoid(1.702 x)"},
        {"axis", {"-1", "INTEGER"}, "softmax", "the axis that softmax runs along"},
        {"length", {"none", "INTEGER"}, "sinusoidal", "how many positions; must be given"},
        {"d-model", {"none", "INTEGER"}, "sinusoidal", "how many components; must be given"},
        {"arithmetic", {"undeclared", "f64", "f32", "tf32", "bf16+f32", "f16+f32", "bf16", "f16", "NAME/truncate", "NAME/ftz"}, every_op,
         "what the candidate computed in; /truncate: sums and tf32 operands are cut off; /ftz: subnormals become 0"},
        {"false-alarm", {"1e-9", "NUMBER"}, every_op, "the probability that unbiased rounding goes beyond the expected limit anywhere in a check"},
        {"precision", {"2048", "INTEGER"}, every_op, "bits of the last rung of the ladder; what they do not separate is counted as unseparated"}};
    return table;
}

/// Whether a convention is one of the op's.
[[nodiscard]] inline bool concerns(const convention_info& info, std::string_view op) {
    for (std::string_view rest = info.ops; !rest.empty();) {
        const std::size_t end = rest.find(' ');
        if (rest.substr(0, end) == op) return true;
        rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    }
    return false;
}

namespace detail {

inline const convention_info& find_convention(std::string_view key) {
    std::vector<std::string_view> known = {"op"};
    for (const convention_info& info : convention_table()) {
        if (info.key == key) return info;
        known.push_back(info.key);
    }
    throw usage_error("there is no convention '" + std::string(key) + "'" + did_you_mean(key, known) + "; there are " + listed(known));
}

} // namespace detail

} // namespace attest
