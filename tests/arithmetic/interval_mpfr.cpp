// SPDX-License-Identifier: BSL-1.0
// Every operation and function of intervals against MPFR, which is another library and another algorithm, and rounds
// correctly: on random intervals and points of every magnitude, the value at a point inside must be inside the result. And
// the result must be narrow: at most a few units wider than the values themselves.

#include "attest/arithmetic/interval.hpp"

#include "catch.hpp"

#if __has_include(<mpfr.h>) && __has_include(<gmp.h>)

#include <cstdint>
#include <mpfr.h>
#include <random>
#include <string>

using attest::interval;
using units = interval::integer;

namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int rounds = 3000;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(memory_sanitizer) || __has_feature(thread_sanitizer)
constexpr int rounds = 3000;
#else
constexpr int rounds = 100'000;
#endif
#else
constexpr int rounds = 100'000;
#endif

class whole {
public:
    explicit whole(const units& n) {
        mpz_init(value_);
        const auto& limbs = n.backend();
        mpz_import(value_, limbs.size(), -1, sizeof(*limbs.limbs()), 0, 0, limbs.limbs());
        if (limbs.sign()) mpz_neg(value_, value_);
    }
    whole(const whole&) = delete;
    whole& operator=(const whole&) = delete;
    ~whole() { mpz_clear(value_); }
    [[nodiscard]] mpz_srcptr get() const { return value_; }

private:
    mpz_t value_;
};

class number {
public:
    explicit number(mpfr_prec_t bits) { mpfr_init2(value_, bits); }
    number(const number&) = delete;
    number& operator=(const number&) = delete;
    ~number() { mpfr_clear(value_); }
    [[nodiscard]] mpfr_ptr get() { return value_; }
    [[nodiscard]] mpfr_srcptr get() const { return value_; }
    // Exactly n · 2^−128: an argument has as many bits as any interval's end.
    void set(const units& n) { mpfr_set_z_2exp(value_, whole(n).get(), -128, MPFR_RNDN); }
    // Of a number that is not negative.
    [[nodiscard]] units floor() const {
        mpz_t floor;
        mpz_init(floor);
        mpfr_get_z(floor, value_, MPFR_RNDD);
        std::uint64_t limbs[8] = {};
        mpz_export(limbs, nullptr, -1, sizeof(limbs[0]), 0, 0, floor);
        mpz_clear(floor);
        units result = 0;
        for (int i = 7; i >= 0; --i) result = result * (units(1) << 64) + units(limbs[i]);
        return result;
    }

private:
    mpfr_t value_;
};
constexpr mpfr_prec_t bits_of_argument = 512;
// Of values in [−1, 1] 200 bits are 72 more than an interval has.
constexpr mpfr_prec_t bits_of_value = 400, bits_of_small_value = 200;

// The true value, in units of 2^−128, between two neighbours of so many bits; both are the value itself if it is one of them.
class enclosed {
public:
    // `compute(result, rounding)` is a function of MPFR: rounded correctly, and telling whether it is exact.
    template <class F>
    enclosed(const F& compute, mpfr_prec_t bits) : down_{bits}, up_{bits} {
        const int inexact = compute(down_.get(), MPFR_RNDD);
        mpfr_mul_2si(down_.get(), down_.get(), 128, MPFR_RNDN); // exact
        mpfr_set(up_.get(), down_.get(), MPFR_RNDN);
        if (inexact != 0) mpfr_nextabove(up_.get());
    }
    [[nodiscard]] bool is_inside(const interval& x) const {
        return mpfr_cmp_z(down_.get(), whole(x.lower_units()).get()) >= 0 &&
               mpfr_cmp_z(up_.get(), whole(x.upper_units()).get()) <= 0;
    }
    [[nodiscard]] const number& down() const { return down_; }
    [[nodiscard]] const number& up() const { return up_; }

private:
    number down_, up_;
};

std::string show(const units& n) { return n.str() + " units"; }
std::string show(const interval& x) { return '[' + show(x.lower_units()) + ", " + show(x.upper_units()) + ']'; }

units width_in_units(const interval& x) { return x.upper_units() - x.lower_units(); }

