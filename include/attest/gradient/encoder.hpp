// SPDX-License-Identifier: BSL-1.0
/// \file
/// The gradients of an encoder layer and of an encoder.
///
/// What comes back to a residual sum goes to both of its terms (A086); the layer norm hands it on by its own Jacobian. So with g the gradient of out:
///
/// | norm | feed-forward half | attention half |
/// |---|---|---|
/// | post | s = LN_2ᵀ g, da = s + FFNᵀ s | t = LN_1ᵀ da, dx = t + MHAᵀ t |
/// | pre | da = g + LN_2ᵀ FFNᵀ g | dx = da + LN_1ᵀ MHAᵀ da |
///
/// (fᵀ: the transposed Jacobian of f at its input.) With post-norm the norms stand on the direct path, with pre-norm they do not (B044).
///
/// What the mask adds, a sink and the weights of a score function are constants here; `multi_head_attention_vjp` has their gradients. A row without a visible
/// key gets zeros from its attention, whatever `how.on_empty` says: no gradient is NaN because of it.
///
/// Memory: the tokens at the borders of the layers are kept, (N + 1) · n · d_model elements; the inside of a layer is computed again when its gradient
/// is. One layer's gradient is held at a time: `write_layer` gets it, from the last layer to the first.
#pragma once

#include "attest/formula/encoder.hpp"
#include "attest/gradient/feed_forward.hpp"
#include "attest/gradient/layer_norm.hpp"
#include "attest/gradient/multi_head.hpp"

