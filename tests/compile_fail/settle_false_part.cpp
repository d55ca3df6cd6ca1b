// SPDX-License-Identifier: BSL-1.0
// A proof whose second part is false. The entry is no constexpr variable: it is `settle` that has to be evaluated by the compiler.
// EXPECT-GNU: part_is_false() [with long unsigned int Number = 2]
// EXPECT-Clang: part_is_false<2
// EXPECT: "E021"
#include "../../proofs/settle.hpp"

using namespace attest::proofs;

#ifdef ATTEST_TWIN
const entry E021 = settle("E021", holds([] { return true; }), holds([] { return true; }));
#else
const entry E021 = settle("E021", holds([] { return true; }), holds([] { return false; }));
#endif

int main() {}
