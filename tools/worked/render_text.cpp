// SPDX-License-Identifier: BSL-1.0
// Text in Unicode, in lines of at most 120 columns wherever there is a place to break them.
#include "render.hpp"

#include <algorithm>

namespace attest::worked {

namespace {

constexpr std::size_t width = 120;

// Letters, not bytes: those that continue a letter of UTF-8 begin with the bits 10.
std::size_t columns(std::string_view text) {
    return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}
std::string spaces(std::size_t n) { return std::string(n, ' '); }

// Appends a formula to a line that stands at `column`, broken before " + " where it would be too long.
void put_broken(std::string& out, std::size_t& column, std::string_view text, std::size_t indent) {
    if (column + columns(text) <= width) {
        out += text;
        column += columns(text);
        return;
    }
    for (bool first = true; !text.empty(); first = false) {
        const std::size_t next = text.find(" + ", first ? 0 : 1), end = next == std::string_view::npos ? text.size() : next;
        std::string_view part = text.substr(0, end);
        if (!first && column + columns(part) > width) {
            out += "\n" + spaces(indent);
            column = indent;
            part.remove_prefix(1); // the space before +
        }
        out += part;
        column += columns(part);
        text.remove_prefix(end);
    }
}

std::string of(const line& l) {
    std::string out = "  " + l.left.text;
    std::size_t column = columns(out);
    const std::size_t indent = std::min<std::size_t>(column + 1, 40);
    bool first = true;
    for (const link& k : l.links) {
        if (!first && column + 3 + columns(k.what.text) > width) {
            out += "\n" + spaces(indent);
            column = indent;
        } else {
            out += ' ';
            ++column;
        }
        out += k.rounded ? "≈ " : "= ";
        column += 2;
        put_broken(out, column, k.what.text, indent + 2);
        first = false;
    }
    return out + "\n";
}

std::string of(const matrix& m) {
    const std::size_t rows = m.entries.size(), cells = rows == 0 ? 0 : m.entries[0].size();
    std::vector<std::size_t> wide(cells, 0);
    for (const auto& row : m.entries)
        for (std::size_t c = 0; c < cells; ++c) wide[c] = std::max(wide[c], columns(row[c].text));
    const std::string before = "  " + m.name.text + (m.rounded ? " ≈ " : " = ");
    std::string out;
    for (std::size_t r = 0; r < rows; ++r) {
        out += r == 0 ? before : spaces(columns(before));
        out += rows == 1 ? "[" : r == 0 ? "⎡" : r + 1 == rows ? "⎣" : "⎢";
        for (std::size_t c = 0; c < cells; ++c) out += (c == 0 ? " " : "  ") + spaces(wide[c] - columns(m.entries[r][c].text)) + m.entries[r][c].text;
        out += rows == 1 ? " ]" : r == 0 ? " ⎤" : r + 1 == rows ? " ⎦" : " ⎥";
        if (r == 0) out += "   " + std::to_string(rows) + "×" + std::to_string(cells);
        out += "\n";
    }
    return out;
}

std::string of(const sentence& s) {
    std::string whole, out;
    for (const phrase& p : s) whole += p.what.text;
    std::size_t column = 0;
    for (std::string_view rest = whole; !rest.empty();) {
        const std::size_t end = std::min(rest.find(' '), rest.size());
        const std::string_view word = rest.substr(0, end);
        if (column != 0 && column + 1 + columns(word) > width) {
            out += "\n";
            column = 0;
        } else if (column != 0) {
            out += " ";
            ++column;
        }
        out += word;
        column += columns(word);
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return out + "\n";
}

std::string of(const heading& h) {
    if (h.level >= 3) return "\n" + h.words + "\n";
    return "\n" + h.words + "\n" + std::string(columns(h.words), h.level == 1 ? '=' : '-') + "\n";
}
std::string of(const formulas& lines) {
    std::string out;
    for (const line& l : lines) out += of(l);
    return out;
}

} // namespace

std::string render_text(const document& steps) {
    std::string out;
    for (const block& b : steps.blocks) out += std::visit([](const auto& x) { return of(x); }, b);
    return out.substr(out.starts_with('\n') ? 1 : 0); // no empty line before the title
}

} // namespace attest::worked
