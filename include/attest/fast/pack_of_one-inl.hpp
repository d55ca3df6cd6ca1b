// SPDX-License-Identifier: BSL-1.0
/// \file
/// The pack without a SIMD library: one double. pack-inl.hpp says what each operation is.

#if defined(ATTEST_FAST_PACK_OF_ONE_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTEST_FAST_PACK_OF_ONE_INL_HPP
#undef ATTEST_FAST_PACK_OF_ONE_INL_HPP
#else
#define ATTEST_FAST_PACK_OF_ONE_INL_HPP
#endif

#include "attest/fast/target-inl.hpp"

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#if !ATTEST_FAST_HIGHWAY

namespace attest::fast::ATTEST_FAST_TARGET {

#if defined(__FMA__) || defined(__FP_FAST_FMA) || defined(__aarch64__) // the processor has it, so that std::fma is no call
inline constexpr bool has_fma = true;
#else
inline constexpr bool has_fma = false;
#endif
inline constexpr std::size_t registers = 16;

class pack {
public:
    static constexpr std::size_t lanes = 1;

    pack() = default;
    explicit pack(double x) : x_{x} {}

    static pack zero() { return pack(0.0); }
    static pack broadcast(double x) { return pack(x); }
    static pack load(const double* p) { return pack(*p); }
    void store(double* p) const { *p = x_; }

    [[nodiscard]] double x() const { return x_; }

private:
    double x_;
};

class pack_mask {
public:
    explicit pack_mask(bool m) : m_{m} {}
    [[nodiscard]] bool m() const { return m_; }

private:
    bool m_;
};

inline pack operator+(pack a, pack b) { return pack(a.x() + b.x()); }
inline pack operator-(pack a, pack b) { return pack(a.x() - b.x()); }
inline pack operator*(pack a, pack b) { return pack(a.x() * b.x()); }
inline pack operator/(pack a, pack b) { return pack(a.x() / b.x()); }
inline pack operator-(pack a) { return pack(-a.x()); }
inline pack square_root(pack a) { return pack(std::sqrt(a.x())); }
inline pack absolute(pack a) { return pack(std::fabs(a.x())); }
inline pack nearest_integer(pack a) { return pack(std::nearbyint(a.x())); }

inline pack fused_multiply_add(pack a, pack b, pack c) { return pack(std::fma(a.x(), b.x(), c.x())); }
inline pack fused_multiply_subtract_from(pack a, pack b, pack c) { return pack(std::fma(-a.x(), b.x(), c.x())); }

inline pack_mask operator<(pack a, pack b) { return pack_mask(a.x() < b.x()); }
inline pack_mask operator<=(pack a, pack b) { return pack_mask(a.x() <= b.x()); }
inline pack_mask operator>(pack a, pack b) { return pack_mask(a.x() > b.x()); }
inline pack_mask operator==(pack a, pack b) { return pack_mask(a.x() == b.x()); }
inline pack_mask operator&(pack_mask a, pack_mask b) { return pack_mask(a.m() && b.m()); }
inline pack_mask operator|(pack_mask a, pack_mask b) { return pack_mask(a.m() || b.m()); }
inline bool any_of(pack_mask m) { return m.m(); }
inline bool all_of(pack_mask m) { return m.m(); }

inline pack select(pack_mask m, pack a, pack b) { return m.m() ? a : b; }
inline pack select_or_zero(pack_mask m, pack a) { return m.m() ? a : pack::zero(); }

inline pack maximum(pack a, pack b) { return a.x() > b.x() ? a : b; }
inline pack minimum(pack a, pack b) { return a.x() < b.x() ? a : b; }

template <int Shift> inline pack bits_left(pack a, std::integral_constant<int, Shift>) {
    return pack(std::bit_cast<double>(std::bit_cast<std::uint64_t>(a.x()) << Shift));
}

inline pack unfused(pack a) { return pack(attest::detail::unfused(a.x())); }

} // namespace attest::fast::ATTEST_FAST_TARGET

#endif
#endif
