// SPDX-License-Identifier: BSL-1.0
// Every operation and function of balls, in each of the three kinds of middle, against MPFR, which is another library and other algorithms: at random points inside the
// operands, the exact result (to 1,200 bits) must lie inside the ball; and the ball must not be wider than a few roundings.

#include "attest/oracle/ball_functions.hpp"

#include "catch.hpp"

#if __has_include(<mpfr.h>) && __has_include(<gmp.h>)

#include <cstdint>
#include <mpfr.h>
#include <random>
#include <string>

using attest::ball;
using attest::big_float;
using attest::double_double;

namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr int rounds = 400;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(memory_sanitizer) || __has_feature(thread_sanitizer)
constexpr int rounds = 400;
#else
constexpr int rounds = 20'000;
#endif
#else
constexpr int rounds = 20'000;
#endif

constexpr mpfr_prec_t bits = 1200;

class number {
public:
    number() { mpfr_init2(value_, bits); }
    explicit number(double x) : number() { mpfr_set_d(value_, x, MPFR_RNDN); }
    explicit number(const double_double& x) : number(x.high) { mpfr_add_d(value_, value_, x.low, MPFR_RNDN); }
    explicit number(const big_float& x) : number() {
        mpz_t whole;
        mpz_init(whole);
        const auto& limbs = x.mantissa().backend();
        mpz_import(whole, limbs.size(), -1, sizeof(*limbs.limbs()), 0, 0, limbs.limbs());
        if (limbs.sign()) mpz_neg(whole, whole);
        mpfr_set_z_2exp(value_, whole, static_cast<mpfr_exp_t>(x.last_exponent()), MPFR_RNDN);
        mpz_clear(whole);
    }
    explicit number(const attest::magnitude& m) : number(m.fraction()) { mpfr_mul_2si(value_, value_, static_cast<long>(m.exponent()), MPFR_RNDN); }
    explicit number(const attest::upper_bound& m) : number(m.as_double()) {}
    number(const number& other) : number() { mpfr_set(value_, other.value_, MPFR_RNDN); }
    number& operator=(const number&) = delete;
    ~number() { mpfr_clear(value_); }
    [[nodiscard]] mpfr_ptr get() { return value_; }
    [[nodiscard]] mpfr_srcptr get() const { return value_; }
    [[nodiscard]] double as_double() const { return mpfr_get_d(value_, MPFR_RNDN); }

private:
    mpfr_t value_;
};

std::mt19937_64 random_bits(20261130);
double uniform() { return static_cast<double>(random_bits() >> 11) * 0x1p-53; }

template <class S> S random_middle(double least_exponent, double greatest_exponent, bool negative_too) {
    const auto k = static_cast<int>(least_exponent + (greatest_exponent - least_exponent) * uniform());
    double x = std::ldexp(1 + uniform(), k);
    if (uniform() < 0.1) x = std::ldexp(1.0, k);
    if (negative_too && uniform() < 0.5) x = -x;
    if constexpr (std::same_as<S, double>) return x;
    else if constexpr (std::same_as<S, double_double>) {
        const double low = std::ldexp(x, -54) * (2 * uniform() - 1);
        const double high = x + low; // normalised
        return {high, low - (high - x)};
    } else return attest::big_float::add(big_float(x), big_float(std::ldexp(x * (2 * uniform() - 1), -60))).value;
}
// A ball, and a point in it.
template <class S> struct ball_and_point {
    ball<S> whole;
    number point;
};
template <class S> ball_and_point<S> random_ball(double least_exponent, double greatest_exponent, bool negative_too) {
    const S middle = random_middle<S>(least_exponent, greatest_exponent, negative_too);
    const number exactly(middle);
    const double size = std::fabs(exactly.as_double());
    const double radius = uniform() < 0.4 ? 0.0 : size * std::ldexp(uniform(), -static_cast<int>(100 * uniform()) - 1) * 0.99;
    ball_and_point<S> b{ball<S>(middle, typename ball<S>::radius_type(radius)), exactly};
    const double where = uniform() < 0.3 ? 1.0 : uniform() < 0.5 ? -1.0 : 2 * uniform() - 1;
    mpfr_t off;
    mpfr_init2(off, bits);
    mpfr_set_d(off, radius, MPFR_RNDN);
    mpfr_mul_d(off, off, where, MPFR_RNDN);
    mpfr_add(b.point.get(), b.point.get(), off, MPFR_RNDN);
    mpfr_clear(off);
    return b;
}

