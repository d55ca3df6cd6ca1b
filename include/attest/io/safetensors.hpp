// SPDX-License-Identifier: BSL-1.0
/// \file
/// Hugging Face's `.safetensors`: the header's length in eight bytes, a header in JSON (`safetensors_header.hpp`), the
/// tensors' bytes.
///
/// Read are BF16, F16, F32, F64, BOOL, I8 to I64 and U8 to U64; what the format has beyond that is refused by name. The
/// texts of `__metadata__` become the archive's texts under their own keys; its key `attest`, the settings of a case,
/// becomes `attest.json`, as they are called in a `.npz`. Writing is the inverse.
#pragma once

#include "attest/io/archive.hpp"
#include "attest/io/byte_source.hpp"
#include "attest/io/npy.hpp"
#include "attest/io/safetensors_header.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

namespace attest {

inline constexpr std::size_t safetensors_settings_limit = 1024 * 1024; ///< bytes of `__metadata__`'s key `attest`

namespace safetensors_detail {

/// Whether a reader may take this for the settings' name although it is not: "Attest", "attest.json".
[[nodiscard]] inline bool like_settings(std::string_view name) {
    if (name.ends_with(".json")) name.remove_suffix(5);
    return std::equal(name.begin(), name.end(), std::string_view{"attest"}.begin(), std::string_view{"attest"}.end(),
                      [](char a, char b) { return (a >= 'A' && a <= 'Z' ? a - 'A' + 'a' : a) == b; });
}

[[nodiscard]] inline std::vector<std::pair<std::string, std::string>>
texts_of(std::vector<std::pair<std::string, std::string>> metadata, std::string_view where) {
    for (auto& [key, text] : metadata) {
        if (key == "attest") {
            if (text.size() > safetensors_settings_limit)
                throw file_error(where, "__metadata__ 'attest' has " + std::to_string(text.size()) + " bytes",
                                 "at most " + std::to_string(safetensors_settings_limit));
            key = "attest.json";
        } else if (like_settings(key)) {
            throw file_error(where, "__metadata__ has the key '" + excerpt(key) + "'", "'attest' for the settings");
        }
    }
    return metadata;
}

/// The format is little-endian: both ways.
inline void to_or_from_little(std::vector<std::byte>& data, dtype type) {
    if constexpr (std::endian::native == std::endian::big) npy_detail::swap_bytes(data, size_of(type));
}

[[nodiscard]] inline archive read(byte_source& source, std::string_view where) {
    const std::uint64_t total = source.size();
    if (total < 8)
        throw file_error(where, "not a safetensors file, " + std::to_string(total) + " bytes",
                         "8 bytes of header length, a header, data");
    npy_detail::whole_source stream(source);
    std::array<std::byte, 8> first = {};
    stream.read(first);
    std::uint64_t length = 0;
    for (std::size_t i = first.size(); i-- > 0;) length = length << 8U | std::to_integer<std::uint64_t>(first[i]);
    const std::uint64_t rest = total - 8;
    if (length > rest) {
        const bool zip = first[0] == std::byte{'P'} && first[1] == std::byte{'K'};
        const bool npy = first[0] == std::byte{0x93} && first[1] == std::byte{'N'};
        throw file_error(where,
                         "header length " + std::to_string(length) + " exceeds the file: " + std::to_string(rest) +
                             " bytes follow" +
                             (zip   ? " (it begins like a zip)"
                              : npy ? " (it begins like a npy)"
                                    : ""),
                         "a safetensors file");
    }
    if (length > safetensors_header_limit)
        throw file_error(where, "header too large: " + std::to_string(length) + " bytes",
                         "at most " + std::to_string(safetensors_header_limit));
    archive result;
    safetensors_header header;
    {
        std::vector<std::byte> text;
        npy_detail::read_data(stream, text, static_cast<std::size_t>(length), true, where);
        // A char may look at any byte.
        const std::string_view json{reinterpret_cast<const char*>(text.data()),
                                    text.size()}; // NOLINT(*-reinterpret-cast)
        header = parse_safetensors_header(json, rest - length, where);
    }
    result.texts = texts_of(std::move(header.metadata), where);
    for (safetensors_entry& tensor : header.tensors) { // in the order of their bytes, without a gap
        const std::string member = tensor_of(where, tensor.name);
        array value{*find_type(tensor.type)->type, std::move(tensor.shape), {}};
        npy_detail::read_data(stream, value.data, static_cast<std::size_t>(tensor.end - tensor.begin), true, member);
        to_or_from_little(value.data, value.type);
        if (value.type == dtype::boolean) npy_detail::check_booleans(value, member);
        result.arrays.push_back({std::move(tensor.name), std::move(value)});
    }
    return result;
}

} // namespace safetensors_detail

/// Reads a `.safetensors` image. The arrays come in the order of their bytes.
/// \param where  what errors call it: the file's name
/// \throws file_error for whatever is not a well-formed image that is exactly as long as it says, of dtypes that
/// `array`
///         has; for a bool that is neither 0 nor 1; for settings of more than 1 MiB, or under a key like "Attest"
[[nodiscard]] inline archive parse_safetensors(std::span<const std::byte> bytes, std::string_view where) {
    memory_source source(bytes);
    return safetensors_detail::read(source, where);
}

/// Reads a `.safetensors` file. \throws file_error as parse_safetensors does, and if the file cannot be read
[[nodiscard]] inline archive read_safetensors(const std::filesystem::path& path) {
    file_source source(path);
    return safetensors_detail::read(source, path.string());
}

namespace safetensors_detail {

/// What a file begins with, and the arrays in the order in which their bytes follow.
struct plan {
    std::string head;
    std::vector<const named_array*> order;
};

/// Lays an archive out: the larger elements first, so that each tensor is aligned, and else as they come.
[[nodiscard]] inline plan lay_out(const archive& content, std::string_view where) {
    const auto quoted = [](const std::string& text) { return nlohmann::json(text).dump(); };
    plan result;
    std::string json = "{";
    std::set<std::string> keys;
    for (const auto& [name, text] : content.texts) {
        const std::string key = name == "attest.json" ? "attest" : name;
        const std::string which = std::string{where} + ": text " + excerpt(name, 200);
        if (name != "attest.json" && like_settings(name))
            throw file_error(which, "cannot be written: it would be taken for the settings", "attest.json");
        if (!keys.insert(key).second) throw file_error(which, "is there twice", "each name once");
        if (!is_utf8(key) || !is_utf8(text)) throw file_error(which, "cannot be written: it is not UTF-8", "UTF-8");
        json += (keys.size() == 1 ? "\"__metadata__\":{" : ",") + quoted(key) + ":" + quoted(text);
    }
    if (!keys.empty()) json += '}';

    std::set<std::string> names;
    for (const named_array& item : content.arrays) {
        const std::string which = tensor_of(where, item.name);
        const auto refuse = [&which](const std::string& problem, std::string_view expected) {
            throw file_error(which, "cannot be written: " + problem, expected);
        };
        if (!names.insert(item.name).second) throw file_error(which, "is there twice", "each name once");
        if (item.name == "__metadata__") refuse("the format keeps this name for itself", "another name");
        if (printable(item.name) != item.name)
            refuse("its name has a control character or is not UTF-8", "a plain name");
        if (item.value.type == dtype::raw16) refuse("two bytes of an unknown type", "a type; is it bf16?");
        if (item.value.shape.size() > safetensors_rank_limit)
            refuse(std::to_string(item.value.shape.size()) + " dimensions",
                   "at most " + std::to_string(safetensors_rank_limit));
        if (item.value.data.size() != item.value.view().bytes())
            refuse("shape " + shape_text(item.value.shape) + " of " + std::string{name_of(item.value.type)} + " with " +
                       std::to_string(item.value.data.size()) + " bytes",
                   std::to_string(item.value.view().bytes()));
    }
    for (const std::size_t size : {8U, 4U, 2U, 1U})
        for (const named_array& item : content.arrays)
            if (size_of(item.value.type) == size) result.order.push_back(&item);
    std::uint64_t at = 0;
    for (const named_array* item : result.order) {
        const auto type = std::find_if(safetensors_types.begin(), safetensors_types.end(),
                                       [item](const safetensors_type& t) { return t.type == item->value.type; });
        if (json.size() > 1) json += ',';
        json += quoted(item->name) + R"(:{"dtype":")" + std::string{type->name} + R"(","shape":[)";
        for (std::size_t i = 0; i < item->value.shape.size(); ++i)
            json += (i == 0 ? "" : ",") + std::to_string(item->value.shape[i]);
        json += R"(],"data_offsets":[)" + std::to_string(at) + ",";
        at += item->value.data.size();
        json += std::to_string(at) + "]}";
    }
    json += '}';
    json.append((8 - json.size() % 8) % 8, ' ');
    if (json.size() > safetensors_header_limit)
        throw file_error(where, "cannot be written: a header of " + std::to_string(json.size()) + " bytes",
                         "at most " + std::to_string(safetensors_header_limit));
    for (std::size_t i = 0; i < 8; ++i) result.head += static_cast<char>(std::uint64_t{json.size()} >> 8 * i & 255U);
    result.head += json;
    return result;
}

/// Calls `put` with the image's bytes, piece by piece.
template <class Put>
void emit(const plan& image, Put&& put) {
    put(std::as_bytes(std::span{image.head}));
    for (const named_array* item : image.order) {
        if constexpr (std::endian::native == std::endian::little) {
            put(std::span<const std::byte>{item->value.data});
        } else {
            std::vector<std::byte> data = item->value.data;
            to_or_from_little(data, item->value.type);
            put(std::span<const std::byte>{data});
        }
    }
}

/// A file beside the one that is meant, which takes its name when it is complete; otherwise it goes away again.
class replacement {
public:
    explicit replacement(const std::filesystem::path& path) : path_(path) {
        std::error_code ignored;
        const std::filesystem::file_status old = std::filesystem::status(path, ignored);
        if (old.type() == std::filesystem::file_type::directory) refuse("is a directory");
        if (std::filesystem::exists(old) && old.type() != std::filesystem::file_type::regular)
            refuse("is a pipe or a device");
        for (int attempt = 0; !file_ && attempt < 100; ++attempt) {
            own_ = path;
            own_ += ".part" + std::to_string(attempt);
            file_ = std::fopen(own_.c_str(), "wbx"); // x: only if no such file is there
            if (!file_ && errno != EEXIST) break;
        }
        if (!file_) refuse(std::strerror(errno));
        if (std::filesystem::exists(old)) std::filesystem::permissions(own_, old.permissions(), ignored);
    }
    replacement(const replacement&) = delete;
    replacement& operator=(const replacement&) = delete;
    ~replacement() {
        if (file_) (void)std::fclose(file_);
        std::error_code ignored;
        if (!done_) std::filesystem::remove(own_, ignored);
    }

