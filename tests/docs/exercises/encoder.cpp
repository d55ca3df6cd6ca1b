// SPDX-License-Identifier: BSL-1.0
// Answers of the exercises in docs/encoder.md.
#include "attest/formula/encoder.hpp"
#include "attest/gradient/encoder.hpp"
#include "catch.hpp"

#include <cmath>

namespace {

using attest::axis;
using attest::tensor;

// [exercise 1]
struct d_model : axis<512> {};
struct heads : axis<8> {};
struct of_head : attest::per_head<d_model, heads> {};
TEST_CASE("the matrices of a layer of the base model") {
    const attest::encoder_layer_weights<float, d_model, heads, of_head, of_head, axis<2048>> base;
    const auto& [self_attn, norm1, ffn, norm2] = base;
    const std::size_t network = ffn.w_1.elements() + ffn.w_2.elements();
    const std::size_t all = self_attn.w_q.elements() + self_attn.w_k.elements() + self_attn.w_v.elements() + self_attn.w_o.elements() + network;
    CHECK(all == 3'145'728);
    CHECK(all == 12 * 512 * 512);
    CHECK(network * 3 == all * 2);
}
// [/exercise 1]

struct one : axis<1> {};
struct two : axis<2> {};
struct d : axis<4> {};
using layer = attest::encoder_layer_weights<double, d, one, one, one, one>;
constexpr attest::block_options<double> post{.norm = attest::norm_position::post}, pre{.norm = attest::norm_position::pre};

// [exercise 2]
constexpr tensor<double, one, d> token{{1, 2, -3, 4}};
static_assert(attest::encoder_layer(token, layer{}, pre) == token);
static_assert(attest::encoder_layer(token, layer{}, post) == attest::layer_norm(attest::layer_norm(token)));
static_assert(attest::layer_norm(attest::layer_norm(token)) != attest::layer_norm(token));
// [/exercise 2]

// [exercise 3]
constexpr tensor<double, two, d> tokens{{0, 0, 0, 0}, {1, 0, 0, 0}};
constexpr attest::layer_stack<layer, 12> growing = [] {
    attest::layer_stack<layer, 12> layers;
    for (layer& l : layers) l.ffn.b_2 = {1, 1, 1, 1};
    return layers;
}();
TEST_CASE("a stream that grows") {
    const auto stream = attest::encoder(tokens, growing, nullptr, pre);
    CHECK(stream == tensor<double, two, d>{{12, 12, 12, 12}, {13, 12, 12, 12}});
    const attest::layer_norm_weights<double, d> norm;
    CHECK(attest::encoder(tokens, growing, &norm, pre) == attest::layer_norm(tokens));
    CHECK(attest::layer_norm(tokens[0]) == tensor<double, d>{0, 0, 0, 0});
}
// [/exercise 3]

// [exercise 4]
struct h : axis<2> {};
constexpr attest::encoder_layer_weights<double, h, one, h, h, h> unit{
    .self_attn = {.w_q = {{1, 0}, {0, 1}}, .w_k = {{1, 0}, {0, 1}}, .w_v = {{1, 0}, {0, 1}}, .w_o = {{1, 0}, {0, 1}}},
    .ffn = {.w_1 = {{1, 0}, {0, 1}}, .w_2 = {{1, 0}, {0, 1}}}};
TEST_CASE("two tokens change places") {
    const tensor<double, two, h> ab{{3, 0}, {0, 1}}, ba{{0, 1}, {3, 0}};
    const auto all = [](const auto& x) { return attest::encoder_layer(x, unit, pre); };
    const auto of_ab = all(ab), of_ba = all(ba);
    CHECK(of_ba[0] == of_ab[1]);
    CHECK(of_ba[1] == of_ab[0]);

    const auto causal = [](const auto& x) { return attest::encoder_layer(x, unit, pre, attest::attention_how{.mask = attest::causal_top_left{}}); };
    const auto masked_ab = causal(ab), masked_ba = causal(ba);
    CHECK(masked_ba[0] != masked_ab[1]);
    CHECK(masked_ba[1] != masked_ab[0]);
}
// [/exercise 4]

// [exercise 5]
TEST_CASE("the direct path of a gradient") {
    const attest::layer_stack<layer, 12> nothing_learned;
    const tensor<double, one, d> dout{{1, 1, 1, 1}};
    const auto dx = [&](const auto& options) {
        return attest::encoder_vjp(token, nothing_learned, nullptr, options, attest::attention_how<>{}, dout, [](std::size_t, const layer&) {}).dx;
    };
    CHECK(dx(pre) == dout);
    for (std::size_t c = 0; c < 4; ++c) CHECK(std::abs(dx(post)(0, c)) <= 0x1p-50);
}
// [/exercise 5]

} // namespace
