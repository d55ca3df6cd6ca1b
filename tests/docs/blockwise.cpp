// SPDX-License-Identifier: BSL-1.0
// Blocks and the cache of docs/attention.md.
#include "attest/formula/blockwise.hpp"
#include "attest/formula/cache.hpp"
#include "catch.hpp"
#include "docs/digits.hpp"

namespace {
// [snippet]
#include <attest/formula/blockwise.hpp>
#include <attest/formula/cache.hpp>

struct n : attest::axis<3> {};
struct d : attest::axis<2> {};
constexpr attest::tensor<double, n, d> Q{{1, 0}, {0, 1}, {1, 1}}, K{{1, 0}, {0, 1}, {2, 0}}, V{{1, 0}, {0, 1}, {4, 4}};

constexpr auto whole = attest::attention(Q, K, V, attest::causal_top_left{});
constexpr auto in_blocks = attest::blockwise_attention(Q, K, V, 2, attest::causal_top_left{}); // the same, two keys at a time

// Token by token: the keys and values so far are kept, and each new token asks one query.
constexpr bool decoding_gives_the_rows_of_causal_attention() {
    attest::key_value_cache<double, n, d, d> cache;
    for (std::size_t t = 0; t < 3; ++t)
        if (!(attest::decode_step(cache, Q[t], K[t], V[t]) == whole[t])) return false;
    return true;
}
static_assert(decoding_gives_the_rows_of_causal_attention());
// [/snippet]
} // namespace

TEST_CASE("the example of docs/attention.md: blocks", "[docs]") {
    for (std::size_t i = 0; i < 3; ++i) CHECK(docs::with_digits(in_blocks[i], 14) == docs::with_digits(whole[i], 14));
    CHECK(docs::with_digits(whole[2], 5) == "2.26221, 2.26221");
}
