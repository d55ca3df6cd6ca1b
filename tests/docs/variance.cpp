// SPDX-License-Identifier: BSL-1.0
// The example of docs/variance.md.
#include "attest/formula/score.hpp"
#include "attest/formula/softmax.hpp"
#include "catch.hpp"
#include "docs/digits.hpp"

namespace {
// [snippet]
#include <attest/formula/score.hpp>

struct d_k : attest::axis<4> {};

// Every component is -1 or 1, one as likely as the other: mean 0, variance 1. The 8 components of q and k have 2^8 outcomes.
struct sums {
    int scores = 0, squares = 0;
};
constexpr sums over_all_outcomes = [] {
    sums all;
    attest::tensor<int, d_k> q, k;
    for (unsigned outcome = 0; outcome < 256; ++outcome) {
        for (unsigned c = 0; c < 4; ++c) {
            q(c) = (outcome >> c & 1U) != 0 ? 1 : -1;
            k(c) = (outcome >> (4 + c) & 1U) != 0 ? 1 : -1;
        }
        const int s = attest::dot_product{}(q, k);
        all.scores += s;
        all.squares += s * s;
    }
    return all;
}();
static_assert(over_all_outcomes.scores == 0);            // the mean of q . k
static_assert(over_all_outcomes.squares == 4 * 256);     // its variance: d_k
constexpr double scale = attest::scaled_dot_product<double>::of_dimension(4).scale;
static_assert(4 * scale * scale == 1);                   // divided by sqrt(d_k): 1
// [/snippet]
} // namespace

TEST_CASE("the digits of docs/variance.md", "[docs]") {
    // 1/√d_k is exact where d_k is a power of 4.
    for (const std::size_t d : {1U, 4U, 16U, 64U, 256U}) CHECK(attest::scaled_dot_product<double>::of_dimension(d).scale * attest::sqrt(static_cast<double>(d)) == 1);
    for (const std::size_t d : {2U, 3U, 5U, 8U, 32U, 128U}) {
        const double s = attest::scaled_dot_product<double>::of_dimension(d).scale;
        CHECK(s * s * static_cast<double>(d) == Approx(1).epsilon(1e-15));
    }
}