// How far the exact value is from the middle, in radii; a failure if it is outside.
template <class S> void require_inside(const ball<S>& result, const number& exact, const char* what, const std::string& operands) {
    if (!result.is_known()) return;
    number off(result.middle());
    mpfr_sub(off.get(), off.get(), exact.get(), MPFR_RNDN);
    mpfr_abs(off.get(), off.get(), MPFR_RNDN);
    // MPFR's own rounding.
    number slack(exact);
    mpfr_abs(slack.get(), slack.get(), MPFR_RNDN);
    mpfr_mul_2si(slack.get(), slack.get(), -1190, MPFR_RNDN);
    number radius(result.radius());
    mpfr_add(radius.get(), radius.get(), slack.get(), MPFR_RNDN);
    if (mpfr_cmp(off.get(), radius.get()) > 0) {
        CAPTURE(what, operands, exact.as_double(), off.as_double(), radius.as_double());
        FAIL("outside");
    }
}
template <class S> std::string text(const ball<S>& b) {
    char line[100];
    std::snprintf(line, sizeof line, "%a +- %a", b.nearest_double(), b.radius().as_double());
    return line;
}
// A bound on the relative width of a result of exact operands.
template <class S> double coarse() { return std::same_as<S, double> ? 0x1p-48 : std::same_as<S, double_double> ? 0x1p-92 : 0x1p-180; }
template <class S> void require_narrow(const ball<S>& result, double relative, const char* what, const std::string& operands) {
    CAPTURE(what, operands, result.radius().as_double());
    REQUIRE(result.is_known());
    CHECK(result.radius().as_double() <= relative * std::fabs(result.nearest_double()) + 0x1p-1000);
}

template <class S> void check_operations() {
    for (int round = 0; round < rounds; ++round) {
        const double range = uniform() < 0.5 ? 4 : 300;
        const auto a = random_ball<S>(-range, range, true), b = random_ball<S>(-range, range, true);
        const std::string both = text(a.whole) + "  " + text(b.whole);
        number exact;
        mpfr_add(exact.get(), a.point.get(), b.point.get(), MPFR_RNDN);
        require_inside(a.whole + b.whole, exact, "+", both);
        mpfr_sub(exact.get(), a.point.get(), b.point.get(), MPFR_RNDN);
        require_inside(a.whole - b.whole, exact, "-", both);
        mpfr_mul(exact.get(), a.point.get(), b.point.get(), MPFR_RNDN);
        require_inside(a.whole * b.whole, exact, "*", both);
        mpfr_div(exact.get(), a.point.get(), b.point.get(), MPFR_RNDN);
        require_inside(a.whole / b.whole, exact, "/", both);
        if (a.whole.is_exact() && b.whole.is_exact()) {
            require_narrow(a.whole * b.whole, coarse<S>(), "*", both);
            require_narrow(a.whole / b.whole, coarse<S>(), "/", both);
        }
        if (mpfr_sgn(a.point.get()) > 0) {
            mpfr_sqrt(exact.get(), a.point.get(), MPFR_RNDN);
            require_inside(attest_sqrt(a.whole), exact, "sqrt", both);
            if (a.whole.is_exact()) require_narrow(attest_sqrt(a.whole), coarse<S>(), "sqrt", both);
        }
    }
}

using function = int (*)(mpfr_ptr, mpfr_srcptr, mpfr_rnd_t);
template <class S, class F> void check_function(const char* what, const F& f, function of_mpfr, double least, double greatest, bool negative_too, bool relative) {
    for (int round = 0; round < rounds / 10; ++round) {
        const auto x = random_ball<S>(least, greatest, negative_too);
        number exact;
        of_mpfr(exact.get(), x.point.get(), MPFR_RNDN);
        const ball<S> y = f(x.whole);
        require_inside(y, exact, what, text(x.whole));
        if (relative && x.whole.is_exact()) require_narrow(y, coarse<S>() * (1 + std::fabs(x.whole.nearest_double())), what, text(x.whole));
    }
}
template <class S> void check_functions() {
    check_function<S>("exp", [](const ball<S>& x) { return attest_exp(x); }, mpfr_exp, -120, 9, true, false);
    check_function<S>("exp", [](const ball<S>& x) { return attest_exp(x); }, mpfr_exp, -30, 4, true, true);
    check_function<S>("log", [](const ball<S>& x) { return attest_log(x); }, mpfr_log, -900, 900, false, false);
    check_function<S>("log", [](const ball<S>& x) { return attest_log(x); }, mpfr_log, -1, 2, false, false);
    check_function<S>("tanh", [](const ball<S>& x) { return attest_tanh(x); }, mpfr_tanh, -100, 8, true, true);
    check_function<S>("sin", [](const ball<S>& x) { return attest_sin(x); }, mpfr_sin, -60, 40, true, false);
    check_function<S>("cos", [](const ball<S>& x) { return attest_cos(x); }, mpfr_cos, -60, 40, true, false);
    check_function<S>("sin", [](const ball<S>& x) { return attest_sin(x); }, mpfr_sin, -60, 0, true, true);
    check_function<S>("cos", [](const ball<S>& x) { return attest_cos(x); }, mpfr_cos, -60, 0, true, true);
}

} // namespace

TEST_CASE("operations on balls hold the exact results: double") { check_operations<double>(); }
TEST_CASE("operations on balls hold the exact results: double_double") { check_operations<double_double>(); }
TEST_CASE("operations on balls hold the exact results: big_float") {
    for (const unsigned precision : {64U, 192U, 700U}) {
        const attest::working_precision use(precision);
        if (precision >= 192) check_operations<big_float>();
    }
}
TEST_CASE("functions of balls hold the exact results: double") { check_functions<double>(); }
TEST_CASE("functions of balls hold the exact results: double_double") { check_functions<double_double>(); }
TEST_CASE("functions of balls hold the exact results: big_float") {
    for (const unsigned precision : {192U, 384U, 768U}) {
        const attest::working_precision use(precision);
        check_functions<big_float>();
    }
}

#else

TEST_CASE("balls against MPFR") { WARN("skipped: MPFR is not installed"); }

#endif
