// SPDX-License-Identifier: BSL-1.0
#include "attest/formula/decoder.hpp"
#include "attest/arithmetic/real.hpp"
#include "catch.hpp"
#include "formula/layer_weights.hpp"

#include <string>
#include <type_traits>
#include <vector>

using namespace attest;

namespace {

struct n : axis<3> {};
struct m : axis<5> {};
struct d_model : axis<4> {};
struct d_memory : axis<6> {};
struct H : axis<2> {};
struct d_k : per_head<d_model, H> {};
struct d_v : axis<3> {};
struct d_ff : axis<5> {};
using dyn = axis<dynamic>;
using big = real<50>;

// A memory of another length and of another axis than the tokens.
template <class S> using weights = decoder_layer_weights<S, d_model, H, d_k, d_v, d_ff, axis<1>, d_memory>;
template <class S> using tokens = tensor<S, n, d_model>;
template <class S> using memory_of = tensor<S, m, d_memory>;
// One that reads an encoder's output, and such an encoder.
template <class S> using reading_weights = decoder_layer_weights<S, d_model, H, d_k, d_v, d_ff>;
template <class S> using encoder_weights = encoder_layer_weights<S, d_model, H, d_k, d_v, d_ff>;

template <class W> const W& any();
using causal_how = attention_how<causal_top_left>;
constexpr causal_how causal{};
static_assert(std::is_same_v<decltype(decoder_layer(any<tokens<float>>(), any<memory_of<float>>(), any<weights<float>>(), {}, causal)), tokens<float>>);
static_assert(std::is_same_v<decltype(decoder(any<tensor<float, dyn, dyn>>(), any<memory_of<float>>(), any<std::vector<weights<float>>>(), nullptr, {}, causal)),
                             tensor<float, dyn, d_model>>);
static_assert(std::is_same_v<decltype(encoder_decoder(any<tensor<float, m, d_model>>(), any<tokens<float>>(), any<std::vector<encoder_weights<float>>>(), nullptr,
                                                      any<std::vector<reading_weights<float>>>(), nullptr)),
                             tokens<float>>,
              "as many rows as the target");

// In a constant expression: with weights of zeros a pre-norm layer gives back its input.
constexpr bool zero_layer_is_the_identity() {
    const tokens<double> x{{1, 2, 3, 4}, {5, 6, 7, 9}, {-1, 0, 1, 0}};
    return decoder_layer(x, memory_of<double>{}, weights<double>{}, {.norm = norm_position::pre}, causal) == x;
}
static_assert(zero_layer_is_the_identity());

block_options<big> options_of(norm_position norm, activation_kind kind = activation_kind::relu) {
    block_options<big> options;
    options.norm = norm;
    options.activation.kind = kind;
    options.layer_norm.eps = big(1) / big(1000);
    return options;
}
const norm_position positions[] = {norm_position::post, norm_position::pre};

template <class X> big distance(const X& x, const X& y) {
    big worst(0);
    for (std::size_t e = 0; e < x.elements(); ++e) {
        const big here = abs(x.data()[e] - y.data()[e]);
        if (!(here < worst)) worst = here; // a NaN stays
    }
    return worst;
}

} // namespace

