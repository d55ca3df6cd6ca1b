// SPDX-License-Identifier: BSL-1.0
/// \file
/// What the first two rungs say of an element, in the doubles that they say it in: most elements are settled by those alone.
#pragma once

#include "attest/oracle/rounding.hpp"

namespace attest {

/// The exact value lies within `radius` of high + low, |low| <= 2^−53 |high|. All are finite.
struct ball_in_doubles {
    double high = 0, low = 0, radius = 0;

    /// high + low to 192 bits, and the radius with what that leaves out.
    [[nodiscard]] exact_number exact() const { return low == 0 ? exact_number(high) : exact_number(high) + exact_number(low); }
    [[nodiscard]] exact_number exact_radius() const {
        if (low == 0) return exact_number(radius);
        const exact_number sum = exact();
        return exact_number(radius) + (sum - exact_number(high) == exact_number(low) ? exact_number(0) : abs(ldexp(sum, -190)));
    }
};

} // namespace attest
