// SPDX-License-Identifier: BSL-1.0
/// \file
/// The residual connection: what goes in is added to what comes out (He et al., arXiv 1512.03385; A084, A085, B043).
#pragma once

#include "attest/arithmetic/scalar.hpp"
#include "attest/shape/tensor.hpp"

namespace attest {

/// x + f(x), element by element; `sublayer_of_x` is f(x), and must have x's shape (A084). Shapes: d, d → d.
/// Throws shape_error (or does not compile) otherwise.
template <vector_like X, vector_like F> [[nodiscard]] constexpr auto residual(const X& x, const F& sublayer_of_x) {
    using S = scalar_of<X>;
    constexpr bool same_scalar = std::same_as<S, scalar_of<F>>;
    static_assert(same_scalar, "the two terms of a residual connection must have the same scalar");
    rules::residual_keeps_shape::check<axis_of<X, 0>, axis_of<F, 0>>(x.length(0), sublayer_of_x.length(0));
    constexpr bool fits = rules::residual_keeps_shape::holds<axis_of<X, 0>, axis_of<F, 0>>;
    auto sum = tensor<S, std::conditional_t<fits, joined<axis_of<X, 0>, axis_of<F, 0>>, axis_of<X, 0>>>::with_lengths(x.length(0));
    if constexpr (same_scalar && fits) // else the compiler has spoken
        for (std::size_t c = 0; c < x.length(0); ++c) sum(c) = x(c) + sublayer_of_x(c);
    return sum;
}

/// The same for matrices, whose rows are tokens. Shapes: n × d, n × d → n × d.
template <matrix_like X, matrix_like F> [[nodiscard]] constexpr auto residual(const X& x, const F& sublayer_of_x) {
    using S = scalar_of<X>;
    constexpr bool same_scalar = std::same_as<S, scalar_of<F>>;
    static_assert(same_scalar, "the two terms of a residual connection must have the same scalar");
    rules::residual_keeps_shape::check<axis_of<X, 0>, axis_of<F, 0>>(x.length(0), sublayer_of_x.length(0));
    rules::residual_keeps_shape::check<axis_of<X, 1>, axis_of<F, 1>>(x.length(1), sublayer_of_x.length(1));
    constexpr bool fits = rules::residual_keeps_shape::holds<axis_of<X, 0>, axis_of<F, 0>> &&
                          rules::residual_keeps_shape::holds<axis_of<X, 1>, axis_of<F, 1>>;
    using rows = std::conditional_t<fits, joined<axis_of<X, 0>, axis_of<F, 0>>, axis_of<X, 0>>;
    using components = std::conditional_t<fits, joined<axis_of<X, 1>, axis_of<F, 1>>, axis_of<X, 1>>;
    auto sum = tensor<S, rows, components>::with_lengths(x.length(0), x.length(1));
    if constexpr (same_scalar && fits) // else the compiler has spoken
        for (std::size_t i = 0; i < x.length(0); ++i)
            for (std::size_t c = 0; c < x.length(1); ++c) sum(i, c) = x(i, c) + sublayer_of_x(i, c);
    return sum;
}

} // namespace attest
