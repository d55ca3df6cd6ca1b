// SPDX-License-Identifier: BSL-1.0
// Files made byte by byte: what a writer should never write, and what a reader must still survive.
#pragma once

#include "attest/io/error.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace crafted {

using namespace std::string_literals;

/// What a refusal says; empty if `call` throws nothing.
template <class Call>
std::string refusal(Call&& call) {
    try {
        (void)call();
    } catch (const attest::file_error& error) { return error.what(); }
    return {};
}

/// Whether `text` is one line that holds all of `parts`.
inline bool says(std::string_view text, std::initializer_list<std::string_view> parts) {
    if (text.empty() || text.find('\n') != std::string_view::npos || !attest::is_utf8(text)) return false;
    for (const std::string_view part : parts)
        if (text.find(part) == std::string_view::npos) return false;
    return true;
}

inline std::span<const std::byte> bytes(const std::string& text) { return std::as_bytes(std::span{text}); }

inline std::string little(std::uint64_t value, std::size_t width) {
    std::string text;
    for (std::size_t i = 0; i < width; ++i, value >>= 8U) text += static_cast<char>(value & 255U);
    return text;
}

/// A `.npy` image: header and data as given, nothing checked.
inline std::string npy(const std::string& header, const std::string& data, int major = 1, int minor = 0) {
    return "\x93NUMPY"s + static_cast<char>(major) + static_cast<char>(minor) +
           little(header.size(), major == 1 ? 2 : 4) + header + data;
}

/// The dictionary with these values.
inline std::string dict(const std::string& descr, const std::string& shape, const std::string& fortran = "False") {
    return "{'descr': '" + descr + "', 'fortran_order': " + fortran + ", 'shape': " + shape + ", }\n";
}

inline std::uint32_t crc32(std::string_view data) {
    std::uint32_t crc = 0xFFFFFFFF;
    for (const char c : data) {
        crc ^= static_cast<unsigned char>(c);
        for (int i = 0; i < 8; ++i) crc = crc >> 1U ^ ((crc & 1U) != 0 ? 0xEDB88320U : 0U);
    }
    return ~crc;
}

/// Deflate without compression: one stored block.
inline std::string deflated(const std::string& data) {
    return "\x01"s + little(data.size(), 2) + little(~data.size(), 2) + data;
}

/// What one record of a member says, where it shall not be the truth.
struct record {
    std::optional<std::string> name = {};
    std::optional<std::uint16_t> flags = {};
    std::optional<std::uint16_t> method = {};
    std::optional<std::uint32_t> crc = {};
    std::optional<std::uint32_t> compressed = {};
    std::optional<std::uint32_t> size = {};
    std::optional<std::uint32_t> offset = {};
    std::string extra = {};
};

struct member {
    std::string name = {};
    std::string data = {};     ///< as it stands in the file
    std::string inflated = {}; ///< if the method is 8
    std::uint16_t method = 0;
    std::uint16_t flags = 0;
    record local = {};
    record central = {};
    std::string after = {}; ///< behind the data: a data descriptor, or junk
};

struct end_record {
    std::optional<std::uint16_t> entries = {};
    std::optional<std::uint32_t> size = {};
    std::optional<std::uint32_t> offset = {};
    std::optional<std::uint16_t> comment_length = {};
    std::string comment = {};
    std::string before = {}; ///< between directory and end record: ZIP64's records, or junk
};

/// The record that both headers share from `flags` to the lengths.
inline std::string shared(const member& item, const record& lie) {
    const std::string& plain = item.method == 8 ? item.inflated : item.data;
    return little(lie.flags.value_or(item.flags), 2) + little(lie.method.value_or(item.method), 2) + little(0, 2) +
           little(33, 2) + little(lie.crc.value_or(crc32(plain)), 4) +
           little(lie.compressed.value_or(static_cast<std::uint32_t>(item.data.size())), 4) +
           little(lie.size.value_or(static_cast<std::uint32_t>(plain.size())), 4) +
           little(lie.name.value_or(item.name).size(), 2) + little(lie.extra.size(), 2);
}

inline std::string zipped(const std::vector<member>& members, const end_record& end = {},
                          const std::string& prefix = {}) {
    std::string file = prefix;
    std::string directory;
    for (const member& item : members) {
        const auto offset = static_cast<std::uint32_t>(file.size());
        file += "PK\x03\x04" + little(20, 2) + shared(item, item.local) + item.local.name.value_or(item.name) +
                item.local.extra + item.data + item.after;
        directory += "PK\x01\x02" + little(20, 2) + little(20, 2) + shared(item, item.central) + little(0, 10) +
                     little(item.central.offset.value_or(offset), 4) + item.central.name.value_or(item.name) +
                     item.central.extra;
    }
    const std::size_t begin = file.size();
    const std::size_t count = end.entries.value_or(static_cast<std::uint16_t>(members.size()));
    return file + directory + end.before + "PK\x05\x06" + little(0, 4) + little(count, 2) + little(count, 2) +
           little(end.size.value_or(static_cast<std::uint32_t>(directory.size())), 4) +
           little(end.offset.value_or(static_cast<std::uint32_t>(begin)), 4) +
           little(end.comment_length.value_or(static_cast<std::uint16_t>(end.comment.size())), 2) + end.comment;
}

/// A stored member NAME.npy that holds the f4 numbers 1 and 2.
inline member numbers(const std::string& name) {
    return {.name = name, .data = npy(dict("<f4", "(2,)"), "\0\0\x80\x3f\0\0\0\x40"s)};
}

/// The same, deflated.
inline member deflated_numbers(const std::string& name) {
    const std::string image = numbers(name).data;
    return {.name = name, .data = deflated(image), .inflated = image, .method = 8};
}

/// A file's path in a folder for tests.
inline std::filesystem::path scratch(const std::string& name) {
#ifdef ATTEST_SCRATCH_DIR
    const std::filesystem::path folder = ATTEST_SCRATCH_DIR;
#else
    const std::filesystem::path folder = std::filesystem::temp_directory_path();
#endif
    std::filesystem::create_directories(folder);
    return folder / name;
}

} // namespace crafted
