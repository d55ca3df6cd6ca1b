// SPDX-License-Identifier: BSL-1.0
#include "writer.hpp"

#include <algorithm>

namespace attest::worked {

table product(const table& a, const table& b) {
    table c(a.rows, b.columns);
    for (std::size_t i = 0; i < a.rows; ++i)
        for (std::size_t j = 0; j < b.columns; ++j)
            for (std::size_t m = 0; m < a.columns; ++m) c(i, j) = c(i, j) + a(i, m) * b(m, j);
    return c;
}
table transposed(const table& a) {
    table t(a.columns, a.rows);
    for (std::size_t i = 0; i < a.rows; ++i)
        for (std::size_t j = 0; j < a.columns; ++j) t(j, i) = a(i, j);
    return t;
}

math indexed(const math& name, std::size_t i) {
    const std::string n = std::to_string(i + 1);
    return {name.text + "_" + n, name.latex + "_{" + n + "}"};
}
math indexed(const math& name, std::size_t i, std::size_t j) {
    const std::string n = std::to_string(i + 1), m = std::to_string(j + 1);
    return {name.text + "_" + n + m, name.latex + "_{" + n + m + "}"};
}
math times() { return {"·", " \\cdot "}; }
math minus_infinity_sign() { return {"−∞", "-\\infty"}; }
math root_of(const math& x) { return {"√" + x.text, "\\sqrt{" + x.latex + "}"}; }
math e_to(const math& exponent) { return {"e^" + (exponent.text.size() > 1 ? "(" + exponent.text + ")" : exponent.text), "e^{" + exponent.latex + "}"}; }
namespace {
// What has an operation in it, in parentheses, as a part of a fraction that is written in a line.
std::string grouped(const std::string& text) { return text.find("·10^") != std::string::npos && text.front() != '(' ? "(" + text + ")" : text; }
} // namespace
math over(const math& above, const math& below) { return {grouped(above.text) + "/" + grouped(below.text), "\\frac{" + above.latex + "}{" + below.latex + "}"}; }

namespace {

math as_math(const printed& p) {
    math m(p.digits);
    if (p.power) {
        const std::string power = std::to_string(*p.power);
        m = {p.digits + "·10^" + power, p.digits + " \\cdot 10^{" + power + "}"};
    }
    return m;
}
// 1/3, 12/7: written as they are in matrices and vectors.
bool is_short(const printed& p) { return !p.above.empty() && p.above.size() <= 3 && p.below.size() <= 2; }
math in_parentheses(const math& m) { return {"(" + m.text + ")", "(" + m.latex + ")"}; }

} // namespace

void writer::say_marks() {
    say({math("=", "="), " is exact; ", math("≈", "\\approx"), " is correctly rounded from the exact value, not from the rounded numbers before it."});
}

math writer::digits(const number& x) {
    const printed p = print(x, decimals_);
    if (p.is == printed::kind::undetermined) steps.undetermined = true;
    return as_math(p);
}
math writer::operand(const number& x) {
    const math m = digits(x);
    return m.text.front() == '-' || m.text.find("·10^") != std::string::npos ? in_parentheses(m) : m;
}
bool writer::is_exact_entry(const number& x) const {
    const printed p = print(x, decimals_);
    return p.is_exact() || is_short(p);
}
math writer::marked(const number& x, bool all_rounded) {
    const printed p = print(x, decimals_);
    if (is_short(p)) return {p.above + "/" + p.below, p.above + "/" + p.below};
    return all_rounded || p.is_exact() ? digits(x) : math("≈", "{\\approx}") + digits(x);
}

std::vector<link> writer::value(const number& x, std::vector<link> before) {
    const printed p = print(x, decimals_);
    if (!p.above.empty()) {
        const bool negative = p.above.front() == '-';
        const math f = over(p.above.substr(negative ? 1 : 0), p.below);
        before.push_back({false, (negative ? math("-") : math("")) + f});
    }
    // 8 = 8 says nothing.
    math shown = digits(x);
    if (p.is == printed::kind::tiny) shown += math(" (below 10^-1000 in size)", "\\ (\\text{below } 10^{-1000}\\text{ in size})");
    const bool repeated = p.is_exact() && !before.empty() && !before.back().rounded && before.back().what.text == shown.text;
    if (!repeated) before.push_back({!p.is_exact(), shown});
    return before;
}

void writer::put(formulas lines) {
    for (line& l : lines) {
        const auto last_exact = std::find_if(l.links.rbegin(), l.links.rend(), [](const link& k) { return !k.rounded; }).base();
        l.links.erase(std::remove_if(l.links.begin(), last_exact, [](const link& k) { return k.rounded; }), last_exact);
    }
    if (!lines.empty()) steps.blocks.emplace_back(std::move(lines));
}

link writer::vector(const std::vector<number>& x) {
    const bool all_rounded = std::none_of(x.begin(), x.end(), [this](const number& n) { return is_exact_entry(n); });
    if (x.size() == 1) return {!is_exact(x[0]), digits(x[0])}; // no parentheses
    math m("(");
    for (std::size_t i = 0; i < x.size(); ++i) m += (i == 0 ? math("") : math(", ")) + marked(x[i], all_rounded);
    return {all_rounded, m + math(")")};
}

link writer::dot(const std::vector<number>& a, const std::vector<number>& b) {
    link l;
    for (std::size_t i = 0; i < a.size(); ++i) {
        l.what += (i == 0 ? math("") : math(" + ")) + operand(a[i]) + times() + operand(b[i]);
        l.rounded = l.rounded || !is_exact(a[i]) || !is_exact(b[i]);
    }
    return l;
}
link writer::sum(const std::vector<number>& a) {
    link l;
    for (std::size_t i = 0; i < a.size(); ++i) {
        l.what += (i == 0 ? digits(a[i]) : math(" + ") + operand(a[i]));
        l.rounded = l.rounded || !is_exact(a[i]);
    }
    return l;
}
link writer::combination(const std::vector<number>& a, const table& rows) {
    link l;
    for (std::size_t i = 0; i < a.size(); ++i) {
        const link v = vector(rows.row(i));
        l.what += (i == 0 ? math("") : math(" + ")) + operand(a[i]) + times() + (rows.columns == 1 ? operand(rows(i, 0)) : v.what);
        l.rounded = l.rounded || v.rounded || !is_exact(a[i]);
    }
    return l;
}

void writer::put(const math& name, const table& t, const std::function<bool(std::size_t, std::size_t)>& shown) {
    matrix m;
    m.name = name;
    m.rounded = true;
    for (std::size_t i = 0; i < t.rows; ++i)
        for (std::size_t j = 0; j < t.columns; ++j) m.rounded = m.rounded && shown(i, j) && !is_exact_entry(t(i, j));
    for (std::size_t i = 0; i < t.rows; ++i) {
        m.entries.emplace_back();
        for (std::size_t j = 0; j < t.columns; ++j) m.entries.back().push_back(shown(i, j) ? marked(t(i, j), m.rounded) : minus_infinity_sign());
    }
    steps.blocks.emplace_back(std::move(m));
}

} // namespace attest::worked
