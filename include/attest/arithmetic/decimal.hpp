// SPDX-License-Identifier: BSL-1.0
/// \file
/// A number as it is printed, `0.66975`, kept exactly: digits · 10^−places.
#pragma once

#include <boost/multiprecision/cpp_int.hpp>
#include <stdexcept>
#include <string_view>

namespace attest {

/// digits / unit, with unit = 10^places: exactly the number that was printed.
template <class Z>
struct printed_decimal {
    Z digits = 0;
    Z unit = 1;

    /// Reads an optional sign, digits, and optionally a point and more digits: "8", "-0.5", "0.66975".
    /// Throws std::invalid_argument for anything else, std::overflow_error where Z is too narrow.
    [[nodiscard]] static constexpr printed_decimal read(std::string_view text) {
        printed_decimal result;
        const bool negative = !text.empty() && text.front() == '-';
        if (negative || (!text.empty() && text.front() == '+')) text.remove_prefix(1);
        bool after_point = false, digit_before = false;
        for (const char c : text) {
            if (c == '.' && digit_before && !after_point) {
                after_point = true;
                digit_before = false;
                continue;
            }
            if (c < '0' || c > '9')
                throw std::invalid_argument("not a decimal number: digits, with one point between them at most");
            digit_before = true;
            result.digits = result.digits * 10 + (c - '0');
            if (after_point) result.unit *= 10;
        }
        if (!digit_before) throw std::invalid_argument("not a decimal number: a digit is missing");
        if (negative) result.digits = -result.digits;
        return result;
    }
};

} // namespace attest
