// SPDX-License-Identifier: BSL-1.0
/// \file
/// Tensors and views of doubles, as the kernels see them.
#pragma once

#include "attest/fast/kernels.hpp"
#include "attest/shape/tensor.hpp"

namespace attest::fast {

/// A tensor or view of doubles, of any rank from 1 on.
template <class X>
concept operand = tensor_of_rank<X, X::rank> && std::same_as<scalar_of<X>, double> && (X::rank >= 1);

namespace detail {

/// Where a matrix lies.
template <matrix_like X> [[nodiscard]] constexpr strided matrix_of(const X& x) {
    if constexpr (requires { x.stride(0); }) return {x.data(), x.stride(0), x.stride(1)};
    else return {x.data(), static_cast<std::ptrdiff_t>(x.length(1)), 1};
}

using attest::detail::first_indices, attest::detail::index_list;

template <axis_type Last, class X, std::size_t... K> [[nodiscard]] auto like_with_last(const X& x, std::size_t last, index_list<K...>) {
    return tensor<double, axis_of<X, K>..., Last>::with_lengths(x.length(K)..., last);
}
/// Zeros in the shape of x, but for its last axis.
template <axis_type Last, class X> [[nodiscard]] auto like_with_last(const X& x, std::size_t last) {
    return like_with_last<Last>(x, last, first_indices<X::rank - 1>());
}
/// Zeros in the shape of x.
template <class X> [[nodiscard]] auto zeros_like(const X& x) { return like_with_last<axis_of<X, X::rank - 1>>(x, x.length(X::rank - 1)); }
template <class X, std::size_t... K> [[nodiscard]] auto copy_of(const X& x, index_list<K...>) { return tensor<double, axis_of<X, K>...>(x); }
/// A copy of x as a tensor.
template <class X> [[nodiscard]] auto copy_of(const X& x) { return copy_of(x, first_indices<X::rank>()); }
template <class X, std::size_t... K> [[nodiscard]] auto like_without_last(const X& x, index_list<K...>) {
    return tensor<double, axis_of<X, K>...>::with_lengths(x.length(K)...);
}
/// Zeros in the shape of x, without its last axis.
template <class X> [[nodiscard]] auto like_without_last(const X& x) { return like_without_last(x, first_indices<X::rank - 1>()); }

template <class X, class Y, std::size_t... K> constexpr void check_leading(const X& x, const Y& y, index_list<K...>) {
    (rules::same_shape::check<axis_of<X, K>, axis_of<Y, K>>(x.length(K), y.length(K)), ...);
}
/// All axes but the last two are the same.
template <class X, class Y> constexpr void check_leading([[maybe_unused]] const X& x, [[maybe_unused]] const Y& y) {
    check_leading(x, y, first_indices<X::rank - 2>());
}

} // namespace detail
} // namespace attest::fast
