// SPDX-License-Identifier: BSL-1.0
// Something else holds than what a wrong claim says, which does not fail.
// EXPECT: an_imprecise_or_wrong_claim_needs_a_part_that_fails_as_printed_and_one_that_holds_corrected
#include "../../proofs/settle.hpp"

using namespace attest::proofs;

#ifdef ATTEST_TWIN
const entry B012 = settle("B012", fails_as_printed([] { return true; }), holds_corrected([] { return true; }));
#else
const entry B012 = settle("B012", holds_corrected([] { return true; }), holds_corrected([] { return true; }));
#endif

int main() {}
