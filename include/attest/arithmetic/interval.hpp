// SPDX-License-Identifier: BSL-1.0
/// \file
/// `interval`: a closed interval that holds the exact value, with proven ends, in constant expressions too. With it a
/// compiler proves a printed digit:
///
/// ```cpp
/// constexpr attest::interval s = 1 / attest::sqrt(attest::interval(2));
/// constexpr attest::interval alpha = attest::exp(s) / (attest::exp(s) + 1);
/// static_assert(rounds_to(alpha, "0.66976"));
/// static_assert(refutes(alpha, "0.66975"));
/// ```
/// (`attest::exp`, `sqrt` and `log` are in the headers of `elementary/`.)
/// The ends are integers that count units of 2^−128; every operation rounds the lower end down and the upper end up. No
/// floating-point number occurs. 128 bits are 38 decimal digits: the lectures print six, and what a formula of the
/// lectures loses on the way (a few hundred units, times the size of its numbers) leaves more than 30. They are two
/// limbs of 64 bits, which keeps the compile time of one function of a point at 5 to 15 ms (measured: exp, sin, tanh, erf).
#pragma once

#include "attest/arithmetic/decimal.hpp"
#include "attest/arithmetic/fixed_point.hpp"
#include "attest/arithmetic/fixed_point_functions.hpp"
#include "attest/arithmetic/scalar.hpp"
#include "attest/arithmetic/truth.hpp"

#include <concepts>

namespace attest {

/// A closed interval with ends in units of 2^−FractionBits. Values and results of magnitude below
/// 2^(2·FractionBits − 64) fit; what does not fit throws std::overflow_error. An operation that is not defined on every
/// point of its operands throws std::domain_error. In a constant expression, what would throw does not compile. There
/// is no infinity, no NaN and no conversion to double; comparisons answer with a `truth`.
template <unsigned FractionBits>
class basic_interval {
    static_assert(FractionBits >= 128 && FractionBits % 64 == 0, "the integers are laid out for at least two limbs");

public:
    static constexpr unsigned fraction_bits = FractionBits;
    using integer = fixed_point::integer<4 * FractionBits>;

    /// The point 0.
    constexpr basic_interval() = default;
    /// The point `value`, exactly. No floating-point number converts.
    template <std::integral I>
        requires(!std::same_as<I, bool>)
    constexpr basic_interval(I value) // NOLINT(google-explicit-constructor): as in every arithmetic
        : lower_{integer(value) * one_unit}, upper_{lower_} {}

    constexpr basic_interval(const basic_interval&) = default;
    // By swap: Boost's own assignment asks whether the two are one object, which GCC 12 does not decide for inline
    // variables in a constant expression.
    constexpr basic_interval& operator=(const basic_interval& other) {
        basic_interval copy = other;
        lower_.swap(copy.lower_);
        upper_.swap(copy.upper_);
        return *this;
    }
    constexpr ~basic_interval() = default;

    /// [lower, upper] · 2^−FractionBits. Throws std::invalid_argument if lower > upper.
    [[nodiscard]] static constexpr basic_interval of_units(const integer& lower, const integer& upper) {
        if (lower > upper) throw std::invalid_argument("the lower end of an interval must not be above its upper end");
        return {lower, upper};
    }
    /// p/q, to the unit. Throws std::domain_error for q = 0.
    [[nodiscard]] static constexpr basic_interval ratio(long long p, long long q) {
        return quotient(integer(p), integer(q));
    }
    /// The point 2^k. Throws std::domain_error for k < −FractionBits.
    [[nodiscard]] static constexpr basic_interval power_of_two(int k) {
        if (k < -static_cast<int>(fraction_bits))
            throw std::domain_error("a power of two below the unit of the interval");
        const integer power = integer(1) << (k + static_cast<int>(fraction_bits));
        return {power, power};
    }
    /// The number that is printed, to the unit: an enclosure, since 2^−FractionBits divides few decimals. For the
    /// syntax see printed_decimal::read.
    [[nodiscard]] static constexpr basic_interval decimal(std::string_view text) {
        const auto printed = printed_decimal<integer>::read(text);
        return quotient(printed.digits, printed.unit);
    }

    /// The ends, in units of 2^−FractionBits.
    [[nodiscard]] constexpr const integer& lower_units() const noexcept { return lower_; }
    [[nodiscard]] constexpr const integer& upper_units() const noexcept { return upper_; }
    /// The ends, as points.
    [[nodiscard]] constexpr basic_interval lower() const { return {lower_, lower_}; }
    [[nodiscard]] constexpr basic_interval upper() const { return {upper_, upper_}; }
    /// The middle, rounded down to a unit: a point inside.
    [[nodiscard]] constexpr basic_interval midpoint() const {
        const integer middle = fixed_point::floor_shift(integer(lower_ + upper_), 1);
        return {middle, middle};
    }
    /// upper − lower, a point.
    [[nodiscard]] constexpr basic_interval width() const { return upper() - lower(); }
    [[nodiscard]] constexpr bool is_point() const { return lower_ == upper_; }

