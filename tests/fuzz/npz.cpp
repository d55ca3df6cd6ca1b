// SPDX-License-Identifier: BSL-1.0
// Any bytes are an archive, an array, settings, or a refusal in one line. To run it:
//   clang++ -std=c++20 -g -O1 -fsanitize=fuzzer,address,undefined -I include tests/fuzz/npz.cpp -o fuzz_npz -lzip
//   ./fuzz_npz -max_len=4096 -rss_limit_mb=512 CORPUS
// with a few small .npy and .npz files in CORPUS to begin with.
#include "attest/io/npz.hpp"
#include "attest/io/metadata.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string_view>

namespace {

/// Calls a reader; a refusal that is not one line is as bad as a crash.
template <class Call>
void attempt(Call&& call) {
    try {
        call();
    } catch (const attest::file_error& error) {
        const std::string_view text = error.what();
        if (!text.starts_with("input: ") && !text.starts_with("input.npz: ")) std::abort();
        if (text.find('\n') != std::string_view::npos || !attest::is_utf8(text)) std::abort();
    }
}

void check(const attest::array& value) {
    if (value.data.size() != value.elements() * attest::size_of(value.type)) std::abort();
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::span<const std::byte> bytes = std::as_bytes(std::span{data, size});
    attempt([bytes] { check(attest::parse_npy(bytes, "input")); });
    attempt([bytes] {
        const attest::archive content = attest::parse_npz(bytes, "input.npz");
        for (const attest::named_array& item : content.arrays) check(item.value);
        for (const auto& text : content.texts) attempt([&text] { (void)attest::parse_settings(text.second, "input"); });
    });
    attempt([bytes] {
        const std::string_view text{reinterpret_cast<const char*>(bytes.data()), bytes.size()};
        const attest::settings values = attest::parse_settings(text, "input");
        if (attest::parse_settings(attest::settings_text(values, "input"), "input") != values) std::abort();
    });
    return 0;
}
