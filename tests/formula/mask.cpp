// SPDX-License-Identifier: BSL-1.0
#include "attest/formula/mask.hpp"
#include "attest/arithmetic/real.hpp"
#include "attest/formula/softmax.hpp"
#include "catch.hpp"

#include <algorithm>
#include <cmath>
#include <string>

using namespace attest;

namespace {

struct n : axis<3> {};
struct m : axis<4> {};
using dyn = axis<dynamic>;

static_assert(mask<everything> && mask<causal_top_left> && mask<causal_bottom_right> && mask<sliding_window>);
static_assert(!detail::has_factor<everything> && !detail::has_sink<sliding_window> && !detail::is_additive<sliding_window>);
static_assert(mask<keep_mask<tensor<bool, n, m>>> && mask<additive_mask<tensor<double, n, m>>> && !mask<int>);
static_assert(!detail::is_additive<everything> && !detail::is_additive<keep_mask<tensor<bool, n, m>>>);
static_assert(detail::is_additive<additive_mask<tensor<double, n, m>>>);
static_assert(!detail::is_additive<both_masks<everything, causal_top_left>>);
static_assert(detail::is_additive<both_masks<causal_top_left, additive_mask<tensor<double, n, m>>>>);

constexpr tensor<bool, n, m> seen{{true, false, true, false}, {false, false, false, false}, {true, true, true, true}};
static_assert(keep_mask{seen}.visible(0, 2) && !keep_mask{seen}.visible(0, 1) && drop_mask{seen}.visible(0, 1));

const double infinity = std::numeric_limits<double>::infinity();

} // namespace

TEST_CASE("causal masks: the table of who sees whom", "[formula]") {
    for (std::size_t n_q = 0; n_q <= 5; ++n_q)
        for (std::size_t n_k = 0; n_k <= 5; ++n_k)
            for (std::size_t i = 0; i < n_q; ++i) {
                // Top left: the first query sees the first key. Bottom right: the last sees all, each one before it one less.
                std::size_t top_left = 0, bottom_right = 0;
                for (std::size_t j = 0; j < n_k; ++j) {
                    top_left += causal_top_left{}.visible(i, j);
                    bottom_right += causal_bottom_right{n_q, n_k}.visible(i, j);
                    if (j > 0) { // what is seen is a prefix
                        CHECK(causal_top_left{}.visible(i, j) <= causal_top_left{}.visible(i, j - 1));
                        CHECK(causal_bottom_right{n_q, n_k}.visible(i, j) <= causal_bottom_right{n_q, n_k}.visible(i, j - 1));
                    }
                }
                const std::size_t fewer = n_q - 1 - i;
                CAPTURE(n_q, n_k, i);
                CHECK(top_left == std::min(i + 1, n_k));
                CHECK(bottom_right == (n_k > fewer ? n_k - fewer : 0));
                if (n_q == n_k) CHECK(top_left == bottom_right);
            }
}

TEST_CASE("a sliding window: so many keys before the query, so many after", "[formula]") {
    for (int left = 0; left <= 4; ++left)
        for (int right = 0; right <= 4; ++right)
            for (int shift = -3; shift <= 3; ++shift) {
                const sliding_window window{static_cast<std::size_t>(left), static_cast<std::size_t>(right), shift};
                for (int i = 0; i < 6; ++i)
                    for (int j = 0; j < 8; ++j) {
                        CAPTURE(left, right, shift, i, j);
                        const int position = i + shift;
                        CHECK(window.visible(static_cast<std::size_t>(i), static_cast<std::size_t>(j)) == (position - left <= j && j <= position + right));
                    }
            }
    // W keys, self included, of the past: left = W − 1, and causal.
    const auto mistral = sliding_window{2, 0} & causal_top_left{};
    for (std::size_t i = 0; i < 6; ++i) {
        std::size_t count = 0;
        for (std::size_t j = 0; j < 6; ++j) count += mistral.visible(i, j);
        CHECK(count == std::min<std::size_t>(i + 1, 3));
        CHECK(mistral.visible(i, i));
    }
    // As wide as can be counted: everything; with the causal mask of a cache: that mask.
    const sliding_window widest{static_cast<std::size_t>(-1), static_cast<std::size_t>(-1)};
    const auto cached = sliding_window{static_cast<std::size_t>(-1), 0, 4} & causal_bottom_right{2, 6};
    for (std::size_t i = 0; i < 2; ++i)
        for (std::size_t j = 0; j < 6; ++j) {
            CHECK(widest.visible(i, j));
            CHECK(cached.visible(i, j) == causal_bottom_right{2, 6}.visible(i, j));
            CHECK(sliding_window{static_cast<std::size_t>(-1), 0, 4}.visible(i, j) == causal_bottom_right{2, 6}.visible(i, j)); // the shift is n_k − n_q
        }
}

