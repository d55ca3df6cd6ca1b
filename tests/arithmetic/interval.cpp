// SPDX-License-Identifier: BSL-1.0
// The laws of intervals, on random ones: containment of the true value, narrowness, a smaller operand gives a smaller
// result, more digits lie inside fewer. The judge is `real<100>`, whose error is far below a unit of 2^−128.

#include "attest/arithmetic/interval.hpp"

#include "attest/arithmetic/real.hpp"
#include "attest/formula/activation.hpp"
#include "attest/formula/attention.hpp"
#include "attest/formula/learned_score.hpp"
#include "attest/formula/position.hpp"
#include "catch.hpp"

#include <random>
#include <sstream>

using attest::interval;
using attest::surely;
using attest::truth;
using wide_interval = attest::basic_interval<256>;
using judge = attest::real<100>;
using units = interval::integer;

namespace {

constexpr int rounds = 1000;

template <class X>
judge judged(const typename X::integer& end) {
    return ldexp(judge(judge::number(end)), -static_cast<int>(X::fraction_bits));
}
template <unsigned Bits>
bool holds(const attest::basic_interval<Bits>& x, const judge& point) {
    using X = attest::basic_interval<Bits>;
    return judged<X>(x.lower_units()) <= point && point <= judged<X>(x.upper_units());
}
template <unsigned Bits>
std::string show(const attest::basic_interval<Bits>& x) {
    using X = attest::basic_interval<Bits>;
    std::ostringstream out;
    out.precision(45);
    out << '[' << judged<X>(x.lower_units()).value() << ", " << judged<X>(x.upper_units()).value() << ']';
    return out.str();
}
std::string show(const judge& x) {
    std::ostringstream out;
    out.precision(45);
    out << x.value();
    return out.str();
}
units width_in_units(const interval& x) { return x.upper_units() - x.lower_units(); }
wide_interval widened(const interval& x) {
    const auto scaled = [](const units& end) {
        return wide_interval::integer(end) * (wide_interval::integer(1) << 128);
    };
    return wide_interval::of_units(scaled(x.lower_units()), scaled(x.upper_units()));
}

// Random numbers of every magnitude up to 2^max_bits, in units; every interval comes with a smaller one and points.
class dice {
public:
    int below(int n) { return static_cast<int>(engine_() % static_cast<unsigned>(n)); }
    units magnitude(int max_bits) {
        units result = 0;
        for (int i = 0; i < 5; ++i) result = result * (units(1) << 64) + units(engine_());
        return result >> static_cast<unsigned>(320 - below(128 + max_bits + 1));
    }
    units number(int max_bits) { return below(2) == 0 ? magnitude(max_bits) : -magnitude(max_bits); }
    interval wide(int max_bits) {
        const units a = number(max_bits), b = below(8) == 0 ? a : number(max_bits);
        return a < b ? interval::of_units(a, b) : interval::of_units(b, a);
    }
    interval narrow(int max_bits) {
        const units a = number(max_bits);
        return interval::of_units(a, a + magnitude(-100));
    }
    interval any(int max_bits) { return below(2) == 0 ? wide(max_bits) : narrow(max_bits); }
    interval positive(int max_bits) {
        const units a = magnitude(max_bits) + 1;
        return interval::of_units(a, a + magnitude(below(2) == 0 ? max_bits : -100));
    }
    interval point(int max_bits) {
        const units a = number(max_bits);
        return interval::of_units(a, a);
    }
    units inside(const interval& x) {
        switch (below(4)) {
        case 0: return x.lower_units();
        case 1: return x.upper_units();
        default: return x.lower_units() + magnitude(190) % (width_in_units(x) + 1);
        }
    }
    interval part_of(const interval& x) {
        const units a = inside(x), b = inside(x);
        return a < b ? interval::of_units(a, b) : interval::of_units(b, a);
    }

private:
    std::mt19937_64 engine_{20240229};
};

} // namespace

TEST_CASE("sums, differences, products and quotients hold the true value") {
    dice d;
    for (int i = 0; i < rounds; ++i) {
        const interval x = d.any(40), y = d.any(40);
        const judge a = judged<interval>(d.inside(x)), b = judged<interval>(d.inside(y));
        INFO("x = " << show(x) << ", y = " << show(y) << "\na = " << show(a) << ", b = " << show(b));
        CHECK(holds(x + y, a + b));
        CHECK(holds(x - y, a - b));
        CHECK(holds(x * y, a * b));
        CHECK(holds(-x, -a));
        const interval divisor = d.below(2) == 0 ? d.positive(40) : -d.positive(40);
        const judge c = judged<interval>(d.inside(divisor));
        INFO("divisor = " << show(divisor) << ", c = " << show(c));
        CHECK(holds(x / divisor, a / c));
    }
}

