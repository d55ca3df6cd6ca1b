// SPDX-License-Identifier: BSL-1.0
// Every header of attest::attest.
#include <headers_of_attest.hpp>

#include <cstdio>

int main() { std::printf("attest %s\n", attest::version); }
