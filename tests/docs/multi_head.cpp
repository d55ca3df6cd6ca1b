// SPDX-License-Identifier: BSL-1.0
// The example of docs/multi_head.md.
#include "attest/formula/multi_head.hpp"
#include "catch.hpp"
#include "docs/digits.hpp"

namespace {
// [snippet]
#include <attest/formula/multi_head.hpp>

struct n : attest::axis<2> {};                         // tokens
struct m : attest::axis<3> {};                         // tokens of the memory
struct d_model : attest::axis<4> {};
struct H : attest::axis<2> {};                         // heads
struct H_kv : attest::axis<1> {};                      // key-value heads: both heads read the same keys and values
struct d_k : attest::per_head<d_model, H> {};          // 4 / 2; does not compile unless H divides d_model

using weights = attest::multi_head_weights<double, d_model, H, d_k, d_k, H_kv>;
constexpr weights w{.w_q = {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}},
                    .w_k = {{1, 0}, {0, 1}, {1, 0}, {0, 1}},
                    .w_v = {{1, 0}, {0, 1}, {0, 0}, {0, 0}},
                    .w_o = {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}}};

constexpr attest::tensor<double, n, d_model> X{{1, 0, 0, 1}, {0, 2, 1, 0}};
constexpr attest::tensor<double, m, d_model> M{{1, 1, 0, 0}, {0, 0, 1, 1}, {2, 0, 0, 2}};

constexpr auto self = attest::multi_head_attention(X, w);         // row 1: 0.50000, 1.00000, 0.33024, 1.33952
constexpr auto causal = attest::multi_head_attention(X, w, attest::attention_how{.mask = attest::causal_top_left{}});
constexpr auto cross = attest::multi_head_attention(X, M, w);     // row 1: 1.25523, 0.24826, 1.25523, 0.24826
static_assert(causal(0, 0) == 1 && causal(0, 1) == 0 && causal(0, 2) == 1, "the first token reads its own value, in both heads");
// [/snippet]
} // namespace

TEST_CASE("the digits of docs/multi_head.md", "[docs]") {
    CHECK(docs::with_digits(self[0], 5) == "0.50000, 1.00000, 0.33024, 1.33952");
    CHECK(docs::with_digits(cross[0], 5) == "1.25523, 0.24826, 1.25523, 0.24826");
}
