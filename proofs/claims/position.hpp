// SPDX-License-Identifier: BSL-1.0
/// \file
/// What the lectures say of positions.
#pragma once

#include "../claim.hpp"

namespace attest::proofs {

inline constexpr claim position_claims[] = {
    {.id = "B029",
     .statement = "Self-attention does not know the order of its inputs, so information on positions is added to the inputs (by sinusoids, learned vectors, or RoPE).",
     .text = wording::imprecise,
     .status = outcome::refuted,
     .by = means::field,
     .details = "finite field: a counterexample, and what is true instead as an identity (probabilistic), n = 3, d = 4",
     .correction = "Sinusoids and learned vectors are added to the inputs. RoPE adds nothing to them: inside attention it rotates queries and keys, and what a rotation "
                   "changes depends on what is rotated (0 stays 0).",
     .seeds = 4},
    {.id = "B030",
     .statement = "Component 2i of the encoding of position t is sin(t/10000^(2i/d)), and component 2i + 1 the cosine of the same angle.",
     .text = wording::correct,
     .status = outcome::proved,
     .by = means::exact,
     .details = "exact: a symbolic arithmetic of c*base^(p/q), their sines and cosines, for every base, d = 2, 5, 8; the base itself by enclosures; an odd d has a sine without its "
               "cosine, and does not compile in the strict form",
     .tests = "compile_fail/even_dimension"},
    {.id = "B031",
     .statement = "(Implied by the formula.) PE(0) has 0 for each sine and 1 for each cosine; PE(t)*PE(t) = d/2; PE(s)*PE(t) depends on s - t alone; PE(t + k) = R_k PE(t) with a rotation R_k for all t.",
     .text = wording::correct,
     .status = outcome::identity,
     .by = means::field,
     .details = "finite field, free base, positions 0 to 4, d = 4",
     .seeds = 4},
    {.id = "B032",
     .statement = "Every dimension of the sinusoids has a frequency of its own.",
     .text = wording::imprecise,
     .status = outcome::refuted,
     .by = means::exact,
     .details = "symbolic exponents for d = 512, the largest period by an enclosure; that dimensions 2i and 2i + 1 share theirs also as sin^2 + cos^2 = 1: identity "
                "(probabilistic) in a finite field, free base, positions 0 to 4, d = 4",
     .correction = "Every pair of dimensions has its own frequency: 2i and 2i + 1 have the same. For d = 512 the longest period is 10000^(510/512) = 9646.6 times the shortest, "
                   "which is 2 pi.",
     .value = "9646.6",
     .value_is = "longest period over the shortest",
     .seeds = 4},
    {.id = "B033",
     .statement = "Sinusoids that are added let attention learn to go by relative position.",
     .text = wording::imprecise,
     .status = outcome::refuted,
     .by = means::enclosures,
     .details = "enclosures: base 10000, d = 4, the tokens (1, 0, 0, 0) and 0 at the positions 1 and 0, and at 4 and 3. "
                "Corrected: finite field, free base, positions 0 to 4, d = 4 (identity, probabilistic). What a model learns is a "
                "hypothesis, and not checkable",
     .correction = "One linear map R_k takes every PE(t) to PE(t + k), and PE(s)·PE(t) depends on s − t alone. But the scores of x "
                   "+ PE depend on the tokens and on both positions, not on the difference alone.",
     .seeds = 4},
    {.id = "B034",
     .statement = "Learned positions: every position index has a trainable vector of its own.",
     .text = wording::correct,
     .status = outcome::proved,
     .by = means::polynomials,
     .details = "symbols, for all tokens, tables and gradients: token t gets row t + offset of the table, and that row the gradient of token t alone; n = 2, 3 rows, d = 2, "
                "offsets 0 and 1"},
    {.id = "B035",
     .statement = "Learned positions are limited to the greatest length that was seen: the table ends. (That they are simple and effective is an opinion, and not checkable.)",
     .text = wording::correct,
     .status = outcome::proved,
     .by = means::types,
     .details = "types: a sequence longer than the table has no sum, and does not compile.",
     .tests = "compile_fail/position_in_table"},
    {.id = "B036",
     .statement = "RoPE rotates pairs of a query and a key by angles that depend on the position.",
     .text = wording::imprecise,
     .status = outcome::refuted,
     .by = means::exact,
     .details = "exact fractions: two readings, two results; finite field, free base, both pairings, d = 7 of which 6, 4 or 2 are rotated: identity (probabilistic)",
     .correction = "Each query and each key is rotated by itself: pair i of its components by its position times base^(-2i/d). Which components are a pair must be said: "
                   "(2i, 2i + 1), or (i, i + d/2). The two give different vectors.",
     .seeds = 4},
    {.id = "B037",
     .statement = "After RoPE the product of the query at m and the key at n depends on m - n alone.",
     .text = wording::imprecise,
     .status = outcome::refuted,
     .by = means::exact,
     .details = "exact fractions; finite field, free base, q and k, m and n from -1 to 2, both pairings, d = 5 of which 4 are rotated: identity (probabilistic)",
     .correction = "Of the positions only m - n enters; but other vectors q and k give another product at the same m - n.",
     .value = "88/25 for q = (3, 4), k = (0, 2) at (m, n) = (5, 3), (7, 5), (2, 0), with a rotation by cosine 3/5, sine 4/5",
     .value_is = "q·k after the rotation",
     .seeds = 4},
    {.id = "B038",
     .statement = "RoPE preserves relative distance in cosine similarity.",
     .text = wording::imprecise,
     .status = outcome::refuted,
     .by = means::exact,
     .details = "exact fractions: q = (3, 4) with itself; finite field, free base and vectors, both pairings, d = 5 of which 4 are rotated: identity (probabilistic)",
     .correction = "Rotations keep norms, and of the positions the products see m - n alone (B037): so does the cosine of two given vectors. It is no distance, and not monotone: "
                   "it may grow as positions move apart.",
     .value = "-117/125 at distance 3, -527/625 at distance 4",
     .value_is = "cosine of the vector with itself, turned",
     .seeds = 4},
};

} // namespace attest::proofs
