// SPDX-License-Identifier: BSL-1.0
#include <headers_of_all.hpp>
#if __has_include(<attest/report/catch2.hpp>)
#include <attest/report/catch2.hpp>
#endif

#include <string>

std::string version_in_second();
std::string version_in_second() { return attest::version; }
