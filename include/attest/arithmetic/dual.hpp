// SPDX-License-Identifier: BSL-1.0
/// \file
/// `dual<S>`: value + derivative·ε with ε² = 0. A formula evaluated in it carries its derivative along: f(x + 1·ε) = f(x) +
/// f′(x)·ε.
///
/// It nests: `dual<dual<S>>` has second derivatives. It is as exact as S is: over rationals a derivative is an exact rational.
#pragma once

#include "attest/arithmetic/scalar.hpp"

namespace attest {

template <class S>
[[nodiscard]] constexpr S pi();

namespace detail {

// The customisation points of elementary/ and formula/, which come later: named here, and complete wherever a friend below is
// instantiated, for such a friend is looked for only by the point itself.
struct exp_function;
struct sqrt_function;
struct log_function;
struct tanh_function;
struct erf_function;
struct sin_function;
struct cos_function;
struct relu_function;
struct step_function;

// F, but not before S is known.
template <class F, class S>
struct later {
    using type = F;
};
template <class F, class S>
concept later_has = requires(const typename later<F, S>::type& f, const S& x) { f(x); };
template <class F, class S>
[[nodiscard]] constexpr S call_later(const S& x) {
    return typename later<F, S>::type{}(x);
}

template <class S>
concept has_order = requires(const S& a, const S& b) { a < b; };

} // namespace detail

/// value + derivative·ε. Comparisons look at the values alone, so that a formula takes the branch that it takes without
/// derivatives. Functions have the derivative of the calculus where there is one. Where there is none: the slope of relu at 0 is
/// 0, step's is 0 everywhere; the root's at 0 is derivative/0, which is what S makes of it (∞ or NaN in double; a rational
/// throws).
template <class S>
class dual {
public:
    using value_type = S;

    constexpr dual() = default;
    // Small integers are constants. A template, so that 0.3 does not become an int and then 0.
    template <std::same_as<int> I>
    constexpr dual(I x) : value_(x), derivative_(0) {} // NOLINT(google-explicit-constructor)
    /// A constant: derivative 0.
    constexpr explicit dual(const S& value)
        requires(!std::same_as<S, int>)
        : value_(value), derivative_(0) {}
    constexpr dual(const S& value, const S& derivative) : value_(value), derivative_(derivative) {}

    [[nodiscard]] constexpr const S& value() const noexcept { return value_; }
    [[nodiscard]] constexpr const S& derivative() const noexcept { return derivative_; }

    friend constexpr dual operator+(const dual& a, const dual& b) { return {a.value_ + b.value_, a.derivative_ + b.derivative_}; }
    friend constexpr dual operator-(const dual& a, const dual& b) { return {a.value_ - b.value_, a.derivative_ - b.derivative_}; }
    friend constexpr dual operator*(const dual& a, const dual& b) {
        return {a.value_ * b.value_, a.derivative_ * b.value_ + a.value_ * b.derivative_};
    }
    friend constexpr dual operator/(const dual& a, const dual& b) {
        const S quotient = a.value_ / b.value_;
        return {quotient, (a.derivative_ - quotient * b.derivative_) / b.value_};
    }
    friend constexpr dual operator-(const dual& a) { return {-a.value_, -a.derivative_}; }

    // Not always bool: the comparisons of an interval answer otherwise.
    friend constexpr auto operator==(const dual& a, const dual& b)
        requires requires(const S& s) { s == s; }
    {
        return a.value_ == b.value_;
    }
    /// Are value and derivative equal, nested ones too? (== looks at the values alone.) A NaN is not the same as itself. Not for an S
    /// whose == answers otherwise than with bool, as an interval's does.
    [[nodiscard]] friend constexpr bool same(const dual& a, const dual& b)
        requires requires(const S& s) {
            { s == s } -> std::convertible_to<bool>;
        }
    {
        if constexpr (requires { same(a.value_, b.value_); })
            return same(a.value_, b.value_) && same(a.derivative_, b.derivative_);
        else return a.value_ == b.value_ && a.derivative_ == b.derivative_;
    }
    friend constexpr auto operator<(const dual& a, const dual& b)
        requires detail::has_order<S>
    {
        return a.value_ < b.value_;
    }
    friend constexpr auto operator>(const dual& a, const dual& b)
        requires detail::has_order<S>
    {
        return b.value_ < a.value_;
    }
    friend constexpr auto operator<=(const dual& a, const dual& b)
        requires requires(const S& s) { s <= s; }
    {
        return a.value_ <= b.value_;
    }
    friend constexpr auto operator>=(const dual& a, const dual& b)
        requires requires(const S& s) { s <= s; }
    {
        return b.value_ <= a.value_;
    }

