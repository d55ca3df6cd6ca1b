// SPDX-License-Identifier: BSL-1.0
/// \file
/// The lectures' layer norm in plain sums over a row of four, and the points and rows at which its proofs hold it against the code.
#pragma once

#include "identity.hpp"
#include "settle.hpp"

#include "attest/formula/layer_norm.hpp"

namespace attest::proofs {

struct n : axis<2> {};
struct d : axis<4> {};
inline constexpr auto in_variance = eps_placement::variance, beside_std = eps_placement::std;
inline constexpr auto biased = variance_kind::biased, unbiased = variance_kind::unbiased;

// [lecture]
/// The lecture's formulas, for one row (A073 to A075, A092; B046 with ε beside σ; and the variance with d − 1).
template <class X> [[nodiscard]] constexpr scalar_of<X> mu(const X& x) { return (x(0) + x(1) + x(2) + x(3)) / 4; }
template <class X> [[nodiscard]] constexpr scalar_of<X> sigma_squared(const X& x, variance_kind kind = biased) {
    const auto square = [m = mu(x)](const auto& x_i) { return (x_i - m) * (x_i - m); };
    return (square(x(0)) + square(x(1)) + square(x(2)) + square(x(3))) / (kind == biased ? 4 : 3);
}
template <class X> [[nodiscard]] constexpr tensor<field, d> normalised(const X& x, const layer_norm_options<field>& how) {
    const field m = mu(x), v = sigma_squared(x, how.variance);
    const field by = 1 / (how.placement == in_variance ? attest::sqrt(v + how.eps) : attest::sqrt(v) + how.eps);
    return {(x(0) - m) * by, (x(1) - m) * by, (x(2) - m) * by, (x(3) - m) * by};
}
template <class Vector>
[[nodiscard]] constexpr Vector scaled_and_shifted(const Vector& gamma, const Vector& x_hat, const Vector& beta) {
    return {gamma(0) * x_hat(0) + beta(0), gamma(1) * x_hat(1) + beta(1), gamma(2) * x_hat(2) + beta(2),
            gamma(3) * x_hat(3) + beta(3)};
}
// [/lecture]

/// ε of a point where the root of this row exists: r² − σ² for a square r = t², which is then the root. So both sides of an
/// identity are rational in x, γ, β and t, with numerators of degree 16 at most: the `degree` of these claims in the ledger.
template <class X> [[nodiscard]] constexpr layer_norm_options<field> with_root(draw& at, const X& x) {
    const field root = at.positive();
    return {root * root - variance(x)};
}
/// What several claims rest on is evaluated once, at as many points as they all say.
inline constexpr unsigned points = 4;
template <auto Sides> inline constexpr bool identical = identity(points, Sides);
/// Nor is a difference the fault of the root: it is t², a square and so positive, by the choice of ε.
template <auto Sides> inline constexpr bool different = no_identity_of_terms(Sides);
template <auto Sides> [[nodiscard]] constexpr bool identical_for(const claim& c) { return c.points_of_degree(16) == points && identical<Sides>; }

/// Row number `which` of the 81 with components −1, 0, 1. Mean and variance are polynomials of degree 1 and 2 in each component:
/// two that agree on these rows agree on all.
template <class S> [[nodiscard]] constexpr tensor<S, d> row_of_signs(int which) {
    tensor<S, d> x;
    for (std::size_t c = 0; c < 4; ++c, which /= 3) x(c) = which % 3 - 1;
    return x;
}
template <class Law> [[nodiscard]] constexpr bool of_each_row(const Law& law) {
    for (int which = 0; which < 81; ++which)
        if (!law(which)) return false;
    return true;
}

} // namespace attest::proofs