TEST_CASE("roots, exponentials and logarithms hold the true value") {
    dice d;
    for (int i = 0; i < rounds; ++i) {
        const interval x = d.positive(60);
        const judge a = judged<interval>(d.inside(x));
        INFO("x = " << show(x) << ", a = " << show(a));
        CHECK(holds(attest::sqrt(x), attest::sqrt(a)));
        CHECK(holds(attest::log(x), attest::log(a)));
        const interval y = d.any(6);
        const judge b = judged<interval>(d.inside(y));
        INFO("y = " << show(y) << ", b = " << show(b));
        CHECK(holds(attest::exp(y), attest::exp(b)));
    }
    for (int x = -140; x <= 200; ++x) {
        INFO("x = " << x);
        CHECK(holds(attest::exp(interval(x)), attest::exp(judge(x))));
        if (x > 0) CHECK(holds(attest::log(interval(x)), attest::log(judge(x))));
        if (x >= 0) CHECK(holds(attest::sqrt(interval(x)), attest::sqrt(judge(x))));
    }
}

TEST_CASE("hyperbolic tangents, error functions, sines and cosines hold the true value") {
    dice d;
    const auto check = [](const interval& x, const judge& a) {
        INFO("x = " << show(x) << ", a = " << show(a));
        CHECK(holds(attest::tanh(x), attest::tanh(a)));
        CHECK(holds(attest::erf(x), attest::erf(a)));
        CHECK(holds(attest::sin(x), attest::sin(a)));
        CHECK(holds(attest::cos(x), attest::cos(a)));
    };
    for (int i = 0; i < rounds; ++i) {
        const interval x = i % 4 == 0 ? d.any(60) : d.any(5);
        check(x, judged<interval>(d.inside(x)));
    }
    for (int x = -140; x <= 140; ++x) check(x, judge(x));
    CHECK(holds(interval::pi(), attest::pi<judge>()));
    CHECK(width_in_units(interval::pi()) == 1);
}

TEST_CASE("on points each operation is as narrow as its rounding allows") {
    dice d;
    for (int i = 0; i < rounds; ++i) {
        const interval x = d.point(40), y = d.point(40), z = d.positive(40).lower();
        INFO("x = " << show(x) << ", y = " << show(y) << ", z = " << show(z));
        CHECK((x + y).is_point());
        CHECK((x - y).is_point());
        CHECK(width_in_units(x * y) <= 1);
        CHECK(width_in_units(x / z) <= 1);
        CHECK(width_in_units(attest::sqrt(z)) <= 1);
        CHECK(width_in_units(attest::log(z)) <= 2);
        // The series is wide by less than 2000 units of 2^−192 · e^x, before two roundings.
        const interval w = d.point(5);
        CHECK(judge(judge::number(width_in_units(attest::exp(w)))) <=
              judge(2) + attest::exp(judged<interval>(w.lower_units())) * ldexp(judge(2000), -64));
        const interval a = d.below(2) == 0 ? d.point(60) : d.point(5);
        INFO("a = " << show(a));
        CHECK(width_in_units(attest::tanh(a)) <= 2);
        CHECK(width_in_units(attest::erf(a)) <= 2);
        CHECK(width_in_units(attest::sin(a)) <= 2);
        CHECK(width_in_units(attest::cos(a)) <= 2);
    }
    for (const interval& one : {attest::exp(interval(0)), attest::cos(interval(0))}) CHECK(surely(one == 1));
    for (const interval& zero : {attest::tanh(interval(0)), attest::erf(interval(0)), attest::sin(interval(0)), attest::sqrt(interval(0))})
        CHECK(surely(zero == 0));
    CHECK(surely(attest::log(interval(1)) >= 0));
    CHECK(attest::sqrt(interval(49)).is_point());
    CHECK((interval(1) / 8).is_point());
}