TEST_CASE("a mask of the other polarity is the complement", "[formula]") {
    for (std::size_t i = 0; i < 3; ++i)
        for (std::size_t j = 0; j < 4; ++j) CHECK(keep_mask{seen}.visible(i, j) != drop_mask{seen}.visible(i, j));
}

TEST_CASE("an additive mask hides by minus infinity alone, and adds everything else", "[formula]") {
    const tensor<double, axis<1>, axis<5>> bias{{0, -infinity, -1e30, infinity, std::nan("")}};
    const additive_mask m_{bias};
    CHECK(m_.visible(0, 0));
    CHECK_FALSE(m_.visible(0, 1));
    CHECK(m_.visible(0, 2)); // a large negative number is a number: the key is seen, with a weight that underflows
    CHECK(m_.visible(0, 3));
    CHECK(m_.visible(0, 4)); // NaN is no way to hide
    CHECK(with_bias(m_, 0, 2, 1e30) == 0);
    CHECK(with_bias(everything{}, 0, 2, 7.0) == 7);
    const additive_mask in_real{tensor<real<50>, axis<1>, axis<2>>{{real<50>(1), -std::numeric_limits<real<50>>::infinity()}}};
    CHECK(in_real.visible(0, 0));
    CHECK_FALSE(in_real.visible(0, 1));
}

TEST_CASE("both masks: seen by both, biases added", "[formula]") {
    const tensor<double, n, m> bias{{1, 2, 3, 4}, {5, 6, 7, 8}, {9, 10, 11, -infinity}};
    const auto causal_with_bias = causal_top_left{} & additive_mask{bias};
    const auto bias_with_causal = additive_mask{bias} & causal_top_left{};
    const auto twice = additive_mask{bias} & additive_mask{bias} & keep_mask{seen};
    for (std::size_t i = 0; i < 3; ++i)
        for (std::size_t j = 0; j < 4; ++j) {
            CAPTURE(i, j);
            const bool visible = j <= i && bias(i, j) != -infinity;
            CHECK(causal_with_bias.visible(i, j) == visible);
            CHECK(bias_with_causal.visible(i, j) == visible);
            CHECK(twice.visible(i, j) == (seen(i, j) && bias(i, j) != -infinity));
            if (visible) {
                CHECK(with_bias(causal_with_bias, i, j, 0.5) == bias(i, j) + 0.5);
                CHECK(with_bias(bias_with_causal, i, j, 0.5) == bias(i, j) + 0.5);
                CHECK(with_bias(twice, i, j, 0.5) == 2 * bias(i, j) + 0.5);
            }
        }
}

TEST_CASE("a mask of the wrong shape is the rule's error at run time, whatever it is wrapped in", "[formula]") {
    const auto scores = tensor<double, dyn, dyn>::with_lengths(3, 4);
    const std::string rows = std::string(rules::mask_row_for_each_query::sentence) + " (3 and 2)";
    const std::string columns = std::string(rules::mask_column_for_each_key::sentence) + " (4 and 5)";
    const auto few_rows = tensor<bool, dyn, dyn>::with_lengths(2, 4), many_columns = tensor<bool, dyn, dyn>::with_lengths(3, 5);
    const auto few_biases = tensor<double, dyn, dyn>::with_lengths(2, 4), many_biases = tensor<double, dyn, dyn>::with_lengths(3, 5);
    CHECK_THROWS_WITH(softmax(scores, keep_mask{few_rows}), rows);
    CHECK_THROWS_WITH(softmax(scores, keep_mask{many_columns}), columns);
    CHECK_THROWS_WITH(softmax(scores, drop_mask{few_rows}), rows);
    CHECK_THROWS_WITH(softmax(scores, drop_mask{many_columns}), columns);
    CHECK_THROWS_WITH(softmax(scores, additive_mask{few_biases}), rows);
    CHECK_THROWS_WITH(softmax(scores, additive_mask{many_biases}), columns);
    CHECK_THROWS_WITH(softmax(scores, causal_top_left{} & keep_mask{few_rows}), rows);
    CHECK_THROWS_WITH(softmax(scores, keep_mask{many_columns} & everything{}), columns);
    CHECK_THROWS_WITH(softmax(scores, causal_bottom_right{2, 4}), rows);
    CHECK_THROWS_WITH(softmax(scores, causal_bottom_right{3, 5}), columns);
    CHECK_NOTHROW(softmax(scores, causal_bottom_right{3, 4}));
    CHECK_NOTHROW(softmax(scores, keep_mask{seen}));
}
