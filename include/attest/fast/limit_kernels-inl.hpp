// SPDX-License-Identifier: BSL-1.0
/// \file
/// The table of the limits' kernels of one target.

#if defined(ATTEST_FAST_LIMIT_KERNELS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTEST_FAST_LIMIT_KERNELS_INL_HPP
#undef ATTEST_FAST_LIMIT_KERNELS_INL_HPP
#else
#define ATTEST_FAST_LIMIT_KERNELS_INL_HPP
#endif

#include "attest/fast/limit_main_sums-inl.hpp"
#include "attest/fast/limit_rows-inl.hpp"
#include "attest/fast/limit_scores-inl.hpp"
#include "attest/fast/limit_sums-inl.hpp"
#include "attest/fast/limit_weights-inl.hpp"

namespace attest::fast::ATTEST_FAST_TARGET {

inline constexpr limit_kernels limit_table{
    .main_sums = main_sums,
    .partial_sums = partial_sums,
    .size_sums = size_sums,
    .pair_sums = pair_sums,
    .score_sums = score_sums,
    .alike = alike,
    .moves = moves,
    .row_sums = row_sums,
    .add_products = add_products,
    .dot_sizes = dot_sizes,
    .product_sizes = product_sizes,
    .alike_squares = alike_squares,
    .score_errors = score_errors,
    .log_weights = log_weights,
    .grown_weights = grown_weights,
    .greatest_sum = greatest_sum,
    .divide = divide,
    .exponentials = exponentials_of_any,
};

} // namespace attest::fast::ATTEST_FAST_TARGET

#endif
