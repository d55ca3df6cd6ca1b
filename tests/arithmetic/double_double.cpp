// SPDX-License-Identifier: BSL-1.0
#include "attest/arithmetic/double_double.hpp"
#include "attest/arithmetic/scalar.hpp"
#include "attest/elementary/sqrt.hpp"
#include "catch.hpp"

#include <boost/multiprecision/cpp_int.hpp>
#include <cstdint>
#include <random>
#include <type_traits>

using attest::double_double;

namespace {

static_assert(attest::scalar<double_double> && attest::has_sqrt<double_double> && std::is_trivially_copyable_v<double_double>);
static_assert(!std::is_convertible_v<double, double_double> && !std::is_convertible_v<double_double, double>);
static_assert(double_double(3).high == 3 && double_double(0.1).low == 0 && static_cast<double>(double_double(1, 0x1p-54)) == 1);
static_assert(double_double(0x1p53) + double_double(1) == double_double(0x1p53, 1), "sums work in constant expressions");
static_assert(double_double(1, 0x1p-60) > double_double(1) && double_double(2, -0x1p-60) < double_double(2));
static_assert(double_double(1, 0x1p-60) < double_double(2, -0x1p-60));

using integer = boost::multiprecision::cpp_int;
constexpr int unit = 1074;      // a double is an integer of units of 2^−1074, and so is a double_double: exactly
constexpr int error_unit = 160; // each of the relative bounds is one of units of 2^−160

integer units(double x, int u = unit) {
    if (x == 0) return 0;
    const auto [fraction, exponent] = attest::detail::split(std::fabs(x));
    const integer digits = static_cast<std::int64_t>(fraction * 0x1p52);
    const int shift = exponent - 52 + u;
    const integer size = shift >= 0 ? integer(digits << shift) : integer(digits >> -shift); // to the right: zeros, of a subnormal number
    return x < 0 ? integer(-size) : size;
}
integer units(const double_double& x) { return units(x.high) + units(x.low); }

// a/b, for b > 0.
double ratio(const integer& a, const integer& b) {
    const auto length = static_cast<int>(msb(b));
    const int down = std::max(0, length - 1000);
    return static_cast<double>(integer(a >> down)) / static_cast<double>(integer(b >> down));
}

// error/(relative · |exact| + absolute), all in one unit.
double of_bound(const integer& error, const integer& exact, double relative, const integer& absolute) {
    const integer bound = units(relative, error_unit) * abs(exact) + (absolute << error_unit);
    return error == 0 ? 0 : bound == 0 ? 1e300 : ratio(integer(abs(error)) << error_unit, bound);
}
double sum_ratio(const double_double& z, const double_double& a, const double_double& b) {
    const integer exact = units(a) + units(b);
    return of_bound(units(z) - exact, exact, double_double::sum_error, units(double_double::sum_error_absolute));
}
double product_ratio(const double_double& z, const double_double& a, const double_double& b) {
    const integer exact = units(a) * units(b); // in units of 2^−2148
    return of_bound((units(z) << unit) - exact, exact, double_double::product_error, units(double_double::product_error_absolute) << unit);
}
// Times |b|: zb − a.
double quotient_ratio(const double_double& z, const double_double& a, const double_double& b) {
    const integer divisor = units(b), exact = units(a) << unit;
    return of_bound(units(z) * divisor - exact, exact, double_double::quotient_error, units(double_double::quotient_error_absolute) * abs(divisor));
}
// |z − √a| <= ε√a follows from |z² − a| <= (2ε − ε²)a.
double root_ratio(const double_double& z, const double_double& a) {
    const integer exact = units(a) << unit, root = units(z);
    return of_bound(root * root - exact, exact, 2 * double_double::root_error * (1 - 0x1p-52), 0);
}

bool same(const double_double& a, const double_double& b) { return a.high == b.high && a.low == b.low; }
bool is_normal_form(const double_double& x) { return x.high + x.low == x.high; }

// Operands of all kinds, from the bits of the generator alone, so that they are the same everywhere.
class operands {
public:
    explicit operands(std::uint64_t seed) : bits_{seed} {}

