// SPDX-License-Identifier: BSL-1.0
// The example of docs/encoder.md.
#include "attest/formula/encoder.hpp"
#include "catch.hpp"
#include "docs/digits.hpp"

namespace {
// [snippet]
#include <attest/formula/encoder.hpp>

struct n : attest::axis<2> {};
struct d_model : attest::axis<2> {};
struct H : attest::axis<1> {};
struct d_ff : attest::axis<2> {};
using layer = attest::encoder_layer_weights<double, d_model, H, d_model, d_model, d_ff>;

// Every matrix of the layer is the identity; biases are 0, gamma 1, beta 0.
constexpr layer W{.self_attn = {.w_q = {{1, 0}, {0, 1}}, .w_k = {{1, 0}, {0, 1}}, .w_v = {{1, 0}, {0, 1}}, .w_o = {{1, 0}, {0, 1}}},
                  .ffn = {.w_1 = {{1, 0}, {0, 1}}, .w_2 = {{1, 0}, {0, 1}}}};
constexpr attest::tensor<double, n, d_model> X{{3, 0}, {0, 1}};

constexpr auto post = attest::encoder_layer_stages(X, W);
constexpr auto pre = attest::encoder_layer_stages(X, W, {.norm = attest::norm_position::pre});
// post.after_attention, row 1: 5.99484, 0.00172     the attention sees X
// post.out, row 1:             1.00000, -1.00000    LN_2(LN_1(...) + FFN(...)): a row of two components is always (1, -1) or (-1, 1)
// pre.after_attention, row 1:  3.88838, -0.88838    the attention sees LN_1(X)
// pre.out, row 1:              4.88838, -0.88838    the sum of what the sublayers add; no norm has been over it
// [/snippet]
} // namespace

TEST_CASE("the digits of docs/encoder.md", "[docs]") {
    CHECK(docs::with_digits(post.after_attention[0], 5) == "5.99484, 0.00172");
    CHECK(docs::with_digits(post.out[0], 5) == "1.00000, -1.00000");
    CHECK(docs::with_digits(pre.after_attention[0], 5) == "3.88838, -0.88838");
    CHECK(docs::with_digits(pre.out[0], 5) == "4.88838, -0.88838");
}
