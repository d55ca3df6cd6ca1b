// SPDX-License-Identifier: BSL-1.0
/// \file
/// One row of attention (or of softmax) as exact arguments take it: doubles, and what the conventions say in exact fractions.
#pragma once

#include "attest/arithmetic/dyadic.hpp"
#include "attest/oracle/stack.hpp"
#include "attest/question/number.hpp"

#include <algorithm>
#include <optional>
#include <span>
#include <vector>

namespace attest {

/// One row of attention (or of softmax) as it is given. All memory is the caller's, and must stay. Rows of matrices are contiguous.
struct decided_inputs {
    std::span<const double> q;                                ///< the row's query, before any rotation
    const matrix_view* k = nullptr;                           ///< nothing: the scores are `bias` itself (the op softmax)
    const matrix_view* v = nullptr;                           ///< nothing: `da` is given, or no value is asked for
    std::span<const std::size_t> visible;                     ///< the keys that the row sees. "Key j" below is number j of these
    std::span<const double> bias;                             ///< one for each visible key; empty: none
    std::span<const double> distance;                         ///< ALiBi's |i + shift − j|, one for each visible key; empty: no ALiBi
    std::optional<double> slope;                              ///< ALiBi's slope; nothing: irrational (see exact_alibi_slope)
    std::optional<double> sink;                               ///< the logit of an attention sink
    score_kind score = score_kind::scaled;                    ///< scaled and dot alike: q · k
    const matrix_view* w = nullptr;                           ///< of the bilinear score, d_q × d_k
    bool additive_is_finite = false;                          ///< of the additive score: whether all of its weights are numbers
    std::optional<exact_rational> scale = exact_rational(1);  ///< σ; nothing: irrational (see exact_scale)
    bool softcap = false;
    std::size_t rotated = 0;                                  ///< RoPE turns so many components, the first; 0: no RoPE
    double position = 0;                                      ///< RoPE: that of the query
    std::span<const double> positions;                        ///< RoPE: those of the visible keys
    std::span<const char> kept;                               ///< dropout: 0 where a weight is dropped; empty: no dropout
    exact_rational keep_scale = 1;                            ///< 1/(1 − p)
    std::span<const double> dz;                               ///< the gradient of the row's output
    std::span<const double> da;                               ///< the gradient of each weight, where there is no v

    /// How many keys the row sees.
    [[nodiscard]] std::size_t keys() const noexcept { return k != nullptr ? visible.size() : bias.size(); }
};

namespace detail {
[[nodiscard]] inline std::span<const double> row_of(const matrix_view& m, std::size_t i) {
    return {m.data() + static_cast<std::ptrdiff_t>(i) * m.stride(0), m.length(1)};
}
[[nodiscard]] inline bool all_zero(std::span<const double> x) {
    return std::all_of(x.begin(), x.end(), [](double c) { return c == 0; });
}
[[nodiscard]] inline bool all_numbers(std::span<const double> x) {
    return std::all_of(x.begin(), x.end(), [](double c) { return c - c == 0; });
}
} // namespace detail

/// 1/√d where that is rational.
[[nodiscard]] inline std::optional<exact_rational> exact_inverse_root(std::size_t d) {
    for (std::size_t root = 1; root * root <= d; ++root)
        if (root * root == d) return exact_rational(exact_integer(1), exact_integer(root));
    return std::nullopt;
}
/// σ as a case declares it; nothing where it is irrational.
[[nodiscard]] inline std::optional<exact_rational> exact_scale(const conventions& how, std::size_t d_k) {
    if (how.scale) return number_from<exact_rational>("scale", *how.scale);
    return how.score == score_kind::scaled ? exact_inverse_root(d_k) : exact_rational(1);
}
/// 1/(1 − p).
[[nodiscard]] inline exact_rational exact_keep_scale(const conventions& how) {
    if (!how.dropout_p) return 1;
    return exact_rational(1) / (exact_rational(1) - number_from<exact_rational>("dropout-p", *how.dropout_p));
}
/// The slope of head h of H by the rule of formula/alibi.hpp, 2^(−8(h + 1)/H) where H is a power of two, if its exponent is whole; nothing: it is
/// irrational.
[[nodiscard]] inline std::optional<double> exact_alibi_slope(std::size_t h, std::size_t n_heads) {
    std::size_t heads = 1;
    while (heads <= n_heads / 2) heads *= 2;
    if (h >= heads) {
        h = 2 * (h - heads);
        heads *= 2;
    }
    return 8 * (h + 1) % heads == 0 ? std::optional(detail::power_of_two(-static_cast<int>(8 * (h + 1) / heads))) : std::nullopt;
}

} // namespace attest
