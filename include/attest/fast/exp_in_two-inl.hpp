// SPDX-License-Identifier: BSL-1.0
/// \file
/// e^x in all lanes to about 95 bits, for x and the result as unevaluated sums of two doubles.
///
/// Derivation, with u = 2^−53 and x = high + low, |low| <= u |high|, −694 <= high <= 694: the result is off by less than exp_in_two_error = 2^−94 of e^x. Each
/// number below is proved (proofs/exp_in_two.cpp).
///
/// 1. Reduction. k is high/log 2, rounded: |high/log 2 − k| <= 1/2 + 2^−41, so |k| <= 1002. log 2 = L1 + L2 + L3 (1 + u'), |u'| <= u, where L1 and L2 end at 2^−42
///    and 2^−84; |L3| < 2^−86. a = high − k L1 is a double: it is high itself for k = 0; else |high| > 0.34 and so a is a multiple of
///    2^−54, below 1/2. k L2 has 50 bits. a − k L2 = c + e exactly. w = low − k L3 is rounded, and e + w is: off by u |w| + u |e + w| <= u (2 |w| + |e|),
///    |w| <= 694 u + 2^−76, |e| <= u/4. That is less than 2^−95.5. r = c + (e + w), |r| < 0.3466.
/// 2. e^(r/16) = Σ C_n r^n, C_n = 16^−n/n!, as t_n = C_n + r t_{n+1} from above. For n >= 13 the terms are less than 2^−104 together; those of 12 to 7 are in
///    double, q = C_7 + r (C_8 + …), off by less than 2.1u C_7; t_6 = C_6 + r q takes r's high part and rounds the product: in all 4.2u |r| C_7,
///    which r^6 makes less than 2^−102. From t_6 on, each t is a pair; with ρ = |r t_{n+1}|/C_n <= 0.0221,
///        p + e1 = r.high t.high exactly, e2 = e1 + r.high t.low, e3 = e2 + r.low t.high, s + z = C_n.high + p exactly (the greater first), t_n = s + ((e3 + C_n.low) + z).
///    |t.low| <= 2.2u |t.high|: |z| <= u s, |C_n.low| <= u C_n, |e3| <= 4.3u ρ C_n. What is left out and rounded is 2.2u² ρ (r.low t.low), 3.2u² ρ and 4.3u² ρ
///    (e2, e3), 1.1u² and 2.2u² (the sums), and C_n's own u²: less than 4.6u² of C_n. Times |r|^n and added up over n <= 5 that is less than 4.8u². In all,
///    with 2^−104 = 4u², 2^−102 = 16u²: e^(r/16) is off by less than 25u², and by less than 26u² of itself.
/// 3. Four squares: h² = p + e exactly, and 2 h l is added to e in one rounding. With λ = |l/h|, λ² is left out and u λ' rounded, λ' = 2λ + u the next λ. From
///    λ = 2.2u (0.01u more for what is of higher order) the first two squares lose 4.9u² + 5.5u² and 29.5u² + 12u²; then h + l is normalised, λ <= u, and
///    the others lose u² + 3u² and 9u² + 7u². A relative error is doubled by each square: 8 · 10.4 + 4 · 41.5 + 2 · 4 + 16 + 16 · 26 = 690u².
/// 4. The last sum is exact, and so are the products with 2^k, but for a low part below the normal numbers: off by at most 2^−1075.
///
/// 2^−95.5 and 690u² (less than 2^−96.5), each with what is of second order, are less than 2^−94.

#if defined(ATTEST_FAST_EXP_IN_TWO_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTEST_FAST_EXP_IN_TWO_INL_HPP
#undef ATTEST_FAST_EXP_IN_TWO_INL_HPP
#else
#define ATTEST_FAST_EXP_IN_TWO_INL_HPP
#endif

#include "attest/elementary/log_two.hpp"
#include "attest/fast/pack_pair-inl.hpp"

