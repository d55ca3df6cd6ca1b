// SPDX-License-Identifier: BSL-1.0
/// \file
/// What the errors of a slice's rows may add up to in its gradients, for the rungs that evaluate whole blocks.
///
/// Derivation. Query i, with α its weights, dz its row of dout: da_j = dz·v_j, D = dz·out, dS_j = α_j (da_j − D). Of what was computed,
///
///     |α^_j − α_j| <= ω α^_j + τ,   |(da^_j − D^) − (da_j − D)| <= e,   dS^_j is α^_j (da^_j − D^) but for ρ |dS^_j|,
///
/// e = e_da + e_D from norms of rows (Cauchy–Schwarz: Σ_c |dz_c v_jc| <= ‖dz‖ ‖v_j‖). |da_j − D| <= X := 2 ‖dz‖ max_j ‖v_j‖, and so
///
///     |dS^_j − dS_j| <= (ω + ρ) |dS^_j| + e α^_j + τ (X + e).
///
/// Let a sum of products be off by Γ Σ|a b| itself, and let κ be what the scale is off by, as a part of it. With K_c = √Σ_j k_jc², and Q_c, Z_c the same of q and dz
/// over the rows, once more by Cauchy–Schwarz and √Σ(a + b)² <= √Σa² + √Σb²,
///
///     |dq_c error| <= |σ| ( ((ω + ρ + Γ + κ) √Σ_j dS^² + e √Σ_j α^²) K_c      + Σ_j τ (X + e) |k_jc| ),
///     |dk_jc error| <= |σ| ( √Σ_i ((ω_i + ρ + Γ + κ) |dS^_ij| + e_i α^_ij)² Q_c + Σ_i τ (X_i + e_i) |q_ic| ),
///     |dv_jc error| <= √Σ_i ((ω_i + Γ) α^_ij)² Z_c + Σ_i τ |dz_ic|.
///
/// All bounds are raised as in oracle/norms.hpp.
#pragma once

#include "attest/oracle/norms.hpp"

#include <vector>

namespace attest {

/// See the head of this file.
class gradient_errors {
public:
    /// Of one row; the first two as parts.
    struct row {
        double weight = 0;   ///< ω
        double slope = 0;    ///< ω + ρ + κ
        double common = 0;   ///< e
        double absolute = 0; ///< τ (X + e), or more
        double flushed = 0;  ///< τ
    };
    /// Of one row, over its keys: √Σ dS^², √Σ α^².
    struct norms {
        double slopes = 0, weights = 0;
    };

    /// `of_sums`: Γ of the sums over rows.
    void begin(std::size_t keys, std::size_t d_k, std::size_t d_v, double of_sums) {
        of_sums_ = of_sums;
        for (std::vector<double>* of : {&dk_squares_, &dv_squares_, &absolute_, &flushed_}) of->assign(keys, 0.0);
        queries_.begin(d_k);
        douts_.begin(d_v);
    }
    /// A row's weights and slopes of keys [first, last), 0 where hidden. `seen(j)`: is key j visible?
    template <class Seen> [[nodiscard]] norms add(const row& of, const double* query, const double* dout, const double* weights, const double* slopes, std::size_t first, std::size_t last, const Seen& seen) {
        queries_.add(query);
        douts_.add(dout);
        double slope_squares = 0, weight_squares = 0;
        const double slope = of.slope + of_sums_, weight = of.weight + of_sums_;
        for (std::size_t j = first; j < last; ++j) {
            const double a = weights[j - first], s = slopes[j - first];
            slope_squares += detail::unfused(s * s);
            weight_squares += detail::unfused(a * a);
            const double of_slope = detail::unfused(slope * detail::absolute(s)) + detail::unfused(of.common * a), of_weight = detail::unfused(weight * a);
            dk_squares_[j] += detail::unfused(of_slope * of_slope);
            dv_squares_[j] += detail::unfused(of_weight * of_weight);
            if (!seen(j)) continue;
            absolute_[j] += of.absolute;
            flushed_[j] += of.flushed;
        }
        return {detail::root_above(slope_squares, last - first), detail::root_above(weight_squares, last - first)};
    }
    /// Of one slope of that row.
    [[nodiscard]] static double of_slope(const row& of, double slope, double weight) {
        return detail::unfused((detail::unfused(of.slope * detail::absolute(slope)) + detail::unfused(of.common * weight) + of.absolute) * detail::raised);
    }

    /// Of Σ_i dS_ij q_ic and Σ_i α_ij dz_ic; 0 where no row sees the key.
    [[nodiscard]] double of_key(std::size_t j, std::size_t c) const { return sum(dk_squares_[j], absolute_[j], queries_, c); }
    [[nodiscard]] double of_value(std::size_t j, std::size_t c) const { return sum(dv_squares_[j], flushed_[j], douts_, c); }
    [[nodiscard]] const detail::column_sizes& queries() const { return queries_; }
    [[nodiscard]] const detail::column_sizes& douts() const { return douts_; }

private:
    [[nodiscard]] static double sum(double squares, double absolute, const detail::column_sizes& columns, std::size_t c) {
        if (absolute == 0 || columns.greatest(c) == 0) return 0;
        const double rows = static_cast<double>(columns.rows());
        return detail::unfused((detail::unfused(detail::root_above(squares, columns.rows()) * columns.norm(c)) + detail::unfused(absolute * columns.greatest(c)) + rows * 0x1p-1074) * detail::raised);
    }

    double of_sums_ = 0;
    std::vector<double> dk_squares_, dv_squares_, absolute_, flushed_; // of each key
    detail::column_sizes queries_, douts_;
};

} // namespace attest
