// SPDX-License-Identifier: BSL-1.0
/// \file
/// NumPy's `.npz`: a zip of `.npy` members.
///
/// The structure is audited first (`zip_audit.hpp`); libzip then inflates, checks the CRC, and writes. Members that end
/// in `.npy` become arrays, those that end in `.json` texts; any other is named in a warning and never read.
#pragma once

#include "attest/io/archive.hpp"
#include "attest/io/npy.hpp"
#include "attest/io/zip_audit.hpp"

#include <cstddef>
#include <cstdint>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <zip.h>

namespace attest {

inline constexpr std::uint64_t npz_text_limit = 1024 * 1024; ///< bytes of a `.json` member

namespace zip_detail {

struct discarder {
    void operator()(zip_t* zip) const noexcept { zip_discard(zip); }
};
struct file_closer {
    void operator()(zip_file_t* file) const noexcept { (void)zip_fclose(file); }
};
using zip_handle = std::unique_ptr<zip_t, discarder>;

/// A zip_error_t that is cleaned up.
class error_slot {
public:
    error_slot() noexcept { zip_error_init(&error_); }
    error_slot(const error_slot&) = delete;
    error_slot& operator=(const error_slot&) = delete;
    ~error_slot() { zip_error_fini(&error_); }
    [[nodiscard]] zip_error_t* get() noexcept { return &error_; }
    [[nodiscard]] std::string text() { return zip_error_strerror(&error_); }

private:
    zip_error_t error_;
};

/// The inflated bytes of one member. `finish` makes libzip compare CRC and size.
class member_stream {
public:
    member_stream(zip_t* zip, std::uint64_t index, const zip_entry& entry, std::string where)
        : file_(zip_fopen_index(zip, index, ZIP_FL_UNCHANGED)), entry_(&entry), where_(std::move(where)) {
        if (!file_) throw file_error(where_, std::string{"cannot be opened: "} + zip_strerror(zip));
    }

    void read(std::span<std::byte> into) {
        while (!into.empty()) {
            const std::size_t got = some(into);
            if (got == 0)
                throw file_error(
                    where_, "inflates to " + std::to_string(done_) + " bytes, declares " + std::to_string(entry_->size),
                    "both the same");
            into = into.subspan(got);
        }
    }

    void finish() {
        std::byte more{};
        if (some({&more, 1}) != 0)
            throw file_error(where_, "inflates to more than the " + std::to_string(entry_->size) + " bytes it declares",
                             "both the same");
    }

private:
    std::size_t some(std::span<std::byte> into) {
        const zip_int64_t got = zip_fread(file_.get(), into.data(), into.size());
        if (got < 0) {
            zip_error_t* const error = zip_file_get_error(file_.get());
            const int code = zip_error_code_zip(error);
            if (code == ZIP_ER_CRC && done_ == entry_->size)
                throw file_error(where_,
                                 "bad CRC: its bytes do not have the CRC " + std::to_string(entry_->crc) +
                                     " that the directory says",
                                 "bytes that arrived unharmed");
            if (code == ZIP_ER_CRC || code == ZIP_ER_INCONS)
                throw file_error(
                    where_, "inflates to " + std::to_string(done_) + " bytes, declares " + std::to_string(entry_->size),
                    "both the same");
            throw file_error(where_, "cannot be inflated after " + std::to_string(done_) + " of " +
                                         std::to_string(entry_->size) + " bytes: " + zip_error_strerror(error));
        }
        done_ += static_cast<std::uint64_t>(got);
        return static_cast<std::size_t>(got);
    }

