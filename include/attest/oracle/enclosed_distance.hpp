// SPDX-License-Identifier: BSL-1.0
/// \file
/// How far a candidate's element is from an exact value that is known to within a radius: bounds, and comparisons that say when they don't tell.
#pragma once

#include "attest/oracle/cells.hpp"
#include "attest/oracle/rounding.hpp"

#include <algorithm>
#include <cmath>

namespace attest::detail {

[[nodiscard]] inline bool is_finite(double x) { return x - x == 0; }

/// The least double that is x or above it.
[[nodiscard]] inline double double_above(const exact_number& x) {
    const auto nearest = static_cast<double>(x);
    return is_finite(nearest) && exact_number(nearest) < x ? std::nextafter(nearest, infinity_of_double) : nearest;
}

/// a + b for a, b >= 0, not below the exact sum.
[[nodiscard]] inline double sum_above(double a, double b) {
    const double sum = a + b;
    if (!is_finite(sum)) return sum;
    // What the sum lost, exactly (Knuth's TwoSum).
    const double of_b = sum - a, lost = (a - (sum - of_b)) + (b - of_b);
    return lost > 0 ? std::nextafter(sum, infinity_of_double) : sum;
}

/// Where a distance lies with respect to a limit.
enum class side { inside, open, outside };

/// Bounds of |got − x| and of x's unit in the last place, for every x within `radius` of `exact`, which is finite.
///
/// The numbers of 192 bits that they are computed in round: a 2^−180th part covers that. A value that is known exactly (radius 0) gets no such part, so
/// that a distance that equals its limit is inside; its difference from `got` is rounded to nearest, which never carries it across a double.
class enclosed_distance {
public:
    enclosed_distance(const format& f, double got, const exact_number& exact, const exact_number& radius) {
        const auto bounds = [&radius](const exact_number& middle) {
            const exact_number off = radius.is_zero() ? radius : radius + ldexp(middle, -180);
            return std::pair{off < middle ? middle - off : exact_number(0), middle + off};
        };
        const auto [least_size, greatest_size] = bounds(abs(exact));
        least_size_ = double_above(least_size);
        greatest_size_ = double_above(greatest_size);
        least_unit_ = unit_exponent(f, least_size);
        greatest_unit_ = unit_exponent(f, greatest_size);
        if (!is_finite(got)) {
            least_ = greatest_ = least_cell_ = greatest_cell_ = cell_ = infinity_of_double;
            return;
        }
        const auto [least, greatest] = bounds(abs(exact_number(got) - exact));
        least_ = double_above(least);
        greatest_ = double_above(greatest);
        least_cell_ = to_cell(static_cast<double>(ldexp(least, -greatest_unit_)), bits_of_distances);
        greatest_cell_ = to_cell(static_cast<double>(ldexp(greatest, -least_unit_)), bits_of_distances);
        cell_ = to_cell(static_cast<double>(ldexp(greatest, -greatest_unit_)), bits_of_distances);
    }

    /// In ULP, to 1/64. Where it is not certain, that of a value on the border of a binade, or of two cells: what precision can't separate from it is most
    /// likely there.
    [[nodiscard]] double cell() const { return cell_; }
    [[nodiscard]] double greatest_cell() const { return greatest_cell_; }
    [[nodiscard]] bool cell_is_certain() const { return least_cell_ == greatest_cell_; }
    /// Exponent of the unit in the last place.
    [[nodiscard]] int unit() const { return greatest_unit_; }
    [[nodiscard]] bool unit_is_certain() const { return least_unit_ == greatest_unit_; }
    /// The least doubles not below the bounds of |x|, and of the distance. A double is below the bound exactly if it is below the double.
    [[nodiscard]] double least_size() const { return least_size_; }
    [[nodiscard]] double greatest_size() const { return greatest_size_; }
    [[nodiscard]] double least() const { return least_; }
    [[nodiscard]] double greatest() const { return greatest_; }

    /// Against a limit that itself is known to lie between two bounds. A distance that equals its limit is inside.
    [[nodiscard]] side against(double low, double high) const {
        return greatest_ <= low ? side::inside : least_ > high ? side::outside : side::open;
    }

private:
    static int unit_exponent(const format& f, const exact_number& size) { return size.is_zero() ? f.tiny_exponent() : ulp_exponent_at(f, size); }

    double least_size_ = 0, greatest_size_ = 0, least_ = 0, greatest_ = 0, least_cell_ = 0, greatest_cell_ = 0, cell_ = 0;
    int least_unit_ = 0, greatest_unit_ = 0;
};

} // namespace attest::detail
