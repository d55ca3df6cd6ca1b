// SPDX-License-Identifier: BSL-1.0
#include "attest/arithmetic/real.hpp"
#include "attest/elementary/erf.hpp"
#include "attest/elementary/exp.hpp"
#include "attest/elementary/log.hpp"
#include "attest/elementary/sin_cos.hpp"
#include "attest/elementary/tanh.hpp"
#include "catch.hpp"

#include <cmath>
#include <random>

using namespace attest;

namespace {

using low = real<50>;
using high = real<100>;

// The same number with more digits: exact.
high widened(const low& x) { return high(high::number(x.value())); }

// |approximate − exact| / |exact| in units of 2^−192.
double relative_error(const low& approximate, const high& exact) {
    return std::abs(static_cast<double>(ldexp((widened(approximate) - exact) / exact, static_cast<int>(low::bits))));
}

// A rounded value that was nearly right is right to one unit of 2^−bits, relatively; the docstring says two.
constexpr double claimed = 2;

double uniform(std::mt19937_64& generator, double a, double b) { return std::uniform_real_distribution<>(a, b)(generator); }

// All 192 bits in use.
low any(std::mt19937_64& generator, double greatest) {
    return low(uniform(generator, -greatest, greatest)) / low(static_cast<int>(1 + generator() % 1000));
}

template <class F>
void compare(const F& f, const low& x) {
    const double error = relative_error(f(x), f(widened(x)));
    if (!(error <= claimed)) {
        CAPTURE(static_cast<double>(x), x.text(60), f(x).text(60), error);
        FAIL("further off than the docstring says");
    }
}

bool agrees(const low& x, const char* digits) {
    return boost::multiprecision::abs(low::number(x.value() / low::number(digits) - 1)) < low::number("1e-53");
}

} // namespace

TEST_CASE("tanh to 50 digits lies where tanh to 100 digits says, near 0 too", "[arithmetic]") {
    std::mt19937_64 generator(61);
    for (int i = 0; i < 3000; ++i) {
        compare(attest::tanh, any(generator, 3));
        compare(attest::tanh, any(generator, 80));
        compare(attest::tanh, ldexp(any(generator, 1), -static_cast<int>(generator() % 400)));
    }
    for (const double x : {0x1p-17, 0x1p-18, 66.0, 67.0, 92.0, 96.0, 128.0, 1e3, 1e9})
        compare(attest::tanh, low(x)); // where its ways meet
}

TEST_CASE("erf to 50 digits lies where erf to 100 digits says, near 0 and out to 30", "[arithmetic]") {
    std::mt19937_64 generator(62);
    for (int i = 0; i < 1500; ++i) {
        compare(attest::erf, any(generator, 3));
        compare(attest::erf, low(uniform(generator, -30, 30)));
        compare(attest::erf, ldexp(any(generator, 1), -static_cast<int>(generator() % 400)));
    }
    for (const double x : {11.5, 11.6, 13.8, 14.0, 15.99, 16.0, 16.01, 19.5, 20.5, 1e3, 1e9}) compare(attest::erf, low(x));
}

TEST_CASE("sin and cos to 50 digits lie where 100 digits say, for small, moderate and great angles", "[arithmetic]") {
    std::mt19937_64 generator(63);
    for (int i = 0; i < 2000; ++i)
        for (const low& x : {any(generator, 4), low(uniform(generator, -1e6, 1e6)),
                             ldexp(any(generator, 1), -static_cast<int>(generator() % 400)),
                             ldexp(low(uniform(generator, -1, 1)), static_cast<int>(generator() % 101))}) {
            compare(attest::sin, x);
            compare(attest::cos, x);
        }
}

TEST_CASE("sin and cos near their zeros, and at the greatest angle", "[arithmetic]") {
    // 192 bits of π: sin is what they lack, which 100 digits know. What is left has an absolute error of 2^−218 · 2^(exponent of
    // x − 100).
    for (int k = 1; k < 400; ++k) {
        const low x = attest::pi<low>() * low(k) / low(2);
        const low s = k % 2 == 0 ? attest::sin(x) : attest::cos(x);
        const high exact = k % 2 == 0 ? attest::sin(widened(x)) : attest::cos(widened(x));
        CAPTURE(k, s.text(20), exact.text(20));
        CHECK(abs(exact) < ldexp(high(1), -180));
        CHECK(abs(widened(s) - exact) < ldexp(high(1), -300));
    }
    const low greatest = ldexp(low(1), 100) - low(1);
    compare(attest::sin, greatest);
    compare(attest::cos, -greatest);
    for (const low& x : {ldexp(low(1), 100), -ldexp(low(1), 100), ldexp(low(3), 5000)}) {
        CHECK_THROWS_AS(attest::sin(x), std::domain_error);
        CHECK_THROWS_AS(attest::cos(x), std::domain_error);
    }
}

