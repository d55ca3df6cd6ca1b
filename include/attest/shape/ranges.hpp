// SPDX-License-Identifier: BSL-1.0
/// \file
/// Rows, columns, axes and elements of a tensor as ranges, for the standard's algorithms and range-v3's views.
///
/// ```cpp
/// for (auto row : attest::rows(X)) …
/// ranges::accumulate(attest::elements(X), 0.0);
/// ```
/// The ranges look at their tensor, which must outlive them (a temporary is refused). All are random-access; a row is a `view` made on the spot.
#pragma once

#include "attest/shape/tensor.hpp"

#include <iterator>
#include <type_traits>
#include <utility>

namespace attest {

namespace detail {

// Random access to f(0), f(1), …, f(n - 1): the one iterator behind all ranges here.
template <class F> class index_iterator {
public:
    using reference = decltype(std::declval<const F&>()(std::size_t{0}));
    using value_type = std::remove_cvref_t<reference>;
    using difference_type = std::ptrdiff_t;
    using iterator_concept = std::random_access_iterator_tag;
    using iterator_category =
        std::conditional_t<std::is_reference_v<reference>, std::random_access_iterator_tag, std::input_iterator_tag>;
    using pointer = void;

    constexpr index_iterator() = default;
    constexpr index_iterator(F f, difference_type at) : f_{f}, at_{at} {}

    constexpr reference operator*() const { return f_(static_cast<std::size_t>(at_)); }
    constexpr reference operator[](difference_type k) const { return f_(static_cast<std::size_t>(at_ + k)); }
    constexpr index_iterator& operator++() { return ++at_, *this; }
    constexpr index_iterator& operator--() { return --at_, *this; }
    constexpr index_iterator operator++(int) { return index_iterator(f_, at_++); }
    constexpr index_iterator operator--(int) { return index_iterator(f_, at_--); }
    constexpr index_iterator& operator+=(difference_type k) { return at_ += k, *this; }
    constexpr index_iterator& operator-=(difference_type k) { return at_ -= k, *this; }
    friend constexpr index_iterator operator+(index_iterator it, difference_type k) { return it += k; }
    friend constexpr index_iterator operator+(difference_type k, index_iterator it) { return it += k; }
    friend constexpr index_iterator operator-(index_iterator it, difference_type k) { return it -= k; }
    friend constexpr difference_type operator-(const index_iterator& a, const index_iterator& b) { return a.at_ - b.at_; }
    friend constexpr bool operator==(const index_iterator& a, const index_iterator& b) { return a.at_ == b.at_; }
    friend constexpr auto operator<=>(const index_iterator& a, const index_iterator& b) { return a.at_ <=> b.at_; }

private:
    F f_{};
    difference_type at_ = 0;
};

template <class F> class index_range {
public:
    constexpr index_range() = default;
    constexpr index_range(F f, std::size_t length) : f_{f}, length_{length} {}
    [[nodiscard]] constexpr index_iterator<F> begin() const { return {f_, 0}; }
    [[nodiscard]] constexpr index_iterator<F> end() const { return {f_, static_cast<std::ptrdiff_t>(length_)}; }
    [[nodiscard]] constexpr std::size_t size() const noexcept { return length_; }
    [[nodiscard]] constexpr bool empty() const noexcept { return length_ == 0; }
    [[nodiscard]] constexpr decltype(auto) operator[](std::size_t i) const { return f_(i); }

private:
    F f_{};
    std::size_t length_ = 0;
};

} // namespace detail
} // namespace attest

// The ranges here are views: cheap to copy, and no owners. The name is declared, not included, so that range-v3 stays optional.
namespace ranges::ext {
template <class T> struct enable_view;
template <class F> struct enable_view<attest::detail::index_range<F>> : std::true_type {};
} // namespace ranges::ext

