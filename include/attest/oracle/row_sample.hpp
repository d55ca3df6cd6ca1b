// SPDX-License-Identifier: BSL-1.0
/// \file
/// A random sample of rows, for outputs that are too long to check whole: the same rows for the same seed, everywhere.
#pragma once

#include "attest/question/usage_error.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace attest {

/// So many rows, chosen by a generator that starts from the seed.
struct row_sample {
    std::size_t count = 0;
    std::uint64_t seed = 0;

    friend bool operator==(const row_sample&, const row_sample&) = default;
};

namespace detail {

// SplitMix64 (Steele, Lea, Flood 2014, 10.1145/2660193.2660195).
class row_generator {
public:
    explicit row_generator(std::uint64_t seed) : state_{seed} {}
    /// Uniform in 0 … bound − 1: what would favour the first numbers is drawn again.
    std::uint64_t below(std::uint64_t bound) {
        const std::uint64_t unfair = (0 - bound) % bound; // 2^64 mod bound
        for (;;)
            if (const std::uint64_t drawn = next(); drawn >= unfair) return drawn % bound;
    }

private:
    std::uint64_t next() {
        std::uint64_t z = state_ += 0x9e3779b97f4a7c15U;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
        return z ^ (z >> 31);
    }
    std::uint64_t state_;
};

// The digits as a number below 2^64, or nothing.
inline std::optional<std::uint64_t> whole_number(std::string_view digits) {
    if (digits.empty()) return std::nullopt;
    std::uint64_t number = 0;
    for (const char c : digits) {
        if (c < '0' || c > '9') return std::nullopt;
        const auto digit = static_cast<std::uint64_t>(c - '0');
        if (number > (UINT64_MAX - digit) / 10) return std::nullopt;
        number = 10 * number + digit;
    }
    return number;
}

} // namespace detail

/// `count` distinct rows of `total`, ascending, every set of them equally likely; all rows if there are no more than `count`. (Floyd's sampling: Bentley
/// and Floyd 1987, 10.1145/30401.315746.)
[[nodiscard]] inline std::vector<std::size_t> sampled_rows(std::size_t total, const row_sample& sample) {
    std::vector<std::size_t> rows;
    if (sample.count >= total) {
        for (std::size_t row = 0; row < total; ++row) rows.push_back(row);
        return rows;
    }
    detail::row_generator random(sample.seed);
    std::set<std::size_t> chosen;
    for (std::size_t last = total - sample.count; last < total; ++last)
        if (!chosen.insert(static_cast<std::size_t>(random.below(last + 1))).second) chosen.insert(last);
    rows.assign(chosen.begin(), chosen.end());
    return rows;
}

/// "all" (nothing), or "sample:N" and "sample:N,seed=S" with N >= 1; the seed is 0 if it is not given. usage_error for anything else.
[[nodiscard]] inline std::optional<row_sample> parse_rows(std::string_view text) {
    if (text == "all") return std::nullopt;
    const std::string_view start = "sample:", seed = ",seed=";
    if (text.substr(0, start.size()) == start) {
        const std::string_view rest = text.substr(start.size());
        const std::size_t comma = rest.find(seed);
        const auto count = detail::whole_number(rest.substr(0, comma));
        const auto number = comma == std::string_view::npos ? std::optional<std::uint64_t>(0) : detail::whole_number(rest.substr(comma + seed.size()));
        if (count && *count > 0 && *count <= SIZE_MAX && number) return row_sample{static_cast<std::size_t>(*count), *number};
    }
    throw usage_error("--rows " + std::string(text.substr(0, 80)) +
                      ": expected all, sample:N or sample:N,seed=S, such as sample:64 or sample:64,seed=1 (N is 1 or greater)");
}

} // namespace attest