TEST_CASE("a part of the operands gives a part of the result") {
    dice d;
    for (int i = 0; i < rounds; ++i) {
        const interval x = d.any(20), y = d.any(20), p = d.positive(20), e = d.any(5);
        const interval in_x = d.part_of(x), in_y = d.part_of(y), in_p = d.part_of(p), in_e = d.part_of(e);
        INFO("x = " << show(x) << ", y = " << show(y) << "\np = " << show(p) << ", e = " << show(e));
        INFO("parts: " << show(in_x) << ", " << show(in_y) << "\n" << show(in_p) << ", " << show(in_e));
        CHECK(contains(x + y, in_x + in_y));
        CHECK(contains(x - y, in_x - in_y));
        CHECK(contains(x * y, in_x * in_y));
        CHECK(contains(x / p, in_x / in_p));
        CHECK(contains(x / -p, in_x / -in_p));
        CHECK(contains(attest::sqrt(p), attest::sqrt(in_p)));
        CHECK(contains(attest::log(p), attest::log(in_p)));
        CHECK(contains(attest::exp(e), attest::exp(in_e)));
        CHECK(contains(attest::tanh(x), attest::tanh(in_x)));
        CHECK(contains(attest::erf(x), attest::erf(in_x)));
        CHECK(contains(attest::sin(x), attest::sin(in_x)));
        CHECK(contains(attest::cos(x), attest::cos(in_x)));
        CHECK(contains(attest::tanh(e), attest::tanh(in_e)));
        CHECK(contains(attest::erf(e), attest::erf(in_e)));
        CHECK(contains(attest::sin(e), attest::sin(in_e)));
        CHECK(contains(attest::cos(e), attest::cos(in_e)));
        CHECK(contains(attest::relu(x), attest::relu(in_x)));
        CHECK(contains(attest::step(x), attest::step(in_x)));
    }
}

TEST_CASE("256 bits lie inside 128 bits") {
    dice d;
    for (int i = 0; i < rounds; ++i) {
        const interval x = d.any(20), p = d.positive(20), e = d.any(5);
        INFO("x = " << show(x) << ", p = " << show(p) << ", e = " << show(e));
        CHECK(contains(widened(x * p), widened(x) * widened(p)));
        CHECK(contains(widened(x / p), widened(x) / widened(p)));
        CHECK(contains(widened(attest::sqrt(p)), attest::sqrt(widened(p))));
        CHECK(contains(widened(attest::log(p)), attest::log(widened(p))));
        CHECK(contains(widened(attest::exp(e)), attest::exp(widened(e))));
        CHECK(contains(widened(attest::tanh(e)), attest::tanh(widened(e))));
        CHECK(contains(widened(attest::erf(e)), attest::erf(widened(e))));
        CHECK(contains(widened(attest::sin(x)), attest::sin(widened(x))));
        CHECK(contains(widened(attest::cos(x)), attest::cos(widened(x))));
    }
    CHECK(contains(widened(interval::pi()), wide_interval::pi()));
}

TEST_CASE("the laws of the exponential, the logarithm and the root") {
    dice d;
    for (int i = 0; i < rounds; ++i) {
        // p and q far enough from 0 that their product is seen to be positive.
        const interval x = d.point(4), y = d.point(4);
        const interval p = d.positive(20) + interval::power_of_two(-40),
                       q = d.positive(20) + interval::power_of_two(-40);
        INFO("x = " << show(x) << ", y = " << show(y) << "\np = " << show(p) << ", q = " << show(q));
        // Both hold the true value, and the longer way is the wider one.
        const interval direct = attest::exp(x + y), longer = attest::exp(x) * attest::exp(y);
        CHECK(meet(direct, longer));
        CHECK(holds(longer, attest::exp(judged<interval>((x + y).lower_units()))));
        CHECK(meet(attest::exp(x) * attest::exp(-x), 1));
        CHECK(meet(attest::log(p * q), attest::log(p) + attest::log(q)));
        CHECK(contains(attest::log(attest::exp(x)), x));
        CHECK(contains(attest::sqrt(p) * attest::sqrt(p), p));
        CHECK(meet(attest::sqrt(p * q), attest::sqrt(p) * attest::sqrt(q)));
    }
    // Where e^x is large, the exponential of the sum lies inside the product with room to spare.
    CHECK(contains(attest::exp(interval(20)) * attest::exp(interval(21)), attest::exp(interval(41))));
    CHECK(contains(attest::exp(interval(7)) * attest::exp(interval::ratio(1, 3)), attest::exp(interval::ratio(22, 3))));
}

TEST_CASE("the laws of the hyperbolic tangent and the error function") {
    const auto same = [](const interval& a, const interval& b) {
        return a.lower_units() == b.lower_units() && a.upper_units() == b.upper_units();
    };
    const interval minus_one_to_one = hull(interval(-1), 1), unit = interval::power_of_two(-128);
    dice d;
    for (int i = 0; i < rounds; ++i) {
        const interval x = d.any(5), t = attest::tanh(x), e = attest::erf(x), a = d.point(3);
        INFO("x = " << show(x) << ", tanh " << show(t) << ", erf " << show(e) << "\na = " << show(a));
        CHECK(same(attest::tanh(-x), -t)); // odd, to the bit
        CHECK(same(attest::erf(-x), -e));
        CHECK(contains(minus_one_to_one, t));
        CHECK(contains(minus_one_to_one, e));
        const interval tanh_a = attest::tanh(a);
        CHECK(meet(attest::tanh(2 * a), 2 * tanh_a / (1 + tanh_a * tanh_a)));
        CHECK(meet(tanh_a, 1 - 2 / (attest::exp(2 * a) + 1)));
        // |tanh a| <= |a|, and |erf a| <= 2/√π |a|.
        const interval m = surely(a < 0) ? -a : a;
        CHECK(possibly(attest::tanh(m) <= m));
        CHECK(possibly(attest::erf(m) <= 2 / attest::sqrt(interval::pi()) * m));
    }
    // The tails: within a unit of ±1, however far.
    for (const interval& x : {interval(128), interval(1'000'000), interval::power_of_two(300), interval::power_of_two(382)}) {
        INFO("x = " << show(x));
        CHECK(same(attest::tanh(x), hull(1 - unit, 1)));
        CHECK(same(attest::erf(x), hull(1 - unit, 1)));
        CHECK(same(attest::tanh(-x), hull(interval(-1), unit - 1)));
        CHECK(same(attest::erf(hull(-x, x)), minus_one_to_one));
        CHECK(same(attest::tanh(hull(-x, x)), minus_one_to_one));
    }
}

