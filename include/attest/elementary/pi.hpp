// SPDX-License-Identifier: BSL-1.0
/// \file
/// `attest::pi<S>()`: π in the arithmetic S.
#pragma once

#include <concepts>

namespace attest {

/// A scalar that has π: double, float, and whatever has a static member `pi()`.
template <class S>
concept has_pi = std::same_as<S, double> || std::same_as<S, float> || requires {
    { S::pi() } -> std::convertible_to<S>;
};

/// π. double, float: correctly rounded. A scalar of your own: give it a static member function `pi()`.
template <class S>
[[nodiscard]] constexpr S pi() {
    static_assert(has_pi<S>, "pi needs a scalar that has it: give it a static member function pi()");
    if constexpr (std::same_as<S, double> || std::same_as<S, float>)
        return static_cast<S>(0x1.921fb54442d18p+1);
    else if constexpr (has_pi<S>)
        return S::pi();
    else
        return S(3); // the compiler has spoken
}

} // namespace attest
