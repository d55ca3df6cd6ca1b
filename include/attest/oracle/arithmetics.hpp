// SPDX-License-Identifier: BSL-1.0
/// \file
/// The arithmetics that a candidate may have computed in, and the constants of each: the one table that the limits rest on.
#pragma once

#include "attest/arithmetic/formats.hpp"
#include "attest/io/array.hpp"

#include <array>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace attest {

/// What an arithmetic may do at each step. Errors are relative, of one rounding to nearest, unless said otherwise.
///
/// A name may carry suffixes. `/truncate`: accumulators and the operands of tf32 are truncated, so that `unit` and `operand`, and what they lose
/// below the normal range, are twice as large (and one-sided: a limit that adds them linearly holds all the same); functions, and what is stored in
/// 16 bits, round as before. `/ftz`: results below the normal range are 0, and operands below it count as 0. That is how f32, f64 and bf16 are
/// flushed, bf16 having f32's range; f16 keeps its subnormals, since the modes for f32 of GPUs and CPUs do not touch it.
struct arithmetic {
    std::string_view name;
    double unit;          ///< sums, products, quotients and everything kept between steps
    double tiny;          ///< greatest absolute error of one of those below the normal range
    double operand;       ///< each operand of a product (tf32), else 0
    double operand_tiny;  ///< the same, absolute, below the normal range
    double exp_relative;  ///< exp, at its argument as computed
    double exp_slope;     ///< exp, times the distance |s − m| from the shift
    double exp_flush;     ///< exp may give 0 for results up to this
    double function;      ///< tanh, log, sin, cos, powers: 4 ULP (an assumption on the libraries, as for exp)
    double query_key;     ///< stored scaled q and k
    double score;         ///< stored scores
    double greatest;      ///< a stored score beyond this overflows
    double weight;        ///< stored weights
    double weight_tiny;   ///< the same, absolute, below the normal range of the format that they are stored in
    format output;        ///< of inputs and output; what is stored in 16 bits is stored in it
    bool truncates = false; ///< accumulators and the operands of tf32
};

namespace detail {
constexpr double size_of(double x) noexcept { return x < 0 ? -x : x; }
inline constexpr double greatest_f32 = formats::f32.greatest();
constexpr arithmetic sums_in_f32(std::string_view name, const format& output) {
    // exp: at most 4 ULP (2^−23 relative each) and |s − m|·2^−23; results below the smallest normal number may be flushed.
    return {name, 0x1p-24, 0x1p-150, 0, 0, 4 * 0x1p-23, 0x1p-23, 0x1p-126, 4 * 0x1p-23, 0, 0, greatest_f32, 0, 0, output};
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
    {"f64", 0x1p-53, 0x1p-1074, 0, 0, 0x1p-52, 0x1p-52, 0x1p-1022, 4 * 0x1p-52, 0, 0, formats::f64.greatest(), 0, 0, formats::f64},
    detail::sums_in_f32("f32", formats::f32),
    detail::tf32_products(),
    detail::weights_in_16_bits("bf16+f32", formats::bf16),
    detail::weights_in_16_bits("f16+f32", formats::f16),
    detail::all_in_16_bits("bf16", formats::bf16),
    detail::all_in_16_bits("f16", formats::f16),
};

namespace detail {

constexpr arithmetic with_suffixes(arithmetic a, std::string_view name, bool truncates, bool flushes) {
    a.name = name;
    if (truncates) {
        a.truncates = true;
        a.unit *= 2;
        a.tiny *= 2;
        a.operand *= 2;
        a.operand_tiny *= 2;
    }
    if (flushes) {
        a.tiny = power_of_two(a.unit < formats::f32.unit_roundoff() ? formats::f64.min_exponent : formats::f32.min_exponent);
        a.operand_tiny = a.tiny;
        if (a.weight > 0 && a.output.min_exponent == formats::f32.min_exponent) a.weight_tiny = a.tiny;
    }
    return a;
}

inline constexpr std::string_view suffixes[] = {"/truncate", "/ftz", "/truncate/ftz"};
inline constexpr std::string_view suffixed_names[][3] = {
    {"f64/truncate", "f64/ftz", "f64/truncate/ftz"},
    {"f32/truncate", "f32/ftz", "f32/truncate/ftz"},
    {"tf32/truncate", "tf32/ftz", "tf32/truncate/ftz"},
    {"bf16+f32/truncate", "bf16+f32/ftz", "bf16+f32/truncate/ftz"},
    {"f16+f32/truncate", "f16+f32/ftz", "f16+f32/truncate/ftz"},
    {"bf16/truncate", "bf16/ftz", "bf16/truncate/ftz"},
    {"f16/truncate", "f16/ftz", "f16/truncate/ftz"},
};
static_assert(std::size(suffixed_names) == std::size(arithmetics));

constexpr auto all_with_suffixes() {
    std::array<std::array<arithmetic, 3>, std::size(arithmetics)> table{};
    for (std::size_t a = 0; a < table.size(); ++a)
        for (std::size_t s = 0; s < 3; ++s) table[a][s] = with_suffixes(arithmetics[a], suffixed_names[a][s], s != 1, s != 0);
    return table;
}
inline constexpr auto suffixed_arithmetics = all_with_suffixes();

} // namespace detail

namespace detail {
/// The same arithmetic without its stores in 16 bits.
[[nodiscard]] constexpr arithmetic without_stores(arithmetic a) noexcept {
    if (a.weight > 0) a.greatest = greatest_f32;
    a.query_key = a.score = a.weight = a.weight_tiny = 0;
    return a;
}
} // namespace detail

/// The arithmetic of that name, with its suffixes in any order, or nothing.
[[nodiscard]] constexpr const arithmetic* find_arithmetic(std::string_view name) noexcept {
    const std::size_t slash = name.find('/') == std::string_view::npos ? name.size() : name.find('/');
    const std::string_view base = name.substr(0, slash), suffix = name.substr(slash) == "/ftz/truncate" ? detail::suffixes[2] : name.substr(slash);
    for (std::size_t a = 0; a < std::size(arithmetics); ++a) {
        if (arithmetics[a].name != base) continue;
        if (suffix.empty()) return &arithmetics[a];
        for (std::size_t s = 0; s < 3; ++s)
            if (suffix == detail::suffixes[s]) return &detail::suffixed_arithmetics[a][s];
    }
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
