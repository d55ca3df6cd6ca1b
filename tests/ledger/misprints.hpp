// SPDX-License-Identifier: BSL-1.0
/// \file
/// What else could have been printed: a line with another digit, one digit more or less, another sign.
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace attest::tests {

[[nodiscard]] inline bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// The decimal numbers of a text, with one point at most: those of "8/1.41421=5.65685" are 8, 1.41421 and 5.65685. Digits behind a
/// letter or an underscore are part of a name, as in alpha_11 or L2.2.
[[nodiscard]] inline std::vector<std::string_view> numbers_of(std::string_view text) {
    std::vector<std::string_view> numbers;
    const auto in_a_name = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (!is_digit(text[i])) continue;
        const std::size_t begin = i;
        const auto pass_digits = [&text, &i] {
            while (i < text.size() && is_digit(text[i])) ++i;
        };
        pass_digits();
        if (i + 1 < text.size() && text[i] == '.' && is_digit(text[i + 1])) {
            ++i;
            pass_digits();
        }
        if (begin == 0 || !in_a_name(text[begin - 1])) numbers.push_back(text.substr(begin, i - begin));
    }
    return numbers;
}

/// A text as proofs are given it: without blanks, and with the signs that a keyboard has. "8/√64 − 3 · 2" is "8/sqrt(64)-3*2".
[[nodiscard]] inline std::string plain(std::string_view text) {
    constexpr std::pair<std::string_view, std::string_view> spelled[] = {{"−", "-"}, {"·", "*"}, {"×", "*"}, {" ", ""}};
    std::string result;
    while (!text.empty()) {
        const auto* sign = std::find_if(std::begin(spelled), std::end(spelled), [&](const auto& s) { return text.starts_with(s.first); });
        constexpr std::string_view root = "√";
        if (sign != std::end(spelled)) {
            result += sign->second;
            text.remove_prefix(sign->first.size());
        } else if (text.starts_with(root)) {
            text.remove_prefix(root.size());
            const std::size_t size = std::min(text.find_first_not_of("0123456789abcdefghijklmnopqrstuvwxyz_"), text.size());
            result += "sqrt(" + std::string(text.substr(0, size)) + ")";
            text.remove_prefix(size);
        } else {
            result += text.front();
            text.remove_prefix(1);
        }
    }
    return result;
}

/// The numbers of a text with their signs: a minus is one if a number follows directly, and neither a number nor a name nor a parenthesis
/// stands directly before it. Those of "(-2, 0)" are -2 and 0, those of "1-0" and of "1 − 0" are 1 and 0.
[[nodiscard]] inline std::vector<std::string> signed_numbers_of(std::string_view text) {
    std::string with_minus(text);
    for (std::size_t at = 0; (at = with_minus.find("−")) != std::string::npos;) with_minus.replace(at, std::string_view("−").size(), "-");
    std::vector<std::string> numbers;
    for (const std::string_view number : numbers_of(with_minus)) {
        const auto at = static_cast<std::size_t>(number.data() - with_minus.data());
        const auto is_operand = [](char c) { return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == ')' || c == '_'; };
        const bool is_negative = at > 0 && with_minus[at - 1] == '-' && (at == 1 || !is_operand(with_minus[at - 2]));
        numbers.push_back((is_negative ? "-" : "") + std::string(number));
    }
    return numbers;
}

/// `text` with each of its digits replaced by each other one.
[[nodiscard]] inline std::vector<std::string> other_digits(std::string_view text) {
    std::vector<std::string> all;
    for (std::size_t i = 0; i < text.size(); ++i)
        if (is_digit(text[i]))
            for (char digit = '0'; digit <= '9'; ++digit)
                if (digit != text[i]) (all.emplace_back(text))[i] = digit;
    return all;
}

/// `text` without one of its characters. Blanks say nothing.
[[nodiscard]] inline std::vector<std::string> one_character_less(std::string_view text) {
    std::vector<std::string> all;
    for (std::size_t i = 0; i < text.size(); ++i)
        if (text[i] != ' ') all.emplace_back(text).erase(i, 1);
    return all;
}

/// `text` with one digit more, behind the last of a number: 0.50 claims another place, and 50 is another number.
[[nodiscard]] inline std::vector<std::string> one_digit_more(std::string_view text) {
    std::vector<std::string> all;
    for (const std::string_view number : numbers_of(text))
        for (char digit = '0'; digit <= '9'; ++digit)
            all.emplace_back(text).insert(static_cast<std::size_t>(number.data() + number.size() - text.data()), 1, digit);
    return all;
}

/// `text` with another sign before one of its numbers: - where there is none, and none where there is -.
[[nodiscard]] inline std::vector<std::string> other_signs(std::string_view text) {
    std::vector<std::string> all;
    for (const std::string_view number : numbers_of(text)) {
        const auto at = static_cast<std::size_t>(number.data() - text.data());
        if (at > 0 && text[at - 1] == '-') all.emplace_back(text).erase(at - 1, 1);
        else all.emplace_back(text).insert(at, 1, '-');
    }
    return all;
}

/// `text` with one of its operators, or another character between digits, replaced by another one.
[[nodiscard]] inline std::vector<std::string> other_operators(std::string_view text) {
    constexpr std::string_view operators = "+-*/=<>:,.()";
    std::vector<std::string> all;
    for (std::size_t i = 0; i < text.size(); ++i)
        if (operators.find(text[i]) != std::string_view::npos)
            for (const char other : operators)
                if (other != text[i]) (all.emplace_back(text))[i] = other;
    return all;
}

} // namespace attest::tests
