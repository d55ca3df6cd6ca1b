// SPDX-License-Identifier: BSL-1.0
/// \file
/// `attest::sin`, `attest::cos`: customisation points. For double and float they are our own: the same bits in constant
/// expressions and at run time, on every compiler that does not contract a·b + c (`-ffp-contract=off`; GCC and Clang contract by
/// default where the target has fma, and then the last bit may differ).
#pragma once

#include "attest/elementary/two_doubles.hpp"

namespace attest {

namespace detail {

// The binary digits of 2/π after the point: 1216 of them, enough for the greatest double.
inline constexpr std::uint64_t two_over_pi[] = {0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041, 0xfe5163abdebbc561,
                                                0xb7246e3a424dd2e0, 0x06492eea09d1921c, 0xfe1deb1cb129a73e, 0xe88235f52ebb4484,
                                                0xe99c7026b45f7e41, 0x3991d639835339f4, 0x9c845f8bbdf9283b, 0x1ff897ffde05980f,
                                                0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d, 0x7527bac7ebe5f17b,
                                                0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b6bab};

// 64 of those digits, from digit `from` on (counted from 0); before the point are zeros.
constexpr std::uint64_t digits_of_two_over_pi(int from) noexcept {
    if (from <= -64) return 0;
    if (from < 0) return two_over_pi[0] >> -from;
    const int limb = from / 64, shift = from % 64;
    return shift == 0 ? two_over_pi[limb] : two_over_pi[limb] << shift | two_over_pi[limb + 1] >> (64 - shift);
}

struct two_limbs {
    std::uint64_t high, low;
};
constexpr two_limbs limb_product(std::uint64_t a, std::uint64_t b) noexcept {
    constexpr std::uint64_t half = 0xffffffff;
    const std::uint64_t low = (a & half) * (b & half), cross = (a >> 32) * (b & half) + (low >> 32),
                        other = (a & half) * (b >> 32) + (cross & half);
    return {(a >> 32) * (b >> 32) + (cross >> 32) + (other >> 32), other << 32 | (low & half)};
}

struct quarter_turns {
    unsigned quadrant; // mod 4
    two_doubles rest;  // in [−π/4, π/4], to 2^−75 of itself
};

// x = quadrant · π/2 + rest mod 2π, for finite x >= 0; after Payne and Hanek. x = m · 2^e with an integer m < 2^53. Of x · 2/π =
// m · 2^e · 0.d0 d1 d2… the digits of 2/π before e − 2 give multiples of 4. The next 192 are multiplied by m in integers: what is
// left out is below 2^−137, and no double but 0 lies nearer than 2^−62 to a multiple of π/2.
constexpr quarter_turns reduced(double x) noexcept {
    if (x <= 0.7853981633974483) return {0, {x, 0}};
    const auto bits = std::bit_cast<std::uint64_t>(x);
    const std::uint64_t m = (bits & 0x000fffffffffffffULL) | 0x0010000000000000ULL;
    const int from = static_cast<int>(bits >> 52) - 1023 - 52 - 2;
    const auto [high2, low2] = limb_product(m, digits_of_two_over_pi(from + 128));
    const auto [high1, low1] = limb_product(m, digits_of_two_over_pi(from + 64));
    std::uint64_t f1 = low1 + high2;
    std::uint64_t f0 = m * digits_of_two_over_pi(from) + high1 + (f1 < low1 ? 1 : 0);
    // f0 f1 low2 / 2^192 is the fraction of a whole turn; after two digits, that of a quarter.
    auto quadrant = static_cast<unsigned>(f0 >> 62);
    f0 = f0 << 2 | f1 >> 62;
    f1 = f1 << 2 | low2 >> 62;
    std::uint64_t f2 = low2 << 2;
    const bool negative = f0 >> 63 != 0; // above a half: count from the next quarter back
    if (negative) {
        quadrant = (quadrant + 1) % 4;
        f2 = ~f2 + 1;
        f1 = ~f1 + (f2 == 0 ? 1 : 0);
        f0 = ~f0 + (f2 == 0 && f1 == 0 ? 1 : 0);
    }
    const int zeros = f0 != 0 ? std::countl_zero(f0) : 64;
    if (zeros == 64) {
        f0 = f1;
        f1 = f2;
    } else if (zeros > 0) {
        f0 = f0 << zeros | f1 >> (64 - zeros);
        f1 = f1 << zeros | f2 >> (64 - zeros);
    }
    const double sign = negative ? -1.0 : 1.0;
    const two_doubles fraction{sign * static_cast<double>(f0 >> 11) * power_of_two(-53 - zeros),
                               sign * static_cast<double>(f0 << 53 | f1 >> 11) * power_of_two(-117 - zeros)};
    return {quadrant, fraction * two_doubles{0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54}};
}

// Taylor's series at |r| <= π/4, to r^19 and r^18; what is large is summed last.
constexpr double sin_of_rest(two_doubles r) noexcept {
    constexpr double coefficients[] = {-1.0 / 121645100408832000, 1.0 / 355687428096000, -1.0 / 1307674368000, 1.0 / 6227020800,
                                       -1.0 / 39916800,           1.0 / 362880,          -1.0 / 5040,          1.0 / 120};
    const double square = r.high * r.high;
    double series = 0;
    for (const double c : coefficients) series = (series + c) * square;
    return r.high + (r.high * square * (series - 1.0 / 6) + r.low * (1 - 0.5 * square));
}
constexpr double cos_of_rest(two_doubles r) noexcept {
    constexpr double coefficients[] = {-1.0 / 6402373705728000, 1.0 / 20922789888000, -1.0 / 87178291200, 1.0 / 479001600,
                                       -1.0 / 3628800,          1.0 / 40320,          -1.0 / 720,         1.0 / 24};
    const two_doubles square = product(r.high, r.high);
    double series = 0;
    for (const double c : coefficients) series = series * square.high + c;
    const auto [high, low] = ordered_sum(1, -0.5 * square.high);
    return high + (low + (square.high * square.high * series - 0.5 * square.low - r.high * r.low));
}

constexpr double sin_of_double(double x) noexcept {
    if (x - x != 0) return std::numeric_limits<double>::quiet_NaN(); // NaN or infinite
    if (x == 0) return x;
    const auto [quadrant, rest] = reduced(x < 0 ? -x : x);
    const double magnitude = quadrant % 2 == 0 ? sin_of_rest(rest) : cos_of_rest(rest);
    return (quadrant >= 2) != (x < 0) ? -magnitude : magnitude;
}
constexpr double cos_of_double(double x) noexcept {
    if (x - x != 0) return std::numeric_limits<double>::quiet_NaN();
    const auto [quadrant, rest] = reduced(x < 0 ? -x : x);
    const double magnitude = quadrant % 2 == 0 ? cos_of_rest(rest) : sin_of_rest(rest);
    return quadrant == 1 || quadrant == 2 ? -magnitude : magnitude;
}

template <class S>
concept has_own_sin = requires(const S& x) { attest_sin(x); };
template <class S>
concept has_own_cos = requires(const S& x) { attest_cos(x); };

struct sin_function {
    [[nodiscard]] constexpr double operator()(double x) const noexcept { return sin_of_double(x); }
    [[nodiscard]] constexpr float operator()(float x) const noexcept { return static_cast<float>(sin_of_double(x)); }
    template <has_own_sin S>
    [[nodiscard]] constexpr S operator()(const S& x) const {
        return attest_sin(x);
    }
};
struct cos_function {
    [[nodiscard]] constexpr double operator()(double x) const noexcept { return cos_of_double(x); }
    [[nodiscard]] constexpr float operator()(float x) const noexcept { return static_cast<float>(cos_of_double(x)); }
    template <has_own_cos S>
    [[nodiscard]] constexpr S operator()(const S& x) const {
        return attest_cos(x);
    }
};

} // namespace detail

/// sin x, x in radians, however great. double: error below 0.9 ULP, near the zeros and for the greatest doubles too (not
/// proved: the greatest measured on 6·10^6 points against 50 digits, with and without fma, is 0.78;
/// `tests/elementary/sin_cos.cpp` repeats a part); float: the double result rounded. sin(±0) = ±0; NaN for ±inf and NaN. A scalar
/// of your own: give it a friend `attest_sin`.
inline constexpr detail::sin_function sin{};
/// cos x; as `sin`. A scalar of your own: give it a friend `attest_cos`.
inline constexpr detail::cos_function cos{};

/// A scalar that has a sine, a cosine.
template <class S>
concept has_sin = requires(const S& x) { attest::sin(x); };
template <class S>
concept has_cos = requires(const S& x) { attest::cos(x); };

} // namespace attest
