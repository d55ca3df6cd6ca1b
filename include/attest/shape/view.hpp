// SPDX-License-Identifier: BSL-1.0
/// \file
/// `view<T, Axes...>`: a shape over memory that somebody else owns. Existing code gets shapes without copying:
///
/// ```cpp
/// std::vector<float> memory(n * d);
/// auto q = attest::shaped<n_axis, d_axis>(memory);             // fixed axes: the size is checked
/// auto k = attest::shaped<m_axis, d_axis>(memory, m, d);       // dynamic axes: all lengths are given
/// ```
#pragma once

#include "attest/shape/extents.hpp"


namespace attest {

template <class T, axis_type... Axes> class view;

namespace detail {
// The view that is left when the leading axis is fixed at an index; an element for rank 1.
template <class T, class First, class... Rest> struct without_leading {
    using type = view<T, Rest...>;
};
template <class T, class First> struct without_leading<T, First> {
    using type = T&;
};
template <class M>
concept contiguous_memory = requires(M& memory) {
    { memory.data() };
    { memory.size() } -> std::convertible_to<std::size_t>;
};
// Memory that outlives the expression: an lvalue, or a temporary that only refers to it, as std::span does (whose constness is not that of its
// elements, so that both pointers have the same type).
template <class M>
concept lasting_memory =
    contiguous_memory<M> && (std::is_lvalue_reference_v<M> || (!std::is_const_v<M> && requires(M& memory, const M& same) {
                                 requires std::same_as<decltype(memory.data()), decltype(same.data())>;
                             }));
} // namespace detail

/// A shape over memory: element (i, j, …) lies at data + i·stride(0) + j·stride(1) + …. Copying a view copies no elements.
/// `view<const T, …>` reads only. The memory must outlive the view.
template <class T, axis_type... Axes> class view {
public:
    using value_type = std::remove_const_t<T>;
    using extents_type = extents<Axes...>;
    static constexpr std::size_t rank = sizeof...(Axes);
    template <std::size_t K> using axis_at = typename nth_axis<K, Axes...>::type;

    /// Elements in C order (the last axis is contiguous).
    constexpr view(T* data, extents_type lengths) : data_{data}, lengths_{lengths} {
        std::size_t stride = 1;
        for (std::size_t k = rank; k-- > 0; stride *= lengths_[k]) stride_[k] = static_cast<std::ptrdiff_t>(stride);
    }
    /// Elements with any strides, counted in elements.
    constexpr view(T* data, extents_type lengths, const std::ptrdiff_t (&strides)[rank == 0 ? 1 : rank])
        : data_{data}, lengths_{lengths} {
        for (std::size_t k = 0; k < rank; ++k) stride_[k] = strides[k];
    }
    /// A view of elements that may be written is also one of elements that may not.
    constexpr operator view<const T, Axes...>() const // NOLINT(google-explicit-constructor)
        requires(!std::is_const_v<T>)
    {
        return view<const T, Axes...>(data_, lengths_, stride_);
    }

    [[nodiscard]] constexpr std::size_t length(std::size_t k) const noexcept { return lengths_[k]; }
    [[nodiscard]] constexpr const extents_type& lengths() const noexcept { return lengths_; }
    [[nodiscard]] constexpr std::size_t elements() const noexcept { return lengths_.elements(); }
    [[nodiscard]] constexpr std::ptrdiff_t stride(std::size_t k) const noexcept { return stride_[k]; }
    [[nodiscard]] constexpr T* data() const noexcept { return data_; }

    /// Element (i, j, …); not checked.
    template <std::convertible_to<std::size_t>... Indices>
        requires(sizeof...(Indices) == rank)
    [[nodiscard]] constexpr T& operator()(Indices... indices) const {
        const std::ptrdiff_t at[] = {static_cast<std::ptrdiff_t>(indices)..., 0};
        std::ptrdiff_t offset = 0;
        for (std::size_t k = 0; k < rank; ++k) offset += at[k] * stride_[k];
        return data_[offset];
    }
    /// Element (i, j, …); throws shape_error for an index out of range.
    template <std::convertible_to<std::size_t>... Indices>
        requires(sizeof...(Indices) == rank)
    [[nodiscard]] constexpr T& at(Indices... indices) const {
        const std::size_t index[] = {static_cast<std::size_t>(indices)..., 0};
        for (std::size_t k = 0; k < rank; ++k) rules::index_in_range::check(index[k], lengths_[k]);
        return (*this)(indices...);
    }
    /// The slice at index i of the leading axis: a view with one axis less, or the element for rank 1.
    [[nodiscard]] constexpr decltype(auto) operator[](std::size_t i) const
        requires(rank > 0)
    {
        return slice<typename detail::without_leading<T, Axes...>::type>(i);
    }

private:
    template <class Slice> [[nodiscard]] constexpr Slice slice(std::size_t i) const {
        T* const start = data_ + static_cast<std::ptrdiff_t>(i) * stride_[0];
        if constexpr (rank == 1) {
            return *start;
        } else {
            std::ptrdiff_t strides[rank - 1] = {};
            for (std::size_t k = 0; k + 1 < rank; ++k) strides[k] = stride_[k + 1];
            return rest_lengths<Slice>([&](auto lengths) { return Slice(start, lengths, strides); });
        }
    }
    template <class Slice, class Make> [[nodiscard]] constexpr Slice rest_lengths(Make make) const {
        using rest = typename Slice::extents_type;
        if constexpr (rest::fixed) return make(rest{});
        else if constexpr (rest::rank == 1) return make(rest(lengths_[1]));
        else if constexpr (rest::rank == 2) return make(rest(lengths_[1], lengths_[2]));
        else return make(rest(lengths_[1], lengths_[2], lengths_[3]));
    }

    T* data_;
    [[no_unique_address]] extents_type lengths_;
    std::ptrdiff_t stride_[rank == 0 ? 1 : rank] = {};
};

/// Gives a pointer the shape of fixed axes.
template <axis_type... Axes, class T>
    requires(detail::all_fixed<Axes...>)
[[nodiscard]] constexpr view<T, Axes...> shaped(T* data) {
    return view<T, Axes...>(data, extents<Axes...>{});
}
/// Gives a pointer a shape; all lengths are given.
template <axis_type... Axes, class T, std::convertible_to<std::size_t>... Lengths>
    requires(sizeof...(Lengths) == sizeof...(Axes))
[[nodiscard]] constexpr view<T, Axes...> shaped(T* data, Lengths... lengths) {
    return view<T, Axes...>(data, extents<Axes...>(lengths...));
}
/// Gives a std::vector, std::array, std::span, … the shape of fixed axes; throws shape_error unless it holds exactly the elements. A temporary
/// that owns its elements is refused.
template <axis_type... Axes, detail::lasting_memory M>
    requires(detail::all_fixed<Axes...>)
[[nodiscard]] constexpr auto shaped(M&& memory) {
    const extents<Axes...> lengths;
    rules::memory_fits_shape::check(memory.size(), lengths.elements());
    return view<std::remove_pointer_t<decltype(memory.data())>, Axes...>(memory.data(), lengths);
}
/// The same with all lengths given.
template <axis_type... Axes, detail::lasting_memory M, std::convertible_to<std::size_t>... Lengths>
    requires(sizeof...(Lengths) == sizeof...(Axes) && sizeof...(Axes) > 0)
[[nodiscard]] constexpr auto shaped(M&& memory, Lengths... given) {
    const extents<Axes...> lengths(given...);
    rules::memory_fits_shape::check(memory.size(), lengths.elements());
    return view<std::remove_pointer_t<decltype(memory.data())>, Axes...>(memory.data(), lengths);
}

/// A tensor or a view of the given rank: what formulas take.
template <class X, std::size_t Rank>
concept tensor_of_rank = requires(const X& x) {
    typename X::value_type;
    typename X::extents_type;
    x.length(std::size_t{0});
} && X::rank == Rank;

template <class X>
concept vector_like = tensor_of_rank<X, 1>;
template <class X>
concept matrix_like = tensor_of_rank<X, 2>;

/// The scalar of a tensor or view.
template <class X> using scalar_of = typename X::value_type;
/// Axis K of a tensor or view.
template <class X, std::size_t K> using axis_of = typename X::template axis_at<K>;

} // namespace attest
