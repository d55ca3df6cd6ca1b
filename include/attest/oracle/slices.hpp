// SPDX-License-Identifier: BSL-1.0
/// \file
/// Numbers cut into slices, so that sums of products of slices are exact in double; and bounds of norms, from above.
///
/// Let |x| < 2^(e + 1) for all x of a row (or column), and g = 2^(e + 1 − β), h = 2^(e + 1 − 2β), β <= 26. x1 is the multiple of g nearest to x, x' = x − x1, x2 the multiple of h
/// nearest to x', x3 = x' − x2: all exactly, for x' is a multiple of x's last bit and no greater than x. So
///
///     x = x1 + x2 + x3,  |x1| <= 2^β g,  |x2| <= 2^(β − 1) h,  |x'| <= g/2,  |x3| <= h/2,  |x'| <= |x|,  |x3| <= |x'|.
///
/// For two such, x and y, a sum of d products x1 y1 is a sum of integers below d 2^2β, in units of g g'; and one of d times x1 y2 + x2 y1 too, in units of g h'.
/// So these sums are exact, whatever their order, if d 2^2β <= 2^53.
///
/// Adding and subtracting 1.5 · 2^52 g rounds to multiples of g. So that nothing underflows, e is at least −400.
#pragma once

#include "attest/arithmetic/power_of_two.hpp"
#include "attest/arithmetic/unfused.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <span>

namespace attest::detail {

/// β for sums of `depth` products.
[[nodiscard]] constexpr int slice_bits(std::size_t depth) { return (53 - static_cast<int>(std::bit_width(depth > 0 ? depth - 1 : 0))) / 2; }

struct slices_of_number {
    double first, second, third;
    [[nodiscard]] double after_first() const { return second + third; } // exactly
};

/// How to cut numbers up to `greatest` < 2^400.
class slicing {
public:
    explicit slicing(double greatest, int bits) {
        const int e = std::max(greatest > 0 ? split(greatest).exponent : -400, -400);
        first_ = 1.5 * power_of_two(e + 53 - bits);
        second_ = 1.5 * power_of_two(e + 53 - 2 * bits);
    }
    [[nodiscard]] slices_of_number operator()(double x) const {
        const double first = (x + first_) - first_, after = x - first, second = (after + second_) - second_;
        return {first, second, after - second};
    }

private:
    double first_, second_;
};

/// First-order bounds are raised by 2^−20 of themselves, for what is of second order and for their own roundings.
inline constexpr double raised = 1 + 0x1p-20;
[[nodiscard]] inline double absolute(double x) { return x < 0 ? -x : x; }
/// γ_r = r u/(1 − r u).
[[nodiscard]] inline double gamma_above(std::size_t roundings) {
    const double r = static_cast<double>(roundings) * 0x1p-53;
    return r / (1 - r) * raised;
}
/// √(a sum of n squares), from above: products that are too small to count are 2^−1074 each.
[[nodiscard]] inline double root_above(double squares, std::size_t n) { return std::sqrt(squares + static_cast<double>(n + 1) * 0x1p-1074) * raised; }
[[nodiscard]] inline double norm_above(std::span<const double> x) {
    double squares = 0, greatest = 0;
    for (const double c : x) {
        squares += unfused(c * c);
        greatest = std::max(greatest, absolute(c));
    }
    return greatest == 0 ? 0 : root_above(squares, x.size());
}

} // namespace attest::detail
