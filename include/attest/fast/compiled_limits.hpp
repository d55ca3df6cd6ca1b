// SPDX-License-Identifier: BSL-1.0
/// \file
/// The limits' kernels compiled for the flags of this translation unit.
#pragma once

#include "attest/fast/limit_kernels-inl.hpp"

namespace attest::fast {

/// All translation units of a program that call this are to be compiled with the same flags for the processor.
inline const limit_kernels& compiled_limit_kernels() { return ATTEST_FAST_TARGET::limit_table; }

} // namespace attest::fast
