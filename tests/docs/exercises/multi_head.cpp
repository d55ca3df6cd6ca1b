// SPDX-License-Identifier: BSL-1.0
// Answers of the exercises in docs/multi_head.md.
#include "attest/formula/multi_head.hpp"
#include "catch.hpp"

#include <concepts>

namespace {

namespace exercise_1 {
// [exercise 1]
struct d : attest::axis<2> {};
struct d_k : attest::axis<3> {};
struct d_v : attest::axis<1> {};
constexpr attest::tensor<int, d> x{2, -1};
constexpr attest::tensor<int, d_k, d> W_Q{{1, 0}, {0, 1}, {1, 1}}, W_K{{2, 1}, {0, 3}, {1, -1}}; // W x: a row for each component of the result
constexpr attest::tensor<int, d_v, d> W_V{{5, 4}};
static_assert(attest::project_out_in(x, W_Q) == attest::tensor<int, d_k>{2, -1, 1});
static_assert(attest::project_out_in(x, W_K) == attest::tensor<int, d_k>{3, -3, 3});
static_assert(attest::project_out_in(x, W_V) == attest::tensor<int, d_v>{6});
// [/exercise 1]
} // namespace exercise_1

namespace exercise_2 {
// [exercise 2]
struct short_sequence : attest::axis<2> {};
struct long_sequence : attest::axis<5> {};
struct d_model : attest::axis<4> {};
struct H : attest::axis<2> {};
struct d_k : attest::per_head<d_model, H> {};
using weights = attest::multi_head_weights<double, d_model, H, d_k>; // no axis of the tokens
using some = attest::tensor<double, short_sequence, d_model>;
using more = attest::tensor<double, long_sequence, d_model>;
static_assert(std::same_as<decltype(attest::multi_head_attention(some{}, weights{})), some>);
static_assert(std::same_as<decltype(attest::multi_head_attention(more{}, weights{})), more>); // the same weights

// And other tokens give another alpha: of two equal tokens each gets 1/2, of four 1/4.
template <class N> using tokens = attest::tensor<double, N, attest::axis<1>>;
constexpr tokens<attest::axis<2>> two{{1}, {1}};
constexpr tokens<attest::axis<4>> four{{1}, {1}, {1}, {1}};
static_assert(attest::attention_weights(two, two)(0, 0) == 0.5 && attest::attention_weights(four, four)(0, 0) == 0.25);
// [/exercise 2]
} // namespace exercise_2

namespace exercise_3 {
// [exercise 3]
struct n : attest::axis<100> {};
struct d_model : attest::axis<512> {};
struct h : attest::axis<8> {};
struct d_k : attest::per_head<d_model, h> {};
using weights = attest::multi_head_weights<float, d_model, h, d_k>;
using concat = decltype(attest::concatenated_heads(attest::tensor<float, n, d_model>{}, attest::tensor<float, n, d_model>{}, weights{}, attest::attention_how<>{}));
static_assert(d_k::size == 64 && attest::axis_of<concat, 1>::size == 512);
static_assert(attest::axis_of<decltype(weights::w_o), 0>::size == 512 && attest::axis_of<decltype(weights::w_o), 1>::size == 512);

// Multiplications in the projections, and in the scores and sums: heads and their width enter by their product alone.
constexpr std::size_t in_projections(std::size_t heads, std::size_t width) { return 4 * n::size * d_model::size * (heads * width); }
constexpr std::size_t in_attention(std::size_t heads, std::size_t width) { return 2 * n::size * n::size * (heads * width); }
static_assert(in_projections(8, 64) == in_projections(1, 512) && in_attention(8, 64) == in_attention(1, 512));
static_assert(in_projections(8, 64) == 104857600 && in_attention(8, 64) == 10240000);
// [/exercise 3]
} // namespace exercise_3

namespace exercise_4 {
// [exercise 4]
struct one : attest::axis<1> {};
struct H : attest::axis<8> {};
struct H_kv : attest::axis<2> {};
using weights = attest::multi_head_weights<int, one, H, one, one, H_kv>;
constexpr weights marked{.w_k = {{10, 20}}}; // what a key is says whose it is
constexpr attest::tensor<int, one, one> token{{1}};
constexpr int key_of_head(std::size_t h) {
    return attest::head_inputs(attest::project_heads(token, token, marked), marked, attest::attention_how<>{}, h).k(0, 0);
}
static_assert(key_of_head(0) == 10 && key_of_head(3) == 10 && key_of_head(4) == 20 && key_of_head(5) == 20 && key_of_head(7) == 20);
static_assert(attest::heads<H, attest::axis<64>>::size == 4 * attest::heads<H_kv, attest::axis<64>>::size); // columns of K, and of V
// [/exercise 4]
} // namespace exercise_4

namespace exercise_5 {
// [exercise 5]
struct two : attest::axis<2> {};
constexpr attest::tensor<int, attest::axis<1>, two> x{{1, 0}};
constexpr attest::tensor<int, two, two> W{{1, 2}, {3, 4}}; // square: both formulas fit
constexpr auto as_X_W = attest::project_in_out(x, W), as_W_x = attest::project_out_in(x, W);
static_assert(as_X_W == attest::tensor<int, attest::axis<1>, two>{{1, 2}} && as_W_x == attest::tensor<int, attest::axis<1>, two>{{1, 3}});
static_assert(as_W_x == attest::project_in_out(x, attest::transpose(W)));
// [/exercise 5]
} // namespace exercise_5

} // namespace
