// SPDX-License-Identifier: BSL-1.0
/// \file
/// What the lectures say of activations.
#pragma once

#include "../claim.hpp"

namespace attest::proofs {

inline constexpr claim activation_claims[] = {
    {.id = "A102",
     .statement = "TODO",
     .text = wording::correct,
     .status = outcome::not_checkable,
     .method = "TODO"},
    {.id = "A104",
     .statement = "TODO",
     .text = wording::correct,
     .status = outcome::proved,
     .method = "TODO"},
    {.id = "A105",
     .statement = "TODO",
     .text = wording::imprecise,
     .status = outcome::refuted,
     .method = "TODO"},
};

} // namespace attest::proofs
