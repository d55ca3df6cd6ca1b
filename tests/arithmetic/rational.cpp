// SPDX-License-Identifier: BSL-1.0
// Exact fractions: the laws of an ordered field on random ones, lowest terms, reading, roots of squares, and what must throw.

#include "attest/arithmetic/rational.hpp"

#include "attest/elementary/exp.hpp"
#include "attest/elementary/sqrt.hpp"
#include "catch.hpp"

#include <climits>
#include <compare>
#include <numeric>
#include <random>
#include <string>

using attest::rational;
using narrow = attest::basic_rational<64>;

namespace {

constexpr rational ratio(long long p, long long q) { return rational::ratio(p, q); }
constexpr rational decimal(std::string_view text) { return rational::decimal(text); }
constexpr bool has_parts(const rational& x, long long p, long long q) { return x.numerator() == p && x.denominator() == q; }

// Does it have a value? Not if it throws: in a constant expression that does not compile.
template <class F>
concept has_value = requires { typename std::bool_constant<(F{}(), true)>; };
template <class F>
constexpr bool refused(F) { return !has_value<F>; }

std::string show(const rational& x) { return x.numerator().str() + "/" + x.denominator().str(); }

// Fractions of both signs, small and large, 0 and 1 among them.
class dice {
public:
    long long whole(long long least, long long greatest) { return std::uniform_int_distribution<long long>(least, greatest)(engine_); }
    rational fraction() {
        const long long size = whole(0, 1) == 0 ? 4 : 1'000'000'000'000;
        return ratio(whole(-size, size), whole(1, size) * (whole(0, 1) == 0 ? 1 : -1));
    }

private:
    std::mt19937_64 engine_{1};
};

} // namespace

// With the compilers' default limits.
static_assert(has_parts(rational{}, 0, 1) && has_parts(rational(-7), -7, 1) && has_parts(ratio(6, -4), -3, 2) && has_parts(ratio(0, -5), 0, 1));
static_assert(ratio(1, 2) + ratio(1, 3) == ratio(5, 6) && ratio(1, 2) - ratio(1, 3) == ratio(1, 6) && ratio(2, 3) * ratio(9, 4) == ratio(3, 2) &&
              ratio(2, 3) / ratio(-4, 9) == ratio(-3, 2) && -ratio(1, 2) == ratio(-1, 2));
static_assert(ratio(-1, 2) < ratio(-1, 3) && ratio(1, 3) < ratio(1, 2) && !(ratio(1, 2) < ratio(2, 4)) && ratio(1, 2) <= ratio(2, 4) && ratio(1, 2) >= ratio(2, 4) &&
              ratio(1, 2) > ratio(1, 3) && !(ratio(1, 3) > ratio(1, 2)));
static_assert(decimal("0.66975") == ratio(66975, 100000) && decimal("-0.5") == ratio(-1, 2) && decimal("88/25") == ratio(88, 25) && decimal("1.5/-0.5") == rational(-3));
static_assert(attest::sqrt(ratio(9, 4)) == ratio(3, 2) && attest::sqrt(rational(0)) == rational(0));
static_assert([] { // 1/1 + 1/2 + … + 1/40
    rational sum;
    for (int k = 1; k <= 40; ++k) sum = sum + ratio(1, k);
    return sum == decimal("2078178381193813/485721041551200");
}());
static_assert(refused([] { return ratio(1, 0); }) && refused([] { return ratio(1, 2) / rational(0); }) && refused([] { return attest::sqrt(rational(2)); }) &&
              refused([] { return attest::sqrt(rational(-4)); }) && refused([] { return decimal("1/0"); }) && refused([] { return decimal("0,5"); }) &&
              refused([] { return narrow(LLONG_MAX) * narrow(4); }));
