// SPDX-License-Identifier: BSL-1.0
/// \file
/// `big_float`: m · 2^e with an integer m of as many bits as the *working precision* says, chosen at run time, and an exponent of 64 bits: nothing overflows
/// or underflows on the way. Each operation is computed exactly on integers and then cut towards zero, so it is off by less than 2^(2 − precision) of its
/// result, and says whether it was exact. No function of the processor, the library or the compiler rounds anything here.
#pragma once

#include "attest/arithmetic/power_of_two.hpp"

#include <boost/multiprecision/cpp_int.hpp>
#include <cstdint>

namespace attest {

/// The bits that results of big_float keep in this thread, while the object lives. At least 64.
class working_precision {
public:
    explicit working_precision(unsigned bits) : before_{current_} { current_ = bits < 64 ? 64 : bits; }
    working_precision(const working_precision&) = delete;
    working_precision& operator=(const working_precision&) = delete;
    ~working_precision() { current_ = before_; }
    [[nodiscard]] static unsigned bits() noexcept { return current_; }

private:
    inline static thread_local unsigned current_ = 192;
    unsigned before_;
};

/// See the head of this file. Zero has mantissa 0.
class big_float {
public:
    /// Room for 512 bits inside; greater ones go to the heap.
    using integer = boost::multiprecision::number<
        boost::multiprecision::cpp_int_backend<512, 0, boost::multiprecision::signed_magnitude, boost::multiprecision::unchecked, std::allocator<boost::multiprecision::limb_type>>,
        boost::multiprecision::et_off>;

    big_float() = default;
    /// x exactly, for finite x.
    explicit big_float(double x) {
        if (x == 0) return;
        const auto parts = detail::split(x < 0 ? -x : x);
        mantissa_ = static_cast<std::uint64_t>(detail::times_power_of_two(parts.fraction, 52));
        if (x < 0) mantissa_ = -mantissa_;
        exponent_ = parts.exponent - 52;
    }
    /// m · 2^e exactly.
    big_float(integer m, std::int64_t e) : mantissa_{std::move(m)}, exponent_{mantissa_.is_zero() ? 0 : e} {}

    [[nodiscard]] const integer& mantissa() const noexcept { return mantissa_; }
    [[nodiscard]] std::int64_t last_exponent() const noexcept { return exponent_; }
    [[nodiscard]] bool is_zero() const { return mantissa_.is_zero(); }
    [[nodiscard]] bool is_negative() const { return mantissa_.sign() < 0; }
    /// e with 2^e <= |x| < 2^(e + 1), for x ≠ 0.
    [[nodiscard]] std::int64_t exponent() const { return exponent_ + static_cast<std::int64_t>(length_of(mantissa_)) - 1; }
    /// x · 2^k, exactly.
    [[nodiscard]] big_float times_power_of_two(std::int64_t k) const { return {mantissa_, exponent_ + k}; }
    friend big_float operator-(const big_float& x) { return {integer(-x.mantissa_), x.exponent_}; }

    /// A result, and whether it is exact; if not, it is off by less than 2^(2 − precision) of itself.
    struct result;
    [[nodiscard]] static result add(const big_float& a, const big_float& b);
    [[nodiscard]] static result multiply(const big_float& a, const big_float& b);
    /// For b ≠ 0.
    [[nodiscard]] static result divide(const big_float& a, const big_float& b);
    /// For a >= 0.
    [[nodiscard]] static result root(const big_float& a);

    friend bool operator==(const big_float& a, const big_float& b) { return compare(a, b) == 0; }
    friend bool operator<(const big_float& a, const big_float& b) { return compare(a, b) < 0; }
    /// −1, 0, 1 as a is below, equal to or above b: exactly.
    [[nodiscard]] static int compare(const big_float& a, const big_float& b) {
        const int sign_a = a.mantissa_.sign(), sign_b = b.mantissa_.sign();
        if (sign_a != sign_b || sign_a == 0) return sign_a < sign_b ? -1 : sign_a > sign_b ? 1 : 0;
        if (a.exponent() != b.exponent()) return (a.exponent() < b.exponent()) == (sign_a > 0) ? -1 : 1;
        // Of one binade, so what the exponents differ by is no more than the lengths do.
        const std::int64_t least = std::min(a.exponent_, b.exponent_);
        const integer x = integer(a.mantissa_ << static_cast<unsigned>(a.exponent_ - least)), y = integer(b.mantissa_ << static_cast<unsigned>(b.exponent_ - least));
        return x < y ? -1 : x > y ? 1 : 0;
    }
    /// The nearest integer (halves away from zero), as an integer. For |x| < 2^4096.
    [[nodiscard]] integer nearest_integer() const {
        if (is_zero() || exponent() < -1) return 0;
        const integer size = abs(mantissa_);
        const integer whole = exponent_ >= 0 ? integer(size << static_cast<unsigned>(exponent_)) : integer((size + (integer(1) << static_cast<unsigned>(-exponent_ - 1))) >> static_cast<unsigned>(-exponent_));
        return is_negative() ? integer(-whole) : whole;
    }
    /// x cut towards zero to double; out of its range: infinity, and 0.
    [[nodiscard]] explicit operator double() const {
        if (is_zero()) return 0;
        const std::int64_t e = exponent();
        if (e > 1023) return is_negative() ? -detail::infinity_of_double : detail::infinity_of_double;
        if (e < -1074) return is_negative() ? -0.0 : 0.0;
        const std::int64_t keep = e < -1022 ? 53 - (-1022 - e) : 53, drop = e + 1 - keep - exponent_;
        const integer size = abs(mantissa_);
        const integer cut = drop > 0 ? integer(size >> static_cast<unsigned>(drop)) : size;
        const double value = detail::times_power_of_two(static_cast<double>(cut.convert_to<std::uint64_t>()), static_cast<int>(exponent_ + (drop > 0 ? drop : 0)));
        return is_negative() ? -value : value;
    }

