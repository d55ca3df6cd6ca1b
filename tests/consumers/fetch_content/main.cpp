// SPDX-License-Identifier: BSL-1.0
// Shapes as types, decided by the compiler; nothing but the standard library behind it.
#include <attest/formula/attention.hpp>
#include <attest/version.hpp>

#include <cstdio>

struct n : attest::axis<2> {};
struct d_k : attest::axis<4> {};
struct d_v : attest::axis<3> {};

constexpr attest::tensor<double, n, d_k> Q; // zeros: every key weighs the same
constexpr attest::tensor<double, n, d_k> K{{1, 2, 3, 4}, {5, 6, 7, 8}};
constexpr attest::tensor<double, n, d_v> V{{1, 0, 4}, {3, 2, 0}};
constexpr auto Z = attest::attention(Q, K, V);
static_assert(Z == attest::tensor<double, n, d_v>{{2, 1, 2}, {2, 1, 2}});

int main() { std::printf("attest %s: z_1 = (%g, %g, %g)\n", attest::version, Z(0, 0), Z(0, 1), Z(0, 2)); }
