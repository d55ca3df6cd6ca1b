// SPDX-License-Identifier: BSL-1.0
// EXPECT: room question may not include attest/formula/mask.hpp
#include "attest/formula/mask.hpp"
