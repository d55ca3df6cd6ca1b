// SPDX-License-Identifier: BSL-1.0
/// \file
/// `pack`: as many doubles as a vector register of the target holds (1 in the plain fallback), and what can be done with all of them at once.
///
/// Each lane of each operation is what IEEE 754 says of that double: the same bits on every target. Only `pack::lanes` depends on the target.
///
/// A compiler may contract a * b + c to one fused operation, also where a, b and c are packs and the operations are intrinsics. `product` is the one that
/// stays a product; where a * b is not added to anything, the two are the same.

#if defined(ATTEST_FAST_PACK_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTEST_FAST_PACK_INL_HPP
#undef ATTEST_FAST_PACK_INL_HPP
#else
#define ATTEST_FAST_PACK_INL_HPP
#endif

#include "attest/fast/target-inl.hpp"

#include <cmath>
#include <cstddef>

#if ATTEST_FAST_HIGHWAY
#include "attest/fast/pack_of_highway-inl.hpp"
#else
#include "attest/fast/pack_of_one-inl.hpp"
#endif

ATTEST_FAST_BEGIN
namespace attest::fast::ATTEST_FAST_TARGET {

/// a · b rounded, whatever is done with it later.
ATTEST_FAST_INLINE pack product(pack a, pack b) { return unfused(a * b); }

/// a · b + c, rounded once, on every target: so results have the same bits everywhere. Where the processor is not known to have it (has_fma), it is
/// std::fma, lane by lane, which is slow and right.
ATTEST_FAST_INLINE pack multiply_add(pack a, pack b, pack c) {
    if constexpr (has_fma) return fused_multiply_add(a, b, c);
    else {
        double of_a[pack::lanes], of_b[pack::lanes], of_c[pack::lanes];
        a.store(of_a);
        b.store(of_b);
        c.store(of_c);
        for (std::size_t i = 0; i < pack::lanes; ++i) of_c[i] = std::fma(of_a[i], of_b[i], of_c[i]);
        return pack::load(of_c);
    }
}
/// c − a · b, rounded once.
ATTEST_FAST_INLINE pack multiply_subtract_from(pack a, pack b, pack c) { return multiply_add(-a, b, c); }

ATTEST_FAST_INLINE pack& operator+=(pack& a, pack b) { return a = a + b; }
ATTEST_FAST_INLINE pack& operator-=(pack& a, pack b) { return a = a - b; }

#if ATTEST_FAST_HIGHWAY && HWY_ARCH_X86 && HWY_MAX_BYTES >= 32 // which have loads and stores that touch some lanes alone
/// The first `count` <= lanes doubles at p; `rest` in the other lanes. Reads no others.
ATTEST_FAST_INLINE pack load_first(const double* p, std::size_t count, double rest) {
    const auto first = hn::FirstN(pack::tag{}, count);
    return pack(hn::IfThenElse(first, hn::MaskedLoad(first, pack::tag{}, p), hn::Set(pack::tag{}, rest)));
}
/// Writes the first `count` <= lanes doubles to p, and no others.
ATTEST_FAST_INLINE void store_first(pack a, double* p, std::size_t count) { hn::BlendedStore(a.v(), hn::FirstN(pack::tag{}, count), pack::tag{}, p); }
#else
ATTEST_FAST_INLINE pack load_first(const double* p, std::size_t count, double rest) {
    if (count == pack::lanes) return pack::load(p);
    double lanes[pack::lanes];
    for (std::size_t i = 0; i < pack::lanes; ++i) lanes[i] = i < count ? p[i] : rest;
    return pack::load(lanes);
}
ATTEST_FAST_INLINE void store_first(pack a, double* p, std::size_t count) {
    if (count == pack::lanes) return a.store(p);
    double lanes[pack::lanes];
    a.store(lanes);
    for (std::size_t i = 0; i < count; ++i) p[i] = lanes[i];
}
#endif

/// 2^k for whole k, |k| <= 1022, from the double k + integer_shift: its last bits are those of k + 1023.
inline constexpr double integer_shift = 0x1.8p52 + 1023;
ATTEST_FAST_INLINE pack power_of_two(pack shifted) { return bits_left(shifted, std::integral_constant<int, 52>{}); }

} // namespace attest::fast::ATTEST_FAST_TARGET
ATTEST_FAST_END

#endif
