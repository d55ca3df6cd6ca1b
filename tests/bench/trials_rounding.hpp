// SPDX-License-Identifier: BSL-1.0
// Rounding to 8, 11 and 11 narrow bits, fast enough for a kernel of 8192 keys. That each gives what attest/arithmetic/formats.hpp gives, which is slow and proved, is tested in
// tests/oracle/trials_selection.cpp.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace trials {

// What a kernel stores, or its operands are rounded to. `tf32`: f32's exponents, 11 significant bits.
enum class rounded_to { nothing, bf16, f16, tf32 };

// The last `dropped` of f32's 24 bits are rounded off, to nearest, ties to even; a carry goes into the exponent field by itself, up to infinity.
template <unsigned dropped> float drop_bits(float x) {
    const auto bits = std::bit_cast<std::uint32_t>(x);
    if ((bits & 0x7fffffffU) >= 0x7f800000U) return x; // infinities and NaN
    const std::uint32_t to_even = (bits >> dropped) & 1U, mask = (1U << dropped) - 1U;
    return std::bit_cast<float>((bits + (mask >> 1) + to_even) & ~mask);
}
inline float to_bf16(float x) { return drop_bits<16>(x); }
inline float to_tf32(float x) { return drop_bits<13>(x); }
inline float to_f16(float x) {
    const float size = std::fabs(x);
    if (size < 0x1p-14F) return std::copysign((size + 0.5F) - 0.5F, x); // f32's last place at 0.5 is 2^−24, as is f16's below its normal range
    const float rounded = drop_bits<13>(x);
    return std::fabs(rounded) > 65504.0F ? std::copysign(HUGE_VALF, x) : rounded;
}

inline float round_fast(rounded_to what, float x) {
    switch (what) {
    case rounded_to::nothing: break;
    case rounded_to::bf16: return to_bf16(x);
    case rounded_to::f16: return to_f16(x);
    case rounded_to::tf32: return to_tf32(x);
    }
    return x;
}
// Kernels in double store nothing.
inline double round_fast(rounded_to, double x) { return x; }

} // namespace trials
