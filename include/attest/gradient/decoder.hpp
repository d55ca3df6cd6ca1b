// SPDX-License-Identifier: BSL-1.0
/// \file
/// The gradients of a decoder layer, of a decoder, and of encoder and decoder together.
///
/// As in gradient/encoder.hpp (also what it says of masks and of rows without a visible key), with the cross-attention between: it hands a gradient
/// back to its queries, on the path of the tokens, and to the memory. Every layer reads the same memory, so the memory's gradient is the sum of the
/// layers'.
///
/// Memory: the tokens at the borders of the layers are kept, (N + 1) · n · d_model elements, and dmemory, m · d_memory; the inside of a layer is computed
/// again when its gradient is. One layer's gradient is held at a time: `write_layer` gets it, from the last layer to the first.
#pragma once

#include "attest/formula/decoder.hpp"
#include "attest/gradient/encoder.hpp"

namespace attest {

/// dx and dmemory have the shapes of x and of the memory; dw is weights like w, whose biases, γ and β have their full length also where w has none.
template <class DX, class DMemory, class DW> struct decoder_layer_gradient {
    DX dx;
    DMemory dmemory;
    DW dw;
};

/// dx and dmemory have the shapes of x and of the memory; dfinal_norm as in `encoder_gradient`.
template <class DX, class DMemory, class DNorm> struct decoder_gradient {
    DX dx;
    DMemory dmemory;
    DNorm dfinal_norm;
};

/// dsource and dtarget have the shapes of source and target; the norms as in `encoder_gradient`.
template <class DSource, class DTarget, class DEncoderNorm, class DDecoderNorm> struct encoder_decoder_gradient {
    DSource dsource;
    DTarget dtarget;
    DEncoderNorm dencoder_norm;
    DDecoderNorm ddecoder_norm;
};

/// The gradient of decoder_layer(x, memory, w, options, self_how, cross_how). Shapes: X n × d_model, memory m × d_memory, dout n × d_model → dX like X,
/// dmemory like the memory, dw like w. Throws shape_error (or does not compile) unless they fit.
template <matrix_like X, matrix_like M, class W, class SelfHow, class CrossHow, matrix_like DOut>
    requires requires(const W& w) { w.cross_attn; }
[[nodiscard]] constexpr auto decoder_layer_vjp(const X& x, const M& memory, const W& w, const block_options<scalar_of<X>>& options,
                                               const SelfHow& self_attending, const CrossHow& cross_attending, const DOut& dout) {
    const SelfHow self_how = detail::with_zero_for_empty_rows(self_attending);
    const CrossHow cross_how = detail::with_zero_for_empty_rows(cross_attending);
    using dx_type = detail::matrix_of<X>;
    using dmemory_type = detail::matrix_of<M>;
    const auto s = decoder_layer_stages(x, memory, w, options, self_how, cross_how);
    detail::check_dout(s.out, dout);
    decoder_layer_gradient<dx_type, dmemory_type, W> gradient{};
    if constexpr (detail::streams_fit<X, M, W> && detail::dout_fits<decltype(s.out), DOut>) { // else the compiler has spoken
        using sum_type = std::remove_const_t<decltype(s.out)>;
        const auto& norm = options.layer_norm;
        const auto store = [&gradient](auto& self, auto& norm1, auto& cross, auto& norm2, auto& ffn, auto& norm3) {
            gradient.dw = W{static_cast<decltype(W::self_attn)&&>(self), norm1, static_cast<decltype(W::cross_attn)&&>(cross), norm2,
                            static_cast<decltype(W::ffn)&&>(ffn), norm3};
        };
        if (options.norm == norm_position::post) {
            auto norm3 = layer_norm_vjp(s.after_ffn, w.norm3, norm, dout);
            auto ffn = feed_forward_vjp(s.norm2_out, w.ffn, options.activation, norm3.dx);
            auto norm2 = layer_norm_vjp(s.after_cross, w.norm2, norm, detail::sum_of_paths<sum_type>(norm3.dx, ffn.dx));
            auto cross = multi_head_attention_vjp(s.norm1_out, memory, w.cross_attn, cross_how, norm2.dx);
            auto norm1 = layer_norm_vjp(s.after_self, w.norm1, norm, detail::sum_of_paths<sum_type>(norm2.dx, cross.dx));
            auto self = multi_head_attention_vjp(x, w.self_attn, self_how, norm1.dx);
            gradient.dx = detail::sum_of_paths<dx_type>(norm1.dx, self.dx);
            gradient.dmemory = dmemory_type(cross.dmemory);
            store(self.dw, norm1.dweights, cross.dw, norm2.dweights, ffn.dw, norm3.dweights);
        } else {
            auto ffn = feed_forward_vjp(s.norm3_out, w.ffn, options.activation, dout);
            auto norm3 = layer_norm_vjp(s.after_cross, w.norm3, norm, ffn.dx);
            const auto dafter_cross = detail::sum_of_paths<sum_type>(dout, norm3.dx);
            auto cross = multi_head_attention_vjp(s.norm2_out, memory, w.cross_attn, cross_how, dafter_cross);
            auto norm2 = layer_norm_vjp(s.after_self, w.norm2, norm, cross.dx);
            const auto dafter_self = detail::sum_of_paths<sum_type>(dafter_cross, norm2.dx);
            auto self = multi_head_attention_vjp(s.norm1_out, w.self_attn, self_how, dafter_self);
            auto norm1 = layer_norm_vjp(x, w.norm1, norm, self.dx);
            gradient.dx = detail::sum_of_paths<dx_type>(dafter_self, norm1.dx);
            gradient.dmemory = dmemory_type(cross.dmemory);
            store(self.dw, norm1.dweights, cross.dw, norm2.dweights, ffn.dw, norm3.dweights);
        }
    }
    return gradient;
}

/// The gradient of decoder(x, memory, layers, final_norm, options, self_how, cross_how). Shapes: as in decoder_layer_vjp. `write_layer(l, dlayer)` gets the
/// gradient of layer l's weights, from the last layer to the first. Throws shape_error (or does not compile) unless the shapes fit.
template <matrix_like X, matrix_like M, detail::layer_range Layers, class Norm, class SelfHow, class CrossHow, matrix_like DOut, class WriteLayer>
[[nodiscard]] constexpr auto decoder_vjp(const X& x, const M& memory, const Layers& layers, const Norm& final_norm, const block_options<scalar_of<X>>& options,
                                         const SelfHow& self_attending, const CrossHow& cross_attending, const DOut& dout, WriteLayer&& write_layer) {
    const SelfHow self_how = detail::with_zero_for_empty_rows(self_attending);
    const CrossHow cross_how = detail::with_zero_for_empty_rows(cross_attending);
    using layer_type = detail::layer_type_of<Layers>;
    using tokens_type = decltype(decoder_layer(x, memory, *detail::layers_begin(layers), options, self_how, cross_how));
    using dx_type = detail::matrix_of<X>;
    using dmemory_type = detail::matrix_of<M>;
    using norm_type = typename detail::norm_behind<Norm>::type;
    detail::check_stack<axis_of<X, 1>, typename layer_type::model_axis>(x.length(1));
    if constexpr (detail::streams_fit<X, M, layer_type> && detail::dout_fits<tokens_type, DOut>) {
        const detail::layer_borders<tokens_type, layer_type> borders(tokens_type(x), layers, [&](const tokens_type& tokens, const layer_type& layer) {
            return decoder_layer(tokens, memory, layer, options, self_how, cross_how);
        });
        detail::check_dout(borders.behind_all(), dout);
        auto back = detail::final_norm_vjp(borders.behind_all(), final_norm, options.layer_norm, dout);
        auto dmemory = dmemory_type::with_lengths(memory.length(0), memory.length(1));
        for (std::size_t l = borders.count; l-- > 0;) {
            auto layer = decoder_layer_vjp(borders.in_front_of(l), memory, borders.layer(l), options, self_how, cross_how, back.dx);
            back.dx = static_cast<tokens_type&&>(layer.dx);
            dmemory = detail::sum_of_paths<dmemory_type>(dmemory, layer.dmemory);
            write_layer(l, static_cast<layer_type&&>(layer.dw));
        }
        return decoder_gradient<dx_type, dmemory_type, norm_type>{dx_type(back.dx), static_cast<dmemory_type&&>(dmemory),
                                                                  static_cast<norm_type&&>(back.dfinal_norm)};
    } else {
        detail::check_tokens<axis_of<X, 1>>(x.length(1), detail::layers_begin(layers)->self_attn.w_q);
        detail::check_tokens<axis_of<M, 1>>(memory.length(1), detail::layers_begin(layers)->cross_attn.w_k);
        if constexpr (detail::streams_fit<X, M, layer_type>) detail::check_dout(tokens_type{}, dout);
        return decoder_gradient<dx_type, dmemory_type, norm_type>{};
    }
}

/// The gradient of encoder_decoder(source, target, …): through the decoder to the target and the memory, and from the memory through the encoder to the
/// source. Beside the decoder's memory the encoder's borders are kept, computed after the decoder's gradient.
template <matrix_like Source, matrix_like Target, detail::layer_range EncoderLayers, class EncoderNorm, detail::layer_range DecoderLayers, class DecoderNorm,
          class How, matrix_like DOut, class WriteEncoderLayer, class WriteDecoderLayer>
[[nodiscard]] constexpr auto encoder_decoder_vjp(const Source& source, const Target& target, const EncoderLayers& encoder_layers,
                                                 const EncoderNorm& encoder_norm, const DecoderLayers& decoder_layers, const DecoderNorm& decoder_norm,
                                                 const block_options<scalar_of<Target>>& options, const How& how, const DOut& dout,
                                                 WriteEncoderLayer&& write_encoder_layer, WriteDecoderLayer&& write_decoder_layer) {
    const auto memory = encoder(source, encoder_layers, encoder_norm, options, detail::with_zero_for_empty_rows(how.encoder));
    auto of_decoder = decoder_vjp(target, memory, decoder_layers, decoder_norm, options, how.decoder, how.cross, dout, write_decoder_layer);
    auto of_encoder = encoder_vjp(source, encoder_layers, encoder_norm, options, how.encoder, of_decoder.dmemory, write_encoder_layer);
    return encoder_decoder_gradient<decltype(of_encoder.dx), decltype(of_decoder.dx), decltype(of_encoder.dfinal_norm), decltype(of_decoder.dfinal_norm)>{
        of_encoder.dx, of_decoder.dx, of_encoder.dfinal_norm, of_decoder.dfinal_norm};
}

} // namespace attest
