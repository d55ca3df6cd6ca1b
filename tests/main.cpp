// SPDX-License-Identifier: BSL-1.0
// main() of the test programs under Catch2 version 2; version 3 brings its own in a library.
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
