// SPDX-License-Identifier: BSL-1.0
/// \file
/// Printed numbers: those that are right, to the last place, and those that are wrong, and by how much.
#pragma once

#include "attest/arithmetic/interval.hpp"

#include <cstddef>
#include <string_view>

namespace attest::proofs {

/// The digits behind the point.
[[nodiscard]] constexpr std::size_t places_of(std::string_view printed) {
    const std::size_t point = printed.find('.');
    return point == std::string_view::npos ? 0 : printed.size() - point - 1;
}

/// Is `printed` the right rounding of x to that many places? (rounds_to alone would take "0.7" where "0.70711" is printed.)
[[nodiscard]] constexpr bool prints(const interval& x, std::string_view printed, std::size_t places) {
    return rounds_to(x, printed) && places_of(printed) == places;
}

/// Does adding `units` of its last place make `printed` the right rounding of x? To how many places is left open: see below.
[[nodiscard]] constexpr bool misprint(const interval& x, std::string_view printed, int units) {
    const auto [digits, unit] = printed_decimal<interval::integer>::read(printed);
    const interval off = x * static_cast<long long>(unit) - static_cast<long long>(digits);
    const interval half = interval::ratio(1, 2);
    return units != 0 && surely(off > units - half) && surely(off < units + half);
}
/// And is the right rounding `right`, with as many places? So a misprint is pinned: no other digits, and no fewer, would be wrong
/// by as much.
[[nodiscard]] constexpr bool misprint(const interval& x, std::string_view printed, int units, std::string_view right) {
    return misprint(x, printed, units) && prints(x, right, places_of(printed));
}

/// Is `number` in x, and x less than 10^-18 wide? As near as an enclosure comes to equality.
[[nodiscard]] constexpr bool pins(const interval& x, const interval& number) {
    return contains(x, number) && surely(x.width() < interval::ratio(1, 1'000'000'000'000'000'000));
}

} // namespace attest::proofs
