// SPDX-License-Identifier: BSL-1.0
/// \file
/// What softmax's backward pass needs beside matrix products: ds = p (dp − D), and dot products of rows.

#if defined(ATTEST_FAST_SOFTMAX_GRADIENT_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTEST_FAST_SOFTMAX_GRADIENT_INL_HPP
#undef ATTEST_FAST_SOFTMAX_GRADIENT_INL_HPP
#else
#define ATTEST_FAST_SOFTMAX_GRADIENT_INL_HPP
#endif

#include "attest/fast/exponentials-inl.hpp"
#include "attest/fast/kernels.hpp"
#include "attest/fast/pack-inl.hpp"

ATTEST_FAST_BEGIN
namespace attest::fast::ATTEST_FAST_TARGET {

// See kernels::softmax_gradient.
inline void softmax_gradient(const softmax_gradient_call& call) {
    for (std::size_t i = 0; i < call.m; ++i) {
        const auto row = static_cast<std::ptrdiff_t>(i);
        const double* p = call.p + row * call.p_row;
        double* d = call.d + row * call.d_row;
        const pack mean = pack::broadcast(call.mean[i]);
        for (std::size_t j = 0; j < call.n; j += pack::lanes) {
            const std::size_t count = call.n - j < pack::lanes ? call.n - j : pack::lanes;
            store_first(load_first(p + j, count, 0) * (load_first(d + j, count, 0) - mean), d + j, count);
        }
    }
}

// See kernels::row_products.
inline void row_products(const strided& a, const strided& b, std::size_t m, std::size_t n, double* sums) {
    for (std::size_t i = 0; i < m; ++i) {
        const auto row = static_cast<std::ptrdiff_t>(i);
        const double *x = a.at + row * a.row, *y = b.at + row * b.row;
        double lanes[row_lanes] = {};
        for (std::size_t j = 0; j < n; ++j) {
            const auto at = static_cast<std::ptrdiff_t>(j);
            lanes[j % row_lanes] += attest::detail::unfused(x[at * a.column] * y[at * b.column]);
        }
        sums[i] = ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) + ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]));
    }
}

} // namespace attest::fast::ATTEST_FAST_TARGET
ATTEST_FAST_END

#endif
