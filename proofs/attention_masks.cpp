// SPDX-License-Identifier: BSL-1.0
// The output is the weighted sum of the values, also with masks, dropout and a sink; and rows that see nothing.

#include "attention_definition.hpp"
#include "exact.hpp"
#include "settle.hpp"

#include "attest/formula/attention.hpp"
#include "attest/formula/learned_score.hpp"
#include "attest/formula/mask_extras.hpp"

namespace attest::proofs {
namespace {

struct d_q : axis<3> {}; // of the scores that allow another dimension than d_k

constexpr unsigned points = 4;

// [A013]
// Weights (2, 8, 1)/11 of the scores 1, 3, 0 in units of log 2, and the values 1, 2, 3: (2 + 16 + 3)/11.
constexpr auto by_hand = attend(tensor<exact, axis<1>>{1}, tensor<exact, axis<3>, axis<1>>{{1}, {3}, {0}},
                                tensor<exact, axis<3>, axis<1>>{{1}, {2}, {3}}, 0, everything{}, dot_product{});
static_assert(by_hand.weights == tensor<exact, axis<3>>{ratio(2, 11), ratio(8, 11), ratio(1, 11)} &&
              by_hand.out(0) == ratio(21, 11));

// Everything at once, spelled out: a bias and a sink in the denominator, dropped keys, and dropout's factors. Query 2 (the
// second) sees no key.
constexpr tensor<bool, queries, keys> sees{{true, false, true, true}, {false, false, false, false}, {true, true, false, true}};
constexpr tensor<bool, queries, keys> kept{{true, true, false, true}, {true, false, true, true}, {false, true, true, true}};

struct masked_problem : problem {
    tensor<field, queries, keys> bias;
    field sink, factor;
    constexpr explicit masked_problem(draw& x)
        : problem(x), bias{x.matrix<queries, keys>()}, sink{x.number()}, factor{x.number()} {}

