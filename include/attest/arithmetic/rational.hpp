// SPDX-License-Identifier: BSL-1.0
/// \file
/// `rational`: exact fractions of whole numbers of fixed width, in constant expressions too. What is true of them is proved, not enclosed.
///
/// There is no exponential: a formula that needs one does not compile. There is a root, of squares.
#pragma once

#include "attest/arithmetic/decimal.hpp"
#include "attest/arithmetic/fixed_point.hpp"
#include "attest/arithmetic/scalar.hpp"

#include <concepts>

namespace attest {

/// numerator/denominator, in lowest terms, with denominator > 0, so that equal numbers have equal parts. What outgrows `Bits` throws
/// std::overflow_error, a division by 0 std::domain_error: in a constant expression neither compiles.
template <unsigned Bits>
class basic_rational {
public:
    using integer = fixed_point::integer<Bits>;

    /// 0.
    constexpr basic_rational() = default;
    template <std::integral I>
        requires(!std::same_as<I, bool>)
    constexpr basic_rational(I value) : numerator_{value} {} // NOLINT(google-explicit-constructor): as in every arithmetic
    constexpr basic_rational(const basic_rational&) = default;
    // By swap, as in interval.hpp: Boost's own assignment asks whether the two are one object.
    constexpr basic_rational& operator=(const basic_rational& other) {
        basic_rational copy = other;
        numerator_.swap(copy.numerator_);
        denominator_.swap(copy.denominator_);
        return *this;
    }
    constexpr ~basic_rational() = default;

    /// p/q. Throws std::domain_error for q = 0.
    [[nodiscard]] static constexpr basic_rational ratio(const integer& p, const integer& q) {
        if (q == 0) throw std::domain_error("division by 0");
        basic_rational x;
        const integer divisor = greatest_common_divisor(p, q);
        x.numerator_ = fixed_point::floor_quotient(q < 0 ? integer(-p) : p, divisor); // exact
        x.denominator_ = fixed_point::floor_quotient(q < 0 ? integer(-q) : q, divisor);
        return x;
    }
    /// What is printed, exactly: "8", "-0.5", "0.66975", or a fraction of two such, "88/25". For the syntax see printed_decimal::read.
    [[nodiscard]] static constexpr basic_rational decimal(std::string_view text) {
        const std::size_t slash = text.find('/');
        const auto above = printed_decimal<integer>::read(text.substr(0, slash));
        if (slash == std::string_view::npos) return ratio(above.digits, above.unit);
        const auto below = printed_decimal<integer>::read(text.substr(slash + 1));
        return ratio(above.digits * below.unit, above.unit * below.digits);
    }

    [[nodiscard]] constexpr const integer& numerator() const noexcept { return numerator_; }
    [[nodiscard]] constexpr const integer& denominator() const noexcept { return denominator_; }

    friend constexpr basic_rational operator-(const basic_rational& a) {
        basic_rational x = a;
        x.numerator_ = -a.numerator_;
        return x;
    }
    friend constexpr basic_rational operator+(const basic_rational& a, const basic_rational& b) {
        return ratio(a.numerator_ * b.denominator_ + b.numerator_ * a.denominator_, a.denominator_ * b.denominator_);
    }
    friend constexpr basic_rational operator-(const basic_rational& a, const basic_rational& b) { return a + -b; }
    friend constexpr basic_rational operator*(const basic_rational& a, const basic_rational& b) {
        return ratio(a.numerator_ * b.numerator_, a.denominator_ * b.denominator_);
    }
    /// Throws std::domain_error for b = 0.
    friend constexpr basic_rational operator/(const basic_rational& a, const basic_rational& b) {
        return ratio(a.numerator_ * b.denominator_, a.denominator_ * b.numerator_);
    }
    friend constexpr bool operator==(const basic_rational& a, const basic_rational& b) {
        return a.numerator_ == b.numerator_ && a.denominator_ == b.denominator_;
    }
    friend constexpr bool operator<(const basic_rational& a, const basic_rational& b) {
        return a.numerator_ * b.denominator_ < b.numerator_ * a.denominator_;
    }
    friend constexpr bool operator>(const basic_rational& a, const basic_rational& b) { return b < a; }
    friend constexpr bool operator<=(const basic_rational& a, const basic_rational& b) { return !(b < a); }
    friend constexpr bool operator>=(const basic_rational& a, const basic_rational& b) { return !(a < b); }

    /// The root of a square. Throws std::domain_error for what is none.
    friend constexpr basic_rational attest_sqrt(const basic_rational& x) {
        if (x.numerator_ < 0) throw std::domain_error("the root of a negative number");
        basic_rational root;
        root.numerator_ = fixed_point::floor_root(x.numerator_);
        root.denominator_ = fixed_point::floor_root(x.denominator_);
        if (!(root * root == x)) throw std::domain_error("the root of this fraction is irrational");
        return root;
    }

private:
    // Euclid's, of magnitudes; of 0 and q: q.
    static constexpr integer greatest_common_divisor(const integer& p, const integer& q) {
        integer a = p < 0 ? integer(-p) : p, b = q < 0 ? integer(-q) : q;
        while (b != 0) {
            integer quotient, remainder;
            divide_qr(a, b, quotient, remainder);
            a.swap(b);
            b.swap(remainder);
        }
        return a;
    }

    integer numerator_ = 0;
    integer denominator_ = 1;
};

/// Numerators and denominators of up to 512 bits: 154 decimal digits.
using rational = basic_rational<512>;

} // namespace attest
