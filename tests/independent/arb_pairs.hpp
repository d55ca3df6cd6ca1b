// SPDX-License-Identifier: BSL-1.0
/// \file
/// What stands between a query and a key: which key is seen, what is added to its score, what its weight is multiplied by; and RoPE.
///
/// Of batch element b, with n_q queries and n_k keys that are no padding, and t(i) = i, or i + n_k − n_q with causal=bottom-right, for the query's own
/// position among the keys, query i sees key j if all of these hold:
///
///     causal   j <= t(i)
///     window   t(i) − L <= j <= t(i) + R
///     mask     a boolean (or 0 and 1) that says so; a number that is not −∞, which is added to the score
///     neither is padding: i < n_q, j < n_k
///
/// ALiBi adds −slope_h |t(i) − j|. Token t stands at positions[t] or at offset + t, and RoPE with base B turns pair p of r components there by the angle
/// position · B^(−2p/r). Query i is the token t(i).
#pragma once

#include "arb_scores.hpp"

#include <cmath>
#include <cstdlib>

namespace independent {

/// Slope of head h of n_heads: 2^(−8(h + 1)/n_heads), if n_heads is a power of two. Else those of the next lower power P of two, then every other of 2P's.
[[nodiscard]] inline arb_number alibi_slope(std::size_t h, std::size_t n_heads) {
    std::size_t power = 1;
    while (2 * power <= n_heads) power *= 2;
    if (h >= power) return alibi_slope(2 * (h - power), 2 * power);
    const auto eighths = static_cast<long>(8 * (h + 1));
    const auto of = static_cast<long>(power);
    return eighths % of == 0 ? arb_number::power_of_two(-eighths / of) : root(arb_number::power_of_two(-eighths), static_cast<unsigned>(of));
}

/// The rules of one batch element and head.
class pair_rules_of {
public:
    pair_rules_of(const question& asked, std::size_t b, std::size_t h, std::size_t n_heads) : how_{asked.how}, b_{b}, h_{h} {
        const auto length = [&](const char* name, std::size_t full) {
            const table* const given = asked.find(name);
            return given == nullptr ? full : static_cast<std::size_t>(given->values[b]);
        };
        queries = length("q_lengths", asked["q"].rows());
        keys = length("k_lengths", asked["k"].rows());
        mask_ = asked.find("mask");
        kept_ = asked.find("dropout_mask");
        positions_ = asked.find("positions");
        if (how_.causal == causal_kind::bottom_right) shift_ = static_cast<long>(keys) - static_cast<long>(queries);
        if (how_.dropout_p) keep_factor_ = arb_number(1) / (arb_number(1) - arb_number::from_text(*how_.dropout_p));
        if (how_.position == position_rule::alibi) {
            const table* const slopes = asked.find("alibi_slopes");
            slope_ = slopes != nullptr ? arb_number(slopes->values[h]) : alibi_slope(h, n_heads);
        }
        if (const table* const sinks = asked.find("sink")) sink = arb_number(sinks->values[h]);
        if (how_.position == position_rule::rope) {
            const std::size_t r = how_.rope_dim.value_or(asked["q"].columns());
            const arb_number log_base = log(arb_number::from_text(how_.rope_base.value_or("10000")));
            for (std::size_t p = 0; p < r / 2; ++p)
                frequencies_.push_back(exp(-(arb_number(static_cast<double>(2 * p)) / arb_number(static_cast<double>(r)) * log_base)));
        }
    }

    std::size_t queries = 0, keys = 0; ///< without padding
    std::optional<arb_number> sink;    ///< a score more in the denominator

    [[nodiscard]] bool sees(std::size_t i, std::size_t j) const {
        if (i >= queries || j >= keys) return false;
        const long own = static_cast<long>(i) + shift_, key = static_cast<long>(j);
        if (how_.causal != causal_kind::none && key > own) return false;
        if (how_.window && (key < own - static_cast<long>(how_.window->first) || key > own + static_cast<long>(how_.window->second))) return false;
        if (mask_ == nullptr) return true;
        const double entry = mask_->broadcast(b_, h_, i, j);
        return adds() ? entry != -HUGE_VAL : (entry != 0) == how_.mask_keeps.value_or(true);
    }
    /// What is added to the score of a key that is seen.
    [[nodiscard]] arb_number bias(std::size_t i, std::size_t j) const {
        arb_number sum;
        if (mask_ != nullptr && adds()) sum += arb_number(mask_->broadcast(b_, h_, i, j));
        if (slope_) sum = sum - *slope_ * arb_number(static_cast<double>(std::labs(static_cast<long>(i) + shift_ - static_cast<long>(j))));
        return sum;
    }
    /// What the weight is multiplied by.
    [[nodiscard]] arb_number factor(std::size_t i, std::size_t j) const {
        if (kept_ == nullptr) return arb_number(1);
        return kept_->broadcast(b_, h_, i, j) != 0 ? keep_factor_ : arb_number(0);
    }
    /// Rows of queries, turned where they stand; those that are padding stand nowhere.
    [[nodiscard]] arb_matrix turned_queries(arb_matrix m, bool back = false) const {
        for (std::size_t i = 0; i < queries; ++i) turn(m[i], static_cast<long>(i) + shift_, back);
        return m;
    }
    /// Rows of keys.
    [[nodiscard]] arb_matrix turned_keys(arb_matrix m, bool back = false) const {
        for (std::size_t j = 0; j < m.size(); ++j) turn(m[j], static_cast<long>(j), back);
        return m;
    }

private:
    [[nodiscard]] bool adds() const { return mask_->type[0] == 'f' || mask_->type == "bf16"; }

    void turn(arb_row& x, long token, bool back) const {
        if (how_.position != position_rule::rope) return;
        double position = static_cast<double>(token + static_cast<long>(how_.position_offset));
        if (positions_ != nullptr) position = positions_->broadcast(0, 0, b_, static_cast<std::size_t>(token));
        for (std::size_t p = 0; p < frequencies_.size(); ++p) {
            const arb_number angle = frequencies_[p] * arb_number(back ? -position : position);
            const arb_number cosine = cos(angle), sine = sin(angle);
            arb_number& first = x[how_.half_pairing ? p : 2 * p];
            arb_number& second = x[how_.half_pairing ? p + frequencies_.size() : 2 * p + 1];
            const arb_number a = first, b = second;
            first = a * cosine - b * sine;
            second = a * sine + b * cosine;
        }
    }

    const options& how_;
    std::size_t b_, h_;
    long shift_ = 0;
    const table *mask_ = nullptr, *kept_ = nullptr, *positions_ = nullptr;
    arb_number keep_factor_{1};
    std::optional<arb_number> slope_;
    arb_row frequencies_;
};

} // namespace independent
