// SPDX-License-Identifier: BSL-1.0
/// \file
/// What an arithmetic may do to one element, before the final store.
#pragma once

#include "attest/arithmetic/power_of_two.hpp"

namespace attest {

/// Distances from the exact value, in double, raised by the slack of their own evaluation. Infinity: nothing can be said; 0: nothing is allowed.
struct element_limits {
    double certain = detail::infinity_of_double;  ///< no right kernel is farther off, whatever the order of its sums
    double expected = detail::infinity_of_double; ///< unbiased, independent errors rarely go beyond it (the false alarm); never above `certain`
    double beyond = detail::infinity_of_double;   ///< how far outside the hull of what the row's values can give a right kernel may be
};

} // namespace attest
