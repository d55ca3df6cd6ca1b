// SPDX-License-Identifier: BSL-1.0
/// \file
/// Numbers in conventions: exact decimals ("1e-5" is 10^-5, not the double next to it) or hex floats ("0x1p-3"); and counts.
#pragma once

#include "attest/question/usage_error.hpp"

#include <cctype>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace attest {

namespace detail {

// A number taken apart: sign · digits · base^(−fraction digits) · (10 or 2)^exponent.
struct number_parts {
    bool negative = false;
    bool hexadecimal = false;
    std::string digits; // without leading zeros; "0" for zero
    int fraction_digits = 0;
    int exponent = 0;
};

[[noreturn]] inline void refuse_number(std::string_view key, std::string_view text) {
    throw usage_error("'" + std::string(key) + "' must be a number such as 0.125, 1e-5 or 0x1p-3, not '" + std::string(text) + "'");
}

inline number_parts parse_number(std::string_view key, std::string_view text) {
    number_parts parts;
    std::string_view rest = text;
    const auto take = [&rest](char a, char b) {
        if (rest.empty() || (rest.front() != a && rest.front() != b)) return false;
        rest.remove_prefix(1);
        return true;
    };
    if (rest.size() > 200) refuse_number(key, std::string(rest.substr(0, 40)) + "...");
    parts.negative = take('-', '-');
    if (!parts.negative) take('+', '+');
    if (rest.size() > 2 && rest[0] == '0' && (rest[1] == 'x' || rest[1] == 'X')) {
        parts.hexadecimal = true;
        rest.remove_prefix(2);
    }
    const auto is_digit = [&](char c) {
        const auto u = static_cast<unsigned char>(c);
        return parts.hexadecimal ? std::isxdigit(u) != 0 : std::isdigit(u) != 0;
    };
    bool point = false;
    std::size_t digits = 0;
    for (; !rest.empty() && (is_digit(rest.front()) || (rest.front() == '.' && !point)); rest.remove_prefix(1)) {
        if (rest.front() == '.') {
            point = true;
            continue;
        }
        ++digits;
        parts.fraction_digits += point ? 1 : 0;
        if (!parts.digits.empty() || rest.front() != '0') parts.digits += rest.front();
    }
    if (digits == 0) refuse_number(key, text);
    if (parts.digits.empty()) parts.digits = "0";
    if (parts.hexadecimal ? take('p', 'P') : take('e', 'E')) {
        const bool negative = take('-', '-');
        if (!negative) take('+', '+');
        if (rest.empty() || rest.size() > 4 || rest.find_first_not_of("0123456789") != std::string_view::npos)
            refuse_number(key, text);
        parts.exponent = std::stoi(std::string(rest)) * (negative ? -1 : 1);
        rest = {};
    }
    if (!rest.empty()) refuse_number(key, text);
    return parts;
}

inline bool is_zero(const number_parts& parts) { return parts.digits == "0"; }
inline bool is_negative(const number_parts& parts) { return parts.negative && !is_zero(parts); }

// Whether the number without its sign is below 1: exactly, from where its first digit (in base 16 its first bit) stands.
inline bool is_below_one(const number_parts& parts) {
    if (is_zero(parts)) return true;
    const int length = static_cast<int>(parts.digits.size());
    if (!parts.hexadecimal) return length - parts.fraction_digits + parts.exponent <= 0;
    const char first = parts.digits.front();
    const int bits = first == '1' ? 1 : first <= '3' ? 2 : first <= '7' ? 3 : 4; // letters come after digits
    return 4 * (length - 1) + bits - 4 * parts.fraction_digits + parts.exponent <= 0;
}

// A count of at most nine digits, or nothing.
inline std::optional<std::size_t> count_from(std::string_view digits) {
    if (digits.empty() || digits.size() > 9 || digits.find_first_not_of("0123456789") != std::string_view::npos) return std::nullopt;
    return static_cast<std::size_t>(std::stoul(std::string(digits)));
}

inline std::size_t parse_count(std::string_view key, std::string_view text, std::size_t least) {
    const std::optional<std::size_t> count = count_from(text);
    if (!count || *count < least)
        throw usage_error("the convention '" + std::string(key) + "' is an integer of at most nine digits, " + std::to_string(least) + " or greater, not '" + std::string(text) + "'");
    return *count;
}

} // namespace detail

/// usage_error unless text is a number; exponents have at most four digits.
inline void check_number(std::string_view key, std::string_view text) { (void)detail::parse_number(key, text); }

/// The same, and unless it is greater than 0.
inline void check_positive(std::string_view key, std::string_view text) {
    const detail::number_parts parts = detail::parse_number(key, text);
    if (parts.negative || detail::is_zero(parts)) throw usage_error("'" + std::string(key) + "' must be greater than 0, not '" + std::string(text) + "'");
}

/// The same, and unless it is 0 or greater.
inline void check_not_negative(std::string_view key, std::string_view text) {
    if (detail::is_negative(detail::parse_number(key, text)))
        throw usage_error("'" + std::string(key) + "' must be 0 or greater, not '" + std::string(text) + "'");
}

/// The same, and unless it is a probability below 1.
inline void check_probability(std::string_view key, std::string_view text) {
    const detail::number_parts parts = detail::parse_number(key, text);
    if (detail::is_negative(parts) || !detail::is_below_one(parts))
        throw usage_error("'" + std::string(key) + "' must be at least 0 and less than 1, not '" + std::string(text) + "'");
}

/// The number, to the precision of Real: built from exact integers with one division at most.
template <class Real> [[nodiscard]] Real number_from(std::string_view key, std::string_view text) {
    const detail::number_parts parts = detail::parse_number(key, text);
    Real value(0);
    const Real base(parts.hexadecimal ? 16 : 10);
    for (const char c : parts.digits) {
        const int digit = c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10;
        value = value * base + Real(digit);
    }
    Real up(1), down(1);
    const auto multiply = [](Real& into, const Real& factor, int times) {
        for (int i = 0; i < times; ++i) into = into * factor;
    };
    multiply(down, base, parts.fraction_digits);
    multiply(parts.exponent >= 0 ? up : down, Real(parts.hexadecimal ? 2 : 10), parts.exponent >= 0 ? parts.exponent : -parts.exponent);
    value = value * up / down;
    return parts.negative ? -value : value;
}

} // namespace attest
