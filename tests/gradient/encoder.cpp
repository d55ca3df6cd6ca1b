// SPDX-License-Identifier: BSL-1.0
#include "attest/gradient/encoder.hpp"
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
struct d_model : axis<4> {};
struct H : axis<2> {};
struct H_kv : axis<1> {};
struct d_k : per_head<d_model, H> {};
struct d_v : axis<3> {};
struct d_ff : axis<5> {};
template <class S> using tokens = tensor<S, n, d_model>;
template <class S> using weights = encoder_layer_weights<S, d_model, H, d_k, d_v, d_ff, H_kv>;
template <class S> using norm_weights = layer_norm_weights<S, d_model>;

template <class W> const W& any();
using gradient_f = decltype(encoder_layer_vjp(any<tokens<float>>(), any<weights<float>>(), {}, attention_how<>{}, any<tokens<float>>()));
static_assert(std::is_same_v<decltype(gradient_f::dx), tokens<float>> && std::is_same_v<decltype(gradient_f::dw), weights<float>>);

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

TEST_CASE("the gradient of an encoder layer is that of dual numbers: x and every weight, both norm positions, ReLU and GELU", "[gradient]") {
    const auto x = layers::filled<tokens<big>>(1);
    const auto w = layers::filled_weights<weights<big>>(2);
    const auto dout = layers::filled<tokens<big>>(3);
    for (const auto position : positions)
        for (const auto kind : kinds) {
            const auto options = options_of<big>(position, kind);
            const auto dual_options = options_of<dual<big>>(position, kind);
            const auto run = [&](const auto& how) {
                const auto g = encoder_layer_vjp(x, w, options, how, dout);
                auto x_dual = layers::filled<tokens<dual<big>>>(1);
                auto w_dual = layers::filled_weights<weights<dual<big>>>(2);
                std::vector<directed::moving> all{directed::tensor_of("x", x_dual, g.dx)};
                directed::add_weights(all, "", w_dual, g.dw);
                CHECK(all.size() == 17);
                directed::check(all, [&] { return derived::along(dout, encoder_layer(x_dual, w_dual, dual_options, how)); });
            };
            run(attention_how<>{});
            run(attention_how<causal_top_left>{});
        }
}

TEST_CASE("the gradient of a stack of two with a final norm is that of dual numbers, the last layer's first", "[gradient]") {
    const auto x = layers::filled<tokens<big>>(4);
    const layer_stack<weights<big>, 2> stack{{layers::filled_weights<weights<big>>(5), layers::filled_weights<weights<big>>(6)}};
    const auto norm = layers::filled_weights<norm_weights<big>>(7);
    const auto dout = layers::filled<tokens<big>>(8);
    const attention_how<causal_top_left> how;
    for (const auto position : positions)
        for (const auto kind : kinds) {
            std::vector<std::size_t> order;
            std::vector<weights<big>> dlayers(2);
            const auto g = encoder_vjp(x, stack, &norm, options_of<big>(position, kind), how, dout, [&](std::size_t l, weights<big>&& dlayer) {
                order.push_back(l);
                dlayers.at(l) = std::move(dlayer);
            });
            CHECK(order == std::vector<std::size_t>{1, 0});
            auto x_dual = layers::filled<tokens<dual<big>>>(4);
            layer_stack<weights<dual<big>>, 2> stack_dual{{layers::filled_weights<weights<dual<big>>>(5), layers::filled_weights<weights<dual<big>>>(6)}};
            auto norm_dual = layers::filled_weights<norm_weights<dual<big>>>(7);
            std::vector<directed::moving> all{directed::tensor_of("x", x_dual, g.dx)};
            directed::add_weights(all, "layers.0.", stack_dual[0], dlayers[0]);
            directed::add_weights(all, "layers.1.", stack_dual[1], dlayers[1]);
            directed::add_weights(all, "norm.", norm_dual, g.dfinal_norm);
            CHECK(all.size() == 35);
            directed::check(all, [&] {
                return derived::along(dout, encoder(x_dual, stack_dual, &norm_dual, options_of<dual<big>>(position, kind), how));
            });
        }
}

