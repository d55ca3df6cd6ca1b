// SPDX-License-Identifier: BSL-1.0
// The finite field: its laws at random points, and what it must refuse. What it rests on: modular.cpp.

#include "attest/arithmetic/field.hpp"

#include "attest/elementary/erf.hpp"
#include "attest/elementary/exp.hpp"
#include "attest/elementary/log.hpp"
#include "attest/elementary/pi.hpp"
#include "attest/elementary/sin_cos.hpp"
#include "attest/elementary/sqrt.hpp"
#include "attest/elementary/tanh.hpp"
#include "attest/formula/activation.hpp"
#include "catch.hpp"

#include <climits>
#include <string>

using attest::field;
using attest::no_such_part;
using attest::modular::point;
using attest::modular::residue;
namespace modular = attest::modular;

namespace {

constexpr residue p = field::p, q = field::q;

// ((1 − t²)/(1 + t²), 2t/(1 + t²)).
constexpr point on_circle(residue t, residue prime) {
    const residue square = modular::product(t, t, prime), below = modular::inverse(modular::sum(1, square, prime), prime);
    return {modular::product(modular::sum(1, modular::negative(square, prime), prime), below, prime), modular::product(modular::sum(t, t, prime), below, prime)};
}
// The field element with these residues: a + p·t, where p·t ≡ b − a modulo q.
constexpr field of_integer(residue x) {
    field sum(0);
    for (int shift = 60; shift >= 0; shift -= 15) sum = sum * field(1 << 15) + field(static_cast<int>(x >> shift & 0x7fff));
    return sum;
}
constexpr field of_residues(residue a, residue b) {
    const residue t = modular::product(modular::sum(b, modular::negative(a % q, q), q), modular::inverse(p % q, q), q);
    return of_integer(a) + of_integer(p) * of_integer(t);
}
constexpr field free_number(std::uint64_t seed, std::uint64_t index) { return field::indeterminate(seed, index); }

// Does it have a value? Not if it throws: in a constant expression that does not compile.
template <class F>
concept has_value = requires { typename std::bool_constant<(F{}(), true)>; };
template <class F>
constexpr bool refused(F) { return !has_value<F>; }

constexpr field x = field::indeterminate(1, 0), y = field::indeterminate(1, 1), z = field::indeterminate(1, 2);

} // namespace

// With the compilers' default limits.
static_assert(!(x == y) && x + y == y + x && x * (y + z) == x * y + x * z && x / y * y == x && x - x == field(0) && x / x == field(1));
static_assert(field(3) * field(-5) == field(-15) && field(7) / field(-7) == field(-1) && field(INT_MIN) == -(field(INT_MAX) + field(1)));
static_assert(attest::exp(x + y) == attest::exp(x) * attest::exp(y) && attest::exp(field(0)) == field(1) && attest::log(attest::exp(x)) == x);
static_assert(attest::sqrt(x * x) * attest::sqrt(x * x) == x * x && !attest::sqrt(-(x * x)).defined());
static_assert(!(attest::exp(x * y) == attest::exp(x) * attest::exp(y)) && !(attest::exp(x) + attest::exp(y) == attest::exp(x + y)));
static_assert(refused([] { return x / field(0); }) && refused([] { return x / (y - y); }) && refused([] { return attest::exp(attest::exp(x)); }) &&
              refused([] { return attest::log(x); }) && refused([] { return attest::log(attest::exp(x) + attest::exp(y)); }) &&
              refused([] { return attest::sin(x); }) && refused([] { return attest::cos(attest::exp(x) * attest::exp(y)); }) &&
              refused([] { return attest::sqrt(-(x * x)) == x; }));
static_assert(!refused([] { return x / y; }) && !refused([] { return attest::exp(x); }));

TEST_CASE("free variables differ, and are the same for the same seed", "[arithmetic]") {
    CHECK(!(free_number(1, 0) == free_number(1, 1)));
    CHECK(!(free_number(1, 0) == free_number(2, 0)));
    CHECK(free_number(3, 4) == free_number(3, 4));
    CHECK(free_number(3, 4).defined());
    CHECK(free_number(3, 4) == of_residues(modular::scrambled(3, 8, p), modular::scrambled(3, 9, q))); // two numbers that have nothing to do with each other
}

TEST_CASE("whole numbers are what they are modulo p and q", "[arithmetic]") {
    for (const int a : {0, 1, -1, 2, 10, -10, 46341, -46341})
        for (const int b : {0, 1, -1, 3, 7, -46340}) {
            CHECK(field(a) + field(b) == field(a + b));
            CHECK(field(a) - field(b) == field(a - b));
            CHECK(field(a) * field(b) == field(static_cast<int>(static_cast<long long>(a) * b)));
        }
    CHECK(of_integer(p) * x == field(0) * attest::exp(x)); // 0 modulo p; modulo q it is not, and exp(x) has no exponent
    CHECK(!(of_integer(p) == field(0)));
    CHECK(!(of_integer(q) == field(0)));
    CHECK(of_integer(p) - field(2) * of_integer(q) == field(1));
}

