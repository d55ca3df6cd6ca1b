// SPDX-License-Identifier: BSL-1.0
/// \file
/// The header of a `.npy` image: magic, version, length, and a Python dictionary of exactly descr, fortran_order and
/// shape.
///
/// It is parsed by hand and strictly. Nothing is evaluated, no pickle is ever read, and whatever is not understood is
/// refused by name.
#pragma once

#include "attest/io/array.hpp"
#include "attest/io/error.hpp"
#include "attest/io/npy_descr.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace attest {

/// What precedes the dictionary.
struct npy_preamble {
    std::size_t header_offset = 0; ///< 10 in version 1.0, 12 in 2.0 and 3.0
    std::size_t header_length = 0; ///< bytes of the dictionary, padding included; the data follow
};

/// The dictionary.
struct npy_header {
    dtype type = dtype::f64;
    bool swapped = false; ///< the elements' byte order is not this machine's
    bool fortran_order = false;
    std::vector<std::size_t> shape;
    std::vector<std::string> shape_digits; ///< the lengths as they are written
    bool python2 = false;                  ///< some length carries Python 2's suffix L
};

inline constexpr std::size_t npy_preamble_limit = 12;        ///< the preamble takes at most so many bytes
inline constexpr std::size_t npy_header_limit = 1024 * 1024; ///< a longer dictionary is refused
inline constexpr std::size_t npy_rank_limit = 32;            ///< more axes are refused

/// Reads the preamble from the first bytes of an image (all of it, or at least 12) that is `total` bytes long.
/// \throws file_error unless it is a npy image of version 1.0, 2.0 or 3.0 whose header fits into it and into 1 MiB
[[nodiscard]] inline npy_preamble parse_npy_preamble(std::span<const std::byte> first, std::uint64_t total,
                                                     std::string_view where) {
    constexpr std::array<unsigned char, 6> magic = {0x93, 'N', 'U', 'M', 'P', 'Y'};
    const auto byte = [first](std::size_t i) { return std::to_integer<std::uint32_t>(first[i]); };
    bool is_npy = first.size() >= 8;
    for (std::size_t i = 0; is_npy && i < magic.size(); ++i) is_npy = byte(i) == magic[i];
    if (!is_npy) {
        const bool zip = first.size() >= 2 && byte(0) == 'P' && byte(1) == 'K';
        throw file_error(where,
                         "not a npy file, " + std::to_string(total) + " bytes" + (zip ? " (it begins like a zip)" : ""),
                         "\\x93NUMPY and a version");
    }
    const std::uint32_t major = byte(6);
    const std::uint32_t minor = byte(7);
    if (major < 1 || major > 3 || minor != 0)
        throw file_error(where, "unknown npy version " + std::to_string(major) + "." + std::to_string(minor),
                         "1.0, 2.0 or 3.0");
    const std::size_t width = major == 1 ? 2 : 4;
    if (first.size() < 8 + width)
        throw file_error(where, "truncated: " + std::to_string(total) + " bytes",
                         std::to_string(8 + width) + " bytes before the header of version " + std::to_string(major) +
                             ".0");
    npy_preamble result;
    result.header_offset = 8 + width;
    std::uint32_t length = 0;
    for (std::size_t i = width; i-- > 0;) length = length << 8U | byte(8 + i);
    const std::uint64_t rest = total - result.header_offset;
    if (length > rest)
        throw file_error(
            where,
            "header length " + std::to_string(length) + " exceeds the file: " + std::to_string(rest) + " bytes follow",
            "a file of at least " + std::to_string(std::uint64_t{length} + result.header_offset) + " bytes");
    if (length > npy_header_limit)
        throw file_error(where, "header too large: " + std::to_string(length) + " bytes",
                         "at most " + std::to_string(npy_header_limit));
    result.header_length = length;
    return result;
}

namespace npy_detail {

/// The one dictionary that may stand there, read from left to right.
class header_parser {
public:
    header_parser(std::string_view text, std::string_view where) : text_(text), where_(where) {}

    [[nodiscard]] npy_header parse() {
        npy_header header;
        space();
        if (!take('{'))
            fail("header is not a dict, it begins with '" + excerpt(text_.substr(at_), 20) + "'", "{'descr': …");
        constexpr std::array<std::string_view, 3> keys = {"descr", "fortran_order", "shape"};
        std::array<bool, 3> seen = {};
        space();
        while (!take('}')) {
            const std::string_view key = quoted("a key");
            std::size_t which = 0;
            while (which < keys.size() && keys[which] != key) ++which;
            if (which == keys.size())
                fail("header has the extra key '" + excerpt(key) + "'", "descr, fortran_order and shape alone");
            if (seen[which]) fail("header has the key '" + std::string{key} + "' twice", "each once");
            seen[which] = true;
            space();
            if (!take(':')) fail_here("':' after '" + std::string{key} + "'");
            space();
            if (which == 0) descr(header);
            if (which == 1) header.fortran_order = boolean();
            if (which == 2) shape(header);
            space();
            if (take(',')) {
                space();
            } else if (peek() != '}') {
                fail_here("',' or '}' after the value of '" + std::string{key} + "'");
            }
        }
        for (std::size_t i = 0; i < keys.size(); ++i)
            if (!seen[i]) fail("header lacks the key '" + std::string{keys[i]} + "'", "descr, fortran_order and shape");
        space();
        if (at_ != text_.size()) fail_here("nothing but spaces after the dict");
        return header;
    }

private:
    static constexpr bool blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f'; }

