// SPDX-License-Identifier: BSL-1.0
/// \file
/// The arithmetics that a candidate may have computed in, and the constants of each: the one table that the limits rest on.
#pragma once

#include "attest/arithmetic/formats.hpp"
#include "attest/io/array.hpp"

#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace attest {

/// What an arithmetic may do at each step. Errors are relative, of one rounding to nearest, unless said otherwise.
struct arithmetic {
    std::string_view name;
    double unit;          ///< sums, products, quotients and everything kept between steps
    double tiny;          ///< greatest absolute error of one of those below the normal range
    double operand;       ///< each operand of a product (tf32), else 0
    double operand_tiny;  ///< the same, absolute, below the normal range
    double exp_relative;  ///< exp, at its argument as computed
    double exp_slope;     ///< exp, times the distance |s − m| from the shift
    double exp_flush;     ///< exp may give 0 for results up to this
    double query_key;     ///< stored scaled q and k
    double score;         ///< stored scores
    double greatest;      ///< a stored score beyond this overflows
    double weight;        ///< stored weights
    double weight_tiny;   ///< the same, absolute, below the normal range of the format that they are stored in
    format output;        ///< of the output
};

namespace detail {
inline constexpr double greatest_f32 = formats::f32.greatest();
constexpr arithmetic sums_in_f32(std::string_view name, const format& output) {
    // exp: at most 4 ULP (2^−23 relative each) and |s − m|·2^−23; results below the smallest normal number may be flushed.
    return {name, 0x1p-24, 0x1p-150, 0, 0, 4 * 0x1p-23, 0x1p-23, 0x1p-126, 0, 0, greatest_f32, 0, 0, output};
}
constexpr arithmetic weights_in_16_bits(std::string_view name, const format& stored) {
    arithmetic a = sums_in_f32(name, stored);
    a.weight = stored.unit_roundoff();
    a.weight_tiny = times_power_of_two(0.5, stored.tiny_exponent());
    return a;
}
constexpr arithmetic all_in_16_bits(std::string_view name, const format& stored) {
    arithmetic a = weights_in_16_bits(name, stored);
    a.query_key = stored.unit_roundoff();
    a.score = stored.unit_roundoff();
    a.greatest = stored.greatest();
    return a;
}
constexpr arithmetic tf32_products() {
    arithmetic a = sums_in_f32("tf32", formats::f32);
    a.operand = 0x1p-11;
    a.operand_tiny = 0x1p-137; // half of 2^−136, the last of 11 bits at the bottom of f32's range
    return a;
}
} // namespace detail

/// Strictest first.
inline constexpr arithmetic arithmetics[] = {
    // exp in f64: 1 ULP.
    {"f64", 0x1p-53, 0x1p-1074, 0, 0, 0x1p-52, 0x1p-52, 0x1p-1022, 0, 0, formats::f64.greatest(), 0, 0, formats::f64},
    detail::sums_in_f32("f32", formats::f32),
    detail::tf32_products(),
    detail::weights_in_16_bits("bf16+f32", formats::bf16),
    detail::weights_in_16_bits("f16+f32", formats::f16),
    detail::all_in_16_bits("bf16", formats::bf16),
    detail::all_in_16_bits("f16", formats::f16),
};

/// The arithmetic of that name, or nothing.
[[nodiscard]] constexpr const arithmetic* find_arithmetic(std::string_view name) noexcept {
    for (const arithmetic& a : arithmetics)
        if (a.name == name) return &a;
    return nullptr;
}

/// The arithmetics that could have made a tensor stored in this type, strictest first.
[[nodiscard]] inline std::vector<const arithmetic*> arithmetics_of(dtype stored) {
    std::vector<const arithmetic*> possible;
    for (const arithmetic& a : arithmetics) {
        const bool sixteen_bits = a.output.precision < formats::f32.precision;
        if (stored == dtype::bf16 || stored == dtype::f16) {
            if (sixteen_bits && a.output == (stored == dtype::bf16 ? formats::bf16 : formats::f16)) possible.push_back(&a);
        } else if (stored == dtype::f64 || a.name != "f64") {
            possible.push_back(&a);
        }
    }
    return possible;
}

} // namespace attest