TEST_CASE("the laws of a field hold at random points, with exponents and without", "[arithmetic]") {
    for (std::uint64_t seed = 0; seed < 100; ++seed)
        for (const bool through_exp : {false, true}) {
            const auto number = [&](std::uint64_t index) { return through_exp ? attest::exp(free_number(seed, index)) + field(1) : free_number(seed, index); };
            const field a = number(0), b = number(1), c = number(2);
            REQUIRE(a.has_exponent() == !through_exp);
            REQUIRE(a + b == b + a);
            REQUIRE(a * b == b * a);
            REQUIRE((a + b) + c == a + (b + c));
            REQUIRE((a * b) * c == a * (b * c));
            REQUIRE(a * (b + c) == a * b + a * c);
            REQUIRE(a + field(0) == a);
            REQUIRE(a * field(1) == a);
            REQUIRE(a - b == a + -b);
            REQUIRE(a + -a == field(0));
            REQUIRE(a / b * b == a);
            REQUIRE(field(1) / (a / b) == b / a);
            REQUIRE(!(a == b));
        }
}

TEST_CASE("exponential and logarithm", "[arithmetic]") {
    using attest::exp, attest::log;
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        const field a = free_number(seed, 0), b = free_number(seed, 1);
        REQUIRE(exp(a + b) == exp(a) * exp(b));
        REQUIRE(exp(a - b) == exp(a) / exp(b));
        REQUIRE(exp(-a) == field(1) / exp(a));
        REQUIRE(exp(field(3) * a) == exp(a) * exp(a) * exp(a));
        REQUIRE(!exp(a).has_exponent());
        REQUIRE(log(exp(a)) == a);
        REQUIRE(log(exp(a)).has_exponent());
        REQUIRE(log(exp(a) * exp(b)) == a + b);
        REQUIRE(log(exp(a) / exp(b)) == a - b);
        REQUIRE(exp(log(exp(a)) * b) == exp(a * b));
        REQUIRE(attest::sqrt(exp(a + a)) == exp(a)); // what exp gives is a square: positive
    }
    for (int k = -1000; k <= 1000; ++k) CHECK(!(exp(field(1)) == field(k))); // e is no whole number, and neither are its powers
    for (int k = 2; k <= 1000; ++k) CHECK(!(exp(field(2)) == field(k)));
    CHECK(!(exp(field(1)) / (exp(field(1)) + field(1)) == field(4) / field(5)));
    CHECK_THROWS_AS(exp(exp(x)), no_such_part);
    CHECK_THROWS_AS(exp(x * exp(y)), no_such_part);
    CHECK_THROWS_AS(log(x), no_such_part);
    CHECK_THROWS_AS(log(exp(x) + exp(y)), no_such_part);
    CHECK_THROWS_AS(log(exp(x) * field(2)), no_such_part);
    CHECK_THROWS_AS(x / field(0), no_such_part);
    CHECK_THROWS_AS(exp(x) / (exp(y) - exp(y)), no_such_part);
    CHECK_THROWS_AS(x / of_integer(q), no_such_part); // 0 modulo q alone
    CHECK(std::string(no_such_part("sentence").what()) == "sentence");
}

TEST_CASE("roots: the square that has this square, or none", "[arithmetic]") {
    using attest::sqrt;
    int both = 0;
    for (std::uint64_t seed = 0; seed < 400; ++seed) {
        const field a = free_number(seed, 0), b = free_number(seed, 1), s = sqrt(a), t = sqrt(b);
        REQUIRE(sqrt(a * a).defined());
        REQUIRE(sqrt(a * a) * sqrt(a * a) == a * a);
        REQUIRE(sqrt(sqrt(a * a)).defined());
        REQUIRE(!sqrt(-(a * a)).defined());
        both += s.defined();
        if (!s.defined()) {
            for (const field& undefined : {s + b, b - s, s * b, b / s, s / b, -s, sqrt(s), attest::exp(s), attest::tanh(s), attest::shift_point(b, s)})
                REQUIRE(!undefined.defined());
            REQUIRE_THROWS_AS(s == a, no_such_part);
            REQUIRE_THROWS_AS(a == s, no_such_part);
        } else if (t.defined()) {
            REQUIRE(s * s == a);
            REQUIRE(s * t == sqrt(a * b));
            REQUIRE(s / t == sqrt(a / b));
        }
    }
    CHECK((both > 50 && both < 150)); // a quarter of 400: a square modulo both primes
    CHECK(sqrt(field(4)) == field(2));
    CHECK(sqrt(field(0)) == field(0));
    CHECK(sqrt(attest::pi<field>()).defined());
    CHECK(attest::pi<field>() == attest::pi<field>());
    CHECK(!(attest::pi<field>() == x));
    CHECK(attest::pi<field>() == free_number(0x3141592653589793U, 0) * free_number(0x3141592653589793U, 0));
}

