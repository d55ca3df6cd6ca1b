// SPDX-License-Identifier: BSL-1.0
// The example of docs/position.md.
#include "attest/formula/attention.hpp"
#include "attest/formula/position.hpp"
#include "catch.hpp"
#include "docs/digits.hpp"

namespace {
// [snippet]
#include <attest/formula/attention.hpp>
#include <attest/formula/position.hpp>

struct n : attest::axis<3> {};
struct d : attest::axis<4> {};

// Added to the embeddings: sinusoids (or a learned table, in the same way).
constexpr auto table = attest::sinusoidal_pairs<double, n, d>(); // row 1: 0.84147, 0.54030, 0.01000, 0.99995

auto with_positions(const attest::tensor<double, n, d>& x) { return attest::add_positions(x, table); }

// Rotations of queries and keys: here as Llama's checkpoints in the Hugging Face layout want them, tokens 7, 8, 9.
auto rotated_scores(const attest::tensor<double, n, d>& q, const attest::tensor<double, n, d>& k) {
    const attest::rope_rotation<double> rotation{{attest::rope_pairing::half}, 7};
    return attest::scaled_scores(attest::rope_rows(q, rotation), attest::rope_rows(k, rotation));
}

// A bias that falls with the distance: head 0 of 8, under a causal mask.
constexpr attest::alibi_heads<double> biases{.slopes = nullptr, .n_heads = 8, .shift = 0};
constexpr auto mask = attest::causal_top_left{} & biases.head(0);
static_assert(mask.added(2, 0) == -1.0); // slope 1/2, distance 2

auto biased_attention(const attest::tensor<double, n, d>& q, const attest::tensor<double, n, d>& k) { return attest::attention(q, k, k, mask); }
// [/snippet]
} // namespace

TEST_CASE("the digits of docs/position.md", "[docs]") {
    CHECK(docs::with_digits(table[1], 5) == "0.84147, 0.54030, 0.01000, 0.99995");
    const attest::tensor<double, n, d> x{{1, 2, 3, 4}, {5, 6, 7, 8}, {9, 8, 7, 6}};
    CHECK(with_positions(x)(0, 1) == 3);
    const auto scores = rotated_scores(x, x);
    // The same scores wherever the sequence starts.
    const attest::rope_rotation<double> from_start{{attest::rope_pairing::half}};
    const auto others = attest::scaled_scores(attest::rope_rows(x, from_start), attest::rope_rows(x, from_start));
    for (std::size_t i = 0; i < 3; ++i)
        for (std::size_t j = 0; j < 3; ++j) CHECK(scores(i, j) == Approx(others(i, j)).epsilon(1e-13));
    CHECK(biased_attention(x, x)(0, 0) == 1); // the first token sees itself alone
    CHECK(docs::with_digits(attest::alibi_slope<double>(8, 12), 5) == "0.70711");
    CHECK(docs::with_digits(attest::alibi_slope<double>(11, 12), 5) == "0.08839");
}