    [[noreturn]] void fail(std::string_view problem, std::string_view expected) const {
        throw file_error(where_, problem, expected);
    }

    [[noreturn]] void fail_here(std::string_view expected) const {
        const std::string found = at_ < text_.size() ? "'" + excerpt(text_.substr(at_), 20) + "'" : "nothing";
        fail("header has " + found + " at byte " + std::to_string(at_), expected);
    }

    [[nodiscard]] char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }

    void space() {
        while (at_ < text_.size() && blank(text_[at_])) ++at_;
    }

    bool take(char c) {
        if (at_ >= text_.size() || text_[at_] != c) return false;
        ++at_;
        return true;
    }

    std::string_view quoted(std::string_view expected) {
        const char quote = peek();
        if (quote != '\'' && quote != '"') fail_here(expected);
        const std::size_t begin = at_ + 1;
        const std::size_t end = text_.find(quote, begin);
        if (end == std::string_view::npos) fail_here("a string that ends");
        const std::string_view content = text_.substr(begin, end - begin);
        if (content.find('\\') != std::string_view::npos) fail_here("a string without '\\'");
        at_ = end + 1;
        return content;
    }

    /// Whatever stands before the next separator.
    std::string_view token() {
        const std::size_t begin = at_;
        while (at_ < text_.size() && !blank(text_[at_]) && text_[at_] != ',' && text_[at_] != ')' && text_[at_] != '}')
            ++at_;
        return text_.substr(begin, at_ - begin);
    }

    /// The rest up to a closing bracket, to be shown.
    [[nodiscard]] std::string up_to(char bracket) const {
        const std::string_view rest = text_.substr(at_);
        return excerpt(rest.substr(0, std::min(rest.find(bracket), rest.size() - 1) + 1), 60);
    }

    void descr(npy_header& header) {
        constexpr std::string_view expected = "one number an element, such as '<f4'";
        if (peek() == '[') fail("descr is a structured type, " + up_to(']'), expected);
        if (peek() == '(') fail("descr is a subarray type, " + up_to(')'), expected);
        const npy_element element = parse_npy_descr(quoted(expected), where_);
        header.type = element.type;
        header.swapped = element.swapped;
    }

    bool boolean() {
        const std::string_view value = token();
        if (value == "True") return true;
        if (value != "False") fail("fortran_order is " + excerpt(value, 40), "True or False");
        return false;
    }

    void shape(npy_header& header) {
        const std::size_t begin = at_;
        if (!take('(')) fail("shape is " + excerpt(token(), 40), "a tuple, such as (2, 3)");
        bool comma = true; // may a length follow?
        for (space(); !take(')'); space()) {
            if (!comma) fail_here("',' or ')' in the shape");
            length(header);
            space();
            comma = take(',');
        }
        const std::string written = excerpt(text_.substr(begin, at_ - begin));
        if (header.shape.size() == 1 && !comma) fail("shape " + written + " is a number, not a tuple", "(n,)");
        if (header.shape.size() > npy_rank_limit)
            fail("shape has " + std::to_string(header.shape.size()) + " dimensions",
                 "at most " + std::to_string(npy_rank_limit));
        check_overflow(written);
    }

    void length(npy_header& header) {
        constexpr std::string_view expected = "decimal lengths from 0 to 9223372036854775807";
        const std::string_view written = token();
        std::string_view digits = written;
        if (digits.size() > 1 && digits.back() == 'L') {
            digits.remove_suffix(1);
            header.python2 = true;
        }
        std::uint64_t value = 0;
        bool good = !digits.empty();
        for (const char c : digits) {
            const auto digit = static_cast<std::uint64_t>(c - '0');
            good = good && c >= '0' && c <= '9' && value <= (std::numeric_limits<std::uint64_t>::max() - digit) / 10;
            if (!good) break;
            value = 10 * value + digit;
        }
        if (good && digits.size() > 1 && digits[0] == '0')
            fail("bad dimension '" + excerpt(written, 40) + "' in the shape (does the writer's locale group digits?)",
                 expected);
        if (!good) fail("bad dimension '" + excerpt(written, 40) + "' in the shape", expected);
        lengths_.push_back(value);
        header.shape.push_back(static_cast<std::size_t>(value));
        header.shape_digits.emplace_back(digits);
    }

    /// The product of the lengths, zeros left out as NumPy does, times the element's size must be a size in memory: a
    /// zero elsewhere must not hide a length that nobody can index.
    void check_overflow(const std::string& written) const {
        constexpr auto limit = static_cast<std::uint64_t>(std::numeric_limits<std::ptrdiff_t>::max()) / 8;
        std::uint64_t product = 1;
        for (const std::uint64_t value : lengths_) {
            if (value == 0) continue;
            if (value > limit / product)
                fail("shape " + written + " overflows: more elements than " + std::to_string(limit), "fewer");
            product *= value;
        }
    }

    std::string_view text_;
    std::string_view where_;
    std::size_t at_ = 0;
    std::vector<std::uint64_t> lengths_;
};

} // namespace npy_detail

/// Reads the dictionary. \throws file_error unless it is exactly that
[[nodiscard]] inline npy_header parse_npy_header(std::string_view text, std::string_view where) {
    return npy_detail::header_parser(text, where).parse();
}

} // namespace attest
