// SPDX-License-Identifier: BSL-1.0
/// \file
/// What the lectures say of positions.
#pragma once

#include "../claim.hpp"

namespace attest::proofs {

inline constexpr claim position_claims[] = {
    {.id = "B029",
     .statement = "TODO",
     .text = wording::imprecise,
     .status = outcome::refuted,
     .method = "TODO"},
    {.id = "B030",
     .statement = "TODO",
     .text = wording::correct,
     .status = outcome::proved,
     .method = "TODO"},
    {.id = "B031",
     .statement = "TODO",
     .text = wording::correct,
     .status = outcome::proved,
     .method = "TODO"},
    {.id = "B032",
     .statement = "TODO",
     .text = wording::imprecise,
     .status = outcome::refuted,
     .method = "TODO"},
    {.id = "B033",
     .statement = "TODO",
     .text = wording::imprecise,
     .status = outcome::refuted,
     .method = "TODO"},
    {.id = "B034",
     .statement = "TODO",
     .text = wording::correct,
     .status = outcome::proved,
     .method = "TODO"},
    {.id = "B035",
     .statement = "TODO",
     .text = wording::correct,
     .status = outcome::proved,
     .method = "TODO"},
    {.id = "B036",
     .statement = "TODO",
     .text = wording::imprecise,
     .status = outcome::refuted,
     .method = "TODO"},
    {.id = "B037",
     .statement = "TODO",
     .text = wording::imprecise,
     .status = outcome::refuted,
     .method = "TODO"},
    {.id = "B038",
     .statement = "TODO",
     .text = wording::imprecise,
     .status = outcome::refuted,
     .method = "TODO"},
};

} // namespace attest::proofs
