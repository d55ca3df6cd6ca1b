// SPDX-License-Identifier: BSL-1.0
// The code that the docs show is code that these tests compile: a block after a line `<!-- snippet: PATH -->` must be the text between the
// markers `// [snippet]` and `// [/snippet]` of that file. And the pages of concepts have their sections in one order.
#include "catch.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace {

const std::filesystem::path root = ATTEST_SOURCE_DIR;

std::string text_of(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    INFO(path.string());
    REQUIRE(file.good());
    return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::filesystem::path> files_in(const std::filesystem::path& folder, const std::string& extension) {
    std::vector<std::filesystem::path> found;
    for (const auto& entry : std::filesystem::directory_iterator(folder))
        if (entry.path().extension() == extension) found.push_back(entry.path());
    std::sort(found.begin(), found.end());
    return found;
}

// The text between two marks, and where it ends; nothing if one of them is missing.
struct part {
    std::string text;
    std::size_t end = std::string::npos;
};
part between(const std::string& text, const std::string& open, const std::string& close, std::size_t from = 0) {
    const std::size_t start = text.find(open, from);
    if (start == std::string::npos) return {};
    const std::size_t end = text.find(close, start + open.size());
    if (end == std::string::npos) return {};
    return {text.substr(start + open.size(), end - start - open.size()), end};
}

const std::string marker = "// [snippet]\n", end_marker = "// [/snippet]\n";

} // namespace

TEST_CASE("the code that the docs show is compiled by a test", "[docs]") {
    std::vector<std::filesystem::path> pages = files_in(root / "docs", ".md");
    pages.push_back(root / "README.md");
    std::vector<std::string> shown;
    for (const auto& page : pages) {
        const std::string text = text_of(page);
        const std::string announcement = "<!-- snippet: ";
        for (std::size_t at = text.find(announcement); at != std::string::npos; at = text.find(announcement, at + 1)) {
            const part path = between(text, announcement, " -->\n```cpp\n", at);
            INFO(page.string() << ": " << path.text);
            REQUIRE(path.end != std::string::npos);
            REQUIRE(path.text.find('\n') == std::string::npos);
            const part block = between(text, "```cpp\n", "```\n", path.end);
            REQUIRE(block.end != std::string::npos);
            const part source = between(text_of(root / path.text), marker, end_marker);
            REQUIRE(source.end != std::string::npos);
            CHECK(block.text == source.text);
            shown.push_back(path.text);
        }
    }
    // And every snippet is shown somewhere.
    for (const auto& source : files_in(root / "tests/docs", ".cpp")) {
        if (source.filename() == "snippets.cpp" || text_of(source).find(marker) == std::string::npos) continue;
        INFO(source.string() << " is shown on no page");
        CHECK(std::count(shown.begin(), shown.end(), "tests/docs/" + source.filename().string()) == 1);
    }
}

namespace {
// Whether these headings stand on a page in this order, others between them or not.
void check_order(const std::filesystem::path& page, const std::vector<std::string>& sections) {
    const std::string text = text_of(page);
    std::size_t from = 0;
    for (const std::string& section : sections) {
        INFO(page.string() << ": " << section);
        const std::size_t at = text.find("\n## " + section + "\n", from);
        REQUIRE(at != std::string::npos);
        from = at;
    }
}
} // namespace

TEST_CASE("a concept's page has its sections in one order", "[docs]") {
    const auto concepts = files_in(root / "tests/docs/exercises", ".cpp");
    for (const auto& exercises : concepts)
        check_order(root / "docs" / (exercises.stem().string() + ".md"),
                    {"In the lectures", "Formula", "Shapes", "Code", "Proof", "Values", "Picture", "Conventions", "Domain and special values", "What goes wrong",
                     "Exercises", "Source"});
    CHECK(concepts.size() >= 14);
}

TEST_CASE("the other pages of headers have their sections in one order", "[docs]") {
    for (const auto& name : {"arithmetic.md", "fast.md", "matmul.md", "shapes.md"})
        check_order(root / "docs" / name, {"Formula", "Shapes", "Conventions", "Domain and special values", "Source", "Example"});
}
