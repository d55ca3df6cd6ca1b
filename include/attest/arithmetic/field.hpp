// SPDX-License-Identifier: BSL-1.0
/// \file
/// `field`: formulas evaluated in a finite field, to test identities between them for all inputs at once.
///
/// Two formulas that are one function have equal values at every point, also at a random one; two that are not differ almost everywhere. So a test that
/// fails *disproves* the identity. One that passes proves it but for a small probability: without `exp`, two different rational functions whose
/// difference has a numerator of degree D agree at a random point with probability at most D/p (Schwartz, Zippel); with `exp` the bound rests on an
/// assumption (arXiv 2506.04529; such tests of tensor programs: arXiv 2405.05751). Such a result is called *identity (probabilistic)*.
///
/// A value has up to four parts, each the image of the same real term under another homomorphism:
///
/// | part | modulo | lost by | needed by |
/// |---|---|---|---|
/// | residue | p = 2305843009213690799 | | everything |
/// | exponent | q = (p − 1)/2 = 1152921504606845399 | `exp` | `exp`: g^exponent, where g generates the squares modulo p, a group of order q; g is arbitrary, as e is |
/// | logarithm | p and q | sums | `log`; what `exp` has made remembers what it was made of |
/// | angle | p + 1 and q + 1 | division and products of angles | `sin`, `cos`: points of the two circle groups |
///
/// A function of a value that lost the part it needs throws (in a constant expression: does not compile), and so does a division by 0. There is no
/// order and no √−1: the root is the one that is itself a square; ReLU, its step, tanh and erf are opaque functions, seeded, without laws but for their
/// value 0 at 0, and with the derivative rules of `dual`. A difference between terms with opaque functions disproves what would have to hold for any function in
/// their place, not what holds for these ones (tanh is odd); one between terms with roots disproves what would have to hold for either sign of each root, not what
/// holds for positive ones alone (√((a + b)²) = a + b, √169 = 13). A root that does not exist makes the result undefined (`defined()`): then other points are
/// drawn.
#pragma once

#include "attest/arithmetic/modular.hpp"
#include "attest/arithmetic/scalar.hpp"

namespace attest {

/// A value lacks the part that a function needs, or a quotient does not exist.
class no_such_part : public std::exception {
public:
    explicit no_such_part(const char* sentence) noexcept : sentence_{sentence} {}
    [[nodiscard]] const char* what() const noexcept override { return sentence_; }

private:
    const char* sentence_;
};

class field {
public:
    using residue = modular::residue;
    static constexpr residue p = 2305843009213690799U;
    static constexpr residue q = 1152921504606845399U;

    constexpr field() = default;
    /// The image of an integer. A template, so that 0.3 does not become an int and then 0.
    template <std::same_as<int> I>
    constexpr field(I x) // NOLINT(google-explicit-constructor): as in every arithmetic
        : residue_{image(x, p)}, exponent_{image(x, q)}, turn_p_{image(x, p + 1)}, turn_q_{image(x, q + 1)} {}

    /// A free variable: number `index` of those drawn with `seed`.
    [[nodiscard]] static constexpr field indeterminate(std::uint64_t seed, std::uint64_t index) {
        field x;
        x.residue_ = modular::scrambled(seed, 2 * index, p);
        x.exponent_ = modular::scrambled(seed, 2 * index + 1, q);
        x.angle_ = angle::lost;
        return x;
    }
    /// π: a free variable, and a square, as every positive number is here.
    [[nodiscard]] static constexpr field pi() {
        const field root = indeterminate(0x3141592653589793U, 0);
        return root * root;
    }

    /// Whether every root on the way exists.
    [[nodiscard]] constexpr bool defined() const noexcept { return !undefined_; }
    /// Whether a root or an opaque function is on the way: then a difference says less (see above).
    [[nodiscard]] constexpr bool is_formal() const noexcept { return formal_; }
    /// Whether the value has not been through `exp`.
    [[nodiscard]] constexpr bool has_exponent() const noexcept { return !lost_exponent_; }

