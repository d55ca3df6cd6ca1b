// SPDX-License-Identifier: BSL-1.0
/// \file
/// What an argument says of an element without any enclosure: that it is a certain rational number, or that it is irrational. Sums and multiples of
/// such facts, and a rational number rounded once to a format.
#pragma once

#include "attest/arithmetic/dyadic.hpp"
#include "attest/oracle/enclosure.hpp"

#include <optional>

namespace attest {

/// `value`: the element is this rational number. `no_tie`: it is irrational, so it is no number of a format and no midpoint of two, and enclosures
/// that grow narrower must settle it. `unknown`: no rule here says anything.
struct exact_fact {
    enum class kind { unknown, value, no_tie };
    kind what = kind::unknown;
    exact_rational value = 0;

    [[nodiscard]] static exact_fact unknown() { return {}; }
    [[nodiscard]] static exact_fact of(exact_rational x) { return {kind::value, std::move(x)}; }
    [[nodiscard]] static exact_fact irrational() { return {kind::no_tie, 0}; }
    [[nodiscard]] bool has_value() const noexcept { return what == kind::value; }
    [[nodiscard]] bool is_zero() const { return has_value() && value == 0; }

    friend bool operator==(const exact_fact&, const exact_fact&) = default;
};

/// x times a rational factor; nothing as the factor: one that is irrational, and not 0.
[[nodiscard]] inline exact_fact times(const exact_fact& x, const std::optional<exact_rational>& factor) {
    if (x.is_zero() || (factor && *factor == 0)) return exact_fact::of(0);
    if (factor) return x.has_value() ? exact_fact::of(x.value * *factor) : x; // of an irrational number: irrational
    return x.has_value() ? exact_fact::irrational() : exact_fact::unknown();  // √2 · √2 is rational
}

/// A sum of facts, such as what every row gives to a gradient: rational if all terms are, irrational if just one of them is.
class exact_sum {
public:
    void add(const exact_fact& term) {
        if (term.has_value()) total_ += term.value;
        else if (term.what == exact_fact::kind::no_tie) ++irrational_;
        else known_ = false;
    }
    [[nodiscard]] exact_fact result() const {
        if (!known_ || irrational_ > 1) return exact_fact::unknown();
        return irrational_ == 1 ? exact_fact::irrational() : exact_fact::of(total_);
    }

private:
    exact_rational total_ = 0;
    std::size_t irrational_ = 0;
    bool known_ = true;
};

namespace detail {
// e with 2^e <= p/q < 2^(e + 1), for p, q > 0.
[[nodiscard]] inline std::int64_t exponent_of(const exact_integer& p, const exact_integer& q) {
    const std::int64_t e = static_cast<std::int64_t>(msb(p)) - static_cast<std::int64_t>(msb(q)); // or one too many
    const bool below = e >= 0 ? p < exact_integer(q << static_cast<unsigned>(e)) : exact_integer(p << static_cast<unsigned>(-e)) < q;
    return below ? e - 1 : e;
}
// ⌊p/q · 2^k⌋, and what is left.
struct scaled_quotient {
    exact_integer whole;
    int half; // below 0, 0, above 0: the rest is below, at, above one half
    bool exact;
};
[[nodiscard]] inline scaled_quotient quotient_of(const exact_integer& p, const exact_integer& q, std::int64_t k) {
    const exact_integer above = k > 0 ? exact_integer(p << static_cast<unsigned>(k)) : p;
    const exact_integer below = k < 0 ? exact_integer(q << static_cast<unsigned>(-k)) : q;
    exact_integer whole, rest;
    divide_qr(above, below, whole, rest);
    return {whole, exact_integer(rest << 1U).compare(below), rest.is_zero()};
}
} // namespace detail

/// x rounded once to nearest, ties to even; subnormals and overflow as IEEE 754 says. What is 0 or rounds to it from above is +0.
[[nodiscard]] inline double round_to(const format& f, const exact_rational& x) {
    if (x == 0) return 0;
    const exact_integer p = abs(numerator(x)), q = denominator(x);
    const double sign = x < 0 ? -1.0 : 1.0;
    const std::int64_t e = detail::exponent_of(p, q);
    if (e > f.max_exponent) return sign * detail::infinity_of_double;
    if (e < f.tiny_exponent() - 1) return sign * 0.0; // less than half of the smallest subnormal
    const int unit = f.ulp_exponent(static_cast<int>(e));
    const auto parts = detail::quotient_of(p, q, -unit);
    auto whole = parts.whole.convert_to<std::uint64_t>(); // below 2^53
    if (parts.half > 0 || (parts.half == 0 && whole % 2 == 1)) ++whole;
    const double rounded = detail::times_power_of_two(static_cast<double>(whole), unit);
    return sign * (rounded > f.greatest() ? detail::infinity_of_double : rounded);
}

/// x to 192 bits, and a bound of what that leaves out: 0 where it is all of x.
[[nodiscard]] inline enclosure enclosure_of(const exact_rational& x) {
    if (x == 0) return {};
    using number = exact_number::number;
    const exact_integer p = abs(numerator(x)), q = denominator(x);
    const std::int64_t k = static_cast<std::int64_t>(exact_number::bits) - 1 - detail::exponent_of(p, q);
    const auto parts = detail::quotient_of(p, q, k); // 192 bits
    const number size = boost::multiprecision::ldexp(number(boost::multiprecision::cpp_int(parts.whole)), static_cast<long long>(-k));
    const number rest = parts.exact ? number(0) : number(boost::multiprecision::ldexp(number(1), static_cast<long long>(-k)));
    return {exact_number(x < 0 ? number(-size) : size), exact_number(rest), true};
}

} // namespace attest
