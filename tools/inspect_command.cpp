// SPDX-License-Identifier: BSL-1.0
#include "commands.hpp"
#include "load.hpp"

#include "attest/oracle/decode.hpp"
#include "attest/report/numbers.hpp"

#include <cmath>
#include <cstdint>
#include <cstring>

namespace attest::program {

namespace {

struct content {
    double least = INFINITY, greatest = -INFINITY;
    std::size_t nans = 0, infinities = 0;
};

// The element as a double; 64-bit integers beyond 2^53 are rounded, which is good enough to look at.
double element(const array& a, std::size_t e) {
    std::int64_t bits = 0;
    if (a.type != dtype::i64 && a.type != dtype::u64) return decode(a, e);
    std::memcpy(&bits, a.data.data() + e * sizeof bits, sizeof bits);
    return a.type == dtype::i64 ? static_cast<double>(bits) : static_cast<double>(static_cast<std::uint64_t>(bits));
}

content look_at(const array& a) {
    content c;
    for (std::size_t e = 0, count = a.elements(); e < count; ++e) {
        const double x = element(a, e);
        if (std::isnan(x)) ++c.nans;
        else if (std::isinf(x)) ++c.infinities;
        else {
            c.least = std::min(c.least, x);
            c.greatest = std::max(c.greatest, x);
        }
    }
    return c;
}

std::string range_text(const named_array& a) {
    if (a.value.type == dtype::raw16) return "two bytes of a type that NumPy does not know; if bf16: --bf16 " + excerpt(a.name, 200);
    if (a.value.elements() == 0) return "empty";
    const content c = look_at(a.value);
    std::string text = c.least <= c.greatest ? fmt::format("{} to {}", report::shortest(c.least), report::shortest(c.greatest)) : "no finite value";
    if (c.nans != 0) text += fmt::format(", {} NaN", c.nans);
    if (c.infinities != 0) text += fmt::format(", {} infinite", c.infinities);
    return text;
}

// A text member as one line.
std::string one_line(const std::string& text) {
    std::string line;
    for (const char c : text) {
        const bool space = c == ' ' || c == '\n' || c == '\t' || c == '\r';
        if (!space) line += c;
        else if (!line.empty() && line.back() != ' ') line += ' ';
    }
    return printable(line);
}

} // namespace

int run_inspect_command(const std::string& file, const std::vector<std::string>& bf16) {
    return guarded(file, [&] {
        archive content = load_archive(file);
        declare_bf16(content.arrays, bf16);
        for (const named_array& a : content.arrays)
            fmt::print("{:<16} {:<5} {:<20} {}\n", excerpt(a.name, 200), name_of(a.value.type), shape_text(a.value.shape), range_text(a));
        for (const auto& [name, text] : content.texts) fmt::print("{:<16} text  {}\n", excerpt(name, 200), one_line(text));
        for (const std::string& warning : content.warnings) say_error("warning: " + warning);
        return static_cast<int>(passed);
    });
}

} // namespace attest::program
