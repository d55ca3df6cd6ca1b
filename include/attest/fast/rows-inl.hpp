// SPDX-License-Identifier: BSL-1.0
/// \file
/// What is done to each row by itself: a bias added, a division, layer normalisation, an activation.

#if defined(ATTEST_FAST_ROWS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTEST_FAST_ROWS_INL_HPP
#undef ATTEST_FAST_ROWS_INL_HPP
#else
#define ATTEST_FAST_ROWS_INL_HPP
#endif

#include "attest/fast/erf-inl.hpp"
#include "attest/fast/exponentials-inl.hpp"
#include "attest/fast/kernels.hpp"

ATTEST_FAST_BEGIN
namespace attest::fast::ATTEST_FAST_TARGET {

inline std::size_t lanes_left(std::size_t n, std::size_t j) { return n - j < pack::lanes ? n - j : pack::lanes; }

inline void divide_rows(double* x, std::ptrdiff_t row, std::size_t m, std::size_t n, const double* divisors) {
    for (std::size_t i = 0; i < m; ++i, x += row) {
        const pack divisor = pack::broadcast(divisors[i]);
        for (std::size_t j = 0; j < n; j += pack::lanes) store_first(load_first(x + j, lanes_left(n, j), 0) / divisor, x + j, lanes_left(n, j));
    }
}

inline void add_to_rows(double* x, std::ptrdiff_t row, std::size_t m, std::size_t n, const double* bias) {
    for (std::size_t i = 0; i < m; ++i, x += row) add_bias(x, n, x, bias);
}

inline void gelu_of(const double* x, std::size_t n, double* y) {
    for (std::size_t j = 0; j < n; j += pack::lanes) store_first(gelu(load_first(x + j, lanes_left(n, j), 0)), y + j, lanes_left(n, j));
}
inline void relu_of(const double* x, std::size_t n, double* y) {
    for (std::size_t j = 0; j < n; j += pack::lanes) {
        const pack value = load_first(x + j, lanes_left(n, j), 0);
        store_first(select(value < pack::zero(), pack::zero(), value), y + j, lanes_left(n, j)); // NaN stays
    }
}

// Σ x_j, or Σ (x_j − about)², in 8 lanes.
inline double sum_of_row(const double* x, std::size_t n) {
    pack sums[row_packs];
    for (pack& sum : sums) sum = pack::zero();
    for (std::size_t j = 0; j < n; j += pack::lanes) sums[j / pack::lanes % row_packs] += load_first(x + j, lanes_left(n, j), 0);
    return sum_of_lanes(sums);
}
inline double sum_of_squares(const double* x, std::size_t n, double about) {
    pack sums[row_packs];
    for (pack& sum : sums) sum = pack::zero();
    const pack mean = pack::broadcast(about);
    for (std::size_t j = 0; j < n; j += pack::lanes) {
        const pack deviation = load_first(x + j, lanes_left(n, j), about) - mean;
        pack& sum = sums[j / pack::lanes % row_packs];
        sum = multiply_add(deviation, deviation, sum);
    }
    return sum_of_lanes(sums);
}

// See kernels::layer_norm.
inline void layer_norm(const layer_norm_call& call) {
    const auto count = static_cast<double>(call.n);
    for (std::size_t i = 0; i < call.m; ++i) {
        const double* x = call.x + static_cast<std::ptrdiff_t>(i) * call.x_row;
        double* y = call.y + static_cast<std::ptrdiff_t>(i) * call.y_row;
        const double mean = sum_of_row(x, call.n) / count;
        const double variance = sum_of_squares(x, call.n, mean) / (count - (call.unbiased ? 1 : 0));
        const double divisor = call.eps_in_root ? __builtin_sqrt(variance + call.eps) : __builtin_sqrt(variance) + call.eps;
        for (std::size_t j = 0; j < call.n; j += pack::lanes) {
            const std::size_t left = lanes_left(call.n, j);
            pack value = (load_first(x + j, left, mean) - pack::broadcast(mean)) / pack::broadcast(divisor);
            if (call.gamma != nullptr) value = product(value, load_first(call.gamma + j, left, 0));
            if (call.beta != nullptr) value += load_first(call.beta + j, left, 0);
            store_first(value, y + j, left);
        }
    }
}

} // namespace attest::fast::ATTEST_FAST_TARGET
ATTEST_FAST_END

#endif
