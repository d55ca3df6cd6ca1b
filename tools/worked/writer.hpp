// SPDX-License-Identifier: BSL-1.0
// Puts numbers into formulas, and formulas into a document: what the steps of all ops share.
#pragma once

#include "digits.hpp"
#include "steps.hpp"

#include <functional>

namespace attest::worked {

// The numbers of a matrix, row by row; nothing for a hidden entry, −∞.
struct table {
    std::size_t rows = 0, columns = 0;
    std::vector<number> entries;

    table() = default;
    table(std::size_t n, std::size_t m) : rows{n}, columns{m}, entries(n * m) {}
    number& operator()(std::size_t r, std::size_t c) { return entries[r * columns + c]; }
    const number& operator()(std::size_t r, std::size_t c) const { return entries[r * columns + c]; }
    [[nodiscard]] std::vector<number> row(std::size_t r) const {
        const auto begin = entries.begin() + static_cast<std::ptrdiff_t>(r * columns);
        return {begin, begin + static_cast<std::ptrdiff_t>(columns)};
    }
};
[[nodiscard]] table product(const table& a, const table& b);
[[nodiscard]] table transposed(const table& a);

// q_1; s_12; with a second index. Indices are counted from 1.
[[nodiscard]] math indexed(const math& name, std::size_t i);
[[nodiscard]] math indexed(const math& name, std::size_t i, std::size_t j);
[[nodiscard]] math times();
[[nodiscard]] math minus_infinity_sign();
[[nodiscard]] math root_of(const math& x);
[[nodiscard]] math e_to(const math& exponent);
[[nodiscard]] math over(const math& above, const math& below);

class writer {
public:
    explicit writer(int decimals) : decimals_{decimals} {}

    void say(int level, std::string words) { steps.blocks.emplace_back(heading{level, std::move(words)}); }
    void say(sentence words) { steps.blocks.emplace_back(std::move(words)); }
    // "3. Weights"
    void say_step(const std::string& words) { say(3, std::to_string(++step_) + ". " + words); }
    void begin_again() { step_ = 0; }
    // What = and ≈ mean, said once.
    void say_marks();
    // Without the rounded steps that an exact one follows: its = would not be true of them.
    void put(formulas lines);
    void put(const math& name, const table& t) { put(name, t, [](std::size_t, std::size_t) { return true; }); }
    void put(const math& name, const table& t, const std::function<bool(std::size_t, std::size_t)>& shown);

    // The digits alone; and as a summand or factor, a negative one in parentheses.
    [[nodiscard]] math digits(const number& x);
    [[nodiscard]] math operand(const number& x);
    [[nodiscard]] bool is_exact(const number& x) const { return print(x, decimals_).is_exact(); }
    // "= 8", "≈ 0.66976", "= 1/3 ≈ 0.33333", behind what is in `before`.
    [[nodiscard]] std::vector<link> value(const number& x, std::vector<link> before = {});
    // (2, 0), and whether it is = or ≈.
    [[nodiscard]] link vector(const std::vector<number>& x);
    // a_1·b_1 + a_2·b_2 + …, in digits: exact if all of them are.
    [[nodiscard]] link dot(const std::vector<number>& a, const std::vector<number>& b);
    // a_1 + a_2 + …, likewise.
    [[nodiscard]] link sum(const std::vector<number>& a);
    // a_1·(…) + a_2·(…)
    [[nodiscard]] link combination(const std::vector<number>& a, const table& rows);

    document steps;

private:
    // In a matrix or a vector: short fractions are written as such there.
    [[nodiscard]] bool is_exact_entry(const number& x) const;
    [[nodiscard]] math marked(const number& x, bool all_rounded);
    int decimals_;
    int step_ = 0;
};

} // namespace attest::worked
