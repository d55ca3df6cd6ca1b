// SPDX-License-Identifier: BSL-1.0
#include "attest/arithmetic/dual.hpp"
#include "attest/arithmetic/interval.hpp"
#include "attest/arithmetic/real.hpp"
#include "attest/elementary/erf.hpp"
#include "attest/elementary/exp.hpp"
#include "attest/elementary/log.hpp"
#include "attest/elementary/sin_cos.hpp"
#include "attest/elementary/sqrt.hpp"
#include "attest/elementary/tanh.hpp"
#include "attest/formula/activation.hpp"
#include "attest/formula/softmax.hpp"
#include "catch.hpp"

#include <boost/multiprecision/cpp_int.hpp>
#include <cmath>
#include <random>
#include <type_traits>

using namespace attest;

namespace {

using rational = boost::multiprecision::number<boost::multiprecision::cpp_rational::backend_type, boost::multiprecision::et_off>;
using over_rationals = dual<rational>;
using many = real<50>;

static_assert(scalar<dual<double>> && scalar<dual<dual<float>>> && scalar<over_rationals> && scalar<dual<many>>);
static_assert(std::is_convertible_v<int, dual<double>> && !std::is_convertible_v<double, dual<double>> &&
              !std::is_convertible_v<dual<double>, double>);
static_assert(!std::is_convertible_v<long long, dual<double>> && !std::is_convertible_v<bool, dual<double>>);
static_assert(std::is_constructible_v<dual<double>, double> && std::is_constructible_v<dual<dual<double>>, dual<double>>);
// A function of S is one of dual<S>, and none is invented.
static_assert(has_exp<dual<double>> && has_sqrt<dual<float>> && has_log<dual<many>> && has_tanh<dual<dual<double>>> &&
              has_erf<dual<many>>);
static_assert(has_sin<dual<double>> && has_cos<dual<dual<many>>>);
static_assert(!has_exp<over_rationals> && !has_sqrt<over_rationals> && !has_log<over_rationals> && !has_tanh<over_rationals> &&
              !has_erf<over_rationals>);
static_assert(!has_sin<over_rationals> && !has_cos<over_rationals>);

// In constant expressions: (x² + 1)/x and its derivative 1 − 1/x², exact in double at x = 4.
constexpr dual<double> x4(4, 1);
constexpr dual<double> quotient = (x4 * x4 + 1) / x4;
static_assert(quotient.value() == 4.25 && quotient.derivative() == 0.9375);
static_assert(dual<double>(3).derivative() == 0 && dual<double>(0.3).value() == 0.3 && dual<double>().value() == 0);
// Nested: x³ at 2 has the derivatives 12 and 12, and they stand where they belong.
constexpr dual<dual<double>> x2(dual<double>(2, 1), dual<double>(1, 0));
constexpr auto cube = x2 * x2 * x2;
static_assert(cube.value().value() == 8 && cube.value().derivative() == 12 && cube.derivative().value() == 12 &&
              cube.derivative().derivative() == 12);
static_assert(attest::exp(dual<double>(0, 1)).derivative() == 1 && attest::sqrt(dual<double>(4, 1)).derivative() == 0.25);
static_assert(attest::sin(dual<double>(0, 1)).derivative() == 1 && attest::cos(dual<double>(0, 1)).derivative() == 0);
// Comparisons look at the values.
static_assert(dual<int>(1, 5) == dual<int>(1, 7) && dual<int>(1, 5) != dual<int>(2, 5) && dual<int>(1, 9) < dual<int>(2, 0) &&
              dual<int>(2, 0) > 1);
static_assert(dual<int>(1, 9) <= 1 && dual<int>(1, 9) >= 1 && !(dual<int>(1, 9) >= 2) && !(dual<int>(2, 0) <= 1));

// `same` looks at the derivatives too, at all levels of nested ones.
template <class X>
concept has_same = requires(const X& x) { same(x, x); };
static_assert(same(dual<int>(1, 5), dual<int>(1, 5)) && !same(dual<int>(1, 5), dual<int>(1, 7)) && !same(dual<int>(1, 5), dual<int>(2, 5)));
static_assert(same(cube, dual<dual<double>>(dual<double>(8, 12), dual<double>(12, 12))));
static_assert(!same(cube, dual<dual<double>>(dual<double>(8, 11), dual<double>(12, 12))));
static_assert(!same(cube, dual<dual<double>>(dual<double>(8, 12), dual<double>(12, 11))));
static_assert(!same(cube, dual<dual<double>>(dual<double>(8, 12), dual<double>(11, 12))));
static_assert(same(dual<double>(1, 0), 1) && has_same<dual<rational>> && !has_same<dual<interval>> && !has_same<double>);

rational any_rational(std::mt19937_64& generator) {
    return rational(static_cast<int>(generator() % 2001) - 1000) / rational(static_cast<int>(1 + generator() % 50));
}
over_rationals any_dual(std::mt19937_64& generator) { return {any_rational(generator), any_rational(generator)}; }

// The derivative of f at x by central differences at 100 digits, with h = 10^−25: the error is h²/6 · |f‴|, and 75 digits are
// left of the difference.
template <class F>
many by_differences(const F& f, double x) {
    using wide = real<100>;
    const wide h = wide(1) / wide(wide::number("1e25"));
    const wide slope = (f(wide(x) + h) - f(wide(x) - h)) / (h + h);
    return many(many::number(slope.value()));
}
template <class F>
void check_slope(const char* name, const F& f, double x) {
    const many slope = f(dual<many>(many(x), many(1))).derivative(), expected = by_differences(f, x);
    CAPTURE(name, x, slope.text(50), expected.text(50));
    CHECK(abs(slope - expected) <= ldexp(abs(expected) + many(1), -133)); // 10^−40
    // And the value is untouched.
    CHECK(f(dual<many>(many(x), many(1))).value() == f(many(x)));
    // ε is carried linearly.
    const many tripled = f(dual<many>(many(x), many(3))).derivative();
    CHECK(abs(tripled - many(3) * slope) <= ldexp(abs(slope), -180));
    CHECK(f(dual<many>(many(x))).derivative().is_zero());
}

} // namespace

