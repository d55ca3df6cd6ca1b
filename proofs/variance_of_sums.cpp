// SPDX-License-Identifier: BSL-1.0
// Why scores are divided by √d_k, second part: the variance of a sum of d_k terms is d_k, and divided by √d_k it is 1.

#include "at_random.hpp"
#include "exact.hpp"
#include "settle.hpp"
#include "whole_number.hpp"

#include "attest/arithmetic/rational.hpp"

namespace attest::proofs {
namespace {

using namespace at_random;

// [written out]
// Under the lecture's hypotheses, for every d_k:
constexpr polynomial mean_of_score = every_score(lecture()).mean(), variance_of_score = every_score(lecture()).variance();
constexpr polynomial variance_by_root = every_score(lecture(), divided_by(root_d)).variance();
constexpr polynomial variance_by_d = every_score(lecture(), divided_by(d())).variance();

// d_k that are written out, 1 to 4, agree with it: mean and variance under the hypotheses, E S⁴ for signs, where x⁴ = 1.
template <unsigned D>
constexpr bool written_out() {
    return lecture().mean(score_of<D>()) == mean_of_score.with_square(root_d, D) &&
           lecture().variance(score_of<D>()) == variance_of_score.with_square(root_d, D);
}
static_assert(written_out<1>() && written_out<2>() && written_out<3>() && written_out<4>());

constexpr hypotheses of_signs() {
    hypotheses h = lecture().finite(4);
    for (unsigned m = 0; m < 4; ++m) h = h.given(square(q[m]) * square(q[m]), 1).given(square(k[m]) * square(k[m]), 1);
    return h;
}
constexpr polynomial fourth_of_signs = every_score(of_signs()).fourth();
static_assert(fourth_of_signs == 3 * d() * d() - 2 * d());
static_assert(of_signs().mean(square(square(score_of<3>()))) == 3 * 3 * 3 - 2 * 3);
// [/written out]

// [A035]
// "Proof (2)": the sum. X = 2^j with probability 3·4^−j, for j = 1, 2, 3, …, has the mean 3 and no second moment: each of its
// infinitely many values adds 3 to it. Then X + Y with Y = −X is the constant 0, but Var X + Var Y + 2 Cov(X, Y) is ∞ + ∞ − ∞.
// The first n values have the probability 1 − 4^−n in all, and add 3 − 3·2^−n to the mean and 3n to the second moment.
constexpr bool second_moment_alone_grows(int n) {
    tensor<long long, axis<20>> probability, ones, x, squares; // probabilities in units of 4^−20
    for (int j = 0; j < n; ++j) {
        probability(j) = 3LL << 2 * (20 - (j + 1));
        ones(j) = 1, x(j) = 1LL << (j + 1), squares(j) = x(j) * x(j);
    }
    return dot_product{}(probability, ones) == (1LL << 40) - (1LL << (40 - 2 * n)) &&
           dot_product{}(probability, x) == (3LL << 40) - (3LL << (40 - n)) &&
           dot_product{}(probability, squares) == 3LL * n << 40;
}
const entry A035 = settle("A035", fails_as_printed([] {
                              for (int n = 1; n <= 20; ++n)
                                  if (!second_moment_alone_grows(n)) return false;
                              const hypotheses mean_alone = hypotheses().given(term(0), 3);
                              const polynomial X = term(0), Y = -X;
                              return X + Y == 0 && mean_alone.has_mean(X) && !mean_alone.has_mean(square(X));
                          }),
                          holds_corrected([] {
                              const hypotheses h =
                                  finite_moments().finite(4); // of X = q_1 k_1 and Y = q_2 k_2, whatever hangs together
                              const polynomial X = term(0), Y = term(1);
                              return h.variance(X + Y) == h.variance(X) + h.variance(Y) + 2 * h.covariance(X, Y);
                          }));
const entry A036 = settle("A036", holds([] {
                              const hypotheses h = finite_moments().finite(4);
                              const polynomial X = term(0), Y = term(1);
                              return h.covariance(X, Y) == h.mean(X * Y) - h.mean(X) * h.mean(Y) && !(h.covariance(X, Y) == 0) &&
                                     independence().covariance(X, Y) == 0;
                          }),
                          holds([] { // X = −1, 0, 1 and Y = X²: no covariance, and yet no independence
                              const tensor<int, axis<3>> X{-1, 0, 1}, Y{1, 0, 1}, ones{1, 1, 1};
                              const int first = dot_product{}(X, ones), cross = dot_product{}(X, Y),
                                        squares = dot_product{}(Y, Y);
                              return cross == 0 && first == 0 && 3 * squares != dot_product{}(Y, ones) * dot_product{}(Y, ones);
                          }));
// A037: here the variables themselves are the terms, with their own means and variances.
const entry A037 = settle(
    "A037", holds([] {
        const hypotheses h = independence();
        const polynomial two = q[0] + q[1], three = two + q[2], four = three + q[3];
        return h.variance(two) == h.variance(q[0]) + h.variance(q[1]) &&
               h.variance(three) == h.variance(two) + h.variance(q[2]) &&
               h.variance(four) == h.variance(three) + h.variance(q[3]) &&
               h.variance(score_of<4>()) == h.variance(term(0)) + h.variance(term(1)) + h.variance(term(2)) + h.variance(term(3));
    }),
    holds([] { // d_k terms of mean μ and second moment c², uncorrelated
        hypotheses h = finite_moments();
        for (unsigned m = 0; m < 4; ++m) h = h.given(q[m], mu).given(square(q[m]), c * c);
        for (unsigned m = 0; m < 4; ++m)
            for (unsigned l = 0; l < m; ++l) h = h.given(q[m] * q[l], mu * mu);
        return sum(h, q[0], q[1], q[2], q[3]).variance() == d() * h.variance(q[0]) && h.variance(q[0]) == c * c - mu * mu;
    }));
// [/A035]

// [A038]
// The products q_m k_m must be independent all together; in pairs, or in threes, is not enough. The signs a, b, c
// and abc: any three are independent, the four are not, and S = q · k = ab + c·abc = 2ab has variance 4, not 2.
constexpr unsigned signs_of[] = {0b001, 0b010, 0b100, 0b111}; // which of a, b, c are multiplied
constexpr int component(unsigned which, unsigned outcome) {
    int product = 1;
    for (unsigned bit = 0; bit < 3; ++bit)
        if ((signs_of[which] >> bit & 1U) != 0) product *= sign(outcome, bit);
    return product;
}
// Independent: every combination of `Count` signs occurs equally often among the 8 outcomes.
template <unsigned Count>
constexpr bool independent(const unsigned (&which)[Count]) {
    int times[1U << Count] = {};
    for (unsigned outcome = 0; outcome < 8; ++outcome) {
        unsigned combination = 0;
        for (unsigned i = 0; i < Count; ++i) combination = 2 * combination + (component(which[i], outcome) > 0 ? 1U : 0U);
        ++times[combination];
    }
    for (const int t : times)
        if (t << Count != 8) return false;
    return true;
}
static_assert(independent({0, 1, 2}) && independent({0, 1, 3}) && independent({0, 2, 3}) && independent({1, 2, 3}));
static_assert(!independent({0, 1, 2, 3}));

constexpr moments of_dependent_signs = [] {
    moments result;
    tensor<int, axis<2>> left, right;
    for (unsigned outcome = 0; outcome < 8; ++outcome) {
        left(0) = component(0, outcome), right(0) = component(1, outcome);
        left(1) = component(2, outcome), right(1) = component(3, outcome);
        result.count(dot_product{}(left, right));
    }
    return result;
}();
// And with mutual independence: the two terms of d_k = 2 take each pair of values equally often.
constexpr bool pairs_are_equally_frequent = [] {
    int times[4] = {};
    for (unsigned outcome = 0; outcome < 16; ++outcome) {
        const int t_1 = dot_product{}(tensor<int, axis<1>>{sign(outcome, 0)}, tensor<int, axis<1>>{sign(outcome, 2)});
        const int t_2 = dot_product{}(tensor<int, axis<1>>{sign(outcome, 1)}, tensor<int, axis<1>>{sign(outcome, 3)});
        ++times[(t_1 + 1) + (t_2 + 1) / 2];
    }
    return times[0] == 4 && times[1] == 4 && times[2] == 4 && times[3] == 4;
}();
// E[T_1^a T_2^b] = E[T_1^a] E[T_2^b], for all powers to the seventh.
constexpr bool joint_moments_factor = [] {
    const hypotheses h = independence().finite(7);
    polynomial first = 1;
    for (unsigned a = 1; a <= 7; ++a) {
        first = first * term(0);
        polynomial second = 1;
        for (unsigned b = 1; b <= 7; ++b) {
            second = second * term(1);
            if (!(h.mean(first * second) == h.mean(first) * h.mean(second))) return false;
        }
    }
    return true;
}();
const entry A038 = settle("A038", holds([] { return joint_moments_factor && pairs_are_equally_frequent; }), holds([] {
                              return of_dependent_signs.has_expectation(0) && of_dependent_signs.has_variance(4) &&
                                     !of_dependent_signs.has_variance(2);
                          }));
// [/A038]

// [A039]
const entry A039 =
    settle("A039", holds([] {
               return mean_of_score == 0 && variance_of_score == d() && variance_of_score == d() * lecture().variance(term(0));
           }),
           holds("1", [](std::string_view one_term) { return lecture().variance(term(0)) == whole_number(one_term); }), holds([] {
               return of_1.has_expectation(0) && of_1.has_variance(1) && of_2.has_expectation(0) && of_2.has_variance(2) &&
                      of_3.has_expectation(0) && of_3.has_variance(3) && of_4.has_expectation(0) && of_4.has_variance(4);
           }),
           holds([](const claim& of) {
               return of_64.second == whole_number(of.number(0)) * of_64.outcomes &&
                      of_64.fourth == whole_number(of.number(1)) * of_64.outcomes &&
                      fourth_of_signs.with_square(root_d, 64) == whole_number(of.number(1));
           }));

// "Proof (3)": the factor.
const entry A040 = settle("A040", holds([] {
                              const hypotheses h = finite_moments().finite(4);
                              const polynomial X = score_of<2>();
                              return h.variance(c * X) == c * c * h.variance(X) &&
                                     every_score(lecture(), scaled_dot_product<polynomial>{c}).variance() == c * c * d() &&
                                     of_score<3>(0, 5).has_variance(5 * 5 * 3);
                          }));
// Is the mean square of q·k/√D over all outcomes that number, each score divided by what the formula takes for √D?
template <class S, unsigned D>
constexpr bool has_mean_square_divided_by_root(int mean_square) {
    const auto divided = scaled_dot_product<S>::of_dimension(D);
    S sum(0);
    tensor<S, axis<D>> left, right;
    for (unsigned outcome = 0; outcome < 1U << 2 * D; ++outcome) {
        for (unsigned m = 0; m < D; ++m) left(m) = S(sign(outcome, m)), right(m) = S(sign(outcome, D + m));
        const S score = divided(left, right);
        sum = sum + score * score;
    }
    return sum == S(mean_square * (1 << 2 * D));
}
const entry A041 = settle("A041",
                          holds("1",
                                [](std::string_view variance) {
                                    return variance_by_root == whole_number(variance) &&
                                           square(one / root_d) * variance_of_score == whole_number(variance) &&
                                           one / d() * d() == whole_number(variance);
                                }),
                          holds([] { // the mean of S/√d_k is 0, as that of S
                              return has_mean_square_divided_by_root<rational, 1>(1) &&
                                     has_mean_square_divided_by_root<exact, 2>(1) &&
                                     has_mean_square_divided_by_root<rational, 4>(1) && of_1.has_expectation(0) &&
                                     of_2.has_expectation(0) && of_4.has_expectation(0);
                          }));
const entry A042 =
    settle("A042", holds([] { return variance_by_root == 1 && variance_by_d == one / d() && !(variance_by_d == 1); }));
// [/A039]

} // namespace
} // namespace attest::proofs
