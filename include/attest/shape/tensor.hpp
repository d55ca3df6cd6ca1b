// SPDX-License-Identifier: BSL-1.0
/// \file
/// `tensor<T, Axes...>`: elements in C order, with a shape in the type.
///
/// Up to 16 KiB of elements lie inside the object, and such a tensor can be a constexpr variable. Larger and dynamic ones use the heap: they work
/// inside a constant expression, but cannot be its result (copy what is asserted into a small tensor).
#pragma once

#include "attest/shape/extents.hpp"
#include "attest/shape/view.hpp"

namespace attest {

namespace detail {

inline constexpr std::size_t inline_bytes = 16384;

// Does nothing, and not in constant expressions.
inline void at_run_time() noexcept {}

// A fixed number of elements, inside the object.
template <class T, std::size_t N> class inline_elements {
public:
    constexpr inline_elements() {
        // GCC 12 forgets the last of the initial values below, if they are not all bits 0, once a constant expression has changed one of them; so they are
        // said again, and not in advance.
        if constexpr (!std::is_arithmetic_v<T>) {
            if (!std::is_constant_evaluated()) at_run_time();
            for (T& value : values_) value = T();
        }
    }
    constexpr explicit inline_elements(std::size_t) : inline_elements() {}
    [[nodiscard]] constexpr T* data() noexcept { return values_; }
    [[nodiscard]] constexpr const T* data() const noexcept { return values_; }

private:
    T values_[N == 0 ? 1 : N] = {};
};

// Elements on the heap. Not std::vector: it packs bool, and its header is heavier than the rest of this room.
template <class T> class heap_elements {
public:
    constexpr heap_elements() = default;
    constexpr explicit heap_elements(std::size_t count) : values_{count == 0 ? nullptr : new T[count]()}, count_{count} {}
    constexpr heap_elements(const heap_elements& other) : heap_elements(other.count_) {
        for (std::size_t i = 0; i < count_; ++i) values_[i] = other.values_[i];
    }
    constexpr heap_elements(heap_elements&& other) noexcept : values_{other.values_}, count_{other.count_} {
        other.values_ = nullptr;
        other.count_ = 0;
    }
    constexpr heap_elements& operator=(heap_elements other) noexcept {
        T* const values = values_;
        values_ = other.values_;
        other.values_ = values;
        count_ = other.count_;
        return *this;
    }
    constexpr ~heap_elements() { delete[] values_; }
    [[nodiscard]] constexpr T* data() noexcept { return values_; }
    [[nodiscard]] constexpr const T* data() const noexcept { return values_; }

private:
    T* values_ = nullptr;
    std::size_t count_ = 0;
};

// 0, 1, …, N - 1 as template arguments; std::index_sequence would need <utility>.
template <std::size_t...> struct index_list {};
template <std::size_t N, std::size_t... K> constexpr auto first_indices() {
    if constexpr (sizeof...(K) == N) return index_list<K...>{};
    else return first_indices<N, K..., sizeof...(K)>();
}

template <class T, axis_type... Axes> constexpr auto storage_for() {
    if constexpr (all_fixed<Axes...>) {
        constexpr std::size_t count = extents<Axes...>{}.elements();
        if constexpr (count * sizeof(T) <= inline_bytes) return static_cast<inline_elements<T, count>*>(nullptr);
        else return static_cast<heap_elements<T>*>(nullptr);
    } else {
        return static_cast<heap_elements<T>*>(nullptr);
    }
}

} // namespace detail

template <class T, axis_type... Axes> class tensor {
public:
    using value_type = T;
    using extents_type = extents<Axes...>;
    static constexpr std::size_t rank = sizeof...(Axes);
    template <std::size_t K> using axis_at = typename nth_axis<K, Axes...>::type;

    /// Zeros; dynamic axes have length 0.
    constexpr tensor() : values_(extents_type{}.elements()) {}
    /// Zeros, with these lengths. (A template, so that braces are never taken for lengths: `tensor<S, axis<1>, d> x{{3, -1}};` is a row.)
    template <std::same_as<extents_type> Lengths>
    constexpr explicit tensor(Lengths lengths) : lengths_{lengths}, values_(lengths.elements()) {}
    /// Zeros, with these lengths; those of fixed axes must be what their types say.
    template <std::convertible_to<std::size_t>... Lengths> [[nodiscard]] static constexpr tensor with_lengths(Lengths... lengths) {
        return tensor(extents_type(lengths...));
    }
    /// The elements of a vector: `tensor<double, n> x{1.3, 5.1, 2.2};`
    template <std::convertible_to<T>... Values>
        requires(rank == 1 && sizeof...(Values) > 0)
    constexpr tensor(const Values&... values) // NOLINT(google-explicit-constructor): braces are what is meant
        : tensor(checked_lengths<sizeof...(Values)>()) {
        if constexpr (fits<sizeof...(Values)>) { // else the compiler has spoken
            T* to = data();
            ((*to++ = static_cast<T>(values)), ...);
        }
    }
    /// The rows of a matrix: `tensor<double, n, d> x{{1, 0}, {0, 1}};`
    template <std::size_t... Columns>
        requires(rank == 2 && sizeof...(Columns) > 0)
    constexpr tensor(const T (&... rows)[Columns]) : tensor(checked_lengths<sizeof...(Columns), first<Columns...>>()) {
        constexpr bool as_long_as_the_first = ((Columns == first<Columns...>) && ...);
        static_assert(as_long_as_the_first, "the rows of a matrix must have the same length");
        if constexpr (as_long_as_the_first && fits<sizeof...(Columns), first<Columns...>>) { // else the compiler has spoken
            T* to = data();
            const auto append = [&to](const auto& row) {
                for (const T& value : row) *to++ = value;
            };
            (append(rows), ...);
        }
    }
    /// A copy of a tensor or view, element by element, converted to T; the axes must meet.
    template <tensor_of_rank<rank> X>
        requires(!std::same_as<X, tensor>)
    constexpr explicit tensor(const X& other) : tensor(lengths_like(other)) {
        copy_from(other);
    }

    [[nodiscard]] constexpr std::size_t length(std::size_t k) const noexcept { return lengths_[k]; }
    [[nodiscard]] constexpr const extents_type& lengths() const noexcept { return lengths_; }
    [[nodiscard]] constexpr std::size_t elements() const noexcept { return lengths_.elements(); }
    [[nodiscard]] constexpr T* data() noexcept { return values_.data(); }
    [[nodiscard]] constexpr const T* data() const noexcept { return values_.data(); }

    /// Element (i, j, …); not checked.
    template <std::convertible_to<std::size_t>... Indices>
        requires(sizeof...(Indices) == rank)
    [[nodiscard]] constexpr T& operator()(Indices... indices) {
        return data()[offset(static_cast<std::size_t>(indices)...)];
    }
    template <std::convertible_to<std::size_t>... Indices>
        requires(sizeof...(Indices) == rank)
    [[nodiscard]] constexpr const T& operator()(Indices... indices) const {
        return data()[offset(static_cast<std::size_t>(indices)...)];
    }
    /// Element (i, j, …); throws shape_error for an index out of range.
    template <std::convertible_to<std::size_t>... Indices> [[nodiscard]] constexpr T& at(Indices... indices) {
        return view<T, Axes...>(*this).at(indices...);
    }
    template <std::convertible_to<std::size_t>... Indices> [[nodiscard]] constexpr const T& at(Indices... indices) const {
        return view<const T, Axes...>(*this).at(indices...);
    }
    /// The slice at index i of the leading axis: a view with one axis less, or the element for rank 1.
    [[nodiscard]] constexpr decltype(auto) operator[](std::size_t i) & { return view<T, Axes...>(*this)[i]; }
    [[nodiscard]] constexpr decltype(auto) operator[](std::size_t i) const& { return view<const T, Axes...>(*this)[i]; }
    void operator[](std::size_t i) const&& = delete; // the slice would outlive its tensor

    constexpr operator view<T, Axes...>() & { return view<T, Axes...>(data(), lengths_); } // NOLINT(google-explicit-constructor)
    constexpr operator view<const T, Axes...>() const& {                                   // NOLINT(google-explicit-constructor)
        return view<const T, Axes...>(data(), lengths_);
    }

private:
    template <std::size_t First, std::size_t...> static constexpr std::size_t first = First;

    template <std::size_t... Given> static constexpr bool fits = ((is_dynamic<Axes> || Given == Axes::size) && ...);
    template <std::size_t... Given> static constexpr extents_type checked_lengths() {
        static_assert(fits<Given...>, "the braces must hold as many elements as the axes say");
        if constexpr (fits<Given...>) return extents_type(Given...);
        else return extents_type{};
    }
    [[nodiscard]] constexpr std::size_t offset() const { return 0; }
    template <class... Indices> [[nodiscard]] constexpr std::size_t offset(std::size_t i, Indices... rest) const {
        std::size_t at = i;
        [[maybe_unused]] std::size_t k = 1;
        ((at = at * lengths_[k++] + rest), ...);
        return at;
    }
    template <class X> static constexpr extents_type lengths_like(const X& other) {
        return lengths_like(other, detail::first_indices<rank>());
    }
    template <class X, std::size_t... K> static constexpr extents_type lengths_like(const X& other, detail::index_list<K...>) {
        (rules::same_shape::check<axis_at<K>, axis_of<X, K>>(is_dynamic<axis_at<K>> ? other.length(K) : axis_at<K>::size, other.length(K)),
         ...);
        if constexpr (rank == 0 || !(rules::same_shape::holds<axis_at<K>, axis_of<X, K>> && ...)) return extents_type{};
        else return extents_type(other.length(K)...);
    }
    template <class X> constexpr void copy_from(const X& other) {
        T* to = data();
        if constexpr (rank == 0) {
            *to = static_cast<T>(other());
        } else if constexpr (rank == 1) {
            for (std::size_t i = 0; i < length(0); ++i) *to++ = static_cast<T>(other(i));
        } else if constexpr (rank == 2) {
            for (std::size_t i = 0; i < length(0); ++i)
                for (std::size_t j = 0; j < length(1); ++j) *to++ = static_cast<T>(other(i, j));
        } else {
            for (std::size_t i = 0; i < length(0); ++i) {
                using part = tensor_of<typename detail::without_leading<T, Axes...>::type>;
                const part slice(other[i]);
                for (std::size_t e = 0; e < slice.elements(); ++e) *to++ = slice.data()[e];
            }
        }
    }
    template <class V> struct tensor_of_view;
    template <class U, class... Rest> struct tensor_of_view<view<U, Rest...>> {
        using type = tensor<T, Rest...>;
    };
    template <class V> using tensor_of = typename tensor_of_view<V>::type;

    [[no_unique_address]] extents_type lengths_;
    std::remove_pointer_t<decltype(detail::storage_for<T, Axes...>())> values_;
};

namespace detail {
// Says the rule for each axis whose type tells; the lengths are not asked.
template <class X, class Y, std::size_t... K> constexpr bool same_axes(index_list<K...>) {
    (rules::same_shape::check<axis_of<X, K>, axis_of<Y, K>>(0, 0), ...);
    return (rules::same_shape::holds<axis_of<X, K>, axis_of<Y, K>> && ...);
}
} // namespace detail

/// Equal lengths and equal elements. Axes that can't meet do not compile.
template <class X, class Y>
    requires(tensor_of_rank<X, X::rank> && tensor_of_rank<Y, X::rank>)
[[nodiscard]] constexpr bool operator==(const X& x, const Y& y) {
    if constexpr (X::rank == 0) {
        return x() == y();
    } else {
        constexpr bool axes_meet = detail::same_axes<X, Y>(detail::first_indices<X::rank>());
        for (std::size_t k = 0; k < X::rank; ++k)
            if (x.length(k) != y.length(k)) return false;
        if constexpr (axes_meet) // else the compiler has spoken
            for (std::size_t i = 0; i < x.length(0); ++i)
                if (!(x[i] == y[i])) return false;
        return true;
    }
}

} // namespace attest
