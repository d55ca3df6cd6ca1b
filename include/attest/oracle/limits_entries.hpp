// SPDX-License-Identifier: BSL-1.0
/// \file
/// What the limits of a row rest on (limits_row.hpp): its weights, and what its scores may be off by in one arithmetic.
#pragma once

#include "attest/elementary/log.hpp"
#include "attest/oracle/limits_facts.hpp"

namespace attest::detail {

// An upper bound of e^x − 1 for x >= 0 that is near x for small x: the mean value theorem.
constexpr double expm1_above(double x, double exp_of_x) noexcept { return x > 700 ? infinity_of_double : unfused(x * exp_of_x * slack); }
constexpr double expm1_above(double x) noexcept { return expm1_above(x, attest::exp(x)); }

// What exps that are flushed do to the output, from above.
[[nodiscard]] inline double flushed(const arithmetic& a, double sum_of_sizes, std::size_t entries, double o) {
    return unfused(a.exp_flush * (sum_of_sizes + unfused(static_cast<double>(entries) * o)));
}

/// The visible keys, then the sink: weights, divided by their sum, and scores. The facts are the caller's, and must stay.
class row_entries {
public:
    explicit row_entries(const row_facts& f) : f_{f}, weight_(f.weight.size() + (f.sink ? 1 : 0)) {
        double total = 0;
        for (const double w : f.weight) total += w;
        if (f.sink) total += f.sink_weight;
        f.kernels->divide(f.weight.data(), f.weight.size(), total, weight_.data());
        if (!f.sink) return;
        weight_.back() = f.sink_weight / total;
        with_sink_ = f.score;
        with_sink_.push_back(*f.sink);
    }
    row_entries(const row_entries&) = delete;
    row_entries& operator=(const row_entries&) = delete;

    [[nodiscard]] const std::vector<double>& weights() const { return weight_; }
    [[nodiscard]] const std::vector<double>& scores() const { return f_.sink ? with_sink_ : f_.score; }

    /// α_j (e^bound − 1), from above; through logarithms where the factors leave the range of double.
    [[nodiscard]] double raised_by(std::size_t j, double bound) const {
        if (is_in_range(j, bound)) return unfused(weight_[j] * expm1_above(bound));
        const double score = scores()[j], log_up = score - f_.lse + bound + 0x1p-50 * size_of(score) + 0x1p-50 * size_of(f_.lse);
        return log_up < 650 ? unfused(attest::exp(log_up) * slack) : 1e290; // sums of them stay finite
    }
    [[nodiscard]] bool is_in_range(std::size_t j, double bound) const { return weight_[j] > 1e-290 && bound < 600; }

private:
    const row_facts& f_;
    std::vector<double> weight_, with_sink_;
};

/// What the scores may be off by.
struct row_score_errors {
    double top = -infinity_of_double, top_of_keys = top; ///< the greatest that one, and one of a key, may be computed as: no shift is greater
    bool overflow = false;                               ///< one may overflow

    row_score_errors(const row_facts& f, const score_errors& of, const row_entries& entries) {
        const std::size_t keys = f.weight.size(), n = entries.weights().size();
        const std::vector<double>& score = entries.scores();
        before_.resize(n);
        if (!f.scores_are_inputs) {
            make_before(f, of, keys);
            for (std::size_t j = 0; j < keys; ++j) overflow |= !(before_[j] < infinity_of_double);
        }
        if (f.scores_are_inputs || !f.alibi.empty() || !f.mask.empty()) {
            added_.resize(n);
            for (std::size_t j = 0; j < keys; ++j) added_[j] = f.scores_are_inputs ? of.of_input(score[j]) : with_added(f, of, j, entries.weights()[j]);
        }
        std::vector<double>& error = added_.empty() ? before_ : added_;
        top = top_of_keys = f.kernels->greatest_sum(score.data(), error.data(), keys);
        if (n == keys) return;
        error[keys] = of.of_sink(score[keys]);
        top = std::max(top, score[keys] + error[keys]);
    }
    [[nodiscard]] const std::vector<double>& before() const { return before_; }                           ///< before anything is added
    [[nodiscard]] const std::vector<double>& error() const { return added_.empty() ? before_ : added_; } ///< as they enter softmax

private:
    void make_before(const row_facts& f, const score_errors& of, std::size_t keys) {
        if (f.rule.cap > 0 || f.plain.terms.empty()) {
            for (std::size_t j = 0; j < keys; ++j) before_[j] = of.before_added(f.size_of_score(j), f.scaled_size(j));
            return;
        }
        fast::score_errors_call call = of.before_added_call();
        call.count = keys;
        call.terms = f.plain.terms.data();
        call.operands = f.plain.operands.data();
        call.of_key = f.plain.of_key.data();
        call.of_query = f.plain.of_query;
        call.scaled = f.scaled.data(); // read where scores are stored
        call.error = before_.data();
        f.kernels->score_errors(call);
    }
    [[nodiscard]] double with_added(const row_facts& f, const score_errors& of, std::size_t j, double weight) {
        const double score = f.score[j], alibi = f.alibi_size(j), mask = f.mask_size(j), moved = of.with_added(before_[j], size_of(score), alibi, mask);
        // −∞ for a score whose key weighs nothing does no harm.
        if ((alibi != 0 || mask != 0) && of.overflows(size_of(score) + moved) && !(score < 0 && weight < 1e-300)) overflow = true;
        return moved;
    }

    std::vector<double> before_, added_; // added_: empty where nothing is added
};

} // namespace attest::detail
