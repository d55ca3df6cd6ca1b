// SPDX-License-Identifier: BSL-1.0
/// \file
/// Exact work on the exponent of a double, in constant expressions too (`<cmath>` is not constexpr).
#pragma once

#include <bit>
#include <cstdint>
#include <limits>

namespace attest::detail {

static_assert(std::numeric_limits<double>::is_iec559 && std::numeric_limits<float>::is_iec559, "IEEE 754 arithmetic is required");

inline constexpr double infinity_of_double = std::numeric_limits<double>::infinity();

/// 2^k for −1022 <= k <= 1023.
constexpr double power_of_two(int k) noexcept { return std::bit_cast<double>(static_cast<std::uint64_t>(k + 1023) << 52); }

/// x · 2^k, rounded once where the result is subnormal; |k| <= 2100.
constexpr double times_power_of_two(double x, int k) noexcept {
    for (; k > 1023; k -= 1023) x *= power_of_two(1023);
    for (; k < -2044; k += 969) x *= power_of_two(-969);
    // Two steps into the subnormals would round twice, so all but the last step stay far above them.
    if (k < -1022) return x * power_of_two(k + 1022 < -1022 ? -1022 : k + 1022) * power_of_two(-1022);
    return x * power_of_two(k);
}

/// Exponent e and fraction f in [1, 2) with x = f · 2^e, for finite x > 0.
struct fraction_and_exponent {
    double fraction;
    int exponent;
};
constexpr fraction_and_exponent split(double x) noexcept {
    int shift = 0;
    if (x < power_of_two(-1022)) {
        x *= power_of_two(54);
        shift = -54;
    }
    const auto bits = std::bit_cast<std::uint64_t>(x);
    const int exponent = static_cast<int>(bits >> 52) - 1023;
    return {std::bit_cast<double>((bits & 0x000fffffffffffffULL) | 0x3ff0000000000000ULL), exponent + shift};
}

} // namespace attest::detail
