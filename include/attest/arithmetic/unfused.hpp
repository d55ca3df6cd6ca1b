// SPDX-License-Identifier: BSL-1.0
/// \file
/// Products that stay products. Compilers contract a·b + c into one fused operation where the target has it (GCC by default), and then the last bit of a
/// result, or the exactness of an error-free transformation, depends on flags. What passes through `unfused` is rounded to double, on every compiler,
/// at every level of optimisation.
#pragma once

#include <type_traits>

#ifdef __FAST_MATH__
#error "attest's bounds do not hold under -ffast-math (or /fp:fast): compile what includes this header without it"
#endif

namespace attest::detail {

/// x as it is; the optimiser may not look through it. In constant expressions, where nothing is contracted, it does nothing.
[[nodiscard]] constexpr double unfused(double x) noexcept {
    if (std::is_constant_evaluated()) return x;
#if defined(__GNUC__) && (defined(__x86_64__) || defined(_M_X64))
    __asm__("" : "+x"(x));
#elif defined(__GNUC__) && defined(__aarch64__)
    __asm__("" : "+w"(x));
#elif defined(__GNUC__)
    __asm__("" : "+m"(x));
#else
    volatile double kept = x;
    x = kept;
#endif
    return x;
}

} // namespace attest::detail
