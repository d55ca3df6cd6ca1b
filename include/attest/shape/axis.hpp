// SPDX-License-Identifier: BSL-1.0
/// \file
/// Axes: the dimensions of a tensor are types, so that a compiler prints their names, and two axes of equal length do not mix by accident.
///
/// ```cpp
/// struct n   : attest::axis<3> {};                 // a named axis of length 3
/// struct d_k : attest::axis<64> {};
/// struct m   : attest::axis<attest::dynamic> {};   // a named axis whose length is known at run time
/// ```
#pragma once

#include <concepts>
#include <cstddef>
#include <type_traits>

namespace attest {

/// The length of an axis that is known at run time alone.
inline constexpr std::size_t dynamic = static_cast<std::size_t>(-1);

/// An axis of the given length. Derive from it to name the axis; `axis<N>` itself is anonymous.
template <std::size_t Size> struct axis {
    static constexpr std::size_t size = Size;
};

/// A type that is, or derives from, `axis<N>`.
template <class A>
concept axis_type = requires { A::size; } && std::derived_from<A, axis<A::size>>;

/// `axis<N>` itself carries no name, and meets any axis of its length.
template <axis_type A> inline constexpr bool is_anonymous = std::same_as<A, axis<A::size>>;

template <axis_type A> inline constexpr bool is_dynamic = A::size == dynamic;

/// True unless both lengths are known to the compiler and differ.
template <axis_type A, axis_type B>
inline constexpr bool lengths_may_agree = is_dynamic<A> || is_dynamic<B> || A::size == B::size;

/// True if a name does not keep the two apart: they are the same axis, or one of them has no name.
template <axis_type A, axis_type B>
inline constexpr bool names_agree = std::same_as<A, B> || is_anonymous<A> || is_anonymous<B>;

/// Two axes meet if they may stand for the same index: names and lengths agree. Lengths that are known at run time alone are compared then.
template <axis_type A, axis_type B> inline constexpr bool meets = lengths_may_agree<A, B> && names_agree<A, B>;

/// The axis of a result in which A and B meet: the named one over the anonymous one, else the fixed one over the dynamic one.
template <axis_type A, axis_type B>
using joined = std::conditional_t<!is_anonymous<A>, A,
                                  std::conditional_t<!is_anonymous<B>, B, std::conditional_t<!is_dynamic<A>, A, B>>>;

} // namespace attest
