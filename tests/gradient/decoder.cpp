// SPDX-License-Identifier: BSL-1.0
#include "attest/gradient/decoder.hpp"
#include "catch.hpp"
#include "gradient/directions.hpp"

#include <cmath>
#include <string>
#include <type_traits>
#include <vector>

using namespace attest;
using derived::big;

namespace {

struct n : axis<3> {};
struct m : axis<5> {};
struct d_model : axis<4> {};
struct d_memory : axis<3> {};
struct H : axis<2> {};
struct d_k : per_head<d_model, H> {};
struct d_v : axis<1> {};
struct d_ff : axis<5> {};
template <class S> using tokens = tensor<S, n, d_model>;
template <class S> using memory_of = tensor<S, m, d_memory>;
template <class S> using weights = decoder_layer_weights<S, d_model, H, d_k, d_v, d_ff, H, d_memory>;
template <class S> using norm_weights = layer_norm_weights<S, d_model>;
// For encoder and decoder together.
template <class S> using encoder_weights = encoder_layer_weights<S, d_model, H, d_k, d_v, d_ff>;
template <class S> using reading_weights = decoder_layer_weights<S, d_model, H, d_k, d_v, d_ff>;

using causal_how = attention_how<causal_top_left>;
constexpr causal_how causal{};
const attention_how<sliding_window> window{.mask = {1, 1, 1}};

template <class W> const W& any();
using gradient_f = decltype(decoder_layer_vjp(any<tokens<float>>(), any<memory_of<float>>(), any<weights<float>>(), {}, causal, window, any<tokens<float>>()));
static_assert(std::is_same_v<decltype(gradient_f::dx), tokens<float>> && std::is_same_v<decltype(gradient_f::dmemory), memory_of<float>> &&
              std::is_same_v<decltype(gradient_f::dw), weights<float>>);

template <class S> block_options<S> options_of(norm_position norm, activation_kind kind) {
    block_options<S> options;
    options.norm = norm;
    options.activation.kind = kind;
    options.layer_norm.eps = S(1) / S(1000);
    return options;
}
const norm_position positions[] = {norm_position::post, norm_position::pre};
const activation_kind kinds[] = {activation_kind::relu, activation_kind::gelu};
const auto ignore_layer = [](std::size_t, const auto&) {};

} // namespace

TEST_CASE("the gradient of a decoder layer is that of dual numbers: x, memory and every weight, both norm positions, ReLU and GELU", "[gradient]") {
    const auto x = layers::filled<tokens<big>>(1);
    const auto memory = layers::filled<memory_of<big>>(2);
    const auto w = layers::filled_weights<weights<big>>(3);
    const auto dout = layers::filled<tokens<big>>(4);
    for (const auto position : positions)
        for (const auto kind : kinds) {
            const auto g = decoder_layer_vjp(x, memory, w, options_of<big>(position, kind), causal, window, dout);
            auto x_dual = layers::filled<tokens<dual<big>>>(1);
            auto memory_dual = layers::filled<memory_of<dual<big>>>(2);
            auto w_dual = layers::filled_weights<weights<dual<big>>>(3);
            std::vector<directed::moving> all{directed::tensor_of("x", x_dual, g.dx), directed::tensor_of("memory", memory_dual, g.dmemory)};
            directed::add_weights(all, "", w_dual, g.dw);
            CHECK(all.size() == 28);
            directed::check(all, [&] {
                return derived::along(dout, decoder_layer(x_dual, memory_dual, w_dual, options_of<dual<big>>(position, kind), causal, window));
            });
        }
}

TEST_CASE("the gradient of a stack of two with a final norm is that of dual numbers: the memory's is the sum over the layers", "[gradient]") {
    const auto x = layers::filled<tokens<big>>(5);
    const auto memory = layers::filled<memory_of<big>>(6);
    const layer_stack<weights<big>, 2> stack{{layers::filled_weights<weights<big>>(7), layers::filled_weights<weights<big>>(8)}};
    const auto norm = layers::filled_weights<norm_weights<big>>(9);
    const auto dout = layers::filled<tokens<big>>(10);
    for (const auto position : positions)
        for (const auto kind : kinds) {
            std::vector<std::size_t> order;
            std::vector<weights<big>> dlayers(2);
            const auto g = decoder_vjp(x, memory, stack, &norm, options_of<big>(position, kind), causal, window, dout, [&](std::size_t l, weights<big>&& dlayer) {
                order.push_back(l);
                dlayers.at(l) = std::move(dlayer);
            });
            CHECK(order == std::vector<std::size_t>{1, 0});
            auto x_dual = layers::filled<tokens<dual<big>>>(5);
            auto memory_dual = layers::filled<memory_of<dual<big>>>(6);
            layer_stack<weights<dual<big>>, 2> stack_dual{{layers::filled_weights<weights<dual<big>>>(7), layers::filled_weights<weights<dual<big>>>(8)}};
            auto norm_dual = layers::filled_weights<norm_weights<dual<big>>>(9);
            std::vector<directed::moving> all{directed::tensor_of("x", x_dual, g.dx), directed::tensor_of("memory", memory_dual, g.dmemory)};
            directed::add_weights(all, "layers.0.", stack_dual[0], dlayers[0]);
            directed::add_weights(all, "layers.1.", stack_dual[1], dlayers[1]);
            directed::add_weights(all, "norm.", norm_dual, g.dfinal_norm);
            directed::check(all, [&] {
                return derived::along(dout, decoder(x_dual, memory_dual, stack_dual, &norm_dual, options_of<dual<big>>(position, kind), causal, window));
            });
        }
}

