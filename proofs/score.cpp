// SPDX-License-Identifier: BSL-1.0
// Scores: q·k and q·k/√d_k, as polynomials in all components at once, and the digits of the exercises.

#include "exact.hpp"
#include "identity.hpp"
#include "polynomial.hpp"
#include "printed.hpp"
#include "settle.hpp"
#include "whole_number.hpp"

#include "attest/arithmetic/interval.hpp"
#include "attest/arithmetic/rational.hpp"
#include "attest/formula/score.hpp"
#include "attest/formula/softmax.hpp"

namespace attest::proofs {
namespace {

struct tokens : axis<2> {};
struct d_k : axis<2> {};
template <class S>
using vectors = tensor<S, tokens, d_k>;
template <class S>
using score_matrix = tensor<S, tokens, tokens>;

struct n_q : axis<3> {};
struct n_k : axis<4> {};
struct d_4 : axis<4> {};

// [dot]
// q·k = Σ_c q_c k_c, whatever the components are, and times any factor.
constexpr bool dot_product_is_the_sum = [] {
    symbols x;
    const auto q = x.vector<d_4>(), k = x.vector<d_4>();
    const polynomial factor = x.next(), sum = q(0) * k(0) + q(1) * k(1) + q(2) * k(2) + q(3) * k(3);
    return dot_product{}(q, k) == sum && scaled_dot_product<polynomial>{factor}(q, k) == sum * factor && dot(q, k) == sum;
}();
// S_ij = q_i·k_j times any factor, for 3 queries and 4 keys of 2 components.
constexpr bool scores_are_dot_products = [] {
    symbols x;
    const auto q = x.matrix<n_q, d_k>();
    const auto k = x.matrix<n_k, d_k>();
    const polynomial factor = x.next();
    const auto raw = scores(q, k), scaled = scores(q, k, scaled_dot_product<polynomial>{factor});
    for (std::size_t i = 0; i < n_q::size; ++i)
        for (std::size_t j = 0; j < n_k::size; ++j) {
            const polynomial q_k = q(i, 0) * k(j, 0) + q(i, 1) * k(j, 1);
            if (!(raw(i, j) == q_k && scaled(i, j) == q_k * factor && raw(i, j) == dot_product{}(q[i], k[j]))) return false;
        }
    return raw == matmul(q, transpose(k));
}();
static_assert(dot_product_is_the_sum && scores_are_dot_products);
// The same with lengths that are known at run time alone.
constexpr bool dynamic_scores_agree = [] {
    using any = axis<dynamic>;
    const tensor<int, any, any> q{{1, 2}, {3, 4}, {5, 6}}, k{{1, -1}, {2, 0}, {0, 3}, {7, 5}};
    return scores(q, k) == tensor<int, n_q, n_k>{{-1, 2, 6, 17}, {-1, 6, 12, 41}, {-1, 10, 18, 65}};
}();
static_assert(dynamic_scores_agree);
// The factor is 1/√d_k, also where d_k is taken from the queries: there are 4 keys and 3 queries, and 2 components.
constexpr bool factor_is_one_over_the_root = [] {
    const tensor<exact, n_q, d_k> q{{1, 2}, {3, 4}, {5, 6}};
    const tensor<exact, n_k, d_k> k{{1, -1}, {2, 0}, {0, 3}, {7, 5}};
    const auto raw = scores(q, k), scaled = scaled_scores(q, k);
    for (std::size_t i = 0; i < n_q::size; ++i)
        for (std::size_t j = 0; j < n_k::size; ++j)
            if (!(scaled(i, j) * root_two == raw(i, j))) return false;
    const auto factor = [](std::size_t d) { return scaled_dot_product<rational>::of_dimension(d).scale; };
    return factor(4) * 2 == 1 && factor(9) * 3 == 1 && factor(64) * 8 == 1 && factor(1) == 1 &&
           scaled_dot_product<exact>::of_dimension(2).scale * root_two == 1;
}();
static_assert(factor_is_one_over_the_root);
// `scaled_by_dimension` becomes that score; every other stays what it is.
static_assert(score_of_dimension<rational>(scaled_by_dimension{}, 9).scale == rational::ratio(1, 3));
static_assert(score_of_dimension<rational>(scaled_dot_product<rational>{7}, 9).scale == 7);
static_assert(std::same_as<decltype(score_of_dimension<rational>(dot_product{}, 9)), const dot_product&>);
// Which vectors a score takes: one that says nothing takes all.
static_assert(score_fits<dot_product, d_k, d_k>() && !score_fits<dot_product, d_k, d_4>() &&
              score_fits<scaled_by_dimension, d_4, d_4>());
constexpr auto first_components = [](const auto& q, const auto& k) { return q(0) * k(0); };
static_assert(score_fits<decltype(first_components), d_k, d_4>());
static_assert(scores(tensor<int, tokens, d_k>{{2, 9}, {3, 9}}, tensor<int, axis<1>, d_4>{{5, 9, 9, 9}}, first_components) ==
              tensor<int, tokens, axis<1>>{{10}, {15}});
// [/dot]

// [A002]
const entry A002 =
    settle("A002", holds([] {
               using q = tensor<double, d_4>;
               using K = tensor<double, n_k, d_4>;
               return std::same_as<decltype(dot_product{}(q{}, q{})), double> &&
                      std::same_as<decltype(scores(tensor<double, axis<1>, d_4>{}, K{})), tensor<double, axis<1>, n_k>>;
           }));
// A003: q = (1, 0), k = (−1, 0).
const entry A003 =
    settle("A003", fails_as_printed([](const claim& of) {
               const tensor<rational, axis<1>, d_k> q{{1, 0}}, k{{-1, 0}};
               const rational score = scores(q, k)(0, 0); // the only one, so that it is the sum as well
               return score == rational::decimal(of.number()) && score < 0 && !(score == 1);
           }),
           holds_corrected([](const claim& of) {
               return identity(of.points_with_exp(), [](draw& x) {
                   const auto q = x.matrix<axis<1>, d_k>();
                   const auto k = x.matrix<axis<3>, d_k>();
                   const auto weights = softmax(scores(q, k));
                   return agree(weights(0, 0) + weights(0, 1) + weights(0, 2), 1);
               });
           }),
           holds_corrected([] { // all components between −2 and 2
               constexpr interval x = hull(interval(-2), interval(2));
               const auto weights = softmax(
                   scores(tensor<interval, axis<1>, d_k>{{x, x}}, tensor<interval, axis<3>, d_k>{{x, x}, {x, x}, {x, x}}));
               return surely(weights(0, 0) > 0) && surely(weights(0, 1) > 0) && surely(weights(0, 2) > 0);
           }));
const entry A005 = settle("A005", holds([] { return dot_product_is_the_sum && scores_are_dot_products; }),
                          holds([] { return factor_is_one_over_the_root; }), holds([] {
                              const interval factor = scaled_dot_product<interval>::of_dimension(3).scale; // irrational
                              return pins(3 * factor * factor, 1) && surely(factor > 0);
                          }));

const entry A008 =
    settle("A008", holds([] {
               struct other : axis<2> {};
               return rules::query_key_dimension::holds<d_k, d_k> && !rules::query_key_dimension::holds<d_k, d_4> &&
                      !rules::query_key_dimension::holds<d_k, other> && score_fits<scaled_dot_product<double>, d_k, d_k>() &&
                      !score_fits<scaled_dot_product<double>, d_k, d_4>();
           }));
const entry A009 = settle("A009", holds([] { return dot_product_is_the_sum; }), holds([] {
                              symbols x;
                              const auto q = x.matrix<axis<1>, d_4>(), k = x.matrix<axis<1>, d_4>();
                              return matmul(q, transpose(k))(0, 0) == dot_product{}(q[0], k[0]);
                          }));
// [/A002]

// [A048]
// Row i, and nothing else, depends on query i.
constexpr bool row_depends_on_its_query_alone = [] {
    symbols x;
    const auto q = x.matrix<n_q, d_k>();
    const auto k = x.matrix<n_k, d_k>();
    const auto s = scores(q, k);
    for (std::size_t i = 0; i < n_q::size; ++i) {
        auto others = q;
        for (std::size_t r = 0; r < n_q::size; ++r)
            for (std::size_t c = 0; c < d_k::size; ++c)
                if (r != i) others(r, c) = 0;
        const auto without_others = scores(others, k);
        if (!(without_others[i] == s[i])) return false;
    }
    return true;
}();
const entry A048 = settle(
    "A048", holds([] {
        return row_depends_on_its_query_alone &&
               std::same_as<decltype(scores(tensor<double, n_q, d_k>{}, tensor<double, n_k, d_k>{})), tensor<double, n_q, n_k>>;
    }));
// The words, counted from 1, whose query and whose key give a score.
struct words {
    std::size_t query, key;
};
template <class Q, class K>
constexpr words words_of(const polynomial& score, const Q& q, const K& k) {
    for (std::size_t i = 0; i < q.length(0); ++i)
        for (std::size_t j = 0; j < k.length(0); ++j)
            if (score == dot_product{}(q[i], k[j])) return {i + 1, j + 1};
    throw not_known("no two words have this score");
}
const entry A049 = settle("A049", holds("1: 1 2; 2: 1 2", [](std::string_view rows) { // row: words
                              symbols x;
                              const auto q = x.matrix<n_q, d_k>();
                              const auto k = x.matrix<n_k, d_k>();
                              const auto s = scores(q, k);
                              const auto at = [&](std::size_t i, std::size_t j) { return words_of(s(i, j), q, k); };
                              return at(0, 0).query == at(0, 1).query && at(1, 0).query == at(1, 1).query &&
                                     spells(rows, "#: # #; #: # #", at(0, 0).query, at(0, 0).key, at(0, 1).key, at(1, 0).query,
                                            at(1, 0).key, at(1, 1).key);
                          }),
                          holds([] { return scores_are_dot_products; }));
const entry A052 = settle("A052", holds([] {
                              symbols x;
                              const auto q = x.matrix<n_q, d_k>(), k = x.matrix<n_q, d_k>();
                              const auto s = matmul(q, transpose(k));
                              for (std::size_t i = 0; i < n_q::size; ++i)
                                  for (std::size_t j = 0; j < n_q::size; ++j)
                                      if (!(s(i, j) == dot_product{}(q[i], k[j]))) return false;
                              return std::same_as<decltype(matmul(q, transpose(k))), tensor<polynomial, n_q, n_q>>;
                          }));
const entry B002 = settle("B002", holds([] { return dot_product_is_the_sum && !score_fits<dot_product, n_k, n_q>(); }));
const entry B007 = settle("B007", holds([] { return dot_product_is_the_sum && factor_is_one_over_the_root; }));
// [/A048]

// [E009]
// q_1 = (3, 4) and k_2 = (0, 2).
template <class S>
constexpr tensor<S, d_k> q_1{3, 4};
template <class S>
constexpr tensor<S, d_k> k_2{0, 2};
const entry E009 = settle("E009", holds("3*0+4*2=8", [](std::string_view line) {
                              return spells(line, "#*#+#*#=#", q_1<int>(0), k_2<int>(0), q_1<int>(1), k_2<int>(1),
                                            dot_product{}(q_1<int>, k_2<int>));
                          }));

constexpr interval s_12 = scaled_dot_product<interval>::of_dimension(2)(q_1<interval>, k_2<interval>);
const entry E010 =
    settle("E010",
           holds("8/sqrt(2)=5.65685",
                 [](std::string_view line) {
                     return spells(line.substr(0, 10), "#/sqrt(#)=", dot_product{}(q_1<int>, k_2<int>), d_k::size) &&
                            prints(s_12, line.substr(10), 5);
                 }),
           holds([](const claim& of) { return prints(s_12, of.number(), 12); }),
           holds([] { return scaled_dot_product<exact>::of_dimension(2)(q_1<exact>, k_2<exact>) == 4 * root_two; }));
// E011: the step 8/1.41421 = 5.65685 has the right end; literally it is 2 units of the last place more.
constexpr std::size_t equals = 9; // where the printed line has its sign
const entry E011 = settle(
    "E011",
    fails_as_printed(
        "8/1.41421=5.65685",
        [](std::string_view line) {
            const rational literal = rational::decimal(line.substr(0, equals));
            if (line[equals] != '=') return false;
            const interval enclosed = interval::decimal(line.substr(0, 1)) / interval::decimal(line.substr(2, equals - 2));
            return literal == dot_product{}(q_1<rational>, k_2<rational>) / rational::decimal(line.substr(2, equals - 2)) &&
                   prints(sqrt(interval(2)), line.substr(2, equals - 2), 5) && misprint(enclosed, line.substr(equals + 1), 2, "5.65687");
        }),
    holds_corrected("5.65685", [](std::string_view end) { return prints(s_12, end, 5); }), holds_corrected([](const claim& of) {
        return prints(dot_product{}(q_1<interval>, k_2<interval>) / interval::decimal("1.41421"), of.number(), 5);
    }));
const entry E012 = settle(
    "E012",
    holds("sqrt(2)=1.41421",
          [](std::string_view line) {
              return spells(line.substr(0, 8), "sqrt(#)=", d_k::size) &&
                     prints(1 / scaled_dot_product<interval>::of_dimension(d_k::size).scale, line.substr(8), 5);
          }),
    holds([](const claim& of) { return prints(1 / scaled_dot_product<interval>::of_dimension(2).scale, of.number(), 9); }));
// [/E009]

// [E004]
const entry E004 = settle("E004", holds([] {
                              const vectors<int> q{{3, 4}, {1, -2}}, k{{5, 6}, {0, 2}};
                              return scores_are_dot_products && row_depends_on_its_query_alone &&
                                     matmul(q, transpose(k)) ==
                                         score_matrix<int>{{3 * 5 + 4 * 6, 3 * 0 + 4 * 2}, {1 * 5 - 2 * 6, 1 * 0 - 2 * 2}};
                          }));
// [/E004]

// [E053]
struct three_tokens : axis<3> {};
using Q = tensor<double, three_tokens, d_4>;
const entry E053 = settle("E053", holds("3*4", [](std::string_view shape) {
                              return spells(shape, "#*#", axis_of<Q, 0>::size, axis_of<Q, 1>::size) &&
                                     score_fits<dot_product, axis_of<Q, 1>, axis_of<Q, 1>>() &&
                                     std::same_as<axis_of<decltype(scores(Q{}, Q{})), 0>, three_tokens>;
                          }));
const entry E055 = settle("E055",
                          holds("3*3",
                                [](std::string_view shape) {
                                    using S = decltype(matmul(Q{}, transpose(Q{})));
                                    return std::same_as<S, tensor<double, three_tokens, three_tokens>> &&
                                           spells(shape, "#*#", axis_of<S, 0>::size, axis_of<S, 1>::size);
                                }),
                          holds([] { return row_depends_on_its_query_alone && scores_are_dot_products; }));
// [/E053]

} // namespace
} // namespace attest::proofs
