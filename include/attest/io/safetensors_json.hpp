// SPDX-License-Identifier: BSL-1.0
/// \file
/// The JSON of a `.safetensors` header: an object that gives each tensor its dtype, its shape and its place in the
/// data,
/// `{"q": {"dtype": "BF16", "shape": [2, 3], "data_offsets": [0, 12]}, …, "__metadata__": {"key": "text"}}`.
///
/// It is read event by event: no tree is built, and the first event that such a header does not have is refused by
/// name.
#pragma once

#include "attest/io/error.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

namespace attest {

inline constexpr std::size_t safetensors_rank_limit = 32; ///< more axes are refused

/// What the header says of one tensor.
struct safetensors_entry {
    std::string name;
    std::string type; ///< as it is written, such as "BF16"
    std::vector<std::size_t> shape;
    std::uint64_t begin = 0; ///< of its bytes, from the first byte after the header
    std::uint64_t end = 0;
};

struct safetensors_header {
    std::vector<safetensors_entry> tensors;
    std::vector<std::pair<std::string, std::string>> metadata; ///< in the order of the header
};

/// The `where` of a tensor: "FILE: tensor NAME".
[[nodiscard]] inline std::string tensor_of(std::string_view file, std::string_view tensor) {
    return std::string{file} + ": tensor " + excerpt(tensor, 200);
}

namespace safetensors_detail {

/// Lengths and element counts beyond this overflow a size in memory.
inline constexpr auto element_limit = static_cast<std::uint64_t>(std::numeric_limits<std::ptrdiff_t>::max()) / 8;

/// Receives the parser's events. Throws at the first that a header does not have; so nothing nests deeper than
/// three levels, and nothing that is not kept is ever stored.
class header_reader : public nlohmann::json_sax<nlohmann::json> {
public:
    explicit header_reader(std::string_view where) : where_(where) {}

    [[nodiscard]] safetensors_header take() { return std::move(result_); }

    bool null() override { refuse("null"); }
    bool boolean(bool value) override { refuse(value ? "true" : "false"); }
    bool number_integer(number_integer_t value) override { // only what is written with a minus
        refuse("the number " + (value == 0 ? "-0" : std::to_string(value)));
    }
    bool number_unsigned(number_unsigned_t value) override {
        if (place_ != place::list) refuse("the number " + std::to_string(value));
        if (field_ == offsets) {
            if (count_ == 2) fail("data_offsets has more than two numbers", "[begin, end]");
            (count_ == 0 ? tensor().begin : tensor().end) = value;
        } else {
            if (value > element_limit) refuse("the number " + std::to_string(value));
            if (count_ == safetensors_rank_limit)
                fail("shape has more dimensions than " + std::to_string(safetensors_rank_limit), "fewer");
            tensor().shape.push_back(static_cast<std::size_t>(value));
        }
        ++count_;
        return true;
    }
    bool number_float(number_float_t, const string_t& written) override { refuse("the number " + number(written)); }
    bool string(string_t& value) override {
        if (place_ == place::metadata) {
            result_.metadata.emplace_back(std::move(key_), std::move(value));
        } else if (place_ == place::tensor && field_ == type) {
            tensor().type = std::move(value);
        } else {
            refuse("the string '" + excerpt(value) + "'");
        }
        return true;
    }
    bool binary(binary_t&) override { refuse("binary"); }
    bool start_array(std::size_t) override {
        if (place_ != place::tensor || field_ == type) refuse("an array");
        place_ = place::list;
        count_ = 0;
        return true;
    }
    bool end_array() override {
        if (field_ == offsets && count_ != 2)
            fail("data_offsets has " + std::to_string(count_) + " numbers", "[begin, end]");
        place_ = place::tensor;
        return true;
    }
    bool start_object(std::size_t) override {
        if (place_ == place::outside) {
            place_ = place::root;
        } else if (place_ != place::root) {
            refuse("an object");
        } else if (key_ == "__metadata__") {
            place_ = place::metadata;
        } else {
            place_ = place::tensor;
            seen_ = {};
            result_.tensors.emplace_back().name = std::move(key_);
        }
        return true;
    }
    bool end_object() override {
        if (place_ == place::root) return true;
        for (std::size_t i = 0; place_ == place::tensor && i < fields.size(); ++i)
            if (!seen_[i]) fail("lacks the key '" + std::string{fields[i]} + "'", "dtype, shape and data_offsets");
        place_ = place::root;
        return true;
    }
    bool key(string_t& name) override {
        if (place_ == place::tensor) {
            const auto found = std::find(fields.begin(), fields.end(), name);
            if (found == fields.end())
                fail("has the extra key '" + excerpt(name) + "'", "dtype, shape and data_offsets alone");
            field_ = static_cast<field>(found - fields.begin());
            if (seen_[field_]) fail("has the key '" + name + "' twice", "each key once");
            seen_[field_] = true;
        } else if (place_ == place::metadata) {
            if (!keys_.insert(name).second)
                throw file_error(where_, "__metadata__ has the key '" + excerpt(name) + "' twice", "each key once");
        } else if (!names_.insert(name).second) {
            if (name == "__metadata__") throw file_error(where_, "__metadata__ is there twice", "once at most");
            throw file_error(tensor_of(where_, name), "is there twice", "each name once");
        } else if (printable(name) != name) { // whoever prints a name may print it as it is
            throw file_error(tensor_of(where_, name), "unsafe name: it has a control character", "a plain name");
        }
        key_ = std::move(name);
        return true;
    }
    bool parse_error(std::size_t position, const std::string& token, const nlohmann::json::exception& error) override {
        constexpr int number_overflow = 406;
        if (error.id == number_overflow) refuse("the number " + number(token));
        std::string_view text = error.what(); // "[json.exception.parse_error.101] parse error at …"
        if (const std::size_t prefix = text.find("] "); prefix != std::string_view::npos)
            text.remove_prefix(prefix + 2);
        fail("the header is not JSON at its byte " + std::to_string(position) + ": " + excerpt(text, 200), {});
    }

private:
    enum class place { outside, root, metadata, tensor, list };
    enum field : unsigned char { type, dimensions, offsets };
    static constexpr std::array<std::string_view, 3> fields = {"dtype", "shape", "data_offsets"};

