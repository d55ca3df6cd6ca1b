// SPDX-License-Identifier: BSL-1.0
/// \file
/// What the lectures say of the order of the tokens.
#pragma once

#include "../claim.hpp"

namespace attest::proofs {

inline constexpr claim symmetry_claims[] = {
    {.id = "A018",
     .statement = "TODO",
     .text = wording::wrong,
     .status = outcome::refuted,
     .method = "TODO"},
    {.id = "A019",
     .statement = "TODO",
     .text = wording::imprecise,
     .status = outcome::refuted,
     .method = "TODO"},
    {.id = "B028",
     .statement = "TODO",
     .text = wording::wrong,
     .status = outcome::refuted,
     .method = "TODO"},
    {.id = "E035",
     .statement = "TODO",
     .text = wording::correct,
     .status = outcome::proved,
     .method = "TODO"},
    {.id = "E036",
     .statement = "TODO",
     .text = wording::correct,
     .status = outcome::proved,
     .method = "TODO"},
    {.id = "E037",
     .statement = "TODO",
     .text = wording::correct,
     .status = outcome::proved,
     .method = "TODO"},
    {.id = "E038",
     .statement = "TODO",
     .text = wording::imprecise,
     .status = outcome::refuted,
     .method = "TODO"},
};

} // namespace attest::proofs
