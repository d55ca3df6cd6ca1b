// SPDX-License-Identifier: BSL-1.0
// The gradients of an encoder layer and of a stack are the transposes of the derivatives: ⟨dout, J (dx, dw)⟩ = ⟨dx', dx⟩ + ⟨dw', dw⟩ for the tokens and
// every weight at once, for any functions in place of exponential, root and activation (opaque.hpp).

#include "../opaque.hpp"

#include "attest/gradient/encoder.hpp"

namespace attest::proofs {
namespace {

struct n : axis<2> {};
struct d : axis<3> {};
struct H : axis<2> {};
struct d_k : axis<1> {};
struct d_v : axis<2> {};
struct d_ff : axis<2> {};
template <class S> using layer_weights = encoder_layer_weights<S, d, H, d_k, d_v, d_ff>;
template <class S> using norm_weights = layer_norm_weights<S, d>;
template <class S> using tokens = tensor<S, n, d>;

constexpr attention_how<causal_top_left> masked{};

struct both_options {
    block_options<opaque> plain;
    block_options<opaque_dual> of_dual;
};
constexpr both_options options_with(norm_position norm, const opaque& eps, activation_kind act = activation_kind::relu) {
    const activation tanh_form{act, gelu_form::tanh}; // that of erf has a rule with √2 · √2 = 2 in it
    return {{norm, {.eps = eps}, tanh_form}, {norm, {.eps = opaque_dual(eps)}, tanh_form}};
}
constexpr tokens<opaque_dual> tokens_along(const tokens<opaque>& x, const tokens<opaque>& dx) {
    tokens<opaque_dual> result;
    set_along(result, x, dx);
    return result;
}

constexpr bool layer_is_transposed(norm_position norm, activation_kind act) {
    return for_any_functions(1, [norm, act](opaque_draw& free) {
        const auto x = free.matrix<n, d>(), dx = free.matrix<n, d>(), dout = free.matrix<n, d>();
        const auto w = free_weights<layer_weights<opaque>>(free), dw = free_weights<layer_weights<opaque>>(free);
        const auto options = options_with(norm, free.number(), act);

        const auto back = encoder_layer_vjp(x, w, options.plain, masked, dout);
        const auto out = encoder_layer(tokens_along(x, dx), weights_along<layer_weights<opaque_dual>>(w, dw), options.of_dual, masked);
        return inner_product(dout, out) == inner_product(back.dx, dx) + inner_product_of_weights(back.dw, dw);
    });
}
static_assert(layer_is_transposed(norm_position::post, activation_kind::relu));
static_assert(layer_is_transposed(norm_position::pre, activation_kind::gelu));

// A stack of two layers and a final norm. `write_layer` gets the last layer's gradient first.
constexpr bool stack_is_transposed(norm_position norm) {
    return for_any_functions(1, [norm](opaque_draw& free) {
        const auto x = free.matrix<n, d>(), dx = free.matrix<n, d>(), dout = free.matrix<n, d>();
        const auto final_norm = free_weights<norm_weights<opaque>>(free), dfinal_norm = free_weights<norm_weights<opaque>>(free);
        layer_stack<layer_weights<opaque>, 2> w, dw, found;
        for (std::size_t l = 0; l < 2; ++l) w[l] = free_weights<layer_weights<opaque>>(free), dw[l] = free_weights<layer_weights<opaque>>(free);
        const auto options = options_with(norm, free.number());

        std::size_t expected = 2;
        bool in_order = true;
        const auto back = encoder_vjp(x, w, &final_norm, options.plain, masked, dout, [&](std::size_t l, const layer_weights<opaque>& of_layer) {
            in_order = in_order && l == --expected;
            found[l] = of_layer;
        });
        opaque sum = inner_product(back.dx, dx) + inner_product_of_weights(back.dfinal_norm, dfinal_norm);
        for (std::size_t l = 0; l < 2; ++l) sum = sum + inner_product_of_weights(found[l], dw[l]);

        layer_stack<layer_weights<opaque_dual>, 2> w_dual;
        for (std::size_t l = 0; l < 2; ++l) w_dual[l] = weights_along<layer_weights<opaque_dual>>(w[l], dw[l]);
        const auto norm_dual = weights_along<norm_weights<opaque_dual>>(final_norm, dfinal_norm);
        return in_order && expected == 0 && inner_product(dout, encoder(tokens_along(x, dx), w_dual, &norm_dual, options.of_dual, masked)) == sum;
    });
}
static_assert(stack_is_transposed(norm_position::post) && stack_is_transposed(norm_position::pre));

// Without a final norm the stack hands on what comes back; a pointer to none has gradients of 0; a stack of no layers changes nothing.
static_assert(for_any_functions(1, [](opaque_draw& free) {
    const auto x = free.matrix<n, d>(), dout = free.matrix<n, d>();
    const layer_weights<opaque> layers[] = {free_weights<layer_weights<opaque>>(free)};
    const auto options = options_with(norm_position::post, free.number()).plain;
    const auto ignore = [](std::size_t, const layer_weights<opaque>&) {};
    const norm_weights<opaque>* no_norm = nullptr;

    const auto of_layer = encoder_layer_vjp(x, layers[0], options, masked, dout);
    const auto of_stack = encoder_vjp(x, layers, nullptr, options, masked, dout, ignore);
    const auto of_pointer = encoder_vjp(x, layers, no_norm, options, masked, dout, ignore);
    const auto of_no_layers = encoder_vjp(x, layer_stack<layer_weights<opaque>, 0>{}, nullptr, options, masked, dout, ignore);
    return of_stack.dx == of_layer.dx && of_pointer.dx == of_layer.dx && of_pointer.dfinal_norm.gamma == tensor<opaque, d>{} &&
           of_pointer.dfinal_norm.beta == tensor<opaque, d>{} && of_no_layers.dx == dout;
}));

// A row without a visible key: its attention is the constant 0, also where the formula makes it NaN.
struct first_row_sees_nothing {
    [[nodiscard]] constexpr bool visible(std::size_t i, std::size_t) const { return i != 0; }
};
static_assert(for_any_functions(1, [](opaque_draw& free) {
    const auto x = free.matrix<n, d>(), dout = free.matrix<n, d>();
    const auto w = free_weights<layer_weights<opaque>>(free);
    const layer_weights<opaque> layers[] = {w};
    const auto options = options_with(norm_position::post, free.number()).plain;
    const attention_how<first_row_sees_nothing> nan{.on_empty = empty_row::nan}, zero{.on_empty = empty_row::zero};
    const auto ignore = [](std::size_t, const layer_weights<opaque>&) {};
    const auto expected = encoder_layer_vjp(x, w, options, zero, dout);
    return encoder_layer_vjp(x, w, options, nan, dout).dx == expected.dx && encoder_vjp(x, layers, nullptr, options, nan, dout, ignore).dx == expected.dx;
}));

} // namespace
} // namespace attest::proofs