    [[nodiscard]] static unsigned length_of(const integer& x) { return x.is_zero() ? 0 : static_cast<unsigned>(msb(abs(x))) + 1; }

private:
    integer mantissa_ = 0;
    std::int64_t exponent_ = 0;
};

struct big_float::result {
    big_float value;
    bool exact;
};

namespace detail {
// m · 2^e cut to the working precision. `exact`: whether m · 2^e itself is.
inline big_float::result cut(big_float::integer m, std::int64_t e, bool exact = true) {
    const unsigned length = big_float::length_of(m), precision = working_precision::bits();
    if (length <= precision) return {{std::move(m), e}, exact};
    const unsigned drop = length - precision;
    const bool all_zero = static_cast<unsigned>(lsb(abs(m))) >= drop;
    // Shifting the magnitude, so that it is cut towards zero.
    const bool negative = m.sign() < 0;
    big_float::integer size = abs(m);
    size >>= drop;
    return {{negative ? big_float::integer(-size) : std::move(size), e + drop}, exact && all_zero};
}
} // namespace detail

inline big_float::result big_float::add(const big_float& a, const big_float& b) {
    if (a.is_zero()) return detail::cut(b.mantissa_, b.exponent_);
    if (b.is_zero()) return detail::cut(a.mantissa_, a.exponent_);
    if (a.exponent_ < b.exponent_) return add(b, a);
    const std::int64_t apart = a.exponent_ - b.exponent_;
    // b lies wholly below the last bit that is kept, with room to spare, and is left out; cutting a as well keeps that below 2^(2 − precision).
    if (a.exponent() - b.exponent() > static_cast<std::int64_t>(2 * working_precision::bits()) + 8) {
        if (length_of(a.mantissa_) <= working_precision::bits()) return {a, false};
        auto r = detail::cut(a.mantissa_, a.exponent_);
        r.exact = false;
        return r;
    }
    return detail::cut(integer((a.mantissa_ << static_cast<unsigned>(apart)) + b.mantissa_), b.exponent_);
}
inline big_float::result big_float::multiply(const big_float& a, const big_float& b) {
    return detail::cut(integer(a.mantissa_ * b.mantissa_), a.exponent_ + b.exponent_);
}
inline big_float::result big_float::divide(const big_float& a, const big_float& b) {
    if (a.is_zero()) return {a, true};
    // A quotient of at least precision + 1 bits.
    const std::int64_t shift = static_cast<std::int64_t>(working_precision::bits()) + 2 + length_of(b.mantissa_) - length_of(a.mantissa_);
    const integer numerator = shift > 0 ? integer(a.mantissa_ << static_cast<unsigned>(shift)) : a.mantissa_;
    integer quotient, rest;
    divide_qr(numerator, b.mantissa_, quotient, rest);
    return detail::cut(std::move(quotient), a.exponent_ - b.exponent_ - (shift > 0 ? shift : 0), rest.is_zero());
}
inline big_float::result big_float::root(const big_float& a) {
    if (a.is_zero()) return {a, true};
    std::int64_t shift = 2 * (static_cast<std::int64_t>(working_precision::bits()) + 2) - length_of(a.mantissa_);
    if (shift < 0) shift = 0;
    if (((a.exponent_ - shift) & 1) != 0) ++shift;
    integer rest;
    integer r = boost::multiprecision::sqrt(integer(a.mantissa_ << static_cast<unsigned>(shift)), rest);
    return detail::cut(std::move(r), (a.exponent_ - shift) / 2, rest.is_zero());
}

} // namespace attest
