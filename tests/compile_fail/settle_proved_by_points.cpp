// SPDX-License-Identifier: BSL-1.0
// A claim with random points that is said to be proved: it is an identity (probabilistic).
// EXPECT: what_is_proved_does_not_rest_on_random_points
#include "../../proofs/settle.hpp"

using namespace attest::proofs;

template <outcome Status, unsigned Seeds>
constexpr claim mine{
    .id = "X001", .statement = "It is so.", .text = wording::correct, .status = Status, .by = means::field, .details = "none", .seeds = Seeds};
constexpr std::source_location here = std::source_location::current();

#ifdef ATTEST_TWIN
const entry X001 = settle(mine<outcome::identity, 4>, here, holds([](const claim&) { return true; }));
#else
const entry X001 = settle(mine<outcome::proved, 4>, here, holds([](const claim&) { return true; }));
#endif

int main() {}
