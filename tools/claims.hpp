// SPDX-License-Identifier: BSL-1.0
// The ledger of claims as the program tells it: where proofs stand, whether they were built with it, and the words.
#pragma once

#include "proofs/claims.hpp"

#include <string>
#include <vector>

namespace attest::program {

using proofs::claim;

/// All claims, in the order of the lectures: A, B, E.
[[nodiscard]] std::vector<const claim*> claims_in_order();

[[nodiscard]] std::string_view word(proofs::wording text);
[[nodiscard]] std::string_view word(proofs::outcome status);
[[nodiscard]] std::string_view word(proofs::means by);

/// proofs/attention.cpp:57; of a claim without proof, its entry in the ledger.
[[nodiscard]] std::string source_of(const claim& c);

/// Of an identity: how sure it is. Otherwise empty.
[[nodiscard]] std::string error_of(const claim& c);

/// Whether the proofs were compiled in the same build as this program, and what that means.
[[nodiscard]] bool proofs_were_built();
[[nodiscard]] std::string proofs_sentence();

} // namespace attest::program
