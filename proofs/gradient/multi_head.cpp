// SPDX-License-Identifier: BSL-1.0
// The gradients of multi-head attention are the transpose of its derivative, for all inputs, weights and directions at once:
// ⟨dout, J(dX, dM, dW, …)⟩ = ⟨gX, dX⟩ + ⟨gM, dM⟩ + ⟨gW, dW⟩ + …

#include "../identity.hpp"

#include "attest/gradient/multi_head.hpp"

namespace attest::proofs {
namespace {

struct n : axis<2> {};
struct m : axis<3> {};
struct d_model : axis<3> {};
struct d_memory : axis<2> {};
struct one : axis<1> {};
struct two : axis<2> {};
struct four : axis<4> {};
using some = axis<dynamic>;

constexpr auto fill = [](draw& f, auto& x) {
    for (std::size_t e = 0; e < x.elements(); ++e) x.data()[e] = f.number();
};
template <class W>
constexpr W free_weights(draw& f) {
    W w;
    fill(f, w.w_q), fill(f, w.w_k), fill(f, w.w_v), fill(f, w.w_o);
    fill(f, w.b_q), fill(f, w.b_k), fill(f, w.b_v), fill(f, w.b_o);
    return w;
}
// All weights and biases along all of dw.
template <class D, template <class, class...> class Weights, class... Axes>
constexpr auto along_weights(const Weights<field, Axes...>& w, const D& dw) {
    return Weights<dual<field>, Axes...>{.w_q = along(w.w_q, dw.w_q), .w_k = along(w.w_k, dw.w_k), .w_v = along(w.w_v, dw.w_v),
                                         .w_o = along(w.w_o, dw.w_o), .b_q = along(w.b_q, dw.b_q), .b_k = along(w.b_k, dw.b_k),
                                         .b_v = along(w.b_v, dw.b_v), .b_o = along(w.b_o, dw.b_o)};
}
template <class W>
constexpr field inner_weights(const W& g, const W& dw) {
    return inner(g.w_q, dw.w_q) + inner(g.w_k, dw.w_k) + inner(g.w_v, dw.w_v) + inner(g.w_o, dw.w_o) + inner(g.b_q, dw.b_q) + inner(g.b_k, dw.b_k) +
           inner(g.b_v, dw.b_v) + inner(g.b_o, dw.b_o);
}
template <class W, class V>
constexpr agreement agree_weights(const W& a, const V& b) {
    return agree(a.w_q, b.w_q) & agree(a.w_k, b.w_k) & agree(a.w_v, b.w_v) & agree(a.w_o, b.w_o) & agree(a.b_q, b.b_q) & agree(a.b_k, b.b_k) &
           agree(a.b_v, b.b_v) & agree(a.b_o, b.b_o);
}

// For each head a bias of its own, number (h, i, j) of `biases`. Query 0 of head 1 sees no key.
template <class S>
struct mask_of_one_head {
    const S* biases;
    std::size_t h;
    constexpr bool visible(std::size_t i, std::size_t j) const { return !(h == 1 && i == 0) && (h + i + j) % 3 != 0; }
    constexpr S added(std::size_t i, std::size_t j) const { return biases[(h * n::size + i) * m::size + j]; }
};
template <class S>
struct family {
    const S* biases;
    constexpr mask_of_one_head<S> head(std::size_t h) const { return {biases, h}; }
};
using biases = axis<24>; // H · n · m

// Row i times a matrix of its own; `back` is the transpose. (That of RoPE is its inverse: gradient/rope.cpp.)
template <class S>
struct turned_freely {
    const field* matrices;
    constexpr S entry(std::size_t i, std::size_t row, std::size_t column) const { return S(matrices[(i * 2 + row) * 2 + column]); }
    template <vector_like X>
    constexpr tensor<S, two> operator()(const X& x, std::size_t i) const {
        return {S(entry(i, 0, 0) * x(0) + entry(i, 0, 1) * x(1)), S(entry(i, 1, 0) * x(0) + entry(i, 1, 1) * x(1))};
    }
    template <vector_like X>
    constexpr tensor<S, two> back(const X& dy, std::size_t i) const {
        return {S(entry(i, 0, 0) * dy(0) + entry(i, 1, 0) * dy(1)), S(entry(i, 0, 1) * dy(0) + entry(i, 1, 1) * dy(1))};
    }
};
using matrices = axis<12>; // m · 2 · 2

// Cross-attention with four heads over two key-value heads, biases, a rotation, a mask and a bias for each head.
using cross = multi_head_weights<field, d_model, four, two, one, two, d_memory>;
static_assert(identity(1, [](draw& f) {
    const auto x = f.matrix<n, d_model>(), dx = f.matrix<n, d_model>(), dout = f.matrix<n, d_model>();
    const auto memory = f.matrix<m, d_memory>(), dmemory = f.matrix<m, d_memory>();
    const auto w = free_weights<cross>(f), dw = free_weights<cross>(f);
    const auto bias = f.vector<biases>(), dbias = f.vector<biases>();
    const auto R = f.vector<matrices>();
    const field scale = f.number();
    const auto how = [&R, &scale]<class S>(const S* of_mask) {
        return attention_how{.mask = family<S>{of_mask}, .score = scaled_dot_product<S>{S(scale)}, .rotation = turned_freely<S>{R.data()}};
    };
    const auto bias_along = along(bias, dbias);
    const field forward = inner(dout, multi_head_attention(along(x, dx), along(memory, dmemory), along_weights(w, dw), how(bias_along.data())));
    tensor<field, biases> gbias;
    const auto g = multi_head_attention_vjp(x, memory, w, how(bias.data()), dout, [&gbias](std::size_t h, std::size_t i, std::size_t j, const field& ds) {
        auto& sum = gbias((h * n::size + i) * m::size + j);
        sum = sum + ds;
    });
    return agree(forward, inner(g.dx, dx) + inner(g.dmemory, dmemory) + inner_weights(g.dw, dw) + inner(gbias, dbias));
}));

// Self-attention under one mask for all heads, with a learned score that they share, and a sink for each head: x is the memory too.
using self = multi_head_weights<field, d_model, two, one, two>;
template <class S>
struct sinks {
    const S* logits;
    constexpr attention_sink<S> head(std::size_t h) const { return {logits[h]}; }
};
static_assert(identity(1, [](draw& f) {
    const auto x = f.matrix<n, d_model>(), dx = f.matrix<n, d_model>(), dout = f.matrix<n, d_model>();
    const auto w = free_weights<self>(f), dw = free_weights<self>(f);
    const auto logits = f.vector<two>(), dlogits = f.vector<two>();
    const auto W = f.matrix<one, one>(), dW = f.matrix<one, one>();
    const auto logits_along = along(logits, dlogits);
    const field forward = inner(dout, multi_head_attention(along(x, dx), along_weights(w, dw),
                                                           attention_how{.mask = sinks<dual<field>>{logits_along.data()} & causal_top_left{},
                                                                         .score = bilinear{along(W, dW)}}));
    const attention_how how{.mask = sinks<field>{logits.data()} & causal_top_left{}, .score = bilinear{W}};
    tensor<field, two> of_mask; // what write_mask is called with, of each head: a gradient of scores, whose sum over a row is that of −dsink
    const auto g = multi_head_attention_vjp(x, w, how, dout,
                                            [&of_mask](std::size_t h, std::size_t, std::size_t, const field& ds) { of_mask(h) = of_mask(h) + ds; });
    return agree(forward, inner(g.dx, dx) + inner_weights(g.dw, dw) + inner(g.dsink, dlogits) + inner(g.dscore.w, dW)) &
           agree(of_mask(0) + g.dsink(0), field(0)) & agree(of_mask(1) + g.dsink(1), field(0));
}));

// Dynamic axes, without biases: the gradients are those of biases that are 0, and biases have one in full length.
constexpr auto same_elements = [](const auto& from, auto& to) {
    for (std::size_t e = 0; e < to.elements(); ++e) to.data()[e] = from.data()[e];
};
static_assert(identity(1, [](draw& f) {
    const auto x = f.matrix<n, d_model>(), dout = f.matrix<n, d_model>();
    const auto memory = f.matrix<m, d_memory>();
    auto w = free_weights<cross>(f);
    w.b_q = {}, w.b_k = {}, w.b_v = {}, w.b_o = {};
    multi_head_weights<field, some, some, some, some, some, some> v{.n_heads = 4, .n_kv_heads = 2};
    v.w_q = decltype(v.w_q)::with_lengths(d_model::size, 8);
    v.w_k = decltype(v.w_k)::with_lengths(d_memory::size, 4);
    v.w_v = decltype(v.w_v)::with_lengths(d_memory::size, 2);
    v.w_o = decltype(v.w_o)::with_lengths(4, d_model::size);
    same_elements(w.w_q, v.w_q), same_elements(w.w_k, v.w_k), same_elements(w.w_v, v.w_v), same_elements(w.w_o, v.w_o);
    const attention_how how{.mask = causal_top_left{}, .score = dot_product{}};
    const auto g = multi_head_attention_vjp(x, memory, w, how, dout);
    const auto of_v = multi_head_attention_vjp(tensor<field, some, some>(x), tensor<field, some, some>(memory), v, how, tensor<field, some, some>(dout));
    const bool same_heads = of_v.dw.n_heads == 4 && of_v.dw.n_kv_heads == 2 && g.dsink == tensor<field, four>{} && of_v.dsink.length(0) == 4;
    return agree(of_v.dx, g.dx) & agree(of_v.dmemory, g.dmemory) & agree_weights(of_v.dw, g.dw) & (same_heads ? agreement::equal : agreement::different);
}));

// The score is that of d_k unless another is given: 1/√d_k.
static_assert(identity(1, [](draw& f) {
    const auto x = f.matrix<n, d_model>(), dout = f.matrix<n, d_model>();
    const auto memory = f.matrix<m, d_memory>();
    const auto w = free_weights<cross>(f);
    const auto by_default = multi_head_attention_vjp(x, memory, w, attention_how<>{}, dout);
    const attention_how how{.mask = everything{}, .score = scaled_dot_product<field>{field(1) / attest::sqrt(field(2))}};
    return agree_weights(by_default.dw, multi_head_attention_vjp(x, memory, w, how, dout).dw);
}));

} // namespace
} // namespace attest::proofs
