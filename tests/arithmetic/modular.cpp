// SPDX-License-Identifier: BSL-1.0
// Arithmetic modulo one number, and what the finite field rests on: two primes, a generator of the squares, a generator of each circle.

#include "attest/arithmetic/modular.hpp"

#include "attest/arithmetic/field.hpp"
#include "catch.hpp"

#include <random>
#include <set>
#include <utility>

using attest::field;
using attest::modular::point;
using attest::modular::residue;
namespace modular = attest::modular;

namespace {

constexpr residue p = field::p, q = field::q;
constexpr point nowhere{1, 0}; // the angle 0

// Miller and Rabin. With the first twelve primes as bases it errs for no number below 3.1·10^23 (Sorenson, Webster, arXiv 1509.00864).
constexpr bool is_prime(residue n) {
    residue odd = n - 1;
    int halvings = 0;
    for (; odd % 2 == 0; odd /= 2) ++halvings;
    for (const residue base : {2U, 3U, 5U, 7U, 11U, 13U, 17U, 19U, 23U, 29U, 31U, 37U}) {
        if (n % base == 0) return n == base;
        residue power = modular::power(base, odd, n);
        bool passes = power == 1 || power == n - 1;
        for (int i = 1; i < halvings && !passes; ++i) passes = (power = modular::product(power, power, n)) == n - 1;
        if (!passes) return false;
    }
    return true;
}
// What both circles' orders are made of.
constexpr residue prime_factors[] = {2, 3, 5, 7, 9173, 27239, 122069};
constexpr bool has_no_other_factor(residue n) {
    for (const residue r : prime_factors)
        while (n % r == 0) n /= r;
    return n == 1;
}
// ((1 − t²)/(1 + t²), 2t/(1 + t²)).
constexpr point on_circle(residue t, residue prime) {
    const residue square = modular::product(t, t, prime), below = modular::inverse(modular::sum(1, square, prime), prime);
    return {modular::product(modular::sum(1, modular::negative(square, prime), prime), below, prime), modular::product(modular::sum(t, t, prime), below, prime)};
}
// Its order is prime + 1: that many times it is nowhere, and not that many over one of the prime factors.
constexpr bool generates(const point& g, residue prime) {
    if (!(modular::turned(g, prime + 1, prime) == nowhere)) return false;
    for (const residue r : prime_factors)
        if ((prime + 1) % r == 0 && modular::turned(g, (prime + 1) / r, prime) == nowhere) return false;
    return true;
}
constexpr point generator_p = on_circle(8, p), generator_q = on_circle(4, q);

// SplitMix64: its state goes on by the golden ratio, and its finaliser makes a number of it.
constexpr std::uint64_t golden = 0x9e3779b97f4a7c15U;
constexpr std::uint64_t finalised(std::uint64_t z) {
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9U;
    z = (z ^ z >> 27) * 0x94d049bb133111ebU;
    return z ^ z >> 31;
}
static_assert(finalised(golden) == 0xe220a8397b1dcdafU && finalised(2 * golden) == 0x6e789e6aa1b965f4U); // the generator's first numbers from seed 0
static_assert(modular::scrambled(5, 7, p) == finalised(finalised(5 * golden + 7 * 0xd1342543de82ef95U + 0x632be59bd9b4e019U)) % p);

static_assert(is_prime(p) && is_prime(q) && p == 2 * q + 1 && p % 4 == 3 && q % 4 == 3);
static_assert(!is_prime(p - 2) && !is_prime(3215031751) && is_prime(122069)); // strong pseudoprime to the bases 2, 3, 5 and 7
static_assert(modular::power(4, q, p) == 1); // and 4 is not 1: its order is q, as many as there are squares
static_assert(has_no_other_factor(p + 1) && has_no_other_factor(q + 1));
static_assert([] {
    for (const residue r : prime_factors)
        if (r > 37 && !is_prime(r)) return false;
    return true;
}());
static_assert(generates(generator_p, p) && generates(generator_q, q));
static_assert(!generates(modular::together(generator_p, generator_p, p), p) && !generates({0, 1}, q));

} // namespace

TEST_CASE("products modulo a number are those of the long multiplication", "[arithmetic]") {
    std::mt19937_64 random(1);
    for (const residue modulus : {p, q, p + 1, q + 1, residue{2}, residue{1000}}) {
        const auto add = [modulus](residue a, residue b) { return a >= modulus - b ? a - (modulus - b) : a + b; }; // without wrapping around
        for (int round = 0; round < 300; ++round) {
            const residue a = round == 0 ? modulus - 1 : random() % modulus, b = round < 2 ? modulus - 1 : random() % modulus;
            residue product = 0;
            for (int bit = 63; bit >= 0; --bit) {
                product = add(product, product);
                if ((b >> bit & 1U) != 0) product = add(product, a);
            }
            REQUIRE(modular::product(a, b, modulus) == product);
            REQUIRE(modular::sum(a, b, modulus) == add(a, b));
            REQUIRE(modular::sum(a, modular::negative(a, modulus), modulus) == 0);
            REQUIRE(modular::negative(a, modulus) < modulus);
            residue power = 1 % modulus;
            for (int k = 0; k < round % 40; ++k) power = modular::product(power, a, modulus);
            REQUIRE(modular::power(a, static_cast<residue>(round % 40), modulus) % modulus == power);
        }
    }
}

TEST_CASE("inverses and roots modulo the two primes", "[arithmetic]") {
    for (const residue prime : {p, q})
        for (std::uint64_t k = 0; k < 200; ++k) {
            const residue a = modular::scrambled(7, k, prime), square = modular::product(a, a, prime);
            REQUIRE(modular::product(a, modular::inverse(a, prime), prime) == 1);
            const modular::root root = modular::square_root(square, prime);
            REQUIRE(root.exists);
            REQUIRE((root.value == a || root.value == prime - a));
            REQUIRE(modular::square_root(root.value, prime).exists);         // the root is a square itself,
            REQUIRE(!modular::square_root(prime - root.value, prime).exists); // and the other root is none
            REQUIRE(modular::square_root(a, prime).exists != modular::square_root(prime - a, prime).exists);
        }
}

TEST_CASE("the points of a circle are a group, and turning is adding", "[arithmetic]") {
    for (const auto& [g, prime] : {std::pair{generator_p, p}, std::pair{generator_q, q}}) {
        point sum = nowhere;
        for (residue k = 0; k < 100; ++k) {
            REQUIRE(modular::turned(g, k, prime) == sum);
            REQUIRE(modular::sum(modular::product(sum.cosine, sum.cosine, prime), modular::product(sum.sine, sum.sine, prime), prime) == 1);
            REQUIRE(modular::together(sum, {sum.cosine, modular::negative(sum.sine, prime)}, prime) == nowhere);
            sum = modular::together(sum, g, prime);
        }
        const residue a = modular::scrambled(8, 0, prime + 1), b = modular::scrambled(8, 1, prime + 1);
        CHECK(modular::turned(g, modular::sum(a, b, prime + 1), prime) == modular::together(modular::turned(g, a, prime), modular::turned(g, b, prime), prime));
    }
}

TEST_CASE("scrambled numbers lie below the modulus, and differ", "[arithmetic]") {
    std::set<residue> seen;
    int upper_half = 0;
    for (std::uint64_t k = 0; k < 10000; ++k) {
        const residue r = modular::scrambled(k / 100, k % 100, q);
        REQUIRE(r < q);
        seen.insert(r);
        upper_half += r >= q / 2;
    }
    CHECK(seen.size() == 10000);
    CHECK((upper_half > 4700 && upper_half < 5300)); // six standard deviations
}
