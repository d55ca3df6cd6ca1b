// SPDX-License-Identifier: BSL-1.0
/// \file
/// The masks of formula/mask.hpp for the kernels: ranges of keys where a mask has them, so that what nobody sees is not computed; else a number for each pair,
/// what is added to its score (−∞ hides it).
#pragma once

#include "attest/fast/kernels.hpp"
#include "attest/formula/mask.hpp"

#include <limits>
#include <vector>

namespace attest::fast {

/// Keys [first, last).
struct key_range {
    std::size_t first, last;
};

/// The keys that query i of n_k keys sees, for masks whose keys are neighbours.
constexpr key_range keys_of(const everything&, std::size_t, std::size_t n_k) { return {0, n_k}; }
constexpr key_range keys_of(const causal_top_left&, std::size_t i, std::size_t n_k) { return {0, i + 1 < n_k ? i + 1 : n_k}; }
constexpr key_range keys_of(const causal_bottom_right& m, std::size_t i, std::size_t n_k) {
    const std::size_t last = i + m.n_k + 1 > m.n_q ? i + m.n_k + 1 - m.n_q : 0;
    return {0, last < n_k ? last : n_k};
}
constexpr key_range keys_of(const sliding_window& m, std::size_t i, std::size_t n_k) {
    const auto at = static_cast<std::ptrdiff_t>(i) + m.shift, end = static_cast<std::ptrdiff_t>(n_k);
    // `left` and `right` can be as great as a size_t; beyond `far` they change nothing.
    const std::size_t far = n_k + static_cast<std::size_t>(at < 0 ? -at : at);
    const auto left = static_cast<std::ptrdiff_t>(m.left < far ? m.left : far), right = static_cast<std::ptrdiff_t>(m.right < far ? m.right : far);
    const std::ptrdiff_t last = at + right + 1 < 0 ? 0 : at + right + 1 < end ? at + right + 1 : end;
    const std::ptrdiff_t first = at - left < 0 ? 0 : at - left < last ? at - left : last;
    return {static_cast<std::size_t>(first), static_cast<std::size_t>(last)};
}
template <class A, class B>
constexpr auto keys_of(const both_masks<A, B>& m, std::size_t i, std::size_t n_k) -> decltype(keys_of(m.first, i, n_k), keys_of(m.second, i, n_k)) {
    const key_range a = keys_of(m.first, i, n_k), b = keys_of(m.second, i, n_k);
    const std::size_t first = a.first > b.first ? a.first : b.first, last = a.last < b.last ? a.last : b.last;
    return {first < last ? first : last, last};
}
template <class M>
concept mask_of_ranges = requires(const M& m) { keys_of(m, std::size_t{0}, std::size_t{0}); };

/// What some neighbouring rows see.
class mask_rows {
public:
    /// Rows [row, row + count) of a mask. Shapes: n_q × n_k.
    template <mask M> void look(const M& m, std::size_t row, std::size_t count, std::size_t n_k) {
        static_assert(!attest::detail::has_factor<M> && !attest::detail::has_sink<M>, "the double path has no masks with a factor (dropout) or a sink");
        n_k_ = n_k;
        everything_ = std::same_as<M, everything>;
        if (everything_) return;
        bias_.clear();
        first_.assign(count, 0);
        last_.assign(count, n_k);
        if constexpr (mask_of_ranges<M>) {
            for (std::size_t i = 0; i < count; ++i) {
                const key_range keys = keys_of(m, row + i, n_k);
                first_[i] = keys.first;
                last_[i] = keys.last;
            }
        } else {
            bias_.resize(count * n_k);
            for (std::size_t i = 0; i < count; ++i)
                for (std::size_t j = 0; j < n_k; ++j) {
                    double& bias = bias_[i * n_k + j];
                    if constexpr (attest::detail::is_additive<M>) bias = m.visible(row + i, j) ? static_cast<double>(m.added(row + i, j)) : hidden;
                    else bias = m.visible(row + i, j) ? 0 : hidden; // adding 0 rounds nothing
                }
        }
    }

    /// The keys that any of the rows sees lie in these.
    [[nodiscard]] key_range keys() const {
        if (everything_) return {0, n_k_};
        key_range all{n_k_, 0};
        for (std::size_t i = 0; i < first_.size(); ++i)
            if (first_[i] < last_[i]) {
                if (first_[i] < all.first) all.first = first_[i];
                if (last_[i] > all.last) all.last = last_[i];
            }
        return all.first < all.last ? all : key_range{0, 0};
    }

    /// For a block of scores that begins at key `from`.
    [[nodiscard]] visibility from(std::size_t from) {
        visibility block;
        if (everything_) return block;
        if (!bias_.empty()) block.bias = bias_.data() + from;
        block.bias_row = static_cast<std::ptrdiff_t>(n_k_);
        begins_.resize(first_.size());
        ends_.resize(last_.size());
        for (std::size_t i = 0; i < first_.size(); ++i) {
            begins_[i] = first_[i] > from ? first_[i] - from : 0;
            ends_[i] = last_[i] > from ? last_[i] - from : 0;
        }
        block.first = begins_.data();
        block.last = ends_.data();
        return block;
    }

private:
    static constexpr double hidden = -std::numeric_limits<double>::infinity();
    std::vector<std::size_t> first_, last_, begins_, ends_;
    std::vector<double> bias_;
    std::size_t n_k_ = 0;
    bool everything_ = false;
};

} // namespace attest::fast
