// SPDX-License-Identifier: BSL-1.0
// Answers of the exercises in docs/decoder.md.
#include "attest/formula/decoder.hpp"
#include "attest/gradient/decoder.hpp"
#include "catch.hpp"

#include <cmath>

namespace {

using attest::axis;
using attest::tensor;

// [exercise 1]
struct of_source : axis<6> {};
struct of_target : axis<5> {};
struct d_k : axis<3> {};
struct d_model : axis<4> {};
using q = tensor<double, of_target, d_k>;
using k_of_target = tensor<double, of_target, d_k>;
using k_of_memory = tensor<double, of_source, d_k>;
static_assert(std::is_same_v<decltype(attest::attention_weights(q{}, k_of_target{})), tensor<double, of_target, of_target>>);
static_assert(std::is_same_v<decltype(attest::attention_weights(q{}, k_of_memory{})), tensor<double, of_target, of_source>>);

struct one : axis<1> {};
struct two : axis<2> {};
using weights = attest::decoder_layer_weights<double, d_model, two, two, two, two>;
using tokens = tensor<double, of_target, d_model>;
using memory = tensor<double, of_source, d_model>;
static_assert(std::is_same_v<decltype(attest::decoder_layer(tokens{}, memory{}, weights{}, {}, attest::attention_how<>{})), tokens>);
// [/exercise 1]

// [exercise 2]
constexpr tensor<int, one, two> M{{1, 2}};
constexpr tensor<int, two, one> W_K{{1}, {0}}, W_V{{0}, {1}};
static_assert(attest::project_in_out(M, W_K)(0, 0) == 1 && attest::project_in_out(M, W_V)(0, 0) == 2);
// [/exercise 2]

// A layer whose matrices are the identity, and three tokens of a target.
struct three : axis<3> {};
using small_weights = attest::decoder_layer_weights<double, two, one, two, two, two>;
const small_weights layer = [] {
    small_weights w;
    const auto to_identity = [](auto&... matrices) { ((matrices(0, 0) = matrices(1, 1) = 1), ...); };
    to_identity(w.self_attn.w_q, w.self_attn.w_k, w.self_attn.w_v, w.self_attn.w_o);
    to_identity(w.cross_attn.w_q, w.cross_attn.w_k, w.cross_attn.w_v, w.cross_attn.w_o);
    to_identity(w.ffn.w_1, w.ffn.w_2);
    return w;
}();
const tensor<double, three, two> target{{3, 1}, {0, 1}, {-2, 5}};
const attest::block_options<double> pre{.norm = attest::norm_position::pre};
const attest::attention_how causal{.mask = attest::causal_top_left{}};

// [exercise 3]
TEST_CASE("the memory is a set") {
    const tensor<double, two, two> ab{{1, 2}, {-1, 0.5}}, ba{{-1, 0.5}, {1, 2}};
    const tensor<double, axis<4>, two> aabb{{1, 2}, {1, 2}, {-1, 0.5}, {-1, 0.5}};
    const auto of = [](const auto& read) { return attest::decoder_layer(target, read, layer, pre, causal); };
    const auto of_ab = of(ab), of_ba = of(ba), of_aabb = of(aabb);
    for (std::size_t i = 0; i < 3; ++i)
        for (std::size_t c = 0; c < 2; ++c) {
            CHECK(std::abs(of_ba(i, c) - of_ab(i, c)) <= 1e-14);
            CHECK(std::abs(of_aabb(i, c) - of_ab(i, c)) <= 1e-14);
        }
}
// [/exercise 3]

// [exercise 4]
TEST_CASE("what the first row's gradient reaches") {
    const tensor<double, two, two> read{{1, 2}, {-1, 0.5}};
    const tensor<double, three, two> dout{{1, 0.25}, {0, 0}, {0, 0}};
    const auto gradient = attest::decoder_layer_vjp(target, read, layer, pre, causal, attest::attention_how<>{}, dout);
    const tensor<double, two> nothing{0, 0};
    CHECK(gradient.dx[0] != nothing);
    CHECK(gradient.dx[1] == nothing);
    CHECK(gradient.dx[2] == nothing);
    CHECK(gradient.dmemory[0] != nothing);
    CHECK(gradient.dmemory[1] != nothing);
}
// [/exercise 4]

// [exercise 5]
TEST_CASE("a memory of one token") {
    const tensor<double, one, two> bottleneck{{7, -4}};
    small_weights other = layer;
    other.cross_attn.w_v = {{1, 2}, {3, 4}};
    other.cross_attn.w_o = {{0, 1}, {-1, 2}};
    const auto stages = attest::decoder_layer_stages(target, bottleneck, other, pre, causal);
    const auto v = attest::project_in_out(bottleneck, other.cross_attn.w_v);
    const auto same = attest::project_in_out(v, other.cross_attn.w_o);
    for (std::size_t i = 0; i < 3; ++i) CHECK(stages.cross_attn_out[i] == same[0]);
}
// [/exercise 5]

} // namespace
