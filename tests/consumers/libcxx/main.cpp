// SPDX-License-Identifier: BSL-1.0
#include <headers_of_all.hpp>

#include <cstdio>

#ifndef _LIBCPP_VERSION
#error "this is not libc++"
#endif

int main() {
    const std::vector<double> q{1, 0, 0, 1}, v{2, 0, 0, 3};
    using any = attest::axis<attest::dynamic>;
    const auto Q = attest::shaped<any, any>(q, 2, 2), V = attest::shaped<any, any>(v, 2, 2);
    const auto result = attest::check({{"op", "attention"}}, {{"q", Q}, {"k", Q}, {"v", V}}, {{"out", attest::attention(Q, Q, V)}});
    std::printf("attest %s, libc++ %d: %s\n", attest::version, _LIBCPP_VERSION, std::string(attest::name_of(result.verdict)).c_str());
    return attest::passes(result.verdict) ? 0 : 1;
}
