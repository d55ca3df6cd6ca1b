// SPDX-License-Identifier: BSL-1.0
// The example of docs/gradient.md.
#include "attest/arithmetic/dual.hpp"
#include "attest/gradient/attention.hpp"
#include "catch.hpp"
#include "docs/digits.hpp"

namespace {
// [snippet]
#include <attest/arithmetic/dual.hpp>
#include <attest/gradient/attention.hpp>

struct n : attest::axis<2> {};
struct d_k : attest::axis<2> {};
struct d_v : attest::axis<2> {};

constexpr attest::tensor<double, n, d_k> Q{{1, 0}, {0, 1}}, K{{1, 0}, {0, 1}};
constexpr attest::tensor<double, n, d_v> V{{2, 0}, {0, 3}};
constexpr attest::tensor<double, n, d_v> dZ{{1, 0}, {0, 0}}; // what depends on the output: here its first element alone

constexpr auto gradient = attest::attention_vjp(Q, K, V, dZ);
// dV, column 1: the weights of query 1, 0.66976 and 0.33024.  dQ, row 1: 0.31280, -0.31280

// The same derivative by another way: dual numbers carry it along.
using dual = attest::dual<double>;
constexpr attest::tensor<dual, n, d_k> Q_moved{{dual(1.0, 1.0), 0}, {0, 1}}, K_fixed{{1, 0}, {0, 1}};
constexpr attest::tensor<dual, n, d_v> V_fixed{{2, 0}, {0, 3}};
constexpr double by_dual_numbers = attest::attention(Q_moved, K_fixed, V_fixed)(0, 0).derivative();
// [/snippet]
} // namespace

TEST_CASE("the digits of docs/gradient.md", "[docs]") {
    CHECK(docs::with_digits(gradient.dv(0, 0), 5) == "0.66976");
    CHECK(docs::with_digits(gradient.dv(1, 0), 5) == "0.33024");
    CHECK(docs::with_digits(gradient.dq[0], 5) == "0.31280, -0.31280");
    CHECK(docs::with_digits(by_dual_numbers, 5) == "0.31280");
    CHECK(gradient.dq[1] == attest::tensor<double, d_k>{0, 0});
}
