// SPDX-License-Identifier: BSL-1.0
// The decoder: masked self-attention, cross-attention, feed-forward network, in both orders; stacks; encoder and decoder together.

#include "opaque.hpp"
#include "settle.hpp"
#include "three_times.hpp"

#include "attest/formula/decoder.hpp"

namespace attest::proofs {
namespace {

struct n : axis<2> {}; // of the target
struct m : axis<3> {}; // of the memory
struct d : axis<4> {};
struct d_memory : axis<5> {};
struct H : axis<2> {};
struct d_k : axis<2> {};
struct d_v : axis<1> {};
struct d_ff : axis<3> {};
using layer_weights = decoder_layer_weights<opaque, d, H, d_k, d_v, d_ff, H, d_memory>;
using norm_weights = layer_norm_weights<opaque, d>;

struct free_layer {
    tensor<opaque, n, d> x;
    tensor<opaque, m, d_memory> memory;
    layer_weights w;
    block_options<opaque> options;
};
constexpr free_layer of(opaque_draw& free, norm_position norm, activation_kind act = activation_kind::relu) {
    return {free.matrix<n, d>(), free.matrix<m, d_memory>(), free_weights<layer_weights>(free),
            {.norm = norm, .layer_norm = {.eps = free.number()}, .activation = {act}}};
}
// The target does not see its future; the memory is seen but for its last token.
struct first_two_keys {
    [[nodiscard]] constexpr bool visible(std::size_t, std::size_t j) const { return j < 2; }
};
constexpr attention_how<causal_top_left> masked{};
constexpr attention_how<first_two_keys> padded{};

// [post]
// a = LN(x + masked self-attention(x)), c = LN(a + cross-attention(a, memory)), out = LN(c + FFN(c)).
constexpr bool is_post(opaque_draw& free, activation_kind act) {
    const auto [x, memory, w, options] = of(free, norm_position::post, act);
    const auto& norm = options.layer_norm;
    const auto layer = decoder_layer_stages(x, memory, w, options, masked, padded);

    const auto self = multi_head_attention(x, w.self_attn, masked);
    const auto a = layer_norm(residual(x, self), w.norm1, norm);
    const auto cross = multi_head_attention(a, memory, w.cross_attn, padded);
    const auto c = layer_norm(residual(a, cross), w.norm2, norm);
    const auto FFN_c = feed_forward(c, w.ffn, options.activation);
    const auto out = layer_norm(residual(c, FFN_c), w.norm3, norm);

    return layer.self_attn_out == self && layer.after_self == residual(x, self) && layer.norm1_out == a && layer.cross_attn_out == cross &&
           layer.after_cross == residual(a, cross) && layer.norm2_out == c && layer.ffn_out == FFN_c && layer.after_ffn == residual(c, FFN_c) &&
           layer.norm3_out == out && layer.out == out && decoder_layer(x, memory, w, options, masked, padded) == out;
}
// [/post]
// [pre]
// a = x + masked self-attention(LN(x)), c = a + cross-attention(LN(a), memory), out = c + FFN(LN(c)).
constexpr bool is_pre(opaque_draw& free, activation_kind act) {
    const auto [x, memory, w, options] = of(free, norm_position::pre, act);
    const auto& norm = options.layer_norm;
    const auto layer = decoder_layer_stages(x, memory, w, options, masked, padded);

    const auto LN_x = layer_norm(x, w.norm1, norm);
    const auto self = multi_head_attention(LN_x, w.self_attn, masked);
    const auto a = residual(x, self);
    const auto LN_a = layer_norm(a, w.norm2, norm);
    const auto cross = multi_head_attention(LN_a, memory, w.cross_attn, padded);
    const auto c = residual(a, cross);
    const auto LN_c = layer_norm(c, w.norm3, norm);
    const auto FFN_c = feed_forward(LN_c, w.ffn, options.activation);
    const auto out = residual(c, FFN_c);

    return layer.norm1_out == LN_x && layer.self_attn_out == self && layer.after_self == a && layer.norm2_out == LN_a && layer.cross_attn_out == cross &&
           layer.after_cross == c && layer.norm3_out == LN_c && layer.ffn_out == FFN_c && layer.after_ffn == out && layer.out == out &&
           decoder_layer(x, memory, w, options, masked, padded) == out;
}
// [/pre]

// [B055]
// Masked: another second token of the target changes nothing of the first one's row; unmasked it does. Cross: another memory changes every row.
constexpr bool is_masked_and_reads_the_memory = for_any_functions(1, [](opaque_draw& free) {
    const auto [x, memory, w, options] = of(free, norm_position::post);
    auto other_future = x;
    auto other_memory = memory;
    other_future(1, 2) = free.number(), other_memory(1, 2) = free.number();
    const attention_how<> everything_seen{};
    const auto out = decoder_layer(x, memory, w, options, masked), unmasked = decoder_layer(x, memory, w, options, everything_seen);
    const auto out_by_future = decoder_layer(other_future, memory, w, options, masked);
    const auto unmasked_by_future = decoder_layer(other_future, memory, w, options, everything_seen);
    const auto out_by_memory = decoder_layer(x, other_memory, w, options, masked);
    return out_by_future[0] == out[0] && !(out_by_future[1] == out[1]) && !(unmasked_by_future[0] == unmasked[0]) && !(out_by_memory[0] == out[0]) &&
           !(out_by_memory[1] == out[1]);
});

// The ledger's `degree` is argued in encoder.cpp. (Here, with pre-norm: arguments of degree 18 at most, and on both sides 40 exponentials, 16 roots and 12
// activations.)
const entry B055 = settle("B055", //
                          holds([](const claim& c) {
                              return for_any_functions(c.points_of_degree(16777216), [](opaque_draw& free) { return is_post(free, activation_kind::relu); });
                          }),
                          holds([](const claim& c) {
                              return for_any_functions(c.points_of_degree(16777216), [](opaque_draw& free) { return is_pre(free, activation_kind::gelu); });
                          }),
                          holds([] { return is_masked_and_reads_the_memory; }));
// [/B055]

// A stack: layer after layer, each with the same memory; the final norm last, if there is one.
static_assert(for_any_functions(1, [](opaque_draw& free) {
    const layer_weights array[] = {free_weights<layer_weights>(free), free_weights<layer_weights>(free)};
    const auto norm = free_weights<norm_weights>(free);
    const norm_weights* no_norm = nullptr;
    const auto [x, memory, w, options] = of(free, norm_position::pre);

    const auto out = decoder_layer(decoder_layer(x, memory, array[0], options, masked, padded), memory, array[1], options, masked, padded);
    return decoder(x, memory, array, nullptr, options, masked, padded) == out && decoder(x, memory, array, no_norm, options, masked, padded) == out &&
           decoder(x, memory, array, &norm, options, masked, padded) == layer_norm(out, norm, options.layer_norm) &&
           decoder(x, memory, layer_stack<layer_weights, 0>{}, nullptr, options, masked, padded) == x;
}));

// Encoder and decoder: the memory is the encoder's output, by its own norm. By default the target does not see its future, and all of the source.
static_assert(for_any_functions(1, [](opaque_draw& free) {
    using encoder_weights = encoder_layer_weights<opaque, d_memory, H, d_k, d_v, d_ff>;
    const encoder_weights encoder_layers[] = {free_weights<encoder_weights>(free)};
    const layer_weights decoder_layers[] = {free_weights<layer_weights>(free)};
    const auto encoder_norm = free_weights<layer_norm_weights<opaque, d_memory>>(free);
    const auto decoder_norm = free_weights<norm_weights>(free);
    const auto [target, source, w, options] = of(free, norm_position::pre);

    const auto memory = encoder(source, encoder_layers, &encoder_norm, options);
    const auto out = decoder(target, memory, decoder_layers, &decoder_norm, options, masked);
    static_assert(std::same_as<decltype(out), const tensor<opaque, n, d>>, "a row for each token of the target");
    const encoder_decoder_how<attention_how<causal_top_left>, attention_how<first_two_keys>, attention_how<first_two_keys>> other_how{};
    const auto other_memory = encoder(source, encoder_layers, &encoder_norm, options, masked);
    return encoder_decoder(source, target, encoder_layers, &encoder_norm, decoder_layers, &decoder_norm, options) == out &&
           encoder_decoder(source, target, encoder_layers, &encoder_norm, decoder_layers, &decoder_norm, options, other_how) ==
               decoder(target, other_memory, decoder_layers, &decoder_norm, options, padded, padded);
}));

// Who looks sees each stage once, in the order of computation, and may put another in its place.
constexpr const char* order_of_post[] = {"self_attn.out", "norm1.out", "cross_attn.out", "norm2.out", "ffn.out", "norm3.out"};
constexpr const char* order_of_pre[] = {"norm1.out", "self_attn.out", "norm2.out", "cross_attn.out", "norm3.out", "ffn.out"};
static_assert(for_any_functions(1, [](opaque_draw& free) {
    const auto [x, memory, w, options] = of(free, norm_position::post);
    for (const char* name : order_of_post) {
        std::size_t seen = 0;
        const three_times thrice{order_of_post, name, &seen};
        const auto layer = decoder_layer_stages(x, memory, w, options, masked, padded, thrice);
        const auto self = thrice.if_it_is("self_attn.out", multi_head_attention(x, w.self_attn, masked));
        const auto a = thrice.if_it_is("norm1.out", layer_norm(residual(x, self), w.norm1, options.layer_norm));
        const auto cross = thrice.if_it_is("cross_attn.out", multi_head_attention(a, memory, w.cross_attn, padded));
        const auto c = thrice.if_it_is("norm2.out", layer_norm(residual(a, cross), w.norm2, options.layer_norm));
        const auto FFN_c = thrice.if_it_is("ffn.out", feed_forward(c, w.ffn, options.activation));
        const auto out = thrice.if_it_is("norm3.out", layer_norm(residual(c, FFN_c), w.norm3, options.layer_norm));
        if (seen != std::size(order_of_post) || !(layer.out == out)) return false;
    }
    return true;
}));
static_assert(for_any_functions(1, [](opaque_draw& free) {
    const auto [x, memory, w, options] = of(free, norm_position::pre);
    for (const char* name : order_of_pre) {
        std::size_t seen = 0;
        const three_times thrice{order_of_pre, name, &seen};
        const auto layer = decoder_layer_stages(x, memory, w, options, masked, padded, thrice);
        const auto LN_x = thrice.if_it_is("norm1.out", layer_norm(x, w.norm1, options.layer_norm));
        const auto a = residual(x, thrice.if_it_is("self_attn.out", multi_head_attention(LN_x, w.self_attn, masked)));
        const auto LN_a = thrice.if_it_is("norm2.out", layer_norm(a, w.norm2, options.layer_norm));
        const auto c = residual(a, thrice.if_it_is("cross_attn.out", multi_head_attention(LN_a, memory, w.cross_attn, padded)));
        const auto LN_c = thrice.if_it_is("norm3.out", layer_norm(c, w.norm3, options.layer_norm));
        const auto out = residual(c, thrice.if_it_is("ffn.out", feed_forward(LN_c, w.ffn, options.activation)));
        if (seen != std::size(order_of_pre) || !(layer.out == out)) return false;
    }
    return true;
}));

} // namespace
} // namespace attest::proofs
