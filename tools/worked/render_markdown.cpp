// SPDX-License-Identifier: BSL-1.0
// Markdown: headings, lists of formulas between dollars, and a table for each matrix. Tables, and not matrices of LaTeX, since some readers of Markdown
// eat the double backslash that those need.
#include "render.hpp"

namespace attest::worked {

namespace {

std::string escaped(std::string_view words) {
    std::string out;
    for (const char c : words) {
        if (c == '*' || c == '_' || c == '`' || c == '<' || c == '|' || c == '$' || c == '\\' || c == '[' || c == ']') out += '\\';
        out += c;
    }
    return out;
}

std::string of(const heading& h) { return std::string(static_cast<std::size_t>(h.level), '#') + " " + escaped(h.words) + "\n\n"; }
std::string of(const sentence& s) {
    std::string out;
    for (const phrase& p : s) out += p.is_formula ? "$" + p.what.latex + "$" : escaped(p.what.text);
    return out + "\n\n";
}
std::string of(const formulas& lines) {
    std::string out;
    for (const line& l : lines) {
        out += "- $" + l.left.latex;
        for (const link& k : l.links) out += (k.rounded ? " \\approx " : " = ") + k.what.latex;
        out += "$\n";
    }
    return out + "\n";
}
std::string of(const matrix& m) {
    const std::size_t rows = m.entries.size(), cells = rows == 0 ? 0 : m.entries[0].size();
    std::string out = "$" + m.name.latex + "$ is " + std::to_string(rows) + "×" + std::to_string(cells) + (m.rounded ? ", rounded (≈):" : ":") + "\n\n|   |";
    for (std::size_t c = 0; c < cells; ++c) out += " " + std::to_string(c + 1) + " |";
    out += "\n|---|";
    for (std::size_t c = 0; c < cells; ++c) out += "---:|";
    for (std::size_t r = 0; r < rows; ++r) {
        out += "\n| " + std::to_string(r + 1) + " |";
        for (std::size_t c = 0; c < cells; ++c) out += " $" + m.entries[r][c].latex + "$ |";
    }
    return out + "\n\n";
}

} // namespace

std::string render_markdown(const document& steps) {
    std::string out;
    for (const block& b : steps.blocks) out += std::visit([](const auto& x) { return of(x); }, b);
    return out;
}

} // namespace attest::worked
