// SPDX-License-Identifier: BSL-1.0
// The feed-forward network: what it computes, for each token by itself; why it needs its activation; and how many of a model's
// parameters it holds.

#include "identity.hpp"
#include "printed.hpp"
#include "settle.hpp"
#include "whole_number.hpp"

#include "attest/arithmetic/interval.hpp"
#include "attest/arithmetic/rational.hpp"
#include "attest/formula/encoder.hpp"
#include "attest/formula/decoder.hpp"

namespace attest::proofs {
namespace {

struct n : axis<3> {};
struct d_model : axis<2> {};
struct d_ff : axis<4> {};

template <class S> using weights_of = feed_forward_weights<S, d_model, d_ff>;
constexpr weights_of<field> any_weights(draw& at) {
    return {at.matrix<d_model, d_ff>(), at.vector<d_ff>(), at.matrix<d_ff, d_model>(), at.vector<d_model>()};
}
constexpr activation with_relu{}, with_gelu{activation_kind::gelu, gelu_form::erf};
constexpr activation with_gelu_tanh{activation_kind::gelu, gelu_form::tanh};
constexpr activation with_gelu_sigmoid{activation_kind::gelu, gelu_form::sigmoid};

// [A103]
// act(x W_1 + b_1) W_2 + b_2, as it is written.
template <class S>
constexpr tensor<S, n, d_model> lectures(const tensor<S, n, d_model>& x, const weights_of<S>& w, const activation& act) {
    tensor<S, n, d_model> y;
    for (std::size_t i = 0; i < 3; ++i) {
        y(i, 0) = w.b_2(0), y(i, 1) = w.b_2(1);
        for (std::size_t h = 0; h < 4; ++h) {
            const S a = act(S(x(i, 0) * w.w_1(0, h) + x(i, 1) * w.w_1(1, h) + w.b_1(h)));
            y(i, 0) = y(i, 0) + a * w.w_2(h, 0), y(i, 1) = y(i, 1) + a * w.w_2(h, 1);
        }
    }
    return y;
}
constexpr bool is_the_lectures(unsigned seeds, const activation& act) {
    return identity(seeds, [&act](draw& at) {
        const auto x = at.matrix<n, d_model>();
        const auto w = any_weights(at);
        return agree(feed_forward(x, w, act), lectures(x, w, act));
    });
}
constexpr unsigned points = 4;
template <activation Act> constexpr bool is_right = is_the_lectures(points, Act);

const entry A103 = settle("A103", holds([](const claim& c) {
    return c.points_with_exp() == points && is_right<with_gelu> && is_right<with_gelu_tanh> && is_right<with_gelu_sigmoid>;
}), holds([] {
    // W_1 is d_model × d_ff and W_2 d_ff × d_model; the other way round does not meet
    using rule = rules::weight_row_for_each_input;
    using w_1 = decltype(weights_of<rational>::w_1);
    using w_2 = decltype(weights_of<rational>::w_2);
    return std::same_as<w_1, tensor<rational, d_model, d_ff>> && std::same_as<w_2, tensor<rational, d_ff, d_model>> &&
           rule::holds<d_ff, w_2::axis_at<0>> && !rule::holds<d_ff, w_1::axis_at<0>>;
}));
const entry B053 = settle("B053", holds([](const claim& c) { return c.points_of_degree(32) == points && is_right<with_relu>; }));
// ReLU unless told, and no bias if a dynamic one is absent.
static_assert(identity(2, [](draw& at) {
    using any = axis<dynamic>;
    const auto x = at.matrix<n, d_model>();
    const auto w = any_weights(at);
    const feed_forward_weights<field, any, any> unbiased{tensor<field, any, any>(w.w_1), {}, tensor<field, any, any>(w.w_2), {}};
    return agree(feed_forward(x, w), feed_forward(x, w, with_relu)) &
           agree(feed_forward(x, w.w_1, w.b_1, w.w_2, w.b_2), feed_forward(x, w, with_relu)) &
           agree(feed_forward(x, unbiased), feed_forward(x, weights_of<field>{w.w_1, {}, w.w_2, {}}));
}));
// [/A103]

// [A096]
// FFN(P X) = P FFN(X), for the two permutations that make all others (a swap and a turn), and two tokens only exchange their
// results. In integers, so exactly; with ReLU cutting some components and not others.
constexpr weights_of<int> w{{{1, -2, 3, 4}, {-4, 5, -6, 1}}, {7, -8, 9, 0}, {{1, 2}, {-3, 4}, {5, -6}, {-1, 1}}, {-7, 8}};
constexpr tensor<int, n, d_model> X{{1, 2}, {-3, 4}, {5, -6}}, swapped{{-3, 4}, {1, 2}, {5, -6}}, turned{{5, -6}, {1, 2}, {-3, 4}};
constexpr auto Y = feed_forward(X, w), Y_swapped = feed_forward(swapped, w), Y_turned = feed_forward(turned, w);
static_assert(Y_swapped[0] == Y[1] && Y_swapped[1] == Y[0] && Y_swapped[2] == Y[2]);
static_assert(Y_turned[0] == Y[2] && Y_turned[1] == Y[0] && Y_turned[2] == Y[1]);
static_assert(Y == lectures(X, w, with_relu));

// For all tokens and weights: the six permutations; and a token's result does not change with the others. The field's ReLU is
// opaque: what holds with it holds with any activation. Its results are free variables, one for each different argument. Two
// components that are compared have up to 8 arguments, of degree 2 in x, W_1 and b_1, and are Σ a w + b_2. If they are different
// formulas, some result a has a coefficient that is not 0 (or they differ in b_2 alone); they agree by chance only if its argument
// is equal to one of the 7 others (7·2) or to 0 (2), if the coefficient is 0 (1), or if a is the one value that makes them
// agree (1): 18 in all, and the ledger's `degree` is 32.
constexpr std::size_t permutations[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
constexpr agreement is_row_by_row(draw& at) {
    const auto x = at.matrix<n, d_model>(), others = at.matrix<n, d_model>();
    const auto weights = any_weights(at);
    const auto y = feed_forward(x, weights);
    agreement all = agreement::equal;
    for (const auto& row : permutations) {
        tensor<field, n, d_model> moved;
        for (std::size_t i = 0; i < 3; ++i)
            for (std::size_t c = 0; c < 2; ++c) moved(i, c) = x(row[i], c);
        const auto y_moved = feed_forward(moved, weights);
        for (std::size_t i = 0; i < 3; ++i) all = all & agree(y_moved[i], y[row[i]]);
    }
    for (std::size_t i = 0; i < 3; ++i) {
        tensor<field, n, d_model> changed = others;
        for (std::size_t c = 0; c < 2; ++c) changed(i, c) = x(i, c);
        const auto y_changed = feed_forward(changed, weights);
        all = all & agree(y_changed[i], y[i]);
    }
    return all;
}
// FFN(x) + FFN(−x) = 2 FFN(0) if it were affine.
constexpr bool is_affine_at(const tensor<int, axis<1>, d_model>& x) {
    const tensor<int, axis<1>, d_model> minus_x{{-x(0, 0), -x(0, 1)}}, zero{};
    const auto y = feed_forward(x, w), y_minus = feed_forward(minus_x, w), y_zero = feed_forward(zero, w);
    return y(0, 0) + y_minus(0, 0) == 2 * y_zero(0, 0) && y(0, 1) + y_minus(0, 1) == 2 * y_zero(0, 1);
}
const entry A096 = settle("A096", holds([](const claim& c) { return identity(c.points_of_degree(32), is_row_by_row); }));
const entry A100 = settle("A100", holds([](const claim& c) { return identity(c.points_of_degree(32), is_row_by_row); }),
                          holds([] { return !is_affine_at({{1, 2}}); }));
// [/A096]

// [A097]
// Without an activation two affine maps are one, of the weights W_1 W_2 and the bias b_1 W_2 + b_2.
constexpr agreement collapses(draw& at) {
    const auto x = at.matrix<n, d_model>();
    const auto [w_1, b_1, w_2, b_2] = any_weights(at);
    tensor<field, d_model> bias = b_2;
    for (std::size_t o = 0; o < 2; ++o)
        for (std::size_t h = 0; h < 4; ++h) bias(o) = bias(o) + b_1(h) * w_2(h, o);
    return agree(project_in_out(project_in_out(x, w_1, b_1), w_2, b_2), project_in_out(x, matmul(w_1, w_2), bias));
}
const entry A097 = settle("A097", holds([] { return !is_affine_at({{1, 2}}); }),
                          holds([](const claim& c) { return identity(c.points_of_degree(3), collapses); }));
// [/A097]

// [A101]
// Either map, and the FFN, has a value at 0, its bias; without the bias it is linear.
constexpr agreement is_linear_without_bias(draw& at) {
    const auto x = at.matrix<n, d_model>(), y = at.matrix<n, d_model>();
    const auto weights = any_weights(at);
    const field a = at.number();
    tensor<field, n, d_model> sum;
    for (std::size_t i = 0; i < 3; ++i)
        for (std::size_t c = 0; c < 2; ++c) sum(i, c) = a * x(i, c) + y(i, c);
    const auto f = [&weights](const auto& z) { return project_in_out(z, weights.w_1, weights.b_1); };
    const auto of_sum = f(sum), of_x = f(x), of_y = f(y);
    agreement all = agreement::equal;
    for (std::size_t i = 0; i < 3; ++i)
        for (std::size_t h = 0; h < 4; ++h)
            all = all & agree(of_sum(i, h) - weights.b_1(h), a * (of_x(i, h) - weights.b_1(h)) + (of_y(i, h) - weights.b_1(h)));
    return all;
}
const entry A101 = settle("A101", fails_as_printed([] {
    constexpr tensor<int, axis<1>, d_model> zero{};
    constexpr auto hidden = project_in_out(zero, w.w_1, w.b_1);
    return hidden[0] == w.b_1 && !(hidden == tensor<int, axis<1>, d_ff>{}) && !(feed_forward(zero, w) == zero);
}), holds_corrected([](const claim& c) { return identity(c.points_of_degree(3), is_linear_without_bias); }));
// [/A101]

// [A099]
template <class... T> consteval std::size_t elements() { return (std::size_t{0} + ... + typename T::extents_type{}.elements()); }

template <class W> consteval std::size_t matrices_of_attention() {
    return elements<decltype(W::w_q), decltype(W::w_k), decltype(W::w_v), decltype(W::w_o)>();
}
template <class W> consteval std::size_t biases_of_attention() {
    return elements<decltype(W::b_q), decltype(W::b_k), decltype(W::b_v), decltype(W::b_o)>();
}
template <class W> consteval std::size_t matrices_of_ffn() { return elements<decltype(W::w_1), decltype(W::w_2)>(); }
template <class W> consteval std::size_t all_of_ffn() {
    return matrices_of_ffn<W>() + elements<decltype(W::b_1), decltype(W::b_2)>();
}
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
    static constexpr std::size_t attn(bool biases) {
        return matrices_of_attention<attention>() + (biases ? biases_of_attention<attention>() : 0);
    }
    static constexpr std::size_t encoder(bool biases) { return attn(biases) + ffn + 2 * all_of_norm<norm>(); }
    static constexpr std::size_t decoder(bool biases) { return 2 * attn(biases) + ffn + 3 * all_of_norm<norm>(); }
};

// Of a layer's matrices the FFN has 8 d² of 12 d², for every d, if d_ff = 4 d.
template <std::size_t DModel, std::size_t Heads> constexpr bool is_share_of_layer(const rational& share) {
    using m = model<DModel, Heads, 4 * DModel>;
    constexpr std::size_t ffn = matrices_of_ffn<typename m::feed_forward>(),
        attention = matrices_of_attention<typename m::attention>();
    return ffn == 8 * DModel * DModel && attention == 4 * DModel * DModel && share * (ffn + attention) == rational(ffn);
}

// In whole models it depends. The original's base model: 6 layers on either side, no biases in its attention (its formulas have
// none); 37,000 words, shared by both sides and the output.
using base = model<512, 8, 2048>;
constexpr std::size_t base_ffn = 12 * base::ffn, base_blocks = 6 * (base::encoder(false) + base::decoder(false));
constexpr std::size_t base_words = 37'000, base_all = base_blocks + base_words * base::d_model::size;
// BERT-Base: embeddings of 30,522 words, 512 positions and 2 segments, their norm, and a pooler.
using bert = model<768, 12, 3072>;
constexpr std::size_t bert_layers = 12, bert_ffn = bert_layers * bert::ffn;
constexpr std::size_t bert_all = bert_layers * bert::encoder(true) + (30'522 + 512 + 2) * 768 +
    all_of_norm<bert::norm>() + (768 * 768 + 768);
// GPT-2 small: 12 layers without cross-attention, 50,257 words, 1024 positions, a final norm.
constexpr std::size_t gpt2_all = 12 * bert::encoder(true) + (50'257 + 1024) * 768 + all_of_norm<bert::norm>();
static_assert(base_ffn == 25'196'544 && base_blocks == 44'101'632 && gpt2_all == 124'439'808);

constexpr interval per_cent(std::size_t part, std::size_t all) {
    return interval::ratio(100 * static_cast<long long>(part), static_cast<long long>(all));
}
constexpr bool is(std::size_t count, std::string_view printed) { return rational(count) == rational::decimal(printed); }

const entry A099 = settle("A099", fails_as_printed([] {
    return 2 * bert_ffn < gpt2_all && 2 * base_ffn < base_all;
}), holds_corrected([](const claim& c) {
    const rational share = rational::decimal(c.number(0));
    return is_share_of_layer<64, 1>(share) && is_share_of_layer<512, 8>(share) && is_share_of_layer<768, 12>(share) &&
           is_share_of_layer<12288, 96>(share);
}), holds_corrected("8 d^2 of 12 d^2", [](std::string_view line) {
    constexpr std::size_t square = base::d_model::size * base::d_model::size, ffn = matrices_of_ffn<base::feed_forward>();
    return spells(line, "# d^2 of # d^2", ffn / square, (ffn + matrices_of_attention<base::attention>()) / square);
}), holds_corrected("37,000", [](std::string_view words) { // of the base model's embeddings
    return spells(words, "#,000", base_words / 1000) && base_words % 1000 == 0;
}), holds_corrected([](const claim& c) {
    return is(bert_ffn, c.number(1)) && is(bert_all, c.number(2)) && prints(per_cent(bert_ffn, bert_all), c.number(3), 1) &&
           2 * bert_ffn > bert_all;
}), holds_corrected([](const claim& c) {
    return prints(per_cent(bert_ffn, gpt2_all), c.number(4), 1) && prints(per_cent(base_ffn, base_all), c.number(5), 1) &&
           prints(per_cent(base_ffn, base_blocks), c.number(6), 1) && 2 * base_ffn > base_blocks &&
           c.value_reads("# of a layer; BERT-Base # of # = # %; GPT-2 small # %; Transformer-base # %, without embeddings # %");
}));
// [/A099]

} // namespace
} // namespace attest::proofs
