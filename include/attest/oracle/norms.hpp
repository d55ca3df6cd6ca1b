// SPDX-License-Identifier: BSL-1.0
/// \file
/// Euclidean norms from above, for the bounds of whole rows and columns.
#pragma once

#include "attest/arithmetic/power_of_two.hpp"
#include "attest/arithmetic/unfused.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

namespace attest::detail {

/// First-order bounds are raised by 2^−20 of themselves, for what is of second order and for their own roundings.
inline constexpr double raised = 1 + 0x1p-20;
[[nodiscard]] inline double absolute(double x) { return x < 0 ? -x : x; }
/// √(a sum of at most 2^20 squares), from above: products that are too small to count are 2^−1074 each.
[[nodiscard]] inline double root_above(double squares, std::size_t n) { return unfused(std::sqrt(squares + static_cast<double>(n + 1) * 0x1p-1074) * raised); }
[[nodiscard]] inline double norm_above(std::span<const double> x) {
    double squares = 0;
    for (const double c : x) squares += unfused(c * c);
    return root_above(squares, x.size());
}
/// γ_r, of so many roundings to double, from above.
[[nodiscard]] inline double gamma_above(std::size_t roundings) {
    const double r = static_cast<double>(roundings) * 0x1p-53;
    return unfused(r / (1 - r) * raised);
}
/// The norm and the greatest size of each column of a matrix that comes row by row.
class column_sizes {
public:
    void begin(std::size_t columns) {
        squares_.assign(columns, 0.0);
        greatest_.assign(columns, 0.0);
        rows_ = 0;
    }
    void add(const double* row) {
        for (std::size_t c = 0; c < squares_.size(); ++c) {
            squares_[c] += unfused(row[c] * row[c]);
            greatest_[c] = std::max(greatest_[c], absolute(row[c]));
        }
        ++rows_;
    }
    [[nodiscard]] std::size_t rows() const { return rows_; }
    [[nodiscard]] double greatest(std::size_t c) const { return greatest_[c]; }
    [[nodiscard]] double norm(std::size_t c) const { return root_above(squares_[c], rows_); } ///< from above

private:
    std::vector<double> squares_, greatest_;
    std::size_t rows_ = 0;
};
/// 1.5 · 2^E for multiply_in_two, where `bound` < 2^(E − 1); E >= −900.
[[nodiscard]] inline double base_above(double bound) { return 1.5 * power_of_two(bound > 0x1p-902 ? split(bound).exponent + 2 : -900); }

} // namespace attest::detail
