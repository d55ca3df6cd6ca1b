// SPDX-License-Identifier: BSL-1.0
/// \file
/// What the lectures say of residual connections.
#pragma once

#include "../claim.hpp"

namespace attest::proofs {

inline constexpr claim residual_claims[] = {
    {.id = "A084",
     .statement = "Output = X + Sublayer(X).",
     .text = wording::correct,
     .status = outcome::identity,
     .by = means::field,
     .details = "finite field, n = 2, d = 3; types: the sublayer must keep the shape, which attention does with a W_O, or with "
                "d_v = d",
     .tests = "compile_fail/residual_keeps_shape",
     .seeds = 4,
     .degree = 1},
    {.id = "A085",
     .statement = "The addition is element by element: Output_ij = x_ij + Sublayer(X)_ij.",
     .text = wording::correct,
     .status = outcome::identity,
     .by = means::field,
     .details = "finite field, n = 2, d = 3",
     .seeds = 4,
     .degree = 1},
    {.id = "A086",
     .statement = "The derivative of X + f(X) by X is 1 + f'(X).",
     .text = wording::imprecise,
     .status = outcome::refuted,
     .by = means::exact,
     .details = "dual numbers over exact rationals, d = 2, and over the finite field with an opaque ReLU, d = 3 (probabilistic)",
     .correction = "So for numbers. For vectors it is I + J, with the Jacobian J of f and the unit matrix I: the 1 stands on "
                   "the diagonal alone.",
     .seeds = 4,
     .degree = 16},
    {.id = "A087",
     .statement = "Even if f' is near 0, the total gradient is still at least 1.",
     .text = wording::wrong,
     .status = outcome::refuted,
     .by = means::exact,
     .details = "dual numbers over exact rationals, and for |1 + f'| >= 1 - |f'| over polynomials: (1 + f')² - (1 - a)² = 2 (f' + a) + f'² - "
                "a², which is not negative for a = |f'|; for vectors over the finite field, d = 3 (probabilistic), as sums of "
                "squares",
     .correction = "|1 + f'| >= 1 - |f'|, reached by negative f' above -1: below 1, and 0 for f' = -1. For vectors |(I + J) v| "
                   ">= |v| - |J v|, so that the least singular value of I + J is at least 1 - |J|. For a "
                   "post-norm block see B044.",
     .value = "f' = -1/100 gives 99/100, f' = -1 gives 0",
     .value_is = "1 + f'",
     .seeds = 4,
     .degree = 32},
    {.id = "B043",
     .statement = "x' = x + SubLayer(x).",
     .text = wording::correct,
     .status = outcome::identity,
     .by = means::field,
     .details = "finite field, d = 3",
     .seeds = 4,
     .degree = 1},
    {.id = "B044",
     .statement = "The gradient flows directly through the addition, so that the way to the input stays intact.",
     .text = wording::imprecise,
     .status = outcome::refuted,
     .by = means::exact,
     .details = "dual numbers over exact rationals: in LN(x + f(x)) the direction (1, 1, 1, 1) is lost; finite field, n = 1, d "
                "= 3 (probabilistic)",
     .correction = "Through the addition, yes: both terms get all of dy. Intact, no: in the post-norm block of the same lecture "
                   "what arrives there has been through the Jacobian of the layer norm, on the direct path too.",
     .seeds = 4,
     .degree = 32},
    {.id = "B045",
     .statement = "Residual connections avoid degradation in deep stacks and stabilise training.",
     .text = wording::not_checkable,
     .status = outcome::not_checkable,
     .by = means::empirical,
     .details = "empirical: no stack, data or comparison is given"},
};

} // namespace attest::proofs