    std::uint64_t below(std::uint64_t n) { return bits_() % n; }
    // A fraction in [1, 2): any, with few digits, next to 1, next to 2, next to what its square or inverse makes a midpoint.
    double fraction() {
        const auto any = static_cast<double>(bits_() >> 12) * 0x1p-52;
        switch (below(8)) {
        case 0: return 1 + static_cast<double>(below(16)) * 0x1p-52;
        case 1: return 2 - static_cast<double>(1 + below(16)) * 0x1p-52;
        case 2: return 1 + static_cast<double>(below(64)) * 0x1p-6;
        case 3: return 1 + any * 0x1p-26;
        case 4: return 0x1.6a09e667f3bcdp0 + static_cast<double>(below(16)) * 0x1p-52;
        default: return 1 + any;
        }
    }
    // high, and a low part from half a unit in its last place down to nothing.
    double_double with_low(double high) {
        double low = attest::detail::times_power_of_two(fraction() / 2, attest::detail::split(std::fabs(high)).exponent - 53);
        switch (below(6)) {
        case 0: low = 0; break;
        case 1: low = attest::detail::times_power_of_two(low, -static_cast<int>(below(60))); break;
        case 2: low = attest::detail::times_power_of_two(low, -static_cast<int>(below(900))); break;
        default: break;
        }
        if (below(2) == 0) low = -low;
        while (high + low != high) low /= 2;
        return {high, low};
    }
    double_double of_exponent(int exponent) {
        const double high = attest::detail::times_power_of_two(below(2) == 0 ? fraction() : -fraction(), exponent);
        return high == 0 ? double_double() : with_low(high);
    }
    // Exponents near each other, anywhere, near the ends of the range.
    double_double any() {
        switch (below(8)) {
        case 0: return of_exponent(static_cast<int>(below(2098)) - 1074);
        case 1: return of_exponent(-1074 + static_cast<int>(below(120)));
        case 2: return of_exponent(1023 - static_cast<int>(below(3)));
        case 3: return of_exponent(static_cast<int>(below(120)) - 60);
        default: return of_exponent(static_cast<int>(below(6)) - 3);
        }
    }
    // Next to −a, so that a sum cancels: in high, in both, to the last digits.
    double_double nearly_minus(const double_double& a) {
        switch (below(4)) {
        case 0: return with_low(-a.high);
        case 1: return with_low(std::nextafter(-a.high, below(2) == 0 ? 0.0 : -2 * a.high));
        case 2: return double_double(-a.high, -a.low) + double_double(attest::detail::times_power_of_two(a.low, -static_cast<int>(below(60))));
        default: return double_double(-a.high, below(2) == 0 ? a.low : -a.low / 2);
        }
    }

private:
    std::mt19937_64 bits_;
};

constexpr int pairs = 120000;

struct greatest_ratio {
    double value = 0;
    double_double a, b, z;
    void see(double ratio, const double_double& x, const double_double& y, const double_double& result) {
        if (!(ratio <= value)) *this = {ratio, x, y, result};
    }
};

// Runs op on pairs and holds each finite result against its bound; below 2^1022 (the size as `size` gives it) none may overflow.
template <class Op, class Ratio, class Size> greatest_ratio hold(std::uint64_t seed, bool cancelling, const Op& op, const Ratio& of, const Size& size) {
    operands draw(seed);
    greatest_ratio greatest;
    int overflows = 0;
    for (int i = 0; i < pairs; ++i) {
        const double_double a = draw.any();
        const double_double b = cancelling && i % 3 == 0 && a.is_finite() ? draw.nearly_minus(a) : draw.any();
        if (!a.is_finite() || !b.is_finite()) continue;
        const double_double z = op(a, b);
        if (!z.is_finite()) {
            ++overflows;
            if (!(size(a, b) >= 0x1p1022)) {
                CAPTURE(a.high, a.low, b.high, b.low);
                FAIL("a result that exists is not finite");
            }
            continue;
        }
        if (!is_normal_form(z)) {
            CAPTURE(a.high, a.low, b.high, b.low, z.high, z.low);
            FAIL("not the sum of a double and what its rounding lost");
        }
        greatest.see(of(z, a, b), a, b, z);
    }
    CHECK(overflows > 0);
    CHECK(overflows < pairs / 5);
    return greatest;
}

#define CHECK_RATIO(found, least)                                                                                                                 \
    CAPTURE(found.value, found.a.high, found.a.low, found.b.high, found.b.low, found.z.high, found.z.low);                                         \
    CHECK(found.value <= 1);                                                                                                                      \
    CHECK(found.value > least) // the bound is not idle, and the measure sees errors

} // namespace