static_assert(!refused([] { return ratio(1, 2); }) && !refused([] { return narrow(LLONG_MAX) * narrow(2); }));
// Nothing but whole numbers becomes a fraction by itself, and there is no exponential.
static_assert(std::convertible_to<int, rational> && std::convertible_to<unsigned long long, rational> && !std::constructible_from<rational, bool> &&
              !std::constructible_from<rational, double> && !std::convertible_to<rational, double> && !attest::has_exp<rational> && attest::has_sqrt<rational>);
static_assert(attest::scalar<rational> && attest::scalar<narrow>);

TEST_CASE("fractions are in lowest terms, and the sign stands above", "[arithmetic]") {
    for (long long p = -30; p <= 30; ++p)
        for (long long q = -30; q <= 30; ++q) {
            if (q == 0) {
                CHECK_THROWS_AS(ratio(p, q), std::domain_error);
                continue;
            }
            const long long divisor = std::gcd(p, q) * (q < 0 ? -1 : 1);
            INFO(p << "/" << q);
            REQUIRE(has_parts(ratio(p, q), p / divisor, q / divisor));
        }
    CHECK(has_parts(rational(LLONG_MIN), LLONG_MIN, 1));
    CHECK(rational(ULLONG_MAX) == decimal("18446744073709551615"));
}

TEST_CASE("the four operations are those of whole numbers over a common denominator", "[arithmetic]") {
    dice random;
    for (int round = 0; round < 2000; ++round) {
        const long long a = random.whole(-1000, 1000), b = random.whole(1, 1000), c = random.whole(-1000, 1000), d = random.whole(1, 1000);
        INFO(a << "/" << b << " and " << c << "/" << d);
        REQUIRE(ratio(a, b) + ratio(c, d) == ratio(a * d + c * b, b * d));
        REQUIRE(ratio(a, b) - ratio(c, d) == ratio(a * d - c * b, b * d));
        REQUIRE(ratio(a, b) * ratio(c, d) == ratio(a * c, b * d));
        if (c != 0) REQUIRE(ratio(a, b) / ratio(c, d) == ratio(a * d, b * c));
        else REQUIRE_THROWS_AS(ratio(a, b) / ratio(c, d), std::domain_error);
        const std::strong_ordering order = a * d <=> c * b;
        REQUIRE((ratio(a, b) == ratio(c, d)) == (order == 0));
        REQUIRE((ratio(a, b) < ratio(c, d)) == (order < 0));
        REQUIRE((ratio(a, b) > ratio(c, d)) == (order > 0));
        REQUIRE((ratio(a, b) <= ratio(c, d)) == (order <= 0));
        REQUIRE((ratio(a, b) >= ratio(c, d)) == (order >= 0));
    }
}

TEST_CASE("rationals are an ordered field, exactly", "[arithmetic]") {
    dice random;
    const rational zero(0), one(1);
    for (int round = 0; round < 1000; ++round) {
        const rational a = random.fraction(), b = random.fraction(), c = random.fraction();
        INFO(show(a) << ", " << show(b) << ", " << show(c));
        REQUIRE(a + b == b + a);
        REQUIRE(a * b == b * a);
        REQUIRE((a + b) + c == a + (b + c));
        REQUIRE((a * b) * c == a * (b * c));
        REQUIRE(a * (b + c) == a * b + a * c);
        REQUIRE(a + zero == a);
        REQUIRE(a * one == a);
        REQUIRE(a + -a == zero);
        REQUIRE(a - b == -(b - a));
        if (!(b == zero)) REQUIRE(a / b * b == a);
        REQUIRE((a < b) + (a == b) + (a > b) == 1);
        if (a < b) REQUIRE(a + c < b + c);
        if (a < b && c > zero) REQUIRE(a * c < b * c);
        if (a < b && c < zero) REQUIRE(a * c > b * c);
        REQUIRE(a * a >= zero);
        for (const rational& result : {a + b, a * b, a - c}) {
            REQUIRE(result.denominator() > 0);
            REQUIRE(boost::multiprecision::gcd(result.numerator(), result.denominator()) == 1);
        }
        rational copy;
        copy = a;
        REQUIRE(copy == a);
        copy = *&copy; // to itself
        REQUIRE(copy == a);
    }
}

