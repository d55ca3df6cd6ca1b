// SPDX-License-Identifier: BSL-1.0
#include <attest/version.hpp>

#include <cstdio>

int main() { std::printf("attest %s\n", attest::version); }
