// SPDX-License-Identifier: BSL-1.0
// The encoder: a layer is the composition that the lectures write, in both orders; a stack is layer after layer; shapes.

#include "identity.hpp"
#include "opaque.hpp"
#include "printed.hpp"
#include "settle.hpp"
#include "three_times.hpp"
#include "whole_number.hpp"

#include "attest/arithmetic/field.hpp"
#include "attest/arithmetic/interval.hpp"
#include "attest/arithmetic/rational.hpp"
#include "attest/formula/encoder.hpp"

namespace attest::proofs {
namespace {

struct n : axis<2> {};
struct d : axis<4> {};
struct H : axis<2> {};
struct d_k : axis<2> {};
struct d_v : axis<1> {};
struct d_ff : axis<3> {};
using layer_weights = encoder_layer_weights<opaque, d, H, d_k, d_v, d_ff>;
using norm_weights = layer_norm_weights<opaque, d>;

// Tokens, a layer, and what its formulas leave open: ε, and the activation.
struct free_layer {
    tensor<opaque, n, d> x;
    layer_weights w;
    block_options<opaque> options;
};
constexpr free_layer of(opaque_draw& free, norm_position norm, activation_kind act = activation_kind::relu) {
    return {free.matrix<n, d>(), free_weights<layer_weights>(free), {.norm = norm, .layer_norm = {.eps = free.number()}, .activation = {act}}};
}
constexpr attention_how<causal_top_left> masked{};

// [post]
// a = LayerNorm(x + MultiHeadAttn(x)), h = LayerNorm(a + FFN(a)): every stage, with and without a mask.
constexpr bool is_post(opaque_draw& free, activation_kind act) {
    const auto [x, w, options] = of(free, norm_position::post, act);
    const auto layer = encoder_layer_stages(x, w, options, masked);

    const auto MHA_x = multi_head_attention(x, w.self_attn, masked);
    const auto a = layer_norm(residual(x, MHA_x), w.norm1, options.layer_norm);
    const auto FFN_a = feed_forward(a, w.ffn, options.activation);
    const auto h = layer_norm(residual(a, FFN_a), w.norm2, options.layer_norm);

    return layer.self_attn_out == MHA_x && layer.after_attention == residual(x, MHA_x) && layer.norm1_out == a && layer.ffn_out == FFN_a &&
           layer.after_ffn == residual(a, FFN_a) && layer.norm2_out == h && layer.out == h && encoder_layer(x, w, options, masked) == h &&
           !(encoder_layer(x, w, options) == h);
}
// [/post]
constexpr bool is_post(unsigned seeds) {
    return for_any_functions(seeds, [](opaque_draw& free) { return is_post(free, activation_kind::relu); });
}

// [pre]
// a = x + MultiHeadAttn(LayerNorm(x)), h = a + FFN(LayerNorm(a)).
constexpr bool is_pre(opaque_draw& free, activation_kind act) {
    const auto [x, w, options] = of(free, norm_position::pre, act);
    const auto layer = encoder_layer_stages(x, w, options, masked);

    const auto LN_x = layer_norm(x, w.norm1, options.layer_norm);
    const auto MHA_x = multi_head_attention(LN_x, w.self_attn, masked);
    const auto a = residual(x, MHA_x);
    const auto LN_a = layer_norm(a, w.norm2, options.layer_norm);
    const auto FFN_a = feed_forward(LN_a, w.ffn, options.activation);
    const auto h = residual(a, FFN_a);

    return layer.norm1_out == LN_x && layer.self_attn_out == MHA_x && layer.after_attention == a && layer.norm2_out == LN_a && layer.ffn_out == FFN_a &&
           layer.after_ffn == h && layer.out == h && encoder_layer(x, w, options, masked) == h;
}
// [/pre]
constexpr bool is_pre(unsigned seeds) {
    return for_any_functions(seeds, [](opaque_draw& free) { return is_pre(free, activation_kind::gelu); });
}

// The `degree` of these claims in the ledger, 2^24. The value of an opaque function is a free variable, one for each different argument; so both sides are
// rational in the free variables. At a random point two formulas that differ agree only if two different arguments of one function coincide there, or the
// difference of the sides is 0. The largest is B054's, six layers of n = d = 2. If the tokens' numerators and denominators have degree D (over the row's
// own denominator), the attention's have 2 D + 3 (two tokens, e, W_V, W_O), each norm adds 1 (γ, its root), the network none more: at most 2 D + 5 after a
// layer, 6 · 64 = 384 after six from D = 1. Arguments of exp have at most 4 D + 4 and of roots 4 D + 12 with D <= 187: below 800, and the difference of two
// below 2^11. A side has 24 exponentials, 25 roots and 12 ReLUs, so both have 1128 + 1225 + 276 < 2^12 pairs of calls of one function. That is below 2^23,
// and so is the sides' difference. One layer, also a decoder's, has fewer than 2^10 such pairs, of arguments whose differences have degrees below 2^7.

// Found once, for all the claims that say so.
constexpr unsigned points = 4;
constexpr unsigned degree = 16777216;
constexpr bool post_holds = is_post(points), pre_holds = is_pre(points);

// A sum and a norm, written out in single numbers: LN(x + f)_c = γ_c (s_c − μ)/√(σ² + ε) + β_c with s = x + f.
constexpr bool is_norm_of_sum(unsigned seeds) {
    return for_any_functions(seeds, [](opaque_draw& free) {
        const auto [x, w, options] = of(free, norm_position::post);
        const auto layer = encoder_layer_stages(x, w, options);
        for (std::size_t i = 0; i < n::size; ++i) {
            tensor<opaque, d> s;
            opaque sum(0), squares(0);
            for (std::size_t c = 0; c < d::size; ++c) s(c) = x(i, c) + layer.self_attn_out(i, c), sum = sum + s(c);
            const opaque mu = sum / 4;
            for (std::size_t c = 0; c < d::size; ++c) squares = squares + (s(c) - mu) * (s(c) - mu);
            const opaque divisor = sqrt(squares / 4 + options.layer_norm.eps);
            for (std::size_t c = 0; c < d::size; ++c)
                if (layer.norm1_out(i, c) != w.norm1.gamma(c) * ((s(c) - mu) / divisor) + w.norm1.beta(c)) return false;
        }
        return true;
    });
}
// Exactly, of the token (5, 0) and sublayers that give 0: pre-norm it stays as it is, since nothing is normalised after the additions; post-norm it does not.
struct token : axis<1> {};
struct components : axis<2> {};
constexpr encoder_layer_weights<interval, components, axis<1>, axis<1>, axis<1>, axis<1>> nothing_learned{};
constexpr tensor<interval, token, components> five_and_zero{{5, 0}};
constexpr auto post_norm = encoder_layer_stages(five_and_zero, nothing_learned);
constexpr auto pre_norm = encoder_layer_stages(five_and_zero, nothing_learned, {.norm = norm_position::pre});

const entry A081 = settle("A081", holds([](const claim& c) { return post_holds && c.points_of_degree(degree) == points; }),
                          holds([](const claim& c) { return is_norm_of_sum(c.points_of_degree(degree)); }));
const entry A094 = settle("A094", fails_as_printed([] {
                              return surely(pre_norm.out(0, 0) == 5) && surely(pre_norm.out(0, 1) == 0) && surely(post_norm.out(0, 0) < 2) &&
                                     surely(pre_norm.norm2_out(0, 0) < 2); // there is a norm; it stands elsewhere
                          }),
                          holds_corrected([](const claim& c) { return post_holds && c.points_of_degree(degree) == points; }));
const entry A107 = settle("A107", //
                          holds([](const claim& c) { return post_holds && c.points_of_degree(degree) == points; }),
                          holds([](const claim& c) { return pre_holds && c.points_of_degree(degree) == points; }));
const entry B052 = settle("B052", holds([](const claim& c) { return post_holds && c.points_of_degree(degree) == points; }));

// [A108]
// Layer output = LayerNorm(X + FFN(X)), whatever X came out of the attention.
const entry A108 = settle("A108", holds([](const claim& c) {
                              return for_any_functions(c.points_of_degree(degree), [](opaque_draw& free) {
                                  const auto [x, w, options] = of(free, norm_position::post, activation_kind::gelu);
                                  const auto layer = encoder_layer_stages(x, w, options);
                                  const auto& X = layer.norm1_out;
                                  return layer.out == layer_norm(residual(X, feed_forward(X, w.ffn, options.activation)), w.norm2, options.layer_norm);
                              });
                          }));
// [/A108]

// [A082]
// Sublayers that give 0 make a pre-norm layer the identity, exactly; a post-norm layer normalises all the same.
constexpr tensor<double, n, d> tokens_in{{1, 2, -3, 4}, {5, -6, 7, 8}};
constexpr encoder_layer_weights<double, d, H, d_k, d_v, d_ff> zeros{};
constexpr bool pre_norm_of_zeros_is_identity = encoder_layer(tokens_in, zeros, {.norm = norm_position::pre}) == tokens_in;
static_assert(!(encoder_layer(tokens_in, zeros, {.norm = norm_position::post}) == tokens_in));

const entry A082 = settle("A082", holds([](const claim& c) { return pre_holds && c.points_of_degree(degree) == points; }), holds([] { return pre_norm_of_zeros_is_identity; }));
// [/A082]

// [A109]
// Post-norm, the token (5, 0) by LN is (1, −1), nearly; by LN again a little less nearly: ε counts twice.

// With γ = 1, β = 0 and ε = 0 what is normalised stays; other rows do not. (In x and a root t of its variance, rational: degree 16 at most, and a root
// exists at every second point.)
constexpr agreement keeps_what_is_normalised(draw& at) {
    const auto X = layer_norm(at.vector<d>(), layer_norm_options<field>{0});
    return agree(layer_norm(X, layer_norm_weights<field, d>{}, {0}), X);
}
constexpr auto another_row = layer_norm(tensor<rational, components>{0, 2}, {0}); // σ = 1

const entry A109 = settle("A109", //
                          fails_as_printed([] { return surely(post_norm.out(0, 0) < post_norm.norm1_out(0, 0)); }),
                          fails_as_printed([] { return another_row == tensor<rational, components>{-1, 1}; }),
                          holds_corrected([](const claim& c) { return identity(c.points_of_degree(32), keeps_what_is_normalised); }),
                          holds_corrected([](const claim& c) { return prints(post_norm.norm1_out(0, 0) - post_norm.out(0, 0), c.number(), 7); }),
                          holds_corrected("1/100000", [](std::string_view eps) { // the one that is there unless told
                              return spells(eps, "#/#", 1, 100000) && block_options<rational>{}.layer_norm.eps == rational::decimal(eps);
                          }),
                          holds_corrected([] { return pre_norm_of_zeros_is_identity; }));
// [/A109]

// [A112]
// n × d in, n × d out, whatever the depth.
struct source_tokens : axis<64> {};
struct d_model : axis<512> {};
struct eight : axis<8> {};
struct of_head : per_head<d_model, eight> {};
struct hidden : axis<2048> {};
using base_encoder = layer_stack<encoder_layer_weights<float, d_model, eight, of_head, of_head, hidden>, 6>;
using source = tensor<float, source_tokens, d_model>;
template <class T> const T& any();

const entry A112 = settle("A112", //
                          holds([] { return std::same_as<decltype(encoder_layer(any<source>(), any<base_encoder>()[0])), source>; }),
                          holds([] { return std::same_as<decltype(encoder(any<source>(), any<base_encoder>())), source>; }));
// [/A112]

// [B054]
// A stack of six: one after the other, the output of one the input of the next.
struct one : axis<1> {};
struct two : axis<2> {};
using small_weights = encoder_layer_weights<opaque, two, one, one, one, one>;
constexpr bool stack_is_as_many_layers(opaque_draw& free, std::size_t layers) {
    using original = layer_stack<small_weights, 6>;
    original stack;
    for (auto& layer : stack) layer = free_weights<small_weights>(free);
    const auto x = free.matrix<two, two>();
    auto tokens = x;
    for (std::size_t l = 0; l < layers; ++l) tokens = encoder_layer(tokens, stack[l % original::size()]);
    return encoder(x, stack) == tokens;
}

const entry B054 = settle("B054", //
                          holds([](const claim& c) { return for_any_functions(c.points_of_degree(degree), [](opaque_draw& free) { return stack_is_as_many_layers(free, 6); }); }),
                          holds("6", [](std::string_view printed) {
                              opaque_draw free(1);
                              return stack_is_as_many_layers(free, static_cast<std::size_t>(whole_number(printed)));
                          }));
// [/B054]

// A stack may be an array or a layer_stack, of no layers too; the final norm comes last, if there is one, and is not asked for twice.
static_assert(for_any_functions(1, [](opaque_draw& free) {
    const layer_weights array[] = {free_weights<layer_weights>(free), free_weights<layer_weights>(free)};
    layer_stack<layer_weights, 2> stack{};
    stack[0] = array[0], stack[1] = array[1];
    const auto& read_only = stack;
    if (read_only.end() - read_only.begin() != 2 || stack.end() - stack.begin() != 2 || &read_only[1] != read_only.begin() + 1 || stack.size() != 2) return false;
    const auto norm = free_weights<norm_weights>(free);
    const norm_weights* no_norm = nullptr;
    const auto [x, w, options] = of(free, norm_position::pre);

    const auto out = encoder_layer(encoder_layer(x, array[0], options, masked), array[1], options, masked);
    const auto normed = layer_norm(out, norm, options.layer_norm);
    return encoder(x, stack, nullptr, options, masked) == out && encoder(x, array, nullptr, options, masked) == out &&
           encoder(x, stack, no_norm, options, masked) == out && encoder(x, stack, &norm, options, masked) == normed &&
           encoder(x, layer_stack<layer_weights, 0>{}) == x && encoder(x, layer_stack<layer_weights, 0>{}, &norm, options) == layer_norm(x, norm, options.layer_norm);
}));
static_assert(sizeof(layer_stack<norm_weights, 0>{}.layers) == sizeof(norm_weights) && sizeof(layer_stack<norm_weights, 3>{}.layers) == 3 * sizeof(norm_weights));

// Who looks sees each stage once, in the order of computation, and may put another in its place: what follows is computed from that.
constexpr const char* order_of_post[] = {"self_attn.out", "norm1.out", "ffn.out", "norm2.out"};
constexpr const char* order_of_pre[] = {"norm1.out", "self_attn.out", "norm2.out", "ffn.out"};
static_assert(for_any_functions(1, [](opaque_draw& free) {
    const auto [x, w, options] = of(free, norm_position::post);
    for (const char* name : order_of_post) {
        std::size_t seen = 0;
        const three_times thrice{order_of_post, name, &seen};
        const auto layer = encoder_layer_stages(x, w, options, masked, thrice);
        const auto MHA_x = thrice.if_it_is("self_attn.out", multi_head_attention(x, w.self_attn, masked));
        const auto a = thrice.if_it_is("norm1.out", layer_norm(residual(x, MHA_x), w.norm1, options.layer_norm));
        const auto FFN_a = thrice.if_it_is("ffn.out", feed_forward(a, w.ffn, options.activation));
        const auto h = thrice.if_it_is("norm2.out", layer_norm(residual(a, FFN_a), w.norm2, options.layer_norm));
        if (seen != std::size(order_of_post) || !(layer.out == h)) return false;
    }
    return true;
}));
static_assert(for_any_functions(1, [](opaque_draw& free) {
    const auto [x, w, options] = of(free, norm_position::pre);
    for (const char* name : order_of_pre) {
        std::size_t seen = 0;
        const three_times thrice{order_of_pre, name, &seen};
        const auto layer = encoder_layer_stages(x, w, options, masked, thrice);
        const auto LN_x = thrice.if_it_is("norm1.out", layer_norm(x, w.norm1, options.layer_norm));
        const auto a = residual(x, thrice.if_it_is("self_attn.out", multi_head_attention(LN_x, w.self_attn, masked)));
        const auto LN_a = thrice.if_it_is("norm2.out", layer_norm(a, w.norm2, options.layer_norm));
        const auto h = residual(a, thrice.if_it_is("ffn.out", feed_forward(LN_a, w.ffn, options.activation)));
        if (seen != std::size(order_of_pre) || !(layer.out == h)) return false;
    }
    return true;
}));

} // namespace
} // namespace attest::proofs
