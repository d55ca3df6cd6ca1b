// SPDX-License-Identifier: BSL-1.0
// An identity without random points. (The ledger has none: hence a claim of our own.)
// EXPECT: an_identity_needs_its_seeds_and_a_part_that_takes_the_claim
#include "../../proofs/settle.hpp"

using namespace attest::proofs;

template <outcome Status, unsigned Seeds>
constexpr claim mine{
    .id = "X001", .statement = "It is so.", .text = wording::correct, .status = Status, .by = means::field, .details = "none", .seeds = Seeds};
constexpr std::source_location here = std::source_location::current();

#ifdef ATTEST_TWIN
const entry X001 = settle(mine<outcome::identity, 4>, here, holds([](const claim&) { return true; }));
#else
const entry X001 = settle(mine<outcome::identity, 0>, here, holds([](const claim&) { return true; }));
#endif

int main() {}
