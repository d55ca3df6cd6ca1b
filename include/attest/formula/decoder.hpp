// SPDX-License-Identifier: BSL-1.0
/// \file
/// The decoder: N layers of self-attention, cross-attention to the encoder's output (the memory), and feed-forward network; and encoder and decoder
/// together (B055 to B059; Vaswani et al., arXiv 1706.03762).
///
/// | `norm_position` | a decoder layer |
/// |---|---|
/// | `post` | a = LN_1(x + MHA(x)), c = LN_2(a + MHA(a, memory)), out = LN_3(c + FFN(c)) |
/// | `pre` | a = x + MHA(LN_1(x)), c = a + MHA(LN_2(a), memory), out = c + FFN(LN_3(c)) |
///
/// With pre-norm the memory is taken as it is: the encoder's final norm has been over it. How self-attention is masked is always said, never assumed:
/// `attention_how{.mask = causal_top_left{}}` hides the future.
#pragma once

#include "attest/formula/encoder.hpp"

namespace attest {

/// The weights of a decoder layer. `norm1` belongs to the self-attention, `norm2` to the cross-attention, `norm3` to the feed-forward network.
template <class S, axis_type DModel, axis_type H, axis_type DK, axis_type DV, axis_type DFF, axis_type HKV = H, axis_type DMemory = DModel>
struct decoder_layer_weights {
    multi_head_weights<S, DModel, H, DK, DV, HKV> self_attn = {};
    layer_norm_weights<S, DModel> norm1 = {};
    multi_head_weights<S, DModel, H, DK, DV, HKV, DMemory> cross_attn = {};
    layer_norm_weights<S, DModel> norm2 = {};
    feed_forward_weights<S, DModel, DFF> ffn = {};
    layer_norm_weights<S, DModel> norm3 = {};

