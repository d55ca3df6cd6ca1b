// SPDX-License-Identifier: BSL-1.0
/// \file
/// NumPy's `.npy`: one array a file.
///
/// Versions 1.0, 2.0 and 3.0; descr f8 f4 f2, i1 to i8, u1 to u8, b1 and V2; either byte order, C or Fortran order.
/// What is read is C order in this machine's byte order. Everything that NumPy lets pass and that hides a mistake
/// (bytes left over, a shape that does not fit the data, a bool that is neither 0 nor 1) is refused with the numbers.
#pragma once

#include "attest/io/byte_source.hpp"
#include "attest/io/npy_header.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace attest {

namespace npy_detail {

/// A stream of bytes whose `read` fills the span or throws, and whose `finish` throws if the stream does not end there.
template <class T>
concept byte_stream = requires(T& stream, std::span<std::byte> into) {
    stream.read(into);
    stream.finish();
};

/// A shape that a locale which groups digits has torn apart: (2,621, 401) is (2621, 401) if that fits the data. Tries
/// every way to glue groups of three digits to the number before them.
[[nodiscard]] inline std::string grouping_hint(const npy_header& header, std::uint64_t bytes) {
    const std::vector<std::string>& digits = header.shape_digits;
    if (digits.size() < 2 || digits.size() > 12) return {};
    for (std::uint32_t glue = 1; glue < 1U << (digits.size() - 1); ++glue) {
        std::vector<std::string> lengths = {digits[0]};
        std::size_t first_group = digits[0].size();
        bool good = true;
        for (std::size_t i = 1; good && i < digits.size(); ++i) {
            if ((glue >> (i - 1) & 1U) == 0) {
                lengths.push_back(digits[i]);
                first_group = digits[i].size();
            } else {
                good =
                    digits[i].size() == 3 && first_group <= 3 && lengths.back() != "0" && lengths.back().size() <= 12;
                lengths.back() += digits[i];
            }
        }
        std::uint64_t product = size_of(header.type);
        for (std::size_t i = 0; good && i < lengths.size(); ++i) {
            const std::uint64_t length = std::stoull(lengths[i]); // at most 15 digits, or a length that was read
            good = length != 0 && product <= bytes / length;
            product *= good ? length : 1;
        }
        if (!good || product != bytes) continue;
        std::string text = " ((";
        for (std::size_t i = 0; i < lengths.size(); ++i) text += (i ? ", " : "") + lengths[i];
        return text + (lengths.size() == 1 ? ",)" : ")") + " would fit: did the writer's locale group digits?)";
    }
    return {};
}

/// Reverses the bytes of each element.
inline void swap_bytes(std::vector<std::byte>& data, std::size_t size) {
    for (std::size_t i = 0; i + size <= data.size(); i += size)
        std::reverse(data.begin() + static_cast<std::ptrdiff_t>(i),
                     data.begin() + static_cast<std::ptrdiff_t>(i + size));
}

/// Fortran order (first index fastest) to C order (last index fastest).
template <std::size_t Size>
[[nodiscard]] std::vector<std::byte> c_order(const std::vector<std::byte>& fortran,
                                             std::span<const std::size_t> shape) {
    std::vector<std::byte> result(fortran.size());
    const std::size_t rank = shape.size();
    std::vector<std::size_t> stride(rank, 1); // of the source, in elements
    for (std::size_t i = 1; i < rank; ++i) stride[i] = stride[i - 1] * shape[i - 1];
    std::vector<std::size_t> index(rank, 0);
    std::size_t from = 0; // element of the source that index names
    for (std::size_t to = 0; to < result.size(); to += Size) {
        std::memcpy(result.data() + to, fortran.data() + from * Size, Size);
        for (std::size_t axis = rank; axis-- > 0;) {
            from += stride[axis];
            if (++index[axis] < shape[axis]) break;
            from -= stride[axis] * shape[axis];
            index[axis] = 0;
        }
    }
    return result;
}

inline void to_c_order(array& value) {
    const auto longer = [](std::size_t length) { return length > 1; };
    if (value.data.empty() || std::count_if(value.shape.begin(), value.shape.end(), longer) < 2)
        return; // one order only
    switch (size_of(value.type)) {
    case 1: value.data = c_order<1>(value.data, value.shape); break;
    case 2: value.data = c_order<2>(value.data, value.shape); break;
    case 4: value.data = c_order<4>(value.data, value.shape); break;
    case 8: value.data = c_order<8>(value.data, value.shape); break;
    default: break;
    }
}

inline void check_booleans(const array& value, std::string_view where) {
    const auto bad = std::find_if(value.data.begin(), value.data.end(), [](std::byte b) { return b > std::byte{1}; });
    if (bad == value.data.end()) return;
    auto rest = static_cast<std::size_t>(bad - value.data.begin());
    std::vector<std::size_t> index(value.shape.size());
    for (std::size_t axis = index.size(); axis-- > 0; rest /= value.shape[axis]) index[axis] = rest % value.shape[axis];
    throw file_error(
        where, "bool element " + shape_text(index) + " holds the byte " + std::to_string(std::to_integer<int>(*bad)),
        "0 or 1");
}

/// Fills `data` with `count` bytes. Where the count has not been checked against the file (`sure`), memory is taken
/// only in step with the bytes that come: at most twice what has come, plus 1 MiB.
template <byte_stream Stream>
void read_data(Stream& stream, std::vector<std::byte>& data, std::size_t count, bool sure, std::string_view where) {
    constexpr std::size_t step = std::size_t{1} << 20U;
    try {
        while (data.size() < count) {
            const std::size_t done = data.size();
            const std::size_t more = sure ? count : std::min(count - done, std::max(step, done));
            data.reserve(done + more);
            data.resize(done + more);
            stream.read(std::span{data}.subspan(done, more));
        }
    } catch (const std::bad_alloc&) {
        throw file_error(where,
                         "no memory for " + std::to_string(count) + " bytes, after " + std::to_string(data.size()));
    }
}

/// Reads an image of `total` bytes from a stream.
template <byte_stream Stream>
[[nodiscard]] array read(Stream& stream, std::uint64_t total, std::string_view where,
                         std::vector<std::string>* warnings, bool sure) {
    std::array<std::byte, npy_preamble_limit> first = {};
    const std::span<std::byte> start =
        std::span{first}.first(static_cast<std::size_t>(std::min<std::uint64_t>(total, 10)));
    stream.read(start);
    std::size_t have = start.size();
    if (have == 10 && std::to_integer<int>(first[6]) != 1 && total >= npy_preamble_limit) {
        stream.read(std::span{first}.last(2));
        have = npy_preamble_limit;
    }
    const npy_preamble preamble = parse_npy_preamble(std::span{first}.first(have), total, where);
    std::vector<std::byte> text;
    read_data(stream, text, preamble.header_length, sure, where);
    // A char may look at any byte.
    const npy_header header = parse_npy_header({reinterpret_cast<const char*>(text.data()), text.size()},
                                               where); // NOLINT(*-reinterpret-cast)
    const std::uint64_t have_bytes = total - preamble.header_offset - preamble.header_length;
    const std::uint64_t need_bytes = std::uint64_t{element_count(header.shape)} * size_of(header.type);
    if (have_bytes != need_bytes) {
        const std::string shape = "shape " + shape_text(header.shape) + " of " + std::string{name_of(header.type)} +
                                  " needs " + std::to_string(need_bytes) + " bytes of data, there are " +
                                  std::to_string(have_bytes);
        const std::string extra =
            have_bytes > need_bytes ? ", " + std::to_string(have_bytes - need_bytes) + " extra bytes" : "";
        throw file_error(where, shape + extra + grouping_hint(header, have_bytes),
                         std::to_string(need_bytes) + " bytes");
    }
    array result{header.type, header.shape, {}};
    read_data(stream, result.data, static_cast<std::size_t>(need_bytes), sure, where);
    stream.finish();
    if (header.swapped) swap_bytes(result.data, size_of(header.type));
    if (header.fortran_order) to_c_order(result);
    if (header.type == dtype::boolean) check_booleans(result, where);
    if (header.python2 && warnings)
        warnings->push_back(std::string{where} + ": the shape is written with Python 2's suffix L, which is ignored");
    return result;
}

/// The whole of a byte_source, as a stream.
class whole_source {
public:
    explicit whole_source(byte_source& source) : source_(&source) {}
    void read(std::span<std::byte> into) {
        source_->read(at_, into);
        at_ += into.size();
    }
    void finish() const noexcept {} // the image is as long as the source: read() has compared them

private:
    byte_source* source_;
    std::uint64_t at_ = 0;
};

} // namespace npy_detail