    std::unique_ptr<zip_file_t, file_closer> file_;
    const zip_entry* entry_;
    std::string where_;
    std::uint64_t done_ = 0;
};

/// What libzip sees must be what the audit saw.
inline void check_same_view(zip_t* zip, const std::vector<zip_entry>& entries, std::string_view where) {
    const zip_int64_t count = zip_get_num_entries(zip, ZIP_FL_UNCHANGED);
    if (count < 0 || static_cast<std::uint64_t>(count) != entries.size())
        throw file_error(where, "libzip sees " + std::to_string(count) + " members, the central directory has " +
                                    std::to_string(entries.size()));
    for (std::size_t i = 0; i < entries.size(); ++i) {
        zip_stat_t stat;
        zip_stat_init(&stat);
        const char* const name = zip_get_name(zip, i, ZIP_FL_ENC_RAW);
        if (!name || entries[i].name != name || zip_stat_index(zip, i, ZIP_FL_UNCHANGED, &stat) != 0 ||
            stat.size != entries[i].size || stat.comp_size != entries[i].compressed || stat.crc != entries[i].crc ||
            stat.comp_method != entries[i].method)
            throw file_error(member_of(where, entries[i].name), "libzip sees another member there");
    }
}

[[nodiscard]] inline std::string read_text(member_stream& stream, const zip_entry& entry, const std::string& where) {
    if (entry.size > npz_text_limit)
        throw file_error(where, "text of " + std::to_string(entry.size) + " bytes",
                         "at most " + std::to_string(npz_text_limit));
    std::vector<std::byte> bytes;
    npy_detail::read_data(stream, bytes, static_cast<std::size_t>(entry.size), false, where);
    stream.finish();
    return text_of(bytes);
}

// What torch.save writes is a zip, too: pickled objects, and memory without a shape.
inline void refuse_pickles(const std::vector<zip_entry>& entries, std::string_view where) {
    bool pickled = false;
    for (const zip_entry& entry : entries) {
        const std::string_view name = entry.name;
        if (name.ends_with(".npy")) return;
        pickled = pickled || name == "data.pkl" || name.ends_with("/data.pkl");
    }
    if (pickled) throw file_error(where, "a file of torch.save, which is pickled, and pickles are never read", "what safetensors.torch.save_file writes, or numpy.savez");
}

/// Reads what has been audited. Takes the source over.
[[nodiscard]] inline archive read_members(zip_source_t* source, const std::vector<zip_entry>& entries,
                                          std::string_view where) {
    error_slot error;
    const zip_handle zip{zip_open_from_source(source, ZIP_RDONLY, error.get())};
    if (!zip) {
        zip_source_free(source);
        throw file_error(where, "libzip cannot open it: " + error.text());
    }
    check_same_view(zip.get(), entries, where);
    refuse_pickles(entries, where);
    archive result;
    for (std::size_t i = 0; i < entries.size(); ++i) {
        const zip_entry& entry = entries[i];
        const std::string member = member_of(where, entry.name);
        const std::string_view name = entry.name;
        if (name.ends_with(".npy")) {
            if (name.size() == 4 || name.ends_with("/.npy"))
                throw file_error(member, "unsafe name: nothing before .npy", "NAME.npy");
            member_stream stream(zip.get(), i, entry, member);
            const bool stored = entry.method == 0; // then its size has been checked against the file
            result.arrays.push_back({std::string{name.substr(0, name.size() - 4)},
                                     npy_detail::read(stream, entry.size, member, &result.warnings, stored)});
        } else if (name.ends_with(".json")) {
            member_stream stream(zip.get(), i, entry, member);
            result.texts.emplace_back(entry.name, read_text(stream, entry, member));
        } else {
            result.warnings.push_back(member + ": not an array, ignored");
        }
    }
    return result;
}

} // namespace zip_detail

/// Reads a `.npz` image in memory. \throws file_error as read_npz does
[[nodiscard]] inline archive parse_npz(std::span<const std::byte> bytes, std::string_view where) {
    memory_source memory(bytes);
    const std::vector<zip_entry> entries = audit_zip(memory, where);
    if (entries.empty()) return {};
    zip_detail::error_slot error;
    zip_source_t* const source = zip_source_buffer_create(bytes.data(), bytes.size(), 0, error.get());
    if (!source) throw file_error(where, "libzip cannot open it: " + error.text());
    return zip_detail::read_members(source, entries, where);
}

/// Reads a `.npz` file.
/// \throws file_error if the file cannot be read, if its structure is not that of a plain zip of stored or deflated
/// members
///         that says everything consistently, if a CRC is wrong, if all members exceed 64 GiB, and as parse_npy for
///         each array
[[nodiscard]] inline archive read_npz(const std::filesystem::path& path) {
    const std::string where = path.string();
    file_source file(path);
    const std::vector<zip_entry> entries = audit_zip(file, where);
    if (entries.empty()) return {};
    zip_detail::error_slot error;
    const std::uint64_t size = file.size();
    std::FILE* const handle = file.release();
    zip_source_t* const source = zip_source_filep_create(handle, 0, static_cast<zip_int64_t>(size), error.get());
    if (!source) {
        (void)std::fclose(handle);
        throw file_error(where, "libzip cannot open it: " + error.text());
    }
    return zip_detail::read_members(source, entries, where);
}

namespace zip_detail {

/// Adds one member made of two pieces that must outlive the zip's closing.
inline void add_member(zip_t* zip, const std::string& name, std::span<const std::byte> head,
                       std::span<const std::byte> body, bool compress, std::string_view where) {
    const std::string member = member_of(where, name);
    const std::string unsafe = unsafe_member_name(name);
    if (!unsafe.empty()) throw file_error(member, "unsafe name: it " + unsafe, "a plain relative name");
    const auto fragment = [](std::span<const std::byte> bytes) {
        // libzip's type has no const; it only reads.
        auto* data = const_cast<std::byte*>(bytes.data());                                // NOLINT(*-const-cast)
        return zip_buffer_fragment_t{reinterpret_cast<zip_uint8_t*>(data), bytes.size()}; // NOLINT(*-reinterpret-cast)
    };
    const zip_buffer_fragment_t fragments[] = {fragment(head), fragment(body)};
    zip_source_t* const source = zip_source_buffer_fragment(zip, fragments, body.empty() ? 1 : 2, 0);
    if (!source) throw file_error(member, std::string{"cannot be written: "} + zip_strerror(zip));
    const zip_int64_t index = zip_file_add(zip, name.c_str(), source, ZIP_FL_ENC_UTF_8);
    if (index < 0) {
        zip_source_free(source);
        throw file_error(member, std::string{"cannot be written: "} + zip_strerror(zip));
    }
    const auto place = static_cast<zip_uint64_t>(index);
    constexpr zip_uint16_t first_day = 0 << 9 | 1 << 5 | 1; // 1980-01-01, as NumPy: equal archives give equal bytes
    if (zip_set_file_compression(zip, place, compress ? ZIP_CM_DEFLATE : ZIP_CM_STORE, 0) != 0 ||
        zip_file_set_dostime(zip, place, 0, first_day, 0) != 0)
        throw file_error(member, std::string{"cannot be written: "} + zip_strerror(zip));
}

} // namespace zip_detail

/// Writes a `.npz` file: arrays as NAME.npy, texts under their own names. It replaces a file of that name only when it
/// is complete. Equal archives give equal bytes (of the same libzip and zlib).
/// \param compress  deflate the members, as np.savez_compressed does
/// \throws file_error if a name is unsafe or there twice, or the file cannot be written
inline void write_npz(const std::filesystem::path& path, const archive& content, bool compress = false) {
    using namespace zip_detail;
    const std::string where = path.string();
    if (content.arrays.empty() && content.texts.empty()) { // libzip would write no file at all
        std::ofstream file(path, std::ios::binary | std::ios::trunc);
        file.write("PK\x05\x06\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", end_size);
        file.close();
        if (!file) throw file_error(where, "cannot be written");
        return;
    }
    int code = 0;
    zip_handle zip{zip_open(path.c_str(), ZIP_CREATE | ZIP_TRUNCATE, &code)};
    if (!zip) {
        error_slot error;
        zip_error_init_with_code(error.get(), code);
        throw file_error(where, "cannot be written: " + error.text());
    }
    std::set<std::string> names;
    const auto once = [&names, &where](const std::string& name) {
        if (!names.insert(name).second) throw file_error(member_of(where, name), "is there twice", "each name once");
        return name;
    };
    std::vector<std::vector<std::byte>> prefixes;
    prefixes.reserve(content.arrays.size());
    for (const named_array& item : content.arrays) {
        const std::string name = once(item.name + ".npy");
        if (item.value.data.size() != item.value.view().bytes())
            throw file_error(member_of(where, name),
                             "cannot be written: shape " + shape_text(item.value.shape) + " of " +
                                 std::string{name_of(item.value.type)} + " with " +
                                 std::to_string(item.value.data.size()) + " bytes",
                             std::to_string(item.value.view().bytes()));
        prefixes.push_back(npy_prefix(item.value.type, item.value.shape, member_of(where, name)));
        add_member(zip.get(), name, prefixes.back(), item.value.data, compress, where);
    }
    for (const auto& [name, text] : content.texts)
        add_member(zip.get(), once(name), std::as_bytes(std::span{text}), {}, compress, where);
    zip_t* const open = zip.get();
    if (zip_close(open) != 0) throw file_error(where, std::string{"cannot be written: "} + zip_strerror(open));
    (void)zip.release();
}

} // namespace attest
