// SPDX-License-Identifier: BSL-1.0
// Attention: the formula, spelled out in plain sums and held against the code. Its shapes: attention_shapes.cpp; what kind of
// mapping it is, and self-attention: self_attention.cpp; the exercises' numbers: worked_examples.cpp.

#include "exact.hpp"
#include "identity.hpp"
#include "settle.hpp"

#include "attest/arithmetic/interval.hpp"
#include "attest/formula/attention.hpp"
#include "attest/formula/learned_score.hpp"
#include "attest/formula/mask_extras.hpp"

namespace attest::proofs {
namespace {

struct queries : axis<3> {};
struct keys : axis<4> {};
struct d_k : axis<2> {};
struct d_q : axis<3> {}; // of the scores that allow another dimension than d_k
struct d_v : axis<5> {};

// [definition]
// α_ij = e^{s_ij} / Σ_l e^{s_il}, and z_ic = Σ_j α_ij v_jc.
template <matrix_like S>
constexpr auto weights_of(const S& s) {
    auto alpha = tensor<field, axis_of<S, 0>, axis_of<S, 1>>{};
    for (std::size_t i = 0; i < s.length(0); ++i) {
        field sum = 0;
        for (std::size_t l = 0; l < s.length(1); ++l) sum = sum + exp(s(i, l));
        for (std::size_t j = 0; j < s.length(1); ++j) alpha(i, j) = exp(s(i, j)) / sum;
    }
    return alpha;
}
template <matrix_like A, matrix_like V>
constexpr auto weighted_sums(const A& alpha, const V& v) {
    auto z = tensor<field, axis_of<A, 0>, axis_of<V, 1>>{};
    for (std::size_t i = 0; i < alpha.length(0); ++i)
        for (std::size_t c = 0; c < v.length(1); ++c)
            for (std::size_t j = 0; j < v.length(0); ++j) z(i, c) = z(i, c) + alpha(i, j) * v(j, c);
    return z;
}
// s_ij = Σ_c q_ic k_jc · scale.
template <matrix_like Q, matrix_like K>
constexpr auto scores_of(const Q& q, const K& k, const field& scale) {
    auto s = tensor<field, axis_of<Q, 0>, axis_of<K, 0>>{};
    for (std::size_t i = 0; i < q.length(0); ++i)
        for (std::size_t j = 0; j < k.length(0); ++j)
            for (std::size_t c = 0; c < q.length(1); ++c) s(i, j) = s(i, j) + q(i, c) * k(j, c) * scale;
    return s;
}

// Free queries, keys and values, with a free scale for 1/√d_k, and what the definition makes of them.
struct problem {
    tensor<field, queries, d_k> q;
    tensor<field, keys, d_k> k;
    tensor<field, keys, d_v> v;
    scaled_dot_product<field> score;
    tensor<field, queries, keys> s, alpha;
    tensor<field, queries, d_v> z;

