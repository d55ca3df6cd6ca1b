// SPDX-License-Identifier: BSL-1.0
/// \file
/// The names that NumPy has for element types, such as "<f4": byte order, kind, bytes.
#pragma once

#include "attest/io/array.hpp"
#include "attest/io/error.hpp"

#include <array>
#include <bit>
#include <cstddef>
#include <string>
#include <string_view>

namespace attest {

/// The element type that a `descr` such as "<f4" names, and whether its byte order is not this machine's.
struct npy_element {
    dtype type = dtype::f64;
    bool swapped = false;
};

/// \throws file_error for whatever is not a number this project reads, naming it
[[nodiscard]] inline npy_element parse_npy_descr(std::string_view descr, std::string_view where) {
    constexpr std::string_view known = "<f8 <f4 <f2 <i8 <i4 <i2 |i1 <u8 <u4 <u2 |u1 |b1 |V2, or > for big-endian";
    const std::string quoted = "'" + excerpt(descr) + "'";
    std::string_view rest = descr;
    char order = 0;
    if (!rest.empty() && (rest[0] == '<' || rest[0] == '>' || rest[0] == '|' || rest[0] == '=')) {
        order = rest[0];
        rest.remove_prefix(1);
    }
    const char kind = rest.empty() ? '\0' : rest[0];
    if (kind == 'O')
        throw file_error(where, "descr " + quoted + " is Python objects, a pickle, which is never read", known);
    if (kind == 'U' || kind == 'S' || kind == 'a') throw file_error(where, "descr " + quoted + " is text", known);
    if (kind == 'M' || kind == 'm') throw file_error(where, "descr " + quoted + " is dates or times", known);
    if (kind == 'c') throw file_error(where, "descr " + quoted + " is complex numbers", known);

    struct entry {
        std::string_view name;
        dtype type;
    };
    constexpr std::array<entry, 13> table = {{{"f8", dtype::f64},
                                              {"f4", dtype::f32},
                                              {"f2", dtype::f16},
                                              {"i8", dtype::i64},
                                              {"i4", dtype::i32},
                                              {"i2", dtype::i16},
                                              {"i1", dtype::i8},
                                              {"u8", dtype::u64},
                                              {"u4", dtype::u32},
                                              {"u2", dtype::u16},
                                              {"u1", dtype::u8},
                                              {"b1", dtype::boolean},
                                              {"V2", dtype::raw16}}};
    for (const entry& candidate : table) {
        if (rest != candidate.name) continue;
        const std::size_t size = size_of(candidate.type);
        const bool raw = candidate.type == dtype::raw16;
        if (order == '=' || (size > 1 && order == 0) || (size > 1 && order == '|' && !raw))
            throw file_error(where, "descr " + quoted + " does not say the byte order of the machine that wrote it",
                             "'<" + std::string{rest} + "' or '>" + std::string{rest} + "'");
        if (raw && order == '>')
            throw file_error(where, "descr " + quoted + " gives a byte order to bytes that are no number",
                             "'|V2' or '<V2'");
        const bool big = order == '>' || (order == '|' && std::endian::native == std::endian::big);
        return {candidate.type, size > 1 && big != (std::endian::native == std::endian::big)};
    }
    throw file_error(where, "descr " + quoted + " is not read", known);
}

/// The descr that an element type is written with: this machine's byte order; bf16 is `V2`, as NumPy has no name for
/// it.
[[nodiscard]] inline std::string npy_descr(dtype type) {
    std::string text;
    switch (type) {
    case dtype::f64: text = "f8"; break;
    case dtype::f32: text = "f4"; break;
    case dtype::f16: text = "f2"; break;
    case dtype::i8: text = "i1"; break;
    case dtype::i16: text = "i2"; break;
    case dtype::i32: text = "i4"; break;
    case dtype::i64: text = "i8"; break;
    case dtype::u8: text = "u1"; break;
    case dtype::u16: text = "u2"; break;
    case dtype::u32: text = "u4"; break;
    case dtype::u64: text = "u8"; break;
    case dtype::boolean: text = "b1"; break;
    case dtype::bf16:
    case dtype::raw16: return "|V2";
    }
    const char order = size_of(type) == 1 ? '|' : std::endian::native == std::endian::little ? '<' : '>';
    return order + text;
}

} // namespace attest
