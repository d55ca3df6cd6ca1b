// SPDX-License-Identifier: BSL-1.0
// A number as it is printed, every digit derived from the exact number: from a fraction, or from an enclosure both of whose ends round alike.
#pragma once

#include "number.hpp"

#include <string>

namespace attest::worked {

struct printed {
    enum class kind {
        exact,       // what is printed is the number
        rounded,     // it is the number, correctly rounded (halves away from zero)
        tiny,        // correctly rounded, to zero; all that is known of the rest is that it is below 10^-1000
        undetermined // most_bits do not tell
    };
    kind is = kind::undetermined;
    std::string digits;                 // "-3.35", "?"
    std::optional<std::int64_t> power;  // of ten, behind the digits
    std::string above, below;           // of a fraction that the digits do not give exactly, if it is short

    [[nodiscard]] bool is_exact() const { return is == kind::exact; }
};

// With `decimals` digits after the point, fewer where that is exact; with as many significant digits and a power of ten where fewer than two significant
// digits would be left, or more than 21 stood before the point.
[[nodiscard]] printed print(const number& x, int decimals);

} // namespace attest::worked
