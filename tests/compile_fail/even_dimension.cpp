// SPDX-License-Identifier: BSL-1.0
// B030: sines and cosines in pairs, of an odd number of components.
// EXPECT: sines and cosines come in pairs: the dimension must be even
#include "attest/formula/position.hpp"

struct n : attest::axis<3> {};
struct even : attest::axis<6> {};
struct odd : attest::axis<5> {};

int main() {
#ifdef ATTEST_TWIN
    using d_model = even;
#else
    using d_model = odd;
#endif
    return attest::sinusoidal_pairs<double, n, d_model>()(0, 0) > 0;
}
