// SPDX-License-Identifier: BSL-1.0
/// \file
/// tanh, erf, sin and cos of `real<D>`. Each is computed in a wider real R, whose guard bits take up what the way there loses,
/// and then rounded.
#pragma once

#include "attest/arithmetic/scalar.hpp"

#include <boost/multiprecision/cpp_bin_float.hpp>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <vector>

namespace attest::detail {

// 1/0!, −1/2!, 1/4!, … (or 1/1!, −1/3!, 1/5!, …) until 1/n! is below 2^−bits: enough for |r| < 1.
template <class R>
std::vector<typename R::number> make_alternating_inverse_factorials(unsigned first) {
    using number = typename R::number;
    std::vector<number> result;
    number c = 1;
    for (unsigned n = first;; n += 2) {
        result.push_back(c);
        if (c.backend().exponent() < -static_cast<std::int64_t>(R::bits)) return result;
        c = -c / ((n + 1) * (n + 2));
    }
}
template <class R>
typename R::number polynomial(const std::vector<typename R::number>& coefficients, const typename R::number& x) {
    typename R::number sum = 0;
    for (auto c = coefficients.rbegin(); c != coefficients.rend(); ++c) sum = sum * x + *c;
    return sum;
}

// x = k·π/2 + r with |r| <= π/4 (or a rounding more), x ≠ 0 finite with |x| < 2^100: k · π/2 is known to 2^(101 − R::bits).
template <class R>
struct real_quarter_turns {
    unsigned quadrant;
    typename R::number rest;
};
inline constexpr int greatest_angle_exponent = 100;
template <class R>
real_quarter_turns<R> reduced_real(const typename R::number& x) {
    using number = typename R::number;
    if (x.backend().exponent() >= greatest_angle_exponent)
        throw std::domain_error("sin and cos in many digits are limited to |x| < 2^100");
    static const number half_pi = number(R::pi().value() / 2);
    const number k = boost::multiprecision::floor(number(x / half_pi + 0.5));
    const number left = k - 4 * boost::multiprecision::floor(number(k / 4));
    return {left.template convert_to<unsigned>(), number(x - k * half_pi)};
}
template <class R>
typename R::number sin_of_real_rest(const typename R::number& r) {
    static const auto coefficients = make_alternating_inverse_factorials<R>(1);
    return r * polynomial<R>(coefficients, r * r);
}
template <class R>
typename R::number cos_of_real_rest(const typename R::number& r) {
    static const auto coefficients = make_alternating_inverse_factorials<R>(0);
    return polynomial<R>(coefficients, r * r);
}

// For finite x ≠ 0. R has at least 128 bits more than what its result is rounded to, which is below 2^−27 of the last digit of a
// number near 1.
template <class R>
typename R::number sin_of_real(const typename R::number& x) {
    const auto [quadrant, rest] = reduced_real<R>(x);
    const typename R::number magnitude = quadrant % 2 == 0 ? sin_of_real_rest<R>(rest) : cos_of_real_rest<R>(rest);
    return quadrant >= 2 ? typename R::number(-magnitude) : magnitude;
}
template <class R>
typename R::number cos_of_real(const typename R::number& x) {
    const auto [quadrant, rest] = reduced_real<R>(x);
    const typename R::number magnitude = quadrant % 2 == 0 ? cos_of_real_rest<R>(rest) : sin_of_real_rest<R>(rest);
    return quadrant == 1 || quadrant == 2 ? typename R::number(-magnitude) : magnitude;
}

// tanh x = E / (E + 2) with E = e^2x − 1, for finite x > 0. By the series where e^2x would be near 1; elsewhere the subtraction
// costs at most 16 of the guard bits.
template <class R>
typename R::number tanh_of_real(const typename R::number& x) {
    using number = typename R::number;
    const number t = boost::multiprecision::ldexp(x, 1);
    if (t > R::bits) return number(1); // 2e^−t is below 2^−1.44 bits
    number expm1;
    if (t.backend().exponent() >= -16) {
        expm1 = attest_exp(R(t)).value() - 1;
    } else {
        number term = t;
        expm1 = t;
        for (unsigned n = 2; term.backend().exponent() > t.backend().exponent() - static_cast<std::int64_t>(R::bits); ++n) {
            term = term * t / n;
            expm1 += term;
        }
    }
    return expm1 / (expm1 + 2);
}

// erf x = 2x/√π e^−x² Σ (2x²)^n / (1·3·5·…·(2n + 1)), for finite x > 0: all terms are positive, so nothing cancels.
template <class R>
typename R::number erf_of_real(const typename R::number& x) {
    using number = typename R::number;
    const number square = x * x;
    if (square > R::bits) return number(1); // 1 − erf x < e^−x² is below 2^−1.44 bits
    number term = 1, sum = 1;
    const number twice_square = 2 * square;
    for (unsigned n = 3; term.backend().exponent() > sum.backend().exponent() - static_cast<std::int64_t>(R::bits); n += 2) {
        term = term * twice_square / n;
        sum += term;
    }
    static const number root_pi = boost::multiprecision::sqrt(R::pi().value());
    return 2 * x / root_pi * attest_exp(R(number(-square))).value() * sum;
}

// erfc x = 1 − erf x for finite x >= 3, where the difference would cancel: e^−x²/√π divided by the continued fraction x + (1/2)/(x + (2/2)/(x + (3/2)/(x + …))
// (DLMF 7.9.1), from the depth on at which R's digits have settled (some D²/x² steps; measured against the series with more digits).
template <class R>
typename R::number erfc_of_real(const typename R::number& x) {
    using number = typename R::number;
    const double digits = R::bits / 3.32, near = x.template convert_to<double>();
    number fraction = x;
    for (int k = static_cast<int>(digits * digits * 1.2 / (near * near)) + 60; k > 0; --k) fraction = x + number(k) / 2 / fraction;
    static const number root_pi = boost::multiprecision::sqrt(R::pi().value());
    return attest_exp(R(number(-x * x))).value() / (root_pi * fraction);
}

} // namespace attest::detail
