// SPDX-License-Identifier: BSL-1.0
/// \file
/// The gradients of layer and root-mean-square normalisation, for each place of ε and each kind of variance.
///
/// For one row, with c_i = x_i − μ, s the divisor (√(σ² + ε) or σ + ε), r the root in it (√(σ² + ε) or σ), N = d or d − 1, x̂ = c/s, g = γ ⊙ dy:
///
///     dx_j = (g_j − (1/d) Σ_i g_i − (c_j/r) · (1/N) Σ_i g_i x̂_i)/s,     dγ_j = Σ_rows dy_j x̂_j,     dβ_j = Σ_rows dy_j
///
/// since ∂s/∂x_j = c_j/(N r) in either place of ε. RMSNorm is the same with c = x, N = d, and without the mean of g.
///
/// Where σ = 0 and ε stands beside it, σ has no derivative, but x̂ has one: c_i c_j/σ tends to 0 with c, so the last term is 0 there. With ε > 0 nothing
/// divides by 0 then; with ε = 0 and σ = 0 the division is the arithmetic's own. (Dual numbers differentiate σ first, and have no value at that point.)
#pragma once

#include "attest/formula/layer_norm.hpp"

namespace attest {

/// dx has the shape of x; dweights those of γ and β, in full length also where they are absent.
template <class Dx, class Weights> struct layer_norm_gradient {
    Dx dx;
    Weights dweights;
};
/// dx has the shape of x; dgamma that of γ, in full length also where it is absent.
template <class Dx, class Gamma> struct rms_norm_gradient {
    Dx dx;
    Gamma dgamma;
};

namespace detail {

// The comparisons of some arithmetics answer with a truth, whose `surely` is found by its argument: their component is not this one.
template <class S> [[nodiscard]] constexpr bool is_zero(const S& x) {
    if constexpr (requires {
                      { x == S(0) } -> std::convertible_to<bool>;
                  })
        return x == S(0);
    else return surely(x == S(0));
}

// The last two terms of dx_j, and the division: dx_j = (g_j − mean_g − (c_j/r) · along)/s.
template <class S> struct norm_back {
    S mean_g;
    S along; // (1/N) Σ_i g_i x̂_i
    norm_divisor<S> by;

    [[nodiscard]] constexpr S operator()(const S& g_j, const S& c_j) const {
        const S centred = g_j - mean_g;
        if (is_zero(by.root) && !is_zero(by.divisor)) return centred / by.divisor; // c = 0
        return (centred - c_j / by.root * along) / by.divisor;
    }
};

// Says the rule that dy has the shape of x.
template <matrix_like X, matrix_like Dy> constexpr void check_norm_dy(const X& x, const Dy& dy) {
    static_assert(std::same_as<scalar_of<X>, scalar_of<Dy>>, "dy must have the scalar of x");
    rules::gradient_has_shape_of_output::check<axis_of<Dy, 0>, axis_of<X, 0>>(dy.length(0), x.length(0));
    rules::gradient_has_shape_of_output::check<axis_of<Dy, 1>, axis_of<X, 1>>(dy.length(1), x.length(1));
}
template <class X, class Dy, axis_type D>
inline constexpr bool norm_vjp_fits = std::same_as<scalar_of<X>, scalar_of<Dy>> && rules::norm_weight_for_each_component::holds<axis_of<X, 1>, D> &&
                                      rules::gradient_has_shape_of_output::holds<axis_of<Dy, 0>, axis_of<X, 0>> &&
                                      rules::gradient_has_shape_of_output::holds<axis_of<Dy, 1>, axis_of<X, 1>>;

} // namespace detail

/// The gradient of layer_norm(x, weights, options). Shapes: x n × d, γ d, β d, dy n × d → dx n × d, dγ d, dβ d.
/// Throws shape_error (or does not compile) unless the shapes fit. Unbiased with d = 1: NaN, or no_such_value, as the value itself.
template <matrix_like X, class S, axis_type D, matrix_like Dy>
[[nodiscard]] constexpr auto layer_norm_vjp(const X& x, const layer_norm_weights<S, D>& weights,
                                            const layer_norm_options<scalar_of<X>>& options, const Dy& dy) {
    static_assert(std::same_as<S, scalar_of<X>>, "gamma and beta must have the scalar of x");
    const std::size_t n = x.length(0), d = x.length(1);
    const bool scaled = detail::norm_weight_is_present<axis_of<X, 1>>(weights.gamma, d);
    (void)detail::norm_weight_is_present<axis_of<X, 1>>(weights.beta, d);
    detail::check_norm_dy(x, dy);
    using dx_type = tensor<scalar_of<X>, axis_of<X, 0>, axis_of<X, 1>>;
    layer_norm_gradient<dx_type, layer_norm_weights<S, D>> gradient{dx_type::with_lengths(n, d), {{}, {}}};
    if constexpr (std::same_as<S, scalar_of<X>> && detail::norm_vjp_fits<X, Dy, D>) { // else the compiler has spoken
        auto& [dgamma, dbeta] = gradient.dweights;
        dgamma = tensor<S, D>::with_lengths(d);
        dbeta = tensor<S, D>::with_lengths(d);
        for (std::size_t i = 0; i < n && d > 0; ++i) {
            const S mu = mean(x[i]);
            const auto by = detail::norm_divisor_of(detail::variance_about(mu, x[i], options.variance), options);
            S sum_g(0), sum_along(0);
            for (std::size_t c = 0; c < d; ++c) {
                const S x_hat = (x(i, c) - mu) / by.divisor;
                const S g = scaled ? S(weights.gamma(c) * dy(i, c)) : S(dy(i, c));
                dgamma(c) = dgamma(c) + dy(i, c) * x_hat;
                dbeta(c) = dbeta(c) + dy(i, c);
                sum_g = sum_g + g;
                sum_along = sum_along + g * x_hat;
            }
            const S squares_divided_by = S(static_cast<int>(options.variance == variance_kind::biased ? d : d - 1));
            const detail::norm_back<S> back{sum_g / S(static_cast<int>(d)), sum_along / squares_divided_by, by};
            for (std::size_t c = 0; c < d; ++c)
                gradient.dx(i, c) = back(scaled ? S(weights.gamma(c) * dy(i, c)) : S(dy(i, c)), S(x(i, c) - mu));
        }
    }
    return gradient;
}

/// The gradient of rms_norm(x, gamma, options). Shapes: x n × d, γ d, dy n × d → dx n × d, dγ d.
/// Throws shape_error (or does not compile) unless the shapes fit.
template <matrix_like X, vector_like G, matrix_like Dy>
[[nodiscard]] constexpr auto rms_norm_vjp(const X& x, const G& gamma, const layer_norm_options<scalar_of<X>>& options, const Dy& dy) {
    using S = scalar_of<X>;
    static_assert(std::same_as<S, scalar_of<G>>, "gamma must have the scalar of x");
    const std::size_t n = x.length(0), d = x.length(1);
    const bool scaled = detail::norm_weight_is_present<axis_of<X, 1>>(gamma, d);
    detail::check_norm_dy(x, dy);
    using dx_type = tensor<S, axis_of<X, 0>, axis_of<X, 1>>;
    using gamma_type = tensor<scalar_of<G>, axis_of<G, 0>>;
    rms_norm_gradient<dx_type, gamma_type> gradient{dx_type::with_lengths(n, d), {}};
    if constexpr (std::same_as<S, scalar_of<G>> && detail::norm_vjp_fits<X, Dy, axis_of<G, 0>>) { // else the compiler has spoken
        gradient.dgamma = gamma_type::with_lengths(d);
        for (std::size_t i = 0; i < n && d > 0; ++i) {
            const auto by = detail::norm_divisor_of(detail::mean_square(x[i]), options);
            S sum_along(0);
            for (std::size_t c = 0; c < d; ++c) {
                const S normalised = x(i, c) / by.divisor;
                gradient.dgamma(c) = gradient.dgamma(c) + dy(i, c) * normalised;
                sum_along = sum_along + (scaled ? S(gamma(c) * dy(i, c)) : S(dy(i, c))) * normalised;
            }
            const detail::norm_back<S> back{S(0), sum_along / S(static_cast<int>(d)), by};
            for (std::size_t c = 0; c < d; ++c) gradient.dx(i, c) = back(scaled ? S(gamma(c) * dy(i, c)) : S(dy(i, c)), S(x(i, c)));
        }
    }
    return gradient;
}

} // namespace attest
