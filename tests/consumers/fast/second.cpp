// SPDX-License-Identifier: BSL-1.0
// A second translation unit with the same headers links.
#include <attest/fast/attention_gradient.hpp>
#include <attest/fast/projection.hpp>

double second(double);
double second(double x) {
    const attest::tensor<double, attest::axis<1>, attest::axis<1>> one{{x}};
    return attest::fast::project_in_out(one, one)(0, 0);
}
