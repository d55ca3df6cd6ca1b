// SPDX-License-Identifier: BSL-1.0
/// \file
/// A folder of `.npy` files: NAME.npy is the array NAME, as in a `.npz` that has been unpacked.
///
/// Folders in it are not entered. Files that end in `.json` become texts; any other is named in a warning and never
/// read.
#pragma once

#include "attest/io/archive.hpp"
#include "attest/io/byte_source.hpp"
#include "attest/io/npy.hpp"
#include "attest/io/zip_audit.hpp"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace attest {

inline constexpr std::size_t npy_folder_limit = 65536;              ///< a folder with more files is refused
inline constexpr std::uint64_t npy_folder_text_limit = 1024 * 1024; ///< bytes of a `.json` file

namespace npy_folder_detail {

/// The names in a folder, sorted by their bytes.
[[nodiscard]] inline std::vector<std::string> names_in(const std::filesystem::path& path) {
    const std::string where = path.string();
    std::error_code error;
    const std::filesystem::file_status status = std::filesystem::status(path, error);
    if (status.type() == std::filesystem::file_type::not_found) throw file_error(where, "no such folder");
    if (error) throw file_error(where, "cannot be read: " + error.message());
    if (status.type() != std::filesystem::file_type::directory) throw file_error(where, "is not a folder", "a folder");
    std::vector<std::string> names;
    std::filesystem::directory_iterator entry(path, error);
    for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
        if (names.size() == npy_folder_limit)
            throw file_error(where, "folder with more than " + std::to_string(npy_folder_limit) + " files", "fewer");
        names.push_back(entry->path().filename().string());
    }
    if (error) throw file_error(where, "cannot be read: " + error.message());
    std::sort(names.begin(), names.end());
    return names;
}

[[nodiscard]] inline std::string read_text(byte_source& source, const std::string& where) {
    if (source.size() > npy_folder_text_limit)
        throw file_error(where, "text of " + std::to_string(source.size()) + " bytes",
                         "at most " + std::to_string(npy_folder_text_limit));
    std::string text(static_cast<std::size_t>(source.size()), '\0');
    source.read(0, std::as_writable_bytes(std::span{text}));
    return text;
}

} // namespace npy_folder_detail

/// Reads a folder: NAME.npy as the array NAME, sorted by name. The files may be symbolic links.
/// \throws file_error if the folder cannot be read, has no `.npy` or more than 65536 files, if a name is one that a
///         `.npz` may not have, if a `.json` exceeds 1 MiB, and as read_npy for each array
[[nodiscard]] inline archive read_npy_folder(const std::filesystem::path& path) {
    archive result;
    for (const std::string& name : npy_folder_detail::names_in(path)) {
        const std::filesystem::path file = path / name;
        const std::string where = file.string();
        const bool npy = std::string_view{name}.ends_with(".npy");
        if (!npy && !std::string_view{name}.ends_with(".json")) {
            result.warnings.push_back(member_of(path.string(), name) + ": not an array, ignored");
            continue;
        }
        std::string unsafe = unsafe_member_name(name);
        if (name == ".npy") unsafe = "has nothing before .npy";
        if (!unsafe.empty()) throw file_error(where, "unsafe name: it " + unsafe, "NAME.npy");
        std::error_code ignored;
        if (std::filesystem::is_symlink(file, ignored) && !std::filesystem::exists(file, ignored))
            throw file_error(where, "is a symbolic link to no file", "a file");
        if (npy) {
            result.arrays.push_back({name.substr(0, name.size() - 4), read_npy(file, &result.warnings)});
        } else {
            file_source source(file);
            result.texts.emplace_back(name, npy_folder_detail::read_text(source, where));
        }
    }
    if (result.arrays.empty())
        throw file_error(path.string(), "folder without a .npy file", "NAME.npy for each tensor");
    return result;
}

} // namespace attest
