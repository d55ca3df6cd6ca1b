// SPDX-License-Identifier: BSL-1.0
// Arrays from numbers, and what a refusal says.
#pragma once

#include "attest/oracle/decode.hpp"

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace asked {

using attest::array;
using attest::dtype;
using shape = std::vector<std::size_t>;

/// What a usage_error says; empty if `call` throws nothing.
template <class Call>
std::string refusal(Call&& call) {
    try {
        (void)call();
    } catch (const attest::usage_error& error) {
        return error.what();
    }
    return {};
}

/// Whether `text` is one line that holds all of `parts`.
inline bool says(std::string_view text, std::initializer_list<std::string_view> parts) {
    if (text.empty() || text.find('\n') != std::string_view::npos) return false;
    for (const std::string_view part : parts)
        if (text.find(part) == std::string_view::npos) return false;
    return true;
}

/// Zeros of any type.
inline array zeros(dtype type, shape lengths) {
    array a{type, std::move(lengths), {}};
    a.data.resize(a.view().bytes());
    return a;
}

/// Floating-point numbers, each rounded once to the type.
inline array numbers(dtype type, shape lengths, const std::vector<double>& values) {
    array a = zeros(type, std::move(lengths));
    for (std::size_t i = 0; i < values.size(); ++i) attest::encode(a, i, values[i]);
    return a;
}

/// 0, 1, 2, … in C order.
inline array counting(shape lengths, dtype type = dtype::f64) {
    array a = zeros(type, std::move(lengths));
    for (std::size_t i = 0; i < a.elements(); ++i) attest::encode(a, i, static_cast<double>(i));
    return a;
}

/// Elements of any C++ type, as the bytes they are.
template <class T>
array of_bytes(dtype type, shape lengths, const std::vector<T>& values) {
    array a{type, std::move(lengths), {}};
    const auto bytes = std::as_bytes(std::span(values));
    a.data.assign(bytes.begin(), bytes.end());
    return a;
}

inline array booleans(shape lengths, const std::vector<std::uint8_t>& values) { return of_bytes(dtype::boolean, std::move(lengths), values); }

/// Every index of a shape, in C order.
inline std::vector<shape> indices(const shape& lengths) {
    std::vector<shape> all;
    const std::size_t count = attest::element_count(lengths);
    for (std::size_t e = 0; e < count; ++e) {
        shape index(lengths.size());
        std::size_t rest = e;
        for (std::size_t k = lengths.size(); k-- > 0; rest /= lengths[k]) index[k] = rest % lengths[k];
        all.push_back(index);
    }
    return all;
}

} // namespace asked
