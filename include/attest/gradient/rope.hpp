// SPDX-License-Identifier: BSL-1.0
/// \file
/// The gradient of RoPE: a rotation's transpose turns back by the same angle. Positions and base are no variables.
#pragma once

#include "attest/formula/rope.hpp"

namespace attest {

/// The gradient of x in rope_rows(x, rotation). Shapes: dy n × d → n × d.
template <matrix_like Dy, class S> [[nodiscard]] constexpr auto rope_rows_vjp(const Dy& dy, const rope_rotation<S>& rotation) {
    auto dx = tensor<scalar_of<Dy>, axis_of<Dy, 0>, axis_of<Dy, 1>>::with_lengths(dy.length(0), dy.length(1));
    for (std::size_t i = 0; i < dy.length(0); ++i) {
        const auto row = rotation.back(dy[i], i);
        for (std::size_t c = 0; c < dy.length(1); ++c) dx(i, c) = row(c);
    }
    return dx;
}

} // namespace attest
