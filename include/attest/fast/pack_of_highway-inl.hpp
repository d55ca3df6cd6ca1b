// SPDX-License-Identifier: BSL-1.0
/// \file
/// The pack on Highway's vectors, for targets whose vectors have one size. pack-inl.hpp says what each operation is.

#if defined(ATTEST_FAST_PACK_OF_HIGHWAY_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTEST_FAST_PACK_OF_HIGHWAY_INL_HPP
#undef ATTEST_FAST_PACK_OF_HIGHWAY_INL_HPP
#else
#define ATTEST_FAST_PACK_OF_HIGHWAY_INL_HPP
#endif

#include "attest/fast/target-inl.hpp"

#include <cstddef>
#include <cstdint>
#include <type_traits>

#if ATTEST_FAST_HIGHWAY

ATTEST_FAST_BEGIN
namespace attest::fast::ATTEST_FAST_TARGET {

namespace hn = hwy::HWY_NAMESPACE;

#ifdef HWY_NATIVE_FMA
inline constexpr bool has_fma = HWY_NATIVE_FMA != 0;
#else
inline constexpr bool has_fma = false;
#endif
/// Doubles in all vector registers: what a kernel may keep in hand.
inline constexpr std::size_t registers = HWY_MAX_BYTES == 64 || HWY_ARCH_ARM_A64 ? 32 : 16;

class pack {
public:
    using tag = hn::ScalableTag<double>;
    using vector = hn::Vec<tag>;
    static constexpr std::size_t lanes = HWY_LANES(double);

    pack() = default;
    ATTEST_FAST_INLINE explicit pack(vector v) : v_{v} {}

    static ATTEST_FAST_INLINE pack zero() { return pack(hn::Zero(tag{})); }
    static ATTEST_FAST_INLINE pack broadcast(double x) { return pack(hn::Set(tag{}, x)); }
    /// At any address.
    static ATTEST_FAST_INLINE pack load(const double* p) { return pack(hn::LoadU(tag{}, p)); }
    ATTEST_FAST_INLINE void store(double* p) const { hn::StoreU(v_, tag{}, p); }

    [[nodiscard]] ATTEST_FAST_INLINE vector v() const { return v_; }

private:
    vector v_;
};

/// A truth for each lane.
class pack_mask {
public:
    using mask = hn::Mask<pack::tag>;
    ATTEST_FAST_INLINE explicit pack_mask(mask m) : m_{m} {}
    [[nodiscard]] ATTEST_FAST_INLINE mask m() const { return m_; }

private:
    mask m_;
};

ATTEST_FAST_INLINE pack operator+(pack a, pack b) { return pack(hn::Add(a.v(), b.v())); }
ATTEST_FAST_INLINE pack operator-(pack a, pack b) { return pack(hn::Sub(a.v(), b.v())); }
ATTEST_FAST_INLINE pack operator*(pack a, pack b) { return pack(hn::Mul(a.v(), b.v())); }
ATTEST_FAST_INLINE pack operator/(pack a, pack b) { return pack(hn::Div(a.v(), b.v())); }
ATTEST_FAST_INLINE pack operator-(pack a) { return pack(hn::Neg(a.v())); }
ATTEST_FAST_INLINE pack square_root(pack a) { return pack(hn::Sqrt(a.v())); }
ATTEST_FAST_INLINE pack absolute(pack a) { return pack(hn::Abs(a.v())); }
/// To the nearest whole number, ties to even; −0 from what is below 0 and rounds to 0.
#if HWY_TARGET == HWY_SSE2 || HWY_TARGET == HWY_SSSE3 // without an instruction for it, Highway adds and subtracts a great number, which makes +0
ATTEST_FAST_INLINE pack nearest_integer(pack a) { return pack(hn::CopySign(hn::Round(a.v()), a.v())); }
#else
ATTEST_FAST_INLINE pack nearest_integer(pack a) { return pack(hn::Round(a.v())); }
#endif

ATTEST_FAST_INLINE pack fused_multiply_add(pack a, pack b, pack c) { return pack(hn::MulAdd(a.v(), b.v(), c.v())); }
ATTEST_FAST_INLINE pack fused_multiply_subtract_from(pack a, pack b, pack c) { return pack(hn::NegMulAdd(a.v(), b.v(), c.v())); }

ATTEST_FAST_INLINE pack_mask operator<(pack a, pack b) { return pack_mask(hn::Lt(a.v(), b.v())); }
ATTEST_FAST_INLINE pack_mask operator<=(pack a, pack b) { return pack_mask(hn::Le(a.v(), b.v())); }
ATTEST_FAST_INLINE pack_mask operator>(pack a, pack b) { return pack_mask(hn::Gt(a.v(), b.v())); }
ATTEST_FAST_INLINE pack_mask operator==(pack a, pack b) { return pack_mask(hn::Eq(a.v(), b.v())); }
ATTEST_FAST_INLINE pack_mask operator&(pack_mask a, pack_mask b) { return pack_mask(hn::And(a.m(), b.m())); }
ATTEST_FAST_INLINE pack_mask operator|(pack_mask a, pack_mask b) { return pack_mask(hn::Or(a.m(), b.m())); }
ATTEST_FAST_INLINE bool any_of(pack_mask m) { return !hn::AllFalse(pack::tag{}, m.m()); }
ATTEST_FAST_INLINE bool all_of(pack_mask m) { return hn::AllTrue(pack::tag{}, m.m()); }

/// Lane by lane, m ? a : b.
ATTEST_FAST_INLINE pack select(pack_mask m, pack a, pack b) { return pack(hn::IfThenElse(m.m(), a.v(), b.v())); }
/// Lane by lane, m ? a : 0.
ATTEST_FAST_INLINE pack select_or_zero(pack_mask m, pack a) { return pack(hn::IfThenElseZero(m.m(), a.v())); }

// a > b ? a : b, also of NaN and of zeros of both signs: so x86 does it; ARM has other rules for them.
#if HWY_ARCH_X86
ATTEST_FAST_INLINE pack maximum(pack a, pack b) { return pack(hn::Max(a.v(), b.v())); }
ATTEST_FAST_INLINE pack minimum(pack a, pack b) { return pack(hn::Min(a.v(), b.v())); }
#else
ATTEST_FAST_INLINE pack maximum(pack a, pack b) { return select(a > b, a, b); }
ATTEST_FAST_INLINE pack minimum(pack a, pack b) { return select(a < b, a, b); }
#endif

/// The bits of each double, `Shift` places to the left.
template <int Shift> ATTEST_FAST_INLINE pack bits_left(pack a, std::integral_constant<int, Shift>) {
    const hn::RebindToUnsigned<pack::tag> integers;
    return pack(hn::BitCast(pack::tag{}, hn::ShiftLeft<Shift>(hn::BitCast(integers, a.v()))));
}

/// As it is; the optimiser may not look through it, and so fuses it with nothing.
ATTEST_FAST_INLINE pack unfused(pack a) {
    pack::vector v = a.v();
#if defined(__GNUC__) && HWY_ARCH_X86
    __asm__("" : "+v"(v.raw));
#elif defined(__GNUC__) && HWY_ARCH_ARM_A64
    __asm__("" : "+w"(v.raw));
#elif defined(__GNUC__)
    __asm__("" : "+m"(v.raw));
#endif // other compilers leave intrinsics as they are
    return pack(v);
}

} // namespace attest::fast::ATTEST_FAST_TARGET
ATTEST_FAST_END

#endif
#endif
