// SPDX-License-Identifier: BSL-1.0
// A gradient against dual numbers: each input element in turn gets the derivative 1, and what the value's derivative then is, the gradient must say.
#pragma once

#include "attest/arithmetic/dual.hpp"
#include "attest/arithmetic/real.hpp"
#include "attest/shape/tensor.hpp"
#include "catch.hpp"
#include "gradient/rational.hpp"

#include <cstdint>
#include <random>
#include <string>

namespace derived {

using attest::dual;
using big = attest::real<50>;

/// The elements as constants of dual<S>.
template <class S, class... Axes> attest::tensor<dual<S>, Axes...> constants(const attest::tensor<S, Axes...>& x) {
    auto result = attest::tensor<dual<S>, Axes...>(x.lengths());
    for (std::size_t e = 0; e < x.elements(); ++e) result.data()[e] = dual<S>(x.data()[e]);
    return result;
}

/// Σ dy ⊙ y: the number whose gradient is what a VJP gives.
template <class S, class... Axes, class... Others>
dual<S> along(const attest::tensor<S, Axes...>& dy, const attest::tensor<dual<S>, Others...>& y) {
    REQUIRE(y.elements() == dy.elements());
    dual<S> sum(0);
    for (std::size_t e = 0; e < dy.elements(); ++e) sum = sum + dual<S>(dy.data()[e]) * y.data()[e];
    return sum;
}

/// Equal; exactly where the arithmetic is exact, else to a 10^−40th of the greater of the two and 1 (the inputs here are of the order of 1).
inline bool agrees(const exactly::rational& a, const exactly::rational& b) { return a == b; }
inline bool agrees(const big& a, const big& b) {
    const big scale = abs(b) < big(1) ? big(1) : abs(b), limit = scale * big(1e-40);
    return abs(a - b) < limit; // false for NaN
}
inline std::string text(const exactly::rational& x) { return x.text(); }
inline std::string text(const big& x) { return x.text(50); }

/// `value` is a callable of no arguments that reads x, a tensor of duals, and gives one dual: its derivative by each element of x is that of `gradient`.
template <class S, class... Axes, class... Others, class F>
void check_derivative(attest::tensor<dual<S>, Axes...>& x, const attest::tensor<S, Others...>& gradient, const F& value) {
    REQUIRE(gradient.elements() == x.elements());
    for (std::size_t k = 0; k < x.rank; ++k) REQUIRE(gradient.length(k) == x.length(k));
    for (std::size_t e = 0; e < x.elements(); ++e) {
        const dual<S> saved = x.data()[e];
        x.data()[e] = dual<S>(saved.value(), S(1));
        const S wanted = value().derivative();
        x.data()[e] = saved;
        INFO("element " << e << " of " << x.elements() << ": the gradient has " << text(gradient.data()[e]) << ", dual numbers have " << text(wanted));
        CHECK(agrees(gradient.data()[e], wanted));
    }
}

/// Numbers k/16 between −2 and 2: exact in every arithmetic.
template <class X> void fill(X& x, std::uint64_t seed) {
    std::mt19937_64 generator(seed);
    using S = typename X::value_type;
    for (std::size_t e = 0; e < x.elements(); ++e) x.data()[e] = S(static_cast<int>(generator() % 65) - 32) / S(16);
}
template <class X> X filled(X x, std::uint64_t seed) {
    fill(x, seed);
    return x;
}

} // namespace derived
