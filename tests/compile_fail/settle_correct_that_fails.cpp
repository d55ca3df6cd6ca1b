// SPDX-License-Identifier: BSL-1.0
// A part by which a correct claim fails as printed.
// EXPECT: a_correct_claim_needs_a_part_that_holds_and_no_other
#include "../../proofs/settle.hpp"

using namespace attest::proofs;

#ifdef ATTEST_TWIN
const entry E021 = settle("E021", holds([] { return true; }), holds([] { return true; }));
#else
const entry E021 = settle("E021", holds([] { return true; }), fails_as_printed([] { return true; }));
#endif

int main() {}