    using model_axis = DModel;
    using memory_axis = DMemory;
};

namespace detail {
template <class X, class M, class W>
inline constexpr bool streams_fit = tokens_fit<X, W> && rules::weight_row_for_each_input::holds<axis_of<M, 1>, typename W::memory_axis>;
} // namespace detail

/// Every stage of a decoder layer, as in `encoder_stages`.
template <class Sum, class Sublayer> struct decoder_stages {
    Sublayer self_attn_out;  ///< of x, or of norm1_out (pre)
    Sum after_self;          ///< x + self_attn_out
    Sum norm1_out;           ///< LN_1(after_self), or LN_1(x) (pre)
    Sublayer cross_attn_out; ///< of norm1_out and the memory, or of norm2_out and the memory (pre)
    Sum after_cross;         ///< norm1_out + cross_attn_out, or after_self + cross_attn_out (pre)
    Sum norm2_out;           ///< LN_2(after_cross), or LN_2(after_self) (pre)
    Sublayer ffn_out;        ///< of norm2_out, or of norm3_out (pre)
    Sum after_ffn;           ///< norm2_out + ffn_out, or after_cross + ffn_out (pre)
    Sum norm3_out;           ///< LN_3(after_ffn), or LN_3(after_cross) (pre)
    Sum out;                 ///< norm3_out, or after_ffn (pre)
};

/// All stages of a decoder layer. Shapes: X n × d_model, memory m × d_memory → each n × d_model.
/// Throws shape_error (or does not compile) where X or the memory does not fit the weights, or they each other.
/// `visit(name, stage)` as in encoder_layer_stages; the further names are "cross_attn.out" and "norm3.out".
template <matrix_like X, matrix_like M, class W, class SelfHow, class CrossHow = attention_how<>, class Visit = no_visit>
    requires requires(const W& w) { w.cross_attn; }
[[nodiscard]] constexpr auto decoder_layer_stages(const X& x, const M& memory, const W& w, const block_options<scalar_of<X>>& options,
                                                  const SelfHow& self_how, const CrossHow& cross_how = {}, const Visit& visit = {}) {
    detail::check_tokens<axis_of<X, 1>>(x.length(1), w.self_attn.w_q);
    detail::check_tokens<axis_of<M, 1>>(memory.length(1), w.cross_attn.w_k);
    if constexpr (detail::streams_fit<X, M, W>) { // else the compiler has spoken
        using sum_type = tensor<scalar_of<X>, axis_of<X, 0>, joined<axis_of<X, 1>, typename W::model_axis>>;
        using sublayer_type = tensor<scalar_of<X>, axis_of<X, 0>, typename W::model_axis>;
        decoder_stages<sum_type, sublayer_type> s{};
        if (options.norm == norm_position::post) {
            s.self_attn_out = multi_head_attention(x, w.self_attn, self_how);
            visit("self_attn.out", s.self_attn_out);
            s.after_self = residual(x, s.self_attn_out);
            s.norm1_out = layer_norm(s.after_self, w.norm1, options.layer_norm);
            visit("norm1.out", s.norm1_out);
            s.cross_attn_out = multi_head_attention(s.norm1_out, memory, w.cross_attn, cross_how);
            visit("cross_attn.out", s.cross_attn_out);
            s.after_cross = residual(s.norm1_out, s.cross_attn_out);
            s.norm2_out = layer_norm(s.after_cross, w.norm2, options.layer_norm);
            visit("norm2.out", s.norm2_out);
            s.ffn_out = feed_forward(s.norm2_out, w.ffn, options.activation);
            visit("ffn.out", s.ffn_out);
            s.after_ffn = residual(s.norm2_out, s.ffn_out);
            s.norm3_out = layer_norm(s.after_ffn, w.norm3, options.layer_norm);
            visit("norm3.out", s.norm3_out);
            s.out = s.norm3_out;
        } else {
            s.norm1_out = layer_norm(x, w.norm1, options.layer_norm);
            visit("norm1.out", s.norm1_out);
            s.self_attn_out = multi_head_attention(s.norm1_out, w.self_attn, self_how);
            visit("self_attn.out", s.self_attn_out);
            s.after_self = residual(x, s.self_attn_out);
            s.norm2_out = layer_norm(s.after_self, w.norm2, options.layer_norm);
            visit("norm2.out", s.norm2_out);
            s.cross_attn_out = multi_head_attention(s.norm2_out, memory, w.cross_attn, cross_how);
            visit("cross_attn.out", s.cross_attn_out);
            s.after_cross = residual(s.after_self, s.cross_attn_out);
            s.norm3_out = layer_norm(s.after_cross, w.norm3, options.layer_norm);
            visit("norm3.out", s.norm3_out);
            s.ffn_out = feed_forward(s.norm3_out, w.ffn, options.activation);
            visit("ffn.out", s.ffn_out);
            s.after_ffn = residual(s.after_cross, s.ffn_out);
            s.out = s.after_ffn;
        }
        return s;
    } else {
        using x_type = tensor<scalar_of<X>, axis_of<X, 0>, axis_of<X, 1>>;
        return decoder_stages<x_type, x_type>{};
    }
}

/// A decoder layer. Shapes: X n × d_model, memory m × d_memory → n × d_model.
template <matrix_like X, matrix_like M, class W, class SelfHow, class CrossHow = attention_how<>>
    requires requires(const W& w) { w.cross_attn; }
[[nodiscard]] constexpr auto decoder_layer(const X& x, const M& memory, const W& w, const block_options<scalar_of<X>>& options,
                                           const SelfHow& self_how, const CrossHow& cross_how = {}) {
    return decoder_layer_stages(x, memory, w, options, self_how, cross_how).out;
}

/// Layer after layer, each with the same memory, and the final norm if there is one. Shapes: X n × d_model, memory m × d_memory → n × d_model.
/// `layers` and `final_norm` as in `encoder`.
template <matrix_like X, matrix_like M, detail::layer_range Layers, class Norm, class SelfHow, class CrossHow = attention_how<>>
[[nodiscard]] constexpr auto decoder(const X& x, const M& memory, const Layers& layers, const Norm& final_norm, const block_options<scalar_of<X>>& options,
                                     const SelfHow& self_how, const CrossHow& cross_how = {}) {
    using out_type = decltype(decoder_layer(x, memory, *detail::layers_begin(layers), options, self_how, cross_how));
    detail::check_stack<axis_of<X, 1>, typename detail::layer_type_of<Layers>::model_axis>(x.length(1));
    out_type tokens(x);
    if constexpr (detail::streams_fit<X, M, detail::layer_type_of<Layers>>) { // else the compiler has spoken
        for (const auto& layer : layers) tokens = decoder_layer(tokens, memory, layer, options, self_how, cross_how);
        return detail::with_final_norm(static_cast<out_type&&>(tokens), final_norm, options.layer_norm);
    } else {
        return tokens;
    }
}

/// How an encoder-decoder attends: the source to itself, the target to itself, the target to the memory.
template <class EncoderHow = attention_how<>, class DecoderHow = attention_how<causal_top_left>, class CrossHow = attention_how<>>
struct encoder_decoder_how {
    EncoderHow encoder = {};
    DecoderHow decoder = {};
    CrossHow cross = {};
};

/// decoder(target, encoder(source)): the Transformer between embeddings and logits. Shapes: source m × d_model, target n × d_model → n × d_model.
/// By default the target does not see its future (`encoder_decoder_how`), as in the original.
template <matrix_like Source, matrix_like Target, detail::layer_range EncoderLayers, class EncoderNorm, detail::layer_range DecoderLayers, class DecoderNorm,
          class How = encoder_decoder_how<>>
[[nodiscard]] constexpr auto encoder_decoder(const Source& source, const Target& target, const EncoderLayers& encoder_layers, const EncoderNorm& encoder_norm,
                                             const DecoderLayers& decoder_layers, const DecoderNorm& decoder_norm,
                                             const block_options<scalar_of<Target>>& options = {}, const How& how = {}) {
    const auto memory = encoder(source, encoder_layers, encoder_norm, options, how.encoder);
    return decoder(target, memory, decoder_layers, decoder_norm, options, how.decoder, how.cross);
}

} // namespace attest