    friend constexpr basic_interval operator-(const basic_interval& a) { return {-a.upper_, -a.lower_}; }
    friend constexpr basic_interval operator+(const basic_interval& a, const basic_interval& b) {
        return {a.lower_ + b.lower_, a.upper_ + b.upper_};
    }
    friend constexpr basic_interval operator-(const basic_interval& a, const basic_interval& b) {
        return {a.lower_ - b.upper_, a.upper_ - b.lower_};
    }
    friend constexpr basic_interval operator*(const basic_interval& a, const basic_interval& b) {
        const auto [least, greatest] = products(a, b);
        return {fixed_point::floor_shift(least, fraction_bits), fixed_point::ceiling_shift(greatest, fraction_bits)};
    }
    /// Throws std::domain_error if b contains 0.
    friend constexpr basic_interval operator/(const basic_interval& a, const basic_interval& b) {
        if (b.upper_ < 0) return -a / -b;
        if (b.lower_ <= 0) throw std::domain_error("division by an interval that contains 0");
        const integer low = a.lower_ * one_unit, high = a.upper_ * one_unit;
        return {fixed_point::floor_quotient(low, low < 0 ? b.lower_ : b.upper_),
                fixed_point::ceiling_quotient(high, high < 0 ? b.upper_ : b.lower_)};
    }

    /// Throws std::domain_error if a negative number is in x.
    friend constexpr basic_interval attest_sqrt(const basic_interval& x) {
        if (x.lower_ < 0) throw std::domain_error("the root of an interval with negative numbers");
        const integer low = x.lower_ * one_unit, high = x.upper_ * one_unit;
        const integer down = fixed_point::floor_root(low);
        integer up = fixed_point::floor_root(high);
        if (up * up != high) ++up;
        return {down, up};
    }
    friend constexpr basic_interval attest_exp(const basic_interval& x) {
        return increasing(x, [](const integer& lower, const integer& width) {
            return fixed_point::exp_bounds<fraction_bits>(lower, width);
        });
    }
    /// Throws std::domain_error unless all of x is positive.
    friend constexpr basic_interval attest_log(const basic_interval& x) {
        if (x.lower_ <= 0) throw std::domain_error("the logarithm of an interval with numbers that are not positive");
        const auto low = fixed_point::log_bounds<fraction_bits>(x.lower_);
        if (x.is_point()) return {low.lower, low.upper};
        return {low.lower, fixed_point::log_bounds<fraction_bits>(x.upper_).upper};
    }
    /// In [−1, 1].
    friend constexpr basic_interval attest_tanh(const basic_interval& x) {
        return increasing(x, [](const integer& lower, const integer& width) {
            return fixed_point::tanh_bounds<fraction_bits>(lower, width);
        });
    }
    /// In [−1, 1].
    friend constexpr basic_interval attest_erf(const basic_interval& x) {
        return increasing(x, [](const integer& lower, const integer& width) {
            return fixed_point::erf_bounds<fraction_bits>(lower, width);
        });
    }
    /// In [−1, 1]. Throws std::domain_error unless |x| < 2^64 everywhere on x.
    friend constexpr basic_interval attest_sin(const basic_interval& x) {
        const auto [lower, upper] = fixed_point::sine_bounds<fraction_bits>(x.lower_, x.upper_, 0);
        return {lower, upper};
    }
    /// As attest_sin.
    friend constexpr basic_interval attest_cos(const basic_interval& x) {
        const auto [lower, upper] = fixed_point::sine_bounds<fraction_bits>(x.lower_, x.upper_, 1);
        return {lower, upper};
    }
    /// π, to the unit.
    [[nodiscard]] static constexpr basic_interval pi() {
        const integer floor = fixed_point::pi<fraction_bits, integer>;
        return {floor, floor + 1};
    }
    /// ReLU of every point of x: across 0, [0, upper].
    friend constexpr basic_interval attest_relu(const basic_interval& x) {
        return {x.lower_ < 0 ? integer(0) : x.lower_, x.upper_ < 0 ? integer(0) : x.upper_};
    }
    /// The slope of ReLU, 0 at 0, at every point of x: [0, 1] if some are positive and some are not.
    friend constexpr basic_interval attest_step(const basic_interval& x) {
        return {x.lower_ > 0 ? one_unit : integer(0), x.upper_ > 0 ? one_unit : integer(0)};
    }
    /// The greater of the midpoints: a point, so that shifting by it widens nothing.
    friend constexpr basic_interval attest_shift_point(const basic_interval& a, const basic_interval& b) {
        const auto m_a = a.midpoint(), m_b = b.midpoint();
        return m_a.lower_ < m_b.lower_ ? m_b : m_a;
    }

