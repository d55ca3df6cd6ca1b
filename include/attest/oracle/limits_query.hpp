// SPDX-License-Identifier: BSL-1.0
/// \file
/// What the stored components of one query do to the output: ∂o_e/∂q_c = scale Σ_j α_j slope_j k_jc (f_j v_je − o_e), for all c and e at once.
///
/// One stored q_c moves all scores of its row, so it is one source, and the sum over keys comes before the square. It takes n · d_k · d_v operations
/// a row. (The cheap way, Σ_j α_j |v_j − o| times the size of what q does to score j, takes the errors of all keys for aligned, and is √n times too
/// much.)
///
/// It makes no difference whether products and sums are fused, since the products are exact: weights are rounded to 20 bits, keys and values to 16. That is
/// made up for by `rounded`.
#pragma once

#include "attest/fast/limit_kernels.hpp"
#include "attest/oracle/limits_row.hpp"
#include "attest/oracle/limits_score_sizes.hpp"

#include <concepts>

namespace attest {

namespace detail {

// The first `bits` significant bits of x, to nearest; 0 where products would leave the range.
[[nodiscard]] inline double first_bits(double x, int bits) {
    if (!(size_of(x) > 0x1p-300)) return 0;
    const std::uint64_t drop = std::uint64_t{1} << (53 - bits);
    return std::bit_cast<double>((std::bit_cast<std::uint64_t>(x) + drop / 2) & ~(drop - 1));
}

} // namespace detail

/// Rows of keys or values, rounded to 16 bits, as the kernel takes them.
class rounded_rows {
public:
    rounded_rows() = default;
    /// x(j, c), of n rows.
    template <class X> rounded_rows(std::size_t n, std::size_t columns, const X& x) : values_(n * fast::padded_to_lanes(columns)), rows_(n) {
        for (std::size_t j = 0; j < n; ++j) {
            double* const row = values_.data() + j * fast::padded_to_lanes(columns);
            for (std::size_t c = 0; c < columns; ++c) row[c] = detail::first_bits(x(j, c), 16);
            rows_[j] = row;
        }
    }
    [[nodiscard]] std::span<const double* const> rows() const { return rows_; }
    /// Of some of them.
    [[nodiscard]] std::vector<const double*> rows(std::span<const std::size_t> which) const {
        std::vector<const double*> rows;
        rows.reserve(which.size());
        for (const std::size_t j : which) rows.push_back(rows_[j]);
        return rows;
    }

private:
    std::vector<double> values_;
    std::vector<const double*> rows_;
};

/// See the head of this file. One for a row; only arithmetics that store q ask for it.
class query_moves {
public:
    /// What the sums here are off by, in units of Σ_j α_j |k_jc v_je| and its like: 2^−20 and twice 2^−16, half of each.
    static constexpr double rounded = 0x1.1p-16 + 0x1p-20;

    /// `key(j, c)`, `value(j, e)`: of visible key j, after rotation. `q`: the query as it enters the score.
    template <std::invocable<std::size_t, std::size_t> Key, std::invocable<std::size_t, std::size_t> Value>
    query_moves(const row_facts& f, const score_vector& q, std::size_t d_v, const Key& key, const Value& value)
        : query_moves(f, q, d_v, rounded_rows(f.weight.size(), q.x.size(), key).rows(),
                      rounded_rows(f.weight.size(), d_v, [&](std::size_t j, std::size_t e) { return detail::unfused(f.factor_of(j) * value(j, e)); }).rows()) {}
    /// The same of rows that were rounded before: of each visible key, and its value times its factor.
    query_moves(const row_facts& f, const score_vector& q, std::size_t d_v, std::span<const double* const> keys, std::span<const double* const> values)
        : alike_{q.alike}, stride_{fast::padded_to_lanes(d_v)} {
        const std::size_t n = f.weight.size(), d_k = q.x.size();
        const double scale = f.rule.scale;
        grouped_ = q.norm.empty();
        for (std::size_t c = 0; c < d_k; ++c)
            size_.push_back(detail::unfused(
                scale *
                (grouped_ ? q.x[c] * q.half[c] : attest::sqrt(detail::unfused(3 * q.norm[c] * q.norm[c]) + 2 * detail::unfused(q.x[c] * q.x[c])))));
        double total = f.sink ? f.sink_weight : 0;
        for (const double w : f.weight) total += w;
        std::vector<double> weight(n);
        for (std::size_t j = 0; j < n; ++j) {
            const double t = f.rule.cap > 0 ? attest::tanh(f.scaled[j] / f.rule.cap) : 0;
            weight[j] = detail::first_bits(f.weight[j] / total * detail::unfused((1 - t) * (1 + t)), 20);
        }
        sum_.resize(d_k * stride_);
        mean_.assign(d_k, 0.0);
        f.kernels->moves({n, d_k, d_v, weight.data(), keys.data(), values.data(), sum_.data(), mean_.data()});
    }

    /// Σ over groups of components that round alike of (Σ_c q_c ∂o_e/∂q_c)².
    [[nodiscard]] double square(std::size_t e, double exact) const {
        return over_groups([&](std::size_t c) { return detail::unfused(size_[c] * (sum_[c * stride_ + e] - detail::unfused(mean_[c] * exact))); });
    }
    /// The same for the sum of the weights, relative: Σ_j α_j slope_j k_jc.
    [[nodiscard]] double square_of_sum() const {
        return over_groups([&](std::size_t c) { return detail::unfused(size_[c] * mean_[c]); });
    }

private:
    template <class F> [[nodiscard]] double over_groups(const F& f) const {
        if (grouped_) return alike_.square(f);
        double sum = 0;
        for (std::size_t c = 0; c < size_.size(); ++c) {
            const double one = f(c);
            sum += detail::unfused(one * one);
        }
        return sum;
    }

    detail::alike_components alike_;
    std::size_t stride_;
    bool grouped_ = true;
    std::vector<double> size_; // scale · q_c, or what rotates with it
    std::vector<double> sum_;  // Σ α slope k_jc v_je
    std::vector<double> mean_; // Σ α slope k_jc
};

} // namespace attest
