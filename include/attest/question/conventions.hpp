// SPDX-License-Identifier: BSL-1.0
/// \file
/// Conventions: what must be declared before a verdict, since half of all "bugs" are two conventions.
///
/// Keys and values are the same on the command line and in a case's `attest.json`.
#pragma once

#include "attest/question/conventions_table.hpp"
#include "attest/question/conventions_values.hpp"
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

// In the order of the table's values.
enum class causal_alignment { none, top_left, bottom_right };
enum class score_kind { scaled, dot, bilinear, additive };
enum class position_kind { none, rope, alibi };
enum class gelu_kind { by_erf, by_tanh, by_sigmoid };
enum class tensor_layout { bhnd, bnhd, nbd };

/// The conventions in force for one question. Numbers are texts as written, checked to be numbers in range.
struct conventions {
    std::string op;
    causal_alignment causal = causal_alignment::none;
    std::optional<window_size> window; ///< nothing: no window
    score_kind score = score_kind::scaled;
    std::optional<std::string> scale;   ///< nothing: 1/sqrt(d_k), or 1 where the score is not scaled
    std::optional<std::string> softcap; ///< nothing: none
    bool mask_keeps = true;
    bool mask_polarity_declared = false;
    bool empty_row_is_nan = false;        ///< else zero
    std::optional<std::string> dropout_p; ///< nothing: 0
    position_kind position = position_kind::none;
    bool rope_half = false;               ///< else interleaved
    std::optional<std::string> rope_base; ///< nothing: 10000
    std::optional<std::size_t> rope_dim;  ///< nothing: all components
    std::size_t position_offset = 0;
    std::optional<std::size_t> heads;    ///< there where it is needed
    std::optional<std::size_t> kv_heads; ///< nothing: as many as heads
    bool weights_mean = false;           ///< else per head
    bool weight_out_in = false;          ///< else in_out; names=torch implies it
    bool names_torch = false;
    tensor_layout layout = tensor_layout::bhnd;
    bool norm_pre = false;          ///< else post
    std::optional<std::string> eps; ///< nothing: 1e-5
    bool eps_in_std = false;        ///< else added to the variance
    bool variance_unbiased = false;
    bool activation_gelu = false; ///< else ReLU
    gelu_kind gelu = gelu_kind::by_erf;
    int axis = -1;
    std::optional<std::size_t> length;     ///< there where it is needed
    std::optional<std::size_t> d_model;    ///< there where it is needed
    std::optional<std::string> arithmetic; ///< nothing: undeclared; suffixes in the order /truncate/ftz
    std::optional<std::string> false_alarm_text; ///< nothing: 1e-9
    double false_alarm = 1e-9;
    std::size_t precision = 2048; ///< bits

    [[nodiscard]] bool dot_score() const noexcept { return score == score_kind::dot; }
};

