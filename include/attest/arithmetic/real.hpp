// SPDX-License-Identifier: BSL-1.0
/// \file
/// `real<D>`: numbers of at least D decimal digits, our own class around a Boost.Multiprecision number.
///
/// + − × ÷ and sqrt are Boost's, correctly rounded to `bits` bits. exp and log are ours, since Boost's lose about 1.3 units in the last place for
/// each unit of |x|. Relative errors (estimated, not proved yet): exp (2|x| + 64) · 2^−bits, log 2^(6 − bits). tanh, erf, sin, cos and π
/// are rounded from more digits (`real_functions.hpp`): 2^(1 − bits); for sin and cos there is an absolute error of |x| · 2^(−127 − bits)
/// besides, which counts only next to their zeros.
#pragma once

#include "attest/arithmetic/real_functions.hpp"
#include "attest/arithmetic/scalar.hpp"

#include <array>
#include <boost/multiprecision/cpp_bin_float.hpp>
#include <cmath>
#include <compare>
#include <limits>
#include <string>

namespace attest {

template <unsigned Digits> class real {
public:
    /// Binary digits: whole 64-bit limbs, with at least 16 guard bits beyond the decimal digits asked for.
    static constexpr unsigned bits = (Digits * 3322 / 1000 + 16 + 63) / 64 * 64;
    using number = boost::multiprecision::number<
        boost::multiprecision::cpp_bin_float<bits, boost::multiprecision::digit_base_2, void, std::int64_t>, boost::multiprecision::et_off>;

    real() = default;
    // Small integers are exact in every arithmetic. A template, so that 0.3 does not become an int and then 0.
    template <std::same_as<int> I> real(I x) : value_{x} {} // NOLINT(google-explicit-constructor)
    explicit real(double x) : value_{x} {}
    // A template, so that no conversion of something else to `number` is ever considered.
    template <std::same_as<number> N> explicit real(const N& x) : value_{x} {}

    [[nodiscard]] const number& value() const noexcept { return value_; }
    [[nodiscard]] explicit operator double() const { return value_.template convert_to<double>(); }

    friend real operator+(const real& a, const real& b) { return real(number(a.value_ + b.value_)); }
    friend real operator-(const real& a, const real& b) { return real(number(a.value_ - b.value_)); }
    friend real operator*(const real& a, const real& b) { return real(number(a.value_ * b.value_)); }
    friend real operator/(const real& a, const real& b) { return real(number(a.value_ / b.value_)); }
    friend real operator-(const real& a) { return real(number(-a.value_)); }
    friend bool operator==(const real& a, const real& b) { return a.value_ == b.value_; }
    friend bool operator<(const real& a, const real& b) { return a.value_ < b.value_; }
    friend bool operator>(const real& a, const real& b) { return b < a; }
    friend bool operator<=(const real& a, const real& b) { return a.value_ <= b.value_; }
    friend bool operator>=(const real& a, const real& b) { return b <= a; }

    [[nodiscard]] bool is_nan() const { return boost::multiprecision::isnan(value_); }
    [[nodiscard]] bool is_finite() const { return boost::multiprecision::isfinite(value_); }
    [[nodiscard]] bool is_zero() const { return value_.is_zero(); }
    [[nodiscard]] bool is_negative() const { return boost::multiprecision::signbit(value_) != 0; }
    friend real abs(const real& a) { return a.is_negative() ? -a : a; }
    /// a · 2^k, exactly.
    friend real ldexp(const real& a, int k) { return real(number(boost::multiprecision::ldexp(a.value_, k))); }
    /// e with 2^e <= |a| < 2^(e + 1), for finite a ≠ 0.
    [[nodiscard]] std::int64_t exponent() const { return static_cast<std::int64_t>(value_.backend().exponent()); }

    friend real attest_sqrt(const real& a) { return real(number(boost::multiprecision::sqrt(a.value_))); }
    friend real attest_exp(const real& a) { return real(exp_of(a.value_)); }
    friend real attest_log(const real& a) { return real(log_of(a.value_)); }
    friend real attest_tanh(const real& a) {
        if (!a.is_finite()) return a.is_nan() ? a : real(a.is_negative() ? -1 : 1);
        return odd<real<Digits + 20>>(a, [](const auto& x) { return detail::tanh_of_real<real<Digits + 20>>(x); });
    }
    friend real attest_erf(const real& a) {
        if (!a.is_finite()) return a.is_nan() ? a : real(a.is_negative() ? -1 : 1);
        return odd<real<Digits + 20>>(a, [](const auto& x) { return detail::erf_of_real<real<Digits + 20>>(x); });
    }
    /// 1 + erf a, which keeps its digits for a << 0: relative error (2a² + 64) · 2^−bits (estimated).
    friend real attest_one_plus_erf(const real& a) {
        if (!(a < real(-3)) || !a.is_finite()) return real(1) + attest_erf(a);
        return real(detail::erfc_of_real<real>(number(-a.value_)));
    }
    /// 1 + tanh a = 2e^2a/(1 + e^2a), which keeps its digits for a << 0.
    friend real attest_one_plus_tanh(const real& a) {
        if (!(a < real(-3)) || !a.is_finite()) return real(1) + attest_tanh(a);
        const real e = attest_exp(a + a);
        return (e + e) / (real(1) + e);
    }
    /// NaN for infinities. Throws std::domain_error for |a| >= 2^100 (1.2 · 10^30).
    friend real attest_sin(const real& a) {
        if (!a.is_finite()) return std::numeric_limits<real>::quiet_NaN();
        return odd<real<Digits + 40>>(a, [](const auto& x) { return detail::sin_of_real<real<Digits + 40>>(x); });
    }
    /// As sin.
    friend real attest_cos(const real& a) {
        if (!a.is_finite()) return std::numeric_limits<real>::quiet_NaN();
        if (a.is_zero()) return real(1);
        using wide = real<Digits + 40>;
        return real(number(detail::cos_of_real<wide>(typename wide::number(a.value_))));
    }
    [[nodiscard]] static real pi() { return real(boost::math::constants::pi<number>()); }

    /// Decimal text with `digits` significant digits: "0.23071289062500000000", "-1.5e-30", "nan", "inf".
    [[nodiscard]] std::string text(int digits) const {
        if (is_nan()) return "nan";
        if (!is_finite()) return is_negative() ? "-inf" : "inf";
        return value_.str(digits, std::ios_base::fmtflags{});
    }

private:
    // f(x) = −f(−x), by f for x > 0 in a wider real.
    template <class Wide, class F> static real odd(const real& a, const F& f) {
        if (a.is_zero()) return a;
        const real magnitude = real(number(f(typename Wide::number(abs(a).value_))));
        return a.is_negative() ? -magnitude : magnitude;
    }

    static constexpr int halvings = 8;

    // exp(x) = (e^(r / 2^8))^(2^8) · 2^k with k = round(x / ln 2), |r| <= ln(2)/2: the series runs on expm1, whose doubling
    // E(2t) = E(t)·(E(t) + 2) keeps the digits that squaring e^t would lose.
    static number exp_of(const number& x) {
        if (boost::multiprecision::isnan(x)) return x;
        if (x > 100000000) return std::numeric_limits<number>::infinity();
        if (x < -100000000) return number(0); // below 10^−43000000: far under every format and every error bound here
        const number& ln2 = boost::math::constants::ln_two<number>();
        const auto k = std::llround((x / ln2).template convert_to<double>());
        const number t = boost::multiprecision::ldexp(number(x - k * ln2), -halvings);
        static const auto inverse_factorials = make_inverse_factorials();
        number series = inverse_factorials.back();
        for (auto c = inverse_factorials.rbegin() + 1; c != inverse_factorials.rend(); ++c) series = series * t + *c;
        number expm1 = series * t;
        for (int i = 0; i < halvings; ++i) expm1 = expm1 * (expm1 + 2);
        return boost::multiprecision::ldexp(number(expm1 + 1), static_cast<int>(k));
    }
    // 1/1!, 1/2!, … until t^n / n! with t < 2^−9.5 drops below 2^−bits.
    static constexpr std::size_t series_terms() {
        double magnitude = 0; // log2 of t^n / n!, from below
        std::size_t n = 0;
        for (; magnitude > -static_cast<double>(bits) - 8; ++n) {
            double log2_n = 0;
            for (std::size_t m = n + 1; m > 1; m /= 2) ++log2_n; // floor
            magnitude -= 9.5 + log2_n;
        }
        return n;
    }
    static std::array<number, series_terms()> make_inverse_factorials() {
        std::array<number, series_terms()> result;
        number factorial = 1;
        for (std::size_t n = 0; n < result.size(); ++n) {
            factorial *= static_cast<unsigned>(n + 1);
            result[n] = 1 / factorial;
        }
        return result;
    }
    // x = f · 2^e with f in [sqrt(1/2), sqrt(2)); log f = 2 artanh(t) with t = (f − 1)/(f + 1), |t| < 0.1716, as t · Σ t^2n / (2n + 1). Near x = 1
    // no digits are lost: e is 0 there, and f − 1 is exact.
    static number log_of(const number& x) {
        if (boost::multiprecision::isnan(x) || x < 0) return std::numeric_limits<number>::quiet_NaN();
        if (x == 0) return -std::numeric_limits<number>::infinity();
        if (boost::multiprecision::isinf(x)) return x;
        auto e = static_cast<std::int64_t>(x.backend().exponent());
        number f = boost::multiprecision::ldexp(x, static_cast<int>(-e)); // [1, 2)
        if (f > 1.4142135623730951) {
            f = boost::multiprecision::ldexp(f, -1);
            ++e;
        }
        const number t = (f - 1) / (f + 1);
        const number t2 = t * t;
        static const auto odd_reciprocals = make_odd_reciprocals();
        number series = odd_reciprocals.back();
        for (auto c = odd_reciprocals.rbegin() + 1; c != odd_reciprocals.rend(); ++c) series = series * t2 + *c;
        return 2 * t * series + e * boost::math::constants::ln_two<number>();
    }
    // 1, 1/3, 1/5, … until t^2n < 2^−5.08n drops below 2^−bits.
    static std::array<number, bits / 5 + 2> make_odd_reciprocals() {
        std::array<number, bits / 5 + 2> result;
        for (std::size_t n = 0; n < result.size(); ++n) result[n] = number(1) / static_cast<unsigned>(2 * n + 1);
        return result;
    }

    number value_;
};

} // namespace attest

/// Infinity and NaN are those of the number inside.
template <unsigned Digits> class std::numeric_limits<attest::real<Digits>> {
    using inner = std::numeric_limits<typename attest::real<Digits>::number>;

public:
    static constexpr bool is_specialized = true;
    static constexpr bool is_integer = false;
    static constexpr int max_exponent = 0; // not a number that Boost should take for its own
    static constexpr bool has_infinity = true;
    static constexpr bool has_quiet_NaN = true;
    static attest::real<Digits> infinity() { return attest::real<Digits>(inner::infinity()); }
    static attest::real<Digits> quiet_NaN() { return attest::real<Digits>(inner::quiet_NaN()); }
};
