// SPDX-License-Identifier: BSL-1.0
/// \file
/// The whole numbers of a printed line: whole_number("3*0+4*2=8", 4) is 8. And the line as a whole:
/// spells("3*0+4*2=8", "#*#+#*#=#", 3, 0, 4, 2, 8).
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string_view>

namespace attest::proofs {

/// Number `index` of those that a line prints in digits, whatever stands between them: signs and operators are for `spells`.
/// Throws std::out_of_range if there are not as many.
[[nodiscard]] constexpr int whole_number(std::string_view line, std::size_t index = 0) {
    const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
    for (std::size_t i = 0; i < line.size(); ++i) {
        if (!is_digit(line[i])) continue;
        int number = 0;
        for (; i < line.size() && is_digit(line[i]); ++i) number = 10 * number + (line[i] - '0');
        if (index-- == 0) return number;
    }
    throw std::out_of_range("not as many numbers in this line");
}

namespace detail {
// Takes the spelling of `number` off the front of `line`; false if it does not begin with it.
constexpr bool take_number(std::string_view& line, long long number) {
    if (number < 0) {
        if (line.empty() || line.front() != '-') return false;
        line.remove_prefix(1);
    }
    unsigned long long rest = static_cast<unsigned long long>(number), power = 1;
    if (number < 0) rest = 0 - rest;
    while (rest / power >= 10) power *= 10;
    for (; power > 0; rest %= power, power /= 10) {
        if (line.empty() || line.front() != static_cast<char>('0' + static_cast<int>(rest / power))) return false;
        line.remove_prefix(1);
    }
    return true;
}
} // namespace detail

/// Is `line`, from its first character to its last, what `pattern` becomes with `numbers` for its '#'s, in their order? False if
/// there are not as many of one as of the other.
template <class... Number>
[[nodiscard]] constexpr bool spells(std::string_view line, std::string_view pattern, const Number&... numbers) {
    const long long all[] = {static_cast<long long>(numbers)..., 0};
    std::size_t next = 0;
    for (const char c : pattern) {
        if (c == '#') {
            if (next == sizeof...(Number) || !detail::take_number(line, all[next++])) return false;
        } else {
            if (line.empty() || line.front() != c) return false;
            line.remove_prefix(1);
        }
    }
    return line.empty() && next == sizeof...(Number);
}
static_assert(spells("3*0+4*2=8", "#*#+#*#=#", 3, 0, 4, 2, 8) && !spells("3*0-4*2=8", "#*#+#*#=#", 3, 0, 4, 2, 8));
static_assert(spells("-12: 100", "#: #", -12, 100) && spells("0", "#", 0) && !spells("12", "#", -12) && !spells("012", "#", 12));
static_assert(!spells("12", "#", 1) && !spells("1", "#", 12));
static_assert(!spells("1", "#", 1, 2) && !spells("1 2", "# #", 1) && !spells("1=", "#", 1));

} // namespace attest::proofs
