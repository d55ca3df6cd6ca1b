// SPDX-License-Identifier: BSL-1.0
// Window, dropout and sink of docs/mask.md.
#include "attest/formula/attention.hpp"
#include "attest/formula/mask_extras.hpp"
#include "catch.hpp"
#include "docs/digits.hpp"

#include <string>

namespace {
// [snippet]
#include <attest/formula/attention.hpp>
#include <attest/formula/mask_extras.hpp>

struct tokens : attest::axis<4> {};
struct width : attest::axis<1> {};

// Four equal tokens: every visible key weighs the same.
constexpr attest::tensor<double, tokens, width> X{{1}, {1}, {1}, {1}};

// Two keys, self included, and never the future.
constexpr auto window = attest::sliding_window{1, 0} & attest::causal_top_left{};
constexpr auto alpha = attest::attention_weights(X, X, window); // last row: 0, 0, 1/2, 1/2
static_assert(alpha(3, 1) == 0 && alpha(3, 2) == 0.5 && alpha(3, 3) == 0.5);

// A sink with the logit that the scores have here: it takes a share like one more key.
constexpr auto sunk = attest::attention_weights(X, X, window & attest::attention_sink{1.0});
static_assert(sunk(0, 0) == 0.5, "the first token keeps half for itself");

// Dropout, p = 1/2: what is kept counts twice.
constexpr attest::tensor<bool, tokens, tokens> kept{
    {true, true, true, true}, {true, false, true, true}, {false, true, false, true}, {true, true, true, false}};
constexpr auto Z = attest::attention(X, X, X, window & attest::dropout_mask{kept, 2.0}); // 2, 1, 1, 1
// [/snippet]

std::string row(const attest::sliding_window& m, std::size_t i) {
    std::string text;
    for (std::size_t j = 0; j < 5; ++j) text += m.visible(i, j) ? "1 " : ". ";
    return text;
}
} // namespace

TEST_CASE("the digits of docs/mask.md: window, sink, dropout", "[docs]") {
    CHECK(docs::with_digits(alpha[3], 1) == "0.0, 0.0, 0.5, 0.5");
    CHECK(docs::with_digits(sunk[3], 5) == "0.00000, 0.00000, 0.33333, 0.33333");
    CHECK(Z == attest::tensor<double, tokens, width>{{2}, {1}, {1}, {1}});
    CHECK(row({1, 0, 0}, 2) == ". 1 1 . . ");
    CHECK(row({1, 1, 0}, 2) == ". 1 1 1 . ");
    CHECK(row({1, 0, 2}, 1) == ". . 1 1 . ");
}
