// SPDX-License-Identifier: BSL-1.0
/// \file
/// The records of a zip file as they stand in it: where the central directory is, and what it and the local headers
/// say.
///
/// Numbers are those of PKWARE's APPNOTE.TXT 6.3.10, sections 4.3 to 4.5. Nothing here decides whether the records
/// agree: that is `zip_audit.hpp`.
#pragma once

#include "attest/io/byte_source.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace attest {

/// What one record (an entry of the central directory, or a local header) says of a member.
struct zip_entry {
    std::string name; ///< as stored, byte for byte
    std::uint16_t flags = 0;
    std::uint16_t method = 0;
    std::uint32_t crc = 0;
    std::uint64_t compressed = 0; ///< bytes in the file
    std::uint64_t size = 0;       ///< bytes when inflated
    std::uint64_t offset = 0;     ///< of the local header (central directory only)
    std::uint64_t data = 0;       ///< where the member's bytes begin (local headers, and the audit's result)
    bool zip64 = false;           ///< has a ZIP64 extra field
};

/// Where the central directory is.
struct zip_directory {
    std::uint64_t entries = 0;
    std::uint64_t offset = 0;
    std::uint64_t size = 0;
};

inline constexpr std::uint64_t zip_directory_limit = std::uint64_t{64} << 20U; ///< bytes of a central directory

