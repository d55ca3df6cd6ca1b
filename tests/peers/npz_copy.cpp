// SPDX-License-Identifier: BSL-1.0
// Reads a .npz or .npy and writes what it understood as another: the program that npz_round_trip.py runs.
//   npz_copy [--compress] IN OUT
#include "attest/io/npz.hpp"

#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

int main(int count, char** arguments) {
    std::vector<std::string> words(arguments + 1, arguments + count);
    const bool compress = !words.empty() && words[0] == "--compress";
    if (compress) words.erase(words.begin());
    if (words.size() != 2) {
        (void)std::fputs("usage: npz_copy [--compress] IN OUT\n", stderr);
        return 2;
    }
    try {
        std::vector<std::string> warnings;
        if (words[0].ends_with(".npy")) {
            attest::write_npy(words[1], attest::read_npy(words[0], &warnings));
        } else {
            const attest::archive content = attest::read_npz(words[0]);
            warnings = content.warnings;
            attest::write_npz(words[1], content, compress);
        }
        for (const std::string& line : warnings) (void)std::fprintf(stderr, "warning: %s\n", line.c_str());
    } catch (const attest::file_error& error) {
        (void)std::fprintf(stderr, "%s\n", error.what());
        return 2;
    }
    return 0;
}
