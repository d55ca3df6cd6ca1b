// SPDX-License-Identifier: BSL-1.0
// 512 components for 7 heads. (B023, E044)
// EXPECT: the number of heads H must divide d_model: each head has d_k = d_model / H components
// EXPECT: 512
// EXPECT: 7
#include "attest/shape/heads.hpp"

struct d_model : attest::axis<512> {};
#ifdef ATTEST_TWIN
struct H : attest::axis<8> {};
#else
struct H : attest::axis<7> {};
#endif
struct d_k : attest::per_head<d_model, H> {};

int main() { return d_k::size == 0; }
