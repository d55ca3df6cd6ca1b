// SPDX-License-Identifier: BSL-1.0
// Exact fractions, for gradients that have no exponential in them: what agrees here agrees exactly.
#pragma once

#include "attest/arithmetic/scalar.hpp"

#include <boost/multiprecision/cpp_int.hpp>

#include <concepts>
#include <ostream>
#include <stdexcept>
#include <string>

namespace exactly {

/// A fraction of integers without limit. Has a root where that is a fraction, and throws std::domain_error elsewhere, as for a division by 0. No
/// exponential, no NaN, no infinity.
class rational {
public:
    using number = boost::multiprecision::number<boost::multiprecision::cpp_rational::backend_type, boost::multiprecision::et_off>;
    using integer = boost::multiprecision::number<boost::multiprecision::cpp_int::backend_type, boost::multiprecision::et_off>;

    rational() = default;
    // A template, so that 0.3 does not become an int and then 0.
    template <std::same_as<int> I> rational(I x) : value_{x} {} // NOLINT(google-explicit-constructor)
    rational(int numerator, int denominator) : rational(rational(numerator) / rational(denominator)) {}
    /// The double's exact value.
    explicit rational(double x) : value_{x} {}
    explicit rational(const number& x) : value_{x} {}

    [[nodiscard]] const number& value() const noexcept { return value_; }
    [[nodiscard]] std::string text() const { return value_.str(); }

    friend rational operator+(const rational& a, const rational& b) { return rational(number(a.value_ + b.value_)); }
    friend rational operator-(const rational& a, const rational& b) { return rational(number(a.value_ - b.value_)); }
    friend rational operator*(const rational& a, const rational& b) { return rational(number(a.value_ * b.value_)); }
    friend rational operator/(const rational& a, const rational& b) {
        if (b.value_.is_zero()) throw std::domain_error("division by 0");
        return rational(number(a.value_ / b.value_));
    }
    friend rational operator-(const rational& a) { return rational(number(-a.value_)); }
    friend bool operator==(const rational& a, const rational& b) { return a.value_ == b.value_; }
    friend bool operator<(const rational& a, const rational& b) { return a.value_ < b.value_; }
    friend bool operator>(const rational& a, const rational& b) { return b < a; }
    friend bool operator<=(const rational& a, const rational& b) { return !(b < a); }
    friend bool operator>=(const rational& a, const rational& b) { return !(a < b); }

    friend rational attest_sqrt(const rational& a) {
        if (a.value_ < 0) throw std::domain_error("the root of a negative number");
        return rational(number(root_of(numerator(a.value_)), root_of(denominator(a.value_))));
    }
    friend rational attest_relu(const rational& a) { return a.value_ > 0 ? a : rational(0); }
    friend rational attest_step(const rational& a) { return rational(a.value_ > 0 ? 1 : 0); }

    friend std::ostream& operator<<(std::ostream& out, const rational& a) { return out << a.value_; }

private:
    static integer root_of(const integer& square) {
        const integer root = sqrt(square);
        if (root * root != square) throw std::domain_error("this root is no fraction");
        return root;
    }
    number value_;
};

static_assert(attest::scalar<rational>);

} // namespace exactly
