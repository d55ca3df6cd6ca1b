// SPDX-License-Identifier: BSL-1.0
// Answers of the exercises in docs/feed_forward.md.
#include "attest/formula/encoder.hpp"
#include "attest/formula/feed_forward.hpp"
#include "attest/gradient/feed_forward.hpp"
#include "catch.hpp"

#include <cmath>

namespace {

using attest::axis;
using attest::tensor;

// [exercise 1]
struct two : axis<2> {};
struct three : axis<3> {};
using token = tensor<int, axis<1>, two>;
constexpr attest::feed_forward_weights<int, two, three> W{
    .w_1 = {{1, 0, -1}, {0, 1, 1}}, .b_1 = {0, 0, 1}, .w_2 = {{1, 0}, {0, 1}, {2, 2}}, .b_2 = {0, -1}};
static_assert(attest::feed_forward(token{{1, 1}}, W) == token{{3, 2}});
// [/exercise 1]

// [exercise 2]
template <class S>
constexpr attest::feed_forward_weights<S, two, axis<4>> identity{
    .w_1 = {{1, 0, -1, 0}, {0, 1, 0, -1}}, .b_1 = {}, .w_2 = {{1, 0}, {0, 1}, {-1, 0}, {0, -1}}, .b_2 = {}};
constexpr tensor<int, three, two> tokens{{5, -3}, {0, 7}, {-1, -1}};
static_assert(attest::feed_forward(tokens, identity<int>) == tokens);
TEST_CASE("the identity, with GELU") {
    const tensor<double, three, two> x{{5, -3}, {0, 7}, {-1, -1}};
    const auto y = attest::feed_forward(x, identity<double>, {attest::activation_kind::gelu});
    for (std::size_t i = 0; i < 3; ++i)
        for (std::size_t c = 0; c < 2; ++c) CHECK(std::abs(y(i, c) - x(i, c)) <= 1e-14);
}
// [/exercise 2]

// [exercise 3]
constexpr bool gives_the_greater = [] {
    constexpr tensor<int, two, three> w_1{{1, 0, 0}, {-1, 1, -1}};
    constexpr tensor<int, three, axis<1>> w_2{{1}, {1}, {-1}};
    for (int a = -9; a <= 9; ++a)
        for (int b = -9; b <= 9; ++b)
            if (attest::feed_forward(token{{a, b}}, w_1, tensor<int, three>{}, w_2, tensor<int, axis<1>>{})(0, 0) != (a > b ? a : b)) return false;
    return true;
}();
static_assert(gives_the_greater);
// [/exercise 3]

// [exercise 4]
struct d : axis<64> {};
struct heads : axis<8> {};
struct of_head : attest::per_head<d, heads> {};
struct d_ff : axis<2 * d::size> {};
TEST_CASE("half of a layer's matrices") {
    const attest::encoder_layer_weights<float, d, heads, of_head, of_head, d_ff> layer;
    const auto& [self_attn, norm1, ffn, norm2] = layer;
    CHECK(ffn.w_1.elements() + ffn.w_2.elements() ==
          self_attn.w_q.elements() + self_attn.w_k.elements() + self_attn.w_v.elements() + self_attn.w_o.elements());
}
// [/exercise 4]

// [exercise 5]
constexpr attest::feed_forward_weights<int, two, two> second_is_dead{
    .w_1 = {{1, -1}, {1, -1}}, .b_1 = {0, -100}, .w_2 = {{1, 2}, {3, 4}}, .b_2 = {}};
constexpr tensor<int, two, two> X{{1, 2}, {3, -1}}, dY{{1, 1}, {2, -3}}; // the second hidden component: -103 and -102
constexpr auto dw = attest::feed_forward_vjp(X, second_is_dead, {}, dY).dw;
static_assert(dw.w_1(0, 1) == 0 && dw.w_1(1, 1) == 0 && dw.b_1(1) == 0 && dw.w_2(1, 0) == 0 && dw.w_2(1, 1) == 0);
static_assert(dw.w_1(0, 0) != 0 && dw.w_1(1, 0) != 0 && dw.b_1(0) != 0 && dw.w_2(0, 0) != 0 && dw.w_2(0, 1) != 0);
// [/exercise 5]

} // namespace
