// SPDX-License-Identifier: BSL-1.0
/// \file
/// What the lectures say of residual connections.
#pragma once

#include "../claim.hpp"

namespace attest::proofs {

inline constexpr claim residual_claims[] = {
    {.id = "A084",
     .statement = "TODO",
     .text = wording::correct,
     .status = outcome::proved,
     .method = "TODO"},
    {.id = "A085",
     .statement = "TODO",
     .text = wording::correct,
     .status = outcome::proved,
     .method = "TODO"},
    {.id = "A086",
     .statement = "TODO",
     .text = wording::imprecise,
     .status = outcome::refuted,
     .method = "TODO"},
    {.id = "A087",
     .statement = "TODO",
     .text = wording::wrong,
     .status = outcome::refuted,
     .method = "TODO"},
    {.id = "B043",
     .statement = "TODO",
     .text = wording::correct,
     .status = outcome::proved,
     .method = "TODO"},
    {.id = "B044",
     .statement = "TODO",
     .text = wording::imprecise,
     .status = outcome::refuted,
     .method = "TODO"},
    {.id = "B045",
     .statement = "TODO",
     .text = wording::not_checkable,
     .status = outcome::not_checkable,
     .method = "TODO"},
};

} // namespace attest::proofs
