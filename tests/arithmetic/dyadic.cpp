// SPDX-License-Identifier: BSL-1.0
// Dyadic numbers and exact scalar products against fractions, over the whole range of double.
#include "attest/arithmetic/dyadic.hpp"
#include "catch.hpp"

#include <cmath>
#include <random>
#include <vector>

using namespace attest;

namespace {

constexpr double tiny = 0x1p-1074, greatest = 0x1.fffffffffffffp1023;

exact_rational fraction_of(double x) { return exact_rational(dyadic(x)); }

// Any finite double: sign, exponent and fraction at random, zeros and the ends of the range among them.
double any(std::mt19937_64& g) {
    switch (g() % 16) {
    case 0: return 0.0;
    case 1: return -0.0;
    case 2: return tiny;
    case 3: return -greatest;
    case 4: return static_cast<double>(static_cast<int>(g() % 21) - 10);
    default: break;
    }
    for (;;)
        if (const double x = std::bit_cast<double>(static_cast<std::uint64_t>(g())); std::isfinite(x)) return x;
}

} // namespace

TEST_CASE("a dyadic number is what the double is, with an odd mantissa", "[arithmetic]") {
    CHECK(dyadic().is_zero());
    CHECK(dyadic(-0.0) == dyadic());
    CHECK(dyadic(12.0).mantissa() == 3);
    CHECK(dyadic(12.0).exponent() == 2);
    CHECK(dyadic(exact_integer(-40), 1) == dyadic(-80.0));
    CHECK(dyadic(-80.0).mantissa() == -5);
    CHECK(dyadic(exact_integer(0), 7) == dyadic());
    CHECK(dyadic(tiny).exponent() == -1074);
    CHECK(fraction_of(0.75) == exact_rational(exact_integer(3), exact_integer(4)));
    CHECK(fraction_of(-0x1p100) == exact_rational(exact_integer(-(exact_integer(1) << 100U))));
    CHECK(fraction_of(greatest) == exact_rational(exact_integer((exact_integer(1) << 53U) - 1) << 971U));
    std::mt19937_64 g(1);
    for (int run = 0; run < 2000; ++run) {
        const double x = any(g);
        const dyadic d(x);
        // Back: below 2^53 the mantissa is a double, and so is the product.
        if (std::ldexp(d.mantissa().convert_to<double>(), static_cast<int>(d.exponent())) != x) FAIL_CHECK("not the double " << x);
        if (x != 0 && d.mantissa() % 2 == 0) FAIL_CHECK("an even mantissa of " << x);
    }
}

TEST_CASE("sums, differences and products of dyadic numbers are those of fractions", "[arithmetic]") {
    std::mt19937_64 g(2);
    for (int run = 0; run < 2000; ++run) {
        const dyadic a(any(g)), b(any(g)), c = a * b;
        const auto same = [](const dyadic& x, const exact_rational& y) { return exact_rational(x) == y; };
        const exact_rational p(a), q(b);
        const bool right = same(a + b, p + q) && same(a - b, p - q) && same(c, p * q) && same(-a, -p) && same(c - a, p * q - p);
        if (!right) FAIL_CHECK("an operation is wrong");
        const int order = dyadic::order(a, b), back = dyadic::order(b, a);
        if ((a == b) != (p == q) || !(a + b - b == a) || (order == 0) != (p == q) || (order < 0) != (back > 0)) FAIL_CHECK("a comparison is wrong");
    }
}

TEST_CASE("a scalar product is exact, in any order", "[arithmetic]") {
    std::mt19937_64 g(3);
    sum_of_products sum;
    for (int run = 0; run < 1000; ++run) {
        const std::size_t n = g() % 12;
        std::vector<double> a(n), b(n);
        for (double& x : a) x = any(g);
        for (double& x : b) x = any(g);
        if (n > 2 && run % 2 == 0) a[1] = -a[0], b[1] = b[0]; // cancels
        exact_rational expected = 0;
        for (std::size_t k = 0; k < n; ++k) expected += fraction_of(a[k]) * fraction_of(b[k]);
        for (std::size_t k = 0; k < n; ++k) sum.add(a[k], b[k]);
        const dyadic forward = sum.take();
        for (std::size_t k = n; k-- > 0;) sum.add(b[k], a[k]);
        if (exact_rational(forward) != expected || !(sum.take() == forward)) FAIL_CHECK("not the scalar product of " << n);
    }
    CHECK(sum.take().is_zero());
}

TEST_CASE("what double arithmetic loses", "[arithmetic]") {
    sum_of_products sum;
    sum.add(1e16), sum.add(1.0), sum.add(-1e16);
    CHECK(sum.take() == dyadic(1.0));
    sum.add(greatest, greatest), sum.add(tiny, tiny), sum.add(greatest, -greatest);
    CHECK(sum.take() == dyadic(exact_integer(1), -2148));
    // 2^2046 − 2^−2148: a borrow through all limbs.
    sum.add(-tiny, tiny), sum.add(0x1p1023, 0x1p1023);
    const dyadic beside = sum.take();
    CHECK(beside + dyadic(exact_integer(1), -2148) == dyadic(exact_integer(1), 2046));
    // Many equal terms: a carry at nearly every step.
    for (int k = 0; k < 100000; ++k) sum.add(greatest, greatest);
    CHECK(sum.take() == dyadic(greatest) * dyadic(greatest) * dyadic::whole(100000));
    const double ones = 0x1.fffffffffffffp52;
    for (int k = 0; k < 100000; ++k) sum.add(-ones, ones);
    CHECK(sum.take() == -(dyadic(ones) * dyadic(ones) * dyadic::whole(100000)));
}
