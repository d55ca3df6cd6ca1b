// SPDX-License-Identifier: BSL-1.0
// EXPECT: room oracle may not include attest/report/text.hpp
// EXPECT: component oracle may not include attest/report/text.hpp, of component report
// EXPECT: component oracle may not include <fmt/format.h>
#include "attest/report/text.hpp"
#include <fmt/format.h>
