// SPDX-License-Identifier: BSL-1.0
/// \file
/// A strict look at the structure of a zip file, before anything is inflated.
///
/// Zip says most things twice, and readers that believe different copies see different files. So everything must agree:
/// each member's local header with the central directory, the sizes with the file, and the members must tile the bytes
/// before the central directory, without overlap and without a gap. Every file that Python's zipfile and NumPy's savez
/// write is of this kind.
///
/// Data descriptors (the sizes stand behind the member, because its writer could not seek) are what zipfile and savez
/// write into a pipe. They are accepted if they agree with the central directory, with or without signature, 32 or 64
/// bits wide.
#pragma once

#include "attest/io/zip_records.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

namespace attest {

inline constexpr std::uint64_t zip_total_limit = std::uint64_t{64} << 30U; ///< bytes of all members, inflated
inline constexpr std::uint64_t deflate_ratio_limit = 1032; ///< deflate's own maximum: 258 bytes for two bits

/// Why a member's name is refused; empty if it is not.
[[nodiscard]] inline std::string unsafe_member_name(std::string_view name) {
    if (name.empty()) return "empty";
    if (name.find('\0') != std::string_view::npos) return "has a NUL byte";
    if (std::any_of(name.begin(), name.end(),
                    [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == '\x7F'; }))
        return "has a control byte";
    if (!is_utf8(name)) return "is not UTF-8";
    if (name.find('\\') != std::string_view::npos) return "has a backslash";
    if (name.front() == '/') return "is an absolute path";
    if (name.size() >= 2 && name[1] == ':') return "names a drive";
    for (std::string_view rest = name; !rest.empty();) {
        const std::size_t slash = std::min(rest.find('/'), rest.size());
        const std::string_view part = rest.substr(0, slash);
        if (part == "." || part == "..") return "has the component '" + std::string{part} + "'";
        if (part.empty()) return "has an empty component";
        rest.remove_prefix(std::min(slash + 1, rest.size()));
    }
    return {};
}

namespace zip_detail {

[[nodiscard]] inline std::string method_name(std::uint16_t method) {
    const std::string number = std::to_string(method);
    switch (method) {
    case 1: return number + " (shrink)";
    case 6: return number + " (implode)";
    case 9: return number + " (deflate64)";
    case 12: return number + " (bzip2)";
    case 14: return number + " (LZMA)";
    case 93: return number + " (zstd)";
    case 95: return number + " (xz)";
    case 99: return number + " (AES encryption)";
    default: return number;
    }
}

/// What can be said of an entry alone.
inline void check_entry(const zip_entry& entry, const std::string& where, std::uint64_t file_size) {
    constexpr std::uint16_t encrypted = 1U << 0U | 1U << 6U | 1U << 13U; // itself, strongly, its header
    if ((entry.flags & encrypted) != 0 || entry.method == 99)
        throw file_error(where, "encrypted (flags " + std::to_string(entry.flags) + ")", "a plain member");
    if (entry.method != 0 && entry.method != 8)
        throw file_error(where, "compression method " + method_name(entry.method), "0 (stored) or 8 (deflate)");
    if ((entry.flags & 1U << 5U) != 0) throw file_error(where, "compressed patched data (flag 5)", "a plain member");
    if (entry.compressed > file_size)
        throw file_error(where, "compressed size " + std::to_string(entry.compressed) + " in a file of " +
                                    std::to_string(file_size) + " bytes");
    if (entry.method == 0 && entry.compressed != entry.size)
        throw file_error(where,
                         "stored, but size " + std::to_string(entry.size) + " and compressed size " +
                             std::to_string(entry.compressed),
                         "both the same");
    if (entry.method == 8 && entry.size / deflate_ratio_limit > entry.compressed)
        throw file_error(where,
                         "declares " + std::to_string(entry.size) + " bytes from " + std::to_string(entry.compressed) +
                             " of deflate, more than its maximum ratio, 1032:1 (a bomb?)",
                         "at most " + std::to_string(entry.compressed * deflate_ratio_limit));
}

template <class T>
void check_equal(const T& local, const T& central, std::string_view what, const std::string& where) {
    const auto text = [](const T& value) {
        if constexpr (std::is_same_v<T, std::string>)
            return excerpt(value);
        else
            return std::to_string(value);
    };
    if (local != central)
        throw file_error(where,
                         "local header says " + std::string{what} + " " + text(local) + ", central directory " +
                             text(central),
                         "both the same");
}

inline constexpr std::uint16_t streamed = 1U << 3U; ///< the flag: sizes stand behind the data

/// The local header against the central directory. With a data descriptor the header's sizes and CRC may be left 0.
inline void check_local(const zip_entry& local, const zip_entry& central, const std::string& where) {
    check_equal(local.name, central.name, "name", where);
    check_equal(local.method, central.method, "method", where);
    constexpr std::uint16_t matter = 1U << 0U | streamed | 1U << 6U | 1U << 13U;
    check_equal<std::uint16_t>(local.flags & matter, central.flags & matter, "flags", where);
    const bool late = (central.flags & streamed) != 0;
    if (!late || local.crc != 0) check_equal(local.crc, central.crc, "CRC", where);
    if (!late || local.compressed != 0) check_equal(local.compressed, central.compressed, "compressed size", where);
    if (!late || local.size != 0) check_equal(local.size, central.size, "size", where);
}

/// The data descriptor: `length` bytes, which are all that lies between the member's data and the next header.
inline void check_descriptor(byte_source& source, const zip_entry& entry, std::uint64_t length,
                             const std::string& where) {
    const std::string expected = "a data descriptor of 12, 16, 20 or 24 bytes";
    if (length != 12 && length != 16 && length != 20 && length != 24)
        throw file_error(where, std::to_string(length) + " bytes between its data and the next header", expected);
    const std::vector<std::byte> bytes =
        read_bytes(source, entry.data + entry.compressed, static_cast<std::size_t>(length));
    const record descriptor(bytes);
    std::size_t at = 0;
    if (length % 8 == 0) { // 4 bytes of signature make 12 and 20 into 16 and 24
        if (descriptor.u32(0) != descriptor_signature)
            throw file_error(where, "data descriptor of " + std::to_string(length) + " bytes without signature",
                             expected);
        at = 4;
    }
    const bool wide = length >= 20;
    const std::uint64_t compressed = wide ? descriptor.u64(at + 4) : descriptor.u32(at + 4);
    const std::uint64_t size = wide ? descriptor.u64(at + 12) : descriptor.u32(at + 8);
    if (descriptor.u32(at) != entry.crc || compressed != entry.compressed || size != entry.size)
        throw file_error(where,
                         "data descriptor says CRC " + std::to_string(descriptor.u32(at)) + ", compressed size " +
                             std::to_string(compressed) + ", size " + std::to_string(size) + ", central directory " +
                             std::to_string(entry.crc) + ", " + std::to_string(entry.compressed) + ", " +
                             std::to_string(entry.size),
                         "both the same");
}

} // namespace zip_detail

/// Reads the structure of a zip file and refuses whatever is not said twice in the same words.
/// \returns the members in the order of the central directory, with `data` pointing at their bytes
/// \throws file_error naming the member and the numbers
[[nodiscard]] inline std::vector<zip_entry> audit_zip(byte_source& source, std::string_view where) {
    using namespace zip_detail;
    const zip_directory directory = find_directory(source, where);
    std::vector<zip_entry> entries = read_entries(source, directory, where);

    std::set<std::string_view> names;
    std::uint64_t total = 0;
    for (const zip_entry& entry : entries) {
        const std::string member = member_of(where, entry.name);
        const std::string unsafe = unsafe_member_name(entry.name);
        if (!unsafe.empty()) throw file_error(member, "unsafe name: it " + unsafe, "a plain relative name");
        if (!names.insert(entry.name).second) throw file_error(member, "is there twice", "each name once");
        check_entry(entry, member, source.size());
        if (entry.size > zip_total_limit - total)
            throw file_error(member,
                             "its " + std::to_string(entry.size) + " bytes and the " + std::to_string(total) +
                                 " of the members before exceed the limit of 64 GiB in all",
                             "at most " + std::to_string(zip_total_limit));
        total += entry.size;
    }

    for (zip_entry& entry : entries) {
        const std::string member = member_of(where, entry.name);
        const zip_entry local = read_local(source, entry.offset, directory.offset, member);
        check_local(local, entry, member);
        entry.data = local.data;
    }

    // In the order of the file, each member must begin where the one before ends.
    std::vector<zip_entry*> by_offset;
    for (zip_entry& entry : entries) by_offset.push_back(&entry);
    std::sort(by_offset.begin(), by_offset.end(), [](const zip_entry* a, const zip_entry* b) {
        return std::tie(a->offset, a->name) < std::tie(b->offset, b->name);
    });
    for (std::size_t i = 0; i < by_offset.size(); ++i) {
        zip_entry& entry = *by_offset[i];
        const std::string member = member_of(where, entry.name);
        const std::uint64_t next = i + 1 < by_offset.size() ? by_offset[i + 1]->offset : directory.offset;
        if (i == 0 && entry.offset != 0)
            throw file_error(where,
                             "not a plain zip: " + std::to_string(entry.offset) +
                                 " bytes of something else before its first member",
                             "the first member at 0");
        const std::uint64_t end = entry.data + entry.compressed; // both at most the file's size: no wrap
        if (end > next) {
            const std::string other =
                i + 1 < by_offset.size() ? "member " + excerpt(by_offset[i + 1]->name, 200) : "the central directory";
            throw file_error(member,
                             "overlaps " + other + ": it ends at " + std::to_string(end) + ", which begins at " +
                                 std::to_string(next) + " (a bomb?)",
                             "no overlap");
        }
        if ((entry.flags & streamed) != 0) {
            check_descriptor(source, entry, next - end, member);
        } else if (end != next) {
            throw file_error(member,
                             std::to_string(next - end) + " bytes between its end at " + std::to_string(end) +
                                 " and what follows at " + std::to_string(next) + " belong to nothing",
                             "no gap");
        }
    }
    if (by_offset.empty() && directory.offset != 0)
        throw file_error(
            where, "not a plain zip: " + std::to_string(directory.offset) + " bytes before an empty directory", "none");
    return entries;
}

} // namespace attest
