// SPDX-License-Identifier: BSL-1.0
// The example of docs/attention.md.
#include "attest/formula/attention.hpp"
#include "catch.hpp"
#include "docs/digits.hpp"

namespace {
// [snippet]
#include <attest/formula/attention.hpp>

struct n : attest::axis<2> {};
struct d_k : attest::axis<2> {};
struct d_v : attest::axis<2> {};

constexpr attest::tensor<double, n, d_k> Q{{1, 0}, {0, 1}}, K{{1, 0}, {0, 1}};
constexpr attest::tensor<double, n, d_v> V{{2, 0}, {0, 3}};

constexpr auto alpha = attest::attention_weights(Q, K); // row 1: 0.66976, 0.33024
constexpr auto Z = attest::attention(Q, K, V);          // row 1: 1.33952, 0.99072
constexpr auto Z_causal = attest::attention(Q, K, V, attest::causal_top_left{});
static_assert(Z_causal(0, 0) == 2 && Z_causal(0, 1) == 0, "under a causal mask the first token reads itself alone");
// [/snippet]
} // namespace

TEST_CASE("the digits of docs/attention.md", "[docs]") {
    CHECK(docs::with_digits(alpha[0], 5) == "0.66976, 0.33024");
    CHECK(docs::with_digits(Z[0], 5) == "1.33952, 0.99072");
    CHECK(Z_causal[1] == Z[1]);
    // The mistakes of the page's table, on this example: no scale, √d_k times instead of divided by, d_k instead of √d_k.
    const auto weight_with_scale = [](double scale) {
        return attest::softmax(attest::scores(Q, K, attest::scaled_dot_product<double>{scale}))(0, 0);
    };
    CHECK(docs::with_digits(weight_with_scale(1), 5) == "0.73106");
    CHECK(docs::with_digits(weight_with_scale(0.5), 5) == "0.62246");
    CHECK(docs::with_digits(weight_with_scale(attest::sqrt(2.0)), 5) == "0.80443");
}
