// SPDX-License-Identifier: BSL-1.0
/// \file
/// The lengths of a tensor's axes: nothing at all where they are types, numbers where an axis is dynamic.
#pragma once

#include "attest/shape/axis.hpp"
#include "attest/shape/rules.hpp"

namespace attest {

/// Axis number K of a list.
template <std::size_t K, class... Axes> struct nth_axis;
template <std::size_t K, class First, class... Rest> struct nth_axis<K, First, Rest...> : nth_axis<K - 1, Rest...> {};
template <class First, class... Rest> struct nth_axis<0, First, Rest...> {
    using type = First;
};

namespace detail {

template <axis_type... Axes> inline constexpr bool all_fixed = (!is_dynamic<Axes> && ...);

template <bool Fixed, class... Axes> struct lengths {
    static constexpr std::size_t value[sizeof...(Axes) + 1] = {Axes::size..., 1};
};
template <class... Axes> struct lengths<false, Axes...> {
    std::size_t value[sizeof...(Axes) + 1] = {(is_dynamic<Axes> ? 0 : Axes::size)..., 1};
};

} // namespace detail

/// Lengths of the axes `Axes...`. Default: dynamic axes have length 0.
template <axis_type... Axes> class extents : detail::lengths<detail::all_fixed<Axes...>, Axes...> {
public:
    static constexpr std::size_t rank = sizeof...(Axes);
    static constexpr bool fixed = detail::all_fixed<Axes...>;

    constexpr extents() = default;
    /// All lengths, in order; those of fixed axes must be what their types say, else shape_error.
    template <std::convertible_to<std::size_t>... Lengths>
        requires(sizeof...(Lengths) == sizeof...(Axes) && sizeof...(Axes) > 0)
    constexpr explicit extents(Lengths... lengths) {
        const std::size_t given[] = {static_cast<std::size_t>(lengths)...};
        const std::size_t typed[] = {Axes::size...};
        for (std::size_t k = 0; k < rank; ++k) {
            rules::length_of_fixed_axis::check(given[k], typed[k]);
            if constexpr (!fixed) this->value[k] = given[k];
        }
        // So that elements() cannot wrap around, and pass a small memory for a huge shape.
        std::size_t count = 1;
        for (const std::size_t length : given) {
            if (length != 0) rules::countable_elements::check(count, static_cast<std::size_t>(-1) / length);
            count *= length;
        }
    }

    /// Length of axis k.
    [[nodiscard]] constexpr std::size_t operator[](std::size_t k) const noexcept { return this->value[k]; }
    /// Product of the lengths.
    [[nodiscard]] constexpr std::size_t elements() const noexcept {
        std::size_t count = 1;
        for (std::size_t k = 0; k < rank; ++k) count *= this->value[k];
        return count;
    }
};

} // namespace attest