TEST_CASE("what is printed is read exactly", "[arithmetic]") {
    CHECK(decimal("8") == rational(8));
    CHECK(decimal("-8") == rational(-8));
    CHECK(decimal("+0.25") == ratio(1, 4));
    CHECK(decimal("0.250") == ratio(1, 4));
    CHECK(decimal("007") == rational(7));
    CHECK(decimal("-0") == rational(0));
    CHECK(decimal("2.5/0.5") == rational(5));
    CHECK(decimal("-1/-3") == ratio(1, 3));
    CHECK(decimal("0/7") == rational(0));
    CHECK(decimal("0.00000000000000000000000000000000000001") * decimal("1" + std::string(38, '0')) == rational(1));
    dice random;
    for (int round = 0; round < 500; ++round) {
        const rational x = random.fraction();
        REQUIRE(decimal(show(x)) == x);
    }
    for (const char* text : {"", "-", ".", ".5", "5.", "1.2.3", "1e5", "0,5", " 1", "1 ", "1/", "/2", "1/2/3", "--1", "½", "1/ 2", "0x10"}) {
        INFO(text);
        CHECK_THROWS_AS(decimal(text), std::invalid_argument);
    }
    for (const char* text : {"1/0", "0/0", "1/0.00"}) {
        INFO(text);
        CHECK_THROWS_AS(decimal(text), std::domain_error);
    }
}

TEST_CASE("the root of a square, and of nothing else", "[arithmetic]") {
    dice random;
    for (int round = 0; round < 500; ++round) {
        const rational x = random.fraction();
        INFO(show(x));
        REQUIRE(attest::sqrt(x * x) == (x < rational(0) ? -x : x));
        if (!(x == rational(0))) REQUIRE_THROWS_AS(attest::sqrt(-(x * x)), std::domain_error);
        if (!(x == rational(0))) REQUIRE_THROWS_AS(attest::sqrt(rational(2) * x * x), std::domain_error);
    }
    CHECK(attest::sqrt(ratio(8, 18)) == ratio(2, 3)); // neither is a square until it is in lowest terms
    CHECK_THROWS_AS(attest::sqrt(ratio(4, 3)), std::domain_error);
    CHECK_THROWS_AS(attest::sqrt(ratio(3, 4)), std::domain_error);
    CHECK_THROWS_AS(attest::sqrt(rational(-1)), std::domain_error);
}

TEST_CASE("what outgrows the width throws, and is never cut off", "[arithmetic]") {
    const narrow large(LLONG_MAX);
    CHECK_THROWS_AS(large * large, std::overflow_error);
    CHECK_THROWS_AS(large * narrow(3), std::overflow_error);
    CHECK_THROWS_AS(large + large + large, std::overflow_error);
    CHECK_THROWS_AS(narrow(1) / large + narrow(1) / (large - narrow(1)), std::overflow_error);
    CHECK_THROWS_AS(narrow(1) / large < narrow(1) / (narrow(1) / large), std::overflow_error);
    CHECK_THROWS_AS(narrow::decimal("100000000000000000000"), std::overflow_error);
    CHECK_THROWS_AS(narrow::decimal("0.00000000000000000001"), std::overflow_error);
    CHECK(large + large == large * narrow(2)); // 64 bits and a sign
    rational power(1);
    for (int k = 0; k < 511; ++k) power = power * rational(2);
    CHECK_NOTHROW(power + (power - rational(1))); // 2^512 − 1
    CHECK_THROWS_AS(power + power, std::overflow_error);
    CHECK_THROWS_AS(rational(1) / power / rational(2), std::overflow_error);
    CHECK_THROWS_AS(narrow(1) / narrow(0), std::domain_error);
    CHECK_THROWS_AS(narrow(0) / narrow(0), std::domain_error);
}
