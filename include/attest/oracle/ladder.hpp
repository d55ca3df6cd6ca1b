// SPDX-License-Identifier: BSL-1.0
/// \file
/// The ladder: results with proved enclosures, each element on the first rung that settles it.
///
///     balls of double  →  balls of double_double  →  balls of big_float with 192, 384, … bits, up to the declared precision
///
/// A `visitor` is told what each rung says of an element, and answers whether that settles it; what it does not settle comes again from the next rung, and from the
/// last one with `last`.
#pragma once

#include "attest/oracle/ball_functions.hpp"
#include "attest/oracle/attention_outputs.hpp"
#include "attest/oracle/enclosure.hpp"
#include "attest/oracle/rung.hpp"

namespace attest {

/// One row as the limits want it: doubles next to the exact values.
struct row_values {
    std::size_t slice = 0, i = 0;
    std::vector<std::size_t> visible;
    std::vector<double> scores, weights; ///< of the visible keys
    std::vector<double> out;
    double lse = 0;
    bool near = true;       ///< false: not even the last rung knows the weights to 2^−32, and no limit can be made of these numbers
    std::vector<double> dq; ///< before rotations are turned back; empty unless asked for
};

/// What a rung says of one element.
template <class S> struct certified_element {
    std::size_t output;   ///< number of the output
    std::size_t position; ///< in C order of the output
    std::size_t in_row;   ///< key or component
    const ball<S>& value;
    rung from;
    bool last;
};

/// Climbs, from a rung on: `attempt.template operator()<S>(rung, last)` evaluates what is open in balls of S and returns whether anything still is. `precision`: the most
/// bits.
template <class Attempt> void climb(rung first, std::size_t precision, const Attempt& attempt) {
    constexpr std::size_t first_real_bits = 192;
    if (first == rung::in_double && !attempt.template operator()<double>(rung::in_double, false)) return;
    if (first != rung::in_real && !attempt.template operator()<double_double>(rung::in_double_double, false)) return;
    for (std::size_t bits = first_real_bits;; bits *= 2) {
        const std::size_t most = std::max<std::size_t>(precision, 64);
        const working_precision use(static_cast<unsigned>(std::min(bits, most)));
        if (!attempt.template operator()<big_float>(rung::in_real, bits >= most) || bits >= most) return;
    }
}

namespace detail {

// Whether the weights are known well enough for limits, to 2^−32. (Those far below 2^−1000 need not be.)
template <class S> [[nodiscard]] bool is_near_enough(const evaluated_row<ball<S>>& row) {
    for (const std::size_t j : row.visible) {
        const double w = row.weights(j).nearest_double();
        if (!row.scores(j).is_known() || !(row.weights(j).radius().as_double() <= 0x1p-32 * w + 0x1p-1000)) return false;
    }
    return row.lse.is_known();
}

template <class S> [[nodiscard]] row_values values_of(const evaluated_row<ball<S>>& row, std::size_t slice, std::size_t i) {
    row_values v{slice, i, row.visible, {}, {}, {}, row.lse.nearest_double(), is_near_enough(row), {}};
    for (const std::size_t j : row.visible) {
        v.scores.push_back(row.scores(j).nearest_double());
        v.weights.push_back(row.weights(j).nearest_double());
    }
    for (std::size_t c = 0; c < row.out.length(0); ++c) v.out.push_back(row.out(c).nearest_double());
    return v;
}

} // namespace detail

} // namespace attest