namespace detail {

// Conventions whose values are numbers or counts; false for the others. The default, spelled as in the table, is nothing.
inline bool set_number(conventions& c, const convention_info& info, std::string_view value) {
    const std::string_view key = info.key;
    const auto text = [&](std::optional<std::string>& into, void (*check)(std::string_view, std::string_view)) {
        into.reset();
        if (value == info.values.front()) return true;
        check(key, value);
        into = std::string(value);
        return true;
    };
    const auto count = [&](std::optional<std::size_t>& into, std::size_t least) {
        into.reset();
        if (value != info.values.front()) into = parse_count(key, value, least);
        return true;
    };
    if (key == "scale") return text(c.scale, check_number);
    if (key == "softcap") return text(c.softcap, check_positive);
    if (key == "dropout-p") return text(c.dropout_p, check_probability);
    if (key == "rope-base") return text(c.rope_base, check_positive);
    if (key == "eps") return text(c.eps, check_not_negative);
    if (key == "rope-dim") return count(c.rope_dim, 2);
    if (key == "heads") return count(c.heads, 1);
    if (key == "kv-heads") return count(c.kv_heads, 1);
    if (key == "length") return count(c.length, 1);
    if (key == "d-model") return count(c.d_model, 1);
    if (key == "position-offset") c.position_offset = parse_count(key, value, 0);
    else if (key == "precision") c.precision = parse_precision(value);
    else if (key == "false-alarm") {
        text(c.false_alarm_text, check_false_alarm);
        c.false_alarm = double_from(key, value);
    } else if (key == "axis") c.axis = parse_axis(value);
    else if (key == "window") c.window = value == info.values.front() ? std::nullopt : std::optional(parse_window(value));
    else return false;
    return true;
}

// The value of a convention, as it would be written.
inline std::string text_of(const conventions& c, const convention_info& info) {
    const std::string_view key = info.key;
    const std::string standard(info.values.front());
    const auto value = [&](auto index) { return std::string(info.values.at(static_cast<std::size_t>(index))); };
    const auto count = [&](const std::optional<std::size_t>& number) { return number ? std::to_string(*number) : standard; };
    if (key == "causal") return value(c.causal);
    if (key == "window") return c.window ? window_text(*c.window) : standard;
    if (key == "score") return value(c.score);
    if (key == "scale") return c.score == score_kind::scaled ? c.scale.value_or(standard) : "1";
    if (key == "softcap") return c.softcap.value_or(standard);
    if (key == "mask-polarity") return value(!c.mask_keeps);
    if (key == "empty-row") return value(c.empty_row_is_nan);
    if (key == "dropout-p") return c.dropout_p.value_or(standard);
    if (key == "position") return value(c.position);
    if (key == "rope-pairing") return value(c.rope_half);
    if (key == "rope-base") return c.rope_base.value_or(standard);
    if (key == "rope-dim") return count(c.rope_dim);
    if (key == "position-offset") return std::to_string(c.position_offset);
    if (key == "heads") return count(c.heads);
    if (key == "kv-heads") return count(c.kv_heads);
    if (key == "weights") return value(c.weights_mean);
    if (key == "weight-layout") return value(c.weight_out_in);
    if (key == "names") return value(c.names_torch);
    if (key == "layout") return value(c.layout);
    if (key == "norm") return value(c.norm_pre);
    if (key == "eps") return c.eps.value_or(standard);
    if (key == "eps-placement") return value(c.eps_in_std);
    if (key == "variance") return value(c.variance_unbiased);
    if (key == "activation") return value(c.activation_gelu);
    if (key == "gelu") return value(c.gelu);
    if (key == "axis") return std::to_string(c.axis);
    if (key == "length") return count(c.length);
    if (key == "d-model") return count(c.d_model);
    if (key == "false-alarm") return c.false_alarm_text.value_or(standard);
    if (key == "precision") return std::to_string(c.precision);
    return c.arithmetic.value_or(standard);
}

} // namespace detail

/// Sets one convention from its text; usage_error names the key, the value and what would be right.
inline void set_convention(conventions& c, std::string_view key, std::string_view value) {
    if (key == "op") {
        c.op = find_op(value).name;
        return;
    }
    const convention_info& info = detail::find_convention(key);
    if (detail::set_number(c, info, value)) return;
    if (key == "arithmetic") {
        const std::string name = detail::canonical_arithmetic(info, value);
        c.arithmetic = name == info.values.front() ? std::nullopt : std::optional(name);
        return;
    }
    const std::size_t index = detail::value_index(info, value);
    const bool second = index == 1;
    if (key == "causal") c.causal = static_cast<causal_alignment>(index);
    if (key == "score") c.score = static_cast<score_kind>(index);
    if (key == "position") c.position = static_cast<position_kind>(index);
    if (key == "gelu") c.gelu = static_cast<gelu_kind>(index);
    if (key == "layout") c.layout = static_cast<tensor_layout>(index);
    if (key == "mask-polarity") {
        c.mask_keeps = !second;
        c.mask_polarity_declared = true;
    }
    if (key == "empty-row") c.empty_row_is_nan = second;
    if (key == "rope-pairing") c.rope_half = second;
    if (key == "weights") c.weights_mean = second;
    if (key == "weight-layout") c.weight_out_in = second;
    if (key == "names") c.names_torch = second;
    if (key == "norm") c.norm_pre = second;
    if (key == "eps-placement") c.eps_in_std = second;
    if (key == "variance") c.variance_unbiased = second;
    if (key == "activation") c.activation_gelu = second;
}

