// SPDX-License-Identifier: BSL-1.0
/// \file
/// What a mask may carry beside visibility and bias: dropout's factors and an attention sink.
#pragma once

#include "attest/formula/mask.hpp"

namespace attest {

/// Dropout with a given mask, as in training: weight α_ij becomes α_ij · scale where kept(i, j), else 0; scale = 1/(1 − p) (Srivastava et al.,
/// JMLR 15, 2014; inverted form). Softmax is not changed: rows no longer sum to 1.
template <matrix_like B, scalar S> struct dropout_mask {
    B kept;
    S scale;
    [[nodiscard]] constexpr bool visible(std::size_t, std::size_t) const noexcept { return true; }
    [[nodiscard]] constexpr S factor(std::size_t i, std::size_t j) const { return static_cast<bool>(kept(i, j)) ? scale : S(0); }
    template <axis_type Queries, axis_type Keys> constexpr void check(std::size_t n_q, std::size_t n_k) const {
        rules::mask_row_for_each_query::check<Queries, axis_of<B, 0>>(n_q, kept.length(0));
        rules::mask_column_for_each_key::check<Keys, axis_of<B, 1>>(n_k, kept.length(1));
    }
};
template <class B, class S> dropout_mask(B, S) -> dropout_mask<B, S>;

/// An attention sink: one more logit in every row's softmax, whose value is 0. α_ij = e^{s_ij} / (Σ_l e^{s_il} + e^{logit}): rows sum to less than 1
/// (arXiv 2309.17453; gpt-oss's learned sinks). A row without a visible key is 0.
template <scalar S> struct attention_sink {
    S logit;
    [[nodiscard]] constexpr bool visible(std::size_t, std::size_t) const noexcept { return true; }
    [[nodiscard]] constexpr S sink() const { return logit; }
};
template <class S> attention_sink(S) -> attention_sink<S>;

/// A mask for every head: a family with `head(h)` gives its own, any other mask is that of all heads.
template <class M> [[nodiscard]] constexpr decltype(auto) mask_of_head(const M& m, std::size_t h) {
    if constexpr (requires { m.head(h); }) return m.head(h);
    else return (m);
}

/// A mask for each head, such as `alibi_heads`.
template <class M>
concept mask_family = requires(const M& m) {
    { m.head(std::size_t{0}) } -> mask;
};

/// A family and a mask, or two families: for every head both.
template <class A, class B> struct both_families {
    A first;
    B second;
    [[nodiscard]] constexpr auto head(std::size_t h) const { return mask_of_head(first, h) & mask_of_head(second, h); }
};
template <class A, class B>
    requires((mask_family<A> && (mask<B> || mask_family<B>)) || (mask<A> && mask_family<B>))
[[nodiscard]] constexpr both_families<A, B> operator&(const A& a, const B& b) {
    return {a, b};
}

} // namespace attest