    constexpr explicit problem(draw& x) : problem(x, x.number()) {}
    constexpr problem(draw& x, const field& scale)
        : q{x.matrix<queries, d_k>()}, k{x.matrix<keys, d_k>()}, v{x.matrix<keys, d_v>()}, score{scale}, s{scores_of(q, k, scale)},
          alpha{weights_of(s)}, z{weighted_sums(alpha, v)} {}
};
// √2 exists in the field, and is the root of d_k here.
constexpr field scale_of_d_k() { return 1 / sqrt(field(d_k::size == 2 ? 2 : 0)); }
// [/definition]

constexpr unsigned points = 4;

// [A013]
// Row by row, as the code goes: every stage.
// (A013 itself is settled under [masks], below: the output is the weighted sum of the values also with
// masks, dropout and a sink.)
constexpr bool rows_are_weighted_sums = identity(points, [](draw& x) {
    const problem p(x);
    agreement all = agreement::equal;
    for (std::size_t i = 0; i < 3; ++i) {
        const auto row = attend(p.q[i], p.k, p.v, i, everything{}, p.score);
        all = all & agree(row.scores, p.s[i]) & agree(row.weights, p.alpha[i]) & agree(row.out, p.z[i]);
    }
    return all;
});
constexpr bool attention_is_softmax_times_values = identity(points, [](draw& x) {
    const problem p(x);
    return agree(attention(p.q, p.k, p.v, everything{}, p.score), p.z) &
           agree(matmul(softmax(scores(p.q, p.k, p.score)), p.v), p.z);
});
// The same with 1/√d_k itself.
constexpr bool scale_is_one_over_root_d_k = identity(points, [](draw& x) {
    const problem p(x, scale_of_d_k());
    return agree(attention(p.q, p.k, p.v), p.z) & agree(attention_weights(p.q, p.k), p.alpha) &
           agree(matmul(softmax(scaled_scores(p.q, p.k)), p.v), p.z);
});
// Weights (2, 8, 1)/11 of the scores 1, 3, 0 in units of log 2, and the values 1, 2, 3: (2 + 16 + 3)/11.
constexpr auto by_hand = attend(tensor<exact, axis<1>>{1}, tensor<exact, axis<3>, axis<1>>{{1}, {3}, {0}},
                                tensor<exact, axis<3>, axis<1>>{{1}, {2}, {3}}, 0, everything{}, dot_product{});
static_assert(by_hand.weights == tensor<exact, axis<3>>{ratio(2, 11), ratio(8, 11), ratio(1, 11)} &&
              by_hand.out(0) == ratio(21, 11));

constexpr bool first_row_is_written_out = identity(points, [](draw& x) {
    const auto q = x.matrix<keys, d_k>(), k = x.matrix<keys, d_k>();
    const auto v = x.matrix<keys, d_v>();
    const auto a = attention_weights(q, k);
    const auto output = attention(q, k, v);
    agreement all = agreement::equal;
    for (std::size_t c = 0; c < 5; ++c)
        all = all & agree(output(0, c), a(0, 0) * v(0, c) + a(0, 1) * v(1, c) + a(0, 2) * v(2, c) + a(0, 3) * v(3, c));
    return all;
});

const entry A067 = settle(
    "A067",
    holds([](const claim& c) { return c.seeds == points && attention_is_softmax_times_values && scale_is_one_over_root_d_k; }),
    holds([] {
        using weights = decltype(softmax(scaled_scores(tensor<field, queries, d_k>{}, tensor<field, queries, d_k>{})));
        using output = decltype(matmul(weights{}, tensor<field, queries, d_v>{}));
        return std::same_as<weights, tensor<field, queries, queries>> && std::same_as<output, tensor<field, queries, d_v>>;
    }));
const entry A068 = settle("A068", holds([](const claim& c) { return c.seeds == points && first_row_is_written_out; }));
const entry B018 = settle(
    "B018", holds([](const claim& c) { return c.seeds == points && rows_are_weighted_sums && attention_is_softmax_times_values; }));
const entry B019 = settle("B019", holds([](const claim& c) { return c.seeds == points && scale_is_one_over_root_d_k; }));
// [/A013]

// [A014]
// Row i of the result is made of query i alone: with other queries around it, it stays.
constexpr bool rows_know_their_query_alone = identity(points, [](draw& x) {
    const problem p(x);
    const auto others = x.matrix<queries, d_k>();
    agreement all = agreement::equal;
    for (std::size_t i = 0; i < 3; ++i) {
        auto q = others;
        for (std::size_t c = 0; c < 2; ++c) q(i, c) = p.q(i, c);
        const auto z = attention(q, p.k, p.v, everything{}, p.score);
        all = all & agree(z[i], p.z[i]);
    }
    return all;
});
using row_of_stages =
    decltype(attend(tensor<field, d_k>{}, tensor<field, keys, d_k>{}, tensor<field, keys, d_v>{}, 0, everything{}, dot_product{}));
const entry A014 = settle("A014", holds([](const claim& c) { return c.seeds == points && rows_know_their_query_alone; }), holds([] {
                              return std::same_as<decltype(row_of_stages::out), tensor<field, d_v>> &&
                                     std::same_as<decltype(row_of_stages::weights), tensor<field, keys>>;
                          }));
// [/A014]

// [B017]
const entry B017 = settle("B017", holds([](const claim& c) { return c.seeds == points && scale_is_one_over_root_d_k; }), holds([] {
                              return no_identity([](draw& x) { // softmax over i
                                  const auto s = scores(x.matrix<queries, d_k>(), x.matrix<keys, d_k>());
                                  return agree(transpose(softmax(transpose(s))), softmax(s));
                              });
                          }));
// [/B017]

// [convex]
// z − m = Σ_j α_j (v_j − m), whatever m: so the weights add to 1. With the least value of a column for m every term is at
// least 0, if the weights are.
constexpr bool means_are_shifted_with_their_values = identity(points, [](draw& x) {
    const problem p(x);
    const field m = x.number();
    const auto z = attention(p.q, p.k, p.v, everything{}, p.score);
    agreement all = agreement::equal;
    for (std::size_t i = 0; i < 3; ++i)
        for (std::size_t c = 0; c < 5; ++c) {
            field sum = 0;
            for (std::size_t j = 0; j < 4; ++j) sum = sum + p.alpha(i, j) * (p.v(j, c) - m);
            all = all & agree(z(i, c) - m, sum);
        }
    return all;
});
// And they are more than 0 and less than 1, whatever the scores: each may be anything from −8 to 8.
constexpr interval any_score = hull(interval(-8), interval(8));
constexpr auto any_weights = softmax(tensor<interval, keys>{any_score, any_score, any_score, any_score});
constexpr bool weights_are_positive = [] {
    for (std::size_t j = 0; j < 4; ++j)
        if (!surely(any_weights(j) > 0)) return false;
    return true;
}();

const entry A004 = settle("A004", holds([](const claim& c) { return c.seeds == points && means_are_shifted_with_their_values; }),
                          holds([] { return weights_are_positive; }));
const entry A061 = settle("A061", holds([](const claim& c) {
                              return c.seeds == points && means_are_shifted_with_their_values && attention_is_softmax_times_values;
                          }),
                          holds([] { return weights_are_positive; }));
// [/convex]

// [A015]
// What is printed has another shape, and does not know V.
using printed_right_side = decltype(softmax(scaled_scores(tensor<field, queries, d_k>{}, tensor<field, keys, d_k>{})));
using result = decltype(attention(tensor<field, queries, d_k>{}, tensor<field, keys, d_k>{}, tensor<field, keys, d_v>{}));
const entry A015 = settle("A015", fails_as_printed([] {
                              return std::same_as<printed_right_side, tensor<field, queries, keys>> &&
                                     std::same_as<result, tensor<field, queries, d_v>> &&
                                     !rules::same_shape::holds<axis_of<printed_right_side, 1>, axis_of<result, 1>>;
                          }),
                          fails_as_printed([] { // other values, another result
                              return no_identity([](draw& x) {
                                  const problem p(x);
                                  return agree(attention(p.q, p.k, x.matrix<keys, d_v>(), everything{}, p.score), p.z);
                              });
                          }),
                          holds_corrected([](const claim& c) {
                              return c.seeds == points && attention_is_softmax_times_values && scale_is_one_over_root_d_k;
                          }));
// [/A015]

// [masks]
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
                              return c.seeds == points && rows_are_weighted_sums && by_hand.out(0) == ratio(21, 11);
                          }),
                          holds([](const claim& c) { return c.seeds == points && masks_do_what_they_say; }));
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
