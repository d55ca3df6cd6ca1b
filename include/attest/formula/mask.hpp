// SPDX-License-Identifier: BSL-1.0
/// \file
/// Masks: which keys a query may see, and what is added to its scores.
///
/// A mask is a value with `visible(i, j)`: may query i see key j? Masks choose the keys that are summed; no −∞ enters an arithmetic.
/// A mask with `added(i, j)` is additive as well: its entry is added to the score of a visible key. `a & b` is both masks. Further members that a mask
/// may have stand in formula/mask_extras.hpp: a factor on the weights (dropout), and a logit beside the keys (attention sink).
#pragma once

#include "attest/arithmetic/scalar.hpp"
#include "attest/shape/tensor.hpp"

#include <limits>

namespace attest {

template <class M>
concept mask = requires(const M& m, std::size_t i, std::size_t j) {
    { m.visible(i, j) } -> std::same_as<bool>;
};

/// What a row gives in which no key is visible: Σ over nothing, or NaN as softmax of a row of −∞ would.
enum class empty_row { zero, nan };

/// No mask: every query sees every key.
struct everything {
    [[nodiscard]] constexpr bool visible(std::size_t, std::size_t) const noexcept { return true; }
};

/// j <= i: query i stands at position i of the keys (B039, B040). With n_q ≠ n_k this is the convention of PyTorch's `is_causal`.
struct causal_top_left {
    [[nodiscard]] constexpr bool visible(std::size_t i, std::size_t j) const noexcept { return j <= i; }
};

/// j <= i + (n_k − n_q): the last query stands at the last key, as when decoding with a cache. Rows i < n_q − n_k see nothing.
struct causal_bottom_right {
    std::size_t n_q, n_k;
    [[nodiscard]] constexpr bool visible(std::size_t i, std::size_t j) const noexcept { return j + n_q <= i + n_k; }
    template <axis_type, axis_type> constexpr void check(std::size_t queries, std::size_t keys) const {
        if (n_q != queries) throw shape_error(rules::mask_row_for_each_query::sentence, queries, n_q);
        if (n_k != keys) throw shape_error(rules::mask_column_for_each_key::sentence, keys, n_k);
    }
};

/// A window around each query: keys j with i + shift − left <= j <= i + shift + right. `shift` is the position of query 0 among the keys
/// (n_k − n_q where the last query stands at the last key). With `causal_top_left` or `causal_bottom_right`: `& causal`. A window of W keys, self
/// included, has left = W − 1 (Mistral's sliding window, arXiv 2310.06825).
struct sliding_window {
    std::size_t left, right;
    std::ptrdiff_t shift = 0;
    [[nodiscard]] constexpr bool visible(std::size_t i, std::size_t j) const noexcept {
        const auto distance = static_cast<std::ptrdiff_t>(j) - static_cast<std::ptrdiff_t>(i) - shift; // negative: before the query
        return distance < 0 ? static_cast<std::size_t>(-distance) <= left : static_cast<std::size_t>(distance) <= right;
    }
};

/// A boolean mask n_q × n_k: true may be seen.
template <matrix_like B> struct keep_mask {
    B may_see;
    [[nodiscard]] constexpr bool visible(std::size_t i, std::size_t j) const { return static_cast<bool>(may_see(i, j)); }
    template <axis_type Queries, axis_type Keys> constexpr void check(std::size_t n_q, std::size_t n_k) const {
        rules::mask_row_for_each_query::check<Queries, axis_of<B, 0>>(n_q, may_see.length(0));
        rules::mask_column_for_each_key::check<Keys, axis_of<B, 1>>(n_k, may_see.length(1));
    }
};
template <class B> keep_mask(B) -> keep_mask<B>;

/// A boolean mask n_q × n_k of the other polarity: true is dropped.
template <matrix_like B> struct drop_mask {
    B may_not_see;
    [[nodiscard]] constexpr bool visible(std::size_t i, std::size_t j) const { return !static_cast<bool>(may_not_see(i, j)); }
    template <axis_type Queries, axis_type Keys> constexpr void check(std::size_t n_q, std::size_t n_k) const {
        rules::mask_row_for_each_query::check<Queries, axis_of<B, 0>>(n_q, may_not_see.length(0));
        rules::mask_column_for_each_key::check<Keys, axis_of<B, 1>>(n_k, may_not_see.length(1));
    }
};
template <class B> drop_mask(B) -> drop_mask<B>;

/// A mask n_q × n_k that is added to the scores; an entry −∞ hides the key.
template <matrix_like B> struct additive_mask {
    B bias;
    [[nodiscard]] constexpr bool visible(std::size_t i, std::size_t j) const {
        using S = scalar_of<B>;
        if constexpr (std::numeric_limits<S>::has_infinity) return !(bias(i, j) == minus_infinity<S>());
        else return true;
    }
    [[nodiscard]] constexpr scalar_of<B> added(std::size_t i, std::size_t j) const { return bias(i, j); }
    template <axis_type Queries, axis_type Keys> constexpr void check(std::size_t n_q, std::size_t n_k) const {
        rules::mask_row_for_each_query::check<Queries, axis_of<B, 0>>(n_q, bias.length(0));
        rules::mask_column_for_each_key::check<Keys, axis_of<B, 1>>(n_k, bias.length(1));
    }
};
template <class B> additive_mask(B) -> additive_mask<B>;

namespace detail {
template <class M>
concept is_additive = requires(const M& m) { m.added(std::size_t{0}, std::size_t{0}); };
// formula/mask_extras.hpp
template <class M>
concept has_factor = requires(const M& m) { m.factor(std::size_t{0}, std::size_t{0}); };
template <class M>
concept has_sink = requires(const M& m) { m.sink(); };
} // namespace detail

/// The score of query i and key j with what the mask adds to it.
template <mask M, class S> [[nodiscard]] constexpr S with_bias(const M& m, std::size_t i, std::size_t j, const S& score) {
    if constexpr (detail::is_additive<M>) return score + m.added(i, j);
    else return score;
}

/// Says a mask's shape rules, if it has a shape.
template <axis_type Queries, axis_type Keys, mask M> constexpr void check_mask(const M& m, std::size_t n_q, std::size_t n_k) {
    if constexpr (requires { m.template check<Queries, Keys>(n_q, n_k); }) m.template check<Queries, Keys>(n_q, n_k);
}

/// Two masks at once: a key is visible if both let it be seen; biases add.
template <mask A, mask B> struct both_masks {
    A first;
    B second;
    [[nodiscard]] constexpr bool visible(std::size_t i, std::size_t j) const { return first.visible(i, j) && second.visible(i, j); }
    [[nodiscard]] constexpr auto added(std::size_t i, std::size_t j) const
        requires(detail::is_additive<A> || detail::is_additive<B>)
    {
        if constexpr (!detail::is_additive<B>) return first.added(i, j);
        else return with_bias(first, i, j, second.added(i, j));
    }
    [[nodiscard]] constexpr auto factor(std::size_t i, std::size_t j) const
        requires(detail::has_factor<A> || detail::has_factor<B>)
    {
        if constexpr (!detail::has_factor<B>) return first.factor(i, j);
        else if constexpr (!detail::has_factor<A>) return second.factor(i, j);
        else return first.factor(i, j) * second.factor(i, j);
    }
    [[nodiscard]] constexpr auto sink() const
        requires(detail::has_sink<A> != detail::has_sink<B>) // one sink, not two
    {
        if constexpr (detail::has_sink<A>) return first.sink();
        else return second.sink();
    }
    template <axis_type Queries, axis_type Keys> constexpr void check(std::size_t n_q, std::size_t n_k) const {
        check_mask<Queries, Keys>(first, n_q, n_k);
        check_mask<Queries, Keys>(second, n_q, n_k);
    }
};
template <mask A, mask B> [[nodiscard]] constexpr both_masks<A, B> operator&(const A& a, const B& b) {
    static_assert(!(detail::has_sink<A> && detail::has_sink<B>), "two masks with an attention sink do not go together: a row has one sink");
    return {a, b};
}

} // namespace attest
