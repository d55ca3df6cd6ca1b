// SPDX-License-Identifier: BSL-1.0
// EXPECT: room io may not include attest/question/case.hpp
// EXPECT: component io may not include attest/question/case.hpp, of component oracle
#include "attest/question/case.hpp"
