// SPDX-License-Identifier: BSL-1.0
/// \file
/// Printed numbers that are wrong, and by how much.
#pragma once

#include "attest/arithmetic/interval.hpp"

namespace attest::proofs {

/// Does adding `units` of its last place make `printed` the right rounding of x? So a misprint is pinned: no other digits would be wrong by as much.
[[nodiscard]] constexpr bool misprint(const interval& x, std::string_view printed, int units) {
    const auto [digits, unit] = printed_decimal<interval::integer>::read(printed);
    const interval off = x * static_cast<long long>(unit) - static_cast<long long>(digits);
    const interval half = interval::ratio(1, 2);
    return units != 0 && surely(off > units - half) && surely(off < units + half);
}

} // namespace attest::proofs
