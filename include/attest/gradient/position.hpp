// SPDX-License-Identifier: BSL-1.0
/// \file
/// The gradients of positions that are added; those of rotations come along (rope.hpp). Sinusoidal positions and ALiBi's slopes are constants.
#pragma once

#include "attest/formula/position.hpp"
#include "attest/gradient/rope.hpp"

namespace attest {

/// dx has the shape of dy, dtable that of the table.
template <class Dx, class Dtable> struct add_positions_gradient {
    Dx dx;
    Dtable dtable;
};

/// The gradient of add_positions(x, table, offset): dx = dy, and row t of dy goes to row t + offset of the table; rows that were not used get 0.
/// Shapes: dy n × d, table L × d → dx n × d, dtable L × d. Of the table only the shape matters.
template <matrix_like Dy, matrix_like Table>
[[nodiscard]] constexpr auto add_positions_vjp(const Dy& dy, const Table& table, std::size_t offset = 0) {
    using S = scalar_of<Dy>;
    using dtable_type = tensor<S, axis_of<Table, 0>, axis_of<Table, 1>>;
    auto zeros = dtable_type::with_lengths(table.length(0), table.length(1));
    auto dx = add_positions(dy, zeros, offset); // says the rules
    add_positions_gradient<decltype(dx), dtable_type> gradient{dx, zeros};
    if constexpr (rules::position_component_for_each_component::holds<axis_of<Dy, 1>, axis_of<Table, 1>> &&
                  rules::position_in_table::holds<axis_of<Dy, 0>, axis_of<Table, 0>>) // else the compiler has spoken
        for (std::size_t t = 0; t < dy.length(0); ++t)
            for (std::size_t c = 0; c < dy.length(1); ++c) {
                gradient.dx(t, c) = dy(t, c); // not dy + 0, which has another zero than −0
                gradient.dtable(offset + t, c) = dy(t, c);
            }
    return gradient;
}

} // namespace attest
