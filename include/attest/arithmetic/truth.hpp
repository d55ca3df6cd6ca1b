// SPDX-License-Identifier: BSL-1.0
/// \file
/// `truth`: the answer to a question about a number that is known only to lie in an interval.
#pragma once

namespace attest {

/// Yes and no hold for every point of the interval; unknown means that its points disagree. Not convertible to bool:
/// `if (x < y)` does not compile.
enum class truth { no, unknown, yes };

/// Is it proved?
[[nodiscard]] constexpr bool surely(truth t) noexcept { return t == truth::yes; }
/// Is it not disproved?
[[nodiscard]] constexpr bool possibly(truth t) noexcept { return t != truth::no; }
/// The other way round; unknown stays unknown.
[[nodiscard]] constexpr truth operator!(truth t) noexcept {
    return t == truth::yes ? truth::no : t == truth::no ? truth::yes : truth::unknown;
}

} // namespace attest
