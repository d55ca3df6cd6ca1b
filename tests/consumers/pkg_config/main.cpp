// SPDX-License-Identifier: BSL-1.0
#include <attest/version.hpp>

#include <cstdio>

#ifndef ATTEST_ALONE
#include <boost/version.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <zip.h>
int main() { std::puts(fmt::format("attest {}, libzip {}", attest::version, zip_libzip_version()).c_str()); }
#else
int main() { std::printf("attest %s\n", attest::version); }
#endif
