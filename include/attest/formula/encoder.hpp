// SPDX-License-Identifier: BSL-1.0
/// \file
/// The encoder: N layers of self-attention and feed-forward network, each inside a residual connection and a layer norm.
///
/// | `norm_position` | a sublayer f | an encoder layer | source |
/// |---|---|---|---|
/// | `post` | LN(x + f(x)) | a = LN_1(x + MHA(x)), out = LN_2(a + FFN(a)) | A081, A094, A108, B052; Vaswani et al., arXiv 1706.03762 |
/// | `pre` | x + f(LN(x)) | a = x + MHA(LN_1(x)), out = a + FFN(LN_2(a)) | A082; Xiong et al., arXiv 2002.04745 |
///
/// N layers make a stack (B054). A pre-norm stack usually ends with one more layer norm; a post-norm stack needs none, and may have one.
#pragma once

#include "attest/formula/feed_forward.hpp"
#include "attest/formula/layer_norm.hpp"
#include "attest/formula/multi_head.hpp"
#include "attest/formula/residual.hpp"

namespace attest {

/// Where the layer norm stands: after the residual sum (PyTorch's `norm_first=False`), or before the sublayer (`norm_first=True`).
enum class norm_position { post, pre };

/// What the layers of a stack have in common.
template <class S> struct block_options {
    norm_position norm = norm_position::post;
    layer_norm_options<S> layer_norm = {};
    attest::activation activation = {};
};

/// The weights of an encoder layer. `norm1` belongs to the attention, `norm2` to the feed-forward network, in either norm position.
template <class S, axis_type DModel, axis_type H, axis_type DK, axis_type DV, axis_type DFF, axis_type HKV = H> struct encoder_layer_weights {
    multi_head_weights<S, DModel, H, DK, DV, HKV> self_attn = {};
    layer_norm_weights<S, DModel> norm1 = {};
    feed_forward_weights<S, DModel, DFF> ffn = {};
    layer_norm_weights<S, DModel> norm2 = {};

    using model_axis = DModel;
};

/// N layers of weights in one object. Matrices beyond 16 KiB lie on the heap: six layers of the base model in double are some 300 kB here.
template <class Layer, std::size_t N> struct layer_stack {
    Layer layers[N == 0 ? 1 : N] = {};

    [[nodiscard]] constexpr Layer* begin() noexcept { return layers; }
    [[nodiscard]] constexpr Layer* end() noexcept { return layers + N; }
    [[nodiscard]] constexpr const Layer* begin() const noexcept { return layers; }
    [[nodiscard]] constexpr const Layer* end() const noexcept { return layers + N; }
    [[nodiscard]] static constexpr std::size_t size() noexcept { return N; }
    [[nodiscard]] constexpr Layer& operator[](std::size_t l) noexcept { return layers[l]; }
    [[nodiscard]] constexpr const Layer& operator[](std::size_t l) const noexcept { return layers[l]; }
};

namespace detail {

// A built-in array, or anything with begin() and end().
template <class R> [[nodiscard]] constexpr auto layers_begin(const R& layers) {
    if constexpr (std::is_array_v<R>) return static_cast<const std::remove_extent_t<R>*>(layers);
    else return layers.begin();
}

template <class R>
concept layer_range = (std::is_array_v<R> || requires(const R& r) { r.begin() != r.end(); }) &&
                      requires(const R& r) { (*layers_begin(r)).self_attn; };

template <class R> using layer_type_of = std::remove_cvref_t<decltype(*layers_begin(*static_cast<const R*>(nullptr)))>;

// Says the rule that tokens on the axis D enter a projection of rows on the axis Rows.
template <axis_type D, class W> constexpr void check_tokens(std::size_t d, const W& w) {
    rules::weight_row_for_each_input::check<D, axis_of<W, 0>>(d, w.length(0));
}
// The same of a stack's tokens, before its first layer says it: where the layers' axis is fixed.
template <axis_type D, axis_type Rows> constexpr void check_stack(std::size_t d) {
    if constexpr (!is_dynamic<Rows>) rules::weight_row_for_each_input::check<D, Rows>(d, Rows::size);
}
template <class X, class W> inline constexpr bool tokens_fit = rules::weight_row_for_each_input::holds<axis_of<X, 1>, typename W::model_axis>;

// What a stack's final norm makes of x: nothing, if there is none.
template <class X, class Norm>
[[nodiscard]] constexpr X with_final_norm(X x, const Norm& norm, const layer_norm_options<scalar_of<X>>& options) {
    if constexpr (!std::same_as<Norm, std::nullptr_t>)
        if (norm != nullptr) return X(layer_norm(x, *norm, options));
    return x;
}

} // namespace detail

/// Every stage of an encoder layer. `Sum` and `Sublayer` are matrices n × d_model; they differ in type only where x's axis and the weights' do.
/// Computed in the order self_attn_out, after_attention, norm1_out, ffn_out, after_ffn, norm2_out; with pre-norm norm1_out and norm2_out come before
/// what their sublayer makes of them.
template <class Sum, class Sublayer> struct encoder_stages {
    Sublayer self_attn_out; ///< of x, or of norm1_out (pre)
    Sum after_attention;    ///< x + self_attn_out
    Sum norm1_out;          ///< LN_1(after_attention), or LN_1(x) (pre)
    Sublayer ffn_out;       ///< of norm1_out, or of norm2_out (pre)
    Sum after_ffn;          ///< norm1_out + ffn_out, or after_attention + ffn_out (pre)
    Sum norm2_out;          ///< LN_2(after_ffn), or LN_2(after_attention) (pre)
    Sum out;                ///< norm2_out, or after_ffn (pre)
};

/// Looks at no stage.
struct no_visit {
    template <class Stage> constexpr void operator()(const char*, Stage&) const noexcept {}
};

/// All stages of an encoder layer. Shapes: X n × d_model → each n × d_model (A112).
/// Throws shape_error (or does not compile) where X does not fit the weights, or they each other.
/// `visit(name, stage)` is called as soon as a stage is computed, in that order, and may replace it by what another implementation gave there: then the stages
/// after it are computed from that. Names: "self_attn.out", "norm1.out", "ffn.out", "norm2.out".
template <matrix_like X, class W, class How = attention_how<>, class Visit = no_visit>
    requires requires(const W& w) { w.self_attn; }
[[nodiscard]] constexpr auto encoder_layer_stages(const X& x, const W& w, const block_options<scalar_of<X>>& options = {}, const How& how = {},
                                                  const Visit& visit = {}) {
    detail::check_tokens<axis_of<X, 1>>(x.length(1), w.self_attn.w_q);
    if constexpr (detail::tokens_fit<X, W>) { // else the compiler has spoken
        using sum_type = tensor<scalar_of<X>, axis_of<X, 0>, joined<axis_of<X, 1>, typename W::model_axis>>;
        using sublayer_type = tensor<scalar_of<X>, axis_of<X, 0>, typename W::model_axis>;
        encoder_stages<sum_type, sublayer_type> s{};
        if (options.norm == norm_position::post) {
            s.self_attn_out = multi_head_attention(x, w.self_attn, how);
            visit("self_attn.out", s.self_attn_out);
            s.after_attention = residual(x, s.self_attn_out);
            s.norm1_out = layer_norm(s.after_attention, w.norm1, options.layer_norm);
            visit("norm1.out", s.norm1_out);
            s.ffn_out = feed_forward(s.norm1_out, w.ffn, options.activation);
            visit("ffn.out", s.ffn_out);
            s.after_ffn = residual(s.norm1_out, s.ffn_out);
            s.norm2_out = layer_norm(s.after_ffn, w.norm2, options.layer_norm);
            visit("norm2.out", s.norm2_out);
            s.out = s.norm2_out;
        } else {
            s.norm1_out = layer_norm(x, w.norm1, options.layer_norm);
            visit("norm1.out", s.norm1_out);
            s.self_attn_out = multi_head_attention(s.norm1_out, w.self_attn, how);
            visit("self_attn.out", s.self_attn_out);
            s.after_attention = residual(x, s.self_attn_out);
            s.norm2_out = layer_norm(s.after_attention, w.norm2, options.layer_norm);
            visit("norm2.out", s.norm2_out);
            s.ffn_out = feed_forward(s.norm2_out, w.ffn, options.activation);
            visit("ffn.out", s.ffn_out);
            s.after_ffn = residual(s.after_attention, s.ffn_out);
            s.out = s.after_ffn;
        }
        return s;
    } else {
        using x_type = tensor<scalar_of<X>, axis_of<X, 0>, axis_of<X, 1>>;
        return encoder_stages<x_type, x_type>{};
    }
}

/// An encoder layer. Shapes: X n × d_model → n × d_model.
template <matrix_like X, class W, class How = attention_how<>>
    requires requires(const W& w) { w.self_attn; }
[[nodiscard]] constexpr auto encoder_layer(const X& x, const W& w, const block_options<scalar_of<X>>& options = {}, const How& how = {}) {
    return encoder_layer_stages(x, w, options, how).out;
}

/// Layer after layer, and the final norm if there is one. Shapes: X n × d_model → n × d_model.
/// `layers`: an array, a `layer_stack`, a std::vector, …, of layer weights. `final_norm`: a pointer to `layer_norm_weights`, or nullptr.
template <matrix_like X, detail::layer_range Layers, class Norm = std::nullptr_t, class How = attention_how<>>
[[nodiscard]] constexpr auto encoder(const X& x, const Layers& layers, const Norm& final_norm = nullptr,
                                     const block_options<scalar_of<X>>& options = {}, const How& how = {}) {
    using out_type = decltype(encoder_layer(x, *detail::layers_begin(layers), options, how));
    detail::check_stack<axis_of<X, 1>, typename detail::layer_type_of<Layers>::model_axis>(x.length(1));
    out_type tokens(x);
    if constexpr (detail::tokens_fit<X, detail::layer_type_of<Layers>>) { // else the compiler has spoken
        for (const auto& layer : layers) tokens = encoder_layer(tokens, layer, options, how);
        return detail::with_final_norm(static_cast<out_type&&>(tokens), final_norm, options.layer_norm);
    } else {
        return tokens;
    }
}

} // namespace attest
