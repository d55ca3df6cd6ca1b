// SPDX-License-Identifier: BSL-1.0
#include <headers_of_all.hpp>

#include <cstdio>

#ifndef _LIBCPP_VERSION
#error "this is not libc++"
#endif

int main() { std::printf("attest %s, libc++ %d\n", attest::version, _LIBCPP_VERSION); }
