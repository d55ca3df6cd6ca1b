// SPDX-License-Identifier: BSL-1.0
// A part that is false of the value that it reads. Clang shows the value too, GCC the number of the part and the id.
// EXPECT-GNU: part_is_false() [with long unsigned int Number = 1]
// EXPECT: "E052"
// EXPECT-Clang: demand<1
// EXPECT-Clang: "16777216/16777395"
#include "../../proofs/settle.hpp"

using namespace attest::proofs;

template <char First> constexpr auto begins_with = [](const claim& c) { return c.number().front() == First; };

#ifdef ATTEST_TWIN
const entry E052 = settle("E052", holds(begins_with<'1'>));
#else
const entry E052 = settle("E052", holds(begins_with<'2'>));
#endif

int main() {}
