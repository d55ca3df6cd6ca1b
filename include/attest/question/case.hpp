// SPDX-License-Identifier: BSL-1.0
/// \file
/// From the members of a file to a question: which are inputs, which are candidates, which are nothing that the op knows.
#pragma once

#include "attest/io/archive.hpp"
#include "attest/question/conventions.hpp"
#include "attest/question/named_view.hpp"
#include "attest/question/torch_names.hpp"

#include <range/v3/algorithm/all_of.hpp>
#include <range/v3/algorithm/any_of.hpp>
#include <range/v3/algorithm/contains.hpp>
#include <range/v3/algorithm/count_if.hpp>
#include <range/v3/algorithm/find.hpp>
#include <range/v3/algorithm/find_if.hpp>
#include <range/v3/view/concat.hpp>

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

inline bool knows(const op_info& op, std::string_view name) { return is_input(op, name) || is_output(op, name); }

inline std::string last_of(const settings& given, std::string_view key) {
    std::string last;
    for (const auto& [k, value] : given)
        if (k == key) last = value;
    return last;
}

// The case's own settings without those that mean nothing beside what wins over them.
inline settings without_overruled(settings own, const settings& given) {
    std::erase_if(own, [&](const auto& setting) {
        const auto overrules = [&](const condition& c) {
            const std::string other = last_of(given, c.other);
            return setting.first == c.key && !other.empty() && other != c.value;
        };
        return ranges::any_of(conditions, overrules) || overrules({"scale", "score", "scaled"});
    });
    return own;
}

// The ops whose required inputs are all there; of these the ones that know the most of the members.
inline std::string ops_that_fit(const std::vector<std::string>& members, bool torch) {
    std::vector<std::string_view> fitting;
    std::ptrdiff_t most = 1;
    for (const op_info& op : ops()) {
        std::vector<std::string> names;
        for (const std::string& member : members) {
            const std::vector<std::string> tensors = torch ? tensors_of_torch_name(op, member) : std::vector<std::string>{};
            if (tensors.empty()) names.push_back(member);
            names.insert(names.end(), tensors.begin(), tensors.end());
        }
        const auto there = [&](const tensor_info& t) { return t.optional || ranges::any_of(names, [&](const std::string& name) { return matches(t.name, name); }); };
        const std::ptrdiff_t known = ranges::count_if(names, [&](const std::string& name) { return knows(op, name); });
        if (known < most || !ranges::all_of(op.inputs, there)) continue;
        if (known > most) fitting.clear();
        most = known;
        fitting.push_back(op.name);
    }
    return fitting.empty() ? "none has its inputs here" : listed(fitting);
}

// A tensor that a member carries under its name: the member's own, or the one that --name or names=torch gives it.
struct carried {
    std::string name;
    std::string member;
    array_view value;
};

// The known name that differs from this one only in case or separator, or nothing.
inline std::string near_miss(const op_info& op, const std::string& name) {
    std::string bare = bare_name(name), index;
    if (bare.substr(0, 6) == "layers") index = bare.substr(6, bare.find_first_not_of("0123456789", 6) - 6);
    if (is_index(index)) bare.replace(6, index.size(), "n");
    for (const tensor_info& known : ranges::views::concat(op.inputs, op.outputs))
        if (bare_name(known.name) == bare) {
            std::string meant(known.name);
            if (meant.substr(0, 9) == "layers.N.") meant.replace(7, 1, index);
            return meant;
        }
    return {};
}