TEST_CASE("sine and cosine are coordinates of points that turn by the angle", "[arithmetic]") {
    using attest::cos, attest::exp, attest::sin;
    // One radian is a free multiple of the generators.
    const residue radian_p = modular::scrambled(0x6f70617175650001U, 1, p + 1), radian_q = modular::scrambled(0x6f70617175650002U, 1, q + 1);
    constexpr point generator_p = on_circle(8, p), generator_q = on_circle(4, q);
    for (const int k : {0, 1, 2, 5, 1000}) {
        const auto times = static_cast<residue>(k);
        const point in_p = modular::turned(generator_p, modular::product(times, radian_p, p + 1), p);
        const point in_q = modular::turned(generator_q, modular::product(times, radian_q, q + 1), q);
        CHECK(cos(field(k)) == of_residues(in_p.cosine, in_q.cosine));
        CHECK(sin(field(k)) == of_residues(in_p.sine, in_q.sine));
    }
    const field frequencies[] = {field(1), exp(x), exp(-y), field(1) / exp(z)};
    for (const field& f : frequencies)
        for (const field& g : frequencies)
            for (const int m : {-3, 0, 1, 4})
                for (const int n : {-1, 2}) {
                    const field a = field(m) * f, b = field(n) * g;
                    REQUIRE(cos(a) * cos(a) + sin(a) * sin(a) == field(1));
                    REQUIRE(cos(a + b) == cos(a) * cos(b) - sin(a) * sin(b));
                    REQUIRE(sin(a + b) == sin(a) * cos(b) + cos(a) * sin(b));
                    REQUIRE(cos(a - b) == cos(a) * cos(b) + sin(a) * sin(b));
                    REQUIRE(cos(-a) == cos(a));
                    REQUIRE(sin(-a) == -sin(a));
                    REQUIRE(sin(a).has_exponent()); // whatever the angle has been through
                }
    CHECK(cos(field(0)) == field(1));
    CHECK(sin(field(0)) == field(0));
    CHECK(sin(exp(field(0))) == sin(field(1))); // the same number is the same angle, in whatever way it has come about
    CHECK(sin(field(1) / exp(x)) == sin(exp(-x)));
    CHECK(sin(field(3) / field(-1)) == sin(field(-3)));
    CHECK(sin(exp(x) / field(1)) == sin(exp(x)));
    CHECK(!(sin(exp(x)) == sin(exp(y))));
    CHECK(!(sin(exp(x)) == sin(field(1))));
    CHECK(!(sin(field(1)) == sin(field(2))));
    for (const field& lost : {x, x + field(1), field(1) / field(2), exp(x) * exp(y), exp(x) / exp(y), exp(x) * y, attest::sqrt(x * x), sin(exp(x)), attest::log(exp(x)),
                              attest::pi<field>(), attest::tanh(field(1)), exp(x) / field(3)}) {
        CHECK_THROWS_AS(sin(lost), no_such_part);
        CHECK_THROWS_AS(cos(lost), no_such_part);
    }
}

TEST_CASE("tanh, erf, relu and step are functions of their value, without laws", "[arithmetic]") {
    const auto tanh = [](const field& a) { return attest::tanh(a); };
    const auto erf = [](const field& a) { return attest::erf(a); };
    const auto relu = [](const field& a) { return attest::relu(a); };
    const auto step = [](const field& a) { return attest::step(a); };
    const auto check = [](const auto& f) {
        CHECK(f(field(0)) == field(0));
        CHECK(f(x + y) == f(y + x));
        CHECK(f(x).has_exponent());
        CHECK(!f(attest::exp(x)).has_exponent());
        CHECK(attest::exp(f(x)) == attest::exp(f(x)));
        CHECK(!(f(x) == f(y)));
        CHECK(!(f(-x) == -f(x)));
        CHECK(!(f(x) == x));
        CHECK(!(f(x + x) == f(x) + f(x)));
    };
    check(tanh), check(erf), check(relu), check(step);
    const field values[] = {tanh(x), erf(x), relu(x), step(x)};
    for (int i = 0; i < 4; ++i)
        for (int j = 0; j < i; ++j) CHECK(!(values[i] == values[j]));
}

TEST_CASE("the shift of softmax has nothing to do with the scores", "[arithmetic]") {
    const field shift = attest::shift_point(x, y);
    CHECK(shift == attest::shift_point(x, y));
    CHECK(!(shift == x));
    CHECK(!(shift == y));
    CHECK(shift.has_exponent());
    CHECK(!attest::shift_point(x, attest::exp(y)).has_exponent());
    CHECK(attest::exp(x - shift) / attest::exp(y - shift) == attest::exp(x - y));
}

TEST_CASE("numbers are equal if they are so in every part that both have", "[arithmetic]") {
    CHECK(attest::exp(field(0)) == field(1));
    CHECK(field(1) == attest::exp(field(0)));
    const field same_modulo_p = x + of_integer(p);
    CHECK(!(same_modulo_p == x));
    CHECK(same_modulo_p * attest::exp(y) == x * attest::exp(y));
    CHECK(!(attest::exp(same_modulo_p) == attest::exp(x))); // another exponent
    CHECK(attest::exp(x + of_integer(q)) == attest::exp(x));
    CHECK(!(of_residues(5, 6) == of_residues(5, 7)));
    CHECK(!(of_residues(5, 6) == of_residues(6, 6)));
}