    [[nodiscard]] safetensors_entry& tensor() { return result_.tensors.back(); }

    /// A number as it is written; the library puts the locale's decimal point there.
    [[nodiscard]] static std::string number(std::string_view written) {
        std::string text = excerpt(written, 40);
        if (const std::size_t foreign = text.find_first_not_of("+-0123456789eE…"); foreign != std::string::npos)
            text[foreign] = '.';
        return text;
    }

    [[noreturn]] void fail(std::string_view problem, std::string_view expected) const {
        const bool inside = place_ == place::tensor || place_ == place::list;
        throw file_error(inside ? tensor_of(where_, result_.tensors.back().name) : where_, problem, expected);
    }

    /// Refuses a value, saying where it stands.
    [[noreturn]] void refuse(const std::string& what) const {
        switch (place_) {
        case place::outside: fail("the header is " + what, "an object");
        case place::root:
            if (key_ == "__metadata__") fail("__metadata__ is " + what, "an object of texts");
            throw file_error(tensor_of(where_, key_), "is " + what, "an object of dtype, shape and data_offsets");
        case place::metadata: fail("__metadata__ '" + excerpt(key_) + "' is " + what, "a text");
        case place::list:
            fail(std::string{fields[field_]} + "[" + std::to_string(count_) + "] is " + what,
                 "an integer from 0 to " +
                     std::to_string(field_ == offsets ? std::numeric_limits<std::uint64_t>::max() : element_limit));
        case place::tensor: break;
        }
        constexpr std::array<std::string_view, 3> expected = {"a text such as \"BF16\"", "an array such as [2, 3]",
                                                              "an array, [begin, end]"};
        fail(std::string{fields[field_]} + " is " + what, expected[field_]);
    }

    std::string where_;
    safetensors_header result_;
    place place_ = place::outside;
    std::string key_;
    field field_ = type;
    std::array<bool, 3> seen_ = {};
    std::size_t count_ = 0;       ///< numbers of the list so far
    std::set<std::string> names_; ///< keys of the root
    std::set<std::string> keys_;  ///< keys of __metadata__
};

} // namespace safetensors_detail

/// Reads the JSON. Only its form is checked: the names and numbers may still contradict each other, and the file.
/// \throws file_error unless it is UTF-8 that begins with `{`, of which every key is there once and holds what it must
[[nodiscard]] inline safetensors_header parse_safetensors_json(std::string_view text, std::string_view where) {
    if (text.empty()) throw file_error(where, "the header is empty", "{…}");
    if (text[0] != '{') // the format demands it; and the library would pass over a byte order mark
        throw file_error(where, "the header begins with '" + excerpt(text.substr(0, 20), 12) + "'", "'{'");
    for (std::size_t at = 0; at < text.size();) {
        const bool nul = text[at] == '\0'; // the library takes it for the end
        const std::size_t length = nul ? 0 : utf8_length(text.substr(at));
        if (length == 0)
            throw file_error(where,
                             "the header has " + std::string{nul ? "a NUL byte" : "no UTF-8"} + " at its byte " +
                                 std::to_string(at),
                             "JSON in UTF-8");
        at += length;
    }
    safetensors_detail::header_reader reader(where);
    if (!nlohmann::json::sax_parse(text.begin(), text.end(), &reader))
        throw file_error(where, "the header is not JSON");
    return reader.take();
}

} // namespace attest
