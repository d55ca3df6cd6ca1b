// SPDX-License-Identifier: BSL-1.0
// A worked example as plain data: headings, sentences, lines of formulas, matrices. Nothing here knows how it will be written.
#pragma once

#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace attest::worked {

// A piece of a formula, as text and as LaTeX (amsmath; KaTeX reads it, too).
struct math {
    std::string text, latex;

    math() = default;
    math(std::string as_text, std::string as_latex) : text{std::move(as_text)}, latex{std::move(as_latex)} {}
    // The same in both.
    math(std::string both) : text{both}, latex{std::move(both)} {}  // NOLINT(google-explicit-constructor)
    math(const char* both) : math(std::string(both)) {}              // NOLINT(google-explicit-constructor)

    friend math operator+(math a, const math& b) {
        a.text += b.text;
        a.latex += b.latex;
        return a;
    }
    math& operator+=(const math& b) { return *this = std::move(*this) + b; }
};

// = or ≈, and what stands behind it.
struct link {
    bool rounded = false;
    math what;
};
struct line {
    math left;
    std::vector<link> links;
};

// "words", or a formula among words.
struct phrase {
    bool is_formula = false;
    math what;

    phrase(const char* words) : what(words) {} // NOLINT(google-explicit-constructor)
    phrase(std::string words) : what(std::move(words)) {} // NOLINT(google-explicit-constructor)
    phrase(math formula) : is_formula{true}, what{std::move(formula)} {} // NOLINT(google-explicit-constructor)
};

struct heading {
    int level = 1; // 1: of the whole; 2: of a slice or question; 3: of a step
    std::string words;
};
using sentence = std::vector<phrase>;
using formulas = std::vector<line>;
struct matrix {
    math name;
    bool rounded = false; // all its entries are, which ≈ says; otherwise those that are carry ≈ themselves
    std::vector<std::vector<math>> entries;
};

using block = std::variant<heading, sentence, formulas, matrix>;
struct document {
    std::vector<block> blocks;
    bool undetermined = false; // a digit somewhere is "?"
};

enum class style { text, markdown, latex };
// text, markdown, latex; usage_error for others.
[[nodiscard]] style style_of(const std::string& name);
[[nodiscard]] std::string render(const document& steps, style how);

} // namespace attest::worked
