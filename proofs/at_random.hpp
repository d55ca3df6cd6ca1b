// SPDX-License-Identifier: BSL-1.0
/// \file
/// Scores of random queries and keys: with moments as symbols, where nothing is used of the components but the hypotheses that
/// stand there; and of random signs, by counting all outcomes, in integers.
#pragma once

#include "moments.hpp"

#include "attest/arithmetic/fixed_point.hpp"
#include "attest/formula/score.hpp"

namespace attest::proofs::at_random {

// [symbols]
// The components of q and k: as many as are asked for at once. √d_k, a factor c and a mean μ are constants.
inline constexpr variable q[] = {variable(0), variable(1), variable(2), variable(3)};
inline constexpr variable k[] = {variable(4), variable(5), variable(6), variable(7)};
inline constexpr constant root_d(0), c(1), mu(2);
[[nodiscard]] constexpr polynomial d() { return root_d * root_d; }
inline constexpr polynomial one = 1;

// q·k of the components `first` to `first` + D − 1, by the formula.
template <unsigned D, class Score = dot_product>
[[nodiscard]] constexpr polynomial score_of(unsigned first = 0, const Score& score = {}) {
    tensor<polynomial, axis<D>> left, right;
    for (unsigned m = 0; m < D; ++m) left(m) = q[first + m], right(m) = k[first + m];
    return score(left, right);
}
// One term q_m k_m of it.
[[nodiscard]] constexpr polynomial term(unsigned m) { return score_of<1>(m); }

// A025: mutually independent, with mean 0 and variance 1.
[[nodiscard]] constexpr hypotheses finite_moments() { return hypotheses().finite(2); }
[[nodiscard]] constexpr hypotheses independence() {
    return finite_moments().independent({q[0], q[1], q[2], q[3], k[0], k[1], k[2], k[3]});
}
[[nodiscard]] constexpr hypotheses lecture() { return independence().standard({q[0], q[1], q[2], q[3], k[0], k[1], k[2], k[3]}); }
// [/symbols]

// [every d_k]
// The moments of T_1 + … + T_d, for every d, if the hypotheses treat the terms alike: of the d² products of two terms d are
// squares, with one mean, and d(d − 1) are of two different terms, with another. Of the d⁴ products of four, d are like T_1⁴,
// 4d(d − 1) like T_1³T_2, 3d(d − 1) like T_1²T_2², 6d(d − 1)(d − 2) like T_1²T_2T_3, and the rest like T_1T_2T_3T_4. Throws
// not_known if they are not alike.
struct sum {
    hypotheses h;
    polynomial t[4];

    constexpr sum(const hypotheses& given, const polynomial& t_1, const polynomial& t_2, const polynomial& t_3,
                  const polynomial& t_4)
        : h{given}, t{t_1, t_2, t_3, t_4} {
        for (unsigned m = 0; m < 4; ++m)
            for (unsigned l = 0; l < 4; ++l) {
                const polynomial& other = m == l ? t[0] : t[1];
                if (!(h.mean(t[m]) == h.mean(t[0]) && h.mean(t[m] * t[l]) == h.mean(t[0] * other)))
                    throw not_known("the terms are not alike");
            }
    }
    constexpr polynomial mean() const { return d() * h.mean(t[0]); }
    constexpr polynomial second() const { return d() * h.mean(square(t[0])) + d() * (d() - 1) * h.mean(t[0] * t[1]); }
    constexpr polynomial variance() const { return second() - square(mean()); }
    constexpr polynomial fourth() const {
        const polynomial two = d() * (d() - 1), three = two * (d() - 2), four = three * (d() - 3);
        return d() * h.mean(square(t[0]) * square(t[0])) + 4 * two * h.mean(t[0] * square(t[0]) * t[1]) +
               3 * two * h.mean(square(t[0]) * square(t[1])) + 6 * three * h.mean(square(t[0]) * t[1] * t[2]) +
               four * h.mean(t[0] * t[1] * t[2] * t[3]);
    }
};
// S = q·k, and what a factor makes of it.
template <class Score = dot_product>
[[nodiscard]] constexpr sum every_score(const hypotheses& h, const Score& score = {}) {
    return {h, score_of<1>(0, score), score_of<1>(1, score), score_of<1>(2, score), score_of<1>(3, score)};
}
[[nodiscard]] constexpr scaled_dot_product<polynomial> divided_by(const polynomial& x) { return {one / x}; }
// [/every d_k]

// [counted]
// Sums of S, S² and S⁴ over all outcomes, and the number of outcomes.
struct moments {
    long long outcomes = 0, first = 0, second = 0, fourth = 0;

