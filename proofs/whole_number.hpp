// SPDX-License-Identifier: BSL-1.0
/// \file
/// The whole numbers of a printed line, which must be as a whole what it should be: whole_numbers<3>("0*0=0", "#*#=#") is {0, 0, 0},
/// and spells("3*0+4*2=8", "#*#+#*#=#", 3, 0, 4, 2, 8). So no sign, operator or letter of it can be another one.
#pragma once

#include <array>
#include <cstddef>
#include <stdexcept>
#include <string_view>

namespace attest::proofs {

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
// Takes a number off the front of `line`. Throws std::invalid_argument if it does not begin with one, spelled as usual.
constexpr int take_some_number(std::string_view& line) {
    const std::string_view digits = line.substr(0, line.find_first_not_of("0123456789"));
    if (digits.empty()) throw std::invalid_argument("a whole number is missing in this line");
    if (digits.front() == '0' && digits.size() > 1) throw std::invalid_argument("a number of this line begins with 0");
    int number = 0;
    for (const char digit : digits) number = 10 * number + (digit - '0');
    line.remove_prefix(digits.size());
    return number;
}
} // namespace detail

/// The numbers that stand in `line` where `pattern` has its '#'s. Throws std::invalid_argument if the line is anything else: another
/// sign, operator or letter, a number spelled as 00 or 01, a negative one, or not N numbers.
template <std::size_t N>
[[nodiscard]] constexpr std::array<int, N> whole_numbers(std::string_view line, std::string_view pattern) {
    std::array<int, N> numbers{};
    std::size_t next = 0;
    for (const char c : pattern) {
        if (c == '#') {
            if (next == N) throw std::invalid_argument("the pattern has more numbers than are asked for");
            numbers[next++] = detail::take_some_number(line);
        } else {
            if (line.empty() || line.front() != c) throw std::invalid_argument("the line is not as the pattern says");
            line.remove_prefix(1);
        }
    }
    if (!line.empty() || next != N) throw std::invalid_argument("the line, or what is asked for, goes on behind the pattern");
    return numbers;
}
static_assert(whole_numbers<3>("12-0=1", "#-#=#") == std::array{12, 0, 1});

/// The whole number that `line` is. Throws std::invalid_argument if it is anything else.
[[nodiscard]] constexpr int whole_number(std::string_view line) { return whole_numbers<1>(line, "#")[0]; }
static_assert(whole_number("64") == 64 && whole_number("0") == 0);

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
