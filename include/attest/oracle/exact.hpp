// SPDX-License-Identifier: BSL-1.0
/// \file
/// The exact values: the formulas of `formula/`, evaluated in `real<50>`, a row at a time, with an estimate of their own error.
///
/// The radius is an estimate with wide margins, not yet a proof: 192-bit arithmetic, with every source of error counted at 2^−180 of the sizes that
/// go into it, more than 2000 times what one operation loses. Later versions replace it by proven enclosures. Memory is linear in the inputs, but for a
/// mask that broadcasts: it is written out to n_q × n_k.
#pragma once

#include "attest/arithmetic/real.hpp"
#include "attest/formula/attention.hpp"
#include "attest/oracle/problem.hpp"
#include "attest/oracle/tracked.hpp"

namespace attest {

using exact_vector = tensor<exact_number, dynamic_axis>;
using exact_matrix = tensor<exact_number, dynamic_axis, dynamic_axis>;

/// One query's exact stages, and what the limits need to know of the way there. Vectors over keys have n_k entries.
struct exact_row {
    std::vector<std::size_t> visible; ///< the keys that the query sees, ascending
    exact_vector raw_scores;          ///< q_i · k_j, for every key; empty unless asked for
    exact_vector scores;              ///< what enters softmax; meaningless where not visible
    exact_vector weights;
    exact_vector out;
    exact_number lse{0};
    std::vector<double> raw_size;     ///< Σ_c |q_ic k_jc|, in double
    std::vector<double> operands;     ///< Σ_c |q_ic| + |k_jc|, in double
    double weight_radius = 0;         ///< relative error estimate of a weight
    std::vector<double> out_radius;   ///< absolute error estimate of each output component
    std::vector<double> score_radius; ///< absolute error estimate of each score
    double lse_radius = 0;            ///< absolute error estimate of lse
    bool finite_inputs = true;        ///< no NaN or infinity in what the row sees, and no product beyond the range of double
};

namespace detail {

// Causal alignment and bias together, over one slice; entries of the bias are exact.
struct problem_mask {
    causal_alignment causal;
    std::size_t n_q, n_k;
    const matrix_view* bias;

    [[nodiscard]] bool visible(std::size_t i, std::size_t j) const {
        if (causal == causal_alignment::top_left && !causal_top_left{}.visible(i, j)) return false;
        if (causal == causal_alignment::bottom_right && !causal_bottom_right{n_q, n_k}.visible(i, j)) return false;
        return bias == nullptr || (*bias)(i, j) != -infinity_of_double;
    }
    [[nodiscard]] exact_number added(std::size_t i, std::size_t j) const {
        return bias == nullptr ? exact_number(0) : exact_number((*bias)(i, j));
    }
};

inline double absolute(double x) { return x < 0 ? -x : x; }

// A key so far under the greatest score, less twice its own error, weighs less than e^−1000000, and its error does not matter to the others.
inline constexpr double negligible_distance = 1e6;

// An estimate that leaves the range of double is as useless as the greatest double.
inline double bounded(double radius) { return std::min(radius, formats::f64.greatest()); }

// Error estimates: a score is off by at most 2^−180 of the sizes that went into it, a weight by the errors of the scores that count and by exp's.
inline void estimate_radii(exact_row& row, double scale, std::size_t d_k, const problem_mask& mask, std::size_t i, const matrix_view& v) {
    row.out_radius.assign(row.out.length(0), 0.0);
    row.score_radius.assign(row.raw_size.size(), 0.0);
    // Without a visible key the result is decided, and of NaN and infinity nothing is judged.
    if (row.visible.empty() || !row.finite_inputs) return;
    const double unit = 0x1p-180;
    double greatest = -infinity_of_double;
    for (const std::size_t j : row.visible) greatest = std::max(greatest, static_cast<double>(row.scores(j)));
    double least = greatest, worst = 0;
    for (const std::size_t j : row.visible) {
        const double bias = mask.bias == nullptr ? 0.0 : absolute((*mask.bias)(i, j));
        // The last term: products that double, in which the size is, takes for 0.
        const double radius = unit * (scale * row.raw_size[j]) + unit * bias + unit * (scale * (static_cast<double>(d_k) * 0x1p-1074));
        row.score_radius[j] = radius;
        const auto s = static_cast<double>(row.scores(j));
        if (greatest - s > negligible_distance + 2 * radius) continue;
        worst = std::max(worst, radius);
        least = std::min(least, s);
    }
    row.weight_radius = 4 * worst + unit * (greatest - least + 64 + 16 * static_cast<double>(row.visible.size()));
    for (const std::size_t j : row.visible) {
        const double off = static_cast<double>(row.weights(j)) * row.weight_radius * 2;
        for (std::size_t c = 0; c < row.out.length(0); ++c) row.out_radius[c] = bounded(row.out_radius[c] + off * absolute(v(j, c)));
    }
    row.lse_radius = worst + unit * (absolute(greatest) + 64 + static_cast<double>(row.visible.size()));
}

} // namespace detail

/// Evaluates an attention problem row by row.
class exact_attention {
public:
    explicit exact_attention(const attention_problem& p)
        : p_{p}, scale_{p.how.dot_score() ? exact_number(1)
                        : p.how.scale   ? number_from<exact_number>("scale", *p.how.scale)
                                        : scaled_dot_product<exact_number>::of_dimension(p.d_k).scale} {
        if (!(detail::absolute(scale()) < detail::infinity_of_double)) throw usage_error("'scale' " + p.how.scale.value_or("") + " is beyond the range of f64");
    }

