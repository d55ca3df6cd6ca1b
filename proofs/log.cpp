// SPDX-License-Identifier: BSL-1.0
// The bound of log in double: its steps, what each can lose, and the sum of it, for every argument.
//
// x = f · 2^e exactly, with f = 1 + g and L = log f, so that log x = e·log 2 + L, where |L| <= log √2, or a little more.
//
// 1. g = f − 1, exactly (Sterbenz: 1/2 <= f <= 2).
// 2. t is g divided by 2 + g, both rounded; t2 is the square of that, rounded.
// 3. series by Horner's rule, a sum and a product a step; each coefficient is 1/n rounded. Exactly, it would be the part S(t) of the series in which
//    log f = 2 artanh t = 2t (1 + S(t) + T), and 0 <= T <= t^24/25 · (1 + t² + t⁴ + …) < 1.1 t^24/25.
// 4. half_square is g²/2, rounded (halving is exact); correction is t (half_square + 2·series) + e·ln2_low, four roundings (doubling is exact).
//    Exactly, 2t = g − g²/2 + t g²/2, since t = g/(2 + g), so L = g − (g²/2 − t (g²/2 + 2 S(t) + 2T)).
// 5. Two differences, instead of L + e·(log 2 − ln2_high).
// 6. e·ln2_high exactly: 32 digits and 11. Then the last sum, rounded; exact for e = 0.
//
// Where e = 0 and |L| <= 2^−10, intervals of absolute size say little. There, with u = 2^−53 and |g| < 1.01 · 2^−10: half_square is off by u g²/2.
// |t| <= |g|/1.99 and |S(t)| <= t²/2.9, so correction is at most 0.34 |g|³, and off by less than 14u of it (t 2u; t2 5u; series 9u; its sum with
// half_square 1u; the product 1u and t's 2u; T is far below), which is less than 0.01 u g². Their difference is at most 0.501 g², rounded once. So
// what is taken from g is less than 1.02 u g² wrong, less than 2^−9 u of |L| >= |g| (1 − 2^−10); rounding the last difference loses u of it. In all
// less than 1.01 u |L|. Nothing that matters underflows: |g| >= 2^−53, and 2^−1074 is far below u |g|³.

#include "rounding.hpp"

#include "attest/arithmetic/interval.hpp"
#include "attest/elementary/exp.hpp"
#include "attest/elementary/log.hpp"

namespace attest::proofs {
namespace {

constexpr interval log_two = attest::log(interval(2));
constexpr interval high = exactly(attest::detail::ln2_high), low = exactly(attest::detail::ln2_low);
static_assert((high.lower_units() & ((interval::integer(1) << (interval::fraction_bits - 32)) - 1)) == 0, "32 digits");
constexpr int greatest_e = 1075;

// f is at most this, and more than half of it.
constexpr interval greatest_fraction = exactly(attest::detail::log_greatest_fraction);
constexpr interval greatest_rest = log_two * (interval::ratio(1, 2) + interval::power_of_two(-50));
static_assert(surely(attest::log(greatest_fraction) < greatest_rest) && surely(attest::log(greatest_fraction) > log_two * interval::ratio(1, 2)));

// e·ln2_low, rounded, instead of e·(log 2 − ln2_high): for e = 0, and for any.
constexpr rounded nothing{0};
constexpr interval rest_of_log_two = log_two - high;
constexpr rounded any_multiple{plus_minus(rest_of_log_two * greatest_e), rounding(low * greatest_e) + greatest(rest_of_log_two - low) * greatest_e};

// Steps 1 to 5, for L in `rest`, on one side of 0.
constexpr rounded before_last(const interval& rest, const rounded& multiple) {
    const rounded g{attest::exp(rest) - 1};
    const rounded t = g / (rounded{2} + g), t2 = t * t;
    rounded series{0};
    for (int n = attest::detail::log_last_power; n >= 3; n -= 2) {
        const interval coefficient = interval::ratio(1, n);
        series = (series + rounded{coefficient, greatest(exactly(1.0 / n) - coefficient)}) * t2;
    }
    interval omitted = interval::ratio(11, 250); // 2T/2
    for (int n = 1; n < attest::detail::log_last_power + 2; ++n) omitted = omitted * greatest(t.exact);
    series.error = series.error + omitted;
    const rounded half_square = rounded{g.exact * interval::ratio(1, 2)} * g;
    const rounded correction = t * (half_square + sum(series, series)) + multiple;
    rounded result = sum(g, -(half_square - correction));
    result.exact = rest + multiple.exact;
    return round(result);
}

// The greatest error as a part of |log x|, e = 0: by binades of L, so that each has one unit in the last place.
constexpr interval for_e_zero = [] {
    interval worst = 0;
    for (int k = -10; k <= -2; ++k) {
        const interval piece = hull(interval::power_of_two(k), k == -2 ? greatest_rest : interval::power_of_two(k + 1));
        for (const interval& rest : {piece, -piece}) worst = greater(worst, before_last(rest, nothing).error / piece.lower());
    }
    return worst;
}();
constexpr interval of_the_result = 1 + interval::power_of_two(-50); // so it holds as a part of the computed result too
static_assert(surely(for_e_zero * of_the_result <= exactly(log_error_relative)));
static_assert(surely(exactly(log_error_relative) >= interval::ratio(101, 100) * interval::power_of_two(-53)), "|L| <= 2^-10, as above");

// e = ±1, ±2; and beyond, where the last rounding loses at most 2^−53 of |log x| > 1.7. If |e| = 1, what is added to ±ln2_high is at least 1/4, and
// the sum at most 1/2, then all three are multiples of 2^−54, and the sum is a double.
constexpr int pieces = 8;
constexpr interval for_other_e = [] {
    interval worst = 0;
    for (int i = -pieces; i < pieces; ++i) {
        const interval rest = hull(greatest_rest * i / pieces, greatest_rest * (i + 1) / pieces);
        const rounded above = before_last(rest, any_multiple);
        for (int e : {-2, -1, 1, 2}) {
            const interval exact = e * log_two + rest, size = greatest(exact) + above.error;
            const bool is_double = e * e == 1 && surely(size <= interval::ratio(1, 2)) && //
                                   surely(least(above.exact) - above.error >= interval::ratio(1, 4));
            const interval error = above.error + (is_double ? interval(0) : rounding(size));
            worst = greater(worst, error / least(exact));
        }
        worst = greater(worst, interval::power_of_two(-53) + above.error * (1 + interval::power_of_two(-53)) / interval::ratio(17, 10));
    }
    return worst;
}();
static_assert(surely(3 * log_two - greatest_rest > interval::ratio(17, 10)));
static_assert(surely(for_other_e * of_the_result <= exactly(log_error_relative)));

} // namespace
} // namespace attest::proofs
