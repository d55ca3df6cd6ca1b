// SPDX-License-Identifier: BSL-1.0
#include <attest/formula/attention.hpp>
#include <attest/version.hpp>

#include <cstdio>

#ifdef ATTEST_WITH_FAST
#include <attest/fast/attention.hpp>
#endif

#ifndef ATTEST_ALONE
#include <boost/version.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <zip.h>
int main() { std::puts(fmt::format("attest {}, libzip {}", attest::version, zip_libzip_version()).c_str()); }
#else
int main() {
    constexpr attest::tensor<double, attest::axis<2>> x{1, 1};
    static_assert(attest::softmax(x)(0) == 0.5);
    std::printf("attest %s\n", attest::version);
}
#endif