TEST_CASE("known digits of tanh, erf, sin and cos", "[arithmetic]") {
    // Computed with mpmath 1.3.0 at 60 digits.
    CHECK(agrees(attest::tanh(low(1)), "0.7615941559557648881194582826047935904127685972579365516"));
    CHECK(agrees(attest::tanh(low(0.5)), "0.4621171572600097585023184836436725487302892803301130386"));
    CHECK(agrees(attest::erf(low(1)), "0.8427007929497148693412206350826092592960669979663029085"));
    CHECK(agrees(attest::erf(low(3)), "0.9999779095030014145586272238704176796201522929126007503"));
    CHECK(agrees(attest::sin(low(1)), "0.8414709848078965066525023216302989996225630607983710657"));
    CHECK(agrees(attest::cos(low(1)), "0.5403023058681397174009366074429766037323104206179222277"));
    CHECK(agrees(attest::sin(low(1e6)), "-0.3499935021712929521176524867807714690614066053287162739"));
    CHECK(agrees(attest::cos(low(1e6)), "0.9367521275331447869385325350749187757080978042123658797"));
    CHECK(
        agrees(attest::sin(low(1e29)), "-0.6450245506433655426666461532137332043754398072685424128")); // the double next to 10^29
    CHECK(agrees(attest::cos(low(1e29)), "-0.7641618474297996253621090497704499944170722644652620383"));
}

TEST_CASE("identities of the functions of real", "[arithmetic]") {
    std::mt19937_64 generator(64);
    const low few = ldexp(low(1), 6 - static_cast<int>(low::bits)); // some roundings of numbers near 1
    for (int i = 0; i < 1000; ++i) {
        const low a = any(generator, 4), b = any(generator, 4);
        const low sa = attest::sin(a), ca = attest::cos(a), sb = attest::sin(b), cb = attest::cos(b), t = attest::tanh(a),
                  e = attest::exp(a + a);
        CAPTURE(static_cast<double>(a), static_cast<double>(b));
        CHECK(abs(sa * sa + ca * ca - low(1)) < few);
        CHECK(abs(attest::sin(a + b) - (sa * cb + ca * sb)) < few);
        CHECK(abs(attest::cos(a + b) - (ca * cb - sa * sb)) < few);
        CHECK(abs(t - (e - low(1)) / (e + low(1))) < few * low(4)); // exp's bound is 2·8 + 64
        CHECK(attest::tanh(-a) == -t);
        CHECK(attest::erf(-a) == -attest::erf(a));
        CHECK(attest::sin(-a) == -sa);
        CHECK(attest::cos(-a) == ca);
    }
}

TEST_CASE("erf is the integral of its slope, by Simpson's rule", "[arithmetic]") {
    // Independent of the series: 2/√π ∫_0^1 e^(−t²) dt. The rule's error is h⁴/180 · max|f⁗| <= 12·(2/√π)/180 · 10^−12 at h =
    // 1/1000.
    const int n = 1000;
    low sum(0);
    for (int i = 0; i <= n; ++i) {
        const low t = low(i) / low(n);
        sum = sum + low(i == 0 || i == n ? 1 : i % 2 == 1 ? 4 : 2) * attest::exp(-(t * t));
    }
    const low integral = low(2) / attest::sqrt(attest::pi<low>()) * sum / low(3 * n);
    CHECK(std::abs(static_cast<double>(integral - attest::erf(low(1)))) < 0.08e-12);
}

TEST_CASE("special values of the functions of real", "[arithmetic]") {
    const low infinity = std::numeric_limits<low>::infinity(), nan = std::numeric_limits<low>::quiet_NaN(),
              negative_zero = -low(0);
    CHECK(attest::tanh(infinity) == low(1));
    CHECK(attest::tanh(-infinity) == low(-1));
    CHECK(attest::erf(infinity) == low(1));
    CHECK(attest::erf(-infinity) == low(-1));
    CHECK(attest::tanh(nan).is_nan());
    CHECK(attest::erf(nan).is_nan());
    for (const low& x : {nan, infinity, -infinity}) {
        CHECK(attest::sin(x).is_nan());
        CHECK(attest::cos(x).is_nan());
    }
    CHECK(attest::cos(low(0)) == low(1));
    CHECK(attest::cos(negative_zero) == low(1));
    const auto is_negative_zero = [](const low& x) { return x.is_zero() && x.is_negative(); };
    CHECK(is_negative_zero(attest::tanh(negative_zero)));
    CHECK(is_negative_zero(attest::erf(negative_zero)));
    CHECK(is_negative_zero(attest::sin(negative_zero)));
    CHECK((attest::sin(low(0)).is_zero() && !attest::sin(low(0)).is_negative()));
    CHECK(attest::tanh(low(1e9)) == low(1));
    CHECK(attest::erf(low(-1e9)) == low(-1));
    CHECK(attest::tanh(low(40)) < low(1)); // 1 − 3.6e-35
    CHECK(low(1) - attest::erf(low(8)) > low(0));
}
