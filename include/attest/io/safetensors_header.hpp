// SPDX-License-Identifier: BSL-1.0
/// \file
/// The header of a `.safetensors` file, held against the file: dtypes, sizes, and that the tensors tile the data from
/// the first byte to the last.
#pragma once

#include "attest/io/array.hpp"
#include "attest/io/error.hpp"
#include "attest/io/safetensors_json.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace attest {

inline constexpr std::uint64_t safetensors_header_limit = 100'000'000; ///< bytes; the format's own limit

/// A dtype that the format has. Those without a `type` have no counterpart here and are refused by name.
struct safetensors_type {
    std::string_view name;
    unsigned bits;
    std::optional<dtype> type = {};
};

inline constexpr std::array<safetensors_type, 22> safetensors_types = {{{"BF16", 16, dtype::bf16},
                                                                        {"F16", 16, dtype::f16},
                                                                        {"F32", 32, dtype::f32},
                                                                        {"F64", 64, dtype::f64},
                                                                        {"BOOL", 8, dtype::boolean},
                                                                        {"I8", 8, dtype::i8},
                                                                        {"I16", 16, dtype::i16},
                                                                        {"I32", 32, dtype::i32},
                                                                        {"I64", 64, dtype::i64},
                                                                        {"U8", 8, dtype::u8},
                                                                        {"U16", 16, dtype::u16},
                                                                        {"U32", 32, dtype::u32},
                                                                        {"U64", 64, dtype::u64},
                                                                        {"F8_E4M3", 8},
                                                                        {"F8_E5M2", 8},
                                                                        {"F8_E8M0", 8},
                                                                        {"F8_E4M3FNUZ", 8},
                                                                        {"F8_E5M2FNUZ", 8},
                                                                        {"F4", 4},
                                                                        {"F6_E2M3", 6},
                                                                        {"F6_E3M2", 6},
                                                                        {"C64", 64}}};

namespace safetensors_detail {

[[nodiscard]] inline const safetensors_type* find_type(std::string_view name) {
    for (const safetensors_type& type : safetensors_types)
        if (type.name == name) return &type;
    return nullptr;
}

[[nodiscard]] inline std::string place_text(const safetensors_entry& tensor) {
    return "[" + std::to_string(tensor.begin) + ", " + std::to_string(tensor.end) + "]";
}

/// What can be said of a tensor alone.
inline void check_entry(const safetensors_entry& tensor, std::uint64_t data_bytes, const std::string& where) {
    if (tensor.begin > tensor.end)
        throw file_error(where, "data_offsets " + place_text(tensor) + " end before they begin", "begin <= end");
    if (tensor.end > data_bytes)
        throw file_error(where, "data_offsets " + place_text(tensor) + " exceed the data",
                         "at most " + std::to_string(data_bytes) + ", where the file ends");
    std::uint64_t product = 1; // zeros left out: they must not hide a length that nobody can index
    for (const std::uint64_t length : tensor.shape) {
        if (length == 0) continue;
        if (length > element_limit / product)
            throw file_error(where,
                             "shape " + shape_text(tensor.shape) + " overflows: more elements than " +
                                 std::to_string(element_limit),
                             "fewer");
        product *= length;
    }
    const safetensors_type* const known = find_type(tensor.type);
    if (!known) return; // its size is not known; it is refused once all places have been looked at
    const std::string shape = "shape " + shape_text(tensor.shape) + " of " + tensor.type;
    std::uint64_t need = element_count(tensor.shape);
    if (known->bits % 8 == 0) {
        need *= known->bits / 8;
    } else {
        if (need * known->bits % 8 != 0)
            throw file_error(where, shape + " takes " + std::to_string(need * known->bits) + " bits",
                             "a multiple of 8");
        need = need * known->bits / 8;
    }
    if (need != tensor.end - tensor.begin)
        throw file_error(where,
                         shape + " needs " + std::to_string(need) + " bytes, data_offsets " + place_text(tensor) +
                             " hold " + std::to_string(tensor.end - tensor.begin),
                         "both the same");
}

/// Sorts the tensors by place, those at one place as they come. They must tile the data: no byte in two of them, none
/// in no tensor. An empty one may stand wherever another ends.
inline void check_places(std::vector<safetensors_entry>& tensors, std::uint64_t data_bytes, std::string_view where) {
    std::vector<std::size_t> order(tensors.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [&tensors](std::size_t a, std::size_t b) {
        return std::tuple{tensors[a].begin, tensors[a].end, a} < std::tuple{tensors[b].begin, tensors[b].end, b};
    });
    std::vector<safetensors_entry> sorted;
    sorted.reserve(tensors.size());
    for (const std::size_t i : order) sorted.push_back(std::move(tensors[i]));
    tensors = std::move(sorted);

    const auto hole = [](std::uint64_t from, std::uint64_t to) {
        return "bytes " + std::to_string(from) + " to " + std::to_string(to) + " of the data are no tensor's";
    };
    std::uint64_t at = 0;
    const safetensors_entry* before = nullptr;
    for (const safetensors_entry& tensor : tensors) {
        const std::string here = "'" + excerpt(tensor.name, 200) + "' " + place_text(tensor);
        const std::string there = before ? "'" + excerpt(before->name, 200) + "' " + place_text(*before) : "";
        if (tensor.begin < at)
            throw file_error(where, "tensors " + there + " and " + here + " overlap",
                             "each to begin where another ends");
        if (tensor.begin > at)
            throw file_error(where,
                             hole(at, tensor.begin) + ", before tensor " + here + (before ? ", after " : "") + there,
                             "data_offsets from " + std::to_string(at));
        at = tensor.end;
        before = &tensor;
    }
    if (at != data_bytes)
        throw file_error(
            where,
            hole(at, data_bytes) +
                (before ? ", after tensor '" + excerpt(before->name, 200) + "' " + place_text(*before) : ""),
            "the file to end with the last tensor");
}

inline void check_type(const safetensors_entry& tensor, const std::string& where) {
    const safetensors_type* const known = find_type(tensor.type);
    if (known && known->type) return;
    std::string names;
    for (const safetensors_type& type : safetensors_types)
        if (type.type) names += (names.empty() ? "" : " ") + std::string{type.name};
    throw file_error(where, "dtype '" + excerpt(tensor.type) + "' is " + (known ? "not read" : "unknown"), names);
}

} // namespace safetensors_detail

/// Reads a header.
/// \param data_bytes  bytes of the file that follow it
/// \return the tensors by place in the data
/// \throws file_error unless it is JSON that says everything once, of tensors that tile the data and whose dtypes
///         `array` has
[[nodiscard]] inline safetensors_header parse_safetensors_header(std::string_view text, std::uint64_t data_bytes,
                                                                 std::string_view where) {
    using namespace safetensors_detail;
    safetensors_header result = parse_safetensors_json(text, where);
    for (const safetensors_entry& tensor : result.tensors)
        check_entry(tensor, data_bytes, tensor_of(where, tensor.name));
    check_places(result.tensors, data_bytes, where);
    for (const safetensors_entry& tensor : result.tensors) check_type(tensor, tensor_of(where, tensor.name));
    return result;
}

} // namespace attest