TEST_CASE("dual numbers over the rationals are a commutative ring, exactly", "[arithmetic]") {
    std::mt19937_64 generator(71);
    for (int i = 0; i < 2000; ++i) {
        const auto a = any_dual(generator), b = any_dual(generator), c = any_dual(generator);
        const bool laws = same(a + b, b + a) && same(a * b, b * a) && same((a + b) + c, a + (b + c)) &&
                          same((a * b) * c, a * (b * c)) && same(a * (b + c), a * b + a * c) && same(a - b, a + (-b)) &&
                          same(a + 0, a) && same(a * 1, a) && same(a - a, 0);
        const bool division = b.value() == 0 || (same(a / b * b, a) && same(a / b, a * (1 / b)) && same(-(a / b), (-a) / b));
        if (!laws || !division) {
            CAPTURE(a.value(), a.derivative(), b.value(), b.derivative(), c.value(), c.derivative());
            FAIL("a law of the ring is broken");
        }
    }
    CHECK(same(over_rationals(0, 1) * over_rationals(0, 1), 0)); // ε² = 0
}

TEST_CASE("the rules of sum, product, quotient and chain hold exactly", "[arithmetic]") {
    std::mt19937_64 generator(72);
    // p(x) = 3x³ − x/2 + 7 and q(x) = x² + 5, with the derivatives that the calculus gives.
    const auto p = [](const auto& x) { return 3 * x * x * x - x / 2 + 7; };
    const auto q = [](const auto& x) { return x * x + 5; };
    const auto dp = [](const rational& x) { return rational(9 * x * x - rational(1) / 2); };
    const auto dq = [](const rational& x) { return rational(2 * x); };
    for (int i = 0; i < 500; ++i) {
        const rational at = any_rational(generator);
        const over_rationals x(at, 1);
        const rational P = p(at), Q = q(at);
        CAPTURE(at);
        CHECK(same(p(x), {P, dp(at)}));
        CHECK(same(p(x) + q(x), {P + Q, dp(at) + dq(at)}));
        CHECK(same(p(x) * q(x), {P * Q, dp(at) * Q + P * dq(at)}));
        CHECK(same(p(x) / q(x), {P / Q, (dp(at) * Q - P * dq(at)) / (Q * Q)}));
        CHECK(same(p(q(x)), {p(Q), dp(Q) * dq(at)}));
    }
}

