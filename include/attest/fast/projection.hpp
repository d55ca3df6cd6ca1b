// SPDX-License-Identifier: BSL-1.0
/// \file
/// Matrix products in double at the processor's speed: X W, X Wᵀ, with a bias, and the feed-forward network made of them. Names, layouts and rules are those
/// of formula/projection.hpp and formula/feed_forward.hpp.
///
/// Each element of a product of depth d: r(d) = roundings_of_products(d) roundings, so off by at most r(d) 2^−53 Σ |x_c w_c| to first order; the bias, one more.
#pragma once

#include "attest/fast/buffer.hpp"
#include "attest/fast/parallel.hpp"
#include "attest/fast/row_functions.hpp"
#include "attest/formula/feed_forward.hpp"

namespace attest::fast {

struct product_options {
    unsigned threads = 1;          ///< over blocks of rows; the result does not depend on it
    const kernels* with = nullptr; ///< else those compiled for the flags
};

namespace detail {

// y = a b. Shapes: a m × depth, b depth × n, y m × n, contiguous.
inline void multiply(const strided& a, const strided& b, std::size_t m, std::size_t depth, std::size_t n, double* y, const product_options& options) {
    const kernels& kernel = kernels_or_compiled(options.with);
    const buffer packed(packed_elements(kernel, depth, n));
    kernel.pack(b, depth, n, packed.data());
    constexpr std::size_t rows = 192, columns = 256; // of C at once: so they stay in the second-level cache, with their rows of A
    const std::size_t across = (n + columns - 1) / columns;
    in_parallel(options.threads, (m + rows - 1) / rows * across, [&] {
        return [&](std::size_t task) {
            const std::size_t i = task / across * rows, j = task % across * columns;
            kernel.multiply({.a = {a.at + static_cast<std::ptrdiff_t>(i) * a.row, a.row, a.column},
                             .m = m - i < rows ? m - i : rows,
                             .depth = depth,
                             .b = packed.data() + j * depth,
                             .b_depth = depth,
                             .n = n - j < columns ? n - j : columns,
                             .c = y + i * n + j,
                             .c_row = static_cast<std::ptrdiff_t>(n)});
        };
    });
}

template <matrix_like Y, vector_like B> void add_bias(Y& y, const B& b, const product_options& options) {
    if (is_dynamic<axis_of<B, 0>> && b.length(0) == 0) return; // no bias
    rules::bias_for_each_output::check<axis_of<Y, 1>, axis_of<B, 0>>(y.length(1), b.length(0));
    const tensor<double, axis_of<B, 0>> bias(b);
    kernels_or_compiled(options.with).add_to_rows(y.data(), static_cast<std::ptrdiff_t>(y.length(1)), y.length(0), y.length(1), bias.data());
}

} // namespace detail

/// X W. Shapes: X n × d_in, W d_in × d_out → n × d_out. Throws shape_error (or does not compile) unless W has a row for each component.
template <operand X, operand W>
    requires(X::rank == 2 && W::rank == 2)
[[nodiscard]] auto project_in_out(const X& x, const W& w, const product_options& options = {}) {
    rules::weight_row_for_each_input::check<axis_of<X, 1>, axis_of<W, 0>>(x.length(1), w.length(0));
    auto y = tensor<double, axis_of<X, 0>, axis_of<W, 1>>::with_lengths(x.length(0), w.length(1));
    detail::multiply(detail::matrix_of(x), detail::matrix_of(w), x.length(0), x.length(1), w.length(1), y.data(), options);
    return y;
}
/// X Wᵀ. Shapes: X n × d_in, W d_out × d_in → n × d_out. Throws shape_error (or does not compile) unless W has a column for each component.
template <operand X, operand W>
    requires(X::rank == 2 && W::rank == 2)
[[nodiscard]] auto project_out_in(const X& x, const W& w, const product_options& options = {}) {
    rules::weight_column_for_each_input::check<axis_of<X, 1>, axis_of<W, 1>>(x.length(1), w.length(1));
    auto y = tensor<double, axis_of<X, 0>, axis_of<W, 0>>::with_lengths(x.length(0), w.length(0));
    const strided weights = detail::matrix_of(w);
    detail::multiply(detail::matrix_of(x), {weights.at, weights.column, weights.row}, x.length(0), x.length(1), w.length(0), y.data(), options);
    return y;
}
/// X W + b. Shapes: X n × d_in, W d_in × d_out, b d_out → n × d_out. A dynamic b of length 0 is no bias.
template <operand X, operand W, operand B>
    requires(X::rank == 2 && W::rank == 2 && B::rank == 1)
[[nodiscard]] auto project_in_out(const X& x, const W& w, const B& b, const product_options& options = {}) {
    auto y = project_in_out(x, w, options);
    detail::add_bias(y, b, options);
    return y;
}
/// X Wᵀ + b. Shapes: X n × d_in, W d_out × d_in, b d_out → n × d_out. A dynamic b of length 0 is no bias.
template <operand X, operand W, operand B>
    requires(X::rank == 2 && W::rank == 2 && B::rank == 1)
[[nodiscard]] auto project_out_in(const X& x, const W& w, const B& b, const product_options& options = {}) {
    auto y = project_out_in(x, w, options);
    detail::add_bias(y, b, options);
    return y;
}

/// act(X W_1 + b_1) W_2 + b_2, row by row. Shapes: X n × d_model, the weights as in formula/feed_forward.hpp → n × d_model.
template <operand X, axis_type DModel, axis_type DFF>
    requires(X::rank == 2)
[[nodiscard]] auto feed_forward(const X& x, const feed_forward_weights<double, DModel, DFF>& w, const activation& act = {},
                                const product_options& options = {}) {
    return project_in_out(activate(project_in_out(x, w.w_1, w.b_1, options), act, options.with), w.w_2, w.b_2, options);
}

} // namespace attest::fast
