// SPDX-License-Identifier: BSL-1.0
/// \file
/// What the lectures say of softmax, its worked examples and its saturation.
#pragma once

#include "../claim.hpp"

namespace attest::proofs {

inline constexpr claim softmax_claims[] = {
    {.id = "A011",
     .statement = "Softmax normalises the scores of a query to its weights: a_ij = e^{S_ij} / sum_{k=1}^n e^{S_ik}.",
     .text = wording::correct,
     .status = outcome::identity,
     .by = means::field,
     .details =
         "finite field, 2 × 3 scores: the code, which shifts by a number of its own, against the printed quotient",
     .tests = "formula/softmax",
     .seeds = 4},
    {.id = "A012",
     .statement = "a_ij says how important the j-th key is to the i-th query, relative to the other keys: read as the "
                  "share of its value in the output. (Whether a share is importance is an interpretation, and not "
                  "checkable.)",
     .text = wording::correct,
     .status = outcome::identity,
     .by = means::field,
     .details = "finite field, 2 × 3 scores: two weights of a row have the ratio e^{S_ij - S_il}, for all i, j, l. "
                "That the weight is the value's share: A013",
     .seeds = 4},
    {.id = "A043",
     .statement = "Without scaling, scores of large magnitude push softmax into nearly one-hot distributions.",
     .text = wording::imprecise,
     .status = outcome::refuted,
     .by = means::exact,
     .details = "exact rationals for the counterexample softmax(1000, 1000) = (1/2, 1/2); identity (probabilistic) in "
               "the finite field: a shift of all scores "
               "changes nothing, and two scores that are g apart have the greater weight 1/(1 + e^-g); enclosures of "
               "the value",
     .correction = "Differences do that, not magnitudes: two scores of 1000 share equally, while (4, -4) and (1008, "
                   "1000) give one key nearly all the weight. "
                   "Large magnitudes matter in so far as they come with large differences.",
     .value = "0.999664650",
     .value_is = "greater weight of two scores that are 8 apart",
     .tests = "formula/softmax",
     .seeds = 4},
    {.id = "A044",
     .statement = "Where softmax is nearly one-hot, its gradients by the inputs vanish almost everywhere.",
     .text = wording::imprecise,
     .status = outcome::refuted,
     .by = means::enclosures,
     .details = "enclosures of the gradient for scores that are 8 apart; identity (probabilistic) in the finite field: "
               "J_jl = -a_j a_l and J_jj = sum_{l != j} a_j a_l, "
               "n = 4, and for two scores that are g apart 1/(2 + e^g + e^-g)",
     .correction = "They become small, and are 0 nowhere: every entry of the Jacobian is, up to its sign, a sum of "
                   "products of weights, which are positive. "
                   "They tend to 0 as the greatest score draws away from all others, and stay large near a tie: 1/4 "
                   "for two equal scores.",
     .value = "0.000335238 0.25",
     .value_is = "gradient of softmax at a gap of 8, and at a tie",
     .tests = "gradient/softmax",
     .seeds = 4},
    {.id = "A045",
     .statement =
         "What large scores do to the gradients of softmax is the problem of exploding or vanishing gradients.",
     .text = wording::imprecise,
     .status = outcome::refuted,
     .by = means::exact,
     .details = "whole numbers on a grid that decides equations of polynomials, n = 2, 3, 4 (the argument is for every "
               "n): |x|^2/2 - x.Jx is a sum of squares with coefficients that are not negative, and so is x.Jx; "
               "exact rationals where the bound is attained",
     .correction = "Vanishing alone. The Jacobian J = diag(a) - a aᵀ never makes a gradient longer than half of what "
                   "came in: its norm is at most 1/2, "
                   "which it is for two equal scores.",
     .value = "1/2",
     .value_is = "greatest norm of the Jacobian",
     .tests = "gradient/softmax"},
    {.id = "A046",
     .statement = "Softmax takes the scores z_1, ..., z_K to e^{z_i} / sum_{j=1}^K e^{z_j}.",
     .text = wording::correct,
     .status = outcome::identity,
     .by = means::field,
     .details = "finite field, K = 5: the code, which shifts by a number of its own, against the printed quotient",
     .tests = "formula/softmax",
     .seeds = 4},
    {.id = "A047",
     .statement = "Softmax of (1.3, 5.1, 2.2, 0.7, 1.1) is (0.02, 0.90, 0.05, 0.01, 0.02).",
     .text = wording::correct,
     .status = outcome::proved,
     .by = means::enclosures,
     .details = "enclosures",
     .value = "0.0201905 0.9025377 0.0496605 0.0110808 0.0165306",
     .value_is = "the weights",
     .tests = "formula/softmax"},
    {.id = "A050",
     .statement = "For a word to distribute its attention, the scores of each row must sum to 1.0.",
     .text = wording::wrong,
     .status = outcome::refuted,
     .by = means::exact,
     .details = "exact rationals: scores 1, 3, 0 add to 4, their weights to 1; identity (probabilistic) in the finite "
                "field for all 2 × 3 scores. It is the mistake of A003, and scores are what the lecture itself calls "
                "so",
     .correction = "The weights of a row, which softmax makes of its scores, add to 1; the scores may add to "
                   "anything. In floating point the sum is 1 up to rounding.",
     .tests = "formula/softmax",
     .seeds = 4},
    {.id = "A051",
     .statement = "The rows become distributions by softmax(Q Kᵀ/√d_k).",
     .text = wording::imprecise,
     .status = outcome::refuted,
     .by = means::field,
     .details = "finite field, 2 × 3: over the rows, over the columns and over all elements it is three functions; "
               "identity (probabilistic): "
               "the code's is that of each row by itself",
     .correction = "Softmax is defined for a vector; of a matrix it must be said which vectors are meant. Here each "
                   "row by itself, over the keys.",
     .tests = "formula/softmax",
     .seeds = 4},
    {.id = "A054",
     .statement = "The weights of each row sum to 1.",
     .text = wording::correct,
     .status = outcome::identity,
     .by = means::field,
     .details = "finite field, 2 × 3 scores; and an enclosure of a sum of five",
     .tests = "formula/softmax",
     .seeds = 4},
    {.id = "A055",
     .statement = "α_12 is the percentage of its attention that word 1 pays to word 2.",
     .text = wording::imprecise,
     .status = outcome::refuted,
     .by = means::field,
     .details = "finite field, 3 keys: a row of weights does not add to 100, and 100 times its weights do (identity, "
               "probabilistic), so that they add to 1; enclosures: they are positive for all scores in [-8, 8], and so less than 1",
     .correction = "It is the fraction, a number between 0 and 1; the percentage is 100 times as much.",
     .seeds = 4},
    {.id = "B010",
     .statement = "Division by √d_k restores unit variance, hence softmax stays where it is not saturated, hence "
                  "the gradients are healthier.",
     .text = wording::imprecise,
     .status = outcome::refuted,
     .by = means::enclosures,
     .details = "enclosures, for two keys and d_k = 64: scaled scores that saturate all the same, a tie where scaling "
               "makes the gradient smaller, and a typical pair where "
               "it makes it greater; identity (probabilistic): the gradient is 1/(2 + e^g + e^-g) for scores that are "
               "g apart",
     .correction = "A tendency, no rule. Raw scores 8 apart, one standard deviation for d_k = 64, have the gradient "
                   "0.000335238 unscaled, 0.196612 for the scaled score and "
                   "0.0245765 for the raw one, 73 times as much. Vectors that are long enough saturate softmax all the "
                   "same, and at a tie scaling by 1/8 "
                   "leaves an eighth of the gradient.",
     .value = "0.000335238 0.196612 0.0245765 73 1/8",
     .value_is = "gradient unscaled, scaled, by the raw score; how many times as much; share that is left at a tie",
     .tests = "gradient/softmax",
     .seeds = 4},
    {.id = "E003",
     .statement = "Softmax is applied row by row, across the keys.",
     .text = wording::correct,
     .status = outcome::identity,
     .by = means::field,
     .details = "finite field, 2 × 3: each row is the softmax of that row of scores and adds to 1; columns do not",
     .tests = "formula/softmax",
     .seeds = 4},
    {.id = "E005",
     .statement = "Softmax of a row makes weights that sum to 1: a probability distribution over the tokens.",
     .text = wording::correct,
     .status = outcome::identity,
     .by = means::field,
     .details = "finite field, 2 × 3 scores: the sum; enclosures of five weights: they are positive, and 1 is in the "
               "enclosure of their sum",
     .tests = "formula/softmax",
     .seeds = 4},
    {.id = "E006",
     .statement = "Softmax is not applied over the feature dimension.",
     .text = wording::correct,
     .status = outcome::proved,
     .by = means::types,
     .details = "types: the weights have an axis of queries and one of keys; finite field: softmax over the features of "
               "keys or outputs is another function (disproof of equality)"},
    {.id = "E056",
     .statement = "For three tokens the scores Q Kᵀ are 3 × 3, and softmax row by row keeps that shape.",
     .text = wording::correct,
     .status = outcome::proved,
     .by = means::types,
     .details = "types"},
    {.id = "E058",
     .statement = "For scores 8 and 0, α_1 = e^8/(e^8 + e^0) = 2980.958/2981.958 = 0.99966.",
     .text = wording::correct,
     .status = outcome::proved,
     .by = means::enclosures,
     .details = "enclosures",
     .value = "0.999664650",
     .value_is = "α_1"},
    {.id = "E059",
     .statement = "For scores 8 and 0, α_2 = 0.00034: the weights are nearly one-hot.",
     .text = wording::correct,
     .status = outcome::proved,
     .by = means::enclosures,
     .details = "enclosures",
     .value = "0.000335350",
     .value_is = "α_2"},
    {.id = "E060",
     .statement = "Scaled, the scores 8 and 0 become 8/8 = 1 and 0.",
     .text = wording::correct,
     .status = outcome::proved,
     .by = means::exact,
     .details = "exact rationals, d_k = 64"},
    {.id = "E061",
     .statement = "For scores 1 and 0, α_1 = e^1/(e^1 + 1) = 2.71828/3.71828 = 0.73106 and α_2 = 0.26894.",
     .text = wording::correct,
     .status = outcome::proved,
     .by = means::enclosures,
     .details = "enclosures",
     .value = "0.731058579 0.268941421",
     .value_is = "α_1 and α_2"},
    {.id = "E062",
     .statement = "The weights 0.73106 and 0.26894 are a healthy blend.",
     .text = wording::not_checkable,
     .status = outcome::not_checkable,
     .by = means::opinion,
     .details = "opinion: what blend is healthy is not defined, nor what is compared (unlike in B010). Their gradient "
                "is in E065"},
    {.id = "E063",
     .statement = "Unscaled (scores 8 and 0), the second weight is about 0, and because of that the derivative of the "
                  "output by the second score s_2 is about 0.",
     .text = wording::imprecise,
     .status = outcome::refuted,
     .by = means::enclosures,
     .details = "enclosures with dual numbers, v_1 = 0, and v_2 = 1 or 10000; identity (probabilistic) in the finite "
               "field: d out/d s_2 = α_1 α_2 (v_2 - v_1) = -d out/d s_1",
     .correction = "The derivative is α_1 α_2 (v_2 - v_1), and the one by s_1 is its negative: as small, "
                   "though α_1 is nearly 1. With two tokens, "
                   "one weight near 1 makes both small, unless the values lie far apart: at 10000 the derivative exceeds 3. "
                   "Unscaled the factor is 0.000335238, scaled 0.196612, 586 times as much; by the raw score 0.0245765, "
                   "73 times as much.",
     .value = "0.000335238 0.196612 586 0.0245765 73",
     .value_is = "factor unscaled, scaled, ratio, by the raw score, ratio",
     .tests = "gradient/softmax",
     .seeds = 4},
    {.id = "E064",
     .statement = "Unscaled, the gradients to the second token vanish.",
     .text = wording::imprecise,
     .status = outcome::refuted,
     .by = means::enclosures,
     .details = "enclosures with dual numbers: positive; identity (probabilistic) in the finite field: d out/d v_2 = "
               "α_2, d out/d s_2 = α_1 α_2 (v_2 - v_1)",
     .correction = "They are small and not 0: 0.000335238 times (v_2 - v_1) by its score, 0.000335350 by its value.",
     .value = "0.000335238 0.000335350",
     .value_is = "derivative by the score for v_2 - v_1 = 1, and by the value",
     .tests = "gradient/softmax",
     .seeds = 4},
    {.id = "E065",
     .statement = "With the scores divided by √d_k both weights stay sizeable, and both tokens get a learning signal.",
     .text = wording::correct,
     .status = outcome::proved,
     .by = means::enclosures,
     .details = "enclosures with dual numbers, for this example: both weights exceed 1/4, and both derivatives exceed "
               "3/4 of their greatest possible magnitude",
     .value = "0.73106 0.26894 0.196612",
     .value_is = "α_1, α_2 and the derivative",
     .tests = "gradient/softmax"},
};

} // namespace attest::proofs
