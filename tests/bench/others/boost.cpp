// SPDX-License-Identifier: BSL-1.0
// What tests/bench/peers.py measures of Boost.Multiprecision.
//   g++ -O3 -march=native -shared -fPIC -std=c++20 tests/bench/others/boost.cpp -o boost.so

#include "../clock.hpp"

#include <boost/multiprecision/cpp_bin_float.hpp>

#include <algorithm>
#include <cstddef>
#include <vector>

using number = boost::multiprecision::cpp_bin_float_50;

extern "C" {

/// The formula in plain loops of Boost's cpp_bin_float_50, for the first rows of tensors of double; keys and values are converted beforehand.
double boost_attention(const double* q, const double* k, const double* v, double* out, std::size_t n, std::size_t d, std::size_t rows) {
    const std::vector<number> keys(k, k + n * d), values(v, v + n * d);
    const number scale = 1 / sqrt(number(d));
    std::vector<number> query(d), weights(n);
    return processor_seconds([&] {
        for (std::size_t i = 0; i < rows; ++i) {
            for (std::size_t c = 0; c < d; ++c) query[c] = number(q[i * d + c]) * scale;
            for (std::size_t j = 0; j < n; ++j) {
                number sum = 0;
                for (std::size_t c = 0; c < d; ++c) sum += query[c] * keys[j * d + c];
                weights[j] = sum;
            }
            const number greatest = *std::max_element(weights.begin(), weights.end());
            number total = 0;
            for (number& weight : weights) total += weight = exp(weight - greatest);
            for (std::size_t c = 0; c < d; ++c) {
                number sum = 0;
                for (std::size_t j = 0; j < n; ++j) sum += weights[j] * values[j * d + c];
                out[i * d + c] = static_cast<double>(sum / total);
            }
        }
    });
}
}
