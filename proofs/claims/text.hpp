// SPDX-License-Identifier: BSL-1.0
/// \file
/// What the lectures say of references, names and labels.
#pragma once

#include "../claim.hpp"

namespace attest::proofs {

inline constexpr claim text_claims[] = {
    {.id = "A007",
     .statement = "TODO",
     .text = wording::wrong,
     .status = outcome::refuted,
     .method = "TODO"},
    {.id = "A071",
     .statement = "TODO",
     .text = wording::wrong,
     .status = outcome::refuted,
     .method = "TODO"},
    {.id = "A113",
     .statement = "TODO",
     .text = wording::correct,
     .status = outcome::not_checkable,
     .method = "TODO"},
    {.id = "A114",
     .statement = "TODO",
     .text = wording::wrong,
     .status = outcome::not_checkable,
     .method = "TODO"},
    {.id = "A115",
     .statement = "TODO",
     .text = wording::correct,
     .status = outcome::proved,
     .method = "TODO"},
    {.id = "A116",
     .statement = "TODO",
     .text = wording::correct,
     .status = outcome::not_checkable,
     .method = "TODO"},
    {.id = "A117",
     .statement = "TODO",
     .text = wording::wrong,
     .status = outcome::refuted,
     .method = "TODO"},
    {.id = "B060",
     .statement = "TODO",
     .text = wording::correct,
     .status = outcome::not_checkable,
     .method = "TODO"},
    {.id = "E079",
     .statement = "TODO",
     .text = wording::wrong,
     .status = outcome::refuted,
     .method = "TODO"},
};

} // namespace attest::proofs
