// SPDX-License-Identifier: BSL-1.0
/// \file
/// The table of the kernels of one target.

#if defined(ATTEST_FAST_KERNELS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTEST_FAST_KERNELS_INL_HPP
#undef ATTEST_FAST_KERNELS_INL_HPP
#else
#define ATTEST_FAST_KERNELS_INL_HPP
#endif

#include "attest/fast/exponentials-inl.hpp"
#include "attest/fast/kernels.hpp"
#include "attest/fast/limit_kernels-inl.hpp"
#include "attest/fast/product-inl.hpp"
#include "attest/fast/rows-inl.hpp"
#include "attest/fast/product_in_two-inl.hpp"
#include "attest/fast/rows_in_two-inl.hpp"
#include "attest/fast/softmax_gradient-inl.hpp"

namespace attest::fast::ATTEST_FAST_TARGET {

inline constexpr kernels table{
#if ATTEST_FAST_HIGHWAY
    .name = &HWY_STR(HWY_NAMESPACE)[2], // without N_
#else
    .name = "plain",
#endif
    .has_fma = has_fma,
    .lanes = pack::lanes,
    .panel = panel_columns,
    .pack = pack_columns,
    .multiply = multiply,
    .exponentials = exponentials,
    .softmax_gradient = softmax_gradient,
    .row_products = row_products,
    .divide_rows = divide_rows,
    .add_to_rows = add_to_rows,
    .layer_norm = layer_norm,
    .gelu = gelu_of,
    .relu = relu_of,
    .limits = &limit_table,
    .multiply_in_two = multiply_in_two,
    .scale_scores = scale_scores,
    .exponentials_in_two = exponentials_in_two,
    .quotients = quotients,
};

} // namespace attest::fast::ATTEST_FAST_TARGET

#endif
