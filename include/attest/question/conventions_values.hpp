// SPDX-License-Identifier: BSL-1.0
/// \file
/// The values of conventions that are neither plain numbers nor one word of a list: windows, axes, arithmetics with suffixes, probabilities, bits.
#pragma once

#include "attest/question/conventions_table.hpp"
#include "attest/question/number.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace attest {

/// A window around the query's own position: so many keys before it and after it.
struct window_size {
    std::size_t left = 0, right = 0;
    friend bool operator==(const window_size&, const window_size&) = default;
};

namespace detail {

inline std::size_t value_index(const convention_info& info, std::string_view value) {
    const auto found = std::find(info.values.begin(), info.values.end(), value);
    if (found == info.values.end())
        throw usage_error("the convention '" + std::string(info.key) + "' has no value '" + std::string(value) + "'" + did_you_mean(value, info.values) + "; it has " +
                          listed(info.values));
    return static_cast<std::size_t>(found - info.values.begin());
}

inline int parse_axis(std::string_view text) {
    const bool negative = !text.empty() && text.front() == '-';
    const std::string_view digits = text.substr(negative ? 1 : 0);
    if (digits.empty() || digits.size() > 2 || digits.find_first_not_of("0123456789") != std::string_view::npos)
        throw usage_error("the convention 'axis' is an integer such as -1 or 0, not '" + std::string(text) + "'");
    const int axis = std::stoi(std::string(digits));
    return negative ? -axis : axis;
}

inline window_size parse_window(std::string_view text) {
    const std::size_t comma = text.find(',');
    const std::optional<std::size_t> first = count_from(text.substr(0, comma));
    const std::optional<std::size_t> second = comma == std::string_view::npos ? first : count_from(text.substr(comma + 1));
    if (!first || !second || (comma == std::string_view::npos && *first == 0))
        throw usage_error("the convention 'window' is W, 1 or greater, such as 4 (its own key and 3 to each side), or L,R, such as 3,0, not '" + std::string(text) + "'");
    return comma == std::string_view::npos ? window_size{*first - 1, *first - 1} : window_size{*first, *second};
}

inline std::string window_text(const window_size& w) {
    return w.left == w.right ? std::to_string(w.left + 1) : std::to_string(w.left) + "," + std::to_string(w.right);
}

// "bf16+f32/ftz/truncate" becomes "bf16+f32/truncate/ftz".
inline std::string canonical_arithmetic(const convention_info& info, std::string_view text) {
    const std::size_t slash = std::min(text.find('/'), text.size());
    const std::string_view name = text.substr(0, slash);
    const std::size_t index = value_index(info, name);
    if (slash == text.size()) return std::string(name);
    bool truncates = false, flushes = false;
    for (std::string_view rest = text.substr(slash); !rest.empty();) {
        const std::size_t end = std::min(rest.find('/', 1), rest.size());
        bool& suffix = rest.substr(0, end) == "/truncate" ? truncates : flushes;
        if (index == 0 || suffix || (&suffix == &flushes && rest.substr(0, end) != "/ftz"))
            throw usage_error("the convention 'arithmetic' has no value '" + std::string(text) +
                              "'; behind a declared arithmetic may stand /truncate and /ftz, each once, such as bf16+f32/ftz");
        suffix = true;
        rest.remove_prefix(end);
    }
    return std::string(name) + (truncates ? "/truncate" : "") + (flushes ? "/ftz" : "");
}

/// The nearest double, or one a few units in the last place beside it where there are more than 15 digits or an exponent beyond ±22: the same everywhere,
/// since nothing is added on the way.
inline double double_from(std::string_view key, std::string_view text) {
    const number_parts parts = parse_number(key, text);
    const std::size_t base = parts.hexadecimal ? 16 : 10, kept = std::min<std::size_t>(parts.digits.size(), parts.hexadecimal ? 16 : 19);
    std::uint64_t leading = 0;
    for (std::size_t i = 0; i < kept; ++i) {
        const char c = parts.digits[i];
        leading = leading * base + static_cast<std::uint64_t>(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
    }
    const int dropped = static_cast<int>(parts.digits.size() - kept) - parts.fraction_digits;
    auto value = static_cast<double>(leading);
    const auto shift = [&value](double factor, int times) {
        for (; times > 0; --times) value *= factor;
        for (; times < 0; ++times) value /= factor;
    };
    if (parts.hexadecimal) shift(2, 4 * dropped + parts.exponent);
    else { // powers of ten up to 10^22 are doubles
        const int exponent = dropped + parts.exponent;
        shift(1e22, exponent / 22);
        double power = 1;
        for (int i = exponent % 22; i != 0; i += i < 0 ? 1 : -1) power *= 10;
        value = exponent < 0 ? value / power : value * power;
    }
    return parts.negative ? -value : value;
}

/// usage_error unless the text is a number in (0, 1) that double tells from 0.
inline void check_false_alarm(std::string_view key, std::string_view text) {
    const number_parts parts = parse_number(key, text);
    if (parts.negative || is_zero(parts) || !is_below_one(parts) || !(double_from(key, text) >= 1e-300))
        throw usage_error("'" + std::string(key) + "' is a probability, greater than 0 and less than 1 (and at least 1e-300), such as 1e-9, not '" +
                          std::string(text) + "'");
}

inline std::size_t parse_precision(std::string_view text) {
    constexpr std::size_t least = 64, greatest = 1048576;
    const std::optional<std::size_t> bits = count_from(text);
    if (!bits || *bits < least || *bits > greatest)
        throw usage_error("the convention 'precision' is a number of bits, " + std::to_string(least) + " to " + std::to_string(greatest) + ", not '" +
                          std::string(text) + "'");
    return *bits;
}

} // namespace detail

} // namespace attest
