// SPDX-License-Identifier: BSL-1.0
/// \file
/// What a ball says of an element, in a form that does not depend on its arithmetic: the exact value to 192 bits with a proved radius, and the two ends of the ball,
/// each rounded once to a format. Where both ends round to one value, that is the correctly rounded result.
#pragma once

#include "attest/arithmetic/ball.hpp"
#include "attest/oracle/ball_in_doubles.hpp"

#include <optional>

namespace attest {

/// The exact value lies within `radius` of `value`. NaN and infinities are declared answers, and exact.
struct enclosure {
    exact_number value{0};
    exact_number radius{0};
    bool known = true; ///< false: nothing is known
};

/// The ends of a ball, rounded once to a format.
struct rounded_ends {
    double low;
    double high;
    /// One number, or the declared NaN.
    [[nodiscard]] bool agree() const noexcept { return low == high || (low != low && high != high); }
};

namespace detail {

// x rounded once to nearest, ties to even, as `round_to` for exact_number does.
[[nodiscard]] inline double round_big(const format& f, const big_float& x) {
    if (x.is_zero()) return 0;
    const double sign = x.is_negative() ? -1.0 : 1.0;
    const std::int64_t e = x.exponent();
    if (e > f.max_exponent) return sign * infinity_of_double;
    if (e < f.tiny_exponent() - 1) return sign * 0.0; // less than half of the smallest subnormal
    const int unit = f.ulp_exponent(static_cast<int>(e < f.min_exponent ? f.min_exponent : e));
    // |x| in units of the last place, and twice the rest.
    const big_float::integer size = abs(x.mantissa());
    const std::int64_t shift = x.last_exponent() - unit;
    std::uint64_t whole = 0;
    if (shift >= 0) {
        whole = big_float::integer(size << static_cast<unsigned>(shift)).convert_to<std::uint64_t>(); // below 2^53
    } else {
        const auto down = static_cast<unsigned>(-shift);
        const big_float::integer integer_part = size >> down, rest = size - (integer_part << down), half = big_float::integer(1) << (down - 1);
        whole = integer_part.convert_to<std::uint64_t>();
        if (rest > half || (rest == half && whole % 2 == 1)) ++whole;
    }
    const double rounded = times_power_of_two(static_cast<double>(whole), unit);
    return sign * (rounded > f.greatest() ? infinity_of_double : rounded);
}

// The double below (above) x.
[[nodiscard]] inline double next_down(double x) { return std::nextafter(x, -infinity_of_double); }
[[nodiscard]] inline double next_up(double x) { return std::nextafter(x, infinity_of_double); }

// A double that is not above x − r (not below x + r), and rounded to f.
[[nodiscard]] inline rounded_ends ends_of(const format& f, double middle, upper_bound radius) {
    const double r = radius.as_double();
    if (r == 0) return {round_to(f, middle), round_to(f, middle)};
    return {round_to(f, next_down(middle - r)), round_to(f, next_up(middle + r))};
}
// high + (low − r) rounded once is monotone in what stands in parentheses, so its double below will do.
[[nodiscard]] inline rounded_ends ends_of(const format& f, const double_double& middle, upper_bound radius) {
    const double r = radius.as_double(), below = r == 0 ? middle.low : next_down(middle.low - r), above = r == 0 ? middle.low : next_up(middle.low + r);
    if (f == formats::f64) return {middle.high + below, middle.high + above};
    if (r == 0 && middle.low == 0) return {round_to(f, middle.high), round_to(f, middle.high)};
    return {round_to(f, next_down(middle.high + below)), round_to(f, next_up(middle.high + above))};
}
[[nodiscard]] inline rounded_ends ends_of(const format& f, const big_float& middle, magnitude radius) {
    if (radius.is_zero()) return {round_big(f, middle), round_big(f, middle)};
    const big_float r = big_float(radius.fraction()).times_power_of_two(radius.exponent());
    // A sum that is cut is less than 2^−120 of the radius off.
    const std::int64_t span = middle.is_zero() ? 0 : middle.exponent() - radius.exponent();
    const working_precision wide(static_cast<unsigned>((span > 0 ? std::min<std::int64_t>(span, 1 << 20) : 0) + 128 + big_float::length_of(middle.mantissa())));
    const big_float more = big_float::add(r, r.times_power_of_two(-100)).value;
    return {round_big(f, big_float::add(middle, -more).value), round_big(f, big_float::add(middle, more).value)};
}

[[nodiscard]] inline exact_number exact_of(double x) { return exact_number(x); }

// The first 192 bits of x, and a bound of what that leaves out.
[[nodiscard]] inline enclosure enclosure_of(const big_float& x) {
    if (x.is_zero()) return {};
    const unsigned length = big_float::length_of(x.mantissa());
    const unsigned drop = length > exact_number::bits ? length - exact_number::bits : 0;
    const big_float::integer size = abs(x.mantissa()), kept = size >> drop;
    using number = exact_number::number;
    const number scaled = boost::multiprecision::ldexp(number(boost::multiprecision::cpp_int(kept)), static_cast<long long>(x.last_exponent() + drop));
    const bool exactly = drop == 0 || (kept << drop) == size;
    return {exact_number(x.is_negative() ? number(-scaled) : scaled), exactly ? exact_number(0) : exact_number(boost::multiprecision::ldexp(number(1), static_cast<long long>(x.last_exponent() + drop))), true};
}
[[nodiscard]] inline exact_number exact_of(magnitude m) {
    using number = exact_number::number;
    return exact_number(number(boost::multiprecision::ldexp(number(m.fraction()), static_cast<long long>(m.exponent()))));
}
[[nodiscard]] inline exact_number exact_of(upper_bound m) { return exact_number(m.as_double()); }

} // namespace detail

/// Both ends of a number's ball, rounded; −∞ and ∞ if nothing is known; the declared answer itself.
template <class S> [[nodiscard]] rounded_ends ends_of(const format& f, const ball<S>& x) {
    if (!x.is_number()) return {x.nearest_double(), x.nearest_double()};
    if (!x.is_known()) return {-detail::infinity_of_double, detail::infinity_of_double};
    return detail::ends_of(f, x.middle(), x.radius());
}

/// A known number in doubles, if it is kept in those.
template <class S> [[nodiscard]] std::optional<ball_in_doubles> in_doubles([[maybe_unused]] const ball<S>& x) {
    if constexpr (std::same_as<S, big_float>) return std::nullopt;
    else {
        if (!x.is_number() || !x.is_known()) return std::nullopt;
        if constexpr (std::same_as<S, double>) return ball_in_doubles{x.middle(), 0, x.radius().as_double()};
        else return ball_in_doubles{x.middle().high, x.middle().low, x.radius().as_double()};
    }
}

/// The same to 192 bits.
template <class S> [[nodiscard]] enclosure enclosure_of(const ball<S>& x) {
    if (!x.is_number()) return {exact_number(x.nearest_double()), exact_number(0), true};
    if (!x.is_known()) return {exact_number(0), exact_number(0), false};
    if constexpr (std::same_as<S, double>) return {exact_number(x.middle()), detail::exact_of(x.radius()), true};
    else if constexpr (std::same_as<S, double_double>) {
        const ball_in_doubles parts{x.middle().high, x.middle().low, x.radius().as_double()};
        return {parts.exact(), parts.exact_radius(), true};
    } else {
        // Far below every format and every limit: decimal digits of 10^(−10^15) would take forever.
        if (const magnitude greatest = x.greatest(); greatest < magnitude::power_of_two(-40000) && !greatest.is_zero()) return {exact_number(0), ldexp(exact_number(1), -40000), true};
        enclosure e = detail::enclosure_of(x.middle());
        e.radius = e.radius + detail::exact_of(x.radius());
        if (!e.radius.is_zero()) e.radius = e.radius + ldexp(e.radius, -180);
        return e;
    }
}

} // namespace attest