TEST_CASE("the laws of sine and cosine") {
    dice d;
    for (int i = 0; i < rounds; ++i) {
        const interval x = d.any(6), a = d.point(30), b = d.point(30);
        INFO("x = " << show(x) << "\na = " << show(a) << ", b = " << show(b));
        CHECK(meet(attest::sin(-x), -attest::sin(x)));
        CHECK(meet(attest::cos(-x), attest::cos(x)));
        const interval sine = attest::sin(a), cosine = attest::cos(a), sine_b = attest::sin(b), cosine_b = attest::cos(b);
        CHECK(contains(sine * sine + cosine * cosine, 1));
        CHECK(meet(attest::sin(a + b), sine * cosine_b + cosine * sine_b));
        CHECK(meet(attest::cos(a + b), cosine * cosine_b - sine * sine_b));
        const interval pi = interval::pi();
        CHECK(meet(attest::sin(a + pi / 2), cosine));
        CHECK(meet(attest::cos(a + pi), -cosine));
        CHECK(meet(attest::sin(a + 2 * pi), sine));
        CHECK(contains(attest::sin(hull(a, a + 7)), hull(interval(-1), 1))); // wider than a period
        CHECK(contains(attest::cos(hull(a, a + 7)), hull(interval(-1), 1)));
    }
}

TEST_CASE("extremes of sine and cosine inside an interval are met, and those outside are not") {
    const auto from = [](int p, int q) { return hull(interval::ratio(p, 10), interval::ratio(q, 10)); };
    const auto is = [](const interval& x, const interval& lower, const interval& upper) {
        return surely(x.lower() == lower.lower()) && surely(x.upper() == upper.upper());
    };
    CHECK(is(attest::sin(from(10, 20)), attest::sin(from(10, 10)), 1)); // π/2 inside
    CHECK(is(attest::sin(from(16, 20)), attest::sin(from(20, 20)), attest::sin(from(16, 16))));
    CHECK(is(attest::sin(from(40, 50)), -1, attest::sin(from(40, 40)))); // 3π/2
    CHECK(is(attest::sin(from(-20, -10)), -1, attest::sin(from(-10, -10))));
    CHECK(is(attest::sin(from(10, 50)), -1, 1));
    CHECK(is(attest::sin(from(20, 80)), -1, 1)); // 3π/2 and 5π/2, less than a period
    CHECK(is(attest::sin(from(20, 70)), -1, attest::sin(from(20, 20)))); // three multiples of π/2, one extreme
    CHECK(is(attest::cos(from(5, 55)), -1, attest::cos(from(5, 5))));
    CHECK(is(attest::sin(from(-10, 10)), attest::sin(from(-10, -10)), attest::sin(from(10, 10))));
    CHECK(is(attest::cos(from(-10, 5)), attest::cos(from(-10, -10)), 1)); // 0
    CHECK(is(attest::cos(from(0, 5)), attest::cos(from(5, 5)), 1));
    CHECK(is(attest::cos(from(30, 35)), -1, attest::cos(from(35, 35)))); // π
    CHECK(is(attest::cos(from(-35, -30)), -1, attest::cos(from(-35, -35))));
    CHECK(is(attest::cos(from(30, 65)), -1, 1)); // π and 2π
    CHECK(is(attest::cos(from(10, 30)), attest::cos(from(30, 30)), attest::cos(from(10, 10))));
    for (int k = -8; k <= 8; ++k) {
        INFO("k = " << k);
        const interval turns = k * interval::pi() / 2;
        CHECK(contains(attest::sin(turns), k % 2 == 0 ? 0 : (k % 4 + 4) % 4 == 1 ? 1 : -1));
        CHECK(contains(attest::cos(turns), k % 2 != 0 ? 0 : k % 4 == 0 ? 1 : -1));
        CHECK(width_in_units(attest::sin(turns)) <= 12);
    }
}

