// SPDX-License-Identifier: BSL-1.0
/// \file
/// `ball<S>`: a number that is known to lie within `radius` of `middle`. Every operation returns a ball that holds the exact result for all numbers of its
/// operands, so a formula of `formula/` or `gradient/` evaluated in balls gives a proved enclosure of its exact value.
///
/// S is what the middle is kept in: `double`, `double_double` or `big_float`; `middle_of<S>` says what each of its operations loses. For operands a ± r and
/// b ± s, and ε the proved error of the operation on the middles:
///
///     a + b:  r + s + ε        a·b:  |a|s + |b|r + rs + ε        a/b:  (r + |a/b|s)/(|b| − s) + ε        √a:  r/√(a − r) + ε
///
/// Radii are sums and products that err upwards. Where nothing is known (division by a ball that holds 0, an overflow, a NaN among the inputs) the radius is infinite.
/// NaN and the infinities that a formula *declares* (rows without a key) are kinds of their own, and exact. Zero and one, exact, lose nothing in sums and
/// products.
#pragma once

#include "attest/arithmetic/big_float.hpp"
#include "attest/arithmetic/double_double.hpp"
#include "attest/arithmetic/magnitude.hpp"
#include "attest/arithmetic/scalar.hpp"

#include <algorithm>
#include <cmath>

