// SPDX-License-Identifier: BSL-1.0
// Why scores are divided by √d_k, third part: what the other lectures make of it, and what it does to gradients.

#include "at_random.hpp"
#include "printed.hpp"
#include "settle.hpp"
#include "whole_number.hpp"

#include "attest/arithmetic/dual.hpp"
#include "attest/arithmetic/interval.hpp"
#include "attest/arithmetic/rational.hpp"
#include "attest/formula/softmax.hpp"

namespace attest::proofs {
namespace {

using namespace at_random;

// [scores]
// Under the lecture's hypotheses, for every d_k:
constexpr polynomial mean_of_score = every_score(lecture()).mean(), variance_of_score = every_score(lecture()).variance();
constexpr polynomial variance_by_root = every_score(lecture(), divided_by(root_d)).variance();
constexpr polynomial variance_by_c = every_score(lecture(), scaled_dot_product<polynomial>{c}).variance(); // S multiplied by c
// [/scores]

// [B008]
// Unit variance, but mean μ.
constexpr hypotheses with_mean() {
    hypotheses h = independence();
    for (const variable& x : q) h = h.given(x, mu).given(x * x, 1 + mu * mu);
    for (const variable& x : k) h = h.given(x, mu).given(x * x, 1 + mu * mu);
    return h;
}
// Unit variance and mean 0, but q = k: S = d always.
constexpr moments of_equal_vectors = [] {
    moments result;
    tensor<int, axis<3>> x;
    for (unsigned outcome = 0; outcome < 8; ++outcome) {
        for (unsigned m = 0; m < 3; ++m) x(m) = sign(outcome, m);
        result.count(dot_product{}(x, x));
    }
    return result;
}();
const entry B008 = settle("B008", fails_as_printed([] {
                              return with_mean().variance(q[0]) == 1 && !(every_score(with_mean()).mean() == 0) &&
                                     !(every_score(with_mean()).variance() == d()) && of_equal_vectors.has_expectation(3) &&
                                     of_equal_vectors.has_variance(0);
                          }),
                          holds_corrected([] {
                              const sum s = every_score(with_mean());
                              return s.mean() == d() * mu * mu && s.variance() == d() * (1 + 2 * mu * mu);
                          }),
                          holds_corrected([] {
                              return of_score<2>(1).has_expectation(2 * 1) && of_score<2>(1).has_variance(2 * (1 + 2 * 1)) &&
                                     of_score<3>(1).has_expectation(3 * 1) && of_score<3>(1).has_variance(3 * (1 + 2 * 1)) &&
                                     of_score<3>(2).has_expectation(3 * 4) && of_score<3>(2).has_variance(3 * (1 + 2 * 4));
                          }),
                          holds_corrected("0", [](std::string_view mean) { return mean_of_score == whole_number(mean); }),
                          holds_corrected([] { return variance_of_score == d(); }));
constexpr polynomial with_mean_by_root = every_score(with_mean(), divided_by(root_d)).variance();
// Any X, divided as the formula divides its dot product (here of the vectors (X) and (1)).
constexpr polynomial X_by_root = divided_by(root_d)(tensor<polynomial, axis<1>>{q[0]}, tensor<polynomial, axis<1>>{1});
const entry B009 = settle("B009", holds([] {
                              const hypotheses any = finite_moments();
                              return any.variance(X_by_root) == any.variance(q[0]) / d() && !any.variance(q[0]).known();
                          }),
                          holds([] {
                              const hypotheses of_variance_d = finite_moments().given(q[0], mu).given(q[0] * q[0], d() + mu * mu);
                              return of_variance_d.variance(q[0]) == d() && of_variance_d.variance(X_by_root) == 1;
                          }),
                          holds([] { return variance_by_root == 1; }),
                          holds([] { return with_mean_by_root == 1 + 2 * mu * mu; })); // which B008 leaves open
// [/B008]

// [A010]
// A010: without the factor the variance grows with d_k, with it not.
const entry A010 = settle("A010", holds([] {
                              return variance_of_score.with_square(root_d, 1) == 1 &&
                                     variance_of_score.with_square(root_d, 64) == 64 &&
                                     variance_of_score.with_square(root_d, 512) == 512 && variance_by_root == 1;
                          }));

// A024: ∂α_1/∂s_1 at the scores (s, 0).
struct two : axis<2> {};
constexpr interval slope(const interval& s) {
    return softmax(tensor<dual<interval>, two>{dual<interval>(s, 1), dual<interval>(0)})(0).derivative();
}
// q_c = 10 and k_c = 1 for all 64 components.
struct large_scores {
    interval raw, scaled;
};
constexpr large_scores of_large_components = [] {
    tensor<interval, axis<64>> left, right;
    for (std::size_t m = 0; m < 64; ++m) left(m) = 10, right(m) = 1;
    return large_scores{dot_product{}(left, right), scaled_dot_product<interval>::of_dimension(64)(left, right)};
}();
const entry A024 = settle(
    "A024", fails_as_printed([] {
        return pins(slope(0), interval::ratio(1, 4));
    }),
    fails_as_printed([] {
        return surely(of_large_components.raw == 640) && surely(of_large_components.scaled == 80) &&
               surely(slope(of_large_components.scaled) < interval::power_of_two(-100));
    }),
    holds_corrected([] { return variance_by_root == 1; }),
    holds_corrected("64", [](std::string_view d_k) { // one standard deviation, 8, becomes 1
        return surely(8 * scaled_dot_product<interval>::of_dimension(static_cast<std::size_t>(whole_number(d_k))).scale == 1);
    }),
    holds_corrected([](const claim& of) { return prints(slope(8), of.number(0), 8) && prints(slope(1), of.number(1), 5); }));
// [/A010]

// [E030]
const entry B011 = settle(
    "B011",
    holds("sqrt(64)=8",
          [](std::string_view line) {
              const auto [d_k, root] = whole_numbers<2>(line, "sqrt(#)=#");
              return d_k == axis<64>::size &&
                     surely(1 / scaled_dot_product<interval>::of_dimension(static_cast<std::size_t>(d_k)).scale == root);
          }),
    holds("64",
          [](std::string_view d_k) {
              return surely(1 / scaled_dot_product<interval>::of_dimension(64).scale != whole_number(d_k)) &&
                     whole_number(d_k) == axis<64>::size;
          }),
    holds("log 64",
          [](std::string_view line) {
              const auto [d_k] = whole_numbers<1>(line, "log #");
              return surely(1 / scaled_dot_product<interval>::of_dimension(64).scale > log(interval(d_k))) && d_k == axis<64>::size;
          }),
    holds([](const claim& of) { return prints(log(interval(64)), of.number(), 6); }));
// E[T_1^a T_2^b T_3^c T_4^d] = E[T_1^a] E[T_2^b] E[T_3^c] E[T_4^d], for all powers to the third.
constexpr bool joint_moments_of_four_factor = [] {
    const hypotheses h = independence().finite(3);
    polynomial power[4][4], mean[4][4]; // of term m, to the power of e
    for (unsigned m = 0; m < 4; ++m) {
        power[m][0] = 1;
        for (unsigned e = 1; e < 4; ++e) power[m][e] = power[m][e - 1] * term(m);
        for (unsigned e = 0; e < 4; ++e) mean[m][e] = h.mean(power[m][e]);
    }
    for (unsigned all = 0; all < 4 * 4 * 4 * 4; ++all) {
        const unsigned exponents[] = {all % 4, all / 4 % 4, all / 16 % 4, all / 64};
        polynomial product = 1, of_means = 1;
        for (unsigned m = 0; m < 4; ++m) {
            product = product * power[m][exponents[m]];
            of_means = of_means * mean[m][exponents[m]];
        }
        if (!(h.mean(product) == of_means)) return false;
    }
    return true;
}();
const entry E030 = settle("E030", holds([] { return score_of<4>() == term(0) + term(1) + term(2) + term(3); }),
                          holds([] { return joint_moments_of_four_factor; }), holds([] {
                              // That all components are independent is used: if nothing is assumed, the moments do not factor.
                              const hypotheses h = finite_moments().finite(4);
                              return !(h.mean(term(0) * term(1)) == h.mean(term(0)) * h.mean(term(1)));
                          }));
const entry E031 =
    settle("E031",
           holds("1",
                 [](std::string_view variance) {
                     return lecture().variance(term(0)) == whole_number(variance) &&
                            lecture().variance(q[0]) * lecture().variance(k[0]) == whole_number(variance);
                 }),
           holds([] {
               const hypotheses h = independence(), of_mean_0 = h.given(q[0], 0).given(k[0], 0);
               const polynomial var_q = h.variance(q[0]), var_k = h.variance(k[0]);
               return of_mean_0.variance(term(0)) == of_mean_0.variance(q[0]) * of_mean_0.variance(k[0]) &&
                      h.variance(term(0)) == var_q * var_k + square(h.mean(q[0])) * var_k + square(h.mean(k[0])) * var_q;
           }));
const entry E032 = settle("E032", holds("64: sqrt(64)=8", [](std::string_view line) {
                              const auto [variance, d_k, deviation] = whole_numbers<3>(line, "#: sqrt(#)=#");
                              return d_k == axis<64>::size && variance_of_score.with_square(root_d, d_k) == variance &&
                                     variance == deviation * deviation && deviation > 0 &&
                                     of_64.second == variance * of_64.outcomes;
                          }));
const entry E033 = settle("E033", holds("sqrt(d_k)=8: 1", [](std::string_view line) { // exactly, which "about" allows
                              const auto [root, deviation] = whole_numbers<2>(line, "sqrt(d_k)=#: #");
                              const rational scale = scaled_dot_product<rational>::of_dimension(64).scale;
                              const int variance = deviation * deviation;
                              return 1 / scale == root && scale * scale * 64 == variance && variance_by_root == variance &&
                                     deviation > 0;
                          }));
const entry E034 = settle("E034",
                          holds("8: 1/8",
                                [](std::string_view line) {
                                    const auto [root, above, below] = whole_numbers<3>(line, "#: #/#");
                                    const rational scale = scaled_dot_product<rational>::of_dimension(64).scale;
                                    return 1 / scale == root && scale * below == above;
                                }),
                          holds([] { return variance_by_c == c * c * variance_of_score; }));
// [/E030]

} // namespace
} // namespace attest::proofs
