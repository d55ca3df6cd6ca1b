// SPDX-License-Identifier: BSL-1.0
// The kernels of the double path for several instruction sets, in one program: AVX-512, AVX2 with FMA, NEON, and what the program is compiled for.
#pragma once

#include "attest/fast/kernels.hpp"

#include <vector>

namespace attest::fast {

/// All that are compiled in and that this processor can run, the fastest first.
std::vector<const kernels*> supported_kernels();

/// The fastest that this processor can run.
const kernels& best_kernels();

} // namespace attest::fast
