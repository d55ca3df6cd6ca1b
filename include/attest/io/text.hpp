// SPDX-License-Identifier: BSL-1.0
/// \file
/// Text that came out of a file, made fit to print: valid UTF-8, one line, no control bytes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace attest {

/// Bytes of the well-formed UTF-8 sequence that `text` begins with (1 to 4); 0 if it begins with none.
/// Overlong forms, surrogates and anything past U+10FFFF are not well-formed (RFC 3629).
[[nodiscard]] constexpr std::size_t utf8_length(std::string_view text) noexcept {
    const auto byte = [text](std::size_t i) {
        return i < text.size() ? static_cast<unsigned>(static_cast<unsigned char>(text[i])) : 0U;
    };
    const auto follows = [byte](std::size_t i, unsigned low = 0x80, unsigned high = 0xBF) {
        return byte(i) >= low && byte(i) <= high;
    };
    if (text.empty()) return 0;
    const unsigned first = byte(0);
    if (first < 0x80) return 1;
    if (first >= 0xC2 && first <= 0xDF) return follows(1) ? 2 : 0;
    if (first >= 0xE0 && first <= 0xEF) {
        const unsigned low = first == 0xE0 ? 0xA0 : 0x80;
        const unsigned high = first == 0xED ? 0x9F : 0xBF;
        return follows(1, low, high) && follows(2) ? 3 : 0;
    }
    if (first >= 0xF0 && first <= 0xF4) {
        const unsigned low = first == 0xF0 ? 0x90 : 0x80;
        const unsigned high = first == 0xF4 ? 0x8F : 0xBF;
        return follows(1, low, high) && follows(2) && follows(3) ? 4 : 0;
    }
    return 0;
}

/// Whether all of `text` is well-formed UTF-8.
[[nodiscard]] constexpr bool is_utf8(std::string_view text) noexcept {
    while (!text.empty()) {
        const std::size_t length = utf8_length(text);
        if (length == 0) return false;
        text.remove_prefix(length);
    }
    return true;
}

/// `text` with every control byte (C0, DEL, C1) and every byte that is not UTF-8 written as \xNN. Doing it twice
/// changes nothing.
[[nodiscard]] inline std::string printable(std::string_view text) {
    std::string result;
    result.reserve(text.size());
    while (!text.empty()) {
        const std::size_t length = utf8_length(text);
        const auto first = static_cast<unsigned char>(text[0]);
        const bool c1 = length == 2 && first == 0xC2 && static_cast<unsigned char>(text[1]) < 0xA0;
        if (length == 0 || first < 0x20 || first == 0x7F || c1) {
            constexpr std::string_view digits = "0123456789abcdef";
            for (const char c : text.substr(0, length == 0 ? 1 : length)) {
                const auto value = static_cast<unsigned char>(c);
                result += "\\x";
                result += digits[value >> 4U];
                result += digits[value & 15U];
            }
        } else {
            result += text.substr(0, length);
        }
        text.remove_prefix(length == 0 ? 1 : length);
    }
    return result;
}

/// `printable`, and cut after about `limit` bytes: hostile names and tokens can be long.
[[nodiscard]] inline std::string excerpt(std::string_view text, std::size_t limit = 80) {
    if (text.size() <= limit) return printable(text);
    while (limit > 0 && (static_cast<unsigned char>(text[limit]) & 0xC0U) == 0x80U) --limit; // not inside a sequence
    return printable(text.substr(0, limit)) + "…";
}

} // namespace attest
