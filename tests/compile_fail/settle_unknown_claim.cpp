// SPDX-License-Identifier: BSL-1.0
// A proof of a claim that is not in the ledger: E has 79.
// EXPECT: there_is_no_such_claim
#include "../../proofs/settle.hpp"

using namespace attest::proofs;

#ifdef ATTEST_TWIN
const entry last = settle("E021", holds([] { return true; }));
#else
const entry last = settle("E921", holds([] { return true; }));
#endif

int main() {}
