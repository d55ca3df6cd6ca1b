// SPDX-License-Identifier: BSL-1.0
// A correct claim, and nothing by which it holds.
// EXPECT: a_correct_claim_needs_a_part_that_holds_and_no_other
#include "../../proofs/settle.hpp"

using namespace attest::proofs;

template <int Parts>
consteval proof proof_with() {
    if constexpr (Parts == 0) return settle("E021");
    else return settle("E021", holds([] { return true; }));
}

#ifdef ATTEST_TWIN
const entry E021 = proof_with<1>();
#else
const entry E021 = proof_with<0>();
#endif

int main() {}
