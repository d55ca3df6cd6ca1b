// SPDX-License-Identifier: BSL-1.0
// Softmax of a matrix of scores: each row of the weights is a distribution over the keys, and which axes it is not taken over.
// (Softmax of a vector: softmax.cpp.)

#include "exact.hpp"
#include "identity.hpp"
#include "printed.hpp"
#include "settle.hpp"
#include "softmax_example.hpp"
#include "whole_number.hpp"

#include "attest/arithmetic/interval.hpp"
#include "attest/arithmetic/rational.hpp"
#include "attest/formula/attention.hpp"

namespace attest::proofs {
namespace {

struct queries : axis<2> {};
struct keys : axis<3> {};

// [sum]
constexpr auto row_sums_are_one = [](draw& x) {
    const auto weights = softmax(x.matrix<queries, keys>());
    return agree(weights(0, 0) + weights(0, 1) + weights(0, 2), field(1)) &
           agree(weights(1, 0) + weights(1, 1) + weights(1, 2), field(1));
};
constexpr auto a = weights_of_logits;
constexpr interval total = a(0) + a(1) + a(2) + a(3) + a(4);
static_assert(contains(total, 1) && surely(total.width() < interval::power_of_two(-120)));

// Exactly so on rational weights: with scores in units of log 2, softmax(1, 3, 0) = (2, 8, 1)/11.
constexpr auto weights = softmax(tensor<exact, keys>{1, 3, 0});
static_assert(weights == tensor<exact, keys>{ratio(2, 11), ratio(8, 11), ratio(1, 11)});

// A054, E005: the weights of a row add to 1.
const entry A054 = settle("A054", holds([](const claim& c) { return identity(c.points_with_exp(), row_sums_are_one); }),
                          holds("1", [](std::string_view printed) {
                              return rounds_to(total, printed) && pins(total, interval::decimal(printed));
                          }));
// A distribution: they are positive, too.
const entry E005 =
    settle("E005", holds([](const claim& c) { return identity(c.points_with_exp(), row_sums_are_one); }),
           holds("1", [](std::string_view printed) { return pins(total, interval::decimal(printed)); }), holds([] {
               for (std::size_t j = 0; j < 5; ++j)
                   if (!surely(a(j) > 0)) return false;
               return true;
           }));

// A050: "the scores in each row must sum to 1.0". The scores q · k = 1, 3, 0 add to 4; their weights do what is meant.
constexpr tensor<exact, axis<1>, axis<2>> q{{1, 1}};
constexpr tensor<exact, keys, axis<2>> k{{1, 0}, {1, 2}, {2, -2}};
constexpr auto raw = scores(q, k);
const entry A050 = settle("A050", fails_as_printed([] { return raw(0, 0) + raw(0, 1) + raw(0, 2) == 4; }),
                          holds_corrected("1.0",
                                          [](std::string_view printed) {
                                              const auto after = softmax(raw);
                                              return is_exactly(after(0, 0) + after(0, 1) + after(0, 2), printed, 1);
                                          }),
                          holds_corrected([](const claim& c) { return identity(c.points_with_exp(), row_sums_are_one); }));
// In double they need not: these five miss 1 by a unit of the last place.
constexpr auto rounded = softmax(tensor<double, classes>{1.3, 5.1, 2.2, 0.7, 1.1});
static_assert(rounded(0) + rounded(1) + rounded(2) + rounded(3) + rounded(4) != 1);

// A055: "the percentage of attention". The weights are parts of 1, not of 100.
constexpr interval any_score = hull(interval(-8), interval(8));
const entry A055 =
    settle("A055", fails_as_printed([] {
               // Percentages of a whole add to 100.
               return no_identity([](draw& x) {
                   const auto alpha = softmax(x.vector<keys>());
                   return agree(alpha(0) + alpha(1) + alpha(2), field(100));
               });
           }),
           holds_corrected([](const claim& c) {
               return identity(c.points_with_exp(), [](draw& x) {
                   const auto alpha = softmax(x.vector<keys>());
                   return agree(field(100) * alpha(0) + field(100) * alpha(1) + field(100) * alpha(2), field(100));
               });
           }),
           // Two keys with the same score have half of it each, which is 50 percent.
           holds_corrected("100", [](std::string_view whole) { return exact(whole_number(whole)) * softmax(tensor<exact, axis<2>>{0, 0})(1) == 50; }),
           holds_corrected([](const claim& c) {
               // Each is positive, whatever the scores; and they add to 1, so that each is less than 1: what the others leave.
               const auto alpha = softmax(tensor<interval, keys>{any_score, any_score, any_score});
               return surely(alpha(0) > 0) && surely(alpha(1) > 0) && surely(alpha(2) > 0) && identity(c.points_with_exp(), row_sums_are_one);
           }));
// [/sum]

// [axis]
// Softmax of a matrix, over other axes than the keys.
template <class X>
constexpr auto over_columns(const X& x) {
    return transpose(softmax(transpose(x)));
}
template <class X>
constexpr auto over_all_elements(const X& x) {
    auto all = tensor<scalar_of<X>, axis<dynamic>>::with_lengths(x.length(0) * x.length(1));
    for (std::size_t i = 0; i < x.length(0); ++i)
        for (std::size_t j = 0; j < x.length(1); ++j) all(i * x.length(1) + j) = x(i, j);
    const auto flat = softmax(all);
    auto y = x;
    for (std::size_t i = 0; i < x.length(0); ++i)
        for (std::size_t j = 0; j < x.length(1); ++j) y(i, j) = flat(i * x.length(1) + j);
    return y;
}
constexpr auto row_by_row = [](draw& x) {
    const auto e = x.matrix<queries, keys>();
    const auto alpha = softmax(e);
    return agree(alpha[0], softmax(e[0])) & agree(alpha[1], softmax(e[1]));
};
constexpr auto row_by_column = [](draw& x) {
    const auto e = x.matrix<queries, keys>();
    return agree(softmax(e), over_columns(e));
};
// A051: softmax(Q Kᵀ/√d_k), of a matrix: over the row, over the column, or over all of it? The three differ.
const entry A051 = settle("A051", fails_as_printed([] {
                              return no_identity(row_by_column) && no_identity([](draw& x) {
                                         const auto e = x.matrix<queries, keys>();
                                         return agree(softmax(e), over_all_elements(e));
                                     }) &&
                                     no_identity([](draw& x) {
                                         const auto e = x.matrix<queries, keys>();
                                         return agree(over_columns(e), over_all_elements(e));
                                     });
                          }),
                          holds_corrected([](const claim& c) { return identity(c.points_with_exp(), row_by_row); }));
// E003: row-wise, across the keys: so a column need not add to 1.
const entry E003 = settle(
    "E003", holds([](const claim& c) { return identity(c.points_with_exp(), row_by_row) && identity(c.points_with_exp(), row_sums_are_one); }),
    holds([] {
        return no_identity([](draw& x) {
            const auto alpha = softmax(x.matrix<queries, keys>());
            return agree(alpha(0, 0) + alpha(1, 0), field(1));
        });
    }));

// E006: not over the features: the weights have no such axis, and neither keys nor values that softmax has been through
// give the same.
struct d_k : axis<2> {};
struct d_v : axis<4> {};
static_assert(std::same_as<decltype(softmax(scores(tensor<field, queries, d_k>{}, tensor<field, keys, d_k>{}))),
                           tensor<field, queries, keys>>);
const entry E006 = settle("E006", holds([] {
                              return no_identity([](draw& x) {
                                         const auto Q = x.matrix<queries, d_k>();
                                         const auto K = x.matrix<keys, d_k>();
                                         const auto V = x.matrix<keys, d_v>();
                                         return agree(attention(Q, K, V, everything{}, dot_product{}),
                                                      softmax(matmul(scores(Q, K), V)));
                                     }) &&
                                     no_identity([](draw& x) {
                                         const auto Q = x.matrix<queries, d_k>();
                                         const auto K = x.matrix<keys, d_k>();
                                         return agree(softmax(scores(Q, K)), scores(Q, softmax(K)));
                                     });
                          }));

// E056: with n = 3 tokens and d_k = 4, scores and weights are 3 × 3.
struct tokens : axis<3> {};
struct four : axis<4> {};
using score_matrix = decltype(scores(tensor<field, tokens, four>{}, tensor<field, tokens, four>{}));
using weight_matrix = decltype(softmax(score_matrix{}));
static_assert(std::same_as<weight_matrix, tensor<field, tokens, tokens>> && std::same_as<score_matrix, weight_matrix>);
const entry E056 =
    settle("E056",
           holds("3", [](std::string_view printed) { return rational::decimal(printed) == weight_matrix{}.length(0); }),
           holds("3", [](std::string_view printed) { return rational::decimal(printed) == weight_matrix{}.length(1); }),
           holds([] { return std::same_as<weight_matrix, score_matrix>; }));
// [/axis]

} // namespace
} // namespace attest::proofs
