// SPDX-License-Identifier: BSL-1.0
/// \file
/// Positions that are added to the embeddings: sinusoidal (Vaswani et al., arXiv 1706.03762, section 3.5) and learned ones. Those that act inside
/// attention come along: rotations (rope.hpp) and linear biases (alibi.hpp).
#pragma once

#include "attest/arithmetic/scalar.hpp"
#include "attest/elementary/exp.hpp"
#include "attest/elementary/log.hpp"
#include "attest/elementary/sin_cos.hpp"
#include "attest/formula/alibi.hpp"
#include "attest/formula/rope.hpp"

namespace attest {

/// PE(t, c) = sin(t/base^{2⌊c/2⌋/d}) for even c, cos of the same for odd c (B030). Shapes: n × d_model.
///
/// Row t is position t. An odd d_model has one sine more than cosines: ⌈d/2⌉ and ⌊d/2⌋, by the same formula; the exponents divide by d as it is.
/// PE(0) = (0, 1, 0, 1, …); for even d, ‖PE(t)‖² = d/2, and PE(s) · PE(t) depends on s − t alone (B031).
template <scalar S, axis_type N = axis<dynamic>, axis_type DModel = axis<dynamic>>
[[nodiscard]] constexpr auto sinusoidal(std::size_t n, std::size_t d_model, const S& base = S(10000)) {
    constexpr bool has_all = has_exp<S> && has_log<S> && has_sin<S> && has_cos<S>;
    static_assert(has_all, "sinusoidal positions need a scalar that attest::exp, attest::log, attest::sin and attest::cos take");
    auto table = tensor<S, N, DModel>::with_lengths(n, d_model);
    if constexpr (has_all) { // else the compiler has spoken
        const S log_base = attest::log(base);
        for (std::size_t c = 0; c < d_model; ++c) {
            const S exponent = S(static_cast<int>(c - c % 2)) / S(static_cast<int>(d_model));
            const S period = attest::exp(exponent * log_base); // in radians: base^{2⌊c/2⌋/d}
            for (std::size_t t = 0; t < n; ++t) {
                const S angle = S(static_cast<int>(t)) / period;
                table(t, c) = c % 2 == 0 ? attest::sin(angle) : attest::cos(angle);
            }
        }
    }
    return table;
}
/// The same with both lengths in the type.
template <scalar S, axis_type N, axis_type DModel>
    requires(!is_dynamic<N> && !is_dynamic<DModel>)
[[nodiscard]] constexpr auto sinusoidal(const S& base = S(10000)) {
    return sinusoidal<S, N, DModel>(N::size, DModel::size, base);
}

/// The lecture's form, 0 <= i < d/2, where each sine has its cosine (B030): an odd d_model throws shape_error.
template <scalar S, axis_type N = axis<dynamic>, axis_type DModel = axis<dynamic>>
[[nodiscard]] constexpr auto sinusoidal_pairs(std::size_t n, std::size_t d_model, const S& base = S(10000)) {
    rules::even_dimension::check<DModel>(d_model);
    return sinusoidal<S, N, DModel>(n, d_model, base);
}
/// The same with both lengths in the type: an odd d_model does not compile.
template <scalar S, axis_type N, axis_type DModel>
    requires(!is_dynamic<N> && !is_dynamic<DModel>)
[[nodiscard]] constexpr auto sinusoidal_pairs(const S& base = S(10000)) {
    if constexpr (rules::even_dimension::holds<DModel>) return sinusoidal_pairs<S, N, DModel>(N::size, DModel::size, base);
    else {
        rules::even_dimension::check<DModel>(DModel::size); // to be said once
        return tensor<S, N, DModel>{};
    }
}

/// x_t + p_{t + offset}: row t of x is at position t + offset, and each position has a row of the table (B034). Shapes: x n × d, table L × d → n × d.
/// Throws shape_error (or does not compile) for a sequence longer than the table (B035); with an offset, always at run time.
template <matrix_like X, matrix_like Table>
[[nodiscard]] constexpr auto add_positions(const X& x, const Table& table, std::size_t offset = 0) {
    using S = scalar_of<X>;
    constexpr bool same_scalar = std::same_as<S, scalar_of<Table>>;
    static_assert(same_scalar, "the positions must have the scalar of x");
    constexpr std::size_t greatest = static_cast<std::size_t>(-1);
    const std::size_t end = offset > greatest - x.length(0) ? greatest : offset + x.length(0);
    rules::position_in_table::check<axis_of<X, 0>, axis_of<Table, 0>>(end, table.length(0));
    rules::position_component_for_each_component::check<axis_of<X, 1>, axis_of<Table, 1>>(x.length(1), table.length(1));
    constexpr bool meet = rules::position_component_for_each_component::holds<axis_of<X, 1>, axis_of<Table, 1>>;
    using components = std::conditional_t<meet, joined<axis_of<X, 1>, axis_of<Table, 1>>, axis_of<X, 1>>;
    auto sum = tensor<S, axis_of<X, 0>, components>::with_lengths(x.length(0), x.length(1));
    if constexpr (same_scalar && meet && rules::position_in_table::holds<axis_of<X, 0>, axis_of<Table, 0>>) // else the compiler has spoken
        for (std::size_t t = 0; t < x.length(0); ++t)
            for (std::size_t c = 0; c < x.length(1); ++c) sum(t, c) = x(t, c) + table(offset + t, c);
    return sum;
}

} // namespace attest
