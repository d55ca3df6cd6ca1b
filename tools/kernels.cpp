// SPDX-License-Identifier: BSL-1.0
// This file is read once for each instruction set, by hwy/foreach_target.h; what stands under HWY_ONCE is read the last time only. Without Highway's
// library there are only the kernels of the flags.

#include "kernels.hpp"

#ifdef ATTEST_LINKED_WITH_HIGHWAY

// The sets between AVX-512 and AVX2, and those below AVX2, are not worth their compile time; the lowest eight bits are those newer than AVX-512's first. SVE's
// vectors have no fixed size.
#if defined(__x86_64__) || defined(_M_X64)
#define HWY_DISABLED_TARGETS (HWY_SSE4 | HWY_SSSE3 | 0xff)
#elif defined(__aarch64__)
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)
#endif
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels.cpp"
#include <hwy/foreach_target.h>
// (highway.h comes after it)
#include "attest/fast/kernels-inl.hpp"

#if HWY_ONCE
namespace attest::fast {

std::vector<const kernels*> supported_kernels() {
    std::vector<const kernels*> all;
    [[maybe_unused]] const auto supported = hwy::SupportedTargets();
#if HWY_TARGETS & HWY_AVX3
    if (supported & HWY_AVX3) all.push_back(&N_AVX3::table);
#endif
#if HWY_TARGETS & HWY_AVX2
    if (supported & HWY_AVX2) all.push_back(&N_AVX2::table);
#endif
#if HWY_TARGETS & HWY_NEON
    if (supported & HWY_NEON) all.push_back(&N_NEON::table);
#endif
#if !(HWY_STATIC_TARGET & (HWY_AVX3 | HWY_AVX2 | HWY_NEON))
    all.push_back(&ATTEST_FAST_TARGET::table); // of the flags
#endif
    return all;
}

} // namespace attest::fast
#endif

#else

#include "attest/fast/compiled.hpp"

namespace attest::fast {
std::vector<const kernels*> supported_kernels() { return {&compiled_kernels()}; }
} // namespace attest::fast

#endif

#if !defined(ATTEST_LINKED_WITH_HIGHWAY) || HWY_ONCE
namespace attest::fast {

const kernels& best_kernels() {
    static const kernels& best = *supported_kernels().front();
    return best;
}

} // namespace attest::fast
#endif
