// SPDX-License-Identifier: BSL-1.0
/// \file
/// `dyadic`: m · 2^e with whole numbers m and e. Doubles are such numbers, and so are their sums and products: nothing is ever rounded here, and
/// two of them are equal just when their parts are. `sum_of_products` is a scalar product of doubles, exactly, at the speed of a few instructions a
/// term.
#pragma once

#include "attest/arithmetic/power_of_two.hpp"

#include <algorithm>
#include <array>
#include <boost/multiprecision/cpp_int.hpp>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace attest {

/// Whole numbers and fractions as long as they need to be.
using exact_integer = boost::multiprecision::number<boost::multiprecision::cpp_int_backend<>, boost::multiprecision::et_off>;
using exact_rational = boost::multiprecision::number<boost::multiprecision::cpp_rational_backend, boost::multiprecision::et_off>;

/// See the head of this file. The mantissa is odd, or both parts are 0. There is no −0.
class dyadic {
public:
    dyadic() = default;
    /// x exactly, for finite x.
    explicit dyadic(double x) {
        if (x == 0) return;
        const auto parts = detail::split(x < 0 ? -x : x);
        exact_integer m(static_cast<std::uint64_t>(detail::times_power_of_two(parts.fraction, 52)));
        *this = dyadic(x < 0 ? exact_integer(-m) : std::move(m), parts.exponent - 52);
    }
    /// m · 2^e.
    dyadic(exact_integer m, std::int64_t e) : mantissa_{std::move(m)}, exponent_{e} {
        if (mantissa_.is_zero()) {
            exponent_ = 0;
            return;
        }
        if (const auto zeros = static_cast<unsigned>(lsb(abs(mantissa_))); zeros != 0) {
            mantissa_ >>= zeros; // what is cut are zeros, so that the sign does not matter
            exponent_ += zeros;
        }
    }
    /// A whole number.
    [[nodiscard]] static dyadic whole(std::size_t n) { return {exact_integer(n), 0}; }

    [[nodiscard]] const exact_integer& mantissa() const noexcept { return mantissa_; }
    [[nodiscard]] std::int64_t exponent() const noexcept { return exponent_; }
    [[nodiscard]] bool is_zero() const { return mantissa_.is_zero(); }
    [[nodiscard]] explicit operator exact_rational() const {
        if (exponent_ >= 0) return exact_rational(exact_integer(mantissa_ << static_cast<unsigned>(exponent_)));
        return exact_rational(mantissa_, exact_integer(exact_integer(1) << static_cast<unsigned>(-exponent_)));
    }

    friend dyadic operator-(const dyadic& a) { return {exact_integer(-a.mantissa_), a.exponent_}; }
    friend dyadic operator+(const dyadic& a, const dyadic& b) {
        if (a.is_zero()) return b;
        if (b.is_zero()) return a;
        if (a.exponent_ < b.exponent_) return b + a;
        return {exact_integer((a.mantissa_ << static_cast<unsigned>(a.exponent_ - b.exponent_)) + b.mantissa_), b.exponent_};
    }
    friend dyadic operator-(const dyadic& a, const dyadic& b) { return a + -b; }
    friend dyadic operator*(const dyadic& a, const dyadic& b) { return {exact_integer(a.mantissa_ * b.mantissa_), a.exponent_ + b.exponent_}; }
    friend bool operator==(const dyadic& a, const dyadic& b) { return a.exponent_ == b.exponent_ && a.mantissa_ == b.mantissa_; }

    /// An order for look-ups: not that of the numbers, but quick.
    [[nodiscard]] static int order(const dyadic& a, const dyadic& b) {
        if (a.exponent_ != b.exponent_) return a.exponent_ < b.exponent_ ? -1 : 1;
        return a.mantissa_.compare(b.mantissa_);
    }

private:
    exact_integer mantissa_ = 0;
    std::int64_t exponent_ = 0;
};

/// Σ a_k b_k of finite doubles, exactly, for up to 2^64 terms: a number in fixed point wide enough for the smallest product of doubles, 2^−2148,
/// and for the greatest, below 2^2048 (Kulisch's long accumulator). Positive and negative terms have one each, so that carries stay short.
class sum_of_products {
public:
    void add(double a, double b) {
        if (a == 0 || b == 0) return;
        const parts x = parts_of(a), y = parts_of(b);
        const wide product = static_cast<wide>(x.mantissa) * y.mantissa; // below 2^106
        const auto position = static_cast<unsigned>(x.exponent + y.exponent - lowest);
        ((a < 0) != (b < 0) ? negative_ : positive_).add(product, position / 64, position % 64);
    }
    void add(double a) { add(a, 1.0); }

    /// The sum; then it is 0 again.
    [[nodiscard]] dyadic take() {
        const std::size_t first = std::min(positive_.first, negative_.first);
        if (first == limbs) return {};
        const exact_integer difference = positive_.take(first) - negative_.take(first);
        return {difference, static_cast<std::int64_t>(64 * first) + lowest};
    }

private:
    __extension__ using wide = unsigned __int128; // both compilers have it, and call it an extension
    static constexpr int lowest = -2148;
    // 2148 bits below 1, 2048 above, 64 for the number of terms.
    static constexpr std::size_t limbs = 67;

    struct parts {
        std::uint64_t mantissa;
        int exponent;
    };
    static parts parts_of(double x) {
        const auto bits = std::bit_cast<std::uint64_t>(x);
        const auto field = static_cast<int>((bits >> 52) & 0x7ff);
        const std::uint64_t fraction = bits & 0x000fffffffffffffULL;
        if (field == 0) return {fraction, -1074};
        return {fraction | 0x0010000000000000ULL, field - 1075};
    }

    struct accumulator {
        std::array<std::uint64_t, limbs> limb{};
        std::size_t first = limbs, end = 0; // all others are 0

        void add(wide x, std::size_t at, unsigned shift) {
            const auto low = static_cast<std::uint64_t>(x), high = static_cast<std::uint64_t>(x >> 64);
            const unsigned back = 64 - shift;
            const std::uint64_t pieces[3] = {low << shift, shift == 0 ? high : (high << shift) | (low >> back), shift == 0 ? 0 : high >> back};
            first = std::min(first, at);
            std::uint64_t carry = 0;
            for (std::size_t k = 0; k < 3 || carry != 0; ++k) {
                const wide sum = static_cast<wide>(limb[at + k]) + (k < 3 ? pieces[k] : 0) + carry;
                limb[at + k] = static_cast<std::uint64_t>(sum);
                carry = static_cast<std::uint64_t>(sum >> 64);
                end = std::max(end, at + k + 1);
            }
        }
        // In units of 2^(64 · from); then 0. `from` is not above `first`.
        exact_integer take(std::size_t from) {
            exact_integer value = 0;
            if (end > from) import_bits(value, limb.data() + from, limb.data() + end, 64, false);
            for (std::size_t k = first; k < end; ++k) limb[k] = 0;
            first = limbs;
            end = 0;
            return value;
        }
    };

    accumulator positive_, negative_;
};

} // namespace attest
