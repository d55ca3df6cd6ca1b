// SPDX-License-Identifier: BSL-1.0
/// \file
/// Dot product, matrix product and transpose, as the other formulas use them.
#pragma once

#include "attest/arithmetic/scalar.hpp"
#include "attest/shape/tensor.hpp"

namespace attest {

/// x · y = Σ_c x_c y_c, summed from the first component on (A009, B002). Shapes: d, d → scalar.
/// Throws shape_error (or does not compile) unless the lengths agree. `Rule` is the sentence to blame.
template <class Rule = rules::query_key_dimension, vector_like X, vector_like Y>
[[nodiscard]] constexpr scalar_of<X> dot(const X& x, const Y& y) {
    constexpr bool same_scalar = std::same_as<scalar_of<X>, scalar_of<Y>>;
    static_assert(same_scalar, "the two vectors of a dot product must have the same scalar");
    Rule::template check<axis_of<X, 0>, axis_of<Y, 0>>(x.length(0), y.length(0));
    scalar_of<X> sum(0);
    if constexpr (same_scalar) // else the compiler has spoken
        for (std::size_t c = 0; c < x.length(0); ++c) sum = sum + x(c) * y(c);
    return sum;
}

/// (A B)_ij = Σ_c A_ic B_cj (A066). Shapes: n × m, m × p → n × p.
/// `Rule` is the sentence to blame when B's rows are not A's columns.
template <class Rule = rules::inner_dimension, matrix_like A, matrix_like B>
[[nodiscard]] constexpr auto matmul(const A& a, const B& b) {
    using S = scalar_of<A>;
    constexpr bool same_scalar = std::same_as<S, scalar_of<B>>;
    static_assert(same_scalar, "the two factors of a matrix product must have the same scalar");
    Rule::template check<axis_of<A, 1>, axis_of<B, 0>>(a.length(1), b.length(0));
    auto product = tensor<S, axis_of<A, 0>, axis_of<B, 1>>::with_lengths(a.length(0), b.length(1));
    if constexpr (same_scalar && Rule::template holds<axis_of<A, 1>, axis_of<B, 0>>) { // else the compiler has spoken
        for (std::size_t i = 0; i < a.length(0); ++i)
            for (std::size_t c = 0; c < a.length(1); ++c)
                for (std::size_t j = 0; j < b.length(1); ++j) product(i, j) = product(i, j) + a(i, c) * b(c, j);
    }
    return product;
}

/// (Aᵀ)_ji = A_ij. Shapes: n × m → m × n.
template <matrix_like A> [[nodiscard]] constexpr auto transpose(const A& a) {
    auto result = tensor<scalar_of<A>, axis_of<A, 1>, axis_of<A, 0>>::with_lengths(a.length(1), a.length(0));
    for (std::size_t i = 0; i < a.length(0); ++i)
        for (std::size_t j = 0; j < a.length(1); ++j) result(j, i) = a(i, j);
    return result;
}

} // namespace attest
