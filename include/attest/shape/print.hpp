// SPDX-License-Identifier: BSL-1.0
/// \file
/// Printing of tensors: `std::cout << X` writes `[[1, 0], [0, 1]]`, a row a line for matrices.
#pragma once

#include "attest/shape/tensor.hpp"

#include <ostream>

namespace attest {

/// Writes the elements in nested brackets; rows of a matrix stand under each other. Each element is written by its own operator<<.
template <class X>
    requires tensor_of_rank<X, X::rank>
std::ostream& operator<<(std::ostream& out, const X& x) {
    if constexpr (X::rank == 0) {
        return out << x();
    } else {
        out << '[';
        for (std::size_t i = 0; i < x.length(0); ++i) {
            if (i != 0) out << (X::rank == 1 ? ", " : ",\n ");
            out << x[i];
        }
        return out << ']';
    }
}

} // namespace attest
