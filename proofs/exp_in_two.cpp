// SPDX-License-Identifier: BSL-1.0
// The bound of the exponential of two doubles (fast/exp_in_two-inl.hpp): its steps, what each can lose, and the sum of it, for every argument.
//
// x = high + low, |high| <= 694, |low| <= u |high|; u = 2^−53. Below, a name is a bound of a size, and steps are those of the head of that file.

#include "attest/arithmetic/interval.hpp"
#include "attest/arithmetic/power_of_two.hpp"
#include "attest/elementary/exp.hpp"
#include "attest/elementary/log.hpp"
#include "attest/fast/exp_in_two-inl.hpp"
#include "attest/fast/kernels.hpp"

#include <array>
#include <cstdint>
#include <iterator>

namespace attest::proofs {
namespace {

namespace lanes = attest::fast::ATTEST_FAST_TARGET;
using wide = basic_interval<192>;

constexpr wide u = wide::power_of_two(-53), u_squared = wide::power_of_two(-106);
// x itself, for finite x whose last digit is at least 2^−192.
constexpr wide exactly(double x) {
    if (x == 0) return 0;
    const auto [fraction, exponent] = attest::detail::split(x < 0 ? -x : x);
    const wide::integer digits = static_cast<std::int64_t>(fraction * 0x1p52), units = digits << (exponent - 52 + static_cast<int>(wide::fraction_bits));
    return x < 0 ? wide::of_units(-units, -units) : wide::of_units(units, units);
}
constexpr wide size_of(const wide& x) {
    const wide::integer below = -x.lower_units(), above = x.upper_units();
    return below > above ? wide::of_units(below, below) : wide::of_units(above, above);
}
constexpr bool is_multiple(const wide& x, int power) { return (x.lower_units() & ((wide::integer(1) << (power + static_cast<int>(wide::fraction_bits))) - 1)) == 0; }

// Step 1: k and the rest.
constexpr wide log_two = attest::log(wide(2)), greatest_argument = 694;
constexpr wide l1 = exactly(lanes::ln2_parts[0]), l2 = exactly(lanes::ln2_parts[1]), l3 = exactly(lanes::ln2_parts[2]);
static_assert(lanes::exp_in_two_least == -694);
// log2_e, the product and the sum with the shift are off by u of 1002, each: less than 2^−41 in all. So is a whole number of them.
constexpr wide half = wide::ratio(1, 2) + wide::power_of_two(-41);
static_assert(surely(size_of(exactly(attest::detail::log2_e) * log_two - 1) <= u) && surely(3 * u * 1002 < wide::power_of_two(-41)));
constexpr int greatest_k = 1002;
static_assert(surely(greatest_argument < (greatest_k + 1 - half) * log_two), "no k is greater");
// a = high − k L1 is a double: for k ≠ 0, |high| is at least 1/4, so that both are multiples of 2^−54, and |a| < 1/2.
static_assert(is_multiple(l1, -54) && surely((1 - half) * log_two > wide::ratio(1, 4)));
constexpr wide a = half * log_two + greatest_k * size_of(log_two - l1);
static_assert(surely(a < wide::ratio(1, 2)));
// k L2 is a double: L2 has 40 bits, and k less than 2^10.
static_assert(is_multiple(l2, -84) && surely(l2 < wide::power_of_two(-44)) && greatest_k < 1 << 10);
constexpr wide c = a + greatest_k * l2, lost = u * wide::ratio(1, 4); // a − k L2 = c + lost, |c| < 1/2
static_assert(surely(c < wide::ratio(1, 2)));
constexpr wide w = (greatest_argument * u + greatest_k * l3) * (1 + u);
constexpr wide reduction = u * w + u * (w + lost) + greatest_k * size_of(log_two - l1 - l2 - l3);
static_assert(surely(reduction < wide::ratio(14142, 10000) * wide::power_of_two(-96)));
constexpr wide r = half * log_two + greatest_argument * u + reduction; // of the pair
static_assert(surely(r < wide::ratio(3466, 10000)));

// Step 2: the series of e^(r/16). C_n = 16^−n/n!.
constexpr int last_power = 12, last_pair = 6;
constexpr auto coefficients = [] {
    std::array<wide, last_power + 2> all{};
    all[0] = 1;
    for (int n = 1; n <= last_power + 1; ++n) all[static_cast<std::size_t>(n)] = all[static_cast<std::size_t>(n - 1)] * wide::ratio(1, 16 * n);
    return all;
}();
constexpr wide coefficient(int n) { return coefficients[static_cast<std::size_t>(n)]; }
constexpr wide power(const wide& x, int n) { return n == 0 ? wide(1) : x * power(x, n - 1); }
// Σ_{m = n…12} C_m r^{m−n}, which t_n or q stands for.
constexpr auto sums = [] {
    std::array<wide, last_power + 2> all{};
    for (int n = last_power; n >= 0; --n) all[static_cast<std::size_t>(n)] = coefficient(n) + r * all[static_cast<std::size_t>(n + 1)];
    return all;
}();
constexpr wide series(int n) { return sums[static_cast<std::size_t>(n)]; }
constexpr wide omitted = wide::ratio(11, 10) * coefficient(last_power + 1) * power(r, last_power + 1);
static_assert(surely(omitted < wide::power_of_two(-104)));

// q: a coefficient is off by u of itself, r.high by u r, and each step is rounded once.
static_assert(std::size(lanes::exp_in_two_last) == last_power - last_pair);
static_assert([] {
    for (int n = last_pair + 1; n <= last_power; ++n)
        if (!surely(size_of(exactly(lanes::exp_in_two_last[last_power - n]) - coefficient(n)) <= u * coefficient(n))) return false;
    return true;
}());
constexpr wide error_of_q = [] {
    wide error = u * coefficient(last_power);
    for (int n = last_power - 1; n > last_pair; --n) {
        error = r * error + u * r * (series(n + 1) + error) + u * coefficient(n);
        error = error + u * (series(n) + error);
    }
    return error;
}();
static_assert(surely(error_of_q < wide::ratio(21, 10) * u * coefficient(last_pair + 1)));

// t: what a pair is off by, and its low part next to its high one.
static_assert([] {
    for (int n = 0; n <= last_pair; ++n)
        if (!surely(size_of(exactly(lanes::exp_in_two_high[n]) + exactly(lanes::exp_in_two_low[n]) - coefficient(n)) <= u_squared * coefficient(n)) ||
            !surely(size_of(exactly(lanes::exp_in_two_low[n])) <= u * coefficient(n)))
            return false;
    return true;
}());
struct pair_bounds {
    wide error, low; // absolute
    wide least_high, greatest;
};
constexpr pair_bounds first_pair = [] {
    // p = r.high q, rounded; C_6 + p = s + z exactly, for C_6 is the greater; C_6's low part is added to z, rounded.
    const wide q = series(last_pair + 1) + error_of_q, p = r * q * (1 + u), of_c = coefficient(last_pair), z = u * (of_c + p);
    const wide error = r * error_of_q + u * r * q + u * p + u_squared * of_c + u * (z + u * of_c);
    return pair_bounds{error, (z + u * of_c) * (1 + u), of_c * (1 - u) - p, of_c + p + z};
}();
static_assert(surely(first_pair.least_high > 0));
constexpr pair_bounds next_pair(int n, const pair_bounds& t) {
    const wide of_c = coefficient(n), p = r * t.greatest * (1 + u), z = u * (of_c + p);
    const wide e1 = u * p, e2 = (e1 + r * t.low) * (1 + u), e3 = (e2 + u * r * t.greatest) * (1 + u), with_c = (e3 + u * of_c) * (1 + u), low = (with_c + z) * (1 + u);
    const wide error = r * t.error + u * r * t.low + u * (e2 + e3 + with_c + low) + u_squared * of_c;
    return {error, low, of_c * (1 - u) - p, of_c + p + z + low};
}
constexpr pair_bounds last = [] {
    pair_bounds t = first_pair;
    for (int n = last_pair - 1; n >= 0; --n) t = next_pair(n, t);
    return t;
}();
static_assert([] { // the greater comes first in each sum, and high parts are not 0
    pair_bounds t = first_pair;
    for (int n = last_pair - 1; n >= 0; --n) {
        t = next_pair(n, t);
        if (!surely(t.least_high > coefficient(n) * wide::ratio(9, 10))) return false;
    }
    return true;
}());
constexpr wide low_of_last = last.low / last.least_high;
static_assert(surely(low_of_last < wide::ratio(22, 10) * u));
constexpr wide error_of_root = (last.error + omitted) / attest::exp(-(r * wide::ratio(1, 16))).lower();
static_assert(surely(error_of_root < 26 * u_squared));

// Step 3: four squares, of relative errors; the pair is normalised after the second and the fourth. h² = p + e exactly, 2 h l + e is rounded, l² left out.
constexpr wide error_of_power = [] {
    wide error = error_of_root, low = low_of_last;
    for (int square = 0; square < 4; ++square) {
        const wide next_low = (2 * low + u) * (1 + 4 * u);
        error = 2 * error + error * error + (low * low + u * next_low) * (1 + 8 * low);
        low = square % 2 == 1 ? u : next_low;
    }
    return error;
}();
static_assert(surely(error_of_power < 690 * u_squared));

// In all; e^reduction − 1 is less than 1.01 of it. As a part of the computed result it holds too.
static_assert(surely((error_of_power + wide::ratio(101, 100) * reduction) * (1 + wide::power_of_two(-50)) < exactly(attest::fast::exp_in_two_error)));
// Step 4: where it is 0, e^x is less than 2^−1000; 2^k is normal, and a high part too.
static_assert(surely(-greatest_argument < -1001 * log_two) && greatest_k < 1022);

} // namespace
} // namespace attest::proofs