TEST_CASE("relu and its slope of an interval are those of all its points") {
    const auto is = [](const interval& x, const interval& lower, const interval& upper) {
        return surely(x.lower() == lower) && surely(x.upper() == upper);
    };
    const interval across = hull(interval(-2), 3), below = hull(interval(-3), -2), above = hull(interval(2), 3);
    CHECK(is(attest::relu(across), 0, 3));
    CHECK(is(attest::relu(below), 0, 0));
    CHECK(is(attest::relu(above), 2, 3));
    CHECK(is(attest::step(across), 0, 1));
    CHECK(is(attest::step(below), 0, 0));
    CHECK(is(attest::step(above), 1, 1));
    CHECK(is(attest::step(interval(0)), 0, 0)); // by convention
    CHECK(is(attest::step(hull(interval(0), 1)), 0, 1));
    CHECK(is(attest::step(hull(interval(-1), 0)), 0, 0));
    CHECK(is(attest::relu(interval(0)), 0, 0));
}

TEST_CASE("comparisons answer yes, no or unknown") {
    const interval a = hull(interval(1), 2), b = hull(interval(2), 3), c = hull(interval(3), 4);
    CHECK((a < c) == truth::yes);
    CHECK((c < a) == truth::no);
    CHECK((b < a) == truth::no); // 2 < 2 is false, and so is everything else
    CHECK((a < b) == truth::unknown);
    CHECK((a <= b) == truth::yes);
    CHECK((b <= a) == truth::unknown);
    CHECK((c > a) == truth::yes);
    CHECK((b >= a) == truth::yes);
    CHECK((a == c) == truth::no);
    CHECK((a == b) == truth::unknown);
    CHECK((a == a) == truth::unknown); // two numbers between 1 and 2
    CHECK((interval(2) == 2) == truth::yes);
    CHECK((interval(2) != 2) == truth::no);
    CHECK((a != c) == truth::yes);
    CHECK((!truth::unknown) == truth::unknown);
    CHECK((!truth::yes) == truth::no);
    CHECK((!truth::no) == truth::yes);
    CHECK(surely(truth::yes));
    CHECK_FALSE(surely(truth::unknown));
    CHECK(possibly(truth::unknown));
    CHECK_FALSE(possibly(truth::no));

    // Against the points, on random intervals.
    dice d;
    for (int i = 0; i < rounds; ++i) {
        const interval x = d.any(4), y = d.any(4);
        const units p = d.inside(x), q = d.inside(y);
        INFO("x = " << show(x) << ", y = " << show(y));
        if (p < q)
            CHECK(possibly(x < y));
        else
            CHECK_FALSE(surely(x < y));
        if (p <= q)
            CHECK(possibly(x <= y));
        else
            CHECK_FALSE(surely(x <= y));
    }
}

