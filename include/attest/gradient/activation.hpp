// SPDX-License-Identifier: BSL-1.0
/// \file
/// Slopes of the activations, and what they make of a gradient.
#pragma once

#include "attest/formula/activation.hpp"

namespace attest {

/// 0 for x < 0, 1 for x > 0, and 0 at 0, where ReLU has no slope (A104): the convention of PyTorch, JAX and TensorFlow. NaN stays
/// NaN.
template <scalar S>
[[nodiscard]] constexpr S relu_slope(const S& x) {
    return step(x);
}

namespace detail {

// Φ(x) + x·e^(−x²/2)/√(2π).
template <class S>
[[nodiscard]] constexpr S gelu_erf_slope(const S& x) {
    const S density = attest::exp(-(x * x) / S(2)) / attest::sqrt(S(2) * attest::pi<S>());
    return one_plus_erf(S(x / attest::sqrt(S(2)))) / S(2) + x * density;
}
// (1 + t)/2 + x (1 − t)(1 + t) u′/2 with t = tanh u, u′ = √(2/π) (1 + 3·0.044715 x²).
template <class S>
[[nodiscard]] constexpr S gelu_tanh_slope(const S& x) {
    const S u = gelu_tanh_argument(x), above = one_plus_tanh(u), below = one_plus_tanh(S(-u));
    const S inner = attest::sqrt(S(2) / attest::pi<S>()) * (S(1) + S(3) * S(44715) / S(1000000) * x * x);
    return above / S(2) + x * below * above * inner / S(2);
}
// σ + 1.702 x σ (1 − σ), and 1 − σ(u) = σ(−u), which does not cancel.
template <class S>
[[nodiscard]] constexpr S gelu_sigmoid_slope(const S& x) {
    const S u = gelu_sigmoid_factor<S>() * x;
    const S above = S(1) / (S(1) + attest::exp(-u)), below = S(1) / (S(1) + attest::exp(u));
    return above + u * above * below;
}

} // namespace detail

/// The derivative of `gelu` in the form asked for. Throws no_such_function (in a constant expression: does not compile) where S
/// lacks what it needs. Far below 0 it cancels as `gelu` does. In double the absolute errors (not proved; measured) are below
/// 3·2^−53 in the erf and the sigmoid form and below 32·2^−53 in the tanh form, whose 1 − tanh² cancels on both sides. The tanh
/// form is NaN (∞·0) where x² overflows, and all are at ±∞.
template <scalar S>
[[nodiscard]] constexpr S gelu_slope(const S& x, gelu_form form = gelu_form::erf) {
    if (form == gelu_form::erf) {
        if constexpr (has_gelu<S, gelu_form::erf> && has_exp<S> && has_pi<S>) return detail::gelu_erf_slope(x);
    } else if (form == gelu_form::tanh) {
        if constexpr (has_gelu<S, gelu_form::tanh>) return detail::gelu_tanh_slope(x);
    } else {
        if constexpr (has_gelu<S, gelu_form::sigmoid>) return detail::gelu_sigmoid_slope(x);
    }
    throw no_such_function();
}

/// The derivative of an activation.
template <scalar S>
[[nodiscard]] constexpr S activation_slope(const S& x, const activation& how) {
    return how.kind == activation_kind::relu ? relu_slope(x) : gelu_slope(x, how.form);
}

/// dx = f′(x) ⊙ dy for y = f(x), element by element. Shapes: n, n → n; n × m, n × m → n × m.
/// Throws shape_error (or does not compile) unless x and dy have the same shape.
template <class X, class DY>
    requires((vector_like<X> && vector_like<DY>) || (matrix_like<X> && matrix_like<DY>))
[[nodiscard]] constexpr auto activate_vjp(const X& x, const activation& how, const DY& dy) {
    using S = scalar_of<X>;
    constexpr bool same_scalar = std::same_as<S, scalar_of<DY>>;
    static_assert(same_scalar, "an activation and the gradient of its result must have the same scalar");
    rules::same_shape::check<axis_of<X, 0>, axis_of<DY, 0>>(x.length(0), dy.length(0));
    if constexpr (vector_like<X>) {
        auto dx = tensor<S, axis_of<X, 0>>::with_lengths(x.length(0));
        if constexpr (same_scalar && rules::same_shape::holds<axis_of<X, 0>, axis_of<DY, 0>>) // else the compiler has spoken
            for (std::size_t i = 0; i < x.length(0); ++i) dx(i) = activation_slope<S>(x(i), how) * dy(i);
        return dx;
    } else {
        rules::same_shape::check<axis_of<X, 1>, axis_of<DY, 1>>(x.length(1), dy.length(1));
        auto dx = tensor<S, axis_of<X, 0>, axis_of<X, 1>>::with_lengths(x.length(0), x.length(1));
        if constexpr (same_scalar && rules::same_shape::holds<axis_of<X, 0>, axis_of<DY, 0>> &&
                      rules::same_shape::holds<axis_of<X, 1>, axis_of<DY, 1>>)
            for (std::size_t i = 0; i < x.length(0); ++i)
                for (std::size_t j = 0; j < x.length(1); ++j) dx(i, j) = activation_slope<S>(x(i, j), how) * dy(i, j);
        return dx;
    }
}

} // namespace attest