// Refuses a name that the op does not know, if it seems to be an input or a candidate all the same: to leave it out would change what is checked.
inline void refuse_likely_mistake(const op_info& op, const carried& unknown, const std::vector<carried>& all, bool torch) {
    const std::string& name = unknown.name;
    if (const std::string known = near_miss(op, name); !known.empty())
        throw usage_error("member '" + name + "' differs from '" + known + "' only in case or separator; say --name " + known + "=" + unknown.member + " if that is what it is");
    const auto missing = [&](const std::vector<std::string>& tensors) {
        return !tensors.empty() && !ranges::any_of(tensors, [&](const std::string& tensor) { return ranges::contains(all, tensor, &carried::name); });
    };
    const auto as_list = [](const std::vector<std::string>& tensors) { return listed({tensors.begin(), tensors.end()}); };
    if (!torch)
        if (const auto tensors = tensors_of_torch_name(op, name); missing(tensors))
            throw usage_error("member '" + name + "' is what PyTorch calls " + as_list(tensors) + "; declare names=torch, or rename it (--name)");
    if (name.size() > 200) return; // a hostile one
    for (std::size_t dot = name.find('.'); dot != std::string::npos; dot = name.find('.', dot + 1)) {
        const std::string rest = name.substr(dot + 1);
        const tensor_info* const input = find_tensor(op.inputs, rest);
        if ((input != nullptr && !input->optional && missing({rest})) || (torch && missing(tensors_of_torch_name(op, rest))))
            throw usage_error("member '" + name + "' would be " + rest + " without '" + name.substr(0, dot + 1) + "' in front; save the tensors of the " + std::string(op.name) +
                              " alone, or say --name " + rest + "=" + unknown.member + " for each");
    }
}

inline std::string not_used(const op_info& op, const carried& unknown) {
    const std::string& name = unknown.name;
    std::vector<std::string_view> known;
    for (const tensor_info& t : ranges::views::concat(op.inputs, op.outputs)) known.push_back(t.name);
    const bool like_mask = name.find("mask") != std::string::npos || name.find("bias") != std::string::npos;
    std::string hint;
    if (like_mask && is_input(op, "mask")) hint = " (if it is the mask: --name mask=" + unknown.member + ")";
    else if (like_mask && is_input(op, "self_attn.mask")) hint = " (if it is a mask: --name self_attn.mask=" + unknown.member + ")";
    else hint = did_you_mean(name, known);
    return "member '" + unknown.member + "' is nothing that " + std::string(op.name) + " knows; it is not used" + hint;
}

// A weight of a score that is not asked for: the score that it belongs to; nothing for other tensors.
inline std::string idle_with(const op_info& op, std::string_view name, const std::string& score) {
    if (op.name != "score" && op.name != "attention") return {};
    const std::string_view of = name == "w" ? "bilinear" : name == "w1" || name == "w2" || name == "b" ? "additive" : std::string_view(score);
    return of == score ? "" : std::string(of);
}

inline void check_names(const archive& from, const std::vector<std::pair<std::string, std::string>>& given) {
    for (const auto& [known, member] : given)
        if (!ranges::contains(from.arrays, member, &named_array::name)) throw usage_error("--name " + known + "=" + member + ": there is no member '" + member + "' (KNOWN=MEMBER, such as q=query_states)");
    for (auto name = given.begin(); name != given.end(); ++name)
        if (ranges::any_of(given.begin(), name, [&](const auto& earlier) { return earlier.first == name->first || earlier.second == name->second; }))
            throw usage_error("--name " + name->first + "=" + name->second + ": the tensor or the member is named twice");
}

} // namespace detail

/// Whether elements of this type may be said to be bf16: NumPy's `V2`, `u2` and `i2`, and what is bf16 already.
[[nodiscard]] constexpr bool may_be_bf16(dtype t) noexcept {
    return t == dtype::raw16 || t == dtype::u16 || t == dtype::i16 || t == dtype::bf16;
}

/// Whether the tensor of this name may hold integers: masks, lengths, positions.
[[nodiscard]] inline bool may_be_integers(std::string_view name) {
    const std::string_view last = name.substr(name.rfind('.') + 1);
    return last == "mask" || last == "dropout_mask" || last == "positions" || last == "q_lengths" || last == "k_lengths";
}

