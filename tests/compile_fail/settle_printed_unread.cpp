// SPDX-License-Identifier: BSL-1.0
// Digits that are given to a part which does not take them.
// EXPECT: no matching function for call to
// EXPECT: takes_printed
#include "../../proofs/settle.hpp"

using namespace attest::proofs;

inline constexpr auto takes_nothing = [] { return true; };
inline constexpr auto takes_the_digits = [](std::string_view printed) { return printed == "8"; };

#ifdef ATTEST_TWIN
const entry E021 = settle("E021", holds("8", takes_the_digits));
#else
const entry E021 = settle("E021", holds("8", takes_nothing));
#endif

int main() {}
