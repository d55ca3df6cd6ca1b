// SPDX-License-Identifier: BSL-1.0
/// \file
/// exp, log, tanh, sin and cos of balls. Each is a series in ball arithmetic, whose roundings the balls carry by themselves, plus a stated bound of what the series leaves
/// out, plus what the radius of the argument makes of it. In double, exp is `attest::exp` with its proved error.
#pragma once

#include "attest/arithmetic/ball.hpp"
#include "attest/elementary/exp.hpp"

#include <map>

namespace attest {

namespace detail {

// Σ_{k>=0} s^k / ((2k + 1) n^{2k+1}) · 2^bits with s = ±1, that is artanh(1/n) or arctan(1/n), in integers: off by less than the number of terms, which is below `bits`.
inline big_float::integer inverse_series(unsigned n, bool alternating, unsigned bits) {
    big_float::integer power = (big_float::integer(1) << bits) / n, sum = power;
    const unsigned square = n * n;
    for (unsigned k = 1; !power.is_zero(); ++k) {
        power /= square;
        const big_float::integer term = power / (2 * k + 1);
        if (alternating && k % 2 == 1) sum -= term;
        else sum += term;
    }
    return sum;
}

// ln 2 = 2 artanh(1/3) and π/2 = 8 arctan(1/5) − 2 arctan(1/239) (Machin), each computed once for a precision.
enum class constant { ln2, half_pi };
inline ball<big_float> constant_of(constant which) {
    thread_local std::map<std::pair<constant, unsigned>, ball<big_float>> known;
    const unsigned bits = working_precision::bits() + 32;
    auto& value = known[{which, bits}];
    if (value.is_zero()) {
        const big_float::integer sum = which == constant::ln2 ? big_float::integer(2 * inverse_series(3, false, bits))
                                                              : big_float::integer(8 * inverse_series(5, true, bits) - 2 * inverse_series(239, true, bits));
        value = {big_float(sum, -static_cast<std::int64_t>(bits)), magnitude(10.0 * bits).times_power_of_two(-static_cast<std::int64_t>(bits))};
    }
    return value;
}
template <class S> ball<S> ln2_of() {
    if constexpr (std::same_as<S, double>) return {0x1.62e42fefa39efp-1, upper_bound(0x1p-55)};
    else if constexpr (std::same_as<S, double_double>) return {double_double{0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56}, upper_bound(0x1p-109)};
    else return constant_of(constant::ln2);
}
template <class S> ball<S> half_pi_of() {
    if constexpr (std::same_as<S, double>) return {0x1.921fb54442d18p+0, upper_bound(0x1p-53)};
    else if constexpr (std::same_as<S, double_double>) return {double_double{0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54}, upper_bound(0x1p-107)};
    else return constant_of(constant::half_pi);
}

template <class S> ball<S> times_power_of_two(const ball<S>& x, std::int64_t k) {
    if (!x.is_number() || !x.is_known()) return x;
    auto scaled = middle_of<S>::times_power_of_two(x.middle(), k);
    return {std::move(scaled.value), x.radius().times_power_of_two(k) + scaled.error};
}
template <class S> ball<S> from_integer(std::int64_t k) {
    if constexpr (std::same_as<S, big_float>) return {big_float(big_float::integer(k), 0), magnitude()};
    else return ball<S>(static_cast<double>(k)); // |k| is below 2^53
}
// Whether adding the term, or leaving it out, no longer matters.
template <class S> bool is_small(const ball<S>& term, const ball<S>& sum) {
    return term.greatest() <= sum.middle_size().times_power_of_two(-middle_bits<S>() - 4) || !term.is_known();
}

// More terms than any series here has where it settles. (It does not where terms are so small that only their absolute errors are left.)
template <class S> std::int64_t longest_series() { return 8 * static_cast<std::int64_t>(middle_bits<S>()); }

// e^t − 1 for |t| <= 1, as e^(t/2^h) − 1 = Σ t^n/n! doubled h times: E(2t) = E(t)(E(t) + 2). After the last term T the rest is below 2|T|·|t| <= 2|T|.
template <class S> ball<S> expm1_by_series(const ball<S>& t) {
    if (t.is_zero()) return t;
    // |e^t − 1 − t| <= t² for |t| <= 1: where that is below the last bit, and where products would leave the range of double.
    if (const auto size = t.greatest(); size <= typename ball<S>::radius_type(1.0).times_power_of_two(-middle_bits<S>() - 8)) return t.widened(size * size);
    int halvings = 4;
    while (halvings * halvings * 4 < middle_bits<S>()) ++halvings;
    const ball<S> small = times_power_of_two(t, -halvings);
    ball<S> term = small, sum = small;
    for (std::int64_t n = 2; !is_small(term, sum); ++n) {
        if (n > longest_series<S>()) return ball<S>::unknown();
        term = term * small / from_integer<S>(n);
        sum = sum + term;
    }
    sum = sum.widened(term.greatest() + term.greatest());
    for (int i = 0; i < halvings; ++i) sum = sum * (sum + ball<S>(2));
    return sum;
}

// e^m for a point m.
template <class S> ball<S> exp_of_point(const ball<S>& m) {
    if (m.is_zero()) return ball<S>(1);
    const double near = m.nearest_double();
    if constexpr (std::same_as<S, double>) {
        if (near > 709) return ball<S>::unknown();
        const double y = attest::exp(near);
        return {y, upper_bound(y) * upper_bound(exp_error_relative) + upper_bound(exp_error_absolute)};
    } else {
        constexpr double greatest = 0x1p50;
        if (near > greatest || (std::same_as<S, double_double> && near > 700)) return ball<S>::unknown();
        using radius = typename ball<S>::radius_type;
        if (near < -greatest) return {middle_of<S>::from(0), radius(1.0).times_power_of_two(-(std::int64_t{1} << 50))}; // 0 < e^m < 2^m
        const double scaled = unfused(near * 0x1.71547652b82fep+0);
        const auto k = static_cast<std::int64_t>(scaled + (scaled < 0 ? -0.5 : 0.5));
        const ball<S> rest = m - from_integer<S>(k) * ln2_of<S>();
        if (!(rest.greatest() <= radius(1.0))) return ball<S>::unknown();
        return times_power_of_two(expm1_by_series(rest) + ball<S>(1), k);
    }
}

// What y = e^m may become when m moves by up to r: e^r − 1 <= r + r² for r <= 1, e^r < 2^(1.45 r + 1) in any case.
template <class R> R exp_moved(R y, R r) {
    if (r <= R(1.0)) return y * (r + r * r);
    if (!(r <= R(0x1p40))) return R(infinity_of_double);
    return y.times_power_of_two(static_cast<std::int64_t>(r.as_double() * 1.45) + 1);
}

// The middle as f · 2^e with f in [0.7, 1.42]. For a middle above 0.
template <class S> struct fraction_of_ball {
    ball<S> fraction;
    std::int64_t exponent;
};
template <class S> fraction_of_ball<S> fraction_of(const ball<S>& m) {
    std::int64_t e = 0;
    if constexpr (std::same_as<S, big_float>) e = m.middle().exponent();
    else e = split(m.nearest_double()).exponent;
    if (times_power_of_two(m, -e).nearest_double() > 1.41) ++e;
    return {times_power_of_two(m, -e), e};
}

// sin r and cos r for |r| <= 1: alternating series, whose rest is below the last term.
template <class S> ball<S> sin_by_series(const ball<S>& r, bool cosine) {
    const ball<S> square = -(r * r);
    ball<S> term = cosine ? ball<S>(1) : r, sum = term;
    for (std::int64_t n = cosine ? 1 : 2; !is_small(term, sum); n += 2) {
        if (n > longest_series<S>()) return ball<S>::unknown();
        term = term * square / from_integer<S>(n * (n + 1));
        sum = sum + term;
    }
    return sum.widened(term.greatest());
}
// sin (or, a quarter turn on, cos) of a ball.
template <class S> ball<S> sin_of_ball(const ball<S>& x, bool cosine) {
    if (!x.is_number() || !x.is_known()) return ball<S>::unknown();
    if (x.is_zero()) return ball<S>(cosine ? 1 : 0);
    const ball<S> m = x.point(), turns = m / half_pi_of<S>();
    const double near = turns.nearest_double();
    ball<S> whole;
    unsigned quadrant = cosine ? 1 : 0;
    if (near < 0x1p50 && near > -0x1p50) {
        const auto k = static_cast<std::int64_t>(near + (near < 0 ? -0.5 : 0.5));
        whole = from_integer<S>(k);
        quadrant += static_cast<unsigned>(((k % 4) + 4) % 4);
    } else if constexpr (std::same_as<S, big_float>) {
        if (turns.middle().exponent() > 4000) return ball<S>::unknown();
        const big_float::integer k = turns.middle().nearest_integer(), left = k % 4;
        whole = {big_float(k, 0), magnitude()};
        quadrant += static_cast<unsigned>(left.template convert_to<int>() + 4);
    } else return ball<S>::unknown();
    const ball<S> rest = m - whole * half_pi_of<S>();
    if (!(rest.greatest() <= typename ball<S>::radius_type(1.0))) return ball<S>::unknown();
    const ball<S> y = sin_by_series(rest, quadrant % 2 == 1);
    return (quadrant % 4 >= 2 ? -y : y).widened(x.radius()); // |sin'| <= 1
}

} // namespace detail

template <class S> [[nodiscard]] ball<S> attest_exp(const ball<S>& x) {
    if (!x.is_number() || !x.is_known()) return ball<S>::unknown();
    const ball<S> y = detail::exp_of_point(x.point());
    if (x.radius().is_zero() || !y.is_known()) return y;
    return y.widened(detail::exp_moved(y.greatest(), x.radius()));
}

/// log f = 2 artanh t, t = (f − 1)/(f + 1), |t| < 0.18: after the term T the rest is below T·t²/(1 − t²).
template <class S> [[nodiscard]] ball<S> attest_log(const ball<S>& x) {
    if (!x.is_number() || !x.is_known() || !(middle_of<S>::from(0) < x.middle())) return ball<S>::unknown();
    const auto least = middle_of<S>::least(x.middle());
    if (!(x.radius() < least)) return ball<S>::unknown();
    const auto [f, e] = detail::fraction_of(x.point());
    const ball<S> t = (f - ball<S>(1)) / (f + ball<S>(1)), square = t * t;
    ball<S> power = t, sum = t;
    if (!t.is_zero()) {
        for (std::int64_t n = 3;; n += 2) {
            if (n > detail::longest_series<S>()) return ball<S>::unknown();
            power = power * square;
            const ball<S> term = power / detail::from_integer<S>(n);
            sum = sum + term;
            if (!detail::is_small(term, sum)) continue;
            sum = sum.widened(term.greatest());
            break;
        }
    }
    ball<S> y = detail::times_power_of_two(sum, 1);
    if (e != 0) y = y + detail::from_integer<S>(e) * detail::ln2_of<S>();
    if (x.radius().is_zero()) return y;
    return y.widened(x.radius() / detail::lower_difference(least, x.radius())); // |log'| <= 1/(m − r)
}

/// tanh x = E/(E + 2), E = e^2x − 1; |tanh'| <= 1.
template <class S> [[nodiscard]] ball<S> attest_tanh(const ball<S>& x) {
    if (!x.is_number() || !x.is_known()) return ball<S>::unknown();
    if (x.is_zero()) return x;
    const double near = x.nearest_double();
    if (near < 0) return -attest_tanh(-x);
    using radius = typename ball<S>::radius_type;
    // 1 − tanh x < 2 e^−2x < 2^(1 − 2.8 x)
    if (near > middle_bits<S>()) return ball<S>(middle_of<S>::from(1), radius(1.0).times_power_of_two(-2 * middle_bits<S>())).widened(x.radius());
    const ball<S> twice = detail::times_power_of_two(x.point(), 1);
    const ball<S> e = twice.greatest() <= radius(0.5) ? detail::expm1_by_series(twice) : detail::exp_of_point(twice) - ball<S>(1);
    return (e / (e + ball<S>(2))).widened(x.radius());
}
template <class S> [[nodiscard]] ball<S> attest_sin(const ball<S>& x) { return detail::sin_of_ball(x, false); }
template <class S> [[nodiscard]] ball<S> attest_cos(const ball<S>& x) { return detail::sin_of_ball(x, true); }

} // namespace attest
