// SPDX-License-Identifier: BSL-1.0
// The bounds of the integer series, judged in their own units and with few guard digits, where a bound that its proof
// does not cover would show. The judge is `real<100>`.

#include "attest/arithmetic/fixed_point.hpp"
#include "attest/arithmetic/fixed_point_functions.hpp"

#include "attest/arithmetic/real.hpp"
#include "attest/elementary/erf.hpp"
#include "attest/elementary/exp.hpp"
#include "attest/elementary/log.hpp"
#include "attest/elementary/pi.hpp"
#include "attest/elementary/sin_cos.hpp"
#include "attest/elementary/sqrt.hpp"
#include "attest/elementary/tanh.hpp"
#include "catch.hpp"

#include <random>

namespace fixed = attest::fixed_point;
using judge = attest::real<100>;
using integer = fixed::integer<512>;

namespace {

judge judged(const integer& x, int bits) { return ldexp(judge(judge::number(x)), -bits); }
bool holds(const fixed::bounds<integer>& x, const judge& point, int bits) {
    return judged(x.lower, bits) <= point && point <= judged(x.upper, bits);
}

class dice {
public:
    // A random integer with a random number of bits, at most `bits`.
    integer below_power(unsigned bits) {
        integer result = 0;
        for (int i = 0; i < 5; ++i) result = result * (integer(1) << 64) + integer(engine_());
        return result >> static_cast<unsigned>(320 - 1 - engine_() % bits);
    }

private:
    std::mt19937_64 engine_{1706'03762};
};

} // namespace

TEST_CASE("quotients and shifts round down and up, for both signs") {
    for (int a = -40; a <= 40; ++a)
        for (int b = 1; b <= 9; ++b) {
            INFO("a = " << a << ", b = " << b);
            const integer down = fixed::floor_quotient(integer(a), integer(b));
            const integer up = fixed::ceiling_quotient(integer(a), integer(b));
            CHECK((down * b <= a && a < (down + 1) * b));
            CHECK(((up - 1) * b < a && a <= up * b));
        }
    for (int a = -40; a <= 40; ++a)
        for (unsigned bits = 0; bits <= 7; ++bits) {
            INFO("a = " << a << ", bits = " << bits);
            CHECK(fixed::floor_shift(integer(a), bits) == fixed::floor_quotient(integer(a), integer(1) << bits));
            CHECK(fixed::ceiling_shift(integer(a), bits) == fixed::ceiling_quotient(integer(a), integer(1) << bits));
        }
}

TEST_CASE("the root of an integer is the greatest whose square is not greater") {
    dice d;
    const auto is_floor_root = [](const integer& root, const integer& n) {
        return root * root <= n && n < (root + 1) * (root + 1);
    };
    for (int n = 0; n <= 5000; ++n) {
        INFO("n = " << n);
        CHECK(is_floor_root(fixed::floor_root(integer(n)), integer(n)));
    }
    for (int i = 0; i < 500; ++i) {
        const integer n = d.below_power(300), r = d.below_power(200);
        INFO("n = " << n << ", r = " << r);
        CHECK(is_floor_root(fixed::floor_root(n), n));
        CHECK(fixed::floor_root(integer(r * r)) == r); // just at a square, and just below
        if (r > 1) CHECK(fixed::floor_root(integer(r * r - 1)) == r - 1);
    }
}

TEST_CASE("the series hold the true value in their own units") {
    dice d;
    constexpr int bits = 192;
    for (int i = 0; i < 1000; ++i) {
        const integer t = d.below_power(bits);
        INFO("t = " << t);
        CHECK(holds(fixed::exp_series<bits>(t), attest::exp(judged(t, bits)), bits));

        const integer q = d.below_power(bits) + 3, p = d.below_power(bits) % (q / 3 + 1);
        const judge z = judge(judge::number(p)) / judge(judge::number(q));
        INFO("p = " << p << ", q = " << q);
        const judge twice_artanh = attest::log((judge(1) + z) / (judge(1) - z));
        CHECK(holds(fixed::artanh_series<bits>(p, q), ldexp(twice_artanh, -1), bits));
    }
    for (const integer& t : {integer(0), integer(1), integer((integer(1) << bits) - 1)}) {
        INFO("t = " << t);
        CHECK(holds(fixed::exp_series<bits>(t), attest::exp(judged(t, bits)), bits));
    }
    CHECK(holds(fixed::artanh_series<bits>(integer(1), integer(3)), ldexp(attest::log(judge(2)), -1), bits));
}

TEST_CASE("log 2 is rounded down") {
    const judge log_two = attest::log(judge(2));
    const auto is_floor = [&](const integer& floor, int bits) {
        return judged(floor, bits) < log_two && log_two < judged(floor + 1, bits);
    };
    CHECK(is_floor(fixed::log_two<64, integer>, 64));
    CHECK(is_floor(fixed::log_two<128, integer>, 128));
    CHECK(is_floor(fixed::log_two<192, integer>, 192));
}

TEMPLATE_TEST_CASE_SIG("the bounds hold with few guard digits, and are far apart only as their series are", "",
                       ((unsigned Guard), Guard), 0, 3, 8, 64) {
    constexpr unsigned bits = 128;
    dice d;
    for (int i = 0; i < 1000; ++i) {
        const integer x = (i % 2 == 0 ? 1 : -1) * d.below_power(bits + 7);
        INFO("x = " << x);
        const judge exp_x = attest::exp(judged(x, bits));
        if (exp_x < ldexp(judge(1), 200)) {
            const auto e = fixed::exp_bounds<bits, Guard>(x);
            INFO("bounds " << e.lower << ", " << e.upper);
            CHECK(holds(e, exp_x, bits));
            CHECK(judge(judge::number(integer(e.upper - e.lower))) <=
                  judge(2) + exp_x * ldexp(judge(2000), -static_cast<int>(Guard)));
        }
        const integer y = d.below_power(bits + 40) + 1;
        INFO("y = " << y);
        const auto l = fixed::log_bounds<bits, Guard>(y);
        INFO("bounds " << l.lower << ", " << l.upper);
        CHECK(holds(l, attest::log(judged(y, bits)), bits));
        CHECK(judge(judge::number(integer(l.upper - l.lower))) <=
              judge(2) + ldexp(judge(600), -static_cast<int>(Guard)));
    }
}

TEMPLATE_TEST_CASE_SIG("a narrow interval has the bounds of all its points", "", ((unsigned Guard), Guard), 0, 3, 32) {
    constexpr unsigned bits = 128;
    dice d;
    for (int i = 0; i < 1000; ++i) {
        const integer magnitude = d.below_power(bits + 4), width = d.below_power(bits - (bits + 2 * Guard) / 2 - 2);
        const integer x = i % 2 == 0 ? magnitude : integer(-(magnitude + width)), at = x + d.below_power(150) % (width + 1);
        INFO("x = " << x << ", width = " << width << ", at " << at);
        CHECK(holds(fixed::exp_bounds<bits, Guard>(x, width), attest::exp(judged(at, bits)), bits));
        CHECK(holds(fixed::tanh_bounds<bits, Guard>(x, width), attest::tanh(judged(at, bits)), bits));
        CHECK(holds(fixed::erf_bounds<bits, Guard>(x, width), attest::erf(judged(at, bits)), bits));
    }
}

TEST_CASE("pi and the root of pi are rounded down") {
    const judge pi = attest::pi<judge>(), half_root_pi = ldexp(attest::sqrt(pi), -1);
    const auto is_floor = [](const integer& floor, const judge& x, int bits) {
        return judged(floor, bits) < x && x < judged(floor + 1, bits);
    };
    CHECK(is_floor(fixed::pi<64, integer>, pi, 64));
    CHECK(is_floor(fixed::pi<128, integer>, pi, 128));
    CHECK(is_floor(fixed::pi<223, integer>, pi, 223));
    CHECK(is_floor(fixed::pi<318, integer>, pi, 318));
    CHECK(is_floor(fixed::half_root_pi<160, integer>, half_root_pi, 160));
    // 1 = tan(π/4) = tan(2 arctan(1/2) − arctan(1/7)), Hermann's formula: another way than Machin's.
    const auto half = fixed::arctan_of_reciprocal<200, integer>(2), seventh = fixed::arctan_of_reciprocal<200, integer>(7);
    CHECK(judged(2 * half.lower - seventh.upper, 198) <= pi);
    CHECK(pi <= judged(2 * half.upper - seventh.lower, 198));
}

TEST_CASE("the series of sine and cosine hold the true value in their own units") {
    dice d;
    static constexpr int bits = 160;
    const auto check = [](const integer& t) {
        INFO("t = " << t);
        const auto sine = fixed::alternating_series<bits>(t, t, 1);
        const auto cosine = fixed::alternating_series<bits>(integer(integer(1) << bits), t, 0);
        CHECK(holds(sine, attest::sin(judged(t, bits)), bits));
        CHECK(holds(cosine, attest::cos(judged(t, bits)), bits));
        CHECK(sine.upper - sine.lower <= 120);
        CHECK(cosine.upper - cosine.lower <= 120);
    };
    for (int i = 0; i < 1000; ++i) check(d.below_power(bits));
    for (int i = 0; i < 100; ++i) check((integer(16) << bits) / 10 - 1 - d.below_power(bits));
    check(0);
    check(1);
}

TEST_CASE("quarter turns leave less than one and count right") {
    dice d;
    static constexpr unsigned bits = 128, guard = 32;
    const judge half_pi = ldexp(attest::pi<judge>(), -1);
    const auto check = [&](const integer& x) {
        INFO("x = " << x);
        const auto [count, rest] = fixed::in_quarter_turns<bits, guard>(x);
        const judge left = judged(x, bits) - judge(judge::number(count)) * half_pi;
        CHECK(judged(rest, bits + guard) <= left);
        CHECK(left <= judged(rest + 2, bits + guard));
        CHECK(rest >= 0);
        CHECK(left <= half_pi + ldexp(judge(1), -static_cast<int>(bits + guard)));
        CHECK(fixed::quadrant_of(count) == static_cast<unsigned>(integer((count % 4 + 4) % 4)));
    };
    for (int i = 0; i < 1000; ++i) check((i % 2 == 0 ? 1 : -1) * d.below_power(bits + 64));
    for (const integer& n : {integer(0), integer(1), integer((integer(1) << (bits + 64)) - 1)}) {
        check(n);
        check(-n);
    }
    const integer limit = integer(1) << (bits + 64);
    CHECK_THROWS_AS((fixed::in_quarter_turns<bits, guard>(limit)), std::domain_error);
    CHECK_THROWS_AS((fixed::in_quarter_turns<bits, guard>(integer(-limit))), std::domain_error);
}

TEMPLATE_TEST_CASE_SIG("tanh, erf and sine hold with few guard digits, and are far apart only as their series are", "",
                       ((unsigned Guard), Guard), 0, 3, 8, 32) {
    static constexpr unsigned bits = 128;
    dice d;
    const auto check = [](const fixed::bounds<integer>& found, const judge& value, int series_units) {
        INFO("bounds " << found.lower << ", " << found.upper);
        CHECK(holds(found, value, bits));
        CHECK(judge(judge::number(integer(found.upper - found.lower))) <=
              judge(2) + ldexp(judge(series_units), -static_cast<int>(Guard)));
    };
    for (int i = 0; i < 1000; ++i) {
        const integer x = (i % 2 == 0 ? 1 : -1) * d.below_power(bits + 4), y = (i % 2 == 0 ? 1 : -1) * d.below_power(bits + 64);
        INFO("x = " << x << ", y = " << y);
        check(fixed::tanh_bounds<bits, Guard>(x), attest::tanh(judged(x, bits)), 2000);
        check(fixed::erf_bounds<bits, Guard>(x), attest::erf(judged(x, bits)), 2000);
        check(fixed::sine_bounds<bits, Guard>(y, y, 0), attest::sin(judged(y, bits)), 200);
        check(fixed::sine_bounds<bits, Guard>(y, y, 1), attest::cos(judged(y, bits)), 200);
    }
}
