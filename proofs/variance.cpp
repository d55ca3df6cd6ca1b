// SPDX-License-Identifier: BSL-1.0
// Why scores are divided by √d_k: the variance of a dot product of random signs is d_k. All outcomes are enumerated,
// and counted in integers: an expectation is a sum over the outcomes, divided by their number.

#include "attest/arithmetic/fixed_point.hpp"
#include "attest/formula/score.hpp"

namespace attest::proofs {
namespace {

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
    [[nodiscard]] constexpr bool has_variance(long long v) const {
        return scaled_variance() == v * outcomes * outcomes;
    }
};

// Bit number `bit` of an outcome, as a sign.
constexpr int sign(unsigned outcome, unsigned bit) { return (outcome >> bit & 1U) != 0 ? 1 : -1; }

// [A039]
// q and k have d_k components each, all of them independent: μ + 1 or μ − 1, equally likely (mean μ, variance 1). Times
// c.
template <unsigned D>
constexpr moments of_score(int mu = 0, int c = 1) {
    moments result;
    tensor<int, axis<D>> q, k;
    for (unsigned outcome = 0; outcome < 1U << 2 * D; ++outcome) {
        for (unsigned m = 0; m < D; ++m) {
            q(m) = mu + sign(outcome, m);
            k(m) = mu + sign(outcome, D + m);
        }
        result.count(c * dot_product{}(q, k));
    }
    return result;
}
constexpr moments of_1 = of_score<1>(), of_2 = of_score<2>(), of_3 = of_score<3>(), of_4 = of_score<4>();
static_assert(of_1.outcomes == 4 && of_2.outcomes == 16 && of_3.outcomes == 64 && of_4.outcomes == 256);

// A039: E S = 0 and Var S = d_k, for d_k = 1, 2, 3, 4.
static_assert(of_1.has_expectation(0) && of_1.has_variance(1));
static_assert(of_2.has_expectation(0) && of_2.has_variance(2));
static_assert(of_3.has_expectation(0) && of_3.has_variance(3));
static_assert(of_4.has_expectation(0) && of_4.has_variance(4));
// [/A039]

// The fourth moment is E S⁴ = 3d² − 2d.
static_assert(of_1.fourth == of_1.outcomes * (3 * 1 * 1 - 2 * 1));
static_assert(of_2.fourth == of_2.outcomes * (3 * 2 * 2 - 2 * 2));
static_assert(of_3.fourth == of_3.outcomes * (3 * 3 * 3 - 2 * 3));
static_assert(of_4.fourth == of_4.outcomes * (3 * 4 * 4 - 2 * 4));

// A040: Var(cS) = c² Var S, here with c = 5.
static_assert(of_score<3>(0, 5).has_variance(5 * 5 * 3));

// [A041]
// A041: Var(S/√d_k) = Var S / d_k = 1. A042: S/d_k, without the root, has only 1/d_k.
template <unsigned D>
constexpr bool root_restores_unit_variance(const moments& s) {
    return s.scaled_variance() == D * s.outcomes * s.outcomes;
}
template <unsigned D>
constexpr bool without_root_leaves_one_over_d(const moments& s) {
    return D * s.scaled_variance() == D * D * s.outcomes * s.outcomes; // Var(S/d) = Var S / d² = 1/d
}
static_assert(root_restores_unit_variance<1>(of_1) && root_restores_unit_variance<2>(of_2));
static_assert(root_restores_unit_variance<3>(of_3) && root_restores_unit_variance<4>(of_4));
static_assert(without_root_leaves_one_over_d<3>(of_3) && without_root_leaves_one_over_d<4>(of_4));
// [/A041]

// [64]
// A039, E032: d_k = 64 as in the lecture, by the exact distribution: a product of two independent signs is a sign, so S
// = 64 − 2j in C(64, j) of 2^64 cases. E S = 0, Var S = 64 (standard deviation 8), E S⁴ = 12160 = 3·64² − 2·64.
struct large_moments {
    using integer = fixed_point::integer<256>;
    integer outcomes = 0, first = 0, second = 0, fourth = 0;
};
constexpr large_moments of_64 = [] {
    using integer = large_moments::integer;
    large_moments result;
    integer cases = 1; // C(64, j)
    for (int j = 0; j <= 64; ++j) {
        const int s = 64 - 2 * j;
        result.outcomes += cases;
        result.first += cases * s;
        result.second += cases * s * s;
        result.fourth += cases * s * s * s * s;
        cases *= 64 - j;
        cases /= j + 1;
    }
    return result;
}();
static_assert(of_64.outcomes == large_moments::integer(1) << 64);
static_assert(of_64.first == 0);
static_assert(of_64.second == 64 * of_64.outcomes && 8 * 8 == 64);
static_assert(of_64.fourth == 12160 * of_64.outcomes && 12160 == 3 * 64 * 64 - 2 * 64);
// [/64]

// [A038]
// A038: the products q_m k_m must be independent all together; in pairs, or in threes, is not enough. The signs a, b, c
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
        for (unsigned i = 0; i < Count; ++i)
            combination = 2 * combination + (component(which[i], outcome) > 0 ? 1U : 0U);
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
    tensor<int, axis<2>> q, k;
    for (unsigned outcome = 0; outcome < 8; ++outcome) {
        q(0) = component(0, outcome), k(0) = component(1, outcome);
        q(1) = component(2, outcome), k(1) = component(3, outcome);
        result.count(dot_product{}(q, k));
    }
    return result;
}();
static_assert(of_dependent_signs.has_expectation(0));
static_assert(of_dependent_signs.has_variance(4) && !of_dependent_signs.has_variance(2));
// [/A038]

// [B008]
// B008: "unit variance" alone is not enough, the means must be 0 too: else E S = d μ² and Var S = d (1 + 2μ²).
static_assert(of_score<2>(1).has_expectation(2 * 1) && of_score<2>(1).has_variance(2 * (1 + 2 * 1)));
static_assert(of_score<3>(1).has_expectation(3 * 1) && of_score<3>(1).has_variance(3 * (1 + 2 * 1)));
static_assert(of_score<3>(2).has_expectation(3 * 4) && of_score<3>(2).has_variance(3 * (1 + 2 * 4)));
// And q and k must be independent: with q = k, S = d always, E S = d and Var S = 0.
constexpr moments of_equal_vectors = [] {
    moments result;
    tensor<int, axis<3>> q;
    for (unsigned outcome = 0; outcome < 8; ++outcome) {
        for (unsigned m = 0; m < 3; ++m) q(m) = sign(outcome, m);
        result.count(dot_product{}(q, q));
    }
    return result;
}();
static_assert(of_equal_vectors.has_expectation(3) && of_equal_vectors.has_variance(0));
// [/B008]

} // namespace
} // namespace attest::proofs
