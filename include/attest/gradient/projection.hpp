// SPDX-License-Identifier: BSL-1.0
/// \file
/// The gradients of a projection Y = X W + b, from dY, the gradient of Y:
///
/// | layout | dX | dW | db |
/// |---|---|---|---|
/// | in_out: Y = X W + b | dY Wᵀ | Xᵀ dY | Σ_i dY_i, the sum of the rows |
/// | out_in: Y = X Wᵀ + b | dY W | dYᵀ X | the same |
#pragma once

#include "attest/formula/projection.hpp"

namespace attest {

/// dx, dw and db have the shapes of x, w and b; db is there also where the projection has no bias.
template <class DX, class DW, class DB> struct projection_gradient {
    DX dx;
    DW dw;
    DB db;
};

namespace detail {

// Σ_i dY_i. Shapes: n × d → d.
template <axis_type D, matrix_like DY> [[nodiscard]] constexpr auto sum_of_rows(const DY& dy) {
    auto sum = tensor<scalar_of<DY>, D>::with_lengths(dy.length(1));
    for (std::size_t i = 0; i < dy.length(0); ++i)
        for (std::size_t o = 0; o < dy.length(1); ++o) sum(o) = sum(o) + dy(i, o);
    return sum;
}

// Zeros in the shapes of a projection whose outputs lie on axis `Out` of W.
template <std::size_t Out, class X, class W> [[nodiscard]] constexpr auto zero_projection_gradient(const X& x, const W& w) {
    using dx = tensor<scalar_of<X>, axis_of<X, 0>, axis_of<X, 1>>;
    using dw = tensor<scalar_of<X>, axis_of<W, 0>, axis_of<W, 1>>;
    using db = tensor<scalar_of<X>, axis_of<W, Out>>;
    return projection_gradient<dx, dw, db>{dx::with_lengths(x.length(0), x.length(1)), dw::with_lengths(w.length(0), w.length(1)),
                                           db::with_lengths(w.length(Out))};
}

// Says the rules of a projection whose outputs lie on axis `Out` of W, and of its gradient.
template <class Rule, std::size_t Out, class X, class W, class DY> constexpr void check_projection_vjp(const X& x, const W& w, const DY& dy) {
    using rule = rules::gradient_has_shape_of_output;
    static_assert(std::same_as<scalar_of<X>, scalar_of<W>> && std::same_as<scalar_of<X>, scalar_of<DY>>, "x, w and dy must have the same scalar");
    Rule::template check<axis_of<X, 1>, axis_of<W, 1 - Out>>(x.length(1), w.length(1 - Out));
    rule::check<axis_of<DY, 0>, axis_of<X, 0>>(dy.length(0), x.length(0));
    rule::check<axis_of<DY, 1>, axis_of<W, Out>>(dy.length(1), w.length(Out));
}
template <class Rule, std::size_t Out, class X, class W, class DY>
inline constexpr bool projection_vjp_fits =
    std::same_as<scalar_of<X>, scalar_of<W>> && std::same_as<scalar_of<X>, scalar_of<DY>> &&
    Rule::template holds<axis_of<X, 1>, axis_of<W, 1 - Out>> && rules::gradient_has_shape_of_output::holds<axis_of<DY, 0>, axis_of<X, 0>> &&
    rules::gradient_has_shape_of_output::holds<axis_of<DY, 1>, axis_of<W, Out>>;

} // namespace detail

/// The gradients of project_in_out(x, w, b). Shapes: X n × d_in, W d_in × d_out, dY n × d_out → dX n × d_in, dW d_in × d_out, db d_out.
/// Throws shape_error (or does not compile) unless they fit. The bias itself is not needed.
template <matrix_like X, matrix_like W, matrix_like DY> [[nodiscard]] constexpr auto project_in_out_vjp(const X& x, const W& w, const DY& dy) {
    using rule = rules::weight_row_for_each_input;
    detail::check_projection_vjp<rule, 1>(x, w, dy);
    auto gradient = detail::zero_projection_gradient<1>(x, w);
    if constexpr (detail::projection_vjp_fits<rule, 1, X, W, DY>) { // else the compiler has spoken
        for (std::size_t i = 0; i < x.length(0); ++i)
            for (std::size_t c = 0; c < x.length(1); ++c) {
                scalar_of<X> sum(0);
                for (std::size_t o = 0; o < w.length(1); ++o) {
                    sum = sum + dy(i, o) * w(c, o);
                    gradient.dw(c, o) = gradient.dw(c, o) + x(i, c) * dy(i, o);
                }
                gradient.dx(i, c) = sum;
            }
        gradient.db = detail::sum_of_rows<axis_of<W, 1>>(dy);
    }
    return gradient;
}

/// The gradients of project_out_in(x, w, b). Shapes: X n × d_in, W d_out × d_in, dY n × d_out → dX n × d_in, dW d_out × d_in, db d_out.
/// Throws shape_error (or does not compile) unless they fit. The bias itself is not needed.
template <matrix_like X, matrix_like W, matrix_like DY> [[nodiscard]] constexpr auto project_out_in_vjp(const X& x, const W& w, const DY& dy) {
    using rule = rules::weight_column_for_each_input;
    detail::check_projection_vjp<rule, 0>(x, w, dy);
    auto gradient = detail::zero_projection_gradient<0>(x, w);
    if constexpr (detail::projection_vjp_fits<rule, 0, X, W, DY>) { // else the compiler has spoken
        for (std::size_t i = 0; i < x.length(0); ++i)
            for (std::size_t o = 0; o < w.length(0); ++o)
                for (std::size_t c = 0; c < x.length(1); ++c) {
                    gradient.dx(i, c) = gradient.dx(i, c) + dy(i, o) * w(o, c);
                    gradient.dw(o, c) = gradient.dw(o, c) + dy(i, o) * x(i, c);
                }
        gradient.db = detail::sum_of_rows<axis_of<W, 0>>(dy);
    }
    return gradient;
}

} // namespace attest
