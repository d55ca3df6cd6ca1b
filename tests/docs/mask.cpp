// SPDX-License-Identifier: BSL-1.0
// The example of docs/mask.md.
#include "attest/formula/attention.hpp"
#include "catch.hpp"

#include <string>

namespace {
// [snippet]
#include <attest/formula/attention.hpp>

struct n_q : attest::axis<2> {};
struct n_k : attest::axis<4> {};
struct d : attest::axis<3> {};

// Two new tokens, and a cache of two: query 0 is the third token, and sees three keys.
constexpr attest::tensor<bool, n_q, n_k> no_padding{{true, true, true, true}, {false, true, true, true}};
constexpr auto mask = attest::causal_bottom_right{2, 4} & attest::keep_mask{no_padding};
static_assert(mask.visible(0, 2) && !mask.visible(0, 3)); // the future is hidden
static_assert(mask.visible(1, 3) && !mask.visible(1, 0)); // and so is the padding

attest::tensor<double, n_q, d> attend_to_cache(const attest::tensor<double, n_q, d>& Q, const attest::tensor<double, n_k, d>& K,
                                               const attest::tensor<double, n_k, d>& V) {
    return attest::attention(Q, K, V, mask, attest::empty_row::nan); // a row without a visible key would be NaN
}
// [/snippet]

// The rows of the page's tables: 1 may be seen.
template <class M> std::string row(const M& m, std::size_t i) {
    std::string text;
    for (std::size_t j = 0; j < 4; ++j) text += m.visible(i, j) ? "1 " : ". ";
    return text;
}
} // namespace

TEST_CASE("the tables of docs/mask.md", "[docs]") {
    CHECK(row(attest::causal_top_left{}, 0) == "1 . . . ");
    CHECK(row(attest::causal_top_left{}, 1) == "1 1 . . ");
    CHECK(row(attest::causal_bottom_right{2, 4}, 0) == "1 1 1 . ");
    CHECK(row(attest::causal_bottom_right{2, 4}, 1) == "1 1 1 1 ");
    attest::tensor<double, n_q, d> Q;
    attest::tensor<double, n_k, d> K, V;
    for (std::size_t j = 0; j < 4; ++j)
        for (std::size_t c = 0; c < 3; ++c) V(j, c) = static_cast<double>(3 * j);
    const auto Z = attend_to_cache(Q, K, V);
    CHECK(Z(0, 0) == Approx(3));   // the mean of keys 0, 1, 2
    CHECK(Z(1, 0) == Approx(6));   // of keys 1, 2, 3
}