// Numbers of a random number of bits, from one unit on: tiny, near 0, moderate and large ones are equally likely.
class dice {
public:
    int below(int n) { return static_cast<int>(engine_() % static_cast<unsigned>(n)); }
    units magnitude(int max_bits) { // below 2^max_bits
        units result = 0;
        for (int i = 0; i < 6; ++i) result = result * (units(1) << 64) + units(engine_());
        return result >> static_cast<unsigned>(384 - below(128 + max_bits + 1));
    }
    units signed_number(int max_bits) { return below(2) == 0 ? magnitude(max_bits) : -magnitude(max_bits); }
    units evenly(int max_bits) { // nearly all of them large
        units result = 0;
        for (int i = 0; i < 6; ++i) result = result * (units(1) << 64) + units(engine_());
        result >>= static_cast<unsigned>(384 - 128 - max_bits);
        return below(2) == 0 ? result : -result;
    }
    // Half of them points; the others as wide as numbers are large, with no end beyond 2^max_bits.
    interval from(const units& lower, int max_bits) {
        if (below(2) == 0) return interval::of_units(lower, lower);
        const units limit = (units(1) << static_cast<unsigned>(128 + max_bits)) - 1;
        const units upper = lower + magnitude(below(2) == 0 ? max_bits : -100);
        return interval::of_units(lower, upper < limit ? upper : limit);
    }
    interval any(int max_bits) { return from(signed_number(max_bits), max_bits); }
    interval positive(int max_bits) { return from(magnitude(max_bits - 1) + 1, max_bits); }
    units inside(const interval& x) {
        switch (below(4)) {
        case 0: return x.lower_units();
        case 1: return x.upper_units();
        default: return x.lower_units() + magnitude(250) % (width_in_units(x) + 1);
        }
    }
    // The multiples of π/2, with up to 63 bits, and units beside them.
    interval near_quarter_turn() {
        number product(bits_of_argument);
        mpfr_const_pi(product.get(), MPFR_RNDN);
        mpfr_mul_ui(product.get(), product.get(), engine_() >> (1 + below(63)), MPFR_RNDN);
        mpfr_mul_2si(product.get(), product.get(), 127, MPFR_RNDN);
        const units multiple = product.floor() + below(6) - 3;
        return from(below(2) == 0 ? multiple : units(-multiple), 64);
    }

private:
    std::mt19937_64 engine_{1802'04621};
};

// What went wrong first, or nothing.
class verdict {
public:
    template <class... Operands>
    void require(bool holds, const char* what, const interval& result, const Operands&... operands) {
        if (holds || !first_.empty()) return;
        first_ = std::string(what) + ": " + show(result) + " of";
        ((first_ += ' ' + show(operands)), ...);
    }
    [[nodiscard]] const std::string& first() const { return first_; }

private:
    std::string first_;
};

using unary = int (*)(mpfr_ptr, mpfr_srcptr, mpfr_rnd_t);
using binary = int (*)(mpfr_ptr, mpfr_srcptr, mpfr_srcptr, mpfr_rnd_t);

enclosed value_of(unary function, const units& x, mpfr_prec_t bits) {
    number argument(bits_of_argument);
    argument.set(x);
    return {[&](mpfr_ptr result, mpfr_rnd_t rounding) { return function(result, argument.get(), rounding); }, bits};
}
enclosed value_of(binary operation, const units& x, const units& y) {
    number a(bits_of_argument), b(bits_of_argument);
    a.set(x);
    b.set(y);
    return {[&](mpfr_ptr result, mpfr_rnd_t rounding) { return operation(result, a.get(), b.get(), rounding); },
            bits_of_value};
}
// Is the lower end at most `allowed` below the value, or the upper end above it?
bool starts_near(const interval& result, const enclosed& least, const units& allowed) {
    return mpfr_cmp_z(least.up().get(), whole(result.lower_units() + allowed).get()) <= 0;
}
bool ends_near(const interval& result, const enclosed& greatest, const units& allowed) {
    return mpfr_cmp_z(greatest.down().get(), whole(result.upper_units() - allowed).get()) >= 0;
}

// An increasing function is least at the lower end and greatest at the upper one. `allowed(result)` is how far an end may be
// from there.
template <class Function, class Draw, class Allowed>
std::string judge_increasing(const Function& function, unary truth, const Draw& draw, const Allowed& allowed,
                             mpfr_prec_t bits = bits_of_value) {
    dice d;
    verdict seen;
    for (int i = 0; i < rounds; ++i) {
        const interval x = draw(d), result = function(x);
        const units at = d.inside(x), a_little = allowed(result);
        const enclosed least = value_of(truth, x.lower_units(), bits);
        seen.require(least.is_inside(result), "the value at the lower end is outside", result, x);
        seen.require(starts_near(result, least, a_little), "starts too low", result, x);
        if (x.is_point()) {
            seen.require(ends_near(result, least, a_little), "ends too high", result, x);
            continue;
        }
        const enclosed greatest = value_of(truth, x.upper_units(), bits);
        seen.require(greatest.is_inside(result), "the value at the upper end is outside", result, x);
        seen.require(ends_near(result, greatest, a_little), "ends too high", result, x);
        if (at != x.lower_units() && at != x.upper_units())
            seen.require(value_of(truth, at, bits).is_inside(result), "a value is outside", result, x, at);
    }
    return seen.first();
}
// The least and the greatest value are at ends.
template <class Operation, class Draw>
std::string judge_binary(const Operation& operation, binary truth, const Draw& draw) {
    dice d;
    verdict seen;
    for (int i = 0; i < rounds; ++i) {
        const auto [x, y] = draw(d);
        const interval result = operation(x, y);
        const units at_x = d.inside(x), at_y = d.inside(y);
        seen.require(value_of(truth, at_x, at_y).is_inside(result), "a value is outside", result, x, y, at_x, at_y);
        bool starts = false, ends = false;
        for (const units& a : {x.lower_units(), x.upper_units()})
            for (const units& b : {y.lower_units(), y.upper_units()}) {
                const enclosed value = value_of(truth, a, b);
                starts = starts || starts_near(result, value, 1);
                ends = ends || ends_near(result, value, 1);
            }
        seen.require(starts, "starts too low", result, x, y);
        seen.require(ends, "ends too high", result, x, y);
    }
    return seen.first();
}
// Sine and cosine: not wider than the operand, but for two roundings, and in [−1, 1].
template <class Function>
std::string judge_periodic(const Function& function, unary truth) {
    const interval whole_range = hull(interval(-1), 1);
    dice d;
    verdict seen;
    for (int i = 0; i < rounds; ++i) {
        const interval x = i % 3 == 0 ? d.near_quarter_turn() : i % 3 == 1 ? d.from(d.evenly(5), 64) : d.any(64);
        const interval result = function(x);
        const units at = d.inside(x);
        seen.require(value_of(truth, at, bits_of_small_value).is_inside(result), "a value is outside", result, x, at);
        seen.require(width_in_units(result) <= width_in_units(x) + 2, "is too wide", result, x);
        seen.require(contains(whole_range, result), "leaves [-1, 1]", result, x);
    }
    return seen.first();
}

const auto one_unit = [](const interval&) { return units(1); };
const auto two_units = [](const interval&) { return units(2); }; // a rounding, and a little of the series'
interval with_any_sign(dice& d, const interval& x) { return d.below(2) == 0 ? x : -x; }

} // namespace

