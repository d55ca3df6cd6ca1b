// SPDX-License-Identifier: BSL-1.0
/// \file
/// The table of ops: what each takes and gives, by name and shape. Layers are put together from their parts with prefixes, and stacks from layers, so that
/// a name is written once.
#pragma once

#include <deque>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace attest {

/// A tensor of an op. The name of a tensor of a stack is a pattern: in "layers.N.ffn.w_1" N is any index.
struct tensor_info {
    std::string_view name;
    std::string_view shape;
    bool optional = false;
};

/// An op. `outputs` are in the order of computation (with norm=post), gradients after them.
struct op_info {
    std::string_view name;
    std::string_view summary;
    std::span<const tensor_info> inputs;
    std::span<const tensor_info> outputs;
};

namespace detail {

using tensor_list = std::vector<tensor_info>;

// Tensors of several parts, one after the other.
inline tensor_list together(std::initializer_list<tensor_list> parts) {
    tensor_list all;
    for (const tensor_list& part : parts) all.insert(all.end(), part.begin(), part.end());
    return all;
}

// What is made once, and what the table's views look at as long as the program runs.
class op_table {
public:
    op_table() {
        const tensor_list dout_like_x = {{"dout", "[.., n, d_model]", true}}, dx = {{"dx", "[.., n, d_model]"}};
        const tensor_list own_weights_of_score = {{"w", "[d_q, d_k]", true}, {"w1", "[a, d_k]", true}, {"w2", "[a, d_q]", true}, {"b", "[a]", true}};
        const tensor_list besides = {{"mask", "[.., n_q, n_k]", true},         {"q_lengths", "[b]", true},    {"k_lengths", "[b]", true},
                                 {"sink", "[H]", true},                    {"alibi_slopes", "[H]", true}, {"dropout_mask", "[.., n_q, n_k]", true},
                                 {"positions", "[n] or [b, n]", true}};
        add("score", "how well each key answers each query: q.k, scaled or not; q W k; or b.tanh(W1 k + W2 q)", together({{{"q", "[.., n_q, d_q]"}, {"k", "[.., n_k, d_k]"}}, own_weights_of_score}),
            {{"scores", "[.., n_q, n_k]"}});
        add("softmax", "softmax(x) along an axis", {{"x", "[.., n]"}, {"dout", "[.., n]", true}}, {{"out", "[.., n]"}, {"dx", "[.., n]"}});
        add("attention", "softmax(scale q kT + mask) v, row by row over the visible keys",
            together({{{"q", "[.., n_q, d_k]"}, {"k", "[.., n_k, d_k]"}, {"v", "[.., n_k, d_v]"}}, besides, own_weights_of_score, {{"dout", "[.., n_q, d_v]", true}}}),
            {{"raw_scores", "[.., n_q, n_k]"}, {"scores", "[.., n_q, n_k]"}, {"weights", "[.., n_q, n_k]"}, {"lse", "[.., n_q]"},
             {"out", "[.., n_q, d_v]"}, {"dq", "[.., n_q, d_k]"}, {"dk", "[.., n_k, d_k]"}, {"dv", "[.., n_k, d_v]"}, {"dmask", "[.., n_q, n_k]"}});

        const tensor_list heads = {{"w_q", "[d_model, H*d_k]"}, {"w_k", "[d_model, H_kv*d_k]"}, {"w_v", "[d_model, H_kv*d_v]"}, {"w_o", "[H*d_v, d_model]"},
                               {"b_q", "[H*d_k]", true},    {"b_k", "[H_kv*d_k]", true},    {"b_v", "[H_kv*d_v]", true},    {"b_o", "[d_model]", true}};
        const tensor_list dheads = {{"dw_q", "[d_model, H*d_k]"}, {"db_q", "[H*d_k]"}, {"dw_k", "[d_model, H_kv*d_k]"}, {"db_k", "[H_kv*d_k]"},
                                {"dw_v", "[d_model, H_kv*d_v]"}, {"db_v", "[H_kv*d_v]"}, {"dw_o", "[H*d_v, d_model]"}, {"db_o", "[d_model]"}};
        const tensor_list attended = {{"weights", "[.., H, n_q, n_k]"}, {"out", "[.., n, d_model]"}};
        const tensor_list x = {{"x", "[.., n, d_model]"}}, memory = {{"memory", "[.., m, d_model]"}}, dmemory = {{"dmemory", "[.., m, d_model]"}},
                      out = {{"out", "[.., n, d_model]"}};
        add("multi_head_attention", "concatenated heads times w_o; each head attends with its own columns of w_q, w_k and w_v",
            together({x, {{"memory", "[.., m, d_model]", true}}, heads, besides, dout_like_x}), together({attended, dx, dmemory, dheads}));

        add("sinusoidal", "the table of sines and cosines that is added to embeddings", {}, {{"out", "[n, d_model]"}});
        add("learned_position", "x plus its positions' rows of a table", together({x, {{"table", "[n_max, d_model]"}}, dout_like_x}),
            together({out, dx, {{"dtable", "[n_max, d_model]"}}}));
        add("rope", "pairs of components rotated by angles that grow with the position",
            {{"x", "[.., n, d]"}, {"positions", "[n] or [b, n]", true}, {"dout", "[.., n, d]", true}}, {{"out", "[.., n, d]"}, {"dx", "[.., n, d]"}});

        const tensor_list row = {{"x", "[.., d]"}}, dout_like_row = {{"dout", "[.., d]", true}}, row_out = {{"out", "[.., d]"}}, drow = {{"dx", "[.., d]"}};
        const tensor_list gamma = {{"gamma", "[d]", true}}, beta = {{"beta", "[d]", true}}, dgamma = {{"dgamma", "[d]"}}, dbeta = {{"dbeta", "[d]"}};
        const tensor_list norm = together({gamma, beta}), dnorm = together({dgamma, dbeta});
        add("layer_norm", "(x - mean) / sqrt(variance + eps) * gamma + beta", together({row, norm, dout_like_row}), together({row_out, drow, dnorm}));
        add("rms_norm", "x / sqrt(mean of squares + eps) * gamma", together({row, gamma, dout_like_row}), together({row_out, drow, dgamma}));
        add("relu", "max(x, 0)", together({row, dout_like_row}), together({row_out, drow}));
        add("gelu", "x times the normal distribution function of x, or one of its approximations", together({row, dout_like_row}), together({row_out, drow}));

        const tensor_list two_layers = {{"w_1", "[d_model, d_ff]"}, {"b_1", "[d_ff]", true}, {"w_2", "[d_ff, d_model]"}, {"b_2", "[d_model]", true}};
        const tensor_list dtwo_layers = {{"dw_1", "[d_model, d_ff]"}, {"db_1", "[d_ff]"}, {"dw_2", "[d_ff, d_model]"}, {"db_2", "[d_model]"}};
        add("feed_forward", "activation(x w_1 + b_1) w_2 + b_2", together({x, two_layers, dout_like_x}), together({out, dx, dtwo_layers}));

        const tensor_list self = prefixed("self_attn.", together({heads, besides})), cross = prefixed("cross_attn.", together({heads, besides}));
        const tensor_list dself = prefixed("self_attn.", dheads), dcross = prefixed("cross_attn.", dheads);
        const auto normed = [&](std::string_view prefix) { return prefixed(prefix, out); };
        const tensor_list ffn = prefixed("ffn.", two_layers), dffn = prefixed("ffn.", dtwo_layers), ffn_out = prefixed("ffn.", out);
        const tensor_list encoder_weights = together({self, prefixed("norm1.", norm), ffn, prefixed("norm2.", norm)});
        const tensor_list encoder_stages = together({prefixed("self_attn.", attended), normed("norm1."), ffn_out, normed("norm2."), out});
        const tensor_list dencoder = together({dself, prefixed("norm1.", dnorm), dffn, prefixed("norm2.", dnorm)});
        const tensor_list decoder_weights = together({self, prefixed("norm1.", norm), cross, prefixed("norm2.", norm), ffn, prefixed("norm3.", norm)});
        const tensor_list decoder_stages = together({prefixed("self_attn.", attended), normed("norm1."), prefixed("cross_attn.", attended), normed("norm2."),
                                                 ffn_out, normed("norm3."), out});
        const tensor_list ddecoder = together({dself, prefixed("norm1.", dnorm), dcross, prefixed("norm2.", dnorm), dffn, prefixed("norm3.", dnorm)});
        const tensor_list final_norm = prefixed("norm.", norm), dfinal_norm = prefixed("norm.", dnorm);
        // In a stack: of all layers that have none of their own.
        const tensor_list shared_self = prefixed("self_attn.", besides), shared_cross = prefixed("cross_attn.", besides);
        add("encoder_layer", "self-attention and feed-forward, each with a residual and a norm", together({x, encoder_weights, dout_like_x}),
            together({encoder_stages, dx, dencoder}));
        add("decoder_layer", "self-attention, attention to a memory and feed-forward, each with a residual and a norm",
            together({x, memory, decoder_weights, dout_like_x}), together({decoder_stages, dx, dmemory, ddecoder}));
        add("encoder", "encoder layers one after the other, and a final norm if there is one", together({x, layers(encoder_weights), final_norm, shared_self, dout_like_x}),
            together({layers(encoder_stages), out, dx, layers(dencoder), dfinal_norm}));
        add("decoder", "decoder layers one after the other, all with one memory, and a final norm if there is one",
            together({x, memory, layers(decoder_weights), final_norm, shared_self, shared_cross, dout_like_x}), together({layers(decoder_stages), out, dx, dmemory, layers(ddecoder), dfinal_norm}));
    }
    op_table(const op_table&) = delete;
    op_table& operator=(const op_table&) = delete;

    [[nodiscard]] std::span<const op_info> all() const noexcept { return ops_; }

private:
    void add(std::string_view name, std::string_view summary, tensor_list inputs, tensor_list outputs) {
        const tensor_list& kept_inputs = tensors_.emplace_back(std::move(inputs));
        const tensor_list& kept_outputs = tensors_.emplace_back(std::move(outputs));
        ops_.push_back({name, summary, kept_inputs, kept_outputs});
    }
    tensor_list prefixed(std::string_view prefix, tensor_list part) {
        for (tensor_info& t : part) t.name = names_.emplace_back(std::string(prefix) + std::string(t.name));
        return part;
    }
    tensor_list layers(const tensor_list& layer) { return prefixed("layers.N.", layer); }

    std::deque<std::string> names_; // deques: what has been put there stays where it is
    std::deque<tensor_list> tensors_;
    std::vector<op_info> ops_;
};

} // namespace detail

} // namespace attest
