// SPDX-License-Identifier: BSL-1.0
/// \file
/// What the lectures say of the feed-forward network.
#pragma once

#include "../claim.hpp"

namespace attest::proofs {

inline constexpr claim feed_forward_claims[] = {
    {.id = "A096",
     .statement = "TODO",
     .text = wording::correct,
     .status = outcome::proved,
     .method = "TODO"},
    {.id = "A097",
     .statement = "TODO",
     .text = wording::correct,
     .status = outcome::proved,
     .method = "TODO"},
    {.id = "A098",
     .statement = "TODO",
     .text = wording::not_checkable,
     .status = outcome::not_checkable,
     .method = "TODO"},
    {.id = "A099",
     .statement = "TODO",
     .text = wording::imprecise,
     .status = outcome::refuted,
     .method = "TODO"},
    {.id = "A100",
     .statement = "TODO",
     .text = wording::correct,
     .status = outcome::proved,
     .method = "TODO"},
    {.id = "A101",
     .statement = "TODO",
     .text = wording::imprecise,
     .status = outcome::refuted,
     .method = "TODO"},
    {.id = "A103",
     .statement = "TODO",
     .text = wording::correct,
     .status = outcome::proved,
     .method = "TODO"},
    {.id = "B053",
     .statement = "TODO",
     .text = wording::correct,
     .status = outcome::proved,
     .method = "TODO"},
};

} // namespace attest::proofs
