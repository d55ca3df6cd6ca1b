// SPDX-License-Identifier: BSL-1.0
/// \file
/// What a judge counts: elements outside a limit and their rows, the greatest share of it, and the elements that a report shows.
#pragma once

#include "attest/oracle/enclosed_distance.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace attest::detail {

/// The value in decimal, with as many digits, at most 20, as are beyond doubt.
[[nodiscard]] inline std::string certain_digits(const exact_number& x, const exact_number& radius) {
    if (!x.is_finite() || radius.is_zero()) return x.text(20);
    for (int digits = 20; digits > 0; --digits)
        if (std::string text = (x - radius).text(digits); text == (x + radius).text(digits)) return text;
    return "0"; // its radius does not tell it from zero
}

/// Whether these are 20.
[[nodiscard]] inline bool has_20_digits(const exact_number& x, const exact_number& radius) {
    return !x.is_finite() || radius.is_zero() || (x - radius).text(20) == (x + radius).text(20);
}

/// An element that a report shows. Distances and limits are in ULP.
struct shown_element {
    std::size_t position = 0;
    double got = 0;
    exact_number exact, radius;
    double rounded = 0;
    double ulp = 0;
    double certain = 0, expected = 0; ///< the limits, final store included
};

/// A set of rows.
class row_set {
public:
    void insert(std::size_t row) {
        if (row >= in_.size()) in_.resize(row + 1);
        if (!in_[row]) ++count_;
        in_[row] = true;
    }
    [[nodiscard]] std::size_t size() const { return count_; }

private:
    std::vector<bool> in_;
    std::size_t count_ = 0;
};

/// One limit of one arithmetic, over all elements.
struct limit_tally {
    std::size_t outside = 0;
    row_set rows;
    double share = 0; ///< greatest distance over limit, to 1/4096
    std::optional<shown_element> first; ///< the element outside that comes first

    [[nodiscard]] bool would_be_first(std::size_t position) const { return !first || position < first->position; }
    void count_outside(std::size_t row, const shown_element& e) {
        ++outside;
        rows.insert(row);
        if (would_be_first(e.position)) first = e;
    }
};

/// One arithmetic.
struct arithmetic_tally {
    limit_tally certain, expected;
    std::size_t blind = 0, unjudged = 0;
    std::size_t fixed = 0; ///< nothing at all is allowed there: hidden keys, empty rows
    bool has_expected = false; ///< somewhere below the certain limit
    double certain_at_worst = 0, expected_at_worst = 0; ///< in ULP
};

/// One element's distance against one limit, final store included; the store's half ULP may be known no better than to two binades.
struct compared {
    double low = 0, high = 0;
    side where = side::inside;

    compared() = default;
    compared(const enclosed_distance& distance, double limit_low, double limit_high)
        : low{limit_low}, high{limit_high}, where{distance.against(limit_low, limit_high)} {}

    [[nodiscard]] bool limit_is_certain() const { return low == high; }
    [[nodiscard]] double greatest_share(const enclosed_distance& d) const { return share(d.greatest(), low); }
    /// The share that is told. Of a distance that precision could not separate from the limit, and that passes for it, no more than all.
    [[nodiscard]] double told_share(const enclosed_distance& d) const { return where == side::outside ? greatest_share(d) : std::min(greatest_share(d), 1.0); }
    /// Whether the greatest share so far stays what it is, or becomes a number that is certain.
    [[nodiscard]] bool share_is_settled(const enclosed_distance& d, double so_far) const {
        return !is_finite(high) || greatest_share(d) <= so_far || greatest_share(d) == share(d.least(), high);
    }

private:
    static double share(double distance, double limit) { return distance == 0 ? 0 : to_cell(distance / limit, bits_of_shares); }
};

} // namespace attest::detail