    void put(std::span<const std::byte> bytes) {
        if (!bytes.empty() && std::fwrite(bytes.data(), 1, bytes.size(), file_) != bytes.size())
            refuse(std::strerror(errno));
    }

    void finish() {
        if (std::fclose(std::exchange(file_, nullptr)) != 0) refuse(std::strerror(errno));
        std::error_code error;
        std::filesystem::rename(own_, path_, error);
        if (error) refuse(error.message());
        done_ = true;
    }

private:
    [[noreturn]] void refuse(const std::string& why) const {
        throw file_error(path_.string(), "cannot be written: " + why);
    }

    std::filesystem::path path_;
    std::filesystem::path own_;
    std::FILE* file_ = nullptr;
    bool done_ = false;
};

} // namespace safetensors_detail

/// An archive as a `.safetensors` image. Equal archives give equal bytes.
/// \throws file_error as write_safetensors does
[[nodiscard]] inline std::vector<std::byte> to_safetensors(const archive& content,
                                                           std::string_view where = "safetensors") {
    std::vector<std::byte> image;
    safetensors_detail::emit(safetensors_detail::lay_out(content, where), [&image](std::span<const std::byte> bytes) {
        image.insert(image.end(), bytes.begin(), bytes.end());
    });
    return image;
}

/// Writes a `.safetensors` file: arrays under their names, the larger elements first; texts into `__metadata__`. It
/// replaces a file of that name only when it is complete. Equal archives give equal bytes.
/// \throws file_error if a name is there twice, is `__metadata__`, has a control character or is not UTF-8, if an array
/// is
///         of type raw16, or the file cannot be written
inline void write_safetensors(const std::filesystem::path& path, const archive& content) {
    const safetensors_detail::plan image = safetensors_detail::lay_out(content, path.string());
    safetensors_detail::replacement file(path);
    safetensors_detail::emit(image, [&file](std::span<const std::byte> bytes) { file.put(bytes); });
    file.finish();
}

} // namespace attest
