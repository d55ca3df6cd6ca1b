// SPDX-License-Identifier: BSL-1.0
/// \file
/// What the lectures say of activations.
#pragma once

#include "../claim.hpp"

namespace attest::proofs {

inline constexpr claim activation_claims[] = {
    {.id = "A102",
     .statement = "The activation of the FFN is typically ReLU or GELU.",
     .text = wording::correct,
     .status = outcome::not_checkable,
     .by = means::citation,
     .details = "a statement of what models use: ReLU in the original Transformer, GELU in BERT and GPT-2"},
    {.id = "A104",
     .statement = "ReLU gives its input if that is positive, else 0.",
     .text = wording::correct,
     .status = outcome::proved,
     .by = means::exact,
     .details = "all integers from -500 to 500; enclosures: of all numbers from -1000 to 0 it is 0, and from 2^-100 to "
                "1000 its slope is 1; at 0 there is no "
                "slope: the difference quotients of both sides differ"},
    {.id = "A105",
     .statement = "The name GELU says which function is meant. (Implied: the slides have that heading, and no "
                  "definition.)",
     .text = wording::imprecise,
     .status = outcome::refuted,
     .by = means::enclosures,
     .details = "enclosures: the three functions that the library knows by that name (that others call them so is a "
                "citation) differ at 1. Finite field: the second derivative is (2 - x²) e^(-x²/2)/√(2π), so the slope "
                "grows between -√2 and √2 alone (an assumption, for its exponential); enclosures of slopes on both "
                "sides of each extremum. That the two distances are extrema is proved; that no other is greater is "
                "tested.",
     .correction = "GELU(x) = x Φ(x), with GELU(x) - GELU(-x) = x. The tanh and the sigmoid form approximate it, off "
                   "by at most the distances that are given. It is least, and its slope greatest, where is said.",
     .value = "tanh form off by 0.00047324 at |x| = 2.69894; sigmoid form off by 0.020335 at |x| = 2.27040; minimum "
              "-0.1699712 at -0.7517915; greatest slope 1.128904 at √2",
     .value_is = "distances, where they are reached, and extrema",
     .tests = "formula/activation",
     .seeds = 4},
};

} // namespace attest::proofs
