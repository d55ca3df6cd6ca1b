// SPDX-License-Identifier: BSL-1.0
/// \file
/// The ops that can be asked about: their inputs, and the outputs that may be checked, in the order of computation.
#pragma once

#include "attest/question/nearest.hpp"
#include "attest/question/op_table.hpp"
#include "attest/question/usage_error.hpp"

#include <optional>

namespace attest {

/// All ops. What the views look at stays as long as the program runs.
[[nodiscard]] inline std::span<const op_info> ops() {
    static const detail::op_table table;
    return table.all();
}

/// The op of that name; usage_error naming all ops if there is none.
[[nodiscard]] inline const op_info& find_op(std::string_view name) {
    std::vector<std::string_view> names;
    for (const op_info& op : ops()) {
        if (op.name == name) return op;
        names.push_back(op.name);
    }
    throw usage_error("there is no op '" + std::string(name) + "'" + detail::did_you_mean(name, names) + "; there are " + detail::listed(names));
}

namespace detail {

// Whether text is an index as it is written in names: decimal digits, no needless zero in front.
inline bool is_index(std::string_view text) {
    return !text.empty() && text.size() <= 6 && text.find_first_not_of("0123456789") == std::string_view::npos && (text == "0" || text.front() != '0');
}

} // namespace detail

/// Whether a name is of a pattern: equal, but for a part `N` of the pattern, which stands for any index ("layers.N.ffn.w_1" and "layers.11.ffn.w_1").
[[nodiscard]] inline bool matches(std::string_view pattern, std::string_view name) {
    for (;;) {
        const std::size_t pattern_end = pattern.find('.'), name_end = name.find('.');
        const std::string_view wanted = pattern.substr(0, pattern_end), part = name.substr(0, name_end);
        if (wanted == "N" ? !detail::is_index(part) : wanted != part) return false;
        if (pattern_end == std::string_view::npos || name_end == std::string_view::npos) return pattern_end == name_end;
        pattern.remove_prefix(pattern_end + 1);
        name.remove_prefix(name_end + 1);
    }
}

/// The layer that a name of a stack belongs to: 11 for "layers.11.ffn.w_1"; nothing for other names.
[[nodiscard]] inline std::optional<std::size_t> layer_of(std::string_view name) {
    if (name.substr(0, 7) != "layers.") return std::nullopt;
    const std::string_view index = name.substr(7, name.find('.', 7) - 7);
    if (!detail::is_index(index) || 7 + index.size() == name.size()) return std::nullopt;
    return static_cast<std::size_t>(std::stoul(std::string(index)));
}

/// The first of the tensors whose pattern the name is of, or nothing.
[[nodiscard]] inline const tensor_info* find_tensor(std::span<const tensor_info> among, std::string_view name) {
    for (const tensor_info& t : among)
        if (matches(t.name, name)) return &t;
    return nullptr;
}

/// Whether the op takes a tensor of that name.
[[nodiscard]] inline bool is_input(const op_info& op, std::string_view name) { return find_tensor(op.inputs, name) != nullptr; }

/// Whether the op gives a tensor of that name.
[[nodiscard]] inline bool is_output(const op_info& op, std::string_view name) { return find_tensor(op.outputs, name) != nullptr; }

/// The name of the gradient of a tensor: a d before the last part, "dx" of "x", "self_attn.dw_q" of "self_attn.w_q".
[[nodiscard]] inline std::string gradient_name(std::string_view name) {
    const std::size_t last = name.rfind('.');
    const std::size_t at = last == std::string_view::npos ? 0 : last + 1;
    return std::string(name.substr(0, at)) + "d" + std::string(name.substr(at));
}

} // namespace attest
