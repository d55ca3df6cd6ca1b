// SPDX-License-Identifier: BSL-1.0
// The bounds of the integer series, judged in their own units and with few guard digits, where a bound that its proof
// does not cover would show. The judge is `real<100>`.

#include "attest/arithmetic/fixed_point.hpp"

#include "attest/arithmetic/real.hpp"
#include "attest/elementary/exp.hpp"
#include "attest/elementary/log.hpp"
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
