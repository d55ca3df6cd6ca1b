// SPDX-License-Identifier: BSL-1.0
/// \file
/// The matrices with a single 1: a law that is linear in a matrix, and holds for these, holds for all.
#pragma once

#include "attest/shape/tensor.hpp"

namespace attest::proofs {

/// How many there are, on the axes A and B.
template <axis_type A, axis_type B>
inline constexpr std::size_t units = A::size * B::size;

/// Number `index` of them.
template <axis_type A, axis_type B>
[[nodiscard]] constexpr tensor<int, A, B> unit(std::size_t index) {
    tensor<int, A, B> result;
    result.data()[index] = 1;
    return result;
}

} // namespace attest::proofs