TEST_CASE("sums are off by no more than their bound, whatever cancels", "[double_double]") {
    const auto found = hold(
        1, true, [](const auto& a, const auto& b) { return a + b; }, sum_ratio,
        [](const auto& a, const auto& b) { return std::fabs(a.high / 2 + b.high / 2); });
    CHECK_RATIO(found, 0.6);
}

TEST_CASE("products are off by no more than their bound, with and without underflow", "[double_double]") {
    const auto found = hold(
        2, false, [](const auto& a, const auto& b) { return a * b; }, product_ratio,
        [](const auto& a, const auto& b) { return std::fabs(a.high * b.high); });
    CHECK_RATIO(found, 0.5);
}

TEST_CASE("quotients are off by no more than their bound, with and without underflow", "[double_double]") {
    const auto found = hold(
        3, false, [](const auto& a, const auto& b) { return b.high == 0 ? double_double() : a / b; },
        [](const auto& z, const auto& a, const auto& b) { return b.high == 0 ? 0 : quotient_ratio(z, a, b); },
        [](const auto& a, const auto& b) { return std::fabs(a.high / b.high); });
    CHECK_RATIO(found, 0.3);
}

TEST_CASE("the bound of quotients holds alone where quotient_holds says so", "[double_double]") {
    operands draw(30);
    int held = 0, not_held = 0;
    for (int i = 0; i < pairs / 4; ++i) {
        const double_double a = draw.any(), b = draw.any(), z = a / b;
        if (!double_double::quotient_holds(a, b)) {
            ++not_held;
            continue;
        }
        if (!z.is_finite()) continue;
        ++held;
        const integer divisor = units(b), exact = units(a) << unit;
        if (!(of_bound(units(z) * divisor - exact, exact, double_double::quotient_error, 0) <= 1)) {
            CAPTURE(a.high, a.low, b.high, b.low, z.high, z.low);
            FAIL("the relative bound does not hold");
        }
    }
    CHECK(held > pairs / 8);
    CHECK(not_held > 0);
    const double_double zero, infinite(attest::detail::infinity_of_double);
    CHECK(double_double::quotient_holds(zero, double_double(3)));
    CHECK_FALSE(double_double::quotient_holds(double_double(3), zero));
    CHECK_FALSE(double_double::quotient_holds(double_double(3), infinite));
    CHECK_FALSE(double_double::quotient_holds(double_double(0x1p-1000), double_double(3)));
}

TEST_CASE("roots are off by no more than their bound", "[double_double]") {
    operands draw(4);
    greatest_ratio greatest;
    for (int i = 0; i < pairs; ++i) {
        const double_double a = abs(draw.any());
        if (!a.is_finite()) continue;
        const double_double z = attest::sqrt(a);
        if (!(z.is_finite() && is_normal_form(z) && double_double::root_holds(a))) {
            CAPTURE(a.high, a.low, z.high, z.low);
            FAIL("a root that exists is not finite, or not in normal form");
        }
        greatest.see(root_ratio(z, a), a, {}, z);
    }
    CHECK_RATIO(greatest, 0.4);
    CHECK_FALSE(double_double::root_holds(double_double(-1)));
    CHECK_FALSE(double_double::root_holds(double_double(attest::detail::infinity_of_double)));
}

