// SPDX-License-Identifier: BSL-1.0
/// \file
/// Softmax, layer normalisation and activations of rows, in double at the processor's speed. The results' axes are those of formula/.
#pragma once

#include "attest/fast/compiled.hpp"
#include "attest/fast/masks.hpp"
#include "attest/fast/operands.hpp"
#include "attest/formula/activation.hpp"
#include "attest/formula/layer_norm.hpp"

#include <limits>

namespace attest::fast {

/// softmax of each row over the keys that it sees; a row that sees none is 0, or NaN. Shapes: n × m → n × m. With x the difference of an entry and the row's
/// greatest: a weight is off by at most (|x| + 2.125 + r + the same of the others' mean |x|) 2^−53 of it, r = roundings_of_row_sum(m), to first order;
/// below x = −708 it is 0.
template <operand X, mask M = everything>
    requires(X::rank == 2)
[[nodiscard]] auto softmax(const X& x, const M& m = {}, empty_row on_empty = empty_row::zero, const kernels* with = nullptr) {
    tensor<double, axis_of<X, 0>, axis_of<X, 1>> p(x);
    check_mask<axis_of<X, 0>, axis_of<X, 1>>(m, x.length(0), x.length(1));
    const kernels& kernel = kernels_or_compiled(with);
    const std::size_t n = x.length(1);
    mask_rows rows;
    for (std::size_t i = 0; i < x.length(0); ++i) {
        rows.look(m, i, 1, n);
        double maximum = 0, sum = 0, *const row = p.data() + i * n;
        kernel.exponentials({.s = row, .s_row = 0, .m = 1, .n = n, .p = row, .p_row = 0, .maximum = &maximum, .sum = &sum, .mask = rows.from(0)});
        if (sum == 0) sum = on_empty == empty_row::nan ? std::numeric_limits<double>::quiet_NaN() : 1;
        kernel.divide_rows(row, 0, 1, n, &sum);
    }
    return p;
}

/// (x − μ)/√(σ² + ε) of each row, or what the options say. Shapes: n × d → n × d. What is rounded: kernels::layer_norm.
template <operand X>
    requires(X::rank == 2)
[[nodiscard]] auto layer_norm(const X& x, const layer_norm_options<double>& options = {}, const kernels* with = nullptr) {
    tensor<double, axis_of<X, 0>, axis_of<X, 1>> y(x);
    const auto row = static_cast<std::ptrdiff_t>(x.length(1));
    kernels_or_compiled(with).layer_norm({.x = y.data(), .x_row = row, .m = x.length(0), .n = x.length(1), .y = y.data(), .y_row = row, .eps = options.eps,
                                          .eps_in_root = options.placement == eps_placement::variance,
                                          .unbiased = options.variance == variance_kind::unbiased});
    return y;
}

/// γ (x − μ)/√(σ² + ε) + β of each row. Shapes: x n × d, γ d, β d → n × d. Throws shape_error (or does not compile) unless γ and β fit.
template <operand X, axis_type D>
    requires(X::rank == 2)
[[nodiscard]] auto layer_norm(const X& x, const layer_norm_weights<double, D>& weights, const layer_norm_options<double>& options = {},
                              const kernels* with = nullptr) {
    const bool scaled = attest::detail::norm_weight_is_present<axis_of<X, 1>>(weights.gamma, x.length(1));
    const bool shifted = attest::detail::norm_weight_is_present<axis_of<X, 1>>(weights.beta, x.length(1));
    tensor<double, axis_of<X, 0>, attest::detail::norm_axis<axis_of<X, 1>, D>> y(x);
    const auto row = static_cast<std::ptrdiff_t>(x.length(1));
    kernels_or_compiled(with).layer_norm({.x = y.data(), .x_row = row, .m = x.length(0), .n = x.length(1), .y = y.data(), .y_row = row,
                                          .gamma = scaled ? weights.gamma.data() : nullptr, .beta = shifted ? weights.beta.data() : nullptr,
                                          .eps = options.eps, .eps_in_root = options.placement == eps_placement::variance,
                                          .unbiased = options.variance == variance_kind::unbiased});
    return y;
}

/// The activation of each element: ReLU, or GELU in its form with erf, which is off by at most 2^−52 |x| (measured, tests/fast/rows.cpp). Shapes: any → the
/// same. The other forms of GELU, element by element by formula/activation.hpp.
template <operand X> [[nodiscard]] auto activate(const X& x, const activation& how, const kernels* with = nullptr) {
    auto y = detail::copy_of(x);
    const kernels& kernel = kernels_or_compiled(with);
    if (how.kind == activation_kind::relu) kernel.relu(y.data(), y.elements(), y.data());
    else if (how.form == gelu_form::erf) kernel.gelu(y.data(), y.elements(), y.data());
    else
        for (std::size_t i = 0; i < y.elements(); ++i) y.data()[i] = how(y.data()[i]);
    return y;
}

/// x (1 + erf(x/√2)) / 2 of each element. Shapes: any → the same.
template <operand X> [[nodiscard]] auto gelu(const X& x, const kernels* with = nullptr) {
    return activate(x, activation{activation_kind::gelu, gelu_form::erf}, with);
}

} // namespace attest::fast
