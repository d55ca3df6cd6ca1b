// SPDX-License-Identifier: BSL-1.0
/// \file
/// Which known name a mistyped one is nearest to.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace attest::detail {

// What stays of a name when case and separators are taken away.
inline std::string bare_name(std::string_view name) {
    std::string bare;
    for (const char c : name)
        if (c != '_' && c != '-' && c != '.' && c != ' ' && c != '/') bare += static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
    return bare;
}

inline std::string listed(const std::vector<std::string_view>& names) {
    std::string text;
    for (const std::string_view name : names) text += (text.empty() ? "" : ", ") + std::string(name);
    return text;
}

// How many characters must be added, dropped, replaced or swapped with their neighbour to make b of a; counted up to `most`, then most + 1.
inline std::size_t edits_between(std::string_view a, std::string_view b, std::size_t most) {
    if (a.size() > b.size() + most || b.size() > a.size() + most) return most + 1;
    std::vector<std::vector<std::size_t>> edits(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
    for (std::size_t i = 0; i <= a.size(); ++i)
        for (std::size_t j = 0; j <= b.size(); ++j) {
            if (i == 0 || j == 0) {
                edits[i][j] = i + j;
                continue;
            }
            edits[i][j] = std::min({edits[i - 1][j] + 1, edits[i][j - 1] + 1, edits[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) edits[i][j] = std::min(edits[i][j], edits[i - 2][j - 2] + 1);
        }
    return std::min(edits[a.size()][b.size()], most + 1);
}

// The known name that a mistyped one is nearest to, or nothing. Short names are too close to each other to guess, unless only case or separators differ.
inline std::string_view nearest(std::string_view name, const std::vector<std::string_view>& known) {
    const std::string bare = bare_name(name);
    for (const std::string_view candidate : known)
        if (!bare.empty() && bare_name(candidate) == bare) return candidate;
    if (name.size() > 100) return {};
    std::size_t least = name.size() >= 8 ? 3 : name.size() >= 4 ? 2 : 0; // must be below
    std::string_view found;
    for (const std::string_view candidate : known)
        if (const std::size_t edits = least == 0 ? 1 : edits_between(name, candidate, least); edits < least) {
            least = edits;
            found = candidate;
        }
    return found;
}

// " (did you mean X?)", or nothing.
inline std::string did_you_mean(std::string_view name, const std::vector<std::string_view>& known) {
    const std::string_view guess = nearest(name, known);
    return guess.empty() ? "" : " (did you mean " + std::string(guess) + "?)";
}

} // namespace attest::detail