TEST_CASE("where the result has two parts it is exact", "[double_double]") {
    operands draw(5);
    for (int i = 0; i < pairs; ++i) {
        const double_double a = draw.of_exponent(static_cast<int>(draw.below(40)) - 20), b = draw.of_exponent(static_cast<int>(draw.below(40)) - 20);
        const double_double x(a.high), y(b.high), one(1), zero(0);
        const bool exact = sum_ratio(x + y, x, y) == 0 && product_ratio(x * y, x, y) == 0 && same(x * y / y, x) && same(a - a, zero) && //
                           same(a + zero, a) && same(a * one, a) && same(a / one, a) && same(a / a, one) && same(a * zero, zero) &&       //
                           same(zero / a, zero) && same(a + a, ldexp(a, 1)) && same(ldexp(ldexp(a, 700), -700), a) &&                     //
                           same(attest::sqrt(x * x), abs(x)) && same(attest::sqrt(ldexp(x * x, -800)), ldexp(abs(x), -400));
        // Scaling changes no bit as long as nothing underflows.
        const auto without_tiny = [](const double_double& c) { return std::fabs(c.low) < 0x1p-200 ? double_double(c.high) : c; };
        const double_double c = without_tiny(a), d = without_tiny(b);
        const bool lawful = same(a + b, b + a) && same(-(a + b), -a - b) && same(-a * b, -(a * b)) && same(-a / b, -(a / b)) && //
                            same(ldexp(c * d, -300), ldexp(c, 170) * ldexp(d, -470)) && same(ldexp(c / d, -750), ldexp(c, -250) / ldexp(d, 500));
        if (!exact || !lawful) {
            CAPTURE(a.high, a.low, b.high, b.low, exact, lawful);
            FAIL("an identity is broken");
        }
    }
}

TEST_CASE("comparisons are those of the exact values", "[double_double]") {
    operands draw(6);
    int wrong = 0;
    for (int i = 0; i < 20000; ++i) {
        const double_double a = draw.any(), b = i % 2 == 0 ? draw.any() : -draw.nearly_minus(a);
        if (!a.is_finite() || !b.is_finite()) continue;
        const integer x = units(a), y = units(b);
        if ((a < b) != (x < y) || (a == b) != (x == y) || (a > b) != (x > y) || (a <= b) != (x <= y) || (a >= b) != (x >= y)) ++wrong;
    }
    CHECK(wrong == 0);
    const double_double nan(std::numeric_limits<double>::quiet_NaN());
    CHECK_FALSE(nan == nan);
    CHECK_FALSE(nan < double_double(1));
    CHECK_FALSE(nan > double_double(1));
}

TEST_CASE("what overflows, and what has no value, is never a finite number", "[double_double]") {
    const double greatest = std::numeric_limits<double>::max();
    const double_double big(greatest, 0x1p969), one(1), zero(0), tiny(0x1p-1074);
    const double_double infinite(attest::detail::infinity_of_double), nan(std::numeric_limits<double>::quiet_NaN());
    for (const double_double& z : {big + big, big * big, big * double_double(-2), big / double_double(0.5), big / tiny, one / tiny, ldexp(big, 1),
                                   one / zero, zero / zero, attest::sqrt(-one), ldexp(one, 1 << 30)})
        CHECK_FALSE(z.is_finite());
    for (const double_double& x : {infinite, -infinite, nan})
        for (const double_double& y : {one, -one, zero, big, tiny, infinite, nan}) {
            for (const double_double& z : {x + y, y + x, x - y, y - x, x * y, y * x, x / y, y / x, attest::sqrt(x), ldexp(x, -3000), -x, abs(x)})
                CHECK_FALSE(z.is_finite());
        }
    CHECK((big - big).high == 0);
    CHECK(same(big / big, one));
    CHECK(same(attest::sqrt(zero), zero));
    CHECK(same(ldexp(one, -(1 << 30)), zero));
    CHECK(same(ldexp(double_double(3, 0x1p-60), -1074), double_double(3 * 0x1p-1074)));
}

TEST_CASE("the same bits on every compiler, at every level of optimisation, with contraction and without", "[double_double]") {
    operands draw(7);
    std::uint64_t hash = 0xcbf29ce484222325ULL; // FNV-1a, over words
    const auto take = [&](const double_double& x) {
        for (const double part : {x.high, x.low}) {
            // One NaN, one zero.
            const double canonical = part != part ? std::numeric_limits<double>::quiet_NaN() : part == 0 ? 0 : part;
            hash = (hash ^ (canonical != canonical ? 1 : std::bit_cast<std::uint64_t>(canonical))) * 0x100000001b3ULL;
        }
    };
    for (int i = 0; i < 100000; ++i) {
        const double_double a = draw.any(), b = i % 3 == 0 ? draw.nearly_minus(a) : draw.any();
        take(a + b);
        take(a * b);
        take(a / b);
        take(attest::sqrt(abs(a)));
        take(a * b + a / b);
        take(ldexp(a, -900) * b + ldexp(b, -1000));
    }
    CAPTURE(hash);
    CHECK(hash == 0x099bb7f5dede528cULL);
}
