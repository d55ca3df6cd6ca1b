// SPDX-License-Identifier: BSL-1.0
// The README's example of shapes.
#include "catch.hpp"

// [snippet]
#include <attest/formula/attention.hpp>

struct n : attest::axis<3> {};
struct m : attest::axis<2> {};
struct d_k : attest::axis<4> {};
struct d_v : attest::axis<5> {};

attest::tensor<double, n, d_v> attend_to(const attest::tensor<double, n, d_k>& Q, const attest::tensor<double, m, d_k>& K,
                                         const attest::tensor<double, m, d_v>& V) {
    return attest::attention(Q, K, V); // V with three rows instead of m = 2 would not compile
}
// [/snippet]

TEST_CASE("the README's example of shapes") {
    attest::tensor<double, m, d_v> V;
    for (std::size_t c = 0; c < 5; ++c) V(0, c) = V(1, c) = static_cast<double>(c);
    const auto Z = attend_to({}, {}, V);
    for (std::size_t i = 0; i < 3; ++i)
        for (std::size_t c = 0; c < 5; ++c) CHECK(Z(i, c) == static_cast<double>(c)); // the mean of equal rows
}
