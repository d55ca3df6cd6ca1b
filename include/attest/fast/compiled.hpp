// SPDX-License-Identifier: BSL-1.0
/// \file
/// The kernels compiled for the flags of this translation unit: with -march=native those of the processor; AVX2 also
/// with -march=x86-64-v3 -maes -mpclmul, AVX-512 with -march=x86-64-v4 -maes -mpclmul (Highway wants the last two as well). Else SSE, or one double at a time.
#pragma once

#include "attest/fast/kernels-inl.hpp"

namespace attest::fast {

/// All translation units of a program that call this, or what has it as its default, are to be compiled with the same flags for the processor.
inline const kernels& compiled_kernels() { return ATTEST_FAST_TARGET::table; }

/// The kernels that were asked for, else the compiled ones.
inline const kernels& kernels_or_compiled(const kernels* asked) { return asked != nullptr ? *asked : compiled_kernels(); }

} // namespace attest::fast
