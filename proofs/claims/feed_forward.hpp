// SPDX-License-Identifier: BSL-1.0
/// \file
/// What the lectures say of the feed-forward network.
#pragma once

#include "../claim.hpp"

namespace attest::proofs {

inline constexpr claim feed_forward_claims[] = {
    {.id = "A096",
     .statement = "The FFN transforms the information of each single word.",
     .text = wording::correct,
     .status = outcome::identity,
     .by = means::field,
     .details = "finite field, n = 3, d_model = 2, d_ff = 4: FFN(P X) = P FFN(X) for all 6 permutations, and no word has "
                "influence on another, with an opaque ReLU, which stands for any activation; in integers, exactly, on one "
                "example",
     .seeds = 4,
     .degree = 32},
    {.id = "A097",
     .statement = "The FFN adds a nonlinearity, and would be one affine map without its activation. (That a model "
                  "needs it is a matter of experience, and not checkable: attention is not linear either, A016.)",
     .text = wording::correct,
     .status = outcome::identity,
     .by = means::field,
     .details = "exact integers: with ReLU FFN(x) + FFN(-x) is not 2 FFN(0), so it is not affine; finite field, n = "
                "3, d_model = 2, d_ff = 4: without an activation (X W_1 + b_1) W_2 + b_2 = X (W_1 W_2) + (b_1 W_2 + "
                "b_2), one affine map",
     .seeds = 4,
     .degree = 3},
    {.id = "A098",
     .statement = "The FFN stores factual knowledge.",
     .text = wording::not_checkable,
     .status = outcome::not_checkable,
     .by = means::empirical,
     .details = "empirical: no model or measurement is given"},
    {.id = "A099",
     .statement = "The FFN holds most of the model's parameters.",
     .text = wording::imprecise,
     .status = outcome::refuted,
     .by = means::types,
     .details = "types: the elements of the weights, in configurations that are citations; GPT-2 small and the original Transformer have fewer than half of theirs in "
                "FFNs",
     .correction = "Of an encoder layer's matrices 8 d^2 of 12 d^2, if d_ff = 4 d. Of a whole model it depends on the "
                   "embeddings: BERT-Base just over half, GPT-2 small less; the original base model less with its embeddings "
                   "(37,000 words) and more without.",
     .value = "2/3 of a layer; BERT-Base 56669184 of 109482240 = 51.8 %; GPT-2 small 45.5 %; Transformer-base 40.0 %, without "
              "embeddings 57.1 %",
     .value_is = "shares of the parameters"},
    {.id = "A100",
     .statement = "The FFN applies a non-linear transformation at each position.",
     .text = wording::correct,
     .status = outcome::identity,
     .by = means::field,
     .details = "exact integers: not affine with ReLU; finite field, n = 3, d_model = 2, d_ff = 4: row i of the result comes "
                "from row i alone",
     .seeds = 4,
     .degree = 32},
    {.id = "A101",
     .statement = "The FFN is two linear transformations and a non-linear activation, typically ReLU or GELU.",
     .text = wording::imprecise,
     .status = outcome::refuted,
     .by = means::exact,
     .details = "exact integers: the maps, and the FFN, are not 0 at 0; finite field, n = 3, d_model = 2, d_ff = 4 "
                "(probabilistic)",
     .correction = "Two affine transformations: each is linear but for its bias.",
     .seeds = 4,
     .degree = 3},
    {.id = "A103",
     .statement = "FFN(x) = GELU(x W_1 + b_1) W_2 + b_2.",
     .text = wording::correct,
     .status = outcome::identity,
     .by = means::field,
     .details = "finite field, n = 3, d_model = 2, d_ff = 4, with all three forms of GELU; types: W_1 is d_model × d_ff, W_2 "
                "d_ff × d_model. (The exponential of the sigmoid form: an assumption.)",
     .tests = "compile_fail/feed_forward_hidden_dimension formula/feed_forward",
     .seeds = 4},
    {.id = "B053",
     .statement = "FFN(a) = ReLU(a W_1 + b_1) W_2 + b_2.",
     .text = wording::correct,
     .status = outcome::identity,
     .by = means::field,
     .details = "finite field, n = 3, d_model = 2, d_ff = 4, with an opaque ReLU; in integers, exactly, on one example",
     .tests = "compile_fail/feed_forward_hidden_dimension",
     .seeds = 4,
     .degree = 32},
};

} // namespace attest::proofs
