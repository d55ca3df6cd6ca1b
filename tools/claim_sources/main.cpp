// SPDX-License-Identifier: BSL-1.0
// Where the proof of each claim stands: reads proofs/ and prints a line for each, {"A015", "proofs/attention.cpp", 57}, for the program to include. So
// `attest claims` names lines without building the proofs; tests/ledger compares them with those that the compiler has noted in the built ones.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <regex>
#include <string>

namespace {

namespace fs = std::filesystem;

struct place {
    std::string file;
    std::ptrdiff_t line;
};

std::string text_of(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) throw std::runtime_error("cannot read " + path.string());
    return {std::istreambuf_iterator<char>(file), {}};
}

// Each match of `pattern`, whose first group is an id, by the line on which the id stands.
void collect(std::map<std::string, place>& places, const fs::path& root, const fs::path& path, const std::regex& pattern) {
    const std::string text = text_of(path);
    for (std::sregex_iterator match(text.begin(), text.end(), pattern), end; match != end; ++match) {
        const std::ptrdiff_t line = 1 + std::count(text.begin(), text.begin() + match->position(1), '\n');
        const auto [at, is_new] = places.try_emplace((*match)[1], place{fs::relative(path, root).generic_string(), line});
        if (!is_new) throw std::runtime_error((*match)[1].str() + " stands twice: in " + at->second.file + " and in " + path.string());
    }
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 2) {
        std::cerr << "usage: claim_sources ROOT\n";
        return 2;
    }
    try {
        const fs::path root = argv[1];
        std::map<std::string, place> places, entries; // of the proofs; of the ledger, where there is no proof
        for (const auto& item : fs::recursive_directory_iterator(root / "proofs" / "claims"))
            if (item.path().extension() == ".hpp") collect(entries, root, item.path(), std::regex(R"re(\.id = "([ABE]\d{3})")re"));
        for (const auto& item : fs::recursive_directory_iterator(root / "proofs"))
            if (item.path().extension() == ".cpp") collect(places, root, item.path(), std::regex(R"re(\bentry\s+\w+\s*=\s*settle\(\s*"([ABE]\d{3})")re"));
        places.merge(entries);
        for (const auto& [id, at] : places) std::cout << "{\"" << id << "\", \"" << at.file << "\", " << at.line << "},\n";
    } catch (const std::exception& error) {
        std::cerr << "claim_sources: " << error.what() << '\n';
        return 1;
    }
}