    // S's own choice; an S without one has an order, and then so has this.
    friend constexpr dual attest_shift_point(const dual& a, const dual& b)
        requires requires(const S& s) { attest_shift_point(s, s); }
    {
        return dual(attest_shift_point(a.value_, b.value_)); // softmax does not depend on it: a constant
    }

    friend constexpr dual attest_exp(const dual& a)
        requires detail::later_has<detail::exp_function, S>
    {
        const S e = detail::call_later<detail::exp_function>(a.value_);
        return {e, e * a.derivative_};
    }
    friend constexpr dual attest_sqrt(const dual& a)
        requires detail::later_has<detail::sqrt_function, S>
    {
        const S root = detail::call_later<detail::sqrt_function>(a.value_);
        return {root, a.derivative_ / (root + root)};
    }
    friend constexpr dual attest_log(const dual& a)
        requires detail::later_has<detail::log_function, S>
    {
        return {detail::call_later<detail::log_function>(a.value_), a.derivative_ / a.value_};
    }
    friend constexpr dual attest_tanh(const dual& a)
        requires detail::later_has<detail::tanh_function, S>
    {
        const S t = detail::call_later<detail::tanh_function>(a.value_);
        return {t, (S(1) - t) * (S(1) + t) * a.derivative_};
    }
    friend constexpr dual attest_erf(const dual& a)
        requires detail::later_has<detail::erf_function, S> && detail::later_has<detail::exp_function, S> &&
                 detail::later_has<detail::sqrt_function, S>
    {
        const S root_pi = detail::call_later<detail::sqrt_function>(attest::pi<S>());
        const S slope = S(2) / root_pi * detail::call_later<detail::exp_function>(-(a.value_ * a.value_));
        return {detail::call_later<detail::erf_function>(a.value_), slope * a.derivative_};
    }
    friend constexpr dual attest_sin(const dual& a)
        requires detail::later_has<detail::sin_function, S> && detail::later_has<detail::cos_function, S>
    {
        return {detail::call_later<detail::sin_function>(a.value_),
                detail::call_later<detail::cos_function>(a.value_) * a.derivative_};
    }
    friend constexpr dual attest_cos(const dual& a)
        requires detail::later_has<detail::sin_function, S> && detail::later_has<detail::cos_function, S>
    {
        return {detail::call_later<detail::cos_function>(a.value_),
                -(detail::call_later<detail::sin_function>(a.value_) * a.derivative_)};
    }
    friend constexpr dual attest_relu(const dual& a)
        requires detail::later_has<detail::relu_function, S> && detail::later_has<detail::step_function, S>
    {
        return {detail::call_later<detail::relu_function>(a.value_),
                detail::call_later<detail::step_function>(a.value_) * a.derivative_};
    }
    friend constexpr dual attest_step(const dual& a)
        requires detail::later_has<detail::step_function, S>
    {
        return dual(detail::call_later<detail::step_function>(a.value_));
    }

    [[nodiscard]] static constexpr dual pi()
        requires(std::same_as<S, double> || std::same_as<S, float> || requires { S::pi(); })
    {
        return dual(attest::pi<S>());
    }

private:
    S value_{};
    S derivative_{};
};

} // namespace attest

/// Infinity and NaN are those of S, with derivative 0.
template <class S>
    requires std::numeric_limits<S>::is_specialized
class std::numeric_limits<attest::dual<S>> {
    using inner = std::numeric_limits<S>;

public:
    static constexpr bool is_specialized = true;
    static constexpr bool is_integer = false;
    static constexpr int max_exponent = 0; // not a number that Boost should take for its own
    static constexpr bool has_infinity = inner::has_infinity;
    static constexpr bool has_quiet_NaN = inner::has_quiet_NaN;
    static constexpr attest::dual<S> infinity() { return attest::dual<S>(inner::infinity()); }
    static constexpr attest::dual<S> quiet_NaN() { return attest::dual<S>(inner::quiet_NaN()); }
};
