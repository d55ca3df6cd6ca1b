// SPDX-License-Identifier: BSL-1.0
/// \file
/// ALiBi: attention with linear biases (Press, Smith, Lewis, arXiv 2108.12409). The farther a key, the more is subtracted from its score.
#pragma once

#include "attest/arithmetic/scalar.hpp"
#include "attest/elementary/sqrt.hpp"
#include "attest/shape/rules.hpp"

namespace attest {

/// The slope of head h of H, by the rule of the paper's code. H a power of two: 2^(−8(h + 1)/H). Else, with P the greatest power of two below H:
/// first the P slopes of P heads, then the first, third, fifth, … of those of 2P heads.
///
/// Made of halves and roots of 2 alone, so exact where the exponent is whole (H up to 8) and the arithmetic has halves.
/// Throws shape_error unless h < H.
template <scalar S> [[nodiscard]] constexpr S alibi_slope(std::size_t h, std::size_t n_heads) {
    static_assert(has_sqrt<S>, "ALiBi's slopes need a scalar with a root: attest::sqrt must take it; or give the slopes");
    rules::index_in_range::check(h, n_heads);
    std::size_t heads = 1; // the greatest power of two that is at most n_heads
    while (heads <= n_heads / 2) heads *= 2;
    if (h >= heads) {
        h = 2 * (h - heads);
        heads *= 2;
    }
    // 1/slope = 2^(8(h + 1)/heads): whole factors 2 first, then one root of 2 after the other for the binary digits of the rest.
    S inverse(1);
    if constexpr (has_sqrt<S>) { // else the compiler has spoken
        const std::size_t whole = heads <= 8 ? 8 / heads * (h + 1) : (h + 1) / (heads / 8);
        for (std::size_t k = 0; k < whole; ++k) inverse = inverse * S(2);
        std::size_t rest = heads <= 8 ? 0 : (h + 1) % (heads / 8); // in units of one eighth of `heads`
        S root(2);
        for (std::size_t unit = heads / 8; rest != 0; rest %= unit) {
            unit /= 2;
            root = attest::sqrt(root);
            if (rest >= unit) inverse = inverse * root;
        }
    }
    return S(1) / inverse;
}

/// An additive mask: −slope · |i + shift − j| is added to the score of query i and key j; every key is visible. Query i stands at position i + shift
/// of the keys: with a cache, shift = n_k − n_q. The paper has the causal case alone, j <= i + shift; combine with a causal mask by &.
template <class S> struct alibi {
    S slope;
    std::size_t shift = 0;

    [[nodiscard]] constexpr bool visible(std::size_t, std::size_t) const noexcept { return true; }
    [[nodiscard]] constexpr S added(std::size_t i, std::size_t j) const {
        const std::size_t position = i + shift;
        return -(slope * S(static_cast<int>(position < j ? j - position : position - j)));
    }
};

/// One such mask for each head: `slopes[h]` if they are given (n_heads of them, kept by the caller), else alibi_slope(h, n_heads).
template <class S> struct alibi_heads {
    const S* slopes = nullptr;
    std::size_t n_heads = 0;
    std::size_t shift = 0;

    /// The mask of head h. Throws shape_error unless h < n_heads.
    [[nodiscard]] constexpr alibi<S> head(std::size_t h) const {
        rules::index_in_range::check(h, n_heads);
        return {slopes != nullptr ? slopes[h] : alibi_slope<S>(h, n_heads), shift};
    }
};

} // namespace attest
