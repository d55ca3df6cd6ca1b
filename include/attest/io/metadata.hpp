// SPDX-License-Identifier: BSL-1.0
/// \file
/// Settings as a case carries them: one flat JSON object, such as `{"op": "attention", "eps": 1e-5, "causal":
/// "top-left"}`.
///
/// Values come out as text. A number keeps the text it is written with, so that 1e-5 is exactly ten to the minus five
/// to whoever reads it, and not the nearest double.
#pragma once

#include "attest/io/error.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

namespace attest {

/// Keys and values, in the order of the text.
using settings = std::vector<std::pair<std::string, std::string>>;

namespace metadata_detail {

/// Receives the parser's events, and stops at the first that a flat object does not have.
class reader : public nlohmann::json_sax<nlohmann::json> {
public:
    explicit reader(std::string_view where) : where_(where) {}

    [[nodiscard]] settings take() { return std::move(result_); }

    bool null() override { refuse("null"); }
    bool boolean(bool value) override { return put(value ? "true" : "false", "a boolean"); }
    bool number_integer(number_integer_t value) override { return put(std::to_string(value), "a number"); }
    bool number_unsigned(number_unsigned_t value) override { return put(std::to_string(value), "a number"); }
    bool number_float(number_float_t, const string_t& written) override {
        std::string text = written;
        // The library puts the locale's decimal point there.
        const auto foreign = [](char c) {
            return std::string_view{"+-0123456789eE"}.find(c) == std::string_view::npos;
        };
        std::replace_if(text.begin(), text.end(), foreign, '.');
        return put(std::move(text), "a number");
    }
    bool string(string_t& value) override { return put(std::move(value), "a string"); }
    bool binary(binary_t&) override { refuse("binary"); }
    bool start_array(std::size_t) override { refuse("an array"); }
    bool end_array() override { return true; }
    bool start_object(std::size_t) override {
        if (inside_) refuse("an object");
        inside_ = true;
        return true;
    }
    bool end_object() override { return true; }
    bool key(string_t& name) override {
        const auto same = [&name](const auto& entry) { return entry.first == name; };
        if (std::any_of(result_.begin(), result_.end(), same))
            throw file_error(where_, "key '" + excerpt(name) + "' is there twice", "each key once");
        key_ = std::move(name);
        return true;
    }
    bool parse_error(std::size_t position, const std::string&, const nlohmann::json::exception& error) override {
        std::string_view text = error.what(); // "[json.exception.parse_error.101] parse error at …"
        if (const std::size_t prefix = text.find("] "); prefix != std::string_view::npos)
            text.remove_prefix(prefix + 2);
        const std::string after = key_.empty() ? "" : " (the last key is '" + excerpt(key_) + "')";
        throw file_error(where_, "not JSON at byte " + std::to_string(position) + after + ": " + excerpt(text, 200));
    }

private:
    [[noreturn]] void refuse(std::string_view what) const {
        if (!inside_) throw file_error(where_, "the root is " + std::string{what}, "an object, {\"key\": value, …}");
        throw file_error(where_, "key '" + excerpt(key_) + "' holds " + std::string{what},
                         "a string, a number or a boolean");
    }

    bool put(std::string value, std::string_view what) {
        if (!inside_) refuse(what);
        result_.emplace_back(key_, std::move(value));
        return true;
    }

    std::string where_;
    settings result_;
    std::string key_;
    bool inside_ = false;
};

} // namespace metadata_detail

/// Reads one flat JSON object. Strings, numbers and booleans become text: a number the text it is written with (an
/// integer that fits into 64 bits its digits), a boolean "true" or "false".
/// \param where  what errors call it
/// \throws file_error naming the key: for any other value, a key that is there twice, a root that is no object, text
/// after it, and
///         whatever is not JSON in UTF-8
[[nodiscard]] inline settings parse_settings(std::string_view text, std::string_view where) {
    if (const std::size_t nul = text.find('\0'); nul != std::string_view::npos) // the library takes it for the end
        throw file_error(where, "not JSON at byte " + std::to_string(nul + 1) + ": a NUL byte");
    metadata_detail::reader reader(where);
    if (!nlohmann::json::sax_parse(text.begin(), text.end(), &reader)) throw file_error(where, "not JSON");
    return reader.take();
}

/// The inverse: a flat JSON object whose values are all strings, one line, in the order given. `parse_settings` gives
/// back the same.
/// \throws file_error if a key is there twice, or a text is not UTF-8
[[nodiscard]] inline std::string settings_text(const settings& values, std::string_view where = "settings") {
    std::string text = "{";
    for (auto i = values.begin(); i != values.end(); ++i) {
        const auto& [key, value] = *i;
        const std::string_view name = key;
        if (std::any_of(values.begin(), i, [name](const auto& entry) { return entry.first == name; }))
            throw file_error(where, "key '" + excerpt(key) + "' is there twice", "each key once");
        if (!is_utf8(key) || !is_utf8(value))
            throw file_error(where, "key '" + excerpt(key) + "' or its value is not UTF-8", "UTF-8");
        if (i != values.begin()) text += ", ";
        text += nlohmann::json(key).dump() + ": " + nlohmann::json(value).dump();
    }
    return text + "}";
}

} // namespace attest
