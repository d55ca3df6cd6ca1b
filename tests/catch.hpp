// SPDX-License-Identifier: BSL-1.0
// One include for Catch2 version 2 (Debian 12) and version 3 (Debian 13, Ubuntu 24.04).
#pragma once

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
using Catch::Approx;
#else
#include <catch2/catch.hpp>
#endif
