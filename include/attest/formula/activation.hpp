// SPDX-License-Identifier: BSL-1.0
/// \file
/// The activations of the feed-forward network: ReLU, and GELU in its three forms.
#pragma once

#include "attest/arithmetic/scalar.hpp"
#include "attest/elementary/erf.hpp"
#include "attest/elementary/exp.hpp"
#include "attest/elementary/pi.hpp"
#include "attest/elementary/sqrt.hpp"
#include "attest/elementary/tanh.hpp"
#include "attest/shape/tensor.hpp"

namespace attest {

// GCC 12 says that an enumerator of a scoped enumeration shadows what has its name outside; it does not.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
#endif
/// Which function is called GELU: x·Φ(x) itself, or one of the two approximations of its paper (Hendrycks and Gimpel, arXiv
/// 1606.08415).
enum class gelu_form {
    erf,    ///< x (1 + erf(x/√2)) / 2
    tanh,   ///< x (1 + tanh(√(2/π) (x + 0.044715 x³))) / 2
    sigmoid ///< x / (1 + e^(−1.702 x))
};

/// The activations that the lectures name (A102).
enum class activation_kind { relu, gelu };
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

namespace detail {

template <class S>
concept has_own_relu = requires(const S& x) { attest_relu(x); };
template <class S>
concept has_own_step = requires(const S& x) { attest_step(x); };

// f of each element.
template <class X, class F>
    requires(vector_like<X> || matrix_like<X>)
[[nodiscard]] constexpr auto for_each_element(const X& x, const F& f) {
    if constexpr (vector_like<X>) {
        auto y = tensor<scalar_of<X>, axis_of<X, 0>>::with_lengths(x.length(0));
        for (std::size_t i = 0; i < x.length(0); ++i) y(i) = f(x(i));
        return y;
    } else {
        auto y = tensor<scalar_of<X>, axis_of<X, 0>, axis_of<X, 1>>::with_lengths(x.length(0), x.length(1));
        for (std::size_t i = 0; i < x.length(0); ++i)
            for (std::size_t j = 0; j < x.length(1); ++j) y(i, j) = f(x(i, j));
        return y;
    }
}

struct relu_function {
    template <scalar S>
    [[nodiscard]] constexpr S operator()(const S& x) const {
        if constexpr (has_own_relu<S>)
            return attest_relu(x);
        else
            return x < S(0) ? S(0) : x;
    }
    template <class X>
        requires(vector_like<X> || matrix_like<X>)
    [[nodiscard]] constexpr auto operator()(const X& x) const {
        return for_each_element(x, *this);
    }
};
struct step_function {
    template <scalar S>
    [[nodiscard]] constexpr S operator()(const S& x) const {
        if constexpr (has_own_step<S>)
            return attest_step(x);
        else
            return S(0) < x ? S(1) : x < S(0) || x == S(0) ? S(0) : x; // what has no order is NaN, and stays
    }
};

} // namespace detail

/// ReLU: 0 below 0, else x (A104, B053); element by element on a vector or matrix. NaN stays NaN.
/// A scalar without an order that decides gets a friend `attest_relu`.
inline constexpr detail::relu_function relu{};
/// The slope of ReLU: 0 for x < 0, 1 for x > 0, and at 0, where there is none, 0 by convention. NaN stays NaN.
/// A scalar without an order that decides gets a friend `attest_step`.
inline constexpr detail::step_function step{};

/// The scalar has no exponential, error function, …, and the form asked for needs it: a GELU in rationals.
class no_such_function : public std::exception {
public:
    [[nodiscard]] const char* what() const noexcept override {
        return "the arithmetic lacks a function that this activation needs";
    }
};

/// A scalar that has what the form needs.
template <class S, gelu_form Form>
concept has_gelu = scalar<S> && ((Form == gelu_form::erf && has_erf<S> && has_sqrt<S>) ||
                                 (Form == gelu_form::tanh && has_tanh<S> && has_sqrt<S> && has_pi<S>) ||
                                 (Form == gelu_form::sigmoid && has_exp<S>));
/// A scalar that has at least one form.
template <class S>
concept has_some_gelu = has_gelu<S, gelu_form::erf> || has_gelu<S, gelu_form::tanh> || has_gelu<S, gelu_form::sigmoid>;

namespace detail {

// 1 + erf u and 1 + tanh u. They cancel far below 0, in every arithmetic that does not bring its own.
template <class S>
[[nodiscard]] constexpr S one_plus_erf(const S& u) {
    if constexpr (requires { attest_one_plus_erf(u); }) return attest_one_plus_erf(u);
    else return S(1) + attest::erf(u);
}
template <class S>
[[nodiscard]] constexpr S one_plus_tanh(const S& u) {
    if constexpr (requires { attest_one_plus_tanh(u); }) return attest_one_plus_tanh(u);
    else return S(1) + attest::tanh(u);
}

template <class S>
[[nodiscard]] constexpr S gelu_erf(const S& x) {
    return x * one_plus_erf(S(x / attest::sqrt(S(2)))) / S(2);
}
template <class S>
[[nodiscard]] constexpr S gelu_tanh_argument(const S& x) {
    return attest::sqrt(S(2) / attest::pi<S>()) * (x + S(44715) / S(1000000) * x * x * x);
}
template <class S>
[[nodiscard]] constexpr S gelu_tanh(const S& x) {
    return x * one_plus_tanh(gelu_tanh_argument(x)) / S(2);
}
template <class S>
[[nodiscard]] constexpr S gelu_sigmoid_factor() {
    return S(1702) / S(1000);
}
template <class S>
[[nodiscard]] constexpr S gelu_sigmoid(const S& x) {
    return x / (S(1) + attest::exp(-(gelu_sigmoid_factor<S>() * x)));
}

} // namespace detail

/// GELU(x) = x·Φ(x), or the form asked for. Throws no_such_function (in a constant expression: does not compile) where S lacks
/// what it needs.
///
/// In double, 1 + erf(x/√2) cancels for x < 0: the *absolute* error stays below 2^−52·|x| (not proved: the greatest measured is
/// 0.87 of that), but the relative one grows like 1/Φ(x), until all digits are lost: below x = −8.38 the result is −0, and the
/// true value −2·10^−16 and less. So it is with the tanh form, which is −0 below x = −7.3. The sigmoid form cancels nowhere: its
/// relative error is a few units of (1 + |x|)·2^−53. GELU(∞) = ∞; GELU(−∞) is NaN as these formulas stand (∞·0 or ∞/∞), and NaN
/// stays NaN.
template <scalar S>
[[nodiscard]] constexpr S gelu(const S& x, gelu_form form = gelu_form::erf) {
    static_assert(has_some_gelu<S>, "GELU needs a scalar with an error function, a hyperbolic tangent or an exponential");
    if (form == gelu_form::erf) {
        if constexpr (has_gelu<S, gelu_form::erf>) return detail::gelu_erf(x);
    } else if (form == gelu_form::tanh) {
        if constexpr (has_gelu<S, gelu_form::tanh>) return detail::gelu_tanh(x);
    } else {
        if constexpr (has_gelu<S, gelu_form::sigmoid>) return detail::gelu_sigmoid(x);
    }
    throw no_such_function();
}
/// Element by element. Shapes: n → n, n × m → n × m.
template <class X>
    requires(vector_like<X> || matrix_like<X>)
[[nodiscard]] constexpr auto gelu(const X& x, gelu_form form = gelu_form::erf) {
    return detail::for_each_element(x, [form](const auto& element) { return gelu(element, form); });
}

/// Which activation a feed-forward network has: ReLU (B053), or a form of GELU (A103). Any arithmetic will do for ReLU; for GELU
/// see `gelu`.
struct activation {
    activation_kind kind = activation_kind::relu;
    gelu_form form = gelu_form::erf; ///< of GELU alone

    template <scalar S>
    [[nodiscard]] constexpr S operator()(const S& x) const {
        if (kind == activation_kind::relu) return relu(x);
        if constexpr (has_some_gelu<S>)
            return gelu(x, form);
        else
            throw no_such_function();
    }
};

/// The activation of each element. Shapes: n → n, n × m → n × m.
template <class X>
    requires(vector_like<X> || matrix_like<X>)
[[nodiscard]] constexpr auto activate(const X& x, const activation& how) {
    return detail::for_each_element(x, how);
}

} // namespace attest