namespace detail {

// A convention that means nothing unless another has a certain value.
struct condition {
    std::string_view key, other, value;
};
inline constexpr condition conditions[] = {{"rope-pairing", "position", "rope"},
                                           {"rope-base", "position", "rope"},
                                           {"rope-dim", "position", "rope"},
                                           {"position-offset", "position", "rope"},
                                           {"gelu", "activation", "gelu"}};

// The condition that the op has and that is not met, or nothing.
inline const condition* unmet(const conventions& c, std::string_view key) {
    for (const condition& needed : conditions)
        if (needed.key == key)
            if (const convention_info& other = find_convention(needed.other); concerns(other, c.op) && text_of(c, other) != needed.value) return &needed;
    return nullptr;
}

inline void refuse_conflicts(const conventions& c, const settings& given) {
    for (const auto& [key, value] : given) {
        if (key == "op" || c.op.empty()) continue;
        const convention_info& info = find_convention(key);
        if (!concerns(info, c.op)) throw usage_error("'" + key + "' is a convention of " + std::string(info.ops) + ", not of " + c.op);
        if (const condition* needed = unmet(c, key))
            throw usage_error(key + "=" + value + " means nothing with " + std::string(needed->other) + "=" + text_of(c, find_convention(needed->other)) + "; remove it, or declare " +
                              std::string(needed->other) + "=" + std::string(needed->value));
    }
    const auto last = [&](std::string_view key) {
        std::string_view text;
        for (const auto& [k, value] : given)
            if (k == key) text = value;
        return text;
    };
    const std::string score = text_of(c, find_convention("score"));
    if (c.score != score_kind::scaled && !last("scale").empty() && last("scale") != "1")
        throw usage_error("score=" + score + " is not scaled, but scale=" + std::string(last("scale")) + " is given; use score=scaled");
    if ((c.score == score_kind::bilinear || c.score == score_kind::additive) && concerns(find_convention("heads"), c.op))
        throw usage_error("score=" + score + " has weights of its own, which " + c.op + " does not take; use score=scaled or dot, or op attention");
    if (c.names_torch && last("weight-layout") == "in_out")
        throw usage_error("names=torch implies weight-layout=out_in, but weight-layout=in_out is given; rename the members (--name) if they are PyTorch's transposed");
    if (c.rope_dim && *c.rope_dim % 2 != 0) throw usage_error("rope-dim=" + std::to_string(*c.rope_dim) + " is odd, but components rotate in pairs");
    if (c.heads && c.kv_heads && *c.heads % *c.kv_heads != 0)
        throw usage_error("kv-heads=" + std::to_string(*c.kv_heads) + " does not divide heads=" + std::to_string(*c.heads));
}

inline void require_counts(const conventions& c) {
    if (c.op.empty()) return;
    if (concerns(find_convention("heads"), c.op) && !c.heads)
        throw usage_error(c.op + " needs heads=H: the columns of w_q are those of all heads side by side, [d_model, H*d_k], and their number does not tell H");
    for (const std::string_view key : {"length", "d-model"})
        if (concerns(find_convention(key), c.op) && !(key == "length" ? c.length : c.d_model))
            throw usage_error(c.op + " needs length=N and d-model=D: no input tells the shape of its table [N, D]");
}

} // namespace detail

/// Conventions from settings; later ones win. usage_error for what is unknown, for conventions that do not go together, and for counts that are needed and
/// not given.
[[nodiscard]] inline conventions read_conventions(const settings& given) {
    conventions c;
    for (const auto& [key, value] : given) set_convention(c, key, value);
    detail::refuse_conflicts(c, given);
    detail::require_counts(c);
    c.weight_out_in = c.weight_out_in || c.names_torch;
    return c;
}

/// All conventions in force for the op, as they would be written. What means nothing beside the others (RoPE's base without RoPE) is not in force.
[[nodiscard]] inline settings conventions_in_force(const conventions& c) {
    settings all;
    for (const convention_info& info : convention_table())
        if (concerns(info, c.op) && detail::unmet(c, info.key) == nullptr) all.emplace_back(info.key, detail::text_of(c, info));
    return all;
}

} // namespace attest
