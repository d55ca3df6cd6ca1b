// SPDX-License-Identifier: BSL-1.0
// Numbers made of fractions, square roots and exponentials, in a form in which equal sums look equal: whether such a number is a fraction is then read
// off, where no enclosure could tell (weights that sum to 1; gradients that cancel).
//
// A form is a quotient of sums Σ c·e^a, where the c and the a are sums Σ f·√n of fractions times roots of whole numbers. Everything said here is an
// identity, so that "it is this fraction" is proved; "it is none" is never said.
#pragma once

#include "attest/arithmetic/big_float.hpp"

#include <map>
#include <optional>

#include <boost/multiprecision/cpp_int.hpp>

namespace attest::worked {

using integer = big_float::integer;
using fraction = boost::multiprecision::number<boost::multiprecision::rational_adaptor<integer::backend_type>, boost::multiprecision::et_off>;

// The root of a square, of which there is none for other numbers.
[[nodiscard]] std::optional<fraction> root_of_square(const fraction& x);

using surd = std::map<integer, fraction>;       // Σ f·√n, keyed by n; no f is 0
using exponential_sum = std::map<surd, surd>;   // Σ c·e^a, keyed by a; no c is empty

class form {
public:
    form() = default; // 0
    explicit form(const fraction& x);

    // Nothing where the result would have too many terms, or is none of these forms.
    [[nodiscard]] static std::optional<form> sum(const form& a, const form& b);
    [[nodiscard]] static std::optional<form> product(const form& a, const form& b);
    [[nodiscard]] static std::optional<form> quotient(const form& a, const form& b);
    [[nodiscard]] static std::optional<form> root(const form& a);
    [[nodiscard]] static std::optional<form> exponential(const form& a);

    // The fraction that the form is, or nothing where that is not seen.
    [[nodiscard]] std::optional<fraction> as_fraction() const;

private:
    form(exponential_sum above, exponential_sum below);
    // Without exponentials and denominator: the surd; else nothing.
    [[nodiscard]] const surd* as_surd() const;

    exponential_sum above_;
    exponential_sum below_ = {{{}, {{1, 1}}}};
};

} // namespace attest::worked