    // Σ_l e^{s_il + b_il} over the keys that query i sees.
    [[nodiscard]] constexpr field sum_of_row(std::size_t i) const {
        field sum = 0;
        for (std::size_t l = 0; l < 4; ++l)
            if (sees(i, l)) sum = sum + exp(s(i, l) + bias(i, l));
        return sum;
    }
    // α_ij with or without a sink, and z_i with or without dropout.
    [[nodiscard]] constexpr auto weights(bool with_sink) const {
        tensor<field, queries, keys> a;
        for (std::size_t i = 0; i < 3; ++i)
            for (std::size_t j = 0; j < 4; ++j)
                if (sees(i, j)) a(i, j) = exp(s(i, j) + bias(i, j)) / (with_sink ? sum_of_row(i) + exp(sink) : sum_of_row(i));
        return a;
    }
    [[nodiscard]] constexpr auto output(bool with_sink, bool with_dropout) const {
        auto a = weights(with_sink);
        for (std::size_t i = 0; i < 3; ++i)
            for (std::size_t j = 0; j < 4; ++j)
                if (with_dropout) a(i, j) = kept(i, j) ? a(i, j) * factor : field(0);
        return weighted_sums(a, v);
    }
};
constexpr bool masks_do_what_they_say = identity(points, [](draw& x) {
    const masked_problem p(x);
    const auto plain = keep_mask{sees} & additive_mask{p.bias};
    const auto dropped = plain & dropout_mask{kept, p.factor};
    const auto all = attention_sink{p.sink} & dropped;
    const auto weights = p.weights(true);
    const auto z = p.output(true, true);
    const auto row = attend(p.q[0], p.k, p.v, 0, all, p.score);
    agreement stages = agree(row.weights, weights[0]) & agree(row.out, z[0]);
    for (std::size_t j = 0; j < 4; ++j)
        if (sees(0, j)) stages = stages & agree(row.scores(j), p.s(0, j) + p.bias(0, j));
    return stages & agree(attention(p.q, p.k, p.v, plain, p.score), p.output(false, false)) &
           agree(attention(p.q, p.k, p.v, dropped, p.score), p.output(false, true)) &
           agree(attention(p.q, p.k, p.v, all, p.score), z);
});
// With masks and without, the output is the weighted sum of the values.
const entry A013 = settle("A013", holds([](const claim& c) {
                              return identity(c.points_with_exp(), every_stage_is_as_defined) && by_hand.out(0) == ratio(21, 11);
                          }),
                          holds([](const claim& c) { return c.points_with_exp() == points && masks_do_what_they_say; }));
// [/A013]

// [masks]
// The weights as a matrix, by 1/√d_k: the mask's bias is in them, its factors are not.
constexpr bool weights_alone = identity(2, [](draw& x) {
    masked_problem p(x);
    p.s = scores_of(p.q, p.k, scale_of_d_k());
    const auto plain = keep_mask{sees} & additive_mask{p.bias};
    return agree(attention_weights(p.q, p.k, plain), p.weights(false)) &
           agree(attention(p.q, p.k, p.v, plain), p.output(false, false)) &
           agree(attention_weights(p.q, p.k, plain & attention_sink{p.sink} & dropout_mask{kept, p.factor}), p.weights(true));
});
static_assert(weights_alone);
// Masks without numbers, and queries wider than keys: qᵀ W k.
constexpr bool any_score_and_causal = identity(2, [](draw& x) {
    const auto q = x.matrix<queries, d_q>();
    const auto k = x.matrix<keys, d_k>();
    const auto v = x.matrix<keys, d_v>();
    const auto w = x.matrix<d_q, d_k>();
    const auto s = scores_of(matmul(q, w), k, 1);
    tensor<field, queries, d_v> z;
    for (std::size_t i = 0; i < 3; ++i) {
        field sum = 0;
        for (std::size_t j = 0; j <= i; ++j) sum = sum + exp(s(i, j));
        for (std::size_t j = 0; j <= i; ++j)
            for (std::size_t c = 0; c < 5; ++c) z(i, c) = z(i, c) + exp(s(i, j)) / sum * v(j, c);
    }
    return agree(attention(q, k, v, causal_top_left{}, bilinear{w}), z);
});
static_assert(any_score_and_causal);
// [/masks]

// [empty]
// Rows without a visible key, in double: zero, or NaN if that is asked for. A sink is something to look at: then they are zero.
constexpr tensor<double, axis<4>, axis<1>> one_column{{1}, {2}, {3}, {4}};
constexpr tensor<double, axis<2>, axis<1>> two_keys{{1}, {2}};
constexpr tensor<double, axis<2>, axis<3>> two_values{{1, 3, 5}, {2, 4, 6}};
constexpr causal_bottom_right late{4, 2}; // queries 1 and 2 stand before the first key, query 3 at it
constexpr bool is_nan(double x) { return x != x; }
constexpr auto zeros = attention(one_column, two_keys, two_values, late),
               nans = attention(one_column, two_keys, two_values, late, empty_row::nan);
static_assert(zeros(0, 0) == 0 && zeros(0, 1) == 0 && zeros(1, 2) == 0 && zeros(2, 0) == 1 && zeros(2, 1) == 3);
static_assert(is_nan(nans(0, 0)) && is_nan(nans(0, 1)) && is_nan(nans(0, 2)) && is_nan(nans(1, 0)) && nans[2] == zeros[2] &&
              nans[3] == zeros[3]);
static_assert(attention(one_column, two_keys, two_values, late & attention_sink{0.0}, empty_row::nan)(0, 1) == 0);
constexpr auto no_weights = attention_weights(one_column, two_keys, late),
               nan_weights = attention_weights(one_column, two_keys, late, empty_row::nan);
static_assert(no_weights(0, 0) == 0 && no_weights(0, 1) == 0 && is_nan(nan_weights(0, 0)) && is_nan(nan_weights(1, 1)) &&
              nan_weights(2, 0) == 1);
constexpr auto zero_row = attend(one_column[0], two_keys, two_values, 0, late, dot_product{});
constexpr auto nan_row = attend(one_column[0], two_keys, two_values, 0, late, dot_product{}, empty_row::nan);
static_assert(zero_row.out(0) == 0 && zero_row.weights(0) == 0 && is_nan(nan_row.out(0)) && is_nan(nan_row.weights(0)));
// [/empty]

} // namespace
} // namespace attest::proofs
