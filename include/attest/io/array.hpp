// SPDX-License-Identifier: BSL-1.0
/// \file
/// Arrays as files hold them: an element type, a shape, and bytes in C order, native byte order.
///
/// This is the plain data that passes between `io`, `question` and `oracle`. It knows nothing of attention, and nothing of files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace attest {

/// The element types that a case may hold. `raw16` is what NumPy writes for a two-byte type that it does not know (descr `V2`):
/// nothing may interpret it until the user says what it is.
enum class dtype : unsigned char { f64, f32, f16, bf16, i8, i16, i32, i64, u8, u16, u32, u64, boolean, raw16 };

/// Bytes an element takes.
[[nodiscard]] constexpr std::size_t size_of(dtype type) noexcept {
    switch (type) {
    case dtype::f64:
    case dtype::i64:
    case dtype::u64: return 8;
    case dtype::f32:
    case dtype::i32:
    case dtype::u32: return 4;
    case dtype::f16:
    case dtype::bf16:
    case dtype::i16:
    case dtype::u16:
    case dtype::raw16: return 2;
    case dtype::i8:
    case dtype::u8:
    case dtype::boolean: return 1;
    }
    return 0;
}

/// The name a report prints: "f32", "bf16", "bool", …
[[nodiscard]] constexpr std::string_view name_of(dtype type) noexcept {
    switch (type) {
    case dtype::f64: return "f64";
    case dtype::f32: return "f32";
    case dtype::f16: return "f16";
    case dtype::bf16: return "bf16";
    case dtype::i8: return "i8";
    case dtype::i16: return "i16";
    case dtype::i32: return "i32";
    case dtype::i64: return "i64";
    case dtype::u8: return "u8";
    case dtype::u16: return "u16";
    case dtype::u32: return "u32";
    case dtype::u64: return "u64";
    case dtype::boolean: return "bool";
    case dtype::raw16: return "V2";
    }
    return "?";
}

[[nodiscard]] constexpr bool is_float(dtype type) noexcept {
    return type == dtype::f64 || type == dtype::f32 || type == dtype::f16 || type == dtype::bf16;
}

/// Product of the lengths. Whoever makes a shape has checked that it does not overflow.
[[nodiscard]] constexpr std::size_t element_count(std::span<const std::size_t> shape) noexcept {
    std::size_t count = 1;
    for (const std::size_t length : shape) count *= length;
    return count;
}

/// "[2, 8, 128, 64]", and "[]" for a single number.
[[nodiscard]] inline std::string shape_text(std::span<const std::size_t> shape) {
    std::string text = "[";
    for (std::size_t i = 0; i < shape.size(); ++i) text += (i ? ", " : "") + std::to_string(shape[i]);
    return text + "]";
}

/// An array over memory that somebody else owns: C order, native byte order, any alignment.
struct array_view {
    dtype type = dtype::f64;
    std::vector<std::size_t> shape;
    const std::byte* data = nullptr;

    [[nodiscard]] std::size_t elements() const noexcept { return element_count(shape); }
    [[nodiscard]] std::size_t bytes() const noexcept { return elements() * size_of(type); }
};

/// An array that owns its bytes.
struct array {
    dtype type = dtype::f64;
    std::vector<std::size_t> shape;
    std::vector<std::byte> data;

    [[nodiscard]] std::size_t elements() const noexcept { return element_count(shape); }
    [[nodiscard]] array_view view() const { return {type, shape, data.data()}; }
    operator array_view() const& { return view(); } // NOLINT(google-explicit-constructor): a view of an array is what is meant
};

struct named_array {
    std::string name;
    array value;
};

} // namespace attest