TEST_CASE("the stages of a decoder layer are the composition of the parts, exactly", "[formula]") {
    const auto x = layers::filled<tokens<big>>(1);
    const auto memory = layers::filled<memory_of<big>>(2);
    const auto w = layers::filled_weights<weights<big>>(3);
    const attention_how<sliding_window> window{.mask = {1, 1, 1}};
    for (const auto kind : {activation_kind::relu, activation_kind::gelu}) {
        const auto post = options_of(norm_position::post, kind), pre = options_of(norm_position::pre, kind);
        const auto& ln = post.layer_norm;
        const auto s = decoder_layer_stages(x, memory, w, post, causal, window);
        CHECK(s.self_attn_out == multi_head_attention(x, w.self_attn, causal));
        CHECK(s.after_self == residual(x, s.self_attn_out));
        CHECK(s.norm1_out == layer_norm(s.after_self, w.norm1, ln));
        CHECK(s.cross_attn_out == multi_head_attention(s.norm1_out, memory, w.cross_attn, window));
        CHECK(s.after_cross == residual(s.norm1_out, s.cross_attn_out));
        CHECK(s.norm2_out == layer_norm(s.after_cross, w.norm2, ln));
        CHECK(s.ffn_out == feed_forward(s.norm2_out, w.ffn, post.activation));
        CHECK(s.after_ffn == residual(s.norm2_out, s.ffn_out));
        CHECK(s.norm3_out == layer_norm(s.after_ffn, w.norm3, ln));
        CHECK(s.out == s.norm3_out);
        CHECK(decoder_layer(x, memory, w, post, causal, window) == s.out);

        const auto p = decoder_layer_stages(x, memory, w, pre, causal, window);
        CHECK(p.norm1_out == layer_norm(x, w.norm1, ln));
        CHECK(p.self_attn_out == multi_head_attention(p.norm1_out, w.self_attn, causal));
        CHECK(p.after_self == residual(x, p.self_attn_out));
        CHECK(p.norm2_out == layer_norm(p.after_self, w.norm2, ln));
        CHECK(p.cross_attn_out == multi_head_attention(p.norm2_out, memory, w.cross_attn, window));
        CHECK(p.after_cross == residual(p.after_self, p.cross_attn_out));
        CHECK(p.norm3_out == layer_norm(p.after_cross, w.norm3, ln));
        CHECK(p.ffn_out == feed_forward(p.norm3_out, w.ffn, pre.activation));
        CHECK(p.after_ffn == residual(p.after_cross, p.ffn_out));
        CHECK(p.out == p.after_ffn);
        CHECK(decoder_layer(x, memory, w, pre, causal, window) == p.out);
        CHECK_FALSE(p.out == s.out);
        // Each of the two masks is where it belongs.
        CHECK_FALSE(decoder_layer(x, memory, w, pre, attention_how<>{}, window) == p.out);
        CHECK_FALSE(decoder_layer(x, memory, w, pre, causal) == p.out);
    }
}

TEST_CASE("a decoder without cross-attention's output is an encoder: W_O of zeros in it, and its norm in the right place", "[formula]") {
    // Pre-norm: the cross-attention's residual adds 0, so that norm1 and norm3 are the encoder's norm1 and norm2.
    const auto x = layers::filled<tokens<big>>(4);
    const auto memory = layers::filled<memory_of<big>>(5);
    auto w = layers::filled_weights<weights<big>>(6);
    w.cross_attn.w_o = {};
    w.cross_attn.b_o = {};
    const encoder_layer_weights<big, d_model, H, d_k, d_v, d_ff, axis<1>> e{w.self_attn, w.norm1, w.ffn, w.norm3};
    const auto pre = options_of(norm_position::pre);
    CHECK(decoder_layer(x, memory, w, pre, causal) == encoder_layer(x, e, pre, causal));
}

TEST_CASE("a stack of decoder layers reads one memory, and the final norm comes last", "[formula]") {
    const auto x = layers::filled<tokens<big>>(7);
    const auto memory = layers::filled<memory_of<big>>(8);
    const layer_stack<weights<big>, 2> stack{{layers::filled_weights<weights<big>>(9), layers::filled_weights<weights<big>>(10)}};
    const auto norm = layers::filled_weights<layer_norm_weights<big, d_model>>(11);
    for (const auto position : positions) {
        const auto options = options_of(position);
        const auto two = decoder_layer(decoder_layer(x, memory, stack[0], options, causal), memory, stack[1], options, causal);
        CHECK(decoder(x, memory, stack, nullptr, options, causal) == two);
        CHECK(decoder(x, memory, std::vector<weights<big>>{stack[0], stack[1]}, &norm, options, causal) == layer_norm(two, norm, options.layer_norm));
    }
    CHECK(decoder(x, memory, std::vector<weights<big>>{}, nullptr, options_of(norm_position::pre), causal) == x);
}

