// SPDX-License-Identifier: BSL-1.0
// Multi-head attention, written out. Its shapes in the lectures' configuration: heads.cpp; laws of several heads: mixing_heads.cpp.

#include "identity.hpp"
#include "settle.hpp"

#include "attest/formula/multi_head.hpp"
#include "attest/formula/rope.hpp"

namespace attest::proofs {
namespace {

// The whole formula, in the lectures' notation:  head_h = Attention(X W_Q,h, M W_K,g, M W_V,g),  MultiHead = Concat(head_1, …, head_H) W_O.
namespace written_out {

using matrix = tensor<field, axis<dynamic>, axis<dynamic>>;

// X W + b, and X W without a bias.
template <class X, class W, class B>
constexpr matrix product(const X& x, const W& w, const B& b) {
    auto y = matrix::with_lengths(x.length(0), w.length(1));
    for (std::size_t i = 0; i < x.length(0); ++i)
        for (std::size_t o = 0; o < w.length(1); ++o) {
            y(i, o) = b.length(0) == 0 ? field(0) : b(o);
            for (std::size_t c = 0; c < x.length(1); ++c) y(i, o) = y(i, o) + x(i, c) * w(c, o);
        }
    return y;
}
// Row i of every head, of two components each, turned by position(i) radians.
template <class Position>
constexpr matrix turned(const matrix& x, const Position& position) {
    matrix y = x;
    for (std::size_t i = 0; i < x.length(0); ++i) {
        const field angle(position(i)), cosine = attest::cos(angle), sine = attest::sin(angle);
        for (std::size_t c = 0; c < x.length(1); c += 2) {
            y(i, c) = x(i, c) * cosine - x(i, c + 1) * sine;
            y(i, c + 1) = x(i, c) * sine + x(i, c + 1) * cosine;
        }
    }
    return y;
}
// Everything sees everything, nothing is added, and no position matters.
struct plainly {
    field scale;
    static constexpr bool sees(std::size_t, std::size_t, std::size_t) { return true; }
    static constexpr field added(std::size_t, std::size_t, std::size_t) { return 0; }
    static constexpr int position(std::size_t) { return 0; }
};

// Concat(head_1, …, head_H) of H heads with d_k = 2 and d_v components, and H_kv heads of keys and values: z_i = Σ_j α_ij v_j in each.
struct sizes {
    std::size_t H, H_kv, d_v;
};
template <class X, class M, class W, class How>
constexpr matrix concat(const X& x, const M& memory, const W& w, const How& how, const sizes& s) {
    const matrix Q = turned(product(x, w.w_q, w.b_q), how.position), K = turned(product(memory, w.w_k, w.b_k), how.position);
    const matrix V = product(memory, w.w_v, w.b_v);
    matrix z = matrix::with_lengths(x.length(0), s.H * s.d_v);
    for (std::size_t h = 0; h < s.H; ++h)
        for (std::size_t i = 0; i < x.length(0); ++i) {
            const std::size_t g = h / (s.H / s.H_kv); // so many query heads share a key-value head
            field below(0);
            for (std::size_t j = 0; j < memory.length(0); ++j) {
                if (!how.sees(h, i, j)) continue;
                const field q_dot_k = Q(i, 2 * h) * K(j, 2 * g) + Q(i, 2 * h + 1) * K(j, 2 * g + 1);
                const field weight = attest::exp(q_dot_k * how.scale + how.added(h, i, j));
                for (std::size_t c = 0; c < s.d_v; ++c) z(i, h * s.d_v + c) = z(i, h * s.d_v + c) + weight * V(j, g * s.d_v + c);
                below = below + weight;
            }
            if (below == field(0)) continue; // no key: 0
            for (std::size_t c = 0; c < s.d_v; ++c) z(i, h * s.d_v + c) = z(i, h * s.d_v + c) / below;
        }
    return z;
}
template <class X, class M, class W, class How>
constexpr matrix multi_head(const X& x, const M& memory, const W& w, const How& how, const sizes& s) {
    return product(concat(x, memory, w, how, s), w.w_o, w.b_o);
}

struct n : axis<2> {};
struct m : axis<3> {};
struct d_model : axis<3> {};
struct d_memory : axis<2> {};
struct two : axis<2> {};
struct four : axis<4> {};
struct d_v : axis<3> {};

constexpr auto fill = [](draw& f, auto& x) {
    for (std::size_t e = 0; e < x.elements(); ++e) x.data()[e] = f.number();
};
template <class W>
constexpr W free_weights(draw& f, bool with_biases) {
    W w;
    fill(f, w.w_q), fill(f, w.w_k), fill(f, w.w_v), fill(f, w.w_o);
    if (with_biases) fill(f, w.b_q), fill(f, w.b_k), fill(f, w.b_v), fill(f, w.b_o);
    return w;
}

// [B022]
// Self-attention with 1/√d_k, as the lectures have it.
using self = multi_head_weights<field, d_model, two, two, d_v>;
constexpr sizes of_self{2, 2, 3};
constexpr plainly as_in_the_lecture{field(1) / attest::sqrt(field(2))};
static_assert(self{}.d_k() == 2 && self{}.d_v() == 3);
const entry B021 = settle("B021", holds([](const claim& c) {
                              return identity(c.points_with_exp(), [](draw& f) {
                                  const auto w = free_weights<self>(f, false);
                                  const auto x = f.matrix<n, d_model>();
                                  return agree(concatenated_heads(x, x, w, attention_how<>{}), concat(x, x, w, as_in_the_lecture, of_self));
                              });
                          }));
const entry B022 = settle("B022", holds([](const claim& c) {
                              return identity(c.points_with_exp(), [](draw& f) {
                                  const auto w = free_weights<self>(f, false);
                                  const auto x = f.matrix<n, d_model>();
                                  return agree(multi_head_attention(x, w), multi_head(x, x, w, as_in_the_lecture, of_self));
                              });
                          }));
// E002: all three from the same sequence: X is the memory too.
const entry E002 = settle("E002", holds([](const claim& c) {
                              return identity(c.points_with_exp(), [](draw& f) {
                                  const auto w = free_weights<self>(f, true);
                                  const auto x = f.matrix<n, d_model>();
                                  return agree(multi_head_attention(x, w), multi_head_attention(x, x, w)) &
                                         agree(multi_head_attention(x, w), multi_head(x, x, w, as_in_the_lecture, of_self));
                              });
                          }));
// [/B022]

// Cross-attention with everything that heads may have: four heads over two key-value heads, biases, a rotation, and for each head a mask and a bias of
// its own. Query 0 of head 1 sees no key.
struct by_head {
    const field* biases;
    field scale;
    static constexpr bool sees(std::size_t h, std::size_t i, std::size_t j) { return !(h == 1 && i == 0) && (h + i + j) % 3 != 0; }
    constexpr field added(std::size_t h, std::size_t i, std::size_t j) const { return biases[(h * n::size + i) * m::size + j]; }
    static constexpr int position(std::size_t i) { return static_cast<int>(i) + 5; }
};
struct mask_of_one_head {
    by_head of;
    std::size_t h;
    constexpr bool visible(std::size_t i, std::size_t j) const { return of.sees(h, i, j); }
    constexpr field added(std::size_t i, std::size_t j) const { return of.added(h, i, j); }
};
struct family {
    by_head of;
    constexpr mask_of_one_head head(std::size_t h) const { return {of, h}; }
};
using cross = multi_head_weights<field, d_model, four, two, d_v, two, d_memory>;
static_assert(cross{}.d_k() == 2 && cross{}.d_v() == 3 && cross{}.n_heads == 4 && cross{}.n_kv_heads == 2);
constexpr sizes of_cross{4, 2, 3};
static_assert(identity(1, [](draw& f) {
    const auto w = free_weights<cross>(f, true);
    const auto x = f.matrix<n, d_model>();
    const auto memory = f.matrix<m, d_memory>();
    tensor<field, axis<24>> biases;
    fill(f, biases);
    const by_head how{biases.data(), f.number()};
    const attention_how its_how{.mask = family{how},
                                .score = scaled_dot_product<field>{how.scale},
                                .rotation = rope_rotation<field>{.how = {.base = attest::exp(f.number())}, .offset = 5}};
    return agree(multi_head_attention(x, memory, w, its_how), multi_head(x, memory, w, how, of_cross));
}));

// The same weights on dynamic axes, with biases and without; one mask for all heads.
using some = axis<dynamic>;
constexpr auto same_elements = [](const auto& from, auto& to) {
    for (std::size_t e = 0; e < to.elements(); ++e) to.data()[e] = from.data()[e];
};
constexpr auto on_dynamic_axes = [](const cross& w, bool with_biases) {
    using weights = multi_head_weights<field, some, some, some, some, some, some>;
    weights result{.n_heads = 4, .n_kv_heads = 2};
    result.w_q = decltype(result.w_q)::with_lengths(d_model::size, 8);
    result.w_k = decltype(result.w_k)::with_lengths(d_memory::size, 4);
    result.w_v = decltype(result.w_v)::with_lengths(d_memory::size, 6);
    result.w_o = decltype(result.w_o)::with_lengths(12, d_model::size);
    same_elements(w.w_q, result.w_q), same_elements(w.w_k, result.w_k), same_elements(w.w_v, result.w_v), same_elements(w.w_o, result.w_o);
    if (!with_biases) return result;
    result.b_q = decltype(result.b_q)::with_lengths(8);
    result.b_k = decltype(result.b_k)::with_lengths(4);
    result.b_v = decltype(result.b_v)::with_lengths(6);
    result.b_o = decltype(result.b_o)::with_lengths(d_model::size);
    same_elements(w.b_q, result.b_q), same_elements(w.b_k, result.b_k), same_elements(w.b_v, result.b_v), same_elements(w.b_o, result.b_o);
    return result;
};
struct causally : plainly {
    static constexpr bool sees(std::size_t, std::size_t i, std::size_t j) { return j <= i; }
};
static_assert(identity(1, [](draw& f) {
    const tensor<field, some, some> x(f.matrix<n, d_model>()), memory(f.matrix<m, d_memory>());
    const auto w = free_weights<cross>(f, true);
    const causally how{{f.number()}};
    const attention_how its_how{.mask = causal_top_left{}, .score = scaled_dot_product<field>{how.scale}};
    const auto with = on_dynamic_axes(w, true), without = on_dynamic_axes(w, false);
    return agree(multi_head_attention(x, memory, with, its_how), multi_head(x, memory, w, how, of_cross)) &
           agree(multi_head_attention(x, memory, without, its_how), multi_head(x, memory, without, how, of_cross));
}));

// A query without a visible key gives 0, so b_O after W_O; or NaN.
struct one : axis<1> {};
constexpr auto without_a_key = [](empty_row on_empty) {
    const tensor<double, one, one> x{{3}};
    const multi_head_weights<double, one, one, one> w{.w_q = {{1}}, .w_k = {{1}}, .w_v = {{1}}, .w_o = {{1}}};
    const attention_how how{.mask = drop_mask{tensor<bool, one, one>{{true}}}, .score = dot_product{}, .on_empty = on_empty};
    return concatenated_heads(x, x, w, how)(0, 0);
};
static_assert(without_a_key(empty_row::zero) == 0 && without_a_key(attention_how<>{}.on_empty) == 0);
static_assert(without_a_key(empty_row::nan) != without_a_key(empty_row::nan));

// Columns of a head in a tensor, and in views that skip elements, or run through them in another order.
constexpr int twelve[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
constexpr tensor<int, two, axis<6>> rows{{0, 1, 2, 3, 4, 5}, {6, 7, 8, 9, 10, 11}};
static_assert(head_columns<two>(rows, 2, 2) == tensor<int, two, two>{{4, 5}, {10, 11}});
constexpr view<const int, two, axis<6>> transposed(twelve, {}, {1, 2});
static_assert(head_columns<two>(transposed, 2, 2) == tensor<int, two, two>{{8, 10}, {9, 11}});
constexpr view<const int, axis<4>, two> skipping(twelve, {}, {3, 1});
static_assert(head_columns<one>(skipping, 1, 1) == tensor<int, axis<4>, one>{{1}, {4}, {7}, {10}});

} // namespace written_out

namespace streams {

// [B056]
// B056 to B059: queries from the decoder, keys and values from the encoder. Both streams have four tokens here; their names tell them apart.
struct decoder : axis<4> {};
struct encoder : axis<4> {};
struct d_model : axis<6> {};
struct d_memory : axis<5> {};
struct H : axis<2> {};
struct d_k : axis<3> {};
using weights = multi_head_weights<double, d_model, H, d_k, d_k, H, d_memory>;
using hidden = tensor<double, decoder, d_model>;
using memory = tensor<double, encoder, d_memory>;
using all = decltype(project_heads(hidden{}, memory{}, weights{}));
constexpr bool queries_from_the_decoder = std::same_as<axis_of<decltype(all::q), 0>, decoder> &&
                                          std::same_as<decltype(multi_head_attention(hidden{}, memory{}, weights{})), hidden>;
constexpr bool keys_and_values_from_the_encoder = std::same_as<axis_of<decltype(all::k), 0>, encoder> && std::same_as<axis_of<decltype(all::v), 0>, encoder>;
// The weights of attention are n_dec × n_enc.
using q = tensor<double, decoder, d_k>;
using k = tensor<double, encoder, d_k>;
static_assert(std::same_as<decltype(attention_weights(q{}, k{})), tensor<double, decoder, encoder>>);
// Keys from one stream and values from the other do not fit, in either order.
constexpr bool streams_mix = rules::value_for_each_key::holds<decoder, encoder> || rules::value_for_each_key::holds<encoder, decoder>;
// All three from one stream is self-attention: its weights are n × n, and its output has the axis of that stream.
template <class X, class W>
using of_one_stream = decltype(multi_head_attention(X{}, W{}));
using encoder_weights = multi_head_weights<double, d_memory, H, d_k>;
using decoder_weights = multi_head_weights<double, d_model, H, d_k>;

const entry B057 = settle("B057", holds([] { return queries_from_the_decoder && keys_and_values_from_the_encoder && !streams_mix; }));
const entry B059 = settle("B059", holds([] {
                              using three_from_the_decoder = decltype(project_heads(hidden{}, hidden{}, decoder_weights{}));
                              return queries_from_the_decoder && keys_and_values_from_the_encoder &&
                                     !std::same_as<of_one_stream<memory, encoder_weights>, hidden> &&
                                     std::same_as<axis_of<decltype(three_from_the_decoder::k), 0>, decoder>;
                          }));
// B056: "K = V = encoder output" holds before the projections alone: K = M W_K and V = M W_V differ, from each other and from M.
constexpr tensor<int, axis<1>, axis<2>> M{{1, 2}};
constexpr tensor<int, axis<2>, axis<1>> W_K{{1}, {0}}, W_V{{0}, {1}};
const entry B056 = settle("B056", fails_as_printed([] { return !(project_in_out(M, W_K) == project_in_out(M, W_V)); }),
                          fails_as_printed([] { return !std::same_as<axis_of<decltype(all::k), 1>, d_memory>; }),
                          holds_corrected([] { return queries_from_the_decoder && keys_and_values_from_the_encoder; }),
                          holds_corrected([](const claim& c) {
                              return identity(c.points_with_exp(), [](draw& f) {
                                  using namespace written_out;
                                  using without_biases = multi_head_weights<field, written_out::d_model, two, two, d_v, two, written_out::d_memory>;
                                  const auto w = free_weights<without_biases>(f, false);
                                  const auto x = f.matrix<n, written_out::d_model>();
                                  const auto y = f.matrix<m, written_out::d_memory>();
                                  return agree(multi_head_attention(x, y, w), multi_head(x, y, w, as_in_the_lecture, of_self));
                              });
                          }));
// [/B056]

} // namespace streams

} // namespace
} // namespace attest::proofs
