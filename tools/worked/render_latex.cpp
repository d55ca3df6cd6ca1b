// SPDX-License-Identifier: BSL-1.0
// LaTeX, a fragment for a document with amsmath and amssymb. Its formulas are KaTeX's language too.
#include "render.hpp"

namespace attest::worked {

namespace {

constexpr std::size_t longest = 150; // of LaTeX in one line of align*

// Words, with what LaTeX takes for commands taken out of the way.
std::string escaped(std::string_view words) {
    std::string out;
    for (const char c : words) {
        if (c == '_' || c == '%' || c == '&' || c == '#' || c == '$' || c == '{' || c == '}') out += '\\';
        if (c == '\\') out += "\\textbackslash{}";
        else if (c == '^') out += "\\textasciicircum{}";
        else if (c == '~') out += "\\textasciitilde{}";
        else out += c;
    }
    return out;
}

std::string of(const heading& h) {
    const char* const command = h.level == 1 ? "\\section*{" : h.level == 2 ? "\\subsection*{" : "\\subsubsection*{";
    return command + escaped(h.words) + "}\n";
}
std::string of(const sentence& s) {
    std::string out;
    for (const phrase& p : s) out += p.is_formula ? "$" + p.what.latex + "$" : escaped(p.what.text);
    return out + "\n\n";
}
std::string of(const formulas& lines) {
    std::string out = "\\begin{align*}\n";
    for (std::size_t i = 0; i < lines.size(); ++i) {
        out += lines[i].left.latex;
        std::size_t used = out.size();
        bool first = true;
        for (const link& k : lines[i].links) {
            const bool broken = !first && out.size() - used + k.what.latex.size() > longest;
            if (broken) {
                out += " \\\\\n";
                used = out.size();
            }
            out += std::string(first || broken ? " &" : " ") + (k.rounded ? "\\approx " : "= ") + k.what.latex;
            first = false;
        }
        out += i + 1 == lines.size() ? "\n" : " \\\\\n";
    }
    return out + "\\end{align*}\n";
}
std::string of(const matrix& m) {
    const std::size_t rows = m.entries.size(), cells = rows == 0 ? 0 : m.entries[0].size();
    std::string out = "\\[\n" + m.name.latex + (m.rounded ? " \\approx " : " = ") + "\\begin{pmatrix}\n";
    for (std::size_t r = 0; r < rows; ++r) {
        for (std::size_t c = 0; c < cells; ++c) out += (c == 0 ? "" : " & ") + m.entries[r][c].latex;
        out += r + 1 == rows ? "\n" : " \\\\\n";
    }
    return out + "\\end{pmatrix} \\in \\mathbb{R}^{" + std::to_string(rows) + " \\times " + std::to_string(cells) + "}\n\\]\n";
}

} // namespace

std::string render_latex(const document& steps) {
    std::string out;
    for (const block& b : steps.blocks) out += std::visit([](const auto& x) { return of(x); }, b);
    return out;
}

} // namespace attest::worked