    // Comparisons answer for every point of a and every point of b.
    friend constexpr truth operator<(const basic_interval& a, const basic_interval& b) {
        return a.upper_ < b.lower_ ? truth::yes : a.lower_ >= b.upper_ ? truth::no : truth::unknown;
    }
    friend constexpr truth operator<=(const basic_interval& a, const basic_interval& b) { return !(b < a); }
    friend constexpr truth operator>(const basic_interval& a, const basic_interval& b) { return b < a; }
    friend constexpr truth operator>=(const basic_interval& a, const basic_interval& b) { return !(a < b); }
    friend constexpr truth operator==(const basic_interval& a, const basic_interval& b) {
        if (!meet(a, b)) return truth::no;
        return a.is_point() && b.is_point() ? truth::yes : truth::unknown;
    }
    friend constexpr truth operator!=(const basic_interval& a, const basic_interval& b) { return !(a == b); }

    /// Is every point of `inner` in `outer`?
    friend constexpr bool contains(const basic_interval& outer, const basic_interval& inner) {
        return outer.lower_ <= inner.lower_ && inner.upper_ <= outer.upper_;
    }
    /// Have the two a point in common?
    friend constexpr bool meet(const basic_interval& a, const basic_interval& b) {
        return a.lower_ <= b.upper_ && b.lower_ <= a.upper_;
    }
    /// The least interval that contains both.
    friend constexpr basic_interval hull(const basic_interval& a, const basic_interval& b) {
        return {a.lower_ < b.lower_ ? a.lower_ : b.lower_, a.upper_ < b.upper_ ? b.upper_ : a.upper_};
    }

    /// Is `printed` the right rounding of x? True if every point of x is less than half a unit of the last printed
    /// digit away.
    friend constexpr bool rounds_to(const basic_interval& x, std::string_view printed) {
        const auto [least, greatest] = rounding_range_of(printed);
        return x.lower_ * least.unit > least.digits && x.upper_ * greatest.unit < greatest.digits;
    }
    /// Is `printed` not the right rounding of x? True if every point of x is more than half a unit of the last printed
    /// digit away.
    friend constexpr bool refutes(const basic_interval& x, std::string_view printed) {
        const auto [least, greatest] = rounding_range_of(printed);
        return x.upper_ * least.unit < least.digits || x.lower_ * greatest.unit > greatest.digits;
    }

private:
    static constexpr integer one_unit = integer(1) << fraction_bits;
    static constexpr integer narrow = integer(1) << (fraction_bits / 2 - 40); // what fixed_point's functions take for a width

    constexpr basic_interval(const integer& lower, const integer& upper) : lower_{lower}, upper_{upper} {}

    static constexpr basic_interval quotient(const integer& p, const integer& q) {
        if (q == 0) throw std::domain_error("a ratio with denominator 0");
        const integer numerator = (q < 0 ? -p : p) * one_unit, denominator = q < 0 ? -q : q;
        return {fixed_point::floor_quotient(numerator, denominator),
                fixed_point::ceiling_quotient(numerator, denominator)};
    }
    // The values of an increasing function of which bounds on a narrow interval are known, at about half the time of two ends:
    // from zero on or up to zero.
    template <class BoundsOn>
    static constexpr basic_interval increasing(const basic_interval& x, const BoundsOn& bounds_on) {
        const integer width = x.upper_ - x.lower_;
        if (width <= narrow && (x.lower_ >= 0 || x.upper_ <= 0)) {
            const auto both = bounds_on(x.lower_, width);
            return {both.lower, both.upper};
        }
        return {bounds_on(x.lower_, integer(0)).lower, bounds_on(x.upper_, integer(0)).upper};
    }
    // The least and the greatest product of a point of a and a point of b, before the shift.
    static constexpr fixed_point::bounds<integer> products(const basic_interval& a, const basic_interval& b) {
        if (a.lower_ >= 0 && b.lower_ >= 0) return {a.lower_ * b.lower_, a.upper_ * b.upper_};
        const integer ends[] = {a.lower_ * b.lower_, a.lower_ * b.upper_, a.upper_ * b.lower_, a.upper_ * b.upper_};
        fixed_point::bounds<integer> result{ends[0], ends[0]};
        for (const integer& end : ends) {
            if (end < result.lower) result.lower = end;
            if (end > result.upper) result.upper = end;
        }
        return result;
    }
    // (2 digits ± 1)/(2 unit): half a unit of the last digit on each side. The `digits` are in units of
    // 2^−FractionBits, to be compared with ends.
    struct rounding_range {
        printed_decimal<integer> least, greatest;
    };
    static constexpr rounding_range rounding_range_of(std::string_view printed) {
        const auto [digits, unit] = printed_decimal<integer>::read(printed);
        const integer least = (2 * digits - 1) * one_unit, greatest = (2 * digits + 1) * one_unit;
        return {{least, 2 * unit}, {greatest, 2 * unit}};
    }

    integer lower_ = 0;
    integer upper_ = 0;
};

/// 38 decimal digits after the point.
using interval = basic_interval<128>;

} // namespace attest
