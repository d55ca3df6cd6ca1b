// SPDX-License-Identifier: BSL-1.0
// ReLU, exactly; GELU in its three forms: how far apart they are, where GELU is least, and where its slope is greatest.

#include "identity.hpp"
#include "printed.hpp"
#include "settle.hpp"

#include "attest/arithmetic/dual.hpp"
#include "attest/arithmetic/interval.hpp"
#include "attest/arithmetic/rational.hpp"
#include "attest/formula/activation.hpp"
#include "attest/gradient/activation.hpp"

#include <bit>
#include <cstdint>

namespace attest::proofs {
namespace {

// [A104]
// A104: ReLU(x) = x for x > 0, else 0; element by element.
struct components : axis<5> {};
static_assert(relu(tensor<int, components>{-7, -1, 0, 1, 7}) == tensor<int, components>{0, 0, 0, 1, 7});

// What follows from it, at every integer from −500 to 500.
template <class Law>
constexpr bool at_each(const Law& law) {
    for (int x = -500; x <= 500; ++x)
        if (!law(x)) return false;
    return true;
}
static_assert(at_each([](int x) { return relu(x) - relu(-x) == x && relu(x) * relu(-x) == 0; }));
static_assert(at_each([](int x) { return relu(relu(x)) == relu(x) && relu(3 * x) == 3 * relu(x); }));
// It is not linear: that is what it is for (A097).
static_assert(relu(1) + relu(-1) != relu(1 + -1));
// −0 is not below 0, and stays as it is; its slope is +0.
static_assert(std::bit_cast<std::uint64_t>(relu(-0.0)) == std::bit_cast<std::uint64_t>(-0.0) &&
              std::bit_cast<std::uint64_t>(step(-0.0)) == 0);
// Its slope, 0 at 0, in every arithmetic.
static_assert(step(0.5) == 1 && step(0.0) == 0 && step(-0.5) == 0 && surely(step(interval::ratio(1, 2)) == 1) &&
              surely(step(interval(-1)) == 0));
// [/A104]

// [slope]
// At 0 it has no slope: the difference quotients from the right and from the left are 1 and 0, however small the step.
constexpr double from_the_right = (relu(0x1p-1000) - relu(0.0)) / 0x1p-1000;
constexpr double from_the_left = (relu(0.0) - relu(-0x1p-1000)) / 0x1p-1000;
static_assert(from_the_right == 1 && from_the_left == 0);
// [/slope]

const entry A104 = settle("A104", holds([] { return at_each([](int x) { return relu(x) == (x > 0 ? x : 0); }); }), holds([] {
    constexpr interval positive = hull(interval(0), interval(1000)), rest = hull(interval(-1000), interval(0));
    constexpr interval values = relu(positive); // of all of them at once
    return contains(positive, values) && contains(values, positive) && surely(relu(rest) == 0);
}), holds([] { // slope 1 wherever x > 0, so that ReLU(x) − x is constant there, and 0 at the integers; below 0 slope 0
    constexpr interval positive = hull(interval::power_of_two(-100), interval(1000)), negative = -positive;
    return surely(relu(dual<interval>(positive, 1)).derivative() == 1) && surely(relu(dual<interval>(negative, 1)).derivative() == 0);
}), holds([] { return from_the_right != from_the_left; }));

// [A105]
// Every form of GELU is 0 at 0, with slope 1/2, and these are exact in double.
constexpr gelu_form forms[] = {gelu_form::erf, gelu_form::tanh, gelu_form::sigmoid};
constexpr bool same_at_zero = [] {
    for (const gelu_form form : forms) {
        const dual<double> at_zero = gelu(dual<double>(0, 1), form);
        if (at_zero.value() != 0 || at_zero.derivative() != 0.5 || gelu_slope(0.0, form) != 0.5) return false;
    }
    return true;
}();
static_assert(same_at_zero);
// Elsewhere they are three functions.
constexpr interval by_erf = gelu(interval(1)), by_tanh = gelu(interval(1), gelu_form::tanh);
constexpr interval by_sigmoid = gelu(interval(1), gelu_form::sigmoid);
static_assert(rounds_to(by_erf, "0.84134") && rounds_to(by_tanh, "0.84119") && rounds_to(by_sigmoid, "0.84580"));
static_assert(rounds_to(by_erf - gelu(interval(-1)), "1.0000000000"));

// Element by element; the erf form, unless told.
static_assert(identity(1, [](draw& at) {
    const auto x = at.vector<axis<2>>();
    const auto X = at.matrix<axis<1>, axis<2>>();
    return agree(gelu(x), tensor<field, axis<2>>{gelu(x(0)), gelu(x(1), gelu_form::erf)}) & agree(gelu(X)(0, 1), gelu(X(0, 1))) &
           agree(gelu(x, gelu_form::tanh)(1), gelu(x(1), gelu_form::tanh));
}));

// How far a form is from x Φ(x), and the slope of that.
constexpr interval distance(const interval& x, gelu_form form) { return gelu(x) - gelu(x, form); }
constexpr interval slope_of_distance(const interval& x, gelu_form form) { return gelu_slope(x) - gelu_slope(x, form); }
// A slope has opposite signs half a unit of the last printed digit below and above: there is an extremum, and `printed` is its
// right rounding to that many places.
template <class Slope> constexpr bool turns_at(std::string_view printed, std::size_t places, const Slope& slope) {
    const auto [digits, unit] = printed_decimal<interval::integer>::read(printed);
    const interval x = interval::decimal(printed), half = interval(1) / (2 * static_cast<long long>(unit));
    return places_of(printed) == places && well_spelled(printed) && surely(slope(x - half) * slope(x + half) < 0);
}
// GELU″ = (2 − x²) φ(x).
constexpr agreement second_derivative_is_right(draw& at) {
    const field x = at.number();
    const field density = attest::exp(-(x * x) / 2) / attest::sqrt(2 * field::pi());
    return agree(gelu(dual<field>(x, 1)).derivative(), gelu_slope(x)) &
           agree(gelu_slope(dual<field>(x, 1)).derivative(), (2 - x * x) * density);
}
const entry A105 = settle("A105", fails_as_printed([] {
    return surely(by_erf != by_tanh) && surely(by_erf != by_sigmoid) && surely(by_tanh != by_sigmoid);
}), holds_corrected([](const claim& c) { // GELU(x) − GELU(−x) = x, since erf(u) + erf(−u) = 0
    return identity(c.points_with_exp(), [](draw& at) {
        const field x = at.number(), u = x / attest::sqrt(field(2));
        return agree(gelu(x) - gelu(-x), x + x * (attest::erf(u) + attest::erf(-u)) / 2);
    });
}), holds_corrected([](const claim& c) {
    const interval x = interval::decimal(c.number(1));
    const auto slope = [](const interval& at) { return slope_of_distance(at, gelu_form::tanh); };
    return prints(-distance(x, gelu_form::tanh), c.number(0), 8) && turns_at(c.number(1), 5, slope);
}), holds_corrected([](const claim& c) {
    const interval x = interval::decimal(c.number(3));
    const auto slope = [](const interval& at) { return slope_of_distance(at, gelu_form::sigmoid); };
    return prints(distance(x, gelu_form::sigmoid), c.number(2), 6) && turns_at(c.number(3), 5, slope);
}), holds_corrected([](const claim& c) { return identity(c.points_with_exp(), second_derivative_is_right); }), holds_corrected([](const claim& c) {
    // Below −√2 the slope falls from 0, and so is negative; from −√2 to √2 it grows, through 0 once; above, GELU is positive.
    return prints(gelu(interval::decimal(c.number(5))), c.number(4), 7) &&
           turns_at(c.number(5), 7, [](const interval& x) { return gelu_slope(x); });
}), holds_corrected([](const claim& c) { // from √2 on it falls again
    return prints(gelu_slope(attest::sqrt(interval(2))), c.number(6), 6) &&
           c.value_reads("tanh form off by # at |x| = #; sigmoid form off by # at |x| = #; minimum # at #; greatest slope # at √2");
}));
// [/A105]

} // namespace

// An arithmetic that brings its own 1 + erf and 1 + tanh, which need not cancel, is asked for these.
struct with_tails {
    field x;
    constexpr with_tails(int i) : x{i} {}          // NOLINT(google-explicit-constructor)
    constexpr with_tails(const field& f) : x{f} {} // NOLINT(google-explicit-constructor)
    friend constexpr with_tails operator-(const with_tails& a) { return -a.x; }
    friend constexpr with_tails operator+(const with_tails& a, const with_tails& b) { return a.x + b.x; }
    friend constexpr with_tails operator-(const with_tails& a, const with_tails& b) { return a.x - b.x; }
    friend constexpr with_tails operator*(const with_tails& a, const with_tails& b) { return a.x * b.x; }
    friend constexpr with_tails operator/(const with_tails& a, const with_tails& b) { return a.x / b.x; }
    friend constexpr with_tails attest_sqrt(const with_tails& a) { return attest::sqrt(a.x); }
    friend constexpr with_tails attest_erf(const with_tails&) { return 0; } // not asked for
    friend constexpr with_tails attest_tanh(const with_tails&) { return 0; }
    friend constexpr with_tails attest_one_plus_erf(const with_tails& u) { return 1 + attest::erf(u.x); }
    friend constexpr with_tails attest_one_plus_tanh(const with_tails& u) { return 1 + attest::tanh(u.x); }
    static constexpr with_tails pi() { return field::pi(); }
};
static_assert(identity(1, [](draw& at) {
    const field x = at.number();
    return agree(gelu(with_tails(x)).x, gelu(x)) & agree(gelu(with_tails(x), gelu_form::tanh).x, gelu(x, gelu_form::tanh));
}));

} // namespace attest::proofs