TEST_CASE("without a final norm, with one layer and with none", "[gradient]") {
    const auto x = layers::filled<tokens<big>>(9);
    const std::vector<weights<big>> one{layers::filled_weights<weights<big>>(10)};
    const auto dout = layers::filled<tokens<big>>(11);
    const auto options = options_of<big>(norm_position::pre, activation_kind::relu);
    const attention_how<> how;
    const auto layer = encoder_layer_vjp(x, one[0], options, how, dout);
    const norm_weights<big>* const none = nullptr;
    const auto a = encoder_vjp(x, one, nullptr, options, how, dout, [&](std::size_t l, const weights<big>& dw) {
        CHECK(l == 0);
        CHECK(dw.ffn.w_1 == layer.dw.ffn.w_1);
        CHECK(dw.self_attn.w_k == layer.dw.self_attn.w_k);
    });
    CHECK(a.dx == layer.dx);
    const auto b = encoder_vjp(x, one, none, options, how, dout, ignore_layer);
    CHECK(b.dx == layer.dx);
    CHECK(b.dfinal_norm.gamma == tensor<big, d_model>{});
    const std::vector<weights<big>> empty;
    CHECK(encoder_vjp(x, empty, nullptr, options, how, dout, ignore_layer).dx == dout);
    // Pre-norm and weights of zeros: a layer is the identity, and its gradient too.
    CHECK(encoder_layer_vjp(x, weights<big>{}, options, how, dout).dx == dout);
}

TEST_CASE("a token that may see no key: the gradient is finite, that of dual numbers, and the same whatever the empty row gives", "[gradient]") {
    const keep_mask may_see{tensor<bool, n, n>{{true, true, false}, {false, false, false}, {true, true, true}}};
    using how_type = attention_how<keep_mask<tensor<bool, n, n>>>;
    const how_type zero{.mask = may_see}, nan{.mask = may_see, .on_empty = empty_row::nan};
    for (const auto position : positions) {
        const auto x = layers::filled<tokens<double>>(12);
        const auto w = layers::filled_weights<weights<double>>(13);
        const auto dout = layers::filled<tokens<double>>(14);
        const auto g = encoder_layer_vjp(x, w, options_of<double>(position, activation_kind::gelu), zero, dout);
        const auto h = encoder_layer_vjp(x, w, options_of<double>(position, activation_kind::gelu), nan, dout);
        CHECK(h.dx == g.dx);
        int seen = 0;
        const auto look = [&](const std::string& name, const auto& t) {
            for (std::size_t e = 0; e < t.elements(); ++e) {
                INFO(name << ", element " << e << ": " << t.data()[e]);
                CHECK(std::isfinite(t.data()[e]));
                ++seen;
            }
        };
        look("dx", h.dx);
        layers::each_tensor(h.dw, look);
        CHECK(seen > 100);
        const layer_stack<weights<double>, 2> stack{{w, w}};
        look("dx of a stack", encoder_vjp(x, stack, nullptr, options_of<double>(position, activation_kind::gelu), nan, dout, ignore_layer).dx);

        const auto exact = encoder_layer_vjp(layers::filled<tokens<big>>(12), layers::filled_weights<weights<big>>(13),
                                             options_of<big>(position, activation_kind::gelu), nan, layers::filled<tokens<big>>(14));
        auto x_dual = layers::filled<tokens<dual<big>>>(12);
        auto w_dual = layers::filled_weights<weights<dual<big>>>(13);
        std::vector<directed::moving> all{directed::tensor_of("x", x_dual, exact.dx)};
        directed::add_weights(all, "", w_dual, exact.dw);
        directed::check(all, [&] {
            return derived::along(layers::filled<tokens<big>>(14),
                                  encoder_layer(x_dual, w_dual, options_of<dual<big>>(position, activation_kind::gelu), zero));
        });
    }
}

TEST_CASE("a gradient that has not the shape of the output is refused", "[gradient]") {
    using dyn = axis<dynamic>;
    const auto x = layers::filled<tokens<double>>(15);
    const std::vector<weights<double>> one{layers::filled_weights<weights<double>>(16)};
    const std::string sentence = rules::gradient_has_shape_of_output::sentence;
    const attention_how<> how;
    for (const auto position : positions) {
        const auto options = options_of<double>(position, activation_kind::relu);
        CHECK_THROWS_WITH(encoder_layer_vjp(x, one[0], options, how, tensor<double, dyn, dyn>::with_lengths(3, 5)), sentence + " (5 and 4)");
        CHECK_THROWS_WITH(encoder_vjp(x, one, nullptr, options, how, tensor<double, dyn, dyn>::with_lengths(2, 4), ignore_layer), sentence + " (2 and 3)");
    }
    CHECK_THROWS_WITH(encoder_vjp(tensor<double, dyn, dyn>::with_lengths(3, 5), one, nullptr, options_of<double>(norm_position::post, activation_kind::relu), how, x,
                                  ignore_layer),
                      std::string(rules::weight_row_for_each_input::sentence) + " (5 and 4)");
}
