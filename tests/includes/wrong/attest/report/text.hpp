// SPDX-License-Identifier: BSL-1.0
// EXPECT: only report/catch2.hpp may include catch2/catch.hpp
#include <catch2/catch.hpp>
#include "attest/oracle/check.hpp"
