// SPDX-License-Identifier: BSL-1.0
/// \file
/// Printed numbers: those that are right, to the last place, and those that are wrong, and by how much.
#pragma once

#include "attest/arithmetic/interval.hpp"

#include <concepts>
#include <cstddef>
#include <string_view>

namespace attest::proofs {

/// The digits behind the point.
[[nodiscard]] constexpr std::size_t places_of(std::string_view printed) {
    const std::size_t point = printed.find('.');
    return point == std::string_view::npos ? 0 : printed.size() - point - 1;
}

/// Is a number spelled as usual? Not as "+1", "00.5" or "-0", which to an arithmetic are the numbers 1, 0.5 and 0.
[[nodiscard]] constexpr bool well_spelled(std::string_view printed) {
    if (printed.starts_with('-') && printed.find_first_not_of("-0.") == std::string_view::npos) return false;
    if (printed.starts_with('-')) printed.remove_prefix(1);
    return !printed.starts_with('+') && !(printed.starts_with('0') && printed.size() > 1 && printed[1] != '.');
}
static_assert(well_spelled("0") && well_spelled("-0.5") && well_spelled("0.00") && well_spelled("10"));
static_assert(!well_spelled("00") && !well_spelled("-0") && !well_spelled("-0.0") && !well_spelled("01.5") && !well_spelled("+1"));

/// Is x the number that is printed, with that many places behind the point, and no rounding of it?
template <class X>
[[nodiscard]] constexpr bool is_exactly(const X& x, std::string_view printed, std::size_t places = 0) {
    const auto [digits, unit] = printed_decimal<long long>::read(printed);
    const X number = X(digits) / X(unit);
    if (!well_spelled(printed) || places_of(printed) != places) return false;
    if constexpr (std::same_as<X, interval>) return surely(x == number);
    else return x == number;
}
static_assert(is_exactly(interval::ratio(1, 2), "0.5", 1) && is_exactly(interval(0), "0") && !is_exactly(interval(1), "1.0"));

/// Is `printed` the right rounding of x to that many places? (rounds_to alone would take "0.7" where "0.70711" is printed.)
[[nodiscard]] constexpr bool prints(const interval& x, std::string_view printed, std::size_t places) {
    return rounds_to(x, printed) && places_of(printed) == places && well_spelled(printed);
}

/// Does adding `units` of its last place make `printed` the right rounding of x? To how many places is left open: see below.
[[nodiscard]] constexpr bool misprint(const interval& x, std::string_view printed, int units) {
    const auto [digits, unit] = printed_decimal<interval::integer>::read(printed);
    const interval off = x * static_cast<long long>(unit) - static_cast<long long>(digits);
    const interval half = interval::ratio(1, 2);
    return units != 0 && well_spelled(printed) && surely(off > units - half) && surely(off < units + half);
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
