// SPDX-License-Identifier: BSL-1.0
// Why scores are divided by √d_k, first part: what is assumed of queries and keys, and the mean and variance of one term q_m k_m.

#include "at_random.hpp"
#include "settle.hpp"
#include "whole_number.hpp"

namespace attest::proofs {
namespace {

using namespace at_random;

// [A025]
// The hypotheses can be met: by random signs, in any number.
const entry A025 = settle(
    "A025",
    holds("0",
          [](std::string_view mean) {
              return lecture().mean(q[0]) == whole_number(mean) && sign(0, 0) + sign(1, 0) == 2 * whole_number(mean) &&
                     of_1.has_expectation(whole_number(mean));
          }),
    holds("1",
          [](std::string_view variance) {
              return lecture().variance(q[0]) == whole_number(variance) && lecture().variance(k[3]) == whole_number(variance) &&
                     sign(1, 0) * sign(1, 0) + sign(0, 0) * sign(0, 0) == 2 * whole_number(variance);
          }),
    holds("64", [](std::string_view d_k) { return of_64.second == whole_number(d_k) * of_64.outcomes && of_64.first == 0; }),
    holds([] { return of_1.has_variance(1) && of_2.has_variance(2) && of_3.has_variance(3) && of_4.has_variance(4); }));

// A026: of vectors ⊥ says orthogonal, and neither follows from the other. Vectors of three independent signs each, for which all hypotheses are met,
// have a q·k that is odd, so never 0; and (r, 0) and (0, r) with one random sign r are orthogonal, and not independent: E[r r] is not E[r] E[r].
constexpr bool independent_vectors_are_never_orthogonal = [] {
    tensor<int, axis<3>> left, right;
    for (unsigned outcome = 0; outcome < 64; ++outcome) {
        for (unsigned m = 0; m < 3; ++m) left(m) = sign(outcome, m), right(m) = sign(outcome, 3 + m);
        if (dot_product{}(left, right) == 0) return false;
    }
    return of_3.outcomes == 64 && of_3.has_variance(3);
}();
constexpr bool orthogonal_vectors_may_depend = [] {
    int sum_of_r = 0, sum_of_products = 0;
    for (const int r : {-1, 1}) {
        if (dot_product{}(tensor<int, axis<2>>{r, 0}, tensor<int, axis<2>>{0, r}) != 0) return false;
        sum_of_r += r, sum_of_products += r * r;
    }
    return 2 * sum_of_products != sum_of_r * sum_of_r; // 4 E[q_1 k_2] and 4 E[q_1] E[k_2]
}();
// Components are independent: E[q_m^a k_l^b] = E[q_m^a] E[k_l^b] for all powers to the seventh.
constexpr bool components_are_independent = [] {
    const hypotheses h = independence().finite(7);
    unsigned asked = 0;
    for (unsigned m = 0; m < 4; ++m)
        for (unsigned l = 0; l < 4; ++l) {
            polynomial power_of_q = 1;
            for (unsigned a = 1; a <= 7; ++a) {
                power_of_q = power_of_q * q[m];
                polynomial power_of_k = 1;
                for (unsigned b = 1; b <= 7; ++b) {
                    power_of_k = power_of_k * k[l];
                    if (!(h.mean(power_of_q * power_of_k) == h.mean(power_of_q) * h.mean(power_of_k))) return false;
                    ++asked;
                }
            }
        }
    return asked == 16 * 49; // each q_m with each k_l
}();
const entry A026 =
    settle("A026", fails_as_printed([] { return independent_vectors_are_never_orthogonal; }),
           fails_as_printed([] { return orthogonal_vectors_may_depend; }),
           holds_corrected([] { return components_are_independent && lecture().mean(term(0)) == 0; }));

// A027: from independence alone the mean of the product is the product of the means, which may be 1.
const entry A027 =
    settle("A027", fails_as_printed([] {
               const tensor<int, axis<1>> constant_one{1};
               return dot_product{}(constant_one, constant_one) == 1 && !(independence().mean(term(0)) == 0) &&
                      !independence().mean(term(0)).known();
           }),
           holds_corrected([] { return independence().mean(term(0)) == independence().mean(q[0]) * independence().mean(k[0]); }),
           holds_corrected("0", [](std::string_view mean) {
               return independence().given(q[0], 0).mean(term(0)) == whole_number(mean) &&
                      independence().given(k[0], 0).mean(term(0)) == whole_number(mean);
           }));

// A028: and that of the squares the product of those. Uncorrelated is less: q = r and k = ±r with r = 1 or 2 and any sign.
constexpr moments uncorrelated = [] {
    moments products;
    for (unsigned outcome = 0; outcome < 4; ++outcome) {
        const int r = (outcome & 1U) != 0 ? 1 : 2;
        products.count(dot_product{}(tensor<int, axis<1>>{r}, tensor<int, axis<1>>{r * sign(outcome, 1)}));
    }
    return products;
}();
static_assert(uncorrelated.has_expectation(0) &&
              4 * uncorrelated.second != (2 * (1 + 4)) * (2 * (1 + 4))); // E[k] = 0; E[q²] = E[k²] = (1 + 4)/2
const entry A028 =
    settle("A028", holds([] {
               const hypotheses h = independence();
               return h.mean(square(term(0))) == h.mean(square(q[0])) * h.mean(square(k[0])) &&
                      !finite_moments().has_mean(square(term(0))) &&
                      !(finite_moments().finite(4).mean(square(term(0))) == h.mean(square(q[0])) * h.mean(square(k[0])));
           }));
// [/A025]

// [A029]
// "Proof": one term.
const entry A029 = settle("A029", holds([] {
                              return score_of<1>() == q[0] * k[0] && score_of<2>() == q[0] * k[0] + q[1] * k[1] &&
                                     score_of<3>() == q[0] * k[0] + q[1] * k[1] + q[2] * k[2] &&
                                     score_of<4>() == q[0] * k[0] + q[1] * k[1] + q[2] * k[2] + q[3] * k[3];
                          }));
const entry A030 = settle("A030", holds([] {
                              const hypotheses h = finite_moments().finite(4); // variance is E[(X − E X)²] there
                              return h.variance(term(0)) == h.mean(square(term(0))) - square(h.mean(term(0))) &&
                                     h.variance(term(0)) == h.mean(square(term(0) - h.mean(term(0))));
                          }));
const entry A031 = settle("A031", holds("0*0=0", [](std::string_view line) {
                              const auto [of_q, of_k, of_product] = whole_numbers<3>(line, "#*#=#");
                              return lecture().mean(q[0]) == of_q && lecture().mean(k[0]) == of_k && of_q * of_k == of_product &&
                                     lecture().mean(term(0)) == of_product && of_1.has_expectation(of_product);
                          }));
const entry A032 =
    settle("A032", holds([] {
               const hypotheses h = finite_moments().finite(4);
               return h.variance(term(0)) == h.mean(square(term(0))) - square(h.mean(term(0))) &&
                      h.variance(q[0]) == h.mean(square(q[0])) - square(h.mean(q[0]));
           }),
           holds("0",
                 [](std::string_view mean) {
                     const hypotheses h = finite_moments().finite(4).given(term(0), whole_number(mean));
                     return h.variance(term(0)) == h.mean(square(term(0)));
                 }),
           holds("1", [](std::string_view second) {
               return lecture().variance(q[0]) == whole_number(second) && lecture().mean(square(q[0])) == whole_number(second);
           }));
const entry A033 = settle("A033", holds("1*1=1", [](std::string_view line) {
                              const auto [of_q, of_k, of_product] = whole_numbers<3>(line, "#*#=#");
                              return lecture().mean(square(q[0])) == of_q && lecture().mean(square(k[0])) == of_k &&
                                     of_q * of_k == of_product && lecture().mean(square(term(0))) == of_product &&
                                     of_1.second == of_product * of_1.outcomes;
                          }));
const entry A034 = settle("A034", holds("1-0=1", [](std::string_view line) {
                              const auto [second, squared_mean, variance] = whole_numbers<3>(line, "#-#=#");
                              return lecture().mean(square(term(0))) == second &&
                                     square(lecture().mean(term(0))) == squared_mean && second - squared_mean == variance &&
                                     lecture().variance(term(0)) == variance && of_1.has_variance(variance);
                          }));
// [/A029]

} // namespace
} // namespace attest::proofs
