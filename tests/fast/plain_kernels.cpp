// SPDX-License-Identifier: BSL-1.0
// The fallback without SIMD library, whatever the others are compiled with.
#define ATTEST_FAST_PLAIN
#include "attest/fast/kernels-inl.hpp"

#include "catch.hpp"

namespace fast_tests {
const attest::fast::kernels& plain_kernels();
const attest::fast::kernels& plain_kernels() { return attest::fast::plain::table; }
} // namespace fast_tests

TEST_CASE("the plain kernels work on one double at a time", "[fast]") {
    CHECK(std::string(fast_tests::plain_kernels().name) == "plain");
    CHECK(fast_tests::plain_kernels().lanes == 1);
}