namespace zip_detail {

inline constexpr std::uint32_t local_signature = 0x04034b50;
inline constexpr std::uint32_t entry_signature = 0x02014b50;
inline constexpr std::uint32_t descriptor_signature = 0x08074b50;
inline constexpr std::uint32_t end_signature = 0x06054b50;
inline constexpr std::uint32_t end64_signature = 0x06064b50;
inline constexpr std::uint32_t locator_signature = 0x07064b50;
inline constexpr std::uint16_t marker16 = 0xFFFF;     ///< "see the ZIP64 record"
inline constexpr std::uint32_t marker32 = 0xFFFFFFFF; ///< "see the ZIP64 extra field"
inline constexpr std::size_t local_size = 30;
inline constexpr std::size_t entry_size = 46;
inline constexpr std::size_t end_size = 22;
inline constexpr std::size_t locator_size = 20;
inline constexpr std::size_t end64_size = 56;

/// Little-endian numbers at fixed places of a record. Whoever asks has checked that they lie inside.
class record {
public:
    explicit record(std::span<const std::byte> bytes) : bytes_(bytes) {}
    [[nodiscard]] std::uint16_t u16(std::size_t at) const { return static_cast<std::uint16_t>(number(at, 2)); }
    [[nodiscard]] std::uint32_t u32(std::size_t at) const { return static_cast<std::uint32_t>(number(at, 4)); }
    [[nodiscard]] std::uint64_t u64(std::size_t at) const { return number(at, 8); }

private:
    [[nodiscard]] std::uint64_t number(std::size_t at, std::size_t width) const {
        std::uint64_t value = 0;
        while (width-- > 0) value = value << 8U | std::to_integer<std::uint64_t>(bytes_[at + width]);
        return value;
    }
    std::span<const std::byte> bytes_;
};

[[nodiscard]] inline std::vector<std::byte> read_bytes(byte_source& source, std::uint64_t offset, std::size_t count) {
    std::vector<std::byte> bytes(count);
    source.read(offset, bytes);
    return bytes;
}

[[nodiscard]] inline std::string text_of(std::span<const std::byte> bytes) {
    std::string text(bytes.size(), '\0');
    std::transform(bytes.begin(), bytes.end(), text.begin(), [](std::byte b) { return static_cast<char>(b); });
    return text;
}

/// Takes from the extra field what a record's 32-bit numbers leave to it. `wanted` are the numbers that may be there,
/// in their fixed order; those that hold the marker are replaced. \returns whether there is a ZIP64 field
inline bool read_zip64(std::span<const std::byte> extra, std::span<std::uint64_t* const> wanted,
                       const std::string& where) {
    std::optional<std::span<const std::byte>> field;
    while (!extra.empty()) {
        const std::size_t length = extra.size() < 4 ? 0 : record(extra).u16(2);
        if (extra.size() < 4 + length)
            throw file_error(where, "extra field broken: " + std::to_string(extra.size()) +
                                        " bytes are left for one of " + std::to_string(4 + length));
        if (record(extra).u16(0) == 1) {
            if (field) throw file_error(where, "two ZIP64 extra fields", "one");
            field = extra.subspan(4, length);
        }
        extra = extra.subspan(4 + length);
    }
    std::size_t at = 0;
    const std::size_t length = field ? field->size() : 0;
    for (std::uint64_t* const number : wanted) {
        if (*number != marker32) continue;
        if (!field) continue; // then it is the number itself
        if (at + 8 > length)
            throw file_error(where, "ZIP64 extra field short: " + std::to_string(length) + " bytes, at least " +
                                        std::to_string(at + 8) + " needed");
        *number = record(*field).u64(at);
        at += 8;
    }
    return field.has_value();
}

/// The end record of a ZIP64 file, which the ordinary one at `end` points to through its locator; nothing if there is
/// none.
[[nodiscard]] inline std::optional<zip_directory> find_directory64(byte_source& source, std::uint64_t end,
                                                                   std::string_view where) {
    if (end < locator_size) return std::nullopt;
    const std::vector<std::byte> bytes = read_bytes(source, end - locator_size, locator_size);
    const record locator(bytes);
    if (locator.u32(0) != locator_signature) return std::nullopt;
    const std::uint64_t at = locator.u64(8);
    const std::uint64_t limit = end - locator_size;
    if (locator.u32(4) != 0 || locator.u32(16) > 1) throw file_error(where, "zip in several parts", "one file");
    if (at > limit || limit - at < end64_size)
        throw file_error(where, "not a zip: ZIP64 end record at " + std::to_string(at) + ", which must end at " +
                                    std::to_string(limit));
    const std::vector<std::byte> bytes64 = read_bytes(source, at, end64_size);
    const record end64(bytes64);
    if (end64.u32(0) != end64_signature)
        throw file_error(where,
                         "not a zip: no ZIP64 end record at " + std::to_string(at) + ", where its locator points");
    if (end64.u64(4) != limit - at - 12)
        throw file_error(where, "not a zip: ZIP64 end record says " + std::to_string(end64.u64(4)) + " bytes",
                         std::to_string(limit - at - 12));
    if (end64.u32(16) != 0 || end64.u32(20) != 0 || end64.u64(24) != end64.u64(32))
        throw file_error(where, "zip in several parts", "one file");
    const zip_directory directory{end64.u64(32), end64.u64(48), end64.u64(40)};
    if (directory.offset > at || at - directory.offset != directory.size)
        throw file_error(where,
                         "not a zip: central directory at " + std::to_string(directory.offset) + " of " +
                             std::to_string(directory.size) + " bytes",
                         "it to end at the ZIP64 end record, at " + std::to_string(at));
    return directory;
}

/// Finds the end record: the one place among the last 65 557 bytes whose comment ends where the file ends.
[[nodiscard]] inline std::uint64_t find_end(byte_source& source, std::string_view where) {
    const std::uint64_t total = source.size();
    const auto window = static_cast<std::size_t>(std::min<std::uint64_t>(total, end_size + marker16));
    const std::string not_zip = "not a zip, " + std::to_string(total) + " bytes: ";
    if (total < end_size) throw file_error(where, not_zip + "too short", "at least " + std::to_string(end_size));
    const std::uint64_t begin = total - window;
    const std::vector<std::byte> bytes = read_bytes(source, begin, window);
    std::optional<std::uint64_t> found;
    std::string lie;
    for (std::size_t i = 0; i + end_size <= window; ++i) {
        const record end(std::span{bytes}.subspan(i));
        if (end.u32(0) != end_signature) continue;
        const std::size_t rest = window - i - end_size;
        if (end.u16(20) != rest) {
            lie = "the end record at " + std::to_string(begin + i) + " says a comment of " +
                  std::to_string(end.u16(20)) + " bytes, " + std::to_string(rest) + " follow";
            continue;
        }
        if (found)
            throw file_error(
                where, not_zip + "two end records, at " + std::to_string(*found) + " and " + std::to_string(begin + i),
                "one");
        found = begin + i;
    }
    if (!found)
        throw file_error(where, not_zip + (lie.empty() ? "no end record" : lie), "a zip's end record at the end, which a file that was cut off has lost: write or copy it again");
    return *found;
}

/// Finds the central directory, which must end where the end record (or ZIP64's) begins.
[[nodiscard]] inline zip_directory find_directory(byte_source& source, std::string_view where) {
    const std::uint64_t at = find_end(source, where);
    const std::vector<std::byte> bytes = read_bytes(source, at, end_size);
    const record end(bytes);
    const std::optional<zip_directory> directory64 = find_directory64(source, at, where);
    const auto agrees = [](std::uint64_t small, std::uint64_t marker, std::uint64_t big) {
        return small == marker || small == big;
    };
    if (directory64) {
        if (!agrees(end.u16(10), marker16, directory64->entries) || !agrees(end.u32(12), marker32, directory64->size) ||
            !agrees(end.u32(16), marker32, directory64->offset))
            throw file_error(where,
                             "not a zip: its end record says " + std::to_string(end.u16(10)) +
                                 " members, directory of " + std::to_string(end.u32(12)) + " bytes at " +
                                 std::to_string(end.u32(16)) + ", its ZIP64 record " +
                                 std::to_string(directory64->entries) + ", " + std::to_string(directory64->size) +
                                 " and " + std::to_string(directory64->offset),
                             "both the same");
        return *directory64;
    }
    if (end.u16(4) != 0 || end.u16(6) != 0 || end.u16(8) != end.u16(10))
        throw file_error(where, "zip in several parts", "one file");
    const zip_directory directory{end.u16(10), end.u32(16), end.u32(12)};
    const std::uint64_t stop = directory.offset + directory.size;
    if (stop != at)
        throw file_error(
            where,
            "not a zip: central directory of " + std::to_string(directory.size) + " bytes at " +
                std::to_string(directory.offset) + ", end record at " + std::to_string(at) +
                (stop < at ? " (" + std::to_string(at - stop) + " bytes of something else before or between)" : ""),
            "one to end where the other begins");
    return directory;
}

/// Reads the entries of the central directory; they must fill it.
[[nodiscard]] inline std::vector<zip_entry> read_entries(byte_source& source, const zip_directory& directory,
                                                         std::string_view where) {
    if (directory.size > zip_directory_limit)
        throw file_error(where, "central directory of " + std::to_string(directory.size) + " bytes",
                         "at most " + std::to_string(zip_directory_limit));
    if (directory.entries > directory.size / entry_size)
        throw file_error(where,
                         std::to_string(directory.entries) + " members in a central directory of " +
                             std::to_string(directory.size) + " bytes",
                         "at least " + std::to_string(entry_size) + " bytes each");
    const std::vector<std::byte> bytes = read_bytes(source, directory.offset, static_cast<std::size_t>(directory.size));
    std::vector<zip_entry> entries;
    std::span<const std::byte> rest = bytes;
    for (std::uint64_t i = 0; i < directory.entries; ++i) {
        const record head(rest);
        if (rest.size() < entry_size || head.u32(0) != entry_signature)
            throw file_error(where, "central directory broken: no entry " + std::to_string(i + 1) + " of " +
                                        std::to_string(directory.entries));
        const std::size_t name = head.u16(28);
        const std::size_t extra = head.u16(30);
        const std::size_t length = entry_size + name + extra + head.u16(32);
        if (rest.size() < length)
            throw file_error(where, "central directory broken: entry " + std::to_string(i + 1) + " takes " +
                                        std::to_string(length) + " bytes, " + std::to_string(rest.size()) +
                                        " are left");
        zip_entry entry;
        entry.name = text_of(rest.subspan(entry_size, name));
        entry.flags = head.u16(8);
        entry.method = head.u16(10);
        entry.crc = head.u32(16);
        entry.compressed = head.u32(20);
        entry.size = head.u32(24);
        const std::uint64_t disk = head.u16(34);
        entry.offset = head.u32(42);
        const std::string member = member_of(where, entry.name);
        std::uint64_t* const wanted[] = {&entry.size, &entry.compressed,
                                         &entry.offset}; // their order in the ZIP64 field
        entry.zip64 = read_zip64(rest.subspan(entry_size + name, extra), wanted, member);
        if (disk != 0 && disk != marker16)
            throw file_error(member, "in part " + std::to_string(disk) + " of several", "one file");
        entries.push_back(std::move(entry));
        rest = rest.subspan(length);
    }
    if (!rest.empty())
        throw file_error(where, "central directory has " + std::to_string(rest.size()) + " bytes more than its " +
                                    std::to_string(directory.entries) + " members need");
    return entries;
}

/// Reads the local header at `offset`. It must end before `limit`, where the central directory begins.
[[nodiscard]] inline zip_entry read_local(byte_source& source, std::uint64_t offset, std::uint64_t limit,
                                          const std::string& where) {
    const auto outside = [&where, offset, limit](std::size_t needed) {
        return file_error(where, "local header of " + std::to_string(needed) + " bytes at " + std::to_string(offset),
                          "it to end before the central directory, at " + std::to_string(limit));
    };
    if (offset > limit || limit - offset < local_size) throw outside(local_size);
    const std::vector<std::byte> fixed = read_bytes(source, offset, local_size);
    const record head(fixed);
    if (head.u32(0) != local_signature)
        throw file_error(where,
                         "no local header at " + std::to_string(offset) + ", where the central directory points");
    const std::size_t name = head.u16(26);
    const std::size_t extra = head.u16(28);
    if (limit - offset - local_size < name + extra) throw outside(local_size + name + extra);
    const std::vector<std::byte> names = read_bytes(source, offset + local_size, name + extra);
    zip_entry entry;
    entry.name = text_of(std::span{names}.first(name));
    entry.flags = head.u16(6);
    entry.method = head.u16(8);
    entry.crc = head.u32(14);
    entry.compressed = head.u32(18);
    entry.size = head.u32(22);
    entry.offset = offset;
    entry.data = offset + local_size + name + extra;
    std::uint64_t* const wanted[] = {&entry.size, &entry.compressed};
    entry.zip64 = read_zip64(std::span{names}.subspan(name), wanted, where);
    return entry;
}

} // namespace zip_detail

} // namespace attest
