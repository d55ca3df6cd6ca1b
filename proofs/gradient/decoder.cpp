// SPDX-License-Identifier: BSL-1.0
// The gradients of a decoder layer, of a stack, and of encoder and decoder together are the transposes of the derivatives, for the tokens, the memory and
// every weight at once, for any functions in place of exponential, root and activation (opaque.hpp).

#include "../opaque.hpp"

#include "attest/gradient/decoder.hpp"

namespace attest::proofs {
namespace {

struct n : axis<2> {};
struct m : axis<3> {};
struct d : axis<2> {};
struct d_memory : axis<4> {};
struct H : axis<1> {};
struct d_k : axis<2> {};
struct d_v : axis<1> {};
struct d_ff : axis<2> {};
template <class S> using layer_weights = decoder_layer_weights<S, d, H, d_k, d_v, d_ff, H, d_memory>;
template <class S> using source_weights = encoder_layer_weights<S, d_memory, H, d_k, d_v, d_ff>;
template <class S> using norm_weights = layer_norm_weights<S, d>;

struct first_two_keys {
    [[nodiscard]] constexpr bool visible(std::size_t, std::size_t j) const { return j < 2; }
};
constexpr attention_how<causal_top_left> masked{};
constexpr attention_how<first_two_keys> padded{};

struct both_options {
    block_options<opaque> plain;
    block_options<opaque_dual> of_dual;
};
constexpr both_options options_with(norm_position norm, const opaque& eps) {
    return {{.norm = norm, .layer_norm = {.eps = eps}}, {.norm = norm, .layer_norm = {.eps = opaque_dual(eps)}}};
}
template <axis_type... A>
constexpr tensor<opaque_dual, A...> along(const tensor<opaque, A...>& x, const tensor<opaque, A...>& dx) {
    tensor<opaque_dual, A...> result;
    set_along(result, x, dx);
    return result;
}

constexpr bool layer_is_transposed(norm_position norm) {
    return for_any_functions(1, [norm](opaque_draw& free) {
        const auto x = free.matrix<n, d>(), dx = free.matrix<n, d>(), dout = free.matrix<n, d>();
        const auto memory = free.matrix<m, d_memory>(), dmemory = free.matrix<m, d_memory>();
        const auto w = free_weights<layer_weights<opaque>>(free), dw = free_weights<layer_weights<opaque>>(free);
        const auto options = options_with(norm, free.number());

        const auto back = decoder_layer_vjp(x, memory, w, options.plain, masked, padded, dout);
        const auto w_dual = weights_along<layer_weights<opaque_dual>>(w, dw);
        const auto out = decoder_layer(along(x, dx), along(memory, dmemory), w_dual, options.of_dual, masked, padded);
        return inner_product(dout, out) == inner_product(back.dx, dx) + inner_product(back.dmemory, dmemory) + inner_product_of_weights(back.dw, dw);
    });
}
static_assert(layer_is_transposed(norm_position::post));
static_assert(layer_is_transposed(norm_position::pre));

// A stack of two layers and a final norm, on axes of run time for the memory. `write_layer` gets the last layer's gradient first.
constexpr bool stack_is_transposed(norm_position norm) {
    return for_any_functions(1, [norm](opaque_draw& free) {
        const auto x = free.matrix<n, d>(), dx = free.matrix<n, d>(), dout = free.matrix<n, d>();
        const auto memory = free.matrix<m, d_memory>(), dmemory = free.matrix<m, d_memory>();
        const auto final_norm = free_weights<norm_weights<opaque>>(free), dfinal_norm = free_weights<norm_weights<opaque>>(free);
        layer_stack<layer_weights<opaque>, 2> w, dw, found;
        layer_stack<layer_weights<opaque_dual>, 2> w_dual;
        for (std::size_t l = 0; l < 2; ++l) {
            w[l] = free_weights<layer_weights<opaque>>(free), dw[l] = free_weights<layer_weights<opaque>>(free);
            w_dual[l] = weights_along<layer_weights<opaque_dual>>(w[l], dw[l]);
        }
        const auto options = options_with(norm, free.number());

        std::size_t expected = 2;
        bool in_order = true;
        const auto write_layer = [&](std::size_t l, const layer_weights<opaque>& of_layer) {
            in_order = in_order && l == --expected;
            found[l] = of_layer;
        };
        const tensor<opaque, axis<dynamic>, axis<dynamic>> memory_of_run_time(memory);
        const auto back = decoder_vjp(x, memory_of_run_time, w, &final_norm, options.plain, masked, padded, dout, write_layer);
        opaque sum = inner_product(back.dx, dx) + inner_product(back.dmemory, dmemory) + inner_product_of_weights(back.dfinal_norm, dfinal_norm);
        for (std::size_t l = 0; l < 2; ++l) sum = sum + inner_product_of_weights(found[l], dw[l]);

        const auto norm_dual = weights_along<norm_weights<opaque_dual>>(final_norm, dfinal_norm);
        const auto out = decoder(along(x, dx), along(memory, dmemory), w_dual, &norm_dual, options.of_dual, masked, padded);
        return in_order && expected == 0 && inner_product(dout, out) == sum;
    });
}
static_assert(stack_is_transposed(norm_position::post) && stack_is_transposed(norm_position::pre));

// Encoder and decoder: through the decoder to the target, and from the memory through the encoder to the source.
static_assert(for_any_functions(1, [](opaque_draw& free) {
    const auto source = free.matrix<m, d_memory>(), dsource = free.matrix<m, d_memory>();
    const auto target = free.matrix<n, d>(), dtarget = free.matrix<n, d>(), dout = free.matrix<n, d>();
    using source_norm = layer_norm_weights<opaque, d_memory>;
    const source_weights<opaque> encoder_layers[] = {free_weights<source_weights<opaque>>(free)}, dencoder = free_weights<source_weights<opaque>>(free);
    const layer_weights<opaque> decoder_layers[] = {free_weights<layer_weights<opaque>>(free)}, ddecoder = free_weights<layer_weights<opaque>>(free);
    const auto encoder_norm = free_weights<source_norm>(free), dencoder_norm = free_weights<source_norm>(free);
    const auto decoder_norm = free_weights<norm_weights<opaque>>(free), ddecoder_norm = free_weights<norm_weights<opaque>>(free);
    const auto options = options_with(norm_position::pre, free.number());
    const encoder_decoder_how<attention_how<causal_top_left>, attention_how<causal_top_left>, attention_how<first_two_keys>> how{};

    source_weights<opaque> found_encoder;
    layer_weights<opaque> found_decoder;
    const auto back = encoder_decoder_vjp(
        source, target, encoder_layers, &encoder_norm, decoder_layers, &decoder_norm, options.plain, how, dout,
        [&](std::size_t, const source_weights<opaque>& of_layer) { found_encoder = of_layer; },
        [&](std::size_t, const layer_weights<opaque>& of_layer) { found_decoder = of_layer; });
    const opaque sum = inner_product(back.dsource, dsource) + inner_product(back.dtarget, dtarget) + inner_product_of_weights(found_encoder, dencoder) +
                       inner_product_of_weights(found_decoder, ddecoder) + inner_product_of_weights(back.dencoder_norm, dencoder_norm) +
                       inner_product_of_weights(back.ddecoder_norm, ddecoder_norm);

    const source_weights<opaque_dual> encoder_dual[] = {weights_along<source_weights<opaque_dual>>(encoder_layers[0], dencoder)};
    const layer_weights<opaque_dual> decoder_dual[] = {weights_along<layer_weights<opaque_dual>>(decoder_layers[0], ddecoder)};
    const auto encoder_norm_dual = weights_along<layer_norm_weights<opaque_dual, d_memory>>(encoder_norm, dencoder_norm);
    const auto decoder_norm_dual = weights_along<norm_weights<opaque_dual>>(decoder_norm, ddecoder_norm);
    const auto out = encoder_decoder(along(source, dsource), along(target, dtarget), encoder_dual, &encoder_norm_dual, decoder_dual, &decoder_norm_dual,
                                     options.of_dual, how);
    return inner_product(dout, out) == sum;
}));

// Rows without a visible key, in self-attention, in cross-attention and in the encoder: their attention is the constant 0, also where the formula makes it NaN.
struct first_row_sees_nothing {
    [[nodiscard]] constexpr bool visible(std::size_t i, std::size_t) const { return i != 0; }
};
static_assert(for_any_functions(1, [](opaque_draw& free) {
    const auto x = free.matrix<n, d>(), dout = free.matrix<n, d>();
    const auto memory = free.matrix<m, d_memory>();
    const layer_weights<opaque> layers[] = {free_weights<layer_weights<opaque>>(free)};
    const source_weights<opaque> encoder_layers[] = {free_weights<source_weights<opaque>>(free)};
    const auto options = options_with(norm_position::post, free.number()).plain;
    using sees_nothing = attention_how<first_row_sees_nothing>;
    const sees_nothing nan{.on_empty = empty_row::nan}, zero{.on_empty = empty_row::zero};
    const auto ignore = [](std::size_t, const auto&) {};
    const auto expected = decoder_layer_vjp(x, memory, layers[0], options, zero, zero, dout);
    const auto of_layer = decoder_layer_vjp(x, memory, layers[0], options, nan, nan, dout);
    const auto of_stack = decoder_vjp(x, memory, layers, nullptr, options, nan, nan, dout, ignore);
    const encoder_decoder_how<sees_nothing, sees_nothing, sees_nothing> all_nan{nan, nan, nan}, all_zero{zero, zero, zero};
    const auto of_both = encoder_decoder_vjp(memory, x, encoder_layers, nullptr, layers, nullptr, options, all_nan, dout, ignore, ignore);
    const auto expected_of_both = encoder_decoder_vjp(memory, x, encoder_layers, nullptr, layers, nullptr, options, all_zero, dout, ignore, ignore);
    return of_layer.dx == expected.dx && of_layer.dmemory == expected.dmemory && of_stack.dx == expected.dx && of_both.dsource == expected_of_both.dsource;
}));

} // namespace
} // namespace attest::proofs