namespace attest {

/// What ball<S> asks of S: exact conversions, operations with their error bounds, upper and lower bounds of the size.
template <class S> struct middle_of;

template <> struct middle_of<double> {
    using radius = upper_bound;
    static constexpr int bits = 53; ///< of precision, for the lengths of series
    struct result {
        double value;
        radius error;
    };
    static double from(double x) { return x; }
    static double nearest_double(double x) { return x; }
    static bool is_number(double x) { return x - x == 0; }
    static radius size(double x) { return radius(x); }
    /// A lower bound of |x|.
    static radius least(double x) { return radius(x); }
    static result add(double a, double b) {
        const double sum = a + b; // exact where it is subnormal
        return {sum, radius(detail::unfused(sum * 0x1p-53))};
    }
    static result multiply(double a, double b) {
        const double product = detail::unfused(a * b);
        return {product, radius(detail::unfused(product * 0x1p-53)) + radius(0x1p-1074)};
    }
    static result divide(double a, double b) {
        const double quotient = detail::unfused(a / b);
        if (is_plain(a) && is_plain(quotient) && std::fma(quotient, b, -a) == 0) return {quotient, {}};
        return {quotient, radius(detail::unfused(quotient * 0x1p-53)) + radius(0x1p-1074)};
    }
    static result root(double a) {
        const double root = std::sqrt(a); // correctly rounded, as IEEE 754 asks
        if (is_plain(a) && std::fma(root, root, -a) == 0) return {root, {}};
        return {root, radius(detail::unfused(root * 0x1p-53))};
    }
    static result times_power_of_two(double a, std::int64_t k) {
        const double scaled = detail::times_power_of_two(a, static_cast<int>(std::clamp<std::int64_t>(k, -2100, 2100)));
        // Below the normal range a bit may be lost, however far below.
        const bool low = scaled < 0x1p-1021 && scaled > -0x1p-1021;
        return {scaled, low ? radius(0x1p-1074) : radius()};
    }

private:
    // Far from where remainders, and so what says "exact", would be rounded.
    static bool is_plain(double x) { return (x > 0x1p-400 && x < 0x1p400) || (x < -0x1p-400 && x > -0x1p400); }
};

template <> struct middle_of<double_double> {
    using radius = upper_bound;
    static constexpr int bits = 104;
    struct result {
        double_double value;
        radius error;
    };
    static double_double from(double x) { return double_double(x); }
    static double nearest_double(const double_double& x) { return x.high; }
    static bool is_number(const double_double& x) { return x.high - x.high == 0 && x.low - x.low == 0; }
    static radius size(const double_double& x) { return radius(x.high) * radius(1 + 0x1p-52); }
    static radius least(const double_double& x) { return radius(detail::unfused((x.high < 0 ? -x.high : x.high) * (1 - 0x1p-52))); }
    static result add(const double_double& a, const double_double& b) {
        const double_double sum = a + b;
        return {sum, size(sum) * radius(double_double::sum_error) + radius(double_double::sum_error_absolute)};
    }
    static result multiply(const double_double& a, const double_double& b) {
        const double_double product = a * b;
        return {product, size(product) * radius(double_double::product_error) + radius(double_double::product_error_absolute)};
    }
    static result divide(const double_double& a, const double_double& b) {
        const double_double quotient = a / b;
        return {quotient, size(quotient) * radius(double_double::quotient_error) + radius(double_double::quotient_error_absolute)};
    }
    static result root(const double_double& a) {
        const double_double r = attest_sqrt(a);
        return {r, size(r) * radius(double_double::root_error)};
    }
    static result times_power_of_two(const double_double& a, std::int64_t k) {
        const int shift = static_cast<int>(std::clamp<std::int64_t>(k, -2100, 2100));
        const double_double scaled = ldexp(a, shift);
        const bool low = scaled.high < 0x1p-960 && scaled.high > -0x1p-960;
        return {scaled, low ? radius(0x1p-1073) : radius()};
    }
};

template <> struct middle_of<big_float> {
    using radius = magnitude;
    struct result {
        big_float value;
        radius error;
    };
    static big_float from(double x) { return big_float(x); }
    static double nearest_double(const big_float& x) { return static_cast<double>(x); }
    static bool is_number(const big_float&) { return true; }
    static radius size(const big_float& x) { return x.is_zero() ? radius() : radius(leading(x) + 0x1p-50).times_power_of_two(x.exponent()); }
    static radius least(const big_float& x) { return x.is_zero() ? radius() : radius(leading(x)).times_power_of_two(x.exponent()); }
    static result add(const big_float& a, const big_float& b) { return rounded(big_float::add(a, b)); }
    static result multiply(const big_float& a, const big_float& b) { return rounded(big_float::multiply(a, b)); }
    static result divide(const big_float& a, const big_float& b) { return rounded(big_float::divide(a, b)); }
    static result root(const big_float& a) { return rounded(big_float::root(a)); }
    static result times_power_of_two(const big_float& a, std::int64_t k) { return {a.times_power_of_two(k), {}}; }

private:
    // The first 53 bits of |x|, as a number in [1, 2).
    static double leading(const big_float& x) {
        const double cut = static_cast<double>(x.times_power_of_two(-x.exponent()));
        return cut < 0 ? -cut : cut;
    }
    static result rounded(big_float::result r) {
        const radius error = r.exact || r.value.is_zero() ? radius() : radius::power_of_two(r.value.exponent() + 3 - static_cast<std::int64_t>(working_precision::bits()));
        return {std::move(r.value), error};
    }
};

/// The bits that a ball's middle keeps.
template <class S> [[nodiscard]] int middle_bits() {
    if constexpr (requires { middle_of<S>::bits; }) return middle_of<S>::bits;
    else return static_cast<int>(working_precision::bits());
}

/// See the head of this file.
template <class S> class ball {
public:
    using middle_type = S;
    using radius_type = typename middle_of<S>::radius;
    enum class kind : unsigned char { number, nan, plus_infinity, minus_infinity };

    ball() : middle_{middle_of<S>::from(0)} {}
    template <std::same_as<int> I> ball(I x) : middle_{middle_of<S>::from(x)} {} // NOLINT(google-explicit-constructor)
    /// x exactly; of NaN and infinities nothing is known.
    explicit ball(double x) : middle_{middle_of<S>::from(x - x == 0 ? x : 0)} {
        if (!(x - x == 0)) radius_ = unknown_radius();
    }
    ball(S middle, radius_type radius) : middle_{std::move(middle)}, radius_{radius} {
        if (!middle_of<S>::is_number(middle_) || !radius_.is_finite()) *this = unknown();
    }
    /// A number of which nothing is known.
    [[nodiscard]] static ball unknown() {
        ball b;
        b.radius_ = unknown_radius();
        return b;
    }
    /// NaN or an infinity as a declared answer.
    [[nodiscard]] static ball declared(kind k) {
        ball b;
        b.kind_ = k;
        return b;
    }

    [[nodiscard]] const S& middle() const noexcept { return middle_; }
    [[nodiscard]] radius_type radius() const noexcept { return radius_; }
    [[nodiscard]] kind what() const noexcept { return kind_; }
    [[nodiscard]] bool is_number() const noexcept { return kind_ == kind::number; }
    [[nodiscard]] bool is_known() const noexcept { return radius_.is_finite(); }
    /// Exactly its middle, a number.
    [[nodiscard]] bool is_exact() const noexcept { return kind_ == kind::number && radius_.is_zero(); }
    /// A double near the middle.
    [[nodiscard]] double nearest_double() const {
        switch (kind_) {
        case kind::number: return middle_of<S>::nearest_double(middle_);
        case kind::nan: return std::numeric_limits<double>::quiet_NaN();
        case kind::plus_infinity: return detail::infinity_of_double;
        default: return -detail::infinity_of_double;
        }
    }
    /// The same, with the radius taken away: a point.
    [[nodiscard]] ball point() const {
        ball b = *this;
        if (is_known()) b.radius_ = radius_type();
        return b;
    }
    /// The same, wider by r.
    [[nodiscard]] ball widened(radius_type r) const { return is_number() ? ball(middle_, radius_ + r) : *this; }
    /// Upper and lower bounds of |x|.
    [[nodiscard]] radius_type greatest() const { return middle_of<S>::size(middle_) + radius_; }
    [[nodiscard]] radius_type middle_size() const { return middle_of<S>::size(middle_); }

    friend ball operator-(const ball& a) {
        ball b = a;
        if (a.kind_ == kind::plus_infinity) b.kind_ = kind::minus_infinity;
        else if (a.kind_ == kind::minus_infinity) b.kind_ = kind::plus_infinity;
        else b.middle_ = -a.middle_;
        return b;
    }
    friend ball operator+(const ball& a, const ball& b) {
        if (!both_known(a, b)) return unknown();
        if (a.is_zero()) return b;
        if (b.is_zero()) return a;
        auto sum = middle_of<S>::add(a.middle_, b.middle_);
        return {std::move(sum.value), a.radius_ + b.radius_ + sum.error};
    }
    friend ball operator-(const ball& a, const ball& b) { return a + -b; }
    friend ball operator*(const ball& a, const ball& b) {
        if (!both_known(a, b)) return unknown();
        if (a.is_zero() || b.is_one()) return a;
        if (b.is_zero() || a.is_one()) return b;
        auto product = middle_of<S>::multiply(a.middle_, b.middle_);
        if (a.radius_.is_zero() && b.radius_.is_zero()) return {std::move(product.value), product.error};
        return {std::move(product.value), middle_of<S>::size(a.middle_) * b.radius_ + b.greatest() * a.radius_ + product.error};
    }
    friend ball operator/(const ball& a, const ball& b) {
        if (!both_known(a, b)) return unknown();
        if (b.is_one()) return a;
        const radius_type least = middle_of<S>::least(b.middle_);
        if (!(b.radius_ < least)) return unknown(); // b may be 0
        if (a.is_zero()) return a;
        auto quotient = middle_of<S>::divide(a.middle_, b.middle_);
        if (a.radius_.is_zero() && b.radius_.is_zero()) return {std::move(quotient.value), quotient.error};
        const radius_type moved = (a.radius_ + (middle_of<S>::size(quotient.value) + quotient.error) * b.radius_) / difference(least, b.radius_);
        return {std::move(quotient.value), moved + quotient.error};
    }
    friend ball attest_sqrt(const ball& a) {
        if (!a.is_number() || !a.is_known() || a.middle_ < middle_of<S>::from(0)) return unknown();
        if (a.is_zero()) return a;
        auto root = middle_of<S>::root(a.middle_);
        if (a.radius_.is_zero()) return {std::move(root.value), root.error};
        // |√x − √m| = |x − m|/(√x + √m) <= r/√m
        const radius_type least = middle_of<S>::least(a.middle_), least_root = middle_of<S>::least(root.value);
        if (!(a.radius_ < least) || least_root.is_zero()) return unknown();
        return {root.value, a.radius_ / difference(least_root, root.error) + root.error};
    }
    // Order is that of the middles.
    friend bool operator<(const ball& a, const ball& b) { return a.middle_ < b.middle_; }
    friend bool operator==(const ball& a, const ball& b) { return a.kind_ == b.kind_ && a.middle_ == b.middle_; }
    /// Softmax may shift by any point: the greater middle, which cancels exactly.
    friend ball attest_shift_point(const ball& a, const ball& b) {
        if (!both_known(a, b)) return unknown();
        return (a.middle_ < b.middle_ ? b : a).point();
    }

    [[nodiscard]] bool is_zero() const { return radius_.is_zero() && kind_ == kind::number && middle_ == middle_of<S>::from(0); }
    [[nodiscard]] bool is_one() const { return radius_.is_zero() && kind_ == kind::number && middle_ == middle_of<S>::from(1); }

private:
    static radius_type unknown_radius() { return radius_type(detail::infinity_of_double); }
    static bool both_known(const ball& a, const ball& b) { return a.is_number() && b.is_number() && a.is_known() && b.is_known(); }
    // A lower bound of least − r > 0.
    static radius_type difference(radius_type least, radius_type r);

    S middle_;
    radius_type radius_{};
    kind kind_ = kind::number;
};

namespace detail {
// a − b from below, for a >= b; at least 0.
inline upper_bound lower_difference(upper_bound a, upper_bound b) {
    const double d = a.as_double() - b.as_double();
    return upper_bound(d > 0 ? unfused(d * (1 - 0x1p-51)) : 0.0);
}
inline magnitude lower_difference(magnitude a, magnitude b) {
    if (b.is_zero() || a.is_zero() || !a.is_finite()) return a;
    if (a.exponent() - b.exponent() > 60) return magnitude(a.fraction() * (1 - 0x1p-52)).times_power_of_two(a.exponent());
    const double d = a.fraction() - times_power_of_two(b.fraction(), static_cast<int>(b.exponent() - a.exponent()));
    return d > 0 ? magnitude(unfused(d * (1 - 0x1p-51))).times_power_of_two(a.exponent()) : magnitude();
}
} // namespace detail

template <class S> typename ball<S>::radius_type ball<S>::difference(radius_type least, radius_type r) { return detail::lower_difference(least, r); }

} // namespace attest

/// The declared NaN and infinity.
template <class S> class std::numeric_limits<attest::ball<S>> {
public:
    static constexpr bool is_specialized = true;
    static constexpr bool is_integer = false;
    static constexpr int max_exponent = 0; // not a number that Boost should take for its own
    static constexpr bool has_infinity = true;
    static constexpr bool has_quiet_NaN = true;
    static attest::ball<S> infinity() { return attest::ball<S>::declared(attest::ball<S>::kind::plus_infinity); }
    static attest::ball<S> quiet_NaN() { return attest::ball<S>::declared(attest::ball<S>::kind::nan); }
};
