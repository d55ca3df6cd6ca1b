// SPDX-License-Identifier: BSL-1.0
/// \file
/// Projections: queries, keys and values from tokens (A062, B016, B021). The lectures write both W x and X W with the same letters; here the
/// two layouts of a weight matrix have two names, and nothing is guessed:
///
/// | name | formula | weights | who writes it |
/// |---|---|---|---|
/// | `project_in_out` | X W, tokens are rows | d_in × d_out | Vaswani et al. (B021), JAX, GPT-2's Conv1D |
/// | `project_out_in` | X Wᵀ: W x for each token x (B016) | d_out × d_in | PyTorch's `nn.Linear` |
#pragma once

#include "attest/formula/matmul.hpp"

namespace attest {

/// Which way round a weight matrix lies.
enum class weight_layout { in_out, out_in };

/// X W. Shapes: X n × d_in, W d_in × d_out → n × d_out. Throws shape_error (or does not compile) unless W has a row for each component.
template <matrix_like X, matrix_like W> [[nodiscard]] constexpr auto project_in_out(const X& x, const W& w) {
    return matmul<rules::weight_row_for_each_input>(x, w);
}

/// W x for each row x of X: X Wᵀ. Shapes: X n × d_in, W d_out × d_in → n × d_out. Throws shape_error (or does not compile) unless W has a column
/// for each component.
template <matrix_like X, matrix_like W> [[nodiscard]] constexpr auto project_out_in(const X& x, const W& w) {
    using S = scalar_of<X>;
    constexpr bool same_scalar = std::same_as<S, scalar_of<W>>;
    static_assert(same_scalar, "the two factors of a matrix product must have the same scalar");
    using rule = rules::weight_column_for_each_input;
    rule::template check<axis_of<X, 1>, axis_of<W, 1>>(x.length(1), w.length(1));
    auto y = tensor<S, axis_of<X, 0>, axis_of<W, 0>>::with_lengths(x.length(0), w.length(0));
    if constexpr (same_scalar && rule::template holds<axis_of<X, 1>, axis_of<W, 1>>) { // else the compiler has spoken
        for (std::size_t i = 0; i < x.length(0); ++i)
            for (std::size_t o = 0; o < w.length(0); ++o) {
                S sum(0);
                for (std::size_t c = 0; c < x.length(1); ++c) sum = sum + x(i, c) * w(o, c);
                y(i, o) = sum;
            }
    }
    return y;
}

/// xᵀ W of one token. Shapes: x d_in, W d_in × d_out → d_out.
template <vector_like X, matrix_like W> [[nodiscard]] constexpr auto project_in_out(const X& x, const W& w) {
    using rule = rules::weight_row_for_each_input;
    rule::template check<axis_of<X, 0>, axis_of<W, 0>>(x.length(0), w.length(0));
    auto y = tensor<scalar_of<X>, axis_of<W, 1>>::with_lengths(w.length(1));
    if constexpr (rule::template holds<axis_of<X, 0>, axis_of<W, 0>>)
        for (std::size_t c = 0; c < x.length(0); ++c)
            for (std::size_t o = 0; o < w.length(1); ++o) y(o) = y(o) + x(c) * w(c, o);
    return y;
}

/// W x of one token (B016). Shapes: x d_in, W d_out × d_in → d_out.
template <vector_like X, matrix_like W> [[nodiscard]] constexpr auto project_out_in(const X& x, const W& w) {
    using rule = rules::weight_column_for_each_input;
    rule::template check<axis_of<X, 0>, axis_of<W, 1>>(x.length(0), w.length(1));
    auto y = tensor<scalar_of<X>, axis_of<W, 0>>::with_lengths(w.length(0));
    if constexpr (rule::template holds<axis_of<X, 0>, axis_of<W, 1>>)
        for (std::size_t o = 0; o < w.length(0); ++o) y(o) = dot<rule>(x, w[o]);
    return y;
}

/// Y + b on every row. Shapes: Y n × d, b d → n × d. A dynamic b of length 0 is no bias: Y as it is.
template <matrix_like Y, vector_like B> [[nodiscard]] constexpr auto with_bias_on_rows(const Y& y, const B& b) {
    tensor<scalar_of<Y>, axis_of<Y, 0>, axis_of<Y, 1>> sum(y);
    if (is_dynamic<axis_of<B, 0>> && b.length(0) == 0) return sum;
    using rule = rules::bias_for_each_output;
    rule::template check<axis_of<Y, 1>, axis_of<B, 0>>(y.length(1), b.length(0));
    if constexpr (rule::template holds<axis_of<Y, 1>, axis_of<B, 0>>)
        for (std::size_t i = 0; i < y.length(0); ++i)
            for (std::size_t c = 0; c < y.length(1); ++c) sum(i, c) = sum(i, c) + b(c);
    return sum;
}

/// X W + b. Shapes: X n × d_in, W d_in × d_out, b d_out → n × d_out.
template <matrix_like X, matrix_like W, vector_like B> [[nodiscard]] constexpr auto project_in_out(const X& x, const W& w, const B& b) {
    return with_bias_on_rows(project_in_out(x, w), b);
}
/// X Wᵀ + b. Shapes: X n × d_in, W d_out × d_in, b d_out → n × d_out.
template <matrix_like X, matrix_like W, vector_like B> [[nodiscard]] constexpr auto project_out_in(const X& x, const W& w, const B& b) {
    return with_bias_on_rows(project_out_in(x, w), b);
}

} // namespace attest