/// Reads a `.npy` image.
/// \param where     what errors call it: the file's name
/// \param warnings  if not null, gets one line for what was tolerated
/// \throws file_error for whatever is not a well-formed image of numbers that is exactly as long as it says
[[nodiscard]] inline array parse_npy(std::span<const std::byte> bytes, std::string_view where,
                                     std::vector<std::string>* warnings = nullptr) {
    memory_source source(bytes);
    npy_detail::whole_source stream(source);
    return npy_detail::read(stream, bytes.size(), where, warnings, true);
}

/// Reads a `.npy` file. \throws file_error as parse_npy does, and if the file cannot be read
[[nodiscard]] inline array read_npy(const std::filesystem::path& path, std::vector<std::string>* warnings = nullptr) {
    file_source source(path);
    npy_detail::whole_source stream(source);
    return npy_detail::read(stream, source.size(), path.string(), warnings, true);
}

/// The bytes that precede an array's own in a `.npy` image: version 1.0, padded so that the data begin at a multiple
/// of 64.
/// \throws file_error if the array has more axes than the reader takes
[[nodiscard]] inline std::vector<std::byte> npy_prefix(dtype type, std::span<const std::size_t> shape,
                                                       std::string_view where = "npy") {
    if (shape.size() > npy_rank_limit)
        throw file_error(where, "cannot be written: " + std::to_string(shape.size()) + " dimensions",
                         "at most " + std::to_string(npy_rank_limit));
    std::string text = "{'descr': '" + npy_descr(type) + "', 'fortran_order': False, 'shape': (";
    for (std::size_t i = 0; i < shape.size(); ++i) text += (i ? ", " : "") + std::to_string(shape[i]);
    text += shape.size() == 1 ? ",), }" : "), }";
    while ((10 + text.size() + 1) % 64 != 0) text += ' ';
    text += '\n';
    std::string image = "\x93NUMPY\x01";
    image += '\0';
    image += static_cast<char>(text.size() & 255U);
    image += static_cast<char>(text.size() >> 8U);
    image += text;
    const auto bytes = std::as_bytes(std::span{image});
    return {bytes.begin(), bytes.end()};
}

/// An array as a `.npy` image: C order, this machine's byte order. Equal arrays give equal bytes.
[[nodiscard]] inline std::vector<std::byte> to_npy(const array_view& value) {
    std::vector<std::byte> image = npy_prefix(value.type, value.shape);
    if (value.bytes() != 0) image.insert(image.end(), value.data, value.data + value.bytes());
    return image;
}

/// Writes a `.npy` file. \throws file_error if it cannot be written
inline void write_npy(const std::filesystem::path& path, const array_view& value) {
    const std::string where = path.string();
    const std::vector<std::byte> prefix = npy_prefix(value.type, value.shape, where);
    std::FILE* file = std::fopen(path.c_str(), "wb");
    if (!file) throw file_error(where, std::string{"cannot be written: "} + std::strerror(errno));
    const auto put = [file](const std::byte* data, std::size_t count) {
        return count == 0 || std::fwrite(data, 1, count, file) == count;
    };
    int problem = put(prefix.data(), prefix.size()) && put(value.data, value.bytes()) ? 0 : errno;
    if (std::fclose(file) != 0 && problem == 0) problem = errno;
    if (problem != 0) throw file_error(where, std::string{"cannot be written: "} + std::strerror(problem));
}

} // namespace attest
