// SPDX-License-Identifier: BSL-1.0
// What the components stand on comes with them.
#include <attest/version.hpp>

#include <boost/version.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <range/v3/version.hpp>
#include <zip.h>

#include <cstdio>

int main() {
    const nlohmann::json libraries = {{"boost", BOOST_VERSION}, {"range-v3", RANGE_V3_VERSION}, {"libzip", zip_libzip_version()}};
    std::puts(fmt::format("attest {} {}", attest::version, libraries.dump()).c_str());
}
