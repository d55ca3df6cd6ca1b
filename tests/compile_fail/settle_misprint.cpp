// SPDX-License-Identifier: BSL-1.0
// A part that is false of the digits that it was given.
// EXPECT-GNU: part_is_false() [with long unsigned int Number = 1]
// EXPECT-Clang: part_is_false<1
// EXPECT: "8.9"
#include "../../proofs/settle.hpp"

using namespace attest::proofs;

constexpr auto is_eight = [](std::string_view printed) { return printed == "8"; };

#ifdef ATTEST_TWIN
const entry E021 = settle("E021", holds("8", is_eight));
#else
const entry E021 = settle("E021", holds("8.9", is_eight));
#endif

int main() {}