ATTEST_FAST_BEGIN
namespace attest::fast::ATTEST_FAST_TARGET {

inline constexpr double exp_in_two_least = -694;
inline constexpr double ln2_parts[] = {0x1.62e42fefa3800p-1, 0x1.ef35793c76000p-45, 0x1.cc01f97b57a08p-87};
// 16^−n/n! for n = 0 … 6, in two parts, and for n = 12 … 7.
inline constexpr double exp_in_two_high[] = {1, 0x1p-4, 0x1p-9, 0x1.5555555555555p-15, 0x1.5555555555555p-21, 0x1.1111111111111p-27, 0x1.6c16c16c16c17p-34};
inline constexpr double exp_in_two_low[] = {0, 0, 0, 0x1.5555555555555p-69, 0x1.5555555555555p-75, 0x1.1111111111111p-83, -0x1.f49f49f49f49fp-89};
inline constexpr double exp_in_two_last[] = {0x1.1eed8eff8d898p-77, 0x1.ae64567f544e4p-70, 0x1.27e4fb7789f5cp-62, 0x1.71de3a556c734p-55, 0x1.a01a01a01a01ap-48, 0x1.a01a01a01a01ap-41};

// t becomes C_n + r t.
template <int N> ATTEST_FAST_INLINE void exp_in_two_step(const pack_pair& r, pack_pair& t) {
    const pack c = pack::broadcast(exp_in_two_high[N]);
    const pack p = product(r.high, t.high);
    const pack e = multiply_add(r.low, t.high, multiply_add(r.high, t.low, multiply_add(r.high, t.high, -p)));
    const pack_pair s = ordered_sum(c, p);
    if constexpr (exp_in_two_low[N] == 0) t = {s.high, e + s.low};
    else t = {s.high, (e + pack::broadcast(exp_in_two_low[N])) + s.low};
}

/// x becomes e^x in each of several packs; 0 where x.high < −694: off by less than 2^−1000. See the head of this file.
template <std::size_t Packs> ATTEST_FAST_INLINE void exp_in_two(pack_pair (&x)[Packs]) {
    const pack shift = pack::broadcast(integer_shift);
    pack power[Packs], q[Packs];
    pack_pair r[Packs], t[Packs];
    ATTEST_FAST_UNROLL
    for (std::size_t i = 0; i < Packs; ++i) {
        const pack shifted = product(x[i].high, pack::broadcast(attest::detail::log2_e)) + shift;
        const pack k = shifted - shift;
        power[i] = power_of_two(shifted);
        const pack a = multiply_subtract_from(k, pack::broadcast(ln2_parts[0]), x[i].high);
        const pack_pair c = sum_of(a, -product(k, pack::broadcast(ln2_parts[1])));
        const pack w = multiply_subtract_from(k, pack::broadcast(ln2_parts[2]), x[i].low);
        r[i] = sum_of(c.high, c.low + w);
        q[i] = pack::broadcast(exp_in_two_last[0]);
    }
    ATTEST_FAST_UNROLL
    for (std::size_t n = 1; n < sizeof exp_in_two_last / sizeof(double); ++n) {
        ATTEST_FAST_UNROLL
        for (std::size_t i = 0; i < Packs; ++i) q[i] = multiply_add(q[i], r[i].high, pack::broadcast(exp_in_two_last[n]));
    }
    ATTEST_FAST_UNROLL
    for (std::size_t i = 0; i < Packs; ++i) {
        t[i] = ordered_sum(pack::broadcast(exp_in_two_high[6]), product(r[i].high, q[i]));
        t[i].low = t[i].low + pack::broadcast(exp_in_two_low[6]);
    }
    ATTEST_FAST_UNROLL
    for (std::size_t i = 0; i < Packs; ++i) exp_in_two_step<5>(r[i], t[i]);
    ATTEST_FAST_UNROLL
    for (std::size_t i = 0; i < Packs; ++i) exp_in_two_step<4>(r[i], t[i]);
    ATTEST_FAST_UNROLL
    for (std::size_t i = 0; i < Packs; ++i) exp_in_two_step<3>(r[i], t[i]);
    ATTEST_FAST_UNROLL
    for (std::size_t i = 0; i < Packs; ++i) exp_in_two_step<2>(r[i], t[i]);
    ATTEST_FAST_UNROLL
    for (std::size_t i = 0; i < Packs; ++i) exp_in_two_step<1>(r[i], t[i]);
    ATTEST_FAST_UNROLL
    for (std::size_t i = 0; i < Packs; ++i) exp_in_two_step<0>(r[i], t[i]);
    ATTEST_FAST_UNROLL
    for (std::size_t square = 0; square < 4; ++square) {
        ATTEST_FAST_UNROLL
        for (std::size_t i = 0; i < Packs; ++i) {
            const pack h = t[i].high, p = product(h, h);
            t[i] = {p, multiply_add(h + h, t[i].low, multiply_add(h, h, -p))};
            if (square % 2 == 1) t[i] = ordered_sum(t[i].high, t[i].low);
        }
    }
    ATTEST_FAST_UNROLL
    for (std::size_t i = 0; i < Packs; ++i) {
        const pack_mask flushed = x[i].high < pack::broadcast(exp_in_two_least);
        x[i] = {select(flushed, pack::zero(), product(t[i].high, power[i])), select(flushed, pack::zero(), product(t[i].low, power[i]))};
    }
}

} // namespace attest::fast::ATTEST_FAST_TARGET
ATTEST_FAST_END

#endif
