// SPDX-License-Identifier: BSL-1.0
// Tables of a page that a test makes: those between `<!-- table: NAME -->` and `<!-- end of table -->`. With ATTEST_WRITE_OUTPUTS=1 in the
// environment they are written instead of compared.
#pragma once

#include "catch.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

namespace docs {

inline void hold_tables(const std::filesystem::path& page, const std::vector<std::pair<std::string, std::string>>& tables) {
    const bool write = std::getenv("ATTEST_WRITE_OUTPUTS") != nullptr;
    std::ifstream file(page, std::ios::binary);
    std::string text{std::istreambuf_iterator<char>(file), {}};
    for (const auto& [name, rows] : tables) {
        const std::string open = "<!-- table: " + name + " -->\n", close = "<!-- end of table -->\n";
        const std::size_t at = text.find(open), start = at + open.size(), end = text.find(close, start);
        INFO(page.string() << ": " << name);
        REQUIRE(at != std::string::npos);
        REQUIRE(end != std::string::npos);
        if (write) text.replace(start, end - start, rows);
        else CHECK(text.substr(start, end - start) == rows);
    }
    if (write) std::ofstream(page, std::ios::binary) << text;
}

} // namespace docs
