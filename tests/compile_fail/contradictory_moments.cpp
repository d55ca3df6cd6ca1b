// SPDX-License-Identifier: BSL-1.0
// Independent variables with mean 0, and a product with mean 1: from such hypotheses anything would follow.
// EXPECT: a_given_moment_is_not_what_independence_makes_of_it
#include "../../proofs/moments.hpp"

using namespace attest::proofs;

constexpr variable q(0), k(1);

int main() {
#ifdef ATTEST_TWIN
    constexpr bool known = hypotheses().finite(2).independent({q, k}).standard({q, k}).given(q * k, 0).mean(q * k).known();
#else
    constexpr bool known = hypotheses().finite(2).independent({q, k}).standard({q, k}).given(q * k, 1).mean(q * k).known();
#endif
    return known ? 0 : 1;
}
