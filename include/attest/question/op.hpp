// SPDX-License-Identifier: BSL-1.0
/// \file
/// The ops that can be asked about: their inputs, and the outputs that may be checked, in the order of computation.
#pragma once

#include "attest/question/usage_error.hpp"

#include <span>
#include <string>
#include <string_view>

namespace attest {

struct tensor_info {
    std::string_view name;
    std::string_view shape;
    bool optional = false;
};

struct op_info {
    std::string_view name;
    std::string_view summary;
    std::span<const tensor_info> inputs;
    std::span<const tensor_info> outputs;
};

namespace detail {
inline constexpr tensor_info softmax_inputs[] = {{"x", "[.., n]"}};
inline constexpr tensor_info softmax_outputs[] = {{"out", "[.., n]"}};
inline constexpr tensor_info attention_inputs[] = {
    {"q", "[.., n_q, d_k]"}, {"k", "[.., n_k, d_k]"}, {"v", "[.., n_k, d_v]"}, {"mask", "[.., n_q, n_k]", true}};
inline constexpr tensor_info attention_outputs[] = {{"raw_scores", "[.., n_q, n_k]"},
                                                    {"scores", "[.., n_q, n_k]"},
                                                    {"weights", "[.., n_q, n_k]"},
                                                    {"lse", "[.., n_q]"},
                                                    {"out", "[.., n_q, d_v]"}};
inline constexpr op_info all_ops[] = {
    {"softmax", "softmax(x) along an axis", softmax_inputs, softmax_outputs},
    {"attention", "softmax(scale q kT + mask) v, row by row over the visible keys", attention_inputs, attention_outputs}};
} // namespace detail

/// All ops of this version.
[[nodiscard]] constexpr std::span<const op_info> ops() noexcept { return detail::all_ops; }

/// The op of that name; usage_error naming all ops if there is none.
[[nodiscard]] inline const op_info& find_op(std::string_view name) {
    for (const op_info& op : ops())
        if (op.name == name) return op;
    std::string known;
    for (const op_info& op : ops()) known += (known.empty() ? "" : ", ") + std::string(op.name);
    throw usage_error("there is no op '" + std::string(name) + "' in this version; it has " + known);
}

} // namespace attest
