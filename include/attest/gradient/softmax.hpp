// SPDX-License-Identifier: BSL-1.0
/// \file
/// The gradient of softmax, from its weights a and their gradient da. Its Jacobian is ∂a_j/∂x_l = a_j (δ_jl − a_l), hence
///
///     dx_j = a_j (da_j − D),   D = Σ_l a_l da_l
///
/// A key that is not visible has a_j = 0 and gets 0. A sink's weight has da = 0: it changes the a_j alone, and its own gradient is −a_sink D.
#pragma once

#include "attest/formula/softmax.hpp"

namespace attest {

namespace detail {

// D = Σ_l a_l da_l over the visible l.
template <vector_like A, vector_like DA, class Visible>
[[nodiscard]] constexpr scalar_of<A> weighted_mean(const A& a, const DA& da, const Visible& visible) {
    scalar_of<A> sum(0);
    for (std::size_t j = 0; j < a.length(0); ++j)
        if (visible(j)) sum = sum + a(j) * da(j);
    return sum;
}

// The weight of a sink: e^{sink − m} / (Σ_l e^{x_l − m} + e^{sink − m}).
template <vector_like X, class Visible> [[nodiscard]] constexpr scalar_of<X> sink_weight(const X& x, const Visible& visible, const scalar_of<X>& sink) {
    using S = scalar_of<X>;
    const auto greatest = shift_of(x, visible);
    const S m = greatest.found ? shift_point(greatest.value, sink) : sink;
    const S of_sink = attest::exp(sink - m);
    S sum = of_sink;
    for (std::size_t j = 0; j < x.length(0); ++j)
        if (visible(j)) sum = sum + attest::exp(x(j) - m);
    return of_sink / sum;
}

} // namespace detail

/// dx = a ⊙ (da − a · da), from the weights a of softmax. Shapes: a n, da n → n. Entries that are not visible are not read, and get 0.
/// Throws shape_error (or does not compile) unless da has the length of a.
template <vector_like A, vector_like DA, class Visible = detail::every_index>
    requires std::predicate<const Visible&, std::size_t>
[[nodiscard]] constexpr auto softmax_vjp(const A& a, const DA& da, const Visible& visible = {}) {
    using rule = rules::gradient_has_shape_of_output;
    constexpr bool same_scalar = std::same_as<scalar_of<A>, scalar_of<DA>>;
    static_assert(same_scalar, "weights and their gradient must have the same scalar");
    rule::check<axis_of<DA, 0>, axis_of<A, 0>>(da.length(0), a.length(0));
    auto dx = tensor<scalar_of<A>, axis_of<A, 0>>::with_lengths(a.length(0));
    if constexpr (same_scalar && rule::holds<axis_of<DA, 0>, axis_of<A, 0>>) { // else the compiler has spoken
        const scalar_of<A> mean = detail::weighted_mean(a, da, visible);
        for (std::size_t j = 0; j < a.length(0); ++j)
            if (visible(j)) dx(j) = a(j) * (da(j) - mean);
    }
    return dx;
}

/// Row by row. Shapes: A n_q × n_k, dA n_q × n_k → n_q × n_k. With the mask of the softmax, hidden entries are not read, and a row without a visible
/// key is 0 also where its weights are NaN.
template <matrix_like A, matrix_like DA, mask M = everything> [[nodiscard]] constexpr auto softmax_vjp(const A& a, const DA& da, const M& m = {}) {
    using rule = rules::gradient_has_shape_of_output;
    rule::check<axis_of<DA, 0>, axis_of<A, 0>>(da.length(0), a.length(0));
    rule::check<axis_of<DA, 1>, axis_of<A, 1>>(da.length(1), a.length(1));
    check_mask<axis_of<A, 0>, axis_of<A, 1>>(m, a.length(0), a.length(1));
    auto dx = tensor<scalar_of<A>, axis_of<A, 0>, axis_of<A, 1>>::with_lengths(a.length(0), a.length(1));
    if constexpr (rule::holds<axis_of<DA, 0>, axis_of<A, 0>> && rule::holds<axis_of<DA, 1>, axis_of<A, 1>>) {
        for (std::size_t i = 0; i < a.length(0); ++i) {
            const auto row = softmax_vjp(a[i], da[i], detail::mask_row<M>{m, i});
            for (std::size_t j = 0; j < a.length(1); ++j) dx(i, j) = row(j);
        }
    }
    return dx;
}

} // namespace attest
