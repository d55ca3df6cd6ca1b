// SPDX-License-Identifier: BSL-1.0
#include <headers_of_all.hpp>
#if __has_include(<attest/report/catch2.hpp>)
#include <attest/report/catch2.hpp>
#endif
#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
#else
#include <catch2/catch.hpp>
#endif

#include <string>

std::string version_in_second();

TEST_CASE("two translation units with every header link") { CHECK(version_in_second() == attest::version); }
