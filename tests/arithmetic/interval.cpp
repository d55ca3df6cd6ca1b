// SPDX-License-Identifier: BSL-1.0
// The laws of intervals, on random ones: containment of the true value, narrowness, a smaller operand gives a smaller
// result, more digits lie inside fewer. The judge is `real<100>`, whose error is far below a unit of 2^−128.

#include "attest/arithmetic/interval.hpp"

#include "attest/arithmetic/real.hpp"
#include "attest/formula/attention.hpp"
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
    }
    CHECK(attest::sqrt(interval(49)).is_point());
    CHECK((interval(1) / 8).is_point());
    CHECK(holds(attest::exp(interval(0)), judge(1)));
    CHECK(surely(attest::log(interval(1)) >= 0));
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
    }
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

// No floating-point number gets in or out by itself, and no answer passes for a bool.
static_assert(attest::scalar<interval>);
static_assert(std::convertible_to<int, interval> && std::convertible_to<unsigned long long, interval>);
static_assert(!std::constructible_from<interval, double> && !std::constructible_from<interval, float>);
static_assert(!std::constructible_from<double, interval> && !std::constructible_from<float, interval>);
static_assert(!std::constructible_from<interval, bool> && !std::convertible_to<truth, bool>);
