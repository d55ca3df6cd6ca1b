// SPDX-License-Identifier: BSL-1.0
/// \file
/// What the limits need of one row, and what they say of one element.
#pragma once

#include "attest/elementary/exp.hpp"
#include "attest/fast/compiled_limits.hpp"
#include "attest/oracle/limits_score.hpp"

#include <optional>
#include <vector>

namespace attest {

/// What a row's scores are made of, if they are dot products without rotations: score_size's numbers, each over the visible keys.
struct plain_sizes {
    std::vector<double> terms, operands, of_key;
    double of_query = 0;
};

/// What the limits need of one row, in double, near the exact values (weights within 2^−32 of themselves); vectors are over the visible keys, in
/// order.
struct row_facts {
    std::vector<double> score;     ///< what enters softmax
    std::vector<double> weight;    ///< before dropout
    double lse = 0;                ///< sink included

    score_rule rule;               ///< what the scores have in common
    std::vector<score_size> sizes; ///< what each score is made of; may be empty where no score is stored, and `plain` is not
    plain_sizes plain;             ///< the same, of dot products without rotations; empty: see `sizes`
    std::vector<double> scaled;    ///< raw · scale with its sign, before the cap and before anything is added; may be empty where no score is stored or capped
    std::vector<double> alibi;     ///< slope · distance that is added; empty: none
    std::vector<double> mask;      ///< what a float mask adds; empty: none
    std::vector<double> factor;    ///< dropout: 0 or 1/(1 − p); empty: none
    std::optional<double> sink;    ///< its logit
    double sink_weight = 0;
    input_width values = {};       ///< of v
    double key_alike = 1;          ///< how far all stored keys round alike: share_of_fractions (limits_alike.hpp); 1: nothing is known

    const fast::limit_kernels* kernels = &fast::compiled_limit_kernels(); ///< what the sums are made with; the same bits with all

    bool scores_are_inputs = false; ///< softmax alone: nothing happens before the shift

    [[nodiscard]] score_size size_of_score(std::size_t j) const {
        if (!sizes.empty()) return sizes[j];
        return {.terms = plain.terms[j], .operands = plain.operands[j], .of_query = plain.of_query, .of_key = plain.of_key[j]};
    }
    [[nodiscard]] double scaled_size(std::size_t j) const { return scaled.empty() ? 0 : scaled[j] < 0 ? -scaled[j] : scaled[j]; }
    [[nodiscard]] double alibi_size(std::size_t j) const { return alibi.empty() ? 0 : alibi[j] < 0 ? -alibi[j] : alibi[j]; }
    [[nodiscard]] double mask_size(std::size_t j) const { return mask.empty() ? 0 : mask[j] < 0 ? -mask[j] : mask[j]; }
    [[nodiscard]] double factor_of(std::size_t j) const { return factor.empty() ? 1 : factor[j]; }
};

/// How far an element may be from the exact value, and how far from the range of all that the row's values can give.
struct bound {
    double limit = detail::infinity_of_double;
    double beyond = detail::infinity_of_double;
};

/// Half a ULP of the format at the greatest magnitude that a value can have before its store; infinity where that may overflow.
[[nodiscard]] inline double half_ulp_of_store(const format& f, double magnitude) {
    if (!(magnitude < f.greatest())) return detail::infinity_of_double;
    return ulp(f, magnitude) / 2;
}

} // namespace attest