    [[nodiscard]] double scale() const { return static_cast<double>(scale_); }

    /// Makes a slice (batch and head) current.
    void enter(std::size_t slice) {
        q_.emplace(p_.q[source_slice(p_.batch, p_.q.batch, slice)]);
        k_.emplace(p_.k[source_slice(p_.batch, p_.k.batch, slice)]);
        v_.emplace(p_.v[source_slice(p_.batch, p_.v.batch, slice)]);
        exact_k_ = exact_matrix(*k_);
        exact_v_ = exact_matrix(*v_);
        bias_.reset();
        if (p_.bias) bias_.emplace((*p_.bias)[source_slice(p_.batch, p_.bias->batch, slice)]);
    }
    /// V of the current slice.
    [[nodiscard]] const matrix_view& values() const { return *v_; }
    /// The bias of the current slice, if there is a mask.
    [[nodiscard]] const matrix_view* bias() const { return bias_ ? &*bias_ : nullptr; }

    /// Row i of the current slice.
    [[nodiscard]] exact_row row(std::size_t i, bool want_raw_scores) const {
        const detail::problem_mask mask{p_.how.causal, p_.n_q, p_.n_k, bias()};
        const exact_vector q_i((*q_)[i]);
        exact_row row;
        row.raw_scores = exact_vector::with_lengths(want_raw_scores ? p_.n_k : 0);
        row.raw_size.assign(p_.n_k, 0.0);
        row.operands.assign(p_.n_k, 0.0);
        for (std::size_t j = 0; j < p_.n_k; ++j) {
            if (want_raw_scores) row.raw_scores(j) = dot(q_i, exact_k_[j]);
            for (std::size_t c = 0; c < p_.d_k; ++c) {
                row.raw_size[j] += detail::absolute((*q_)(i, c) * (*k_)(j, c));
                row.operands[j] = detail::bounded(row.operands[j] + detail::absolute((*q_)(i, c)) + detail::absolute((*k_)(j, c)));
            }
            if (!mask.visible(i, j)) continue;
            row.visible.push_back(j);
            bool finite = row.raw_size[j] < detail::infinity_of_double && detail::absolute(scale()) * row.raw_size[j] < detail::infinity_of_double;
            for (std::size_t c = 0; c < p_.d_v; ++c) finite = finite && detail::absolute((*v_)(j, c)) < detail::infinity_of_double;
            if (bias_) finite = finite && detail::absolute((*bias_)(i, j)) < detail::infinity_of_double;
            row.finite_inputs = row.finite_inputs && finite;
        }
        auto stages = attend(q_i, exact_k_, exact_v_, i, mask, scaled_dot_product<exact_number>{scale_}, p_.how.empty_row_is_nan ? empty_row::nan : empty_row::zero);
        row.scores = std::move(stages.scores);
        for (const std::size_t j : row.visible) // the sum of score and bias may be beyond f64 where neither is
            row.finite_inputs = row.finite_inputs && detail::absolute(static_cast<double>(row.scores(j))) < detail::infinity_of_double;
        row.weights = std::move(stages.weights);
        row.out = std::move(stages.out);
        row.lse = log_sum_exp(row.scores, detail::mask_row<detail::problem_mask>{mask, i});
        detail::estimate_radii(row, detail::absolute(scale()), p_.d_k, mask, i, *v_);
        return row;
    }

private:
    const attention_problem& p_;
    exact_number scale_;
    std::optional<matrix_view> q_, k_, v_, bias_;
    exact_matrix exact_k_, exact_v_;
};

/// Calls f(slice, i, row, evaluator) for every row of the problem, in order.
template <class F> void for_each_row(const attention_problem& p, bool want_raw_scores, F f) {
    exact_attention exact(p);
    for (std::size_t slice = 0; slice < p.slices(); ++slice) {
        exact.enter(slice);
        for (std::size_t i = 0; i < p.n_q; ++i) f(slice, i, exact.row(i, want_raw_scores), exact);
    }
}

/// A fibre of a softmax problem as a row whose scores are x and whose weights are the result. An x of −∞ is not visible: its weight is 0, or NaN
/// where all x are −∞.
[[nodiscard]] inline exact_row exact_softmax(const softmax_problem& p, std::size_t fibre) {
    const std::size_t n = p.length();
    exact_row row;
    row.scores = exact_vector::with_lengths(n);
    row.raw_size.assign(n, 0.0);
    double greatest = -detail::infinity_of_double, least = detail::infinity_of_double;
    for (std::size_t j = 0; j < n; ++j) {
        const double x = p.x[p.first(fibre) + j * p.stride()];
        row.scores(j) = exact_number(x);
        if (x == -detail::infinity_of_double) continue;
        row.visible.push_back(j);
        row.finite_inputs = row.finite_inputs && x < detail::infinity_of_double; // NaN and +∞ make the row NaN
        greatest = std::max(greatest, x);
    }
    for (std::size_t j = 0; j < n; ++j)
        if (const double x = p.x[p.first(fibre) + j * p.stride()]; greatest - x <= detail::negligible_distance) least = std::min(least, x);
    row.weights = softmax(row.scores);
    for (const std::size_t j : row.visible) // lse from the weight of the greatest
        if (row.finite_inputs && p.x[p.first(fibre) + j * p.stride()] == greatest) row.lse = row.scores(j) - log(row.weights(j));
    row.lse = log_sum_exp(row.scores);
    row.weight_radius = 0x1p-180 * ((greatest > least ? greatest - least : 0) + 64 + 16 * static_cast<double>(n));
    return row;
}

} // namespace attest
