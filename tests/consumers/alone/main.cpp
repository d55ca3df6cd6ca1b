// SPDX-License-Identifier: BSL-1.0
// Every header of attest::attest, and a shape laid over memory that is there already.
#include <headers_of_attest.hpp>

#include <cstdio>

int main() {
    using any = attest::axis<attest::dynamic>;
    const float q[] = {0, 0}, k[] = {1, 2, 3, 4}, v[] = {1, 3};
    const auto z = attest::attention(attest::shaped<any, any>(q, 1, 2), attest::shaped<any, any>(k, 2, 2), attest::shaped<any, any>(v, 2, 1));
    std::printf("attest %s: z = %g\n", attest::version, static_cast<double>(z(0, 0)));
    return z(0, 0) == 2.0F ? 0 : 1; // the mean of 1 and 3
}