TEST_CASE("nested duals have second and mixed derivatives, exactly", "[arithmetic]") {
    using twice = dual<over_rationals>;
    std::mt19937_64 generator(73);
    for (int i = 0; i < 300; ++i) {
        const rational a = any_rational(generator), b = any_rational(generator);
        CAPTURE(a, b);
        // f(x) = 1/(x² + 1): f″ = (6x² − 2)/(x² + 1)³.
        const twice x(over_rationals(a, 1), over_rationals(1, 0));
        const twice f = 1 / (x * x + 1);
        const rational w = a * a + 1;
        CHECK(f.value().value() == 1 / w);
        CHECK(f.value().derivative() == rational(-2 * a / (w * w)));
        CHECK(f.derivative().value() == f.value().derivative());
        CHECK(f.derivative().derivative() == rational((6 * a * a - 2) / (w * w * w)));
        // g(x, y) = x²y³: g_x = 2xy³, g_y = 3x²y², g_xy = 6xy².
        const twice u(over_rationals(a, 0), over_rationals(1, 0)), v(over_rationals(b, 1), over_rationals(0, 0));
        const twice g = u * u * v * v * v;
        CHECK(g.derivative().value() == rational(2 * a * b * b * b));
        CHECK(g.value().derivative() == rational(3 * a * a * b * b));
        CHECK(g.derivative().derivative() == rational(6 * a * b * b));
    }
}

TEST_CASE("the functions have the derivatives that differences at 100 digits show", "[arithmetic]") {
    const auto exp = [](const auto& x) { return attest::exp(x); };
    const auto sqrt = [](const auto& x) { return attest::sqrt(x); };
    const auto log = [](const auto& x) { return attest::log(x); };
    const auto tanh = [](const auto& x) { return attest::tanh(x); };
    const auto erf = [](const auto& x) { return attest::erf(x); };
    const auto sin = [](const auto& x) { return attest::sin(x); };
    const auto cos = [](const auto& x) { return attest::cos(x); };
    const auto composed = [](const auto& x) {
        return attest::exp(attest::sin(x * x)) / attest::sqrt(x * x + 3) - attest::tanh(x) * attest::erf(x / 2);
    };
    for (const double x : {-7.25, -2.5, -1.0, -0.3, 0.0, 0.001, 0.75, 1.5, 3.0, 6.5}) {
        check_slope("exp", exp, x);
        check_slope("tanh", tanh, x);
        check_slope("erf", erf, x);
        check_slope("sin", sin, x);
        check_slope("cos", cos, x);
        check_slope("composed", composed, x);
        if (x > 0.1) {
            check_slope("sqrt", sqrt, x);
            check_slope("log", log, x);
        }
    }
}

TEST_CASE("nested, the functions have their second derivatives", "[arithmetic]") {
    using twice = dual<dual<many>>;
    const auto second = [](const auto& f, double x) {
        return f(twice(dual<many>(many(x), many(1)), dual<many>(many(1)))).derivative().derivative();
    };
    const auto near = [](const many& a, const many& b) { return abs(a - b) <= ldexp(abs(b) + many(1), -170); };
    for (const double at : {-1.75, -0.5, 0.25, 1.0, 2.5}) {
        const many x(at), t = attest::tanh(x);
        CAPTURE(at);
        CHECK(near(second(attest::exp, at), attest::exp(x)));
        CHECK(near(second(attest::sin, at), -attest::sin(x)));
        CHECK(near(second(attest::cos, at), -attest::cos(x)));
        CHECK(near(second(attest::tanh, at), many(-2) * t * (many(1) - t * t)));
        CHECK(near(second(attest::erf, at), many(-4) * x / attest::sqrt(attest::pi<many>()) * attest::exp(-(x * x))));
        if (at > 0) {
            CHECK(near(second(attest::log, at), many(-1) / (x * x)));
            CHECK(near(second(attest::sqrt, at), many(-1) / (many(4) * x * attest::sqrt(x))));
        }
    }
}

