// SPDX-License-Identifier: BSL-1.0
// Every report that the docs show is the program's own: a block after a line `<!-- output: ARGUMENTS -->` must be what `attest ARGUMENTS` prints.
// With ATTEST_WRITE_OUTPUTS=1 in the environment the test writes the blocks instead; look at the difference before you commit it.
#include "catch.hpp"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

namespace {

std::string read(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

// What the program prints, without the line of seconds, which differs from run to run, and without that of the build.
std::string output_of(const std::string& arguments) {
    const std::string command = std::string("cd '") + ATTEST_SOURCE_DIR + "' && '" + ATTEST_PROGRAM + "' " + arguments + " 2>&1";
    const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
    std::string text;
    std::array<char, 4096> part{};
    while (const std::size_t got = std::fread(part.data(), 1, part.size(), pipe.get())) text.append(part.data(), got);
    std::istringstream lines(text);
    std::string kept;
    for (std::string line; std::getline(lines, line);)
        if (line.find(" s for the exact values, ") == std::string::npos && line.find("compiled with this program") == std::string::npos) kept += line + "\n";
    while (kept.size() > 1 && kept[kept.size() - 2] == '\n') kept.pop_back();
    return kept;
}

std::vector<std::filesystem::path> pages() {
    std::vector<std::filesystem::path> found{std::filesystem::path(ATTEST_SOURCE_DIR) / "README.md"};
    for (const auto& entry : std::filesystem::directory_iterator(std::filesystem::path(ATTEST_SOURCE_DIR) / "docs"))
        if (entry.path().extension() == ".md") found.push_back(entry.path());
    return found;
}

} // namespace

TEST_CASE("the reports that the docs show are the program's") {
    const bool write = std::getenv("ATTEST_WRITE_OUTPUTS") != nullptr;
    const std::string open = "<!-- output: ", end_of_arguments = " -->\n```\n", close = "```\n";
    std::size_t checked = 0;
    for (const auto& page : pages()) {
        const std::string text = read(page);
        std::string rewritten;
        std::size_t from = 0;
        for (std::size_t at = text.find(open); at != std::string::npos; at = text.find(open, at + 1)) {
            const std::size_t arguments_at = at + open.size(), arguments_end = text.find(end_of_arguments, at);
            const std::size_t start = arguments_end + end_of_arguments.size(), end = text.find(close, start);
            INFO(page.string() << ", byte " << at);
            REQUIRE((arguments_end != std::string::npos && end != std::string::npos));
            const std::string arguments = text.substr(arguments_at, arguments_end - arguments_at), real = output_of(arguments);
            INFO("attest " << arguments);
            if (!write) CHECK(text.substr(start, end - start) == real);
            rewritten += text.substr(from, start - from) + real;
            from = end;
            ++checked;
        }
        if (write && from != 0) std::ofstream(page, std::ios::binary) << rewritten << text.substr(from);
    }
    CHECK(checked >= 2);
}