namespace attest {

/// dx has the shape of x; dw is weights like w, whose biases, γ and β have their full length also where w has none.
template <class DX, class DW> struct encoder_layer_gradient {
    DX dx;
    DW dw;
};

/// dx has the shape of x; dfinal_norm is weights like the final norm's, empty or zeros if there is none (nullptr itself for a literal nullptr).
template <class DX, class DNorm> struct encoder_gradient {
    DX dx;
    DNorm dfinal_norm;
};

namespace detail {

// What residual_vjp's two paths bring back to one tensor: their sum, on the axes of x.
template <class DX, matrix_like A, matrix_like B> [[nodiscard]] constexpr DX sum_of_paths(const A& direct, const B& through) {
    DX sum(direct);
    for (std::size_t i = 0; i < sum.length(0); ++i)
        for (std::size_t c = 0; c < sum.length(1); ++c) sum(i, c) = sum(i, c) + through(i, c);
    return sum;
}

// The same, with a row without a visible key as the constant 0.
template <class How> [[nodiscard]] constexpr How with_zero_for_empty_rows(How how) {
    how.on_empty = empty_row::zero;
    return how;
}

template <class X> using matrix_of = tensor<scalar_of<X>, axis_of<X, 0>, axis_of<X, 1>>;

// Says the rule that the gradient of an output has its shape.
template <class Out, class DOut> constexpr void check_dout(const Out& out, const DOut& dout) {
    rules::gradient_has_shape_of_output::check<axis_of<DOut, 0>, axis_of<Out, 0>>(dout.length(0), out.length(0));
    rules::gradient_has_shape_of_output::check<axis_of<DOut, 1>, axis_of<Out, 1>>(dout.length(1), out.length(1));
}
template <class X, class DOut>
inline constexpr bool dout_fits = rules::gradient_has_shape_of_output::holds<axis_of<DOut, 0>, axis_of<X, 0>> &&
                                  rules::gradient_has_shape_of_output::holds<axis_of<DOut, 1>, axis_of<X, 1>>;

// The tokens in front of each layer, and behind the last; and where each layer's weights lie.
template <class Tokens, class Layer> struct layer_borders {
    std::size_t count;
    heap_elements<const Layer*> layers;
    heap_elements<Tokens> tokens;

    template <class Layers, class Step>
    constexpr layer_borders(const Tokens& x, const Layers& of, const Step& step) : count{count_of(of)}, layers(count), tokens(count + 1) {
        tokens.data()[0] = x;
        std::size_t l = 0;
        for (const auto& layer : of) {
            layers.data()[l] = &layer;
            tokens.data()[l + 1] = step(tokens.data()[l], layer);
            ++l;
        }
    }
    [[nodiscard]] constexpr const Tokens& in_front_of(std::size_t l) const { return tokens.data()[l]; }
    [[nodiscard]] constexpr const Tokens& behind_all() const { return tokens.data()[count]; }
    [[nodiscard]] constexpr const Layer& layer(std::size_t l) const { return *layers.data()[l]; }

private:
    template <class Layers> [[nodiscard]] static constexpr std::size_t count_of(const Layers& of) {
        std::size_t l = 0;
        for (const auto& layer : of) {
            (void)layer;
            ++l;
        }
        return l;
    }
};

// The final norm's weights as a type, from the pointer to them.
template <class Norm> struct norm_behind {
    using type = std::remove_cvref_t<decltype(*static_cast<Norm>(nullptr))>;
};
template <> struct norm_behind<std::nullptr_t> {
    using type = std::nullptr_t;
};

// The gradient of with_final_norm.
template <class X, class Norm, class DOut>
[[nodiscard]] constexpr auto final_norm_vjp(const X& x, const Norm& norm, const layer_norm_options<scalar_of<X>>& options, const DOut& dout) {
    using weights = typename norm_behind<Norm>::type;
    if constexpr (std::same_as<Norm, std::nullptr_t>) {
        return encoder_gradient<X, std::nullptr_t>{X(dout), nullptr};
    } else {
        if (norm == nullptr) return encoder_gradient<X, weights>{X(dout), weights{{}, {}}};
        auto back = layer_norm_vjp(x, *norm, options, dout);
        return encoder_gradient<X, weights>{X(back.dx), static_cast<weights&&>(back.dweights)};
    }
}

} // namespace detail

/// The gradient of encoder_layer(x, w, options, how). Shapes: X n × d_model, dout n × d_model → dX n × d_model, dw like w.
/// Throws shape_error (or does not compile) unless they fit.
template <matrix_like X, class W, class How, matrix_like DOut>
    requires requires(const W& w) { w.self_attn; }
[[nodiscard]] constexpr auto encoder_layer_vjp(const X& x, const W& w, const block_options<scalar_of<X>>& options, const How& attending, const DOut& dout) {
    using dx_type = detail::matrix_of<X>;
    const How how = detail::with_zero_for_empty_rows(attending);
    const auto s = encoder_layer_stages(x, w, options, how);
    detail::check_dout(s.out, dout);
    encoder_layer_gradient<dx_type, W> gradient{};
    if constexpr (detail::tokens_fit<X, W> && detail::dout_fits<decltype(s.out), DOut>) { // else the compiler has spoken
        using sum_type = std::remove_const_t<decltype(s.out)>;
        auto& dw = gradient.dw;
        if (options.norm == norm_position::post) {
            auto norm2 = layer_norm_vjp(s.after_ffn, w.norm2, options.layer_norm, dout);
            auto ffn = feed_forward_vjp(s.norm1_out, w.ffn, options.activation, norm2.dx);
            auto norm1 = layer_norm_vjp(s.after_attention, w.norm1, options.layer_norm, detail::sum_of_paths<sum_type>(norm2.dx, ffn.dx));
            auto attn = multi_head_attention_vjp(x, w.self_attn, how, norm1.dx);
            gradient.dx = detail::sum_of_paths<dx_type>(norm1.dx, attn.dx);
            dw = W{static_cast<decltype(attn.dw)&&>(attn.dw), norm1.dweights, static_cast<decltype(ffn.dw)&&>(ffn.dw), norm2.dweights};
        } else {
            auto ffn = feed_forward_vjp(s.norm2_out, w.ffn, options.activation, dout);
            auto norm2 = layer_norm_vjp(s.after_attention, w.norm2, options.layer_norm, ffn.dx);
            const auto dafter = detail::sum_of_paths<sum_type>(dout, norm2.dx);
            auto attn = multi_head_attention_vjp(s.norm1_out, w.self_attn, how, dafter);
            auto norm1 = layer_norm_vjp(x, w.norm1, options.layer_norm, attn.dx);
            gradient.dx = detail::sum_of_paths<dx_type>(dafter, norm1.dx);
            dw = W{static_cast<decltype(attn.dw)&&>(attn.dw), norm1.dweights, static_cast<decltype(ffn.dw)&&>(ffn.dw), norm2.dweights};
        }
    }
    return gradient;
}

/// The gradient of encoder(x, layers, final_norm, options, how). Shapes: X n × d_model, dout n × d_model → dX n × d_model.
/// `write_layer(l, dlayer)` gets the gradient of layer l's weights, from the last layer to the first. Throws shape_error (or does not compile) unless
/// the shapes fit.
template <matrix_like X, detail::layer_range Layers, class Norm, class How, matrix_like DOut, class WriteLayer>
[[nodiscard]] constexpr auto encoder_vjp(const X& x, const Layers& layers, const Norm& final_norm, const block_options<scalar_of<X>>& options,
                                         const How& attending, const DOut& dout, WriteLayer&& write_layer) {
    const How how = detail::with_zero_for_empty_rows(attending);
    using layer_type = detail::layer_type_of<Layers>;
    using tokens_type = decltype(encoder_layer(x, *detail::layers_begin(layers), options, how));
    using dx_type = detail::matrix_of<X>;
    using norm_type = typename detail::norm_behind<Norm>::type;
    detail::check_stack<axis_of<X, 1>, typename layer_type::model_axis>(x.length(1));
    if constexpr (detail::tokens_fit<X, layer_type> && detail::dout_fits<tokens_type, DOut>) {
        const detail::layer_borders<tokens_type, layer_type> borders(
            tokens_type(x), layers, [&](const tokens_type& tokens, const layer_type& layer) { return encoder_layer(tokens, layer, options, how); });
        detail::check_dout(borders.behind_all(), dout);
        auto back = detail::final_norm_vjp(borders.behind_all(), final_norm, options.layer_norm, dout);
        for (std::size_t l = borders.count; l-- > 0;) {
            auto layer = encoder_layer_vjp(borders.in_front_of(l), borders.layer(l), options, how, back.dx);
            back.dx = static_cast<tokens_type&&>(layer.dx);
            write_layer(l, static_cast<layer_type&&>(layer.dw));
        }
        return encoder_gradient<dx_type, norm_type>{dx_type(back.dx), static_cast<norm_type&&>(back.dfinal_norm)};
    } else {
        detail::check_tokens<axis_of<X, 1>>(x.length(1), detail::layers_begin(layers)->self_attn.w_q);
        if constexpr (detail::tokens_fit<X, layer_type>) detail::check_dout(tokens_type{}, dout);
        return encoder_gradient<dx_type, norm_type>{};
    }
}

} // namespace attest
