// SPDX-License-Identifier: BSL-1.0
/// \file
/// How far a candidate's element is from an exact value that is known to within a radius: bounds, and comparisons that say when they don't tell.
#pragma once

#include "attest/arithmetic/unfused.hpp"
#include "attest/oracle/ball_in_doubles.hpp"
#include "attest/oracle/cells.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

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

    /// The same in doubles: the bounds are wider, but what they tell for certain is the same. `got` is finite.
    ///
    /// got − high = s + e exactly (2Sum); with w = e − low rounded, and m = s + w rounded, |got − x| is off from |m| by at most `radius` + 2^−53 (|w| + |m|), for
    /// which stands twice that. Bounds are moved by more than their own roundings.
    enclosed_distance(const format& f, double got, const ball_in_doubles& x) {
        const auto bounds = [](double middle, double off) {
            const double more = unfused(off * raised) + 0x1p-1074;
            return std::pair{more < middle ? (middle - more) * lowered : 0.0, (middle + more) * raised};
        };
        const double size = std::fabs(x.high), s = got - x.high, of_high = s - got, e = (got - (s - of_high)) - (x.high + of_high), w = e - x.low, m = std::fabs(s + w);
        // What is known exactly has no bounds around it.
        const bool is_exact = x.radius == 0 && x.low == 0;
        std::tie(least_size_, greatest_size_) = is_exact ? std::pair{size, size} : bounds(size, std::fabs(x.low) + x.radius);
        std::tie(least_, greatest_) = is_exact && e == 0 ? std::pair{m, m} : bounds(m, x.radius + unfused(0x1p-52 * (std::fabs(w) + m)));
        least_unit_ = unit_exponent(f, least_size_);
        greatest_unit_ = unit_exponent(f, greatest_size_);
        least_cell_ = to_cell(times_power_of_two(least_, -greatest_unit_), bits_of_distances);
        cell_ = greatest_cell_ = to_cell(times_power_of_two(greatest_, -least_unit_), bits_of_distances);
    }

    /// In ULP, to 1/64. Where it is not certain, that of a value on the border of a binade, or of two cells: what precision can't separate from it is most
    /// likely there.
    [[nodiscard]] double cell() const { return cell_; }
    [[nodiscard]] double greatest_cell() const { return greatest_cell_; }
    [[nodiscard]] bool cell_is_certain() const { return least_cell_ == greatest_cell_; }
    /// Whether it is one of two neighbours, at most: what rms is made of.
    [[nodiscard]] bool cell_is_nearly_certain() const { return cell_is_certain() || greatest_cell_ - least_cell_ <= std::max(power_of_two(-bits_of_distances), least_cell_ * 0x1p-45); }
    /// Exponent of the unit in the last place.
    [[nodiscard]] int unit() const { return greatest_unit_; }
    [[nodiscard]] bool unit_is_certain() const { return least_unit_ == greatest_unit_; }
    /// The least doubles not below the bounds of |x|, and of the distance (in doubles, the bounds). A double is below the bound exactly if it is below the double.
    [[nodiscard]] double least_size() const { return least_size_; }
    [[nodiscard]] double greatest_size() const { return greatest_size_; }
    [[nodiscard]] double least() const { return least_; }
    [[nodiscard]] double greatest() const { return greatest_; }

    /// Against a limit that itself is known to lie between two bounds. A distance that equals its limit is inside.
    [[nodiscard]] side against(double low, double high) const {
        return greatest_ <= low ? side::inside : least_ > high ? side::outside : side::open;
    }

private:
    static constexpr double raised = 1 + 0x1p-50, lowered = 1 - 0x1p-50;
    static int unit_exponent(const format& f, double size) { return size == 0 ? f.tiny_exponent() : f.ulp_exponent(split(size).exponent); }
    static int unit_exponent(const format& f, const exact_number& size) { return size.is_zero() ? f.tiny_exponent() : ulp_exponent_at(f, size); }

    double least_size_ = 0, greatest_size_ = 0, least_ = 0, greatest_ = 0, least_cell_ = 0, greatest_cell_ = 0, cell_ = 0;
    int least_unit_ = 0, greatest_unit_ = 0;
};

} // namespace attest::detail
