// SPDX-License-Identifier: BSL-1.0
// What fast/exp-inl.hpp adds to the proof of exp (exp.cpp): its own k, and its own limits.

#include "rounding.hpp"

#include "attest/arithmetic/interval.hpp"
#include "attest/elementary/log.hpp"
#include "attest/fast/exp-inl.hpp"

namespace attest::proofs {
namespace {

namespace lanes = attest::fast::ATTEST_FAST_TARGET;

constexpr interval log_two = attest::log(interval(2));
constexpr interval least = exactly(lanes::exp_least), greatest_argument = exactly(lanes::exp_greatest);

// 1. k = round(scaled), |scaled − x/log 2| < 2^−41 (exp.cpp, step 1). Adding integer_shift, between 2^52 and 2^53, rounds to a whole number, at most 1/2 off;
//    taking it away again is exact. So |x/log 2 − k| <= 1/2 + 2^−41, and exp.cpp allows 1/2 + 2^−40.
static_assert(lanes::integer_shift - 1100 > 0x1p52 && lanes::integer_shift + 1100 < 0x1p53);
static_assert(lanes::integer_shift + 1 - lanes::integer_shift == 1 && lanes::integer_shift + 0.25 == lanes::integer_shift, "its last place is 1");
constexpr interval off = interval::ratio(1, 2) + interval::power_of_two(-41);

// 2. The factor 2^k comes from the last 11 bits of k + 1023: −1022 <= k <= 1023 for −708 <= x <= 709.
static_assert(surely(least > (off - 1023) * log_two) && surely(greatest_argument < (1024 - off) * log_two));

// 3. From −708 on the result is normal, also after its error (a part 2^−50 of it is far more), so that the factor is exact (exp.cpp, step 9). Below, e^x is
//    less than 2^−1021, and 0 is off by less than that.
static_assert(surely(least - interval::power_of_two(-49) > -1022 * log_two));
static_assert(surely(least < -1021 * log_two));
static_assert(surely(greatest_argument + interval::power_of_two(-49) < 1024 * log_two), "nothing overflows");

} // namespace
} // namespace attest::proofs
