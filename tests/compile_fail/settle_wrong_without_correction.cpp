// SPDX-License-Identifier: BSL-1.0
// What a wrong claim says fails, and nothing holds instead.
// EXPECT: an_imprecise_or_wrong_claim_needs_a_part_that_fails_as_printed_and_one_that_holds_corrected
#include "../../proofs/settle.hpp"

using namespace attest::proofs;

#ifdef ATTEST_TWIN
const entry B012 = settle("B012", fails_as_printed([] { return true; }), holds_corrected([] { return true; }));
#else
const entry B012 = settle("B012", fails_as_printed([] { return true; }), fails_as_printed([] { return true; }));
#endif

int main() {}