/// Says which members are bf16. usage_error for a name that is not there or has another type.
inline void declare_bf16(std::vector<named_array>& arrays, const std::vector<std::string>& members) {
    for (const std::string& member : members) {
        bool found = member == "all";
        for (named_array& a : arrays) {
            if (a.name == member && !may_be_bf16(a.value.type))
                throw usage_error("--bf16 " + member + ": the member holds " + std::string(name_of(a.value.type)) + ", not V2, u16 or i16");
            // "all" leaves an integer mask an integer mask; one in bf16 is said by its name.
            const bool meant = a.name == member || (member == "all" && (!may_be_integers(a.name) || a.value.type == dtype::raw16));
            if (meant && may_be_bf16(a.value.type)) a.value.type = dtype::bf16;
            found = found || a.name == member;
        }
        if (!found) throw usage_error("--bf16 " + member + ": there is no such member");
    }
}

/// Sorts an archive's arrays by the op that the settings name. `own`: the case's own settings.
/// With names=torch PyTorch's names become ours first (torch_names.hpp).
/// usage_error: no op; two members for one tensor; an unknown name that seems to be an input all the same.
[[nodiscard]] inline question arrange(const archive& from, const settings& own, const case_options& options) {
    question q;
    q.given = detail::without_overruled(own, options.given);
    q.given.insert(q.given.end(), options.given.begin(), options.given.end());
    detail::check_names(from, options.names);
    std::vector<std::string> names;
    for (const named_array& a : from.arrays) {
        const auto renamed = ranges::find(options.names, a.name, &std::pair<std::string, std::string>::second);
        names.push_back(renamed == options.names.end() ? a.name : renamed->first);
    }
    const bool torch = detail::last_of(q.given, "names") == "torch";
    const std::string op_name = detail::last_of(q.given, "op");
    if (op_name.empty()) throw usage_error("no op is given; declare --op, or \"op\" in attest.json. Ops that fit: " + detail::ops_that_fit(names, torch));
    const op_info& op = find_op(op_name);

    std::vector<detail::carried> all;
    for (std::size_t m = 0; m < names.size(); ++m) {
        const named_array& a = from.arrays[m];
        for (named_view& v : torch ? from_torch(op, names[m], a.value.view()) : std::vector<named_view>{{names[m], a.value.view()}}) {
            if (const auto same = ranges::find(all, v.name, &detail::carried::name); same != all.end())
                throw usage_error(torch ? "members '" + same->member + "' and '" + a.name + "' both hold '" + v.name + "'" : "two members are called '" + v.name + "' (by --name)");
            all.push_back({std::move(v.name), a.name, std::move(v.value)});
        }
    }
    const std::string score = detail::last_of(q.given, "score");
    for (const detail::carried& c : all) {
        if (const std::string other = detail::idle_with(op, c.name, score); !other.empty())
            q.warnings.push_back("member '" + c.member + "' is a weight of score=" + other + "; it is not used");
        else if (is_input(op, c.name)) q.inputs.emplace_back(c.name, c.value);
        else if (is_output(op, c.name)) q.candidates.emplace_back(c.name, c.value);
        else {
            detail::refuse_likely_mistake(op, c, all, torch);
            if (torch && c.name.ends_with("_mask"))
                throw usage_error("member '" + c.member + "' changes what is right, and is not a name that attest reads: save it as mask (self_attn.mask, cross_attn.mask in layers), broadcastable to "
                                  "[b, H, n_q, n_k]; a key padding mask [b, n_k] as mask[:, None, None, :]; and declare mask-polarity=drop, since True means masked there");
            if (c.name.starts_with("layers.") && !layer_of(c.name) && (op.name == "encoder" || op.name == "decoder"))
                throw usage_error("member '" + c.member + "' belongs to no layer: layers are numbered 0, 1, 2, …, as in layers.0.ffn.w_1");
            q.warnings.push_back(detail::not_used(op, c));
        }
    }
    return q;
}

} // namespace attest