TEST_CASE("relu and step of a dual: the slope at 0 is 0", "[arithmetic]") {
    const auto slope = [](double x) { return relu(dual<double>(x, 1)).derivative(); };
    CHECK(relu(dual<double>(3, 5)).value() == 3);
    CHECK(relu(dual<double>(3, 5)).derivative() == 5);
    CHECK(relu(dual<double>(-3, 5)).value() == 0);
    CHECK(slope(-3) == 0);
    CHECK(slope(0.0) == 0);
    CHECK(slope(-0.0) == 0);
    CHECK(slope(0x1p-1074) == 1);
    CHECK(std::isnan(slope(std::numeric_limits<double>::quiet_NaN())));
    CHECK(step(dual<double>(3, 5)).value() == 1);
    CHECK(step(dual<double>(3, 5)).derivative() == 0);
    CHECK(step(dual<double>(0, 5)).value() == 0);
    // relu(x)² nested: the second derivative is 2 above 0 and 0 below.
    const auto second = [](int x) {
        const auto r = relu(dual<over_rationals>(over_rationals(x, 1), over_rationals(1, 0)));
        return rational((r * r).derivative().derivative());
    };
    CHECK(second(4) == 2);
    CHECK(second(-4) == 0);
    CHECK(second(0) == 0);
}

TEST_CASE("pi is a constant, and infinity and NaN are those of the scalar", "[arithmetic]") {
    CHECK(attest::pi<dual<many>>().value() == attest::pi<many>());
    CHECK(attest::pi<dual<dual<double>>>().derivative() == 0);
    static_assert(std::numeric_limits<dual<double>>::has_quiet_NaN && std::numeric_limits<dual<dual<many>>>::has_infinity);
    CHECK(std::isnan(not_a_number<dual<double>>().value()));
    CHECK(minus_infinity<dual<double>>().value() == -std::numeric_limits<double>::infinity());
    CHECK_THROWS_AS(minus_infinity<over_rationals>(), no_such_value);
}

TEST_CASE("at the ends of the domains of root and logarithm the scalar decides", "[arithmetic]") {
    CHECK(attest::sqrt(dual<double>(0, 1)).derivative() == std::numeric_limits<double>::infinity());
    CHECK(std::isnan(attest::sqrt(dual<double>(0, 0)).derivative()));
    CHECK(attest::log(dual<double>(0, 1)).derivative() == std::numeric_limits<double>::infinity());
    CHECK_THROWS(over_rationals(1, 1) / over_rationals(0, 1));
}

TEST_CASE("a formula evaluated in duals has its derivative: softmax, da_i/dx_j = a_i (δ_ij − a_j)", "[arithmetic]") {
    struct keys : axis<4> {};
    const tensor<many, keys> x{many(0.5), many(-1.25), many(3), many(2.75)};
    const auto a = softmax(x);
    for (std::size_t j = 0; j < 4; ++j) {
        tensor<dual<many>, keys> moved;
        for (std::size_t l = 0; l < 4; ++l) moved(l) = dual<many>(x(l), many(l == j ? 1 : 0));
        const auto b = softmax(moved);
        for (std::size_t i = 0; i < 4; ++i) {
            CAPTURE(i, j);
            CHECK(b(i).value() == a(i));
            CHECK(abs(b(i).derivative() - a(i) * (many(i == j ? 1 : 0) - a(j))) < ldexp(many(1), -180));
        }
    }
}
