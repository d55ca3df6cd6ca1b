// SPDX-License-Identifier: BSL-1.0
// The bound of exp in double: its steps, what each can lose, and the sum of it, for every argument.
//
// Below, R = x − k·log 2 is the exact rest, and e^x = 2^k e^R.
//
// 1. k. log2_e and the product with it are off by 2^−53 of their values, so `scaled`, below 1076, is off by less than 2^−41, and the sum with
//    ±1/2 by 2^−43 more: |x/log 2 − k| <= 1/2 + 2^−40, and |R| <= (1/2 + 2^−40) log 2.
// 2. r_high = x − k·ln2_high, exactly. The product: ln2_high has 32 digits and k has 11. The difference: x is between half and twice k·ln2_high
//    (Sterbenz), for x >= (k − 1/2 − 2^−40) log 2 >= k·ln2_high/2 (for k = 1 because ln2_high is less than log 2 by more than 2^−39), and
//    x <= (k + 1/2 + 2^−40) log 2 <= 2k·ln2_high. (k < 0 is the same with the signs changed, k = 0 is x − 0.)
// 3. r_low is k·ln2_low rounded, instead of ρ = r_high − R = k (log 2 − ln2_high).
// 4. r is r_high − r_low rounded, instead of R.
// 5. series by Horner's rule, a product and a sum a step; each coefficient is 1/n! rounded. Exactly, it would be the part S(R) of the series in
//    which e^R = 1 + R + R² S(R) + T, and |T| <= |R|^14/14! · (1 + |R|/15 + (|R|/15)² + …) < 1.1 |R|^14/14!.
// 6. r·r·series: two products. Then the difference with r_low: R² S(R) − ρ.
// 7. sum + lost = 1 + r_high exactly (Fast2Sum: 1 > |r_high|), and |lost| is at most what rounding 1 + r_high loses.
// 8. lost + that difference, and sum + all that: two sums. Exactly, it would be 1 + r_high + R² S(R) − ρ = e^R − T.
// 9. The factor 2^k is exact where the result is normal. A subnormal result is rounded once more, by at most 2^−1075.

#include "rounding.hpp"

#include "attest/arithmetic/interval.hpp"
#include "attest/elementary/exp.hpp"
#include "attest/elementary/log.hpp"

#include <array>
#include <iterator>

namespace attest::proofs {
namespace {

constexpr interval log_two = attest::log(interval(2));
constexpr int greatest_k = 1075;

// Where the result is 0 or infinite without more ado: x is at least 2^−43 beyond a limit, and e^x is below 2^−1075 or above 2^1024. At the upper
// limit, the result is still below 2^1024, which it misses by more than its error: log(1 + ε) <= ε.
constexpr interval last_place = interval::power_of_two(-43);
constexpr interval upper_limit = exactly(attest::detail::exp_greatest_argument), lower_limit = exactly(attest::detail::exp_least_argument);
static_assert(surely(upper_limit + last_place > 1024 * log_two) && surely(lower_limit - last_place < -1075 * log_two));
static_assert(surely(upper_limit + exactly(exp_error_relative) < 1024 * log_two));

// Steps 1 to 3.
constexpr interval half = interval::ratio(1, 2) + interval::power_of_two(-40);
static_assert(surely(greatest(exactly(attest::detail::log2_e) * log_two - 1) <= interval::power_of_two(-53)));
static_assert(surely(greatest(lower_limit) < (greatest_k + 1 - half) * log_two), "no k is greater");
constexpr interval greatest_rest = log_two * half;
constexpr interval high = exactly(attest::detail::ln2_high), low = exactly(attest::detail::ln2_low);
static_assert((high.lower_units() & ((interval::integer(1) << (interval::fraction_bits - 32)) - 1)) == 0, "32 digits");
static_assert(surely((1 - half) * log_two >= high * interval::ratio(1, 2)) && surely((1 + half) * log_two <= 2 * high));
constexpr interval rest_of_log_two = log_two - high; // ρ = k · this
constexpr rounded r_low{plus_minus(rest_of_log_two * greatest_k), rounding(low * greatest_k) + greatest(rest_of_log_two - low) * greatest_k};

// Step 5: 1/13! … 1/2!, and how far their doubles are from them.
constexpr int last_power = 13;
static_assert(std::size(attest::detail::exp_coefficients) == last_power - 1);
constexpr auto coefficients = [] {
    std::array<rounded, last_power - 1> result{};
    long long factorial = 1;
    for (int n = 2; n <= last_power; ++n) {
        factorial *= n;
        const auto at = static_cast<std::size_t>(last_power - n);
        const interval coefficient = interval::ratio(1, factorial);
        result[at] = {coefficient, greatest(exactly(attest::detail::exp_coefficients[at]) - coefficient)};
    }
    return result;
}();

struct bounds {
    interval relative, ulp; // of e^x; of the unit in the last place of e^x
};

// For R in `rest`, on one side of 0. Rounding the last sum, at most half an ULP, is by far the most of it.
constexpr bounds bounds_on(const interval& rest) {
    const interval exact = attest::exp(rest);
    const rounded r_high{rest + r_low.exact};
    rounded r = r_high - r_low; // step 4
    r.exact = rest;
    rounded series{0}; // step 5
    for (const rounded& c : coefficients) series = series * r + c;
    const rounded difference = r * r * series - r_low; // step 6
    const interval lost = rounding(1 + r_high.size()); // step 7
    const rounded correction = rounded{plus_minus(lost)} + difference;
    interval omitted = interval::ratio(11, 10); // T
    for (int n = 1; n <= last_power + 1; ++n) omitted = omitted * greatest(rest) * interval::ratio(1, n);
    const interval error = correction.error + greatest(omitted);
    const interval total = error + rounding(exact + plus_minus(error)); // step 8

    const interval ulp = interval::power_of_two(surely(rest <= 0) ? -53 : -52);
    return {total / exact.lower(), total / ulp};
}

// |R| in so many pieces on each side of 0.
constexpr int pieces = 8;
constexpr bounds all = [] {
    bounds greatest_of_all{0, 0};
    for (int i = 0; i < pieces; ++i) {
        const interval piece = hull(greatest_rest * i / pieces, greatest_rest * (i + 1) / pieces);
        for (const interval& rest : {piece, -piece}) {
            const bounds here = bounds_on(rest);
            greatest_of_all.relative = greater(greatest_of_all.relative, here.relative);
            greatest_of_all.ulp = greater(greatest_of_all.ulp, here.ulp);
        }
    }
    return greatest_of_all;
}();

// The factor: so it holds as a part of the computed result too.
static_assert(surely(all.relative * (1 + interval::power_of_two(-50)) <= exactly(exp_error_relative)));
static_assert(surely(all.ulp < interval::ratio(4, 5)));

} // namespace
} // namespace attest::proofs