    friend constexpr field operator+(const field& a, const field& b) {
        field c = of_both(a, b);
        c.residue_ = modular::sum(a.residue_, b.residue_, p);
        c.exponent_ = !c.lost_exponent_ ? modular::sum(a.exponent_, b.exponent_, q) : 0;
        if (a.angle_ == angle::lost || b.angle_ == angle::lost) return c;
        if (a.angle_ == angle::of_integer && b.angle_ == angle::of_integer) {
            c.set_turns(angle::of_integer, modular::sum(a.turn_p_, b.turn_p_, p + 1), modular::sum(a.turn_q_, b.turn_q_, q + 1));
        } else {
            const field x = a.as_angle(), y = b.as_angle();
            c.set_turns(angle::known, modular::sum(x.turn_p_, y.turn_p_, p + 1), modular::sum(x.turn_q_, y.turn_q_, q + 1));
        }
        return c;
    }
    friend constexpr field operator-(const field& a) {
        field c = of_both(a, a);
        c.residue_ = modular::negative(a.residue_, p);
        c.exponent_ = modular::negative(a.exponent_, q);
        c.set_turns(a.angle_, modular::negative(a.turn_p_, p + 1), modular::negative(a.turn_q_, q + 1));
        return c;
    }
    friend constexpr field operator-(const field& a, const field& b) { return a + -b; }
    friend constexpr field operator*(const field& a, const field& b) {
        field c = of_both(a, b);
        c.residue_ = modular::product(a.residue_, b.residue_, p);
        c.exponent_ = !c.lost_exponent_ ? modular::product(a.exponent_, b.exponent_, q) : 0;
        if (a.has_log_ && b.has_log_) c.set_log(modular::sum(a.log_p_, b.log_p_, p), modular::sum(a.log_q_, b.log_q_, q));
        const bool one_is_integer = a.angle_ == angle::of_integer || b.angle_ == angle::of_integer;
        if (one_is_integer && a.angle_ != angle::lost && b.angle_ != angle::lost)
            c.set_turns(a.angle_ == b.angle_ ? angle::of_integer : angle::known, modular::product(a.turn_p_, b.turn_p_, p + 1),
                        modular::product(a.turn_q_, b.turn_q_, q + 1));
        return c;
    }
    friend constexpr field operator/(const field& a, const field& b) { return a * b.reciprocal(); }

    /// Equal in every part that both have. Throws no_such_part where a root did not exist: such points are to be drawn again.
    friend constexpr bool operator==(const field& a, const field& b) {
        if (a.undefined_ || b.undefined_) throw no_such_part("a root on the way to this value does not exist: draw other points");
        return a.residue_ == b.residue_ && (a.lost_exponent_ || b.lost_exponent_ || a.exponent_ == b.exponent_);
    }

    friend constexpr field attest_exp(const field& x) {
        if (x.lost_exponent_) throw no_such_part("the exponential of a value that has been through an exponential already");
        field y;
        y.undefined_ = x.undefined_;
        y.formal_ = x.formal_;
        y.lost_exponent_ = true;
        y.residue_ = modular::power(base, x.exponent_, p);
        y.set_log(x.residue_, x.exponent_);
        y.set_turns(angle::known, opaque(1, y.residue_, p + 1), opaque(2, y.residue_, q + 1)); // as an angle: free, but the same for the same number
        return y;
    }
    friend constexpr field attest_log(const field& x) {
        if (!x.has_log_) throw no_such_part("the logarithm of a value that is not known as an exponential: give it as exp(...)");
        field y;
        y.undefined_ = x.undefined_;
        y.formal_ = x.formal_;
        y.residue_ = x.log_p_;
        y.exponent_ = x.log_q_;
        y.angle_ = angle::lost;
        return y;
    }
    /// The root that is itself a square; undefined where there is none.
    friend constexpr field attest_sqrt(const field& x) {
        field y = of_both(x, x);
        const modular::root in_p = modular::square_root(x.residue_, p), in_q = modular::square_root(x.exponent_, q);
        y.residue_ = in_p.value;
        y.exponent_ = !x.lost_exponent_ ? in_q.value : 0;
        y.formal_ = true;
        y.undefined_ = x.undefined_ || !in_p.exists || (!x.lost_exponent_ && !in_q.exists);
        return y;
    }
    friend constexpr field attest_tanh(const field& x) { return x.through(3); }
    friend constexpr field attest_erf(const field& x) { return x.through(5); }
    friend constexpr field attest_relu(const field& x) { return x.through(7); }
    friend constexpr field attest_step(const field& x) { return x.through(9); }
    friend constexpr field attest_sin(const field& x) {
        const auto [in_p, in_q] = x.on_the_circles();
        return x.coordinate(in_p.sine, in_q.sine);
    }
    friend constexpr field attest_cos(const field& x) {
        const auto [in_p, in_q] = x.on_the_circles();
        return x.coordinate(in_p.cosine, in_q.cosine);
    }
    /// Any shift will do, so the worst is taken: one that has nothing to do with the scores.
    friend constexpr field attest_shift_point(const field& a, const field& b) {
        field c = of_both(a, b);
        c.residue_ = modular::scrambled(a.residue_, b.residue_, p);
        c.exponent_ = !c.lost_exponent_ ? modular::scrambled(a.exponent_, b.exponent_, q) : 0;
        return c;
    }

private:
    enum class angle : unsigned char { of_integer, known, lost };

