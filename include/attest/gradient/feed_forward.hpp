// SPDX-License-Identifier: BSL-1.0
/// \file
/// The gradient of the feed-forward network. With H = X W_1 + b_1, A = act(H), Y = A W_2 + b_2, from dY, the gradient of Y:
///
///     dA = dY W_2ᵀ,   dW_2 = Aᵀ dY,   db_2 = Σ_i dY_i,   dH = act′(H) ⊙ dA,   dX = dH W_1ᵀ,   dW_1 = Xᵀ dH,   db_1 = Σ_i dH_i
///
/// H and A are computed again: n · d_ff elements each, as in the forward pass.
#pragma once

#include "attest/formula/feed_forward.hpp"
#include "attest/gradient/activation.hpp"
#include "attest/gradient/projection.hpp"

namespace attest {

/// dx has the shape of x; dw is weights like w, whose biases have their full length also where w has none.
template <class DX, class DW> struct feed_forward_gradient {
    DX dx;
    DW dw;
};

/// The gradient of feed_forward(x, w, act). Shapes: X n × d_model, dY n × d_model → dX n × d_model, dw like w.
/// Throws shape_error (or does not compile) unless they fit. ReLU's slope at 0 is 0.
template <matrix_like X, class W, matrix_like DY>
    requires requires(const W& w) { w.w_2; }
[[nodiscard]] constexpr auto feed_forward_vjp(const X& x, const W& w, const activation& act, const DY& dy) {
    const auto hidden = project_in_out(x, w.w_1, w.b_1);
    auto outer = project_in_out_vjp(activate(hidden, act), w.w_2, dy);
    auto inner = project_in_out_vjp(x, w.w_1, activate_vjp(hidden, act, outer.dx));
    feed_forward_gradient<decltype(inner.dx), W> gradient{static_cast<decltype(inner.dx)&&>(inner.dx), W{}};
    gradient.dw.w_1 = static_cast<decltype(inner.dw)&&>(inner.dw);
    gradient.dw.b_1 = static_cast<decltype(inner.db)&&>(inner.db);
    gradient.dw.w_2 = static_cast<decltype(outer.dw)&&>(outer.dw);
    gradient.dw.b_2 = static_cast<decltype(outer.db)&&>(outer.db);
    return gradient;
}

} // namespace attest