TEST_CASE("sums, differences, products and quotients against MPFR") {
    struct operands {
        interval x, y;
    };
    const auto large = [](dice& d) { return operands{d.any(180), d.any(180)}; };
    const auto with_product = [](dice& d) { return operands{d.any(90), d.any(90)}; };
    const auto with_quotient = [](dice& d) { return operands{d.any(60), with_any_sign(d, d.positive(60))}; };
    CHECK(judge_binary([](const interval& x, const interval& y) { return x + y; }, mpfr_add, large) == "");
    CHECK(judge_binary([](const interval& x, const interval& y) { return x - y; }, mpfr_sub, large) == "");
    CHECK(judge_binary([](const interval& x, const interval& y) { return x * y; }, mpfr_mul, with_product) == "");
    CHECK(judge_binary([](const interval& x, const interval& y) { return x / y; }, mpfr_div, with_quotient) == "");
}

TEST_CASE("roots against MPFR") {
    const auto draw = [](dice& d) { return d.positive(180); };
    CHECK(judge_increasing([](const interval& x) { return attest_sqrt(x); }, mpfr_sqrt, draw, one_unit) == "");
}

TEST_CASE("exponentials against MPFR") {
    const auto draw = [](dice& d) { return d.below(2) == 0 ? d.any(7) : d.from(d.evenly(7), 7); };
    // The series is wide by less than 2000 units of 2^−192 · e^x, before a rounding.
    const auto allowed = [](const interval& result) { return units((result.upper_units() >> 53) + 2); };
    CHECK(judge_increasing([](const interval& x) { return attest_exp(x); }, mpfr_exp, draw, allowed) == "");
}

TEST_CASE("logarithms against MPFR") {
    const auto draw = [](dice& d) { return d.positive(180); };
    CHECK(judge_increasing([](const interval& x) { return attest_log(x); }, mpfr_log, draw, two_units) == "");
}

// Beyond ±16 both are near ±1, to the unit.
TEST_CASE("hyperbolic tangents against MPFR") {
    const auto draw = [](dice& d) { return d.below(2) == 0 ? d.any(100) : d.from(d.evenly(4), 4); };
    CHECK(judge_increasing([](const interval& x) { return attest_tanh(x); }, mpfr_tanh, draw, two_units, bits_of_small_value) == "");
}

TEST_CASE("error functions against MPFR") {
    const auto draw = [](dice& d) { return d.below(2) == 0 ? d.any(100) : d.from(d.evenly(4), 4); };
    CHECK(judge_increasing([](const interval& x) { return attest_erf(x); }, mpfr_erf, draw, two_units, bits_of_small_value) == "");
}

TEST_CASE("sines against MPFR") { CHECK(judge_periodic([](const interval& x) { return attest_sin(x); }, mpfr_sin) == ""); }

TEST_CASE("cosines against MPFR") { CHECK(judge_periodic([](const interval& x) { return attest_cos(x); }, mpfr_cos) == ""); }

#else

TEST_CASE("intervals against MPFR") { WARN("skipped: mpfr.h and gmp.h are not installed (libmpfr-dev)"); }

#endif
