// SPDX-License-Identifier: BSL-1.0
// The numbers of a worked example: exact, whatever was computed to get them.
//
// A number is its own formula, a tree of + − · / √ exp sin cos erf over fractions. What can be a fraction is one at once. Of the others there are
// enclosures, as narrow as is wished (balls of arithmetic/ball.hpp), and a form (form.hpp) that sees when roots and exponentials cancel.
#pragma once

#include "form.hpp"

#include "attest/arithmetic/ball.hpp"

#include <memory>

namespace attest::worked {

class number {
public:
    number() : number(0) {}
    number(int x) : number(fraction(x)) {} // NOLINT(google-explicit-constructor): as in every arithmetic
    explicit number(const fraction& x);

    friend number operator+(const number& a, const number& b);
    friend number operator-(const number& a, const number& b);
    friend number operator*(const number& a, const number& b);
    friend number operator/(const number& a, const number& b);
    friend number operator-(const number& a);
    friend number sqrt(const number& a);
    friend number exp(const number& a);
    friend number sin(const number& a);
    friend number cos(const number& a);
    friend number erf(const number& a);
    // base^(p/q), for base > 0.
    friend number power(const number& base, int p, int q);

    // The fraction that the number is, where that is known.
    [[nodiscard]] const std::optional<fraction>& exact() const;
    [[nodiscard]] bool is(int x) const { return exact() && *exact() == x; }
    // Holds the number; computed with so many bits.
    [[nodiscard]] const ball<big_float>& enclosure(unsigned bits) const;

    struct node;

private:
    enum class operation { value, sum, product, quotient, root, exponential, sine, cosine, error_function, logarithm };
    friend struct node;
    static number of(operation what, const number& a, const number& b);
    std::shared_ptr<node> node_;
};

// Precisions that are tried before a number counts as undetermined.
inline constexpr unsigned least_bits = 128, most_bits = 4096;

// −1, 0, 1; nothing where most_bits do not tell.
[[nodiscard]] std::optional<int> sign(const number& x);
// Which is greater; nothing as above.
[[nodiscard]] inline std::optional<int> compare(const number& a, const number& b) { return sign(a - b); }

} // namespace attest::worked
