// SPDX-License-Identifier: BSL-1.0
/// \file
/// The whole numbers of a printed line: whole_number("3*0+4*2=8", 4) is 8.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string_view>

namespace attest::proofs {

/// Number `index` of those that a line prints in digits. Throws std::out_of_range if there are not as many.
[[nodiscard]] constexpr int whole_number(std::string_view line, std::size_t index = 0) {
    const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
    for (std::size_t i = 0; i < line.size(); ++i) {
        if (!is_digit(line[i])) continue;
        int number = 0;
        for (; i < line.size() && is_digit(line[i]); ++i) number = 10 * number + (line[i] - '0');
        if (index-- == 0) return number;
    }
    throw std::out_of_range("not as many numbers in this line");
}

} // namespace attest::proofs
