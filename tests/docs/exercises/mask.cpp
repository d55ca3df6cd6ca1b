// SPDX-License-Identifier: BSL-1.0
// Answers of the exercises in docs/mask.md.
#include "attest/formula/attention.hpp"
#include "catch.hpp"

#include <cmath>

namespace {

// [exercise 1]
struct tokens : attest::axis<2> {};
struct width : attest::axis<2> {};
constexpr attest::tensor<double, tokens, width> Q{{1, 1}, {1, -1}}, V{{1, 0}, {0, 1}}; // K = Q
constexpr auto alpha = attest::attention_weights(Q, Q, attest::causal_top_left{});
constexpr auto Z = attest::attention(Q, Q, V, attest::causal_top_left{}), without_mask = attest::attention(Q, Q, V);
static_assert(alpha(0, 0) == 1 && alpha(0, 1) == 0 && Z(0, 0) == 1 && Z(0, 1) == 0);
static_assert(Z[1] == without_mask[1]); // the last token sees all there is, as before
// [/exercise 1]

// [exercise 2]
TEST_CASE("weights that survive a mask") {
    // Scores log 2, 0, 0: weights 1/2, 1/4, 1/4.
    const attest::tensor<double, attest::axis<3>> scores{std::log(2.0), 0, 0};
    const auto all = attest::softmax(scores), seen = attest::softmax(scores, [](std::size_t j) { return j < 2; });
    CHECK(std::abs(all(0) - 1.0 / 2) < 1e-15);
    CHECK(std::abs(seen(0) - 2.0 / 3) < 1e-15);
    CHECK(std::abs(seen(1) - 1.0 / 3) < 1e-15);
    CHECK(seen(2) == 0);
    CHECK(std::abs(all(0) + all(1) - 3.0 / 4) < 1e-15); // what a mask after softmax leaves
}
// [/exercise 2]

// [exercise 3]
template <class M> constexpr std::size_t visible_to(const M& mask, std::size_t i, std::size_t n_k) {
    std::size_t count = 0;
    for (std::size_t j = 0; j < n_k; ++j) count += mask.visible(i, j) ? 1U : 0U;
    return count;
}
// 3 queries, 5 keys.
static_assert(visible_to(attest::causal_top_left{}, 0, 5) == 1 && visible_to(attest::causal_top_left{}, 2, 5) == 3);
static_assert(visible_to(attest::causal_bottom_right{3, 5}, 0, 5) == 3 && visible_to(attest::causal_bottom_right{3, 5}, 2, 5) == 5);
// 5 queries, 3 keys: rows 0 and 1 of the bottom-right mask are empty, none of the top-left one is.
constexpr attest::causal_bottom_right tall{5, 3};
static_assert(visible_to(tall, 0, 3) == 0 && visible_to(tall, 1, 3) == 0 && visible_to(tall, 2, 3) == 1 && visible_to(tall, 4, 3) == 3);
static_assert(visible_to(attest::causal_top_left{}, 0, 3) == 1 && visible_to(attest::causal_top_left{}, 4, 3) == 3);
// [/exercise 3]

// [exercise 4]
constexpr float hidden = -1e9F;
constexpr attest::tensor<double, attest::axis<2>> in_f32{static_cast<double>(hidden + 3.0F), static_cast<double>(hidden + 0.0F)};
constexpr attest::tensor<double, attest::axis<2>> in_f64{-1e9 + 3, -1e9 + 0};
constexpr auto none = [](std::size_t) { return false; };
TEST_CASE("a large negative number in a row that sees no key") {
    CHECK(attest::softmax(in_f64)(0) == attest::softmax(attest::tensor<double, attest::axis<2>>{3, 0})(0)); // as if nothing was hidden
    CHECK(attest::softmax(in_f32)(0) == 0.5);                                                              // the 3 is rounded away
    CHECK(attest::softmax(in_f64, none)(0) == 0);                                                          // hidden
}
// [/exercise 4]

// [exercise 5]
// Which tokens j have had an influence on token i after so many layers?
constexpr bool reaches(std::size_t j, std::size_t i, int layers) {
    constexpr auto mask = attest::sliding_window{2, 0} & attest::causal_top_left{}; // W = 3
    if (layers == 0) return i == j;
    for (std::size_t between = 0; between < 16; ++between)
        if (mask.visible(i, between) && reaches(j, between, layers - 1)) return true;
    return false;
}
static_assert(reaches(8, 10, 1) && !reaches(7, 10, 1));
static_assert(reaches(4, 10, 3) && !reaches(3, 10, 3)); // 3 layers of 2 steps each
// [/exercise 5]

} // namespace
