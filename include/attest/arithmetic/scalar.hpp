// SPDX-License-Identifier: BSL-1.0
/// \file
/// What a formula asks of its scalar, and the points where a scalar brings its own functions.
///
/// A formula is a template over its scalar S. It uses
///
/// | operation | written | who needs it |
/// |---|---|---|
/// | field operations | `a + b`, `a - b`, `a * b`, `a / b`, `-a` | every formula |
/// | small integers | `S(3)`, exact | every formula |
/// | exponential, root, logarithm | `attest::exp(a)`, `attest::sqrt(a)`, `attest::log(a)` | softmax; scaled scores; log-sum-exp |
/// | the point that softmax shifts by | `attest::shift_point(a, b)` | softmax |
/// | hyperbolic tangent, error function, sine, cosine, π | `attest::tanh(a)`, `attest::erf(a)`, `attest::sin(a)`, `attest::cos(a)`, `attest::pi<S>()` | additive score, soft cap, GELU, rotations |
/// | ReLU and its slope | `attest::relu(a)`, `attest::step(a)` | feed-forward |
///
/// A scalar joins by the operators and by friends that argument-dependent look-up finds: `attest_exp(a)`, `attest_sqrt(a)`, `attest_log(a)`, `attest_tanh(a)`,
/// `attest_erf(a)`, `attest_sin(a)`, `attest_cos(a)`, a static member `pi()`, `attest_relu(a)` and `attest_step(a)` where order does not decide, and, where it has no operator< that orders values, `attest_shift_point(a, b)`. The names are ours alone, so that no library's own `exp` is taken
/// by accident. A scalar without `attest_exp` still serves every formula that needs none. No scalar converts to double by itself.
#pragma once

#include <concepts>
#include <exception>
#include <limits>

namespace attest {

/// Field operations and exact small integers.
template <class S>
concept scalar = std::copyable<S> && std::constructible_from<S, int> && requires(const S& a, const S& b) {
    { a + b } -> std::convertible_to<S>;
    { a - b } -> std::convertible_to<S>;
    { a * b } -> std::convertible_to<S>;
    { a / b } -> std::convertible_to<S>;
    { -a } -> std::convertible_to<S>;
};

namespace detail {
template <class S>
concept has_own_shift_point = requires(const S& a, const S& b) { attest_shift_point(a, b); };
} // namespace detail

/// Softmax is the same for every shift, so the arithmetic may choose: here the greater of two scores, which keeps exp from overflowing.
/// A NaN stays. Arithmetics without an order choose otherwise through `attest_shift_point`.
template <class S> [[nodiscard]] constexpr S shift_point(const S& a, const S& b) {
    if constexpr (detail::has_own_shift_point<S>) return attest_shift_point(a, b);
    else return a < b ? b : a;
}

/// A formula's value is NaN or an infinity, and the arithmetic has none: an exact rational, an interval.
class no_such_value : public std::exception {
public:
    [[nodiscard]] const char* what() const noexcept override { return "the value is NaN or infinite, and the arithmetic has no such value"; }
};

/// NaN; throws no_such_value (in a constant expression: does not compile) where S has none.
template <class S> [[nodiscard]] constexpr S not_a_number() {
    if constexpr (std::numeric_limits<S>::has_quiet_NaN) return std::numeric_limits<S>::quiet_NaN();
    else throw no_such_value();
}
/// −∞; throws no_such_value (in a constant expression: does not compile) where S has none.
template <class S> [[nodiscard]] constexpr S minus_infinity() {
    if constexpr (std::numeric_limits<S>::has_infinity) return -std::numeric_limits<S>::infinity();
    else throw no_such_value();
}

} // namespace attest
