// SPDX-License-Identifier: BSL-1.0
/// \file
/// Elements of an array as doubles, exactly: every float format and integers up to 2^53 are.
#pragma once

#include "attest/arithmetic/formats.hpp"
#include "attest/io/array.hpp"
#include "attest/question/usage_error.hpp"

namespace attest {

/// The format behind a floating-point element type; usage_error for others.
[[nodiscard]] inline format format_of(dtype type) {
    switch (type) {
    case dtype::f64: return formats::f64;
    case dtype::f32: return formats::f32;
    case dtype::f16: return formats::f16;
    case dtype::bf16: return formats::bf16;
    default: throw usage_error("elements of type " + std::string(name_of(type)) + " are not floating-point numbers");
    }
}

/// usage_error unless the elements are floating-point numbers; two-byte elements get the hint that they may be bf16.
inline void require_float(std::string_view name, const array_view& a) {
    if (is_float(a.type)) return;
    const bool two_bytes = a.type == dtype::raw16 || a.type == dtype::u16 || a.type == dtype::i16;
    throw usage_error(std::string(name) + " " + shape_text(a.shape) + " holds " + std::string(name_of(a.type)) + "; expected floating-point numbers" +
                      (two_bytes ? " (if they are bf16, say so: --bf16 " + std::string(name) + ", or --bf16 all)" : ""));
}

namespace detail {
template <class T> [[nodiscard]] T load(const std::byte* from) noexcept {
    T value;
    std::memcpy(&value, from, sizeof value);
    return value;
}
} // namespace detail

/// Element number `i` in C order, exactly; usage_error for an integer beyond 2^53 and for `raw16`.
[[nodiscard]] inline double decode(const array_view& a, std::size_t i) {
    const std::byte* const at = a.data + i * size_of(a.type);
    const auto exactly = [](auto integer) {
        const auto value = static_cast<double>(integer);
        if (value > 0x1p53 || value < -0x1p53) throw usage_error("the integer " + std::to_string(integer) + " is beyond 2^53");
        return value;
    };
    switch (a.type) {
    case dtype::f64: return detail::load<double>(at);
    case dtype::f32: return static_cast<double>(detail::load<float>(at));
    case dtype::f16: return decode_f16(detail::load<std::uint16_t>(at));
    case dtype::bf16: return decode_bf16(detail::load<std::uint16_t>(at));
    case dtype::i8: return detail::load<std::int8_t>(at);
    case dtype::i16: return detail::load<std::int16_t>(at);
    case dtype::i32: return detail::load<std::int32_t>(at);
    case dtype::i64: return exactly(detail::load<std::int64_t>(at));
    case dtype::u8: return detail::load<std::uint8_t>(at);
    case dtype::u16: return detail::load<std::uint16_t>(at);
    case dtype::u32: return detail::load<std::uint32_t>(at);
    case dtype::u64: return exactly(detail::load<std::uint64_t>(at));
    case dtype::boolean: return detail::load<std::uint8_t>(at) != 0 ? 1.0 : 0.0;
    case dtype::raw16: break;
    }
    throw usage_error("two-byte elements of unknown type (NumPy's V2): if they are bf16, say so with --bf16");
}

/// Stores x, rounded once to the element type, as element number `i`; floating-point types only.
inline void encode(array& a, std::size_t i, double x) {
    std::byte* const at = a.data.data() + i * size_of(a.type);
    const auto store = [at](auto value) { std::memcpy(at, &value, sizeof value); };
    switch (a.type) {
    case dtype::f64: store(x); break;
    case dtype::f32: store(static_cast<float>(x)); break;
    case dtype::f16: store(encode_f16(x)); break;
    case dtype::bf16: store(encode_bf16(x)); break;
    default: throw usage_error("elements of type " + std::string(name_of(a.type)) + " are not floating-point numbers");
    }
}

} // namespace attest
