// SPDX-License-Identifier: BSL-1.0
/// \file
/// The gradients of multi-head attention: back through W_O, each head's attention, the rotation by position, and the projections.
///
/// With C = Concat(head_1, …, head_H):  dW_O = Cᵀ dout,  dC = dout W_Oᵀ,  and head h's columns of dC give dQ_h, dK_h, dV_h (gradient/attention.hpp).
/// Query heads that share a key-value head add up in it. A rotation R is orthogonal: dq = Rᵀ d(R q), which is `rotation.back`. One head is in memory at a
/// time, beside Q, K, V and their gradients.
#pragma once

#include "attest/formula/multi_head.hpp"
#include "attest/gradient/attention.hpp"
#include "attest/gradient/projection.hpp"

namespace attest {

/// dx and dmemory have the shapes of x and memory; dw is of the type of w, with biases in full length also where w has none. `dsink` has an entry for each
/// head (0 without a sink); `dscore` holds the gradients of the score's weights, which all heads share.
template <class DX, class DMemory, class DW, class DSink, class DScore> struct multi_head_gradient {
    DX dx;
    DMemory dmemory;
    DW dw;
    DSink dsink;
    DScore dscore;
};
/// The same of self-attention, where x is the memory too: dx is the sum of both.
template <class DX, class DW, class DSink, class DScore> struct multi_head_self_gradient {
    DX dx;
    DW dw;
    DSink dsink;
    DScore dscore;
};

namespace detail {

// to += from, element by element.
template <matrix_like To, matrix_like From> constexpr void add_to(To& to, const From& from) {
    for (std::size_t i = 0; i < to.length(0); ++i)
        for (std::size_t c = 0; c < to.length(1); ++c) to(i, c) = to(i, c) + from(i, c);
}

// Adds the gradient of a head's rotated rows to its columns in `all`. Shapes: all n × H·d, of_head n × d.
template <class All, class Head, class Rotation>
constexpr void add_head_gradient(All& all, const Head& of_head, std::size_t h, const Rotation& rotation) {
    for (std::size_t i = 0; i < of_head.length(0); ++i) {
        const auto rotated = of_head[i]; // outlives what `back` may refer to
        decltype(auto) row = rotation.back(rotated, i);
        for (std::size_t c = 0; c < row.length(0); ++c) {
            auto& element = all(i, h * row.length(0) + c);
            element = element + row(c);
        }
    }
}

// Says that dout has the shape of the output, n × d_model.
template <class X, class W, class DOut> constexpr void check_multi_head_dout(const X& x, const W& w, const DOut& dout) {
    using rule = rules::gradient_has_shape_of_output;
    static_assert(std::same_as<scalar_of<X>, scalar_of<DOut>>, "x and the gradient of the output must have the same scalar");
    rule::check<axis_of<DOut, 0>, axis_of<X, 0>>(dout.length(0), x.length(0));
    rule::check<axis_of<DOut, 1>, axis_of<decltype(w.w_o), 1>>(dout.length(1), w.w_o.length(1));
}

template <class X, class W, class DOut>
inline constexpr bool multi_head_dout_fits =
    std::same_as<scalar_of<X>, scalar_of<DOut>> && rules::gradient_has_shape_of_output::holds<axis_of<DOut, 0>, axis_of<X, 0>> &&
    rules::gradient_has_shape_of_output::holds<axis_of<DOut, 1>, axis_of<decltype(W::w_o), 1>>;

// Calls write(h, i, j, ds).
template <class Write> struct write_of_head {
    const Write& write;
    std::size_t h;
    template <class S> constexpr void operator()(std::size_t i, std::size_t j, const S& ds) const { write(h, i, j, ds); }
};

} // namespace detail

/// The gradients of multi_head_attention(x, memory, w, how) from `dout`, that of its output.
/// Shapes: X n × d_model, M m × d_memory, dout n × d_model → dx, dmemory, dw as x, memory, w.
///
/// `write_mask(h, i, j, ds)` is called for every head and visible key: the gradient of an additive mask. A head's row without a visible key is taken as the
/// constant 0, whatever `how.on_empty` says, also in dW_O: no gradient is NaN because of it. Throws shape_error (or does not compile) unless dout has
/// the shape of the output, and where multi_head_attention does.
template <matrix_like X, matrix_like M, class W, class How, matrix_like DOut, class Write = ignore_mask_gradient>
    requires requires(const W& w) { w.w_q; }
[[nodiscard]] constexpr auto multi_head_attention_vjp(const X& x, const M& memory, const W& w, const How& how, const DOut& dout,
                                                      const Write& write_mask = {}) {
    using S = scalar_of<X>;
    detail::check_multi_head_dout(x, w, dout);
    const auto all = project_heads(x, memory, w);
    decltype(auto) scored = score_of_dimension<S>(how.score, w.d_k());
    auto dq = detail::zeros_like(all.q);
    auto dk = detail::zeros_like(all.k);
    auto dv = detail::zeros_like(all.v);
    auto dscore = zero_score_gradient(scored);
    auto dsink = tensor<S, typename W::head_axis>::with_lengths(w.n_heads);
    W dw{};
    dw.n_heads = w.n_heads;
    dw.n_kv_heads = w.n_kv_heads;
    if constexpr (detail::multi_head_dout_fits<X, W, DOut>) { // else the compiler has spoken
        auto of_concat = project_in_out_vjp(attend_heads(all, w, how, empty_row::zero), w.w_o, dout);
        dw.w_o = static_cast<decltype(dw.w_o)&&>(of_concat.dw);
        dw.b_o = static_cast<decltype(dw.b_o)&&>(of_concat.db);
        for (std::size_t h = 0; h < w.n_heads; ++h) {
            const std::size_t of_keys = h * w.n_kv_heads / w.n_heads;
            const auto in = head_inputs(all, w, how, h);
            const auto dhead = head_columns<typename W::value_axis>(of_concat.dx, h, w.d_v());
            auto gradient = detail::zero_attention_gradient(in.q, in.k, in.v, static_cast<decltype(dscore)&&>(dscore));
            detail::add_attention_gradient(gradient, in.q, in.k, in.v, mask_of_head(how.mask, h), scored, dhead,
                                           detail::write_of_head<Write>{write_mask, h});
            detail::add_head_gradient(dq, gradient.dq, h, how.rotation);
            detail::add_head_gradient(dk, gradient.dk, of_keys, how.rotation);
            detail::add_head_gradient(dv, gradient.dv, of_keys, no_rotation{});
            dsink(h) = gradient.dsink;
            dscore = static_cast<decltype(dscore)&&>(gradient.dscore);
        }
    }
    auto of_q = project_in_out_vjp(x, w.w_q, dq);
    auto of_k = project_in_out_vjp(memory, w.w_k, dk);
    auto of_v = project_in_out_vjp(memory, w.w_v, dv);
    detail::add_to(of_k.dx, of_v.dx);
    dw.w_q = static_cast<decltype(dw.w_q)&&>(of_q.dw);
    dw.w_k = static_cast<decltype(dw.w_k)&&>(of_k.dw);
    dw.w_v = static_cast<decltype(dw.w_v)&&>(of_v.dw);
    dw.b_q = static_cast<decltype(dw.b_q)&&>(of_q.db);
    dw.b_k = static_cast<decltype(dw.b_k)&&>(of_k.db);
    dw.b_v = static_cast<decltype(dw.b_v)&&>(of_v.db);
    return multi_head_gradient<decltype(of_q.dx), decltype(of_k.dx), W, decltype(dsink), decltype(dscore)>{
        static_cast<decltype(of_q.dx)&&>(of_q.dx), static_cast<decltype(of_k.dx)&&>(of_k.dx), static_cast<W&&>(dw),
        static_cast<decltype(dsink)&&>(dsink), static_cast<decltype(dscore)&&>(dscore)};
}

/// The gradients of self-attention, multi_head_attention(x, w, how). Shapes: X n × d_model, dout n × d_model → dx, dw as x, w.
template <matrix_like X, class W, class How, matrix_like DOut, class Write = ignore_mask_gradient>
    requires requires(const W& w) { w.w_q; }
[[nodiscard]] constexpr auto multi_head_attention_vjp(const X& x, const W& w, const How& how, const DOut& dout, const Write& write_mask = {}) {
    auto both = multi_head_attention_vjp(x, x, w, how, dout, write_mask);
    detail::add_to(both.dx, both.dmemory);
    return multi_head_self_gradient<decltype(both.dx), W, decltype(both.dsink), decltype(both.dscore)>{
        static_cast<decltype(both.dx)&&>(both.dx), static_cast<W&&>(both.dw), static_cast<decltype(both.dsink)&&>(both.dsink),
        static_cast<decltype(both.dscore)&&>(both.dscore)};
}

} // namespace attest
