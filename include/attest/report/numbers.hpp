// SPDX-License-Identifier: BSL-1.0
/// \file
/// How reports write numbers: shortest decimals that read back, hex floats, and the words for what is not finite.
#pragma once

#include <cmath>
#include <string>

#include <fmt/format.h>

namespace attest::report {

/// The shortest decimal that reads back to the same double: "0.1", "1e-05", "nan", "-inf".
[[nodiscard]] inline std::string shortest(double x) { return std::isnan(x) ? "nan" : fmt::format("{}", x); }

/// C's hex float: "0x1.8p-3"; "nan", "inf", "-inf" for what is not finite.
[[nodiscard]] inline std::string hex(double x) { return std::isfinite(x) ? fmt::format("{:a}", x) : shortest(x); }

/// A distance or limit in ULP: two decimals while they mean something, then powers of ten.
[[nodiscard]] inline std::string ulp_text(double ulp) {
    if (!std::isfinite(ulp)) return "infinitely many";
    return ulp < 1e6 ? fmt::format("{:.2f}", ulp) : fmt::format("{:.2e}", ulp);
}

/// "1e-9", "0.01".
[[nodiscard]] inline std::string probability(double p) {
    std::string text = shortest(p);
    for (std::size_t e = text.find("e-0"); e != std::string::npos && text.size() > e + 3; e = std::string::npos) text.erase(e + 2, 1);
    return text;
}

/// "27.3 %"; never "100.0 %" or "0.0 %" for a part that is not all or nothing.
[[nodiscard]] inline std::string percent(std::size_t part, std::size_t whole) {
    if (whole == 0) return "-";
    const double share = 100.0 * static_cast<double>(part) / static_cast<double>(whole);
    if (part != whole && share > 99.9) return "> 99.9 %";
    if (part != 0 && share < 0.1) return "< 0.1 %";
    return fmt::format("{:.1f} %", share);
}

/// A ratio of error to limit: "1.3 % of" below 1, "212 times" above.
[[nodiscard]] inline std::string share(double ratio) {
    if (!std::isfinite(ratio)) return "infinitely many times";
    if (ratio > 1) return ratio < 1e6 ? fmt::format("{:.3g} times", ratio) : fmt::format("{:.2e} times", ratio);
    return ratio != 0 && ratio < 0.001 ? "less than 0.1 % of" : fmt::format("{:.1f} % of", 100 * ratio);
}

} // namespace attest::report
