// SPDX-License-Identifier: BSL-1.0
/// \file
/// Layer normalisation (Ba, Kiros, Hinton, arXiv 1607.06450) and root-mean-square normalisation (Zhang, Sennrich, arXiv 1910.07467).
///
/// A row is a token, and is normalised by itself over its d components (A088, B049).
#pragma once

#include "attest/arithmetic/scalar.hpp"
#include "attest/elementary/sqrt.hpp"
#include "attest/shape/tensor.hpp"

namespace attest {

/// Where ε stands: √(σ² + ε) (A075) or σ + ε (B046).
enum class eps_placement { variance, std };

/// What the sum of the squared deviations is divided by: d (A074) or d − 1.
enum class variance_kind { biased, unbiased };

template <class S> struct layer_norm_options {
    S eps = S(1) / S(100000);
    eps_placement placement = eps_placement::variance;
    variance_kind variance = variance_kind::biased; ///< not asked by rms_norm
};

namespace detail {
template <class S, axis_type D> [[nodiscard]] constexpr tensor<S, D> ones() {
    tensor<S, D> result; // of length 0, so absent, for a dynamic axis
    for (std::size_t c = 0; c < result.length(0); ++c) result(c) = S(1);
    return result;
}
} // namespace detail

/// γ and β (A078, A091, A093). A dynamic one of length 0 is absent: as if γ = 1, β = 0.
template <class S, axis_type D> struct layer_norm_weights {
    tensor<S, D> gamma = detail::ones<S, D>(); ///< default: ones for a fixed axis, absent for a dynamic one
    tensor<S, D> beta = {};                    ///< default: zeros for a fixed axis, absent for a dynamic one
};
template <class S, axis_type D> layer_norm_weights(tensor<S, D>, tensor<S, D>) -> layer_norm_weights<S, D>;

/// μ = (1/d) Σ_c x_c (A073). Shapes: d → scalar. Of nothing (d = 0): NaN; an arithmetic without NaN throws no_such_value.
template <vector_like X> [[nodiscard]] constexpr scalar_of<X> mean(const X& x) {
    using S = scalar_of<X>;
    if (x.length(0) == 0) return not_a_number<S>();
    S sum(0);
    for (std::size_t c = 0; c < x.length(0); ++c) sum = sum + x(c);
    return sum / S(static_cast<int>(x.length(0)));
}

namespace detail {

// Σ (x_c − μ)²/d, or /(d − 1). Divided as asked, even by 0: no such value.
template <vector_like X>
[[nodiscard]] constexpr scalar_of<X> variance_about(const scalar_of<X>& mu, const X& x, variance_kind kind) {
    using S = scalar_of<X>;
    const std::size_t least = kind == variance_kind::biased ? 1 : 2;
    if (x.length(0) < least) return not_a_number<S>();
    S sum(0);
    for (std::size_t c = 0; c < x.length(0); ++c) {
        const S deviation = x(c) - mu;
        sum = sum + deviation * deviation;
    }
    return sum / S(static_cast<int>(x.length(0) - (least - 1)));
}

template <vector_like X> [[nodiscard]] constexpr scalar_of<X> mean_square(const X& x) {
    return variance_about(scalar_of<X>(0), x, variance_kind::biased);
}

// The root that is taken, and what a row is divided by: √(v + ε) for both, or √v and √v + ε.
template <class S> struct norm_divisor {
    S root;
    S divisor;
};
template <class S> [[nodiscard]] constexpr norm_divisor<S> norm_divisor_of(const S& v, const layer_norm_options<S>& options) {
    static_assert(has_sqrt<S>, "normalisation needs a scalar with a root: attest::sqrt must take it");
    if constexpr (has_sqrt<S>) {
        const bool inside = options.placement == eps_placement::variance;
        const S root = attest::sqrt(inside ? S(v + options.eps) : v);
        return {root, inside ? root : S(root + options.eps)};
    } else {
        return {v, v}; // the compiler has spoken
    }
}

// Says the rule for γ or β, and whether it is there at all.
template <axis_type Components, vector_like G> [[nodiscard]] constexpr bool norm_weight_is_present(const G& weight, std::size_t d) {
    const bool absent = is_dynamic<axis_of<G, 0>> && weight.length(0) == 0;
    rules::norm_weight_for_each_component::check<Components, axis_of<G, 0>>(d, absent ? d : weight.length(0));
    return !absent;
}

// The axis in which x's components and those of γ meet.
template <axis_type Components, axis_type D> using norm_axis = std::conditional_t<meets<Components, D>, joined<Components, D>, Components>;

} // namespace detail

/// σ² = (1/d) Σ_c (x_c − μ)² (A074), or with 1/(d − 1). Shapes: d → scalar. Two passes: first the mean, then the squares of the deviations.
/// Unbiased with d = 1, or of nothing: NaN, as 0/0; an arithmetic without NaN throws no_such_value.
template <vector_like X> [[nodiscard]] constexpr scalar_of<X> variance(const X& x, variance_kind kind = variance_kind::biased) {
    return detail::variance_about(mean(x), x, kind);
}

/// x̂_c = (x_c − μ)/√(σ² + ε), or (x_c − μ)/(σ + ε) (A075, B046). Shapes: d → d.
///
/// σ = 0 (a constant row, d = 1): x̂ = 0 as long as ε > 0 (A076); with ε = 0 the arithmetic's own 0/0. Unbiased with d = 1: NaN, or no_such_value.
/// Biased, |x̂_c| <= √(d − 1), Σ x̂ = 0, and Σ x̂² = d σ²/(σ² + ε) where ε stands in the root (A075, A089).
template <vector_like X> [[nodiscard]] constexpr auto layer_norm(const X& x, const layer_norm_options<scalar_of<X>>& options = {}) {
    using S = scalar_of<X>;
    auto x_hat = tensor<S, axis_of<X, 0>>::with_lengths(x.length(0));
    if (x.length(0) == 0) return x_hat;
    const S mu = mean(x);
    const S divisor = detail::norm_divisor_of(detail::variance_about(mu, x, options.variance), options).divisor;
    for (std::size_t c = 0; c < x.length(0); ++c) x_hat(c) = (x(c) - mu) / divisor;
    return x_hat;
}

/// y_c = γ_c x̂_c + β_c (A077, A092). Shapes: x d, γ d, β d → d. Throws shape_error (or does not compile) unless γ and β fit.
template <vector_like X, class S, axis_type D>
[[nodiscard]] constexpr auto layer_norm(const X& x, const layer_norm_weights<S, D>& weights,
                                        const layer_norm_options<scalar_of<X>>& options = {}) {
    constexpr bool same_scalar = std::same_as<S, scalar_of<X>>;
    static_assert(same_scalar, "gamma and beta must have the scalar of x");
    const bool scaled = detail::norm_weight_is_present<axis_of<X, 0>>(weights.gamma, x.length(0));
    const bool shifted = detail::norm_weight_is_present<axis_of<X, 0>>(weights.beta, x.length(0));
    auto y = tensor<scalar_of<X>, detail::norm_axis<axis_of<X, 0>, D>>::with_lengths(x.length(0));
    if constexpr (same_scalar && rules::norm_weight_for_each_component::holds<axis_of<X, 0>, D>) { // else the compiler has spoken
        const auto x_hat = layer_norm(x, options);
        for (std::size_t c = 0; c < x.length(0); ++c) {
            y(c) = scaled ? S(weights.gamma(c) * x_hat(c)) : x_hat(c);
            if (shifted) y(c) = y(c) + weights.beta(c);
        }
    }
    return y;
}

/// Each row by itself. Shapes: n × d → n × d.
template <matrix_like X> [[nodiscard]] constexpr auto layer_norm(const X& x, const layer_norm_options<scalar_of<X>>& options = {}) {
    auto x_hat = tensor<scalar_of<X>, axis_of<X, 0>, axis_of<X, 1>>::with_lengths(x.length(0), x.length(1));
    for (std::size_t i = 0; i < x.length(0); ++i) {
        const auto row = layer_norm(x[i], options);
        for (std::size_t c = 0; c < x.length(1); ++c) x_hat(i, c) = row(c);
    }
    return x_hat;
}

/// Each row by itself, with the same γ and β. Shapes: x n × d, γ d, β d → n × d.
template <matrix_like X, class S, axis_type D>
[[nodiscard]] constexpr auto layer_norm(const X& x, const layer_norm_weights<S, D>& weights,
                                        const layer_norm_options<scalar_of<X>>& options = {}) {
    constexpr bool same_scalar = std::same_as<S, scalar_of<X>>;
    static_assert(same_scalar, "gamma and beta must have the scalar of x");
    (void)detail::norm_weight_is_present<axis_of<X, 1>>(weights.gamma, x.length(1)); // also for n = 0
    (void)detail::norm_weight_is_present<axis_of<X, 1>>(weights.beta, x.length(1));
    using components = detail::norm_axis<axis_of<X, 1>, D>;
    auto y = tensor<scalar_of<X>, axis_of<X, 0>, components>::with_lengths(x.length(0), x.length(1));
    if constexpr (same_scalar && rules::norm_weight_for_each_component::holds<axis_of<X, 1>, D>) {
        for (std::size_t i = 0; i < x.length(0); ++i) {
            const auto row = layer_norm(x[i], weights, options);
            for (std::size_t c = 0; c < x.length(1); ++c) y(i, c) = row(c);
        }
    }
    return y;
}

/// x_c/√(m + ε), or x_c/(√m + ε), with m = (1/d) Σ x_c². Shapes: d → d. No mean is subtracted, so nothing is centred.
template <vector_like X> [[nodiscard]] constexpr auto rms_norm(const X& x, const layer_norm_options<scalar_of<X>>& options = {}) {
    using S = scalar_of<X>;
    auto y = tensor<S, axis_of<X, 0>>::with_lengths(x.length(0));
    if (x.length(0) == 0) return y;
    const S divisor = detail::norm_divisor_of(detail::mean_square(x), options).divisor;
    for (std::size_t c = 0; c < x.length(0); ++c) y(c) = x(c) / divisor;
    return y;
}

/// γ_c x_c/√(m + ε), or γ_c x_c/(√m + ε). Shapes: x d, γ d → d. A dynamic γ of length 0 is absent.
template <vector_like X, vector_like G>
[[nodiscard]] constexpr auto rms_norm(const X& x, const G& gamma, const layer_norm_options<scalar_of<X>>& options = {}) {
    using S = scalar_of<X>;
    constexpr bool same_scalar = std::same_as<S, scalar_of<G>>;
    static_assert(same_scalar, "gamma must have the scalar of x");
    const bool scaled = detail::norm_weight_is_present<axis_of<X, 0>>(gamma, x.length(0));
    auto y = tensor<S, detail::norm_axis<axis_of<X, 0>, axis_of<G, 0>>>::with_lengths(x.length(0));
    if constexpr (same_scalar && rules::norm_weight_for_each_component::holds<axis_of<X, 0>, axis_of<G, 0>>) {
        const auto normalised = rms_norm(x, options);
        for (std::size_t c = 0; c < x.length(0); ++c) y(c) = scaled ? S(gamma(c) * normalised(c)) : normalised(c);
    }
    return y;
}

/// Each row by itself. Shapes: n × d → n × d.
template <matrix_like X> [[nodiscard]] constexpr auto rms_norm(const X& x, const layer_norm_options<scalar_of<X>>& options = {}) {
    auto y = tensor<scalar_of<X>, axis_of<X, 0>, axis_of<X, 1>>::with_lengths(x.length(0), x.length(1));
    for (std::size_t i = 0; i < x.length(0); ++i) {
        const auto row = rms_norm(x[i], options);
        for (std::size_t c = 0; c < x.length(1); ++c) y(i, c) = row(c);
    }
    return y;
}

/// Each row by itself, with the same γ. Shapes: x n × d, γ d → n × d.
template <matrix_like X, vector_like G>
[[nodiscard]] constexpr auto rms_norm(const X& x, const G& gamma, const layer_norm_options<scalar_of<X>>& options = {}) {
    constexpr bool same_scalar = std::same_as<scalar_of<G>, scalar_of<X>>;
    static_assert(same_scalar, "gamma must have the scalar of x");
    (void)detail::norm_weight_is_present<axis_of<X, 1>>(gamma, x.length(1)); // also for n = 0
    using components = detail::norm_axis<axis_of<X, 1>, axis_of<G, 0>>;
    auto y = tensor<scalar_of<X>, axis_of<X, 0>, components>::with_lengths(x.length(0), x.length(1));
    if constexpr (same_scalar && rules::norm_weight_for_each_component::holds<axis_of<X, 1>, axis_of<G, 0>>) {
        for (std::size_t i = 0; i < x.length(0); ++i) {
            const auto row = rms_norm(x[i], gamma, options);
            for (std::size_t c = 0; c < x.length(1); ++c) y(i, c) = row(c);
        }
    }
    return y;
}

} // namespace attest
