// SPDX-License-Identifier: BSL-1.0
/// \file
/// attest's side of the comparison, as plain data: attest itself is compiled in attest_values.cpp and attest_rungs.cpp alone.
#pragma once

#include "question.hpp"

#include <array>
#include <cstdint>

namespace independent {

/// ±2^exponent · Σ 2^(64 i) limbs_i, exactly; or what is no number.
struct real_number {
    bool is_nan = false, negative = false;
    int infinite = 0; ///< −1, 0 or 1
    std::int64_t exponent = 0;
    std::vector<std::uint64_t> limbs;
};

/// What attest says of one element: it lies within `radius` of `middle`.
struct claim {
    std::size_t position; ///< in the layout of the question
    const char* from;     ///< evaluate, or a rung of the ladder: decided, double, double_double, real
    bool last;            ///< the last word on this element
    real_number middle, radius;
    std::array<double, format_count> low, high; ///< both ends, as attest rounds them to each format
};
struct claims {
    std::string name;
    std::vector<std::size_t> shape; ///< in the layout of the question
    std::vector<claim> all;
};

/// The settings, as keys and values.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> settings_text(const question& asked);

/// The outputs of that name, by `attest::evaluate`: a claim for each element. Throws what attest throws.
[[nodiscard]] std::vector<claims> values_of_attest(const question& asked, const std::vector<std::string>& wanted);

/// All wanted outputs up the ladder: a claim for each element and rung, until it rounds to one number in every format. `every_rung`: on all rungs, up to 768 bits.
[[nodiscard]] std::vector<claims> rungs_of_attest(const question& asked, bool every_rung);

} // namespace independent
