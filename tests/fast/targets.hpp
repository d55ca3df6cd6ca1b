// SPDX-License-Identifier: BSL-1.0
// All kernels that this program has and this processor can run.
#pragma once

#include "kernels.hpp"

#include "attest/fast/compiled.hpp"

#include <random>
#include <string>
#include <vector>

namespace fast_tests {

/// The kernels without SIMD library (plain_kernels.cpp).
const attest::fast::kernels& plain_kernels();

inline std::vector<const attest::fast::kernels*> all_kernels() {
    auto all = attest::fast::supported_kernels();
    all.push_back(&attest::fast::compiled_kernels());
    all.push_back(&plain_kernels());
    return all;
}

/// So many doubles, uniform in (−most, most).
inline std::vector<double> random_doubles(std::size_t count, unsigned seed, double most = 1) {
    std::mt19937_64 generator(seed);
    std::uniform_real_distribution<> uniform(-most, most);
    std::vector<double> x(count);
    for (double& value : x) value = uniform(generator);
    return x;
}

/// γ_r = r u / (1 − r u).
inline double gamma(std::size_t roundings) {
    const double x = static_cast<double>(roundings) * 0x1p-53;
    return x / (1 - x);
}

} // namespace fast_tests
