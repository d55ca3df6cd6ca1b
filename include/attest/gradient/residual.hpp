// SPDX-License-Identifier: BSL-1.0
/// \file
/// The gradient of a residual connection.
///
/// y = x + f(x) has the Jacobian I + J_f (A086, where the lecture writes 1 + f′, which is right for one component alone). What comes back is dy along
/// the direct path and J_fᵀ dy through the sublayer. The direct path carries all of dy; the *sum* may be smaller than dy, even 0: f = −x has I + J_f = 0.
/// So "at least 1" (A087) is wrong; true is that the least singular value of I + J_f is at least 1 − ‖J_f‖₂. In a post-norm block the Jacobian of
/// the layer norm multiplies both paths (B044).
#pragma once

#include "attest/arithmetic/scalar.hpp"
#include "attest/shape/tensor.hpp"

namespace attest {

/// What a residual connection hands back to its two terms. The gradient of x is `dx` plus what the sublayer makes of `dsublayer`.
template <class Dy> struct residual_gradient {
    Dy dx;
    Dy dsublayer;
};

/// {dy, dy}: each of the two terms gets all of it. Shapes: those of dy.
template <class S, axis_type... Axes> [[nodiscard]] constexpr residual_gradient<tensor<S, Axes...>> residual_vjp(const tensor<S, Axes...>& dy) {
    return {dy, dy};
}

} // namespace attest
