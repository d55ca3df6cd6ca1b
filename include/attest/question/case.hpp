// SPDX-License-Identifier: BSL-1.0
/// \file
/// From the members of a file to a question: which are inputs, which are candidates, which are nothing that the op knows.
#pragma once

#include "attest/io/archive.hpp"
#include "attest/question/conventions.hpp"
#include "attest/question/named_view.hpp"

#include <range/v3/algorithm/any_of.hpp>
#include <range/v3/algorithm/contains.hpp>
#include <range/v3/algorithm/find.hpp>
#include <range/v3/view/concat.hpp>
#include <range/v3/view/filter.hpp>
#include <range/v3/view/transform.hpp>

namespace attest {

/// What is said of a case on top of what it holds.
struct case_options {
    settings given;                                          ///< conventions; they win over the case's own
    std::vector<std::pair<std::string, std::string>> names;  ///< known name and the member that carries it
    std::vector<std::string> bf16;                           ///< members to read as bf16, or "all"
};

/// A question put together. The views look at the archive's arrays.
struct question {
    settings given;
    std::vector<named_view> inputs;
    std::vector<named_view> candidates;
    std::vector<std::string> warnings;
};

namespace detail {

// What stays of a name when case and separators are taken away.
inline std::string bare_name(std::string_view name) {
    std::string bare;
    for (const char c : name)
        if (c != '_' && c != '-' && c != '.' && c != ' ' && c != '/') bare += static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
    return bare;
}

// Optional inputs of the contract that change the result and that this version can't take yet.
inline constexpr std::string_view inputs_of_later_versions[] = {"q_lengths", "k_lengths", "sink", "alibi_slopes", "dropout_mask", "positions"};

inline bool names_tensor(std::span<const tensor_info> tensors, std::string_view name) {
    return ranges::any_of(tensors, [&](const tensor_info& t) { return t.name == name; });
}

inline std::string op_of(const settings& given) {
    std::string op;
    for (const auto& [key, value] : given)
        if (key == "op") op = value;
    return op;
}

// The ops whose required inputs are all there.
inline std::string ops_that_fit(const std::vector<std::string>& names) {
    std::string fitting;
    for (const op_info& op : ops())
        if (!ranges::any_of(op.inputs, [&](const tensor_info& t) { return !t.optional && !ranges::contains(names, t.name); }))
            fitting += (fitting.empty() ? "" : ", ") + std::string(op.name);
    return fitting.empty() ? "none has its inputs here" : fitting;
}

} // namespace detail

/// Whether elements of this type may be said to be bf16: NumPy's `V2`, `u2` and `i2`, and what is bf16 already.
[[nodiscard]] constexpr bool may_be_bf16(dtype t) noexcept {
    return t == dtype::raw16 || t == dtype::u16 || t == dtype::i16 || t == dtype::bf16;
}

/// Says which members are bf16. usage_error for a name that is not there or has another type.
inline void declare_bf16(std::vector<named_array>& arrays, const std::vector<std::string>& members) {
    for (const std::string& member : members) {
        bool found = member == "all";
        for (named_array& a : arrays) {
            if (a.name == member && !may_be_bf16(a.value.type))
                throw usage_error("--bf16 " + member + ": the member holds " + std::string(name_of(a.value.type)) + ", not V2, u16 or i16");
            // "all" leaves an integer mask an integer mask; one in bf16 is said by its name.
            const bool meant = a.name == member || (member == "all" && (a.name != "mask" || a.value.type == dtype::raw16));
            if (meant && may_be_bf16(a.value.type)) a.value.type = dtype::bf16;
            found = found || a.name == member;
        }
        if (!found) throw usage_error("--bf16 " + member + ": there is no such member");
    }
}

/// Sorts an archive's arrays by the op that the settings name. `own`: the case's own settings.
/// usage_error: no op; a name that differs from a known one only in case or separator; an input that this version can't take.
[[nodiscard]] inline question arrange(const archive& from, const settings& own, const case_options& options) {
    question q;
    q.given = own;
    q.given.insert(q.given.end(), options.given.begin(), options.given.end());
    std::vector<std::string> names;
    for (const named_array& a : from.arrays) {
        const auto renamed = ranges::find(options.names, a.name, &std::pair<std::string, std::string>::second);
        names.push_back(renamed == options.names.end() ? a.name : renamed->first);
    }
    for (const auto& [known, member] : options.names)
        if (!ranges::contains(from.arrays, member, &named_array::name)) throw usage_error("--name " + known + "=" + member + ": there is no member '" + member + "' (KNOWN=MEMBER, such as q=query_states)");
    for (auto name = options.names.begin(); name != options.names.end(); ++name)
        if (ranges::any_of(options.names.begin(), name, [&](const auto& earlier) { return earlier.first == name->first || earlier.second == name->second; }))
            throw usage_error("--name " + name->first + "=" + name->second + ": the tensor or the member is named twice");
    const std::string op_name = detail::op_of(q.given);
    if (op_name.empty()) throw usage_error("no op is given; declare --op, or \"op\" in attest.json. Ops that fit: " + detail::ops_that_fit(names));
    const op_info& op = find_op(op_name);
    for (std::size_t m = 0; m < names.size(); ++m) {
        const named_array& a = from.arrays[m];
        const std::string& name = names[m];
        if (ranges::contains(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(m), name))
            throw usage_error("two members are called '" + name + "' (by --name)");
        if (detail::names_tensor(op.inputs, name)) q.inputs.emplace_back(name, a.value.view());
        else if (detail::names_tensor(op.outputs, name)) q.candidates.emplace_back(name, a.value.view());
        else {
            if (ranges::any_of(detail::inputs_of_later_versions, [&](std::string_view later) { return detail::bare_name(later) == detail::bare_name(name); }))
                throw usage_error("member '" + name + "' changes what is right, and this version does not know it yet");
            for (const tensor_info& known : ranges::views::concat(op.inputs, op.outputs))
                if (detail::bare_name(known.name) == detail::bare_name(name))
                    throw usage_error("member '" + name + "' differs from '" + std::string(known.name) + "' only in case or separator; say --name " +
                                      std::string(known.name) + "=" + a.name + " if that is what it is");
            const bool like_mask = name.find("mask") != std::string::npos || name.find("bias") != std::string::npos;
            q.warnings.push_back("member '" + a.name + "' is nothing that " + op_name + " knows; it is not used" +
                                 (like_mask && detail::names_tensor(op.inputs, "mask") ? " (if it is the mask: --name mask=" + a.name + ")" : ""));
        }
    }
    return q;
}

} // namespace attest
