// SPDX-License-Identifier: BSL-1.0
/// \file
/// What the lectures say of scores with weights of their own.
#pragma once

#include "../claim.hpp"

namespace attest::proofs {

inline constexpr claim learned_score_claims[] = {
    {.id = "B003",
     .statement = "The bilinear (general) score is e = sᵀ W h.",
     .text = wording::correct,
     .status = outcome::proved,
     .by = means::polynomials,
     .details = "polynomials in all components and weights, d_s = 2, d_h = 3; W is d_s × d_h, and the unit matrix gives the "
               "dot product",
     .tests = "compile_fail/bilinear_rows compile_fail/bilinear_columns"},
    {.id = "B004",
     .statement = "The learnable W lets the model weight dimensions differently.",
     .text = wording::imprecise,
     .status = outcome::refuted,
     .by = means::polynomials,
     .details = "polynomials in all components and weights, d = 2: W = (0 1; 1 0) is no choice of weights",
     .correction = "That is what a diagonal W does: Σ_c w_c s_c h_c. Any other W also multiplies different dimensions of s "
                   "and h, and lets them differ in number."},
    {.id = "B005",
     .statement = "The additive score is e = bᵀ tanh(W_1 h + W_2 s).",
     .text = wording::correct,
     .status = outcome::identity,
     .by = means::field,
     .details = "identity (probabilistic) at 4 points of the finite field, with any function in the place of tanh: d_s = 2, "
               "d_h = 3, 4 hidden components; enclosures: |e| ≤ |b_1| + ... + |b_4| = 7 for b = (2, 1, −1, 3) and "
               "all s, h, W_1 and W_2 with components between −1000 and 1000",
     .tests = "compile_fail/additive_input compile_fail/additive_hidden_dimension",
     .seeds = 4,
     .degree = 32},
    {.id = "B006",
     .statement = "Query and key are projected to one space that they share, and a learned vector b scores them there.",
     .text = wording::correct,
     .status = outcome::proved,
     .by = means::types,
     .details = "types: W_1 h and W_2 s have one axis, which is b's, though s and h have different ones (a tanh stands between "
               "the projections and b)",
     .tests = "compile_fail/additive_hidden_dimension"},
};

} // namespace attest::proofs
