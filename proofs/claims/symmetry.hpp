// SPDX-License-Identifier: BSL-1.0
/// \file
/// What the lectures say of the order of the tokens.
#pragma once

#include "../claim.hpp"

namespace attest::proofs {

inline constexpr claim symmetry_claims[] = {
    {.id = "A018",
     .statement = "Attention is permutation-invariant: in whatever order the tokens stand, the result is the same.",
     .text = wording::wrong,
     .status = outcome::refuted,
     .by = means::exact,
     .details = "exact numbers and finite field: two tokens refute it, base 2; all 24 permutations of 4 tokens, d = 2, d_k = 3, d_v = 2 (identity, probabilistic)",
     .correction = "It is equivariant: permuted tokens give the same outputs in permuted rows, A(PX) = P A(X). Invariant it is only in the order of keys and "
                   "values that are permuted together, the queries staying. A causal mask breaks both.",
     .seeds = 4},
    {.id = "A019",
     .statement = "Because the order of the tokens does not matter, positional encodings are needed.",
     .text = wording::imprecise,
     .status = outcome::refuted,
     .by = means::exact,
     .details = "exact numbers and finite field: two tokens, base 2; all 24 permutations of 4 tokens for the unmasked case (identity, probabilistic)",
     .correction = "That holds for attention without a mask: what is added to the tokens then breaks the symmetry. Under a causal mask the order matters "
                   "without any encoding.",
     .seeds = 4},
    {.id = "B028",
     .statement = "Self-attention is permutation-invariant.",
     .text = wording::wrong,
     .status = outcome::refuted,
     .by = means::exact,
     .details = "exact numbers and finite field: two tokens x = (0), (1) refute it, base 2; all 24 permutations of 4 tokens, d = 2 (identity, probabilistic)",
     .correction = "It is equivariant, as the exercises say: the outputs are permuted as the tokens are.",
     .seeds = 4},
    {.id = "E035",
     .statement = "If the two inputs of self-attention are swapped, its outputs are the same vectors in swapped places, z_B and z_A.",
     .text = wording::correct,
     .status = outcome::identity,
     .by = means::field,
     .details = "finite field: n = 2, d = 2, d_k = 3, d_v = 2, without a mask",
     .seeds = 8},
    {.id = "E036",
     .statement = "The score q_i · k_j is decided by the two vectors that meet, wherever they stand.",
     .text = wording::correct,
     .status = outcome::identity,
     .by = means::field,
     .details = "finite field: all 24 permutations of n = 4 tokens, d = 2, d_k = 3",
     .seeds = 4,
     .degree = 4},
    {.id = "E037",
     .statement = "Self-attention is permutation-equivariant.",
     .text = wording::correct,
     .status = outcome::identity,
     .by = means::field,
     .details = "finite field: all 24 permutations of n = 4 tokens, d = 2, d_k = 3, d_v = 2, without a mask; the 120 orders of n = 5 keys with their values, seen from one query, at one point",
     .seeds = 4},
    {.id = "E038",
     .statement = "Self-attention knows no order of its own; therefore a positional encoding has to be added.",
     .text = wording::imprecise,
     .status = outcome::refuted,
     .by = means::exact,
     .details = "exact numbers and finite field: two tokens under a causal mask, base 2; RoPE at a random point, n = 3, d_k = 2; all 24 permutations of 4 tokens for "
               "the unmasked case (identity, probabilistic)",
     .correction = "So it is without a mask; a causal mask is a notion of order. And the order need not be added to the inputs: RoPE rotates queries and keys.",
     .seeds = 4},
};

} // namespace attest::proofs
