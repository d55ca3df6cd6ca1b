// SPDX-License-Identifier: BSL-1.0
/// \file
/// A number as an unevaluated sum of two doubles, for what a function in double must know beyond 53 digits on the way to its last
/// rounding.
#pragma once

#include "attest/arithmetic/power_of_two.hpp"
#include "attest/arithmetic/unfused.hpp"

namespace attest::detail {

/// high + low, |low| at most about half a unit in the last place of high. Finite numbers far from overflow and from the
/// subnormals only.
struct two_doubles {
    double high;
    double low;
};

/// a + b exactly, where |a| >= |b| or a = 0.
constexpr two_doubles ordered_sum(double a, double b) noexcept {
    const double sum = a + b;
    return {sum, b - (sum - a)};
}
/// a + b exactly.
constexpr two_doubles exact_sum(double a, double b) noexcept {
    const double sum = a + b;
    const double b_in_sum = sum - a;
    return {sum, (a - (sum - b_in_sum)) + (b - b_in_sum)};
}
/// The first 26 digits of a; what is left has 27.
constexpr double first_half(double a) noexcept {
    return std::bit_cast<double>(std::bit_cast<std::uint64_t>(a) & ~std::uint64_t{0x7ffffff});
}
/// a · b, to 2^−104 of it.
constexpr two_doubles product(double a, double b) noexcept {
    const double product = unfused(a * b);
    const double a1 = first_half(a), a2 = a - a1, b1 = first_half(b), b2 = b - b1;
    return {product, ((unfused(a1 * b1) - product) + unfused(a1 * b2) + unfused(a2 * b1)) + unfused(a2 * b2)};
}

// The relative errors of these are a few units of 2^−104, but for a sum that cancels.
constexpr two_doubles operator+(two_doubles a, two_doubles b) noexcept {
    const auto [high, low] = exact_sum(a.high, b.high);
    return ordered_sum(high, low + (a.low + b.low));
}
constexpr two_doubles operator*(two_doubles a, two_doubles b) noexcept {
    const auto [high, low] = product(a.high, b.high);
    return ordered_sum(high, low + (unfused(a.high * b.low) + unfused(a.low * b.high)));
}
constexpr two_doubles operator-(two_doubles a) noexcept { return {-a.high, -a.low}; }

} // namespace attest::detail
