// SPDX-License-Identifier: BSL-1.0
/// \file
/// What the rows of a block see, for rungs that evaluate whole blocks: a truth for each pair, and what a mask adds to its score.
#pragma once

#include "attest/fast/kernels.hpp"
#include "attest/oracle/attention_engine.hpp"
#include "attest/oracle/ladder.hpp"

namespace attest {

/// See the head of this file. What is given must stay.
template <class S> class seen_keys {
public:
    struct row {
        std::size_t visible = 0, first = 0, last = 0; ///< how many keys; all of them lie in [first, last)
        bool known = true;                            ///< sees at least one key, and nothing that is no number
        double greatest_bias = 0;                     ///< of the visible keys, in size
    };

    seen_keys(const conventions& how, const attention_problem& p) : how_{how}, p_{p} {}

    void enter(const attention_engine<ball<S>>& engine, std::size_t slice) {
        engine_ = &engine;
        all_ = how_.causal == causal_alignment::none && !how_.window && !p_.bias && engine.rules().keys(slice) == p_.n_k;
        bias_.reset();
        if (p_.bias && p_.bias_adds) bias_.emplace((*p_.bias)[source_slice(p_.batch, p_.bias->batch, slice)]);
    }
    /// `unknown`: the keys that hold what is no number.
    void look(std::span<const std::size_t> rows, const std::vector<bool>& unknown) {
        added_.clear();
        rows_.assign(rows.size(), {});
        if (all_) {
            const bool all_known = std::find(unknown.begin(), unknown.end(), true) == unknown.end();
            for (row& r : rows_) r = {p_.n_k, 0, p_.n_k, all_known && p_.n_k > 0, 0};
            return;
        }
        seen_.resize(rows.size() * p_.n_k);
        if (bias_) added_.assign(rows.size() * p_.n_k, 0.0);
        for (std::size_t r = 0; r < rows.size(); ++r) {
            row& of = rows_[r];
            for (std::size_t j = 0; j < p_.n_k; ++j) {
                const bool seen = engine_->visible(rows[r], j);
                seen_[r * p_.n_k + j] = seen ? 1 : 0;
                if (!seen) continue;
                if (of.visible++ == 0) of.first = j;
                of.last = j + 1;
                of.known = of.known && !unknown[j];
                if (!bias_) continue;
                const double b = (*bias_)(rows[r], j);
                added_[r * p_.n_k + j] = b;
                of.known = of.known && detail::is_finite_number(b);
                of.greatest_bias = std::max(of.greatest_bias, b < 0 ? -b : b);
            }
            of.known = of.known && of.visible > 0;
        }
    }

    [[nodiscard]] const row& operator[](std::size_t r) const { return rows_[r]; }
    [[nodiscard]] bool visible(std::size_t r, std::size_t j) const { return all_ || seen_[r * p_.n_k + j] != 0; }
    /// A score of row r and what the mask adds to it.
    [[nodiscard]] double with_bias(double score, std::size_t r, std::size_t j) const { return added_.empty() ? score : score + added_[r * p_.n_k + j]; }
    /// For the kernels, from a key on.
    [[nodiscard]] fast::visibility mask(std::size_t from) const {
        const auto n = static_cast<std::ptrdiff_t>(p_.n_k);
        if (all_) return {};
        return {.seen = seen_.data() + from, .seen_row = n, .bias = added_.empty() ? nullptr : added_.data() + from, .bias_row = n};
    }

private:
    const conventions& how_;
    const attention_problem& p_;
    const attention_engine<ball<S>>* engine_ = nullptr;
    bool all_ = true;
    std::optional<matrix_view> bias_;
    std::vector<row> rows_;
    std::vector<double> added_;
    std::vector<unsigned char> seen_;
};

} // namespace attest
