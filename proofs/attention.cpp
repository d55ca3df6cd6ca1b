// SPDX-License-Identifier: BSL-1.0
// Attention: the formula, spelled out in plain sums and held against the code. With masks: attention_masks.cpp; its shapes:
// attention_shapes.cpp; what kind of mapping it is, and self-attention: self_attention.cpp; the exercises' numbers:
// worked_examples.cpp.

#include "attention_definition.hpp"
#include "settle.hpp"

#include "attest/arithmetic/interval.hpp"
#include "attest/formula/attention.hpp"

namespace attest::proofs {
namespace {

constexpr unsigned points = 4;

// [A067]
// Stage by stage, and as a product of matrices.
constexpr bool every_stage_holds = identity(points, every_stage_is_as_defined);
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
    holds([](const claim& c) { return c.points_with_exp() == points && attention_is_softmax_times_values && scale_is_one_over_root_d_k; }),
    holds([] {
        using weights = decltype(softmax(scaled_scores(tensor<field, queries, d_k>{}, tensor<field, queries, d_k>{})));
        using output = decltype(matmul(weights{}, tensor<field, queries, d_v>{}));
        return std::same_as<weights, tensor<field, queries, queries>> && std::same_as<output, tensor<field, queries, d_v>>;
    }));
const entry A068 = settle("A068", holds([](const claim& c) { return c.points_with_exp() == points && first_row_is_written_out; }));
const entry B018 = settle(
    "B018", holds([](const claim& c) { return c.points_with_exp() == points && every_stage_holds && attention_is_softmax_times_values; }));
const entry B019 = settle("B019", holds([](const claim& c) { return c.points_with_exp() == points && scale_is_one_over_root_d_k; }));
// [/A067]

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
const entry A014 = settle("A014", holds([](const claim& c) { return c.points_with_exp() == points && rows_know_their_query_alone; }), holds([] {
                              return std::same_as<decltype(row_of_stages::out), tensor<field, d_v>> &&
                                     std::same_as<decltype(row_of_stages::weights), tensor<field, keys>>;
                          }));
// [/A014]

// [B017]
const entry B017 = settle("B017", holds([](const claim& c) { return c.points_with_exp() == points && scale_is_one_over_root_d_k; }), holds([] {
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

const entry A004 = settle("A004", holds([](const claim& c) { return c.points_with_exp() == points && means_are_shifted_with_their_values; }),
                          holds([] { return weights_are_positive; }));
const entry A061 = settle("A061", holds([](const claim& c) {
                              return c.points_with_exp() == points && means_are_shifted_with_their_values && attention_is_softmax_times_values;
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
                              return c.points_with_exp() == points && attention_is_softmax_times_values && scale_is_one_over_root_d_k;
                          }));
// [/A015]

} // namespace
} // namespace attest::proofs