TEST_CASE("encoder and decoder together: by default the target does not see its future, and sees all of the source", "[formula]") {
    const auto source = layers::filled<tensor<big, m, d_model>>(12);
    const auto target = layers::filled<tokens<big>>(13);
    const layer_stack<encoder_weights<big>, 1> encoders{{layers::filled_weights<encoder_weights<big>>(14)}};
    const layer_stack<reading_weights<big>, 2> decoders{
        {layers::filled_weights<reading_weights<big>>(15), layers::filled_weights<reading_weights<big>>(16)}};
    const auto norm = layers::filled_weights<layer_norm_weights<big, d_model>>(17);
    for (const auto position : positions) {
        const auto options = options_of(position);
        const auto out = encoder_decoder(source, target, encoders, &norm, decoders, nullptr, options);
        CHECK(out == decoder(target, encoder(source, encoders, &norm, options), decoders, nullptr, options, causal));
        const encoder_decoder_how<causal_how, attention_how<>, causal_how> other;
        CHECK(encoder_decoder(source, target, encoders, nullptr, decoders, &norm, options, other) ==
              decoder(target, encoder(source, encoders, nullptr, options, causal), decoders, &norm, options, attention_how<>{}, causal));
        // The future of the target changes no bit of its past; the last token of the source changes all of it.
        auto changed = target;
        for (std::size_t c = 0; c < 4; ++c) changed(2, c) = changed(2, c) * big(3) - big(static_cast<int>(c));
        const auto of_changed = encoder_decoder(source, changed, encoders, &norm, decoders, nullptr, options);
        CHECK(of_changed[0] == out[0]);
        CHECK(of_changed[1] == out[1]);
        CHECK_FALSE(of_changed[2] == out[2]);
        auto other_source = source;
        for (std::size_t c = 0; c < 4; ++c) other_source(4, c) = big(static_cast<int>(c));
        const auto of_other = encoder_decoder(other_source, target, encoders, &norm, decoders, nullptr, options);
        for (std::size_t i = 0; i < 3; ++i) CHECK_FALSE(of_other[i] == out[i]);
    }
}

TEST_CASE("the memory is a set: its rows in any order give the same, to 40 digits", "[formula]") {
    const auto x = layers::filled<tokens<big>>(18);
    const auto memory = layers::filled<memory_of<big>>(19);
    const auto w = layers::filled_weights<weights<big>>(20);
    memory_of<big> turned;
    for (std::size_t j = 0; j < 5; ++j)
        for (std::size_t c = 0; c < 6; ++c) turned(j, c) = memory((j + 2) % 5, c);
    for (const auto position : positions) {
        const auto options = options_of(position);
        const big apart = distance(decoder_layer(x, memory, w, options, causal), decoder_layer(x, turned, w, options, causal));
        INFO(apart.text(5));
        CHECK(apart < big(1e-40));
    }
}

TEST_CASE("a memory that does not fit is refused with the rule's sentence and the two lengths", "[formula]") {
    const auto w = layers::filled_weights<weights<double>>(21);
    const auto message = [&](std::size_t d, std::size_t width) {
        try {
            (void)decoder(tensor<double, dyn, dyn>::with_lengths(3, d), tensor<double, dyn, dyn>::with_lengths(5, width), std::vector{w}, nullptr, {}, causal);
        } catch (const shape_error& e) {
            return std::string(e.what());
        }
        return std::string("fits");
    };
    const std::string sentence = rules::weight_row_for_each_input::sentence;
    CHECK(message(4, 6) == "fits");
    CHECK(message(5, 6) == sentence + " (5 and 4)");
    CHECK(message(4, 4) == sentence + " (4 and 6)");
}
