// SPDX-License-Identifier: BSL-1.0
/// \file
/// Softmax over the keys, and log-sum-exp.
#pragma once

#include "attest/elementary/exp.hpp"
#include "attest/elementary/log.hpp"
#include "attest/formula/mask.hpp"

namespace attest {

namespace detail {

// All of a row's indices: the vector form of `everything`.
struct every_index {
    [[nodiscard]] constexpr bool operator()(std::size_t) const noexcept { return true; }
};

// One row of a mask.
template <mask M> struct mask_row {
    const M& of;
    std::size_t i;
    [[nodiscard]] constexpr bool operator()(std::size_t j) const { return of.visible(i, j); }
};

// The shift m, and whether any index is visible.
template <class S> struct row_shift {
    S value{0};
    bool found = false;
};
template <vector_like X, class Visible> [[nodiscard]] constexpr auto shift_of(const X& x, const Visible& visible) {
    row_shift<scalar_of<X>> m;
    for (std::size_t j = 0; j < x.length(0); ++j)
        if (visible(j)) {
            m.value = shift_point(m.found ? m.value : scalar_of<X>(x(j)), scalar_of<X>(x(j)));
            m.found = true;
        }
    return m;
}

// e/sum. An arithmetic may account here for programs that form the weight as e^{x − lse}, lse = shift + log sum.
template <class S> [[nodiscard]] constexpr S softmax_weight(const S& e, const S& sum, const S& shift) {
    if constexpr (requires { attest_softmax_weight(e, sum, shift); }) return attest_softmax_weight(e, sum, shift);
    else return e / sum;
}

} // namespace detail

/// a_j = e^{x_j − m} / Σ_l e^{x_l − m}, the sum over visible l; a_j = 0 where j is not visible (A011, A046, B041). Shapes: n → n.
///
/// The shift m is the greatest visible x for ordered arithmetics; the result does not depend on it. Without a visible index: zeros, or NaN.
/// A `sink` is one more logit in the sum whose weight is not returned: a_j = e^{x_j} / (Σ e^{x_l} + e^{sink}); then a row without a visible index is 0.
/// A NaN among the visible x makes the whole row NaN; so does +∞ (∞ − ∞). In double with n entries, each relative error is at most about
/// (n + 4)·2^−53 + |x_j − m|·2^−53 (by the standard model; proved in a later version).
template <vector_like X, class Visible = detail::every_index>
    requires std::predicate<const Visible&, std::size_t>
[[nodiscard]] constexpr auto softmax(const X& x, const Visible& visible = {}, empty_row on_empty = empty_row::zero, const scalar_of<X>* sink = nullptr) {
    using S = scalar_of<X>;
    static_assert(has_exp<S>, "softmax needs a scalar with an exponential: attest::exp must take it");
    auto a = tensor<S, axis_of<X, 0>>::with_lengths(x.length(0));
    auto m = detail::shift_of(x, visible);
    if (!m.found) {
        if (on_empty == empty_row::nan && sink == nullptr)
            for (std::size_t j = 0; j < x.length(0); ++j) a(j) = not_a_number<S>();
        return a;
    }
    if (sink != nullptr) m.value = shift_point(m.value, *sink);
    S sum(0);
    if constexpr (has_exp<S>)
        if (sink != nullptr) sum = attest::exp(*sink - m.value);
    for (std::size_t j = 0; j < x.length(0); ++j)
        if (visible(j)) {
            if constexpr (has_exp<S>) a(j) = attest::exp(x(j) - m.value); // else the compiler has spoken
            sum = sum + a(j);
        }
    for (std::size_t j = 0; j < x.length(0); ++j)
        if (visible(j)) a(j) = detail::softmax_weight(S(a(j)), sum, m.value);
    return a;
}

namespace detail {
// Row i under a mask, with the mask's sink if it has one.
template <vector_like X, mask M> [[nodiscard]] constexpr auto softmax_of_row(const X& x, const M& m, std::size_t i, empty_row on_empty) {
    if constexpr (has_sink<M>) {
        const scalar_of<X> sink(m.sink());
        return softmax(x, mask_row<M>{m, i}, on_empty, &sink);
    } else {
        return softmax(x, mask_row<M>{m, i}, on_empty);
    }
}
} // namespace detail

/// Row-wise softmax of a matrix: each row is a distribution over the keys (A051, E003), or what a sink leaves of it. Shapes: n_q × n_k → n_q × n_k.
/// A mask's bias is not added here, nor its factor multiplied.
template <matrix_like X, mask M = everything>
[[nodiscard]] constexpr auto softmax(const X& x, const M& m = {}, empty_row on_empty = empty_row::zero) {
    check_mask<axis_of<X, 0>, axis_of<X, 1>>(m, x.length(0), x.length(1));
    auto a = tensor<scalar_of<X>, axis_of<X, 0>, axis_of<X, 1>>::with_lengths(x.length(0), x.length(1));
    for (std::size_t i = 0; i < x.length(0); ++i) {
        const auto row = detail::softmax_of_row(x[i], m, i, on_empty);
        for (std::size_t j = 0; j < x.length(1); ++j) a(i, j) = row(j);
    }
    return a;
}

/// log Σ_j e^{x_j} over visible j, as m + log Σ e^{x_j − m}; with a `sink`, its e^{sink} is in the sum. Shapes: n → scalar. Without a visible index:
/// −∞ (the sink, if there is one).
template <vector_like X, class Visible = detail::every_index>
    requires std::predicate<const Visible&, std::size_t>
[[nodiscard]] constexpr auto log_sum_exp(const X& x, const Visible& visible = {}, const scalar_of<X>* sink = nullptr) {
    using S = scalar_of<X>;
    constexpr bool has_both = has_exp<S> && has_log<S>;
    static_assert(has_both, "log-sum-exp needs a scalar with exponential and logarithm: attest::exp and attest::log must take it");
    auto m = detail::shift_of(x, visible);
    if (!m.found) return sink != nullptr ? *sink : minus_infinity<S>();
    if (sink != nullptr) m.value = shift_point(m.value, *sink);
    S sum(0);
    if constexpr (has_both) { // else the compiler has spoken
        if (sink != nullptr) sum = attest::exp(*sink - m.value);
        for (std::size_t j = 0; j < x.length(0); ++j)
            if (visible(j)) sum = sum + attest::exp(x(j) - m.value);
        sum = m.value + attest::log(sum);
    }
    return sum;
}

} // namespace attest
