// SPDX-License-Identifier: BSL-1.0
// An identity of the ledger whose points no part asks.
// EXPECT: an_identity_needs_its_seeds_and_a_part_that_takes_the_claim
#include "../../proofs/settle.hpp"

using namespace attest::proofs;

inline constexpr auto takes_nothing = [] { return true; };
inline constexpr auto takes_the_claim = [](const claim&) { return true; };

#ifdef ATTEST_TWIN
const entry E018 = settle("E018", holds(takes_the_claim));
#else
const entry E018 = settle("E018", holds(takes_nothing));
#endif

int main() {}
