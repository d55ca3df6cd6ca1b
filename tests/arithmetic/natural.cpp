// SPDX-License-Identifier: BSL-1.0
// The natural numbers of the series' inner loops, judged by the integers that they stand for.

#include "attest/arithmetic/natural.hpp"

#include "attest/arithmetic/fixed_point.hpp"
#include "catch.hpp"

#include <cstdint>
#include <random>

namespace fixed = attest::fixed_point;
using integer = fixed::integer<512>;
using natural = fixed::natural<integer>;

namespace {

class dice {
public:
    // A random integer with a random number of bits, at most `bits`; often with limbs that are all ones or all zeros.
    integer below_power(unsigned bits) {
        integer result = 0;
        for (int i = 0; i < 8; ++i) {
            const auto limb = engine_() % 4 == 0 ? std::uint64_t{0} - engine_() % 2 : engine_();
            result = result * (integer(1) << 64) + integer(limb >> (i == 0 ? 1 : 0));
        }
        return result >> static_cast<unsigned>(511 - engine_() % (bits + 1));
    }
    unsigned small() { return static_cast<unsigned>(engine_() >> (32 + engine_() % 31)) + 1; }

private:
    std::mt19937_64 engine_{1409'0473};
};

template <unsigned W>
integer product(const integer& a, const integer& b) {
    natural result(a);
    result.multiply_and_shift<W>(natural(b));
    return integer(result);
}
template <unsigned W>
void check_product(const integer& a, const integer& b) {
    INFO("a = " << a << ", b = " << b << ", W = " << W);
    CHECK(product<W>(a, b) == integer(a * b) >> W);
}

} // namespace

TEST_CASE("sums, quotients and shifted products are those of the integers") {
    dice d;
    for (int i = 0; i < 5000; ++i) {
        const integer a = d.below_power(510), b = d.below_power(510);
        const unsigned n = d.small();
        INFO("a = " << a << ", b = " << b << ", n = " << n);
        CHECK(integer(natural(a)) == a);
        CHECK(natural(a).is_zero() == (a == 0));
        natural sum(a);
        sum += natural(b);
        CHECK(integer(sum) == a + b);
        natural quotient(a);
        quotient /= n;
        CHECK(integer(quotient) == fixed::floor_quotient(a, integer(n)));
    }
    for (int i = 0; i < 1000; ++i) {
        const integer a = d.below_power(300), b = d.below_power(200);
        check_product<0>(a, b);
        check_product<1>(a, b);
        check_product<63>(a, b);
        check_product<64>(a, b);
        check_product<131>(a, b);
        check_product<192>(a, b);
        check_product<600>(d.below_power(200), b);
    }
}

TEST_CASE("results can go on being used") {
    dice d;
    for (int i = 0; i < 1000; ++i) {
        // A long number becomes a short one and then a longer one: nothing of the first is left.
        const integer a = d.below_power(500), b = d.below_power(100);
        INFO("a = " << a << ", b = " << b);
        natural n(a);
        n /= 4'000'000'000U;
        n.multiply_and_shift<500>(natural(b));
        const integer left = fixed::floor_quotient(a, integer(4'000'000'000U));
        const auto expected = integer(fixed::integer<1024>(left) * fixed::integer<1024>(b) >> 500);
        CHECK(integer(n) == expected);
        n += natural(a);
        CHECK(integer(n) == expected + a);
    }
}

TEST_CASE("a natural number is not negative, and what does not fit throws") {
    const integer greatest = (integer(1) << 511) + ((integer(1) << 511) - 1);
    CHECK_THROWS_AS(natural(integer(-1)), std::overflow_error);
    CHECK(integer(natural(greatest)) == greatest);
    natural sum(greatest);
    CHECK_THROWS_AS(sum += natural(integer(1)), std::overflow_error);
    natural product(greatest);
    CHECK_THROWS_AS(product.multiply_and_shift<0>(natural(integer(2))), std::overflow_error);
    natural fits(greatest);
    CHECK_NOTHROW(fits.multiply_and_shift<1>(natural(integer(2))));
    CHECK(integer(fits) == greatest);
}

// In a constant expression too.
constexpr bool works_in_constant_expressions() {
    natural n(integer(integer(1) << 200));
    n /= 3;
    natural twice = n;
    twice += n;
    twice.multiply_and_shift<1>(natural(integer(3)));
    return integer(twice) == integer(n) * 3;
}
static_assert(works_in_constant_expressions());
