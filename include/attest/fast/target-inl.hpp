// SPDX-License-Identifier: BSL-1.0
/// \file
/// Which instructions the files `*-inl.hpp` of this folder are compiled for, and in which namespace they stand, `attest::fast::ATTEST_FAST_TARGET`:
///
/// - with Highway's headers: HWY_NAMESPACE (N_SSE2, N_AVX2, N_AVX3, N_NEON, …). Without more, that is the best set which the flags of the translation
///   unit allow. A translation unit that includes `hwy/foreach_target.h` first is read once for each set, and chooses one at run time (tools/kernels.cpp).
/// - without them, where ATTEST_FAST_PLAIN is defined, or where Highway has nothing but its emulation for the flags (its version 1.0.3, for x86 without
///   SSSE3) or vectors of a length unknown before the run (SVE): plain, a double at a time.
///
/// Between ATTEST_FAST_BEGIN and ATTEST_FAST_END a function may use the instructions of the target, so it may not be called before that is known to be
/// there, and hot code calls nothing that stands outside (it might not be inlined).
///
/// Files read once for each target have no `#pragma once`: their guard turns with HWY_TARGET_TOGGLE.

#if defined(ATTEST_FAST_TARGET_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTEST_FAST_TARGET_INL_HPP
#undef ATTEST_FAST_TARGET_INL_HPP
#else
#define ATTEST_FAST_TARGET_INL_HPP
#endif

#include "attest/arithmetic/unfused.hpp" // and so #error under fast-math

#if !defined(ATTEST_FAST_PLAIN) && __has_include(<hwy/highway.h>)
#include <hwy/highway.h>
#endif

#undef ATTEST_FAST_TARGET
#undef ATTEST_FAST_BEGIN
#undef ATTEST_FAST_END
#undef ATTEST_FAST_INLINE
#undef ATTEST_FAST_UNROLL
#undef ATTEST_FAST_HIGHWAY
#if !defined(ATTEST_FAST_PLAIN) && __has_include(<hwy/highway.h>) && !(HWY_TARGET & (HWY_SCALAR | HWY_EMU128)) && !HWY_HAVE_SCALABLE
#define ATTEST_FAST_HIGHWAY 1
#define ATTEST_FAST_TARGET HWY_NAMESPACE
#define ATTEST_FAST_BEGIN HWY_BEFORE_NAMESPACE();
#define ATTEST_FAST_END HWY_AFTER_NAMESPACE();
#define ATTEST_FAST_INLINE HWY_INLINE
#else
#define ATTEST_FAST_HIGHWAY 0
#define ATTEST_FAST_TARGET plain
#define ATTEST_FAST_BEGIN
#define ATTEST_FAST_END
#define ATTEST_FAST_INLINE inline
#endif

// Before a loop of a few steps whose number is known, over an array of packs: only without the loop can it stay in registers.
#if defined(__clang__)
#define ATTEST_FAST_UNROLL _Pragma("clang loop unroll(full)")
#elif defined(__GNUC__)
#define ATTEST_FAST_UNROLL _Pragma("GCC unroll 16")
#else
#define ATTEST_FAST_UNROLL
#endif

#endif