namespace attest {
namespace detail {

struct identity_index {
    constexpr std::size_t operator()(std::size_t i) const noexcept { return i; }
};
// Pointers instead of captured references: iterators must be default-constructible and assignable.
template <class T> struct element_at {
    T* data = nullptr;
    std::ptrdiff_t stride = 1;
    constexpr T& operator()(std::size_t i) const { return data[static_cast<std::ptrdiff_t>(i) * stride]; }
};
// Element number e, counted in C order, of memory with any strides.
template <class T, std::size_t Rank> struct strided_element_at {
    T* data = nullptr;
    std::size_t length[Rank] = {};
    std::ptrdiff_t stride[Rank] = {};
    constexpr T& operator()(std::size_t e) const {
        std::ptrdiff_t offset = 0;
        for (std::size_t k = Rank; k-- > 0; e /= length[k]) offset += static_cast<std::ptrdiff_t>(e % length[k]) * stride[k];
        return data[offset];
    }
};
template <class T, class Kept> struct matrix_slice_at {
    T* data = nullptr;
    std::size_t length = 0;
    std::ptrdiff_t stride = 1, step = 0;
    constexpr view<T, Kept> operator()(std::size_t i) const {
        const std::ptrdiff_t strides[] = {stride};
        extents<Kept> lengths;
        if constexpr (is_dynamic<Kept>) lengths = extents<Kept>(length);
        // An empty slice stays where it is: its tensor may have no memory to count in.
        return view<T, Kept>(data + (length == 0 ? 0 : static_cast<std::ptrdiff_t>(i) * step), lengths, strides);
    }
};

template <class T, axis_type A, axis_type B> constexpr auto matrix_rows(const view<T, A, B>& x) {
    using slice = matrix_slice_at<T, B>;
    return index_range<slice>(slice{x.data(), x.length(1), x.stride(1), x.stride(0)}, x.length(0));
}
template <class T, axis_type A, axis_type B> constexpr auto matrix_columns(const view<T, A, B>& x) {
    using slice = matrix_slice_at<T, A>;
    return index_range<slice>(slice{x.data(), x.length(0), x.stride(0), x.stride(1)}, x.length(1));
}
template <class T, class... Axes> constexpr view<T, Axes...> as_view(const view<T, Axes...>& x) { return x; }
template <class T, class... Axes> constexpr view<T, Axes...> as_view(tensor<T, Axes...>& x) { return x; }
template <class T, class... Axes> constexpr view<const T, Axes...> as_view(const tensor<T, Axes...>& x) { return x; }

} // namespace detail

/// The rows of a matrix, each a vector view.
template <class X>
    requires matrix_like<std::remove_cvref_t<X>>
[[nodiscard]] constexpr auto rows(X&& x) {
    return detail::matrix_rows(detail::as_view(x));
}
template <class T, class... Axes> void rows(tensor<T, Axes...>&&) = delete; // the range would outlive the tensor
template <class T, class... Axes> void rows(const tensor<T, Axes...>&&) = delete;
/// The columns of a matrix, each a vector view with a stride.
template <class X>
    requires matrix_like<std::remove_cvref_t<X>>
[[nodiscard]] constexpr auto columns(X&& x) {
    return detail::matrix_columns(detail::as_view(x));
}
template <class T, class... Axes> void columns(tensor<T, Axes...>&&) = delete; // the range would outlive the tensor
template <class T, class... Axes> void columns(const tensor<T, Axes...>&&) = delete;
/// The elements of a tensor or view, in C order.
template <class T, class... Axes> [[nodiscard]] constexpr auto elements(tensor<T, Axes...>& x) {
    return detail::index_range<detail::element_at<T>>({x.data(), 1}, x.elements());
}
template <class T, class... Axes> [[nodiscard]] constexpr auto elements(const tensor<T, Axes...>& x) {
    return detail::index_range<detail::element_at<const T>>({x.data(), 1}, x.elements());
}
template <class T, class... Axes> void elements(const tensor<T, Axes...>&&) = delete; // the range would outlive the tensor
template <class T, class A> [[nodiscard]] constexpr auto elements(const view<T, A>& x) {
    return detail::index_range<detail::element_at<T>>({x.data(), x.stride(0)}, x.length(0));
}
template <class T, class... Axes>
    requires(sizeof...(Axes) > 1)
[[nodiscard]] constexpr auto elements(const view<T, Axes...>& x) {
    detail::strided_element_at<T, sizeof...(Axes)> at{x.data()};
    for (std::size_t k = 0; k < sizeof...(Axes); ++k) {
        at.length[k] = x.length(k);
        at.stride[k] = x.stride(k);
    }
    return detail::index_range<decltype(at)>(at, x.elements());
}
/// The indices 0, 1, …, length - 1 of axis K.
template <std::size_t K, class X>
    requires(K < X::rank)
[[nodiscard]] constexpr auto indices(const X& x) {
    return detail::index_range<detail::identity_index>({}, x.length(K));
}

} // namespace attest
