// SPDX-License-Identifier: BSL-1.0
// A proof of an opinion.
// EXPECT: the_claim_has_a_proof_though_it_is_not_checkable
#include "../../proofs/settle.hpp"

using namespace attest::proofs;

#ifdef ATTEST_TWIN
const entry of = settle("A104", holds([] { return true; }));
#else
const entry of = settle("A058", holds([] { return true; }));
#endif

int main() {}