    constexpr void count(long long s) {
        ++outcomes;
        first += s;
        second += s * s;
        fourth += s * s * s * s;
    }
    // Var S · outcomes², an integer.
    [[nodiscard]] constexpr long long scaled_variance() const { return outcomes * second - first * first; }
    [[nodiscard]] constexpr bool has_expectation(long long e) const { return first == e * outcomes; }
    [[nodiscard]] constexpr bool has_variance(long long v) const { return scaled_variance() == v * outcomes * outcomes; }
};

// Bit number `bit` of an outcome, as a sign.
[[nodiscard]] constexpr int sign(unsigned outcome, unsigned bit) { return (outcome >> bit & 1U) != 0 ? 1 : -1; }

// q and k have d_k components each, all of them independent: mean + 1 or mean − 1, equally likely (variance 1). Times a factor.
template <unsigned D>
[[nodiscard]] constexpr moments of_score(int mean = 0, int factor = 1) {
    moments result;
    tensor<int, axis<D>> left, right;
    for (unsigned outcome = 0; outcome < 1U << 2 * D; ++outcome) {
        for (unsigned m = 0; m < D; ++m) {
            left(m) = mean + sign(outcome, m);
            right(m) = mean + sign(outcome, D + m);
        }
        result.count(factor * dot_product{}(left, right));
    }
    return result;
}
inline constexpr moments of_1 = of_score<1>(), of_2 = of_score<2>(), of_3 = of_score<3>(), of_4 = of_score<4>();
static_assert(of_1.outcomes == 4 && of_2.outcomes == 16 && of_3.outcomes == 64 && of_4.outcomes == 256);
// E S⁴ = 3d² − 2d.
static_assert(of_1.fourth == of_1.outcomes * (3 * 1 * 1 - 2 * 1) && of_2.fourth == of_2.outcomes * (3 * 2 * 2 - 2 * 2));
static_assert(of_3.fourth == of_3.outcomes * (3 * 3 * 3 - 2 * 3) && of_4.fourth == of_4.outcomes * (3 * 4 * 4 - 2 * 4));
// [/counted]

// [64]
// d_k = 64 as in the lecture, by the exact distribution: a product of two independent signs is a sign, so that j of the 64 terms
// are −1 in C(64, j) of 2^64 cases.
struct large_moments {
    using integer = fixed_point::integer<256>;
    integer outcomes = 0, first = 0, second = 0, fourth = 0;
};
inline constexpr large_moments of_64 = [] {
    using integer = large_moments::integer;
    large_moments result;
    integer cases = 1; // C(64, j)
    tensor<int, axis<64>> terms, ones;
    for (int m = 0; m < 64; ++m) terms(m) = ones(m) = 1;
    for (int j = 0; j <= 64; ++j) {
        const int s = dot_product{}(terms, ones);
        result.outcomes += cases;
        result.first += cases * s;
        result.second += cases * s * s;
        result.fourth += cases * s * s * s * s;
        cases *= 64 - j;
        cases /= j + 1;
        if (j < 64) terms(j) = -1;
    }
    return result;
}();
static_assert(of_64.outcomes == large_moments::integer(1) << 64);
static_assert(of_64.first == 0 && of_64.second == 64 * of_64.outcomes && of_64.fourth == (3 * 64 * 64 - 2 * 64) * of_64.outcomes);
// [/64]

} // namespace attest::proofs::at_random
