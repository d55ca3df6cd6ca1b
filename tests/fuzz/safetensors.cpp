// SPDX-License-Identifier: BSL-1.0
// Any bytes are an archive, or a refusal in one line; and an archive is written and read as it was. To run it:
//   clang++ -std=c++20 -g -O1 -fsanitize=fuzzer,address,undefined -I include tests/fuzz/safetensors.cpp -o
//   fuzz_safetensors
//   ./fuzz_safetensors -max_len=2048 -rss_limit_mb=512 CORPUS
// with tests/io/files/*.safetensors in CORPUS to begin with. The first byte of an input says how the rest is taken: as
// a file, or as a header and data whose length is put in front.
#include "attest/io/safetensors.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string_view>
#include <vector>

namespace {

bool same(const attest::archive& a, const attest::archive& b) {
    const auto equal = [](const attest::named_array& x, const attest::named_array& y) {
        return x.name == y.name && x.value.type == y.value.type && x.value.shape == y.value.shape &&
               x.value.data == y.value.data;
    };
    return a.texts == b.texts && std::equal(a.arrays.begin(), a.arrays.end(), b.arrays.begin(), b.arrays.end(), equal);
}

/// A refusal that is not one line of UTF-8 is as bad as a crash.
void check_line(std::string_view text) {
    if (!text.starts_with("input: ") || attest::printable(text) != text) std::abort();
}

void attempt(std::span<const std::byte> bytes) {
    attest::archive content;
    try {
        content = attest::parse_safetensors(bytes, "input");
    } catch (const attest::file_error& error) {
        check_line(error.what());
        return;
    }
    std::size_t data = 0;
    for (const attest::named_array& item : content.arrays) {
        if (item.value.data.size() != item.value.elements() * attest::size_of(item.value.type)) std::abort();
        if (attest::printable(item.name) != item.name) std::abort();
        data += item.value.data.size();
    }
    if (data > bytes.size()) std::abort();
    // Written once, the larger elements come first; written again, nothing changes.
    const std::vector<std::byte> written = attest::to_safetensors(content);
    const attest::archive sorted = attest::parse_safetensors(written, "input");
    if (sorted.texts != content.texts || sorted.arrays.size() != content.arrays.size()) std::abort();
    const std::vector<std::byte> again = attest::to_safetensors(sorted);
    if (again != written || !same(attest::parse_safetensors(again, "input"), sorted)) std::abort();
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    std::span<const std::byte> bytes = std::as_bytes(std::span{data, size});
    if (size == 0) return 0;
    const auto how = std::to_integer<unsigned>(bytes[0]);
    if (how % 2 == 0) {
        attempt(bytes.subspan(1));
        attempt(bytes);
        return 0;
    }
    // The header ends at the last bracket.
    bytes = bytes.subspan(1);
    const auto last = std::find(bytes.rbegin(), bytes.rend(), std::byte{'}'});
    auto length = static_cast<std::size_t>(bytes.rend() - last);
    std::vector<std::byte> file;
    for (int i = 0; i < 8; ++i, length >>= 8U) file.push_back(static_cast<std::byte>(length & 255U));
    file.insert(file.end(), bytes.begin(), bytes.end());
    attempt(file);
    return 0;
}
