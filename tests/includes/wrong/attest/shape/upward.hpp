// SPDX-License-Identifier: BSL-1.0
// EXPECT: room shape may not include attest/formula/softmax.hpp
#include "attest/formula/softmax.hpp"
