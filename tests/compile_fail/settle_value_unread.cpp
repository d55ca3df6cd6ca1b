// SPDX-License-Identifier: BSL-1.0
// A claim with a value that no part reads.
// EXPECT: a_claim_with_a_value_needs_a_part_that_takes_the_claim
#include "../../proofs/settle.hpp"

using namespace attest::proofs;

inline constexpr auto takes_nothing = [] { return true; };
inline constexpr auto takes_the_claim = [](const claim&) { return true; };

#ifdef ATTEST_TWIN
const entry E052 = settle("E052", holds(takes_the_claim));
#else
const entry E052 = settle("E052", holds(takes_nothing));
#endif

int main() {}
