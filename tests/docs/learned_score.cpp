// SPDX-License-Identifier: BSL-1.0
// The scores with weights of docs/score.md.
#include "attest/formula/learned_score.hpp"
#include "catch.hpp"
#include "docs/digits.hpp"

namespace {
// [snippet]
#include <attest/formula/learned_score.hpp>

struct d_q : attest::axis<1> {};
struct d_k : attest::axis<2> {};
struct a : attest::axis<2> {};

constexpr attest::tensor<double, d_q> q{1};
constexpr attest::tensor<double, d_k> k{0, 2};

// Queries and keys may differ in dimension: W is d_q x d_k.
constexpr attest::bilinear general{attest::tensor<double, d_q, d_k>{{0.5, 1.5}}};
static_assert(general(q, k) == 3);

constexpr attest::tensor<double, a, d_k> W_1{{1, 0}, {0, 0.5}};
constexpr attest::tensor<double, a, d_q> W_2{{1}, {-1}};
constexpr attest::tensor<double, a> b{1, 2};
constexpr double s = attest::additive{W_1, W_2, b}(q, k);         // tanh(1) + 2 tanh(0) = 0.76159
constexpr double capped = attest::softcapped{general, 2.0}(q, k); // 2 tanh(3/2) = 1.81030
// [/snippet]
} // namespace

TEST_CASE("the digits of docs/score.md: scores with weights", "[docs]") {
    CHECK(docs::with_digits(s, 5) == "0.76159");
    CHECK(docs::with_digits(capped, 5) == "1.81030");
}