TEST_CASE("printed digits are proved, refuted, or neither") {
    const interval pi = interval::decimal("3.14159265358979323846264338327950288");
    CHECK(rounds_to(pi, "3"));
    CHECK(rounds_to(pi, "3.1"));
    CHECK(rounds_to(pi, "3.14159"));
    CHECK(rounds_to(pi, "3.1416"));
    CHECK(refutes(pi, "3.1415")); // cut, not rounded
    CHECK(refutes(pi, "3.141593654"));
    CHECK(rounds_to(-pi, "-3.1416"));
    CHECK(refutes(-pi, "3.1416"));
    CHECK(refutes(-pi, "-3.1417"));
    CHECK(rounds_to(interval(10), "+10"));

    // The tie 0.5 is between 0 and 1: neither is proved, neither refuted.
    const interval half = interval::ratio(1, 2);
    for (const char* const printed : {"0", "1"}) {
        CHECK_FALSE(rounds_to(half, printed));
        CHECK_FALSE(refutes(half, printed));
    }
    // One unit beside the tie settles it.
    const interval unit = interval::power_of_two(-128);
    CHECK(rounds_to(half - unit, "0"));
    CHECK(refutes(half - unit, "1"));
    CHECK(rounds_to(half + unit, "1"));
    CHECK(refutes(half + unit, "0"));
    // An interval across the tie leaves it open, and a wide one everything.
    const interval across = hull(half - unit, half + unit);
    CHECK_FALSE(rounds_to(across, "0"));
    CHECK_FALSE(refutes(across, "0"));
    CHECK_FALSE(rounds_to(hull(interval(0), 5), "3"));
    CHECK_FALSE(refutes(hull(interval(0), 5), "3"));

    // d/1000 and its neighbours in the last place, for numbers at most 0.499 units away.
    dice d;
    for (int i = 0; i < rounds; ++i) {
        const int digits = d.below(1000), off = d.below(999) - 499;
        const interval x = interval::ratio(digits * 1000 + off, 1'000'000);
        const auto printed = [](int n) {
            const std::string text = std::to_string(n + 10'000);
            return text.substr(1, 1) + "." + text.substr(2);
        };
        INFO("x = " << show(x) << ", printed " << printed(digits));
        CHECK(rounds_to(x, printed(digits)));
        CHECK_FALSE(refutes(x, printed(digits)));
        CHECK(refutes(x, printed(digits + 1)));
        CHECK_FALSE(rounds_to(x, printed(digits + 1)));
    }
}

TEST_CASE("decimals and ratios are enclosed to the unit") {
    CHECK(width_in_units(interval::decimal("0.1")) == 1);
    CHECK(holds(interval::decimal("0.1"), judge(1) / judge(10)));
    CHECK(holds(interval::decimal("-1.3"), judge(-13) / judge(10)));
    CHECK(surely(interval::decimal("0.5") == interval::ratio(1, 2)));
    CHECK(surely(interval::decimal("-2.50") == interval::ratio(5, -2)));
    CHECK(surely(interval::decimal("007") == 7));
    CHECK(width_in_units(interval::ratio(-1, 3)) == 1);
    CHECK(holds(interval::ratio(-1, 3), judge(-1) / judge(3)));
    CHECK(surely(interval::power_of_two(-3) == interval::ratio(1, 8)));
    CHECK(surely(interval::power_of_two(10) == 1024));
    CHECK(surely(interval(-9'000'000'000'000'000'000LL) < interval(-2'000'000'000)));
    CHECK(surely(interval(18'446'744'073'709'551'615ULL) == interval::power_of_two(64) - 1));

    for (const char* const wrong : {"", "-", ".5", "5.", "1.2.3", "1e3", " 1", "1 ", "0x1", "--1", "one", "1,5"}) {
        INFO('"' << wrong << '"');
        CHECK_THROWS_AS(interval::decimal(wrong), std::invalid_argument);
        CHECK_THROWS_AS(rounds_to(interval(1), wrong), std::invalid_argument);
        CHECK_THROWS_AS(refutes(interval(1), wrong), std::invalid_argument);
    }
}

TEST_CASE("what is not defined everywhere on an interval throws") {
    const interval across = hull(interval(-1), 1);
    CHECK_THROWS_AS(interval(1) / across, std::domain_error);
    CHECK_THROWS_AS(interval(1) / 0, std::domain_error);
    CHECK_THROWS_AS(interval(1) / hull(interval(0), 1), std::domain_error);
    CHECK_THROWS_AS(interval(1) / hull(interval(-1), 0), std::domain_error);
    CHECK_THROWS_AS(attest::sqrt(across), std::domain_error);
    CHECK_THROWS_AS(attest::sqrt(interval(-1)), std::domain_error);
    CHECK_NOTHROW(attest::sqrt(hull(interval(0), 1)));
    CHECK_THROWS_AS(attest::log(interval(0)), std::domain_error);
    CHECK_THROWS_AS(attest::log(across), std::domain_error);
    const interval limit = interval::power_of_two(64), below_limit = limit - interval::power_of_two(-128);
    for (const interval& x : {limit, -limit, hull(interval(0), limit), hull(-limit, 0), interval::power_of_two(300)}) {
        INFO("x = " << show(x));
        CHECK_THROWS_AS(attest::sin(x), std::domain_error);
        CHECK_THROWS_AS(attest::cos(x), std::domain_error);
    }
    CHECK_NOTHROW(attest::sin(below_limit));
    CHECK_NOTHROW(attest::cos(hull(-below_limit, below_limit)));
    CHECK_THROWS_AS(interval::ratio(1, 0), std::domain_error);
    CHECK_THROWS_AS(interval::power_of_two(-129), std::domain_error);
    CHECK_THROWS_AS(interval::of_units(1, 0), std::invalid_argument);
    CHECK_THROWS_AS(attest::not_a_number<interval>(), attest::no_such_value);
    CHECK_THROWS_AS(attest::minus_infinity<interval>(), attest::no_such_value);
}

TEST_CASE("what does not fit throws, and is never cut") {
    const interval large = interval::power_of_two(250);
    CHECK_NOTHROW(large + large);
    CHECK_THROWS_AS(large * large, std::overflow_error);
    CHECK_THROWS_AS(-large * large, std::overflow_error);
    CHECK_THROWS_AS(interval::power_of_two(300) / 3, std::overflow_error);
    CHECK_THROWS_AS(interval::power_of_two(384), std::overflow_error);
    CHECK_THROWS_AS(interval::power_of_two(100000), std::overflow_error);
    for (const int x : {400, 511, 512, 700, 1'000'000, 2'000'000'000}) {
        INFO("x = " << x);
        CHECK_THROWS_AS(attest::exp(interval(x)), std::overflow_error);
    }
    CHECK_THROWS_AS(interval::decimal(std::string(200, '9')), std::overflow_error);
    // Far below a unit nothing is lost but digits: e^x lies in [0, 1 unit].
    for (const int x : {-100, -128, -129, -1000, -2'000'000'000}) {
        INFO("x = " << x);
        const interval e = attest::exp(interval(x));
        CHECK(holds(e, attest::exp(judge(x))));
        CHECK(e.lower_units() >= 0);
        CHECK(width_in_units(e) <= 2);
    }
}

TEST_CASE("the shift of softmax is a point, near the greater one") {
    dice d;
    for (int i = 0; i < rounds; ++i) {
        const interval x = d.any(4), y = d.any(4), shift = attest::shift_point(x, y);
        INFO("x = " << show(x) << ", y = " << show(y) << ", shift = " << show(shift));
        CHECK(shift.is_point());
        CHECK((contains(x, shift) || contains(y, shift)));
        CHECK(possibly(shift >= x));
        CHECK(possibly(shift >= y));
    }
}

TEST_CASE("attention on intervals holds attention in 100 digits") {
    struct n : attest::axis<4> {};
    struct d_k : attest::axis<3> {};
    struct d_v : attest::axis<2> {};
    dice d;
    for (int round = 0; round < 20; ++round) {
        attest::tensor<interval, n, d_k> q, k;
        attest::tensor<interval, n, d_v> v;
        attest::tensor<judge, n, d_k> q_point, k_point;
        attest::tensor<judge, n, d_v> v_point;
        const auto fill = [&d](auto& intervals, auto& points) {
            for (std::size_t e = 0; e < intervals.elements(); ++e) {
                intervals.data()[e] = d.narrow(2);
                points.data()[e] = judged<interval>(d.inside(intervals.data()[e]));
            }
        };
        fill(q, q_point);
        fill(k, k_point);
        fill(v, v_point);
        const auto z = attention(q, k, v, attest::causal_top_left{});
        const auto z_point = attention(q_point, k_point, v_point, attest::causal_top_left{});
        const auto s = scaled_scores(q, k);
        const auto s_point = scaled_scores(q_point, k_point);
        const auto lse = attest::log_sum_exp(s[0]);
        const auto lse_point = attest::log_sum_exp(s_point[0]);
        for (std::size_t i = 0; i < z.length(0); ++i)
            for (std::size_t c = 0; c < z.length(1); ++c) {
                INFO("z(" << i << ", " << c << ") = " << show(z(i, c)) << ", " << show(z_point(i, c)));
                CHECK(holds(z(i, c), z_point(i, c)));
                CHECK(surely(z(i, c).width() < interval::power_of_two(-60)));
            }
        INFO("log-sum-exp " << show(lse) << ", " << show(lse_point));
        CHECK(holds(lse, lse_point));
    }
}

TEST_CASE("activations, capped and additive scores and positions on intervals hold those in 100 digits") {
    struct hidden : attest::axis<2> {};
    struct d_k : attest::axis<4> {};
    dice d;
    const auto fill = [&d](auto& intervals, auto& points) {
        for (std::size_t e = 0; e < intervals.elements(); ++e) {
            intervals.data()[e] = d.narrow(2);
            points.data()[e] = judged<interval>(d.inside(intervals.data()[e]));
        }
    };
    for (int round = 0; round < 50; ++round) {
        for (const auto form : {attest::gelu_form::erf, attest::gelu_form::tanh, attest::gelu_form::sigmoid}) {
            const interval x = d.any(3);
            const judge point = judged<interval>(d.inside(x));
            INFO("form " << static_cast<int>(form) << ", x = " << show(x) << ", point " << show(point));
            CHECK(holds(attest::gelu(x, form), attest::gelu(point, form)));
        }
        attest::tensor<interval, d_k> q, k;
        attest::tensor<judge, d_k> q_point, k_point;
        attest::tensor<interval, hidden, d_k> w1, w2;
        attest::tensor<judge, hidden, d_k> w1_point, w2_point;
        attest::tensor<interval, hidden> b;
        attest::tensor<judge, hidden> b_point;
        fill(q, q_point);
        fill(k, k_point);
        fill(w1, w1_point);
        fill(w2, w2_point);
        fill(b, b_point);
        const auto additive = attest::additive{w1, w2, b}(q, k);
        CHECK(holds(additive, attest::additive{w1_point, w2_point, b_point}(q_point, k_point)));
        const auto capped = attest::softcapped{attest::dot_product{}, interval(50)}(q, k);
        CHECK(holds(capped, attest::softcapped{attest::dot_product{}, judge(50)}(q_point, k_point)));
        for (const auto pairing : {attest::rope_pairing::interleaved, attest::rope_pairing::half}) {
            const auto turned = attest::rope<interval>{pairing}.rotate(q, interval(round));
            const auto turned_point = attest::rope<judge>{pairing}.rotate(q_point, judge(round));
            for (std::size_t c = 0; c < turned.length(0); ++c) {
                INFO("component " << c << ": " << show(turned(c)) << ", " << show(turned_point(c)));
                CHECK(holds(turned(c), turned_point(c)));
                CHECK(surely(turned(c).width() < interval::power_of_two(-90)));
            }
        }
    }
    const auto table = attest::sinusoidal<interval>(20, 6);
    const auto table_point = attest::sinusoidal<judge>(20, 6);
    for (std::size_t t = 0; t < 20; ++t)
        for (std::size_t c = 0; c < 6; ++c) {
            INFO("t = " << t << ", c = " << c << ": " << show(table(t, c)) << ", " << show(table_point(t, c)));
            CHECK(holds(table(t, c), table_point(t, c)));
            CHECK(surely(table(t, c).width() < interval::power_of_two(-118)));
        }
}

TEST_CASE("the compiler and the running program get the same ends") {
    constexpr interval compiled =
        attest::exp(interval::ratio(-7, 3)) / attest::sqrt(interval(7)) - attest::log(interval(7));
    volatile int seven = 7;
    const int at_run_time = seven;
    const interval ran = attest::exp(interval::ratio(-at_run_time, 3)) / attest::sqrt(interval(at_run_time)) -
                         attest::log(interval(at_run_time));
    INFO(show(compiled) << " and " << show(ran));
    CHECK(compiled.lower_units() == ran.lower_units());
    CHECK(compiled.upper_units() == ran.upper_units());
}

// Within the compilers' own limits of constant expressions. The digits are those of other programs, in tables.
static_assert(rounds_to(attest::pi<interval>(), "3.1415926535897932384626433832795028842"));
static_assert(rounds_to(attest::tanh(interval(1)), "0.7615941559557648881194582826047935904"));
static_assert(rounds_to(attest::erf(interval(1)), "0.8427007929497148693412206350826092593"));
static_assert(rounds_to(attest::erf(interval(-9)), "-0.9999999999999999999999999999999999996"));
static_assert(refutes(attest::erf(interval::ratio(1, 2)), "0.520499877813046537682746653891964527"));
static_assert(rounds_to(attest::erf(interval::ratio(1, 2)), "0.520499877813046537682746653891964529"));
static_assert(rounds_to(attest::sin(interval(1)), "0.8414709848078965066525023216302989996"));
static_assert(rounds_to(attest::cos(interval(1)), "0.5403023058681397174009366074429766037"));
static_assert(rounds_to(attest::cos(interval(1'000'000)), "0.9367521275331447869385325350749187757"));
static_assert(contains(attest::sin(hull(interval(9), 11)), -1));
static_assert(contains(attest::cos(hull(interval(9), 12)), hull(interval(-1), 0)));
static_assert(contains(attest::relu(hull(interval(-1), 2)), 2) && contains(attest::step(hull(interval(-1), 2)), 0));
static_assert(rounds_to(attest::gelu(interval(1)), "0.841345"));
static_assert(rounds_to(attest::gelu(interval(1), attest::gelu_form::tanh), "0.841192"));
static_assert(rounds_to(attest::gelu(interval(1), attest::gelu_form::sigmoid), "0.845796"));
constexpr auto positions = attest::sinusoidal<interval, attest::axis<3>, attest::axis<4>>();
static_assert(rounds_to(positions(1, 0), "0.841471") && rounds_to(positions(2, 3), "0.999800"));
static_assert(surely(positions(0, 0) == 0) && surely(positions(0, 1) == 1));
constexpr attest::tensor<interval, attest::axis<4>> row{interval(1), interval(0), interval(0), interval(2)};
constexpr auto rotated_row = attest::rope<interval>{}.rotate(row, interval(1));
static_assert(rounds_to(rotated_row(1), "0.841471") && rounds_to(rotated_row(3), "1.999900"));
static_assert(rounds_to(attest::softcapped{attest::dot_product{}, interval(2)}(row, row), "1.973229"));

// No floating-point number gets in or out by itself, and no answer passes for a bool.
static_assert(attest::scalar<interval>);
static_assert(std::convertible_to<int, interval> && std::convertible_to<unsigned long long, interval>);
static_assert(!std::constructible_from<interval, double> && !std::constructible_from<interval, float>);
static_assert(!std::constructible_from<double, interval> && !std::constructible_from<float, interval>);
static_assert(!std::constructible_from<interval, bool> && !std::convertible_to<truth, bool>);
