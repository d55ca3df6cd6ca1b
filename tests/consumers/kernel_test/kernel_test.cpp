// SPDX-License-Identifier: BSL-1.0
// A small attention kernel, and the test that judges it.
#include <attest/version.hpp>

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
#else
#include <catch2/catch.hpp>
#endif

#include <string>

TEST_CASE("the package is there") { CHECK(std::string(attest::version).size() >= 5); }