TEST_CASE("the gradient of encoder and decoder together is that of dual numbers", "[gradient]") {
    using source_tokens = tensor<big, m, d_model>;
    const auto source = layers::filled<source_tokens>(11);
    const auto target = layers::filled<tokens<big>>(12);
    const layer_stack<encoder_weights<big>, 1> encoders{{layers::filled_weights<encoder_weights<big>>(13)}};
    const layer_stack<reading_weights<big>, 2> decoders{
        {layers::filled_weights<reading_weights<big>>(14), layers::filled_weights<reading_weights<big>>(15)}};
    const auto encoder_norm = layers::filled_weights<norm_weights<big>>(16), decoder_norm = layers::filled_weights<norm_weights<big>>(17);
    const auto dout = layers::filled<tokens<big>>(18);
    for (const auto position : positions) {
        std::vector<encoder_weights<big>> dencoders(1);
        std::vector<reading_weights<big>> ddecoders(2);
        const encoder_decoder_how<> how;
        const auto g = encoder_decoder_vjp(
            source, target, encoders, &encoder_norm, decoders, &decoder_norm, options_of<big>(position, activation_kind::relu), how, dout,
            [&](std::size_t l, const auto& dw) { dencoders.at(l) = dw; }, [&](std::size_t l, const auto& dw) { ddecoders.at(l) = dw; });
        auto source_dual = layers::filled<tensor<dual<big>, m, d_model>>(11);
        auto target_dual = layers::filled<tokens<dual<big>>>(12);
        layer_stack<encoder_weights<dual<big>>, 1> encoders_dual{{layers::filled_weights<encoder_weights<dual<big>>>(13)}};
        layer_stack<reading_weights<dual<big>>, 2> decoders_dual{
            {layers::filled_weights<reading_weights<dual<big>>>(14), layers::filled_weights<reading_weights<dual<big>>>(15)}};
        auto encoder_norm_dual = layers::filled_weights<norm_weights<dual<big>>>(16), decoder_norm_dual = layers::filled_weights<norm_weights<dual<big>>>(17);
        std::vector<directed::moving> all{directed::tensor_of("source", source_dual, g.dsource), directed::tensor_of("target", target_dual, g.dtarget)};
        directed::add_weights(all, "encoder.layers.0.", encoders_dual[0], dencoders[0]);
        directed::add_weights(all, "decoder.layers.0.", decoders_dual[0], ddecoders[0]);
        directed::add_weights(all, "decoder.layers.1.", decoders_dual[1], ddecoders[1]);
        directed::add_weights(all, "encoder.norm.", encoder_norm_dual, g.dencoder_norm);
        directed::add_weights(all, "decoder.norm.", decoder_norm_dual, g.ddecoder_norm);
        directed::check(all, [&] {
            return derived::along(dout, encoder_decoder(source_dual, target_dual, encoders_dual, &encoder_norm_dual, decoders_dual, &decoder_norm_dual,
                                                        options_of<dual<big>>(position, activation_kind::relu), how));
        });
    }
}

TEST_CASE("a token that may see nothing of the memory: finite gradients, whatever the empty row gives", "[gradient]") {
    const keep_mask of_memory{tensor<bool, n, m>{{true, true, false, true, true}, {false, false, false, false, false}, {true, true, true, true, true}}};
    const keep_mask of_self{tensor<bool, n, n>{{false, false, false}, {true, true, false}, {true, true, true}}};
    const attention_how<keep_mask<tensor<bool, n, n>>> self{.mask = of_self, .on_empty = empty_row::nan}, self_zero{.mask = of_self};
    const attention_how<keep_mask<tensor<bool, n, m>>> cross{.mask = of_memory, .on_empty = empty_row::nan}, cross_zero{.mask = of_memory};
    for (const auto position : positions) {
        const auto x = layers::filled<tokens<double>>(19);
        const auto memory = layers::filled<memory_of<double>>(20);
        const auto w = layers::filled_weights<weights<double>>(21);
        const auto dout = layers::filled<tokens<double>>(22);
        const auto options = options_of<double>(position, activation_kind::gelu);
        const auto g = decoder_layer_vjp(x, memory, w, options, self, cross, dout);
        const auto same = decoder_layer_vjp(x, memory, w, options, self_zero, cross_zero, dout);
        CHECK(g.dx == same.dx);
        CHECK(g.dmemory == same.dmemory);
        const auto look = [](const std::string& name, const auto& t) {
            for (std::size_t e = 0; e < t.elements(); ++e) {
                INFO(name << ", element " << e << ": " << t.data()[e]);
                CHECK(std::isfinite(t.data()[e]));
            }
        };
        look("dx", g.dx);
        look("dmemory", g.dmemory);
        layers::each_tensor(g.dw, look);
        const std::vector<weights<double>> two{w, w};
        const auto s = decoder_vjp(x, memory, two, nullptr, options, self, cross, dout, ignore_layer);
        look("dx of a stack", s.dx);
        look("dmemory of a stack", s.dmemory);
    }
}

TEST_CASE("no layers: the gradient passes, and the memory gets none", "[gradient]") {
    const auto x = layers::filled<tokens<double>>(23);
    const auto memory = layers::filled<memory_of<double>>(24);
    const auto dout = layers::filled<tokens<double>>(25);
    const std::vector<weights<double>> empty;
    const auto g = decoder_vjp(x, memory, empty, nullptr, {}, causal, window, dout, ignore_layer);
    CHECK(g.dx == dout);
    CHECK(g.dmemory == memory_of<double>{});
}
