// SPDX-License-Identifier: BSL-1.0
/// \file
/// What the lectures say of masks.
#pragma once

#include "../claim.hpp"

namespace attest::proofs {

inline constexpr claim mask_claims[] = {
    {.id = "B039",
     .statement = "A decoder that goes from left to right must hide from position i all that stands at j > i.",
     .text = wording::correct,
     .status = outcome::proved,
     .by = means::doubles,
     .details =
         "full enumeration of 8 × 8 positions; double, 4 tokens: rows keep their bits when all later tokens are NaN",
     .tests = "formula/mask formula/attention"},
    {.id = "B040",
     .statement =
         "Causal masking keeps the score e_ij = q_i·k_j/√d_k for j <= i and sets it to −∞ for j > i.",
     .text = wording::correct,
     .status = outcome::identity,
     .by = means::field,
     .details = "finite field, n = 4, d_k = 3, d_v = 2, scale free: scores, and weights as quotients of sums over j <= "
               "i; double: adding −∞ for j > i is the same, bit for bit",
     .tests = "formula/mask formula/cache",
     .seeds = 4},
    {.id = "B041",
     .statement = "After softmax the weights of future positions are 0: α_ij = 0 for j > i.",
     .text = wording::correct,
     .status = outcome::proved,
     .by = means::doubles,
     .details = "double, 4 tokens: the bits are those of +0, whether the keys are masked or their scores are −∞; "
               "exact rationals: 0. (A row needs a visible key, which the "
               "causal mask gives it: softmax of a row of −∞ alone is NaN.)",
     .tests = "formula/mask formula/softmax"},
    {.id = "B042",
     .statement = "The mask lets all positions be trained in parallel while the model stays autoregressive.",
     .text = wording::correct,
     .status = outcome::identity,
     .by = means::field,
     .details = "finite field, n = 4, d_k = 3, d_v = 2, scale free: the rows of one pass over the sequence are those of "
               "the passes over its prefixes, whatever follows",
     .tests = "formula/attention formula/cache",
     .seeds = 4},
    {.id = "E075",
     .statement =
         "Future scores are set to −∞ before softmax; since e^{−∞} = 0, their weights become exactly 0.",
     .text = wording::correct,
     .status = outcome::proved,
     .by = means::doubles,
     .details = "double: e^{−∞} has the bits of +0, and so have the weights; enclosures for the limit: e^-x "
               "falls below 2^-80 at x = 56",
     .tests = "formula/mask"},
    {.id = "E076",
     .statement = "The weights that survive a mask renormalise.",
     .text = wording::correct,
     .status = outcome::identity,
     .by = means::field,
     .details =
         "finite field, n = 4: masked weight = weight / sum over j <= i of weights; exact rationals for one matrix",
     .seeds = 4},
    {.id = "E077",
     .statement = "Token 1 with token 2 masked (scaled score 1.41421, values (1, 0) and (0, 1)): α_11 = 1.00000, "
                  "α_12 = 0, z_1 = (1.00000, 0.00000).",
     .text = wording::correct,
     .status = outcome::proved,
     .by = means::exact,
     .details = "exact numbers a + b √2; enclosure of the score"},
    {.id = "E078",
     .statement = "Under the mask token 1 reads only itself.",
     .text = wording::correct,
     .status = outcome::identity,
     .by = means::field,
     .details = "finite field, n = 4, d_k = 3, d_v = 2, scale free: z_1 = v_1; double: it keeps its bits when all other "
               "tokens are NaN",
     .tests = "formula/attention",
     .seeds = 4},
};

} // namespace attest::proofs
