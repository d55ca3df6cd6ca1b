// SPDX-License-Identifier: BSL-1.0
// The order of the tokens: over all n! permutations at once, what attention does with them, and what breaks the symmetry.

#include "exact.hpp"
#include "identity.hpp"
#include "settle.hpp"

#include "attest/formula/attention.hpp"
#include "attest/formula/position.hpp"
#include "attest/formula/projection.hpp"

#include <algorithm>
#include <array>

namespace attest::proofs {
namespace {

// [permutations]
// P X: row i of the result is row p[i] of X.
template <std::size_t N>
using permutation = std::array<std::size_t, N>;
template <matrix_like X, std::size_t N>
constexpr auto permuted(const X& x, const permutation<N>& p) {
    tensor<scalar_of<X>, axis_of<X, 0>, axis_of<X, 1>> y;
    for (std::size_t i = 0; i < N; ++i)
        for (std::size_t c = 0; c < x.length(1); ++c) y(i, c) = x(p[i], c);
    return y;
}
// Does `sides(p)` agree for each of the n! permutations of n tokens?
template <std::size_t N, class F>
constexpr agreement for_all_permutations(const F& sides) {
    permutation<N> p{};
    for (std::size_t i = 0; i < N; ++i) p[i] = i;
    agreement all = agreement::equal;
    do all = all & sides(p);
    while (std::next_permutation(p.begin(), p.end()));
    return all;
}
// These are all: 24 of four tokens, each another one.
static_assert([] {
    std::array<permutation<4>, 25> seen{};
    std::size_t count = 0;
    const agreement all = for_all_permutations<4>([&](const permutation<4>& p) {
        const auto end = seen.begin() + static_cast<std::ptrdiff_t>(count);
        const bool is_new = count < 24 && std::find(seen.begin(), end, p) == end && std::is_permutation(p.begin(), p.end(), permutation<4>{0, 1, 2, 3}.begin());
        if (is_new) seen[count++] = p;
        return is_new ? agreement::equal : agreement::different;
    });
    return all == agreement::equal && count == 24;
}());
// And none is passed over that differs alone.
static_assert([] {
    for (std::size_t odd_one = 0; odd_one < 6; ++odd_one) {
        std::size_t count = 0;
        const auto differs_once = [&](const permutation<3>&) { return count++ == odd_one ? agreement::different : agreement::equal; };
        if (for_all_permutations<3>(differs_once) != agreement::different || count != 6) return false;
    }
    return true;
}());
// [/permutations]

struct d : axis<2> {};
struct d_k : axis<3> {};
struct d_v : axis<2> {};

// [self_attention]
// The self-attention of free tokens, with free projections and a free scale: A(X) = attention(X W_Q, X W_K, X W_V).
struct layer {
    tensor<field, d, d_k> w_q, w_k;
    tensor<field, d, d_v> w_v;
    field scale;

