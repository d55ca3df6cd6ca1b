// SPDX-License-Identifier: BSL-1.0
// Fractions rounded once to a format, and to 192 bits; sums and multiples of exact facts.
#include "attest/oracle/exact_fact.hpp"
#include "catch.hpp"
#include "kernels.hpp"

using namespace attest;
using kernels::generator;
using kind = exact_fact::kind;

namespace {

constexpr format all[] = {formats::f64, formats::f32, formats::f16, formats::bf16};

bool same_bits(double a, double b) { return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b); }
exact_rational of(double x) { return exact_rational(dyadic(x)); }
exact_rational power(std::int64_t k) { return exact_rational(dyadic(exact_integer(1), k)); }
exact_rational fraction(long long p, long long q) { return {exact_integer(p), exact_integer(q)}; }

// A positive number of the format, subnormals and the greatest among them.
double draw(generator& g, const format& f) {
    const int exponent = f.tiny_exponent() + static_cast<int>(g.below(static_cast<std::size_t>(f.max_exponent - f.tiny_exponent() + 1)));
    return round_to(f, detail::times_power_of_two(1 + g.uniform() / 2, exponent));
}

} // namespace

TEST_CASE("a fraction next to a tie goes to the nearer, the tie to even", "[oracle]") {
    generator g(1);
    for (const format& f : all)
        for (int run = 0; run < 1000; ++run) {
            const double low = run == 0 ? 0 : draw(g, f), unit = ulp(f, low);
            if (low == f.greatest()) continue;
            const double high = low + unit;
            const exact_rational tie = (of(low) + of(high)) / 2, little = of(unit) * power(-3000) / 3;
            const bool low_is_even = exact_integer(numerator(exact_rational(of(low) / of(unit)))) % 2 == 0;
            const double even = low_is_even ? low : high;
            CAPTURE(f.precision, low, high);
            const exact_rational above = tie + little, below = tie - little;
            const bool right = round_to(f, tie) == even && round_to(f, above) == high && round_to(f, below) == low &&
                               same_bits(round_to(f, exact_rational(-tie)), -even) && same_bits(round_to(f, exact_rational(-below)), -low) &&
                               round_to(f, exact_rational(-above)) == -high && round_to(f, of(low)) == low &&
                               round_to(f, exact_rational(of(high) - little)) == high &&
                               round_to(f, exact_rational(of(low) + little)) == low;
            if (!right) FAIL_CHECK("rounded wrongly");
        }
}

TEST_CASE("overflow, underflow and zero", "[oracle]") {
    for (const format& f : all) {
        CAPTURE(f.precision, f.max_exponent);
        const exact_rational threshold = of(f.greatest()) + of(ulp(f, f.greatest())) / 2, little = power(-5000);
        CHECK(round_to(f, threshold) == kernels::infinity);
        CHECK(round_to(f, exact_rational(-threshold)) == -kernels::infinity);
        CHECK(round_to(f, exact_rational(threshold - little)) == f.greatest());
        CHECK(round_to(f, power(20000)) == kernels::infinity);
        const exact_rational half_tiny = power(f.tiny_exponent() - 1);
        CHECK(same_bits(round_to(f, half_tiny), 0.0));
        CHECK(same_bits(round_to(f, exact_rational(-half_tiny)), -0.0));
        CHECK(round_to(f, exact_rational(half_tiny + little)) == ulp(f, 0));
        CHECK(round_to(f, exact_rational(half_tiny * 3)) == 2 * ulp(f, 0));
        CHECK(round_to(f, exact_rational(half_tiny * 5)) == 2 * ulp(f, 0));
        CHECK(same_bits(round_to(f, power(-20000)), 0.0));
        CHECK(same_bits(round_to(f, exact_rational(0)), 0.0));
        CHECK(round_to(f, power(f.max_exponent)) == detail::power_of_two(f.max_exponent));
    }
}

TEST_CASE("a fraction is rounded as its 192 bits are, and those hold it", "[oracle]") {
    generator g(2);
    for (const format& f : all)
        for (int run = 0; run < 2000; ++run) {
            // p/q · 2^k of any size, rarely with an end in binary.
            const exact_integer p(g.bits()), q(1 + g.bits() % 1000000);
            const exact_rational x = (run % 2 == 0 ? 1 : -1) * exact_rational(p, q) * power(static_cast<std::int64_t>(g.below(2400)) - 1250);
            const enclosure e = enclosure_of(x);
            CAPTURE(f.precision, x.str());
            // p/q is at least 1/q units of the last of 54 bits away from each number of so many bits that it is not: 192 bits are enough.
            if (round_to(f, x) != round_to(f, e.value)) FAIL_CHECK("not what its first bits round to");
            const auto back = [](const exact_number& y) {
                const std::int64_t unit = y.is_zero() ? 0 : y.exponent() - 400;
                const auto whole = boost::multiprecision::ldexp(y.value(), -unit).convert_to<boost::multiprecision::cpp_int>();
                return exact_rational(exact_rational(exact_integer(whole)) * power(unit));
            };
            const exact_rational rest = abs(exact_rational(x - back(e.value)));
            if (rest > back(e.radius) || (x != 0 && back(e.radius) > abs(x) * power(-191))) FAIL_CHECK("outside of its bits");
        }
    CHECK(enclosure_of(exact_rational(0)).value.is_zero());
    CHECK(enclosure_of(fraction(-3, 4)).value == exact_number(-0.75));
    CHECK(enclosure_of(fraction(-3, 4)).radius.is_zero());
    CHECK(!enclosure_of(fraction(1, 3)).radius.is_zero());
    CHECK(enclosure_of(power(30000)).value.exponent() == 30000);
}

TEST_CASE("multiples and sums of facts", "[oracle]") {
    const exact_fact two = exact_fact::of(2), zero = exact_fact::of(0), irrational = exact_fact::irrational(), unknown = exact_fact::unknown();
    CHECK(times(two, fraction(1, 3)) == exact_fact::of(fraction(2, 3)));
    CHECK(times(irrational, fraction(1, 3)) == irrational);
    CHECK(times(irrational, exact_rational(0)) == zero);
    CHECK(times(unknown, exact_rational(0)) == zero);
    CHECK(times(unknown, exact_rational(2)) == unknown);
    CHECK(times(two, std::nullopt) == irrational);
    CHECK(times(zero, std::nullopt) == zero);
    CHECK(times(irrational, std::nullopt) == unknown); // √2 · √2 = 2

    const auto sum = [](std::initializer_list<exact_fact> terms) {
        exact_sum s;
        for (const exact_fact& term : terms) s.add(term);
        return s.result();
    };
    CHECK(sum({}) == zero);
    CHECK(sum({two, exact_fact::of(fraction(-1, 3))}) == exact_fact::of(fraction(5, 3)));
    CHECK(sum({two, irrational, two}) == irrational);
    CHECK(sum({irrational, irrational}) == unknown); // √2 + (2 − √2)
    CHECK(sum({two, unknown}) == unknown);
    CHECK(sum({irrational, unknown}) == unknown);
}
