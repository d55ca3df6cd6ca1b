// SPDX-License-Identifier: BSL-1.0
/// \file
/// Conventions: what must be declared before a verdict, since half of all "bugs" are two conventions.
///
/// Keys and values are the same on the command line and in a case's `attest.json`.
#pragma once

#include "attest/question/number.hpp"
#include "attest/question/op.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace attest {

/// Settings as they are written: key and value.
using settings = std::vector<std::pair<std::string, std::string>>;

enum class causal_alignment { none, top_left, bottom_right };
enum class tensor_layout { bhnd, bnhd, nbd };

/// One convention: its key, its values (default first, or a word for the kind of value), and the ops that it concerns.
struct convention_info {
    std::string_view key;
    std::vector<std::string_view> values;
    std::string_view ops;
    std::string_view summary;
};

/// The conventions of this version.
[[nodiscard]] inline const std::vector<convention_info>& convention_table() {
    static const std::vector<convention_info> table = {
        {"causal", {"none", "top-left", "bottom-right"}, "attention", "query i sees keys j <= i, or j <= i + n_k - n_q"},
        {"scale", {"1/sqrt(d_k)", "NUMBER"}, "attention", "what q.k is multiplied by"},
        {"score", {"scaled", "dot"}, "attention", "dot is scaled with scale 1"},
        {"mask-polarity", {"keep", "drop"}, "attention", "what true (or 1) in a boolean mask means: may be seen, or may not"},
        {"empty-row", {"zero", "nan"}, "attention", "the output of a row that sees no key"},
        {"layout", {"bhnd", "bnhd", "nbd"}, "attention", "order of batch, head and sequence in q, k, v and out"},
        {"axis", {"-1", "INTEGER"}, "softmax", "the axis that softmax runs along"},
        {"arithmetic",
         {"undeclared", "f64", "f32", "tf32", "bf16+f32", "f16+f32", "bf16", "f16"},
         "softmax attention",
         "what the candidate computed in"}};
    return table;
}

/// The conventions in force for one question.
struct conventions {
    std::string op;
    causal_alignment causal = causal_alignment::none;
    std::optional<std::string> scale; ///< as written; nothing: 1/sqrt(d_k)
    bool dot_score = false;
    bool mask_keeps = true;
    bool mask_polarity_declared = false;
    bool empty_row_is_nan = false; ///< else zero
    tensor_layout layout = tensor_layout::bhnd;
    int axis = -1;
    std::optional<std::string> arithmetic; ///< nothing: undeclared
};

namespace detail {

inline std::string listed(const std::vector<std::string_view>& values) {
    std::string text;
    for (const std::string_view value : values) text += (text.empty() ? "" : ", ") + std::string(value);
    return text;
}

// Keys of the contract that later versions bring; saying so beats ignoring them.
inline constexpr std::string_view keys_of_later_versions[] = {
    "window",  "position",     "rope-dim",  "dropout-p",       "softcap", "heads", "kv-heads",      "weight-layout", "weights",
    "names",   "rope-pairing", "rope-base", "position-offset", "norm",    "eps",   "eps-placement", "variance",      "activation",
    "gelu",    "length",       "d-model",   "false-alarm",     "precision"};

inline const convention_info& find_convention(std::string_view key) {
    for (const convention_info& info : convention_table())
        if (info.key == key) return info;
    for (const std::string_view later : keys_of_later_versions)
        if (later == key) throw usage_error("the convention '" + std::string(key) + "' is not in this version yet; remove it, or wait");
    std::vector<std::string_view> known;
    for (const convention_info& info : convention_table()) known.push_back(info.key);
    throw usage_error("there is no convention '" + std::string(key) + "'; there are op, " + listed(known));
}

inline std::size_t value_index(const convention_info& info, std::string_view value) {
    const auto found = std::find(info.values.begin(), info.values.end(), value);
    if (found == info.values.end())
        throw usage_error("the convention '" + std::string(info.key) + "' has no value '" + std::string(value) + "'; it has " +
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

} // namespace detail

/// Sets one convention from its text; usage_error names the key, the value and what would be right.
inline void set_convention(conventions& c, std::string_view key, std::string_view value) {
    if (key == "op") {
        c.op = find_op(value).name;
        return;
    }
    const convention_info& info = detail::find_convention(key);
    if (key == "scale") {
        c.scale.reset();
        if (value != info.values.front()) {
            check_number("scale", value);
            c.scale = std::string(value);
        }
    } else if (key == "axis") {
        c.axis = detail::parse_axis(value);
    } else {
        const std::size_t index = detail::value_index(info, value);
        if (key == "causal") c.causal = static_cast<causal_alignment>(index);
        if (key == "score") c.dot_score = index == 1;
        if (key == "mask-polarity") {
            c.mask_keeps = index == 0;
            c.mask_polarity_declared = true;
        }
        if (key == "empty-row") c.empty_row_is_nan = index == 1;
        if (key == "layout") c.layout = static_cast<tensor_layout>(index);
        if (key == "arithmetic") {
            c.arithmetic.reset();
            if (index != 0) c.arithmetic = std::string(value);
        }
    }
}

/// Conventions from settings; later ones win. usage_error for what is unknown, and for conventions that do not go together.
[[nodiscard]] inline conventions read_conventions(const settings& given) {
    conventions c;
    for (const auto& [key, value] : given) set_convention(c, key, value);
    for (const auto& [key, value] : given)
        if (key != "op" && !c.op.empty() && detail::find_convention(key).ops.find(c.op) == std::string_view::npos)
            throw usage_error("'" + key + "' is a convention of " + std::string(detail::find_convention(key).ops) + ", not of " + c.op);
    if (c.dot_score && c.scale && *c.scale != "1")
        throw usage_error("score=dot is not scaled, but scale=" + *c.scale + " is given; use score=scaled");
    return c;
}

/// All conventions in force for the op, as they would be written.
[[nodiscard]] inline settings conventions_in_force(const conventions& c) {
    settings all;
    for (const convention_info& info : convention_table()) {
        if (info.ops.find(c.op) == std::string_view::npos) continue;
        const auto value = [&](auto index) { return std::string(info.values.at(static_cast<std::size_t>(index))); };
        std::string text;
        if (info.key == "causal") text = value(c.causal);
        else if (info.key == "scale") text = c.dot_score ? "1" : c.scale.value_or(value(0));
        else if (info.key == "score") text = value(c.dot_score ? 1 : 0);
        else if (info.key == "mask-polarity") text = value(c.mask_keeps ? 0 : 1);
        else if (info.key == "empty-row") text = value(c.empty_row_is_nan ? 1 : 0);
        else if (info.key == "layout") text = value(c.layout);
        else if (info.key == "axis") text = std::to_string(c.axis);
        else text = c.arithmetic.value_or(value(0));
        all.emplace_back(info.key, text);
    }
    return all;
}

} // namespace attest