    constexpr explicit layer(draw& x)
        : w_q{x.matrix<d, d_k>()}, w_k{x.matrix<d, d_k>()}, w_v{x.matrix<d, d_v>()}, scale{x.number()} {}
    template <matrix_like X, mask M = everything>
    constexpr auto operator()(const X& tokens, const M& m = {}) const {
        return attention(project_in_out(tokens, w_q), project_in_out(tokens, w_k), project_in_out(tokens, w_v), m,
                         scaled_dot_product<field>{scale});
    }
};

// A(P X) = P A(X), for all P.
template <std::size_t N>
constexpr bool equivariant(unsigned points) {
    return identity(points, [](draw& x) {
        const layer a(x);
        const auto tokens = x.matrix<axis<N>, d>();
        const auto z = a(tokens);
        return for_all_permutations<N>([&](const permutation<N>& p) { return agree(a(permuted(tokens, p)), permuted(z, p)); });
    });
}
// [/self_attention]

// A(Q, P K, P V) = A(Q, K, V), for all P.
template <std::size_t N>
constexpr bool invariant_in_keys_with_their_values(unsigned points) {
    return identity(points, [](draw& x) {
        const auto q = x.matrix<axis<1>, d_k>();
        const auto k = x.matrix<axis<N>, d_k>();
        const auto v = x.matrix<axis<N>, d_v>();
        const scaled_dot_product<field> score{x.number()};
        const auto z = attention(q, k, v, everything{}, score);
        return for_all_permutations<N>(
            [&](const permutation<N>& p) { return agree(attention(q, permuted(k, p), permuted(v, p), everything{}, score), z); });
    });
}

constexpr unsigned points = 4;
constexpr bool equivariance_of_4 = equivariant<4>(points);
constexpr bool invariance_in_keys_with_their_values = invariant_in_keys_with_their_values<4>(points);
// Seen from one query, also for the 120 orders of five tokens, at one point: row i of A(P X) is that of the token that
// stands at i now.
constexpr bool five_keys_in_any_order = invariant_in_keys_with_their_values<5>(1);

// [two_tokens]
// Two tokens x_1 = 0 and x_2 = 1, in exact numbers: the scores x_i · x_j are in units of log 2.
struct two : axis<2> {};
using tokens_of_1 = tensor<exact, two, axis<1>>;
constexpr permutation<2> swap{1, 0};
constexpr tokens_of_1 ab{{0}, {1}}, ba = permuted(ab, swap);
constexpr tokens_of_1 z_ab = raw_self_attention(ab), z_ba = raw_self_attention(ba);
constexpr tokens_of_1 causal_ab = raw_self_attention(ab, causal_top_left{}), causal_ba = raw_self_attention(ba, causal_top_left{});

static_assert(z_ab == tokens_of_1{{ratio(1, 2)}, {ratio(2, 3)}} && z_ba == tokens_of_1{{ratio(2, 3)}, {ratio(1, 2)}});
static_assert(causal_ab == tokens_of_1{{0}, {ratio(2, 3)}} && causal_ba == tokens_of_1{{1}, {ratio(1, 2)}});

constexpr bool order_changes_the_result = !(z_ba == z_ab);
constexpr bool swapped_inputs_swap_the_outputs = z_ba == permuted(z_ab, swap);
constexpr bool causal_mask_breaks_the_symmetry = !(causal_ba == permuted(causal_ab, swap)) && !(causal_ba == causal_ab);
// Keys and values swapped together, the queries staying where they are.
constexpr bool keys_with_their_values_may_be_swapped = attention(ab, ba, ba, everything{}, dot_product{}) == z_ab;
constexpr bool but_not_under_a_causal_mask = !(attention(ab, ba, ba, causal_top_left{}, dot_product{}) == causal_ab);
// [/two_tokens]

// [A018]
const entry A018 = settle(
    "A018", fails_as_printed([] { return order_changes_the_result; }),
    holds_corrected([](const claim& c) { return swapped_inputs_swap_the_outputs && equivariance_of_4 && c.points_with_exp() == points; }),
    holds_corrected([](const claim& c) {
        return keys_with_their_values_may_be_swapped && invariance_in_keys_with_their_values && c.points_with_exp() == points;
    }),
    holds_corrected([] { return causal_mask_breaks_the_symmetry && but_not_under_a_causal_mask; }));
const entry B028 = settle("B028", fails_as_printed([] { return order_changes_the_result; }),
                          holds_corrected([](const claim& c) { return equivariance_of_4 && c.points_with_exp() == points; }));
// [/A018]

// [A019]
// Positions that are added, here 0 and 1: then swapped tokens give other vectors, mask or not.
constexpr tokens_of_1 positions{{0}, {1}};
constexpr tokens_of_1 z_with_positions = raw_self_attention(add_positions(ab, positions));
constexpr bool positions_break_the_symmetry =
    !(raw_self_attention(add_positions(ba, positions)) == permuted(z_with_positions, swap));

const entry A019 =
    settle("A019", fails_as_printed([] { return causal_mask_breaks_the_symmetry; }),
           holds_corrected([](const claim& c) { return equivariance_of_4 && c.points_with_exp() == points && positions_break_the_symmetry; }));
// [/A019]

// [E035]
constexpr bool equivariance_of_2 = equivariant<2>(8);
const entry E035 = settle("E035", holds([] { return swapped_inputs_swap_the_outputs; }),
                          holds([](const claim& c) { return equivariance_of_2 && c.points_with_exp() == 8; }));

// The scores of the tokens at i and j are those of the vectors that stand there. Degree 4: (x W_Q) · (x W_K).
constexpr bool scores_move_with_their_tokens = identity(points, [](draw& x) {
    const layer a(x);
    const auto tokens = x.matrix<axis<4>, d>();
    const auto s = scores(project_in_out(tokens, a.w_q), project_in_out(tokens, a.w_k));
    return for_all_permutations<4>([&](const permutation<4>& p) {
        const auto moved = permuted(tokens, p);
        const auto t = scores(project_in_out(moved, a.w_q), project_in_out(moved, a.w_k));
        return agree(t, transpose(permuted(transpose(permuted(s, p)), p)));
    });
});
const entry E036 = settle("E036", holds([](const claim& c) { return scores_move_with_their_tokens && c.points_of_degree(4) == points; }));
const entry E037 = settle("E037", holds([](const claim& c) { return equivariance_of_4 && c.points_with_exp() == points; }),
                          holds([] { return five_keys_in_any_order; }));
// [/E035]

// [E038]
// RoPE adds nothing to the tokens, and is an order.
constexpr bool rope_breaks_the_symmetry = no_identity([](draw& x) {
    const auto q = x.matrix<axis<3>, d>(), k = x.matrix<axis<3>, d>();
    const auto v = x.matrix<axis<3>, d_v>();
    const field base = exp(x.number());
    const rope_rotation<field> rotation{{.base = base}};
    const auto of = [&](const permutation<3>& p) {
        return attention(rope_rows(permuted(q, p), rotation), rope_rows(permuted(k, p), rotation), permuted(v, p), everything{},
                         dot_product{});
    };
    return agree(of({2, 0, 1}), permuted(of({0, 1, 2}), permutation<3>{2, 0, 1}));
});

const entry E038 = settle("E038", fails_as_printed([] { return causal_mask_breaks_the_symmetry; }),
                          fails_as_printed([] { return rope_breaks_the_symmetry; }),
                          holds_corrected([](const claim& c) { return equivariance_of_4 && c.points_with_exp() == points; }));
// [/E038]

// [mask]
// A mask that is permuted like its tokens, in rows and columns, changes nothing of this: the symmetry is of what may see what.
constexpr bool masks_may_be_permuted_too = identity(1, [](draw& x) {
    const layer a(x);
    const auto tokens = x.matrix<axis<4>, d>();
    const auto bias = x.matrix<axis<4>, axis<4>>();
    constexpr tensor<bool, axis<4>, axis<4>> sees{
        {true, false, false, true}, {true, true, false, false}, {false, false, false, false}, {true, false, true, true}};
    const auto masked = a(tokens, keep_mask{sees} & additive_mask{bias});
    return for_all_permutations<4>([&](const permutation<4>& p) {
        const auto both = [&p](const auto& m) { return transpose(permuted(transpose(permuted(m, p)), p)); };
        return agree(a(permuted(tokens, p), keep_mask{both(sees)} & additive_mask{both(bias)}), permuted(masked, p));
    });
});
static_assert(masks_may_be_permuted_too);
// [/mask]

} // namespace
} // namespace attest::proofs
