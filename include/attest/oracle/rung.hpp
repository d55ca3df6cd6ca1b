// SPDX-License-Identifier: BSL-1.0
/// \file
/// The rungs of the ladder: by which of them an element's exact value was settled.
#pragma once

#include <cstddef>
#include <string_view>

namespace attest {

/// `decided` is no rung: the value follows from a rule (one visible key, a constant row, a tie of rational weights) and is exact.
enum class rung { decided, in_double, in_double_double, in_real };

[[nodiscard]] constexpr std::string_view name_of(rung r) noexcept {
    switch (r) {
    case rung::decided: return "decided";
    case rung::in_double: return "double";
    case rung::in_double_double: return "double_double";
    case rung::in_real: return "real";
    }
    return "?";
}

/// How many elements each rung settled; the decided ones are counted apart.
struct rung_counts {
    std::size_t in_double = 0, in_double_double = 0, in_real = 0;

    friend bool operator==(const rung_counts&, const rung_counts&) = default;
};

} // namespace attest