    static constexpr residue image(int x, residue modulus) {
        const auto magnitude = static_cast<residue>(x < 0 ? -static_cast<std::int64_t>(x) : static_cast<std::int64_t>(x));
        return x < 0 ? modular::negative(magnitude, modulus) : magnitude;
    }
    // 0, to be filled in: defined and with an exponent if both operands are and have.
    static constexpr field of_both(const field& a, const field& b) {
        field c;
        c.undefined_ = a.undefined_ || b.undefined_;
        c.formal_ = a.formal_ || b.formal_;
        c.lost_exponent_ = a.lost_exponent_ || b.lost_exponent_;
        c.angle_ = angle::lost;
        return c;
    }
    constexpr void set_log(residue in_p, residue in_q) { has_log_ = true, log_p_ = in_p, log_q_ = in_q; }
    constexpr void set_turns(angle kind, residue in_p, residue in_q) { angle_ = kind, turn_p_ = in_p, turn_q_ = in_q; }

    // e^1: an arbitrary square, so that no whole number is its power. Every square but 1 generates the squares, whose number q is prime.
    static constexpr residue base = modular::product(0x0b7e151628aed2a7U, 0x0b7e151628aed2a7U, p);

    // An opaque function of one part, 0 at 0. The tags are no seeds of indeterminates.
    static constexpr residue opaque(residue tag, residue x, residue modulus) { return x == 0 ? 0 : modular::scrambled(0x6f70617175650000U + tag, x, modulus); }
    [[nodiscard]] constexpr field through(residue tag) const {
        field y = of_both(*this, *this);
        y.formal_ = true;
        y.residue_ = opaque(tag, residue_, p);
        y.exponent_ = !lost_exponent_ ? opaque(tag + 1, exponent_, q) : 0;
        return y;
    }

    [[nodiscard]] constexpr field reciprocal() const {
        field y = of_both(*this, *this);
        if (undefined_) return y;
        if (residue_ == 0 || (!lost_exponent_ && exponent_ == 0)) throw no_such_part("division by 0");
        y.residue_ = modular::inverse(residue_, p);
        y.exponent_ = !lost_exponent_ ? modular::inverse(exponent_, q) : 0;
        if (has_log_) { // 1/exp(x) = exp(-x)
            y.set_log(modular::negative(log_p_, p), modular::negative(log_q_, q));
            y.set_turns(angle::known, opaque(1, y.residue_, p + 1), opaque(2, y.residue_, q + 1));
        } else if (*this == field(1) || *this == field(-1)) {
            y.set_turns(angle_, turn_p_, turn_q_);
        }
        return y;
    }

    // An integer of radians, as an angle: that many times the one radian, which is free.
    [[nodiscard]] constexpr field as_angle() const {
        field x = *this;
        if (angle_ == angle::of_integer)
            x.set_turns(angle::known, modular::product(turn_p_, opaque(1, 1, p + 1), p + 1), modular::product(turn_q_, opaque(2, 1, q + 1), q + 1));
        return x;
    }
    struct points {
        modular::point in_p, in_q;
    };
    [[nodiscard]] constexpr points on_the_circles() const {
        if (angle_ == angle::lost) throw no_such_part("sine or cosine of a value that is not an integer times an exponential: no angle is known for it");
        const field x = as_angle();
        return {modular::turned(generator_p, x.turn_p_, p), modular::turned(generator_q, x.turn_q_, q)};
    }
    [[nodiscard]] constexpr field coordinate(residue in_p, residue in_q) const {
        field y = of_both(*this, *this);
        y.lost_exponent_ = false;
        y.residue_ = in_p;
        y.exponent_ = in_q;
        return y;
    }

    // ((1 − t²)/(1 + t²), 2t/(1 + t²)) for t = 8 and 4: they generate the circle groups (tests/arithmetic/field.cpp).
    static constexpr modular::point generator_p{1489929329030384823U, 390219586174624597U};
    static constexpr modular::point generator_q{339094560178483940U, 203456736107090365U};

    residue residue_ = 0;
    residue exponent_ = 0;
    residue log_p_ = 0, log_q_ = 0;
    residue turn_p_ = 0, turn_q_ = 0;
    // All bits of 0 are zero: GCC 12 forgets other defaults in the last elements of some arrays of a constant expression.
    bool undefined_ = false;
    bool formal_ = false;
    bool lost_exponent_ = false;
    bool has_log_ = false;
    angle angle_ = angle::of_integer;
};

} // namespace attest
