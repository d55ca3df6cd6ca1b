// SPDX-License-Identifier: BSL-1.0
// EXPECT: component attest may not include attest/arithmetic/real.hpp, of component oracle
#include <attest/arithmetic/real.hpp>
