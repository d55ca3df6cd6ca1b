// SPDX-License-Identifier: BSL-1.0
/// \file
/// log 2 in two parts, and 1/log 2, for exp and log in double.
#pragma once

namespace attest::detail {

inline constexpr double ln2_high = 0x1.62e42fee00000p-1; ///< 32 bits: times an integer below 2^21 it is exact
inline constexpr double ln2_low = 0x1.a39ef35793c76p-33; ///< what is left, rounded: together they miss log 2 by less than 2^−86
inline constexpr double log2_e = 0x1.71547652b82fep+0;   ///< 1/log 2, rounded

} // namespace attest::detail
