// SPDX-License-Identifier: BSL-1.0
// Shapes and parameter counts of the models that the lectures name, from the types of their weights; and what a feed-forward network does with permuted
// tokens, exactly.

#include "attest/formula/decoder.hpp"

namespace attest::proofs {
namespace {

// [A099]
template <class... T> consteval std::size_t elements() { return (std::size_t{0} + ... + typename T::extents_type{}.elements()); }

template <class W> consteval std::size_t matrices_of_attention() {
    return elements<decltype(W::w_q), decltype(W::w_k), decltype(W::w_v), decltype(W::w_o)>();
}
template <class W> consteval std::size_t biases_of_attention() {
    return elements<decltype(W::b_q), decltype(W::b_k), decltype(W::b_v), decltype(W::b_o)>();
}
template <class W> consteval std::size_t matrices_of_ffn() { return elements<decltype(W::w_1), decltype(W::w_2)>(); }
template <class W> consteval std::size_t all_of_ffn() { return matrices_of_ffn<W>() + elements<decltype(W::b_1), decltype(W::b_2)>(); }
template <class W> consteval std::size_t all_of_norm() { return elements<decltype(W::gamma), decltype(W::beta)>(); }

template <std::size_t DModel, std::size_t Heads, std::size_t DFF> struct model {
    struct d_model : axis<DModel> {};
    struct H : axis<Heads> {};
    struct d_k : per_head<d_model, H> {};
    struct d_v : per_head<d_model, H> {};
    struct d_ff : axis<DFF> {};
    using encoder_layer = encoder_layer_weights<float, d_model, H, d_k, d_v, d_ff>;
    using decoder_layer = decoder_layer_weights<float, d_model, H, d_k, d_v, d_ff>;
    using attention = decltype(encoder_layer::self_attn);
    using feed_forward = decltype(encoder_layer::ffn);
    using norm = decltype(encoder_layer::norm1);

    static constexpr std::size_t ffn = all_of_ffn<feed_forward>();
    static constexpr std::size_t attn(bool biases) { return matrices_of_attention<attention>() + (biases ? biases_of_attention<attention>() : 0); }
    static constexpr std::size_t encoder(bool biases) { return attn(biases) + ffn + 2 * all_of_norm<norm>(); }
    static constexpr std::size_t decoder(bool biases) { return 2 * attn(biases) + ffn + 3 * all_of_norm<norm>(); }
};

// a/b = tenths/1000, rounded to the nearest tenth of a per cent.
constexpr bool is_per_cent(std::size_t a, std::size_t b, std::size_t tenths) { return (2 * tenths - 1) * b < 2000 * a && 2000 * a < (2 * tenths + 1) * b; }

// A099, "the FFN holds most of the parameters": in an encoder layer with d_ff = 4 d, of the matrices, 8 d² of 12 d², for every d.
template <std::size_t DModel, std::size_t Heads> consteval bool two_thirds() {
    using m = model<DModel, Heads, 4 * DModel>;
    constexpr std::size_t ffn = matrices_of_ffn<typename m::feed_forward>(), attention = matrices_of_attention<typename m::attention>();
    return ffn == 8 * DModel * DModel && attention == 4 * DModel * DModel && 3 * ffn == 2 * (ffn + attention);
}
static_assert(two_thirds<64, 1>() && two_thirds<512, 8>() && two_thirds<768, 12>() && two_thirds<1024, 16>() && two_thirds<12288, 96>());

// In whole models it depends. The original's base model: 6 layers on either side, no biases in its attention (its formulas have none).
using base = model<512, 8, 2048>;
constexpr std::size_t base_ffn = 12 * base::ffn;
constexpr std::size_t base_blocks = 6 * (base::encoder(false) + base::decoder(false));
constexpr std::size_t base_embeddings = 37'000 * 512; // shared by both sides and the output
static_assert(base_ffn == 25'196'544 && base_blocks == 44'101'632);
static_assert(is_per_cent(base_ffn, base_blocks, 571), "57.1 % without embeddings");
static_assert(is_per_cent(base_ffn, base_blocks + base_embeddings, 400), "40.0 % with them: not most");

// BERT-Base: 12 layers; embeddings of 30,522 words, 512 positions and 2 segments, their norm, and a pooler.
using bert = model<768, 12, 3072>;
constexpr std::size_t bert_ffn = 12 * bert::ffn;
constexpr std::size_t bert_all = 12 * bert::encoder(true) + (30'522 + 512 + 2) * 768 + all_of_norm<bert::norm>() + (768 * 768 + 768);
static_assert(bert_ffn == 56'669'184 && bert_all == 109'482'240);
static_assert(is_per_cent(bert_ffn, bert_all, 518), "51.8 %: just most");

// GPT-2 small: 12 layers without cross-attention, 50,257 words, 1024 positions, a final norm.
constexpr std::size_t gpt2_all = 12 * bert::encoder(true) + (50'257 + 1024) * 768 + all_of_norm<bert::norm>();
static_assert(gpt2_all == 124'439'808);
static_assert(is_per_cent(bert_ffn, gpt2_all, 455), "45.5 %: not most");
// [/A099]

// A062, B023, B025, E044: the base model's matrices have the shapes that the lectures give, and d_k = 64.
static_assert(base::d_k::size == 64 && base::d_v::size == 64);
static_assert(decltype(base::attention::w_q)::axis_at<0>::size == 512 && decltype(base::attention::w_q)::axis_at<1>::size == 8 * 64);
static_assert(decltype(base::attention::w_o)::axis_at<0>::size == 8 * 64 && decltype(base::attention::w_o)::axis_at<1>::size == 512);

// A112: the output of an encoder has the shape of its input, whatever its depth; and that of encoder and decoder has a row for each token of the target.
struct n : axis<64> {};
struct m : axis<48> {};
using source = tensor<float, n, base::d_model>;
using target = tensor<float, m, base::d_model>;
template <class T> const T& any();
static_assert(std::same_as<decltype(encoder(any<source>(), any<layer_stack<base::encoder_layer, 6>>())), source>);
static_assert(std::same_as<decltype(encoder_decoder(any<source>(), any<target>(), any<layer_stack<base::encoder_layer, 6>>(), nullptr,
                                                    any<layer_stack<base::decoder_layer, 6>>(), nullptr)),
                           target>);

// A103: W_1 is d × d_ff and W_2 d_ff × d; the other way round does not meet.
static_assert(rules::weight_row_for_each_input::holds<base::d_ff, decltype(base::feed_forward::w_2)::axis_at<0>> &&
              !rules::weight_row_for_each_input::holds<base::d_ff, decltype(base::feed_forward::w_1)::axis_at<0>>);
// A084: W_O brings the heads back to d_model; without it, and with d_v = 32, Concat could not be added to X.
static_assert(!rules::residual_keeps_shape::holds<base::d_model, heads<base::H, axis<32>>>);

// [A096]
// A096: FFN(P X) = P FFN(X), for the two permutations that make all others (a swap and a turn), and two tokens only exchange their results. In integers, so
// exactly; with ReLU cutting some components and not others.
struct tokens : axis<3> {};
struct d : axis<2> {};
struct hidden : axis<3> {};
constexpr feed_forward_weights<int, d, hidden> w{{{1, -2, 3}, {-4, 5, -6}}, {7, -8, 9}, {{1, 2}, {-3, 4}, {5, -6}}, {-7, 8}};
constexpr tensor<int, tokens, d> X{{1, 2}, {-3, 4}, {5, -6}}, swapped{{-3, 4}, {1, 2}, {5, -6}}, turned{{5, -6}, {1, 2}, {-3, 4}};
constexpr auto Y = feed_forward(X, w), Y_swapped = feed_forward(swapped, w), Y_turned = feed_forward(turned, w);
static_assert(Y_swapped[0] == Y[1] && Y_swapped[1] == Y[0] && Y_swapped[2] == Y[2]);
static_assert(Y_turned[0] == Y[2] && Y_turned[1] == Y[0] && Y_turned[2] == Y[1]);
// [/A096]
// A101: the maps are affine: FFN(0) is not 0.
static_assert(!(feed_forward(tensor<int, axis<1>, d>{}, w) == tensor<int, axis<1>, d>{}));

// A082: a pre-norm layer whose sublayers give 0 is the identity, exactly; a post-norm layer is not (A109).
constexpr tensor<double, tokens, d> tokens_in{{1, 2}, {-3, 4}, {5, -6}};
constexpr encoder_layer_weights<double, d, axis<1>, d, d, hidden> zeros{};
static_assert(encoder_layer(tokens_in, zeros, {.norm = norm_position::pre}) == tokens_in);
static_assert(!(encoder_layer(tokens_in, zeros, {.norm = norm_position::post}) == tokens_in));

} // namespace
} // namespace attest::proofs
