// SPDX-License-Identifier: BSL-1.0
// Numbers as the docs print them.
#pragma once

#include "attest/shape/tensor.hpp"

#include <cstdio>
#include <string>

namespace docs {

inline std::string with_digits(double x, int digits) {
    char text[400];
    std::snprintf(text, sizeof text, "%.*f", digits, x);
    return text;
}
template <attest::vector_like X> std::string with_digits(const X& x, int digits) {
    std::string text;
    for (std::size_t i = 0; i < x.length(0); ++i) text += (i == 0 ? "" : ", ") + with_digits(static_cast<double>(x(i)), digits);
    return text;
}

} // namespace docs
