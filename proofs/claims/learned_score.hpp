// SPDX-License-Identifier: BSL-1.0
/// \file
/// What the lectures say of scores with weights of their own.
#pragma once

#include "../claim.hpp"

namespace attest::proofs {

inline constexpr claim learned_score_claims[] = {
    {.id = "B003",
     .statement = "TODO",
     .text = wording::correct,
     .status = outcome::proved,
     .method = "TODO"},
    {.id = "B004",
     .statement = "TODO",
     .text = wording::imprecise,
     .status = outcome::refuted,
     .method = "TODO"},
    {.id = "B005",
     .statement = "TODO",
     .text = wording::correct,
     .status = outcome::proved,
     .method = "TODO"},
    {.id = "B006",
     .statement = "TODO",
     .text = wording::correct,
     .status = outcome::proved,
     .method = "TODO"},
};

} // namespace attest::proofs
