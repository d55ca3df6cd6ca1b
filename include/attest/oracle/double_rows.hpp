// SPDX-License-Identifier: BSL-1.0
/// \file
/// The first rung for many rows at once: attention's results from the kernels of the fast double path (fast/kernels.hpp), each with a proved radius
/// that costs next to nothing, because it is made of bounds of whole rows and columns.
///
/// Derivation, for query i. u = 2^−53, γ_r = r u/(1 − r u); σ is the scale, known as the double σ^ within ρ; b_j a mask's bias; K, N, V bounds below.
///
/// 1. Scores. A computed q·k is off by at most γ_d Σ|q_c k_c| + d 2^−1074 (fast/kernels.hpp says how many roundings d stands for), and Σ|q_c k_c| <= ‖q_i‖
///    max_j ‖k_j‖ =: K (Cauchy–Schwarz). Times σ^, and b added:
///        |ŝ_j − s_j| <= E := (|σ^| + ρ)(γ_d + u) K + ρ K + u (2|σ^| K + B), and what underflows, (d + 2) 2^−1073 (1 + |σ^|),
///    B = max|b|. In what follows B = |m| + 710 + 2|σ^| K will do, if that is less: a key with a greater |b| has b < 0 and ŝ − m < −708, and so counts as nothing whatever
///    its error is, for that is far below ŝ − m.
/// 2. Weights. With m the greatest ŝ, p_j = exp(ŝ_j − m) as computed is e^{s_j − m} e^{θ_j} + a_j: |θ_j| <= Θ := E + u X + 1.01 ε, X = m − min ŝ (at most
///    746: below, a_j is what counts), ε = exp_error_relative, |a_j| <= τ = 2^−1021. The greatest p is exp(0) = 1, exactly, so P := Σ p_j >= 1.
/// 3. Moved weights. Write α for the exact weights and o' = Σ w_j v_j / Σ w_j, w_j = e^{s_j − m} e^{θ_j}. As in limits_row.hpp,
///        |o' − o| <= (e^Θ − 1) e^Θ Σ α_j |v_j − o|,
///    and Σ α_j |v_j − o| <= min(2 V, R (N + √n |o|)): V = max_j |v_j|, N = √Σ v_j², R >= √Σα_j² (Cauchy–Schwarz again), which is √Σp² / P but for Θ.
/// 4. Sums. Σ p_j v_j is off by γ_n Σ p_j |v_j| + n 2^−1074, and Σ p_j |v_j| / P <= min(V, R N); P by γ_l P; the quotient is rounded:
///        |out − o'| <= γ_n min(V, R N) + (γ_l + 2u) |out| + n τ (V + |out| + 2).
/// 5. A weight p_j / P is off by (2Θ + γ_l + 2u) of itself, and 2τ.
/// 6. lse = m + log P is off by Θ + γ_l + n τ + ε_log |log P| + u |lse|.
///
/// All bounds are raised by 2^−20 of themselves for what is of second order (Θ, γ < 2^−30, or the row goes to the next rung) and for their own roundings.
/// Hidden keys have p = 0 exactly, and their v and k, which may be anything, are read as 0.
///
/// All numbers come from operations whose order and rounding are fixed, so that values, radii, and the limits that rest on them have the same bits everywhere.
#pragma once

#include "attest/elementary/log.hpp"
#include "attest/fast/compiled.hpp"
#include "attest/oracle/ladder.hpp"
#include "attest/oracle/packed_slice.hpp"
#include "attest/oracle/seen_keys.hpp"

namespace attest {

/// See the head of this file. What is given must stay.
class double_rows {
public:
    double_rows(const conventions& how, const attention_problem& p, const fast::kernels& kernels)
        : p_{p}, kernels_{kernels}, slice_(p, kernels, detail::infinity_of_double), seen_(how, p) {}

    /// How many rows are best evaluated together: their scores stay near the processor, and memory stays linear in the number of keys.
    /// `graded`: with their gradients, whose sums over rows are dearer the fewer rows they take at once.
    [[nodiscard]] std::size_t block(bool graded = false) const { return std::clamp<std::size_t>((std::size_t{1} << 17) / std::max<std::size_t>(p_.n_k, 1), graded ? 32 : 1, 64); }

    /// Makes a slice current, which is the engine's.
    void enter(const attention_engine<ball<double>>& engine, std::size_t slice) {
        exact_scale_ = engine.score().scale();
        scale_ = exact_scale_.middle();
        scale_error_ = exact_scale_.radius().as_double();
        slice_.enter(slice);
        seen_.enter(engine, slice);
    }

    /// Evaluates rows of the slice.
    void evaluate(std::span<const std::size_t> rows) {
        const std::size_t m = rows.size();
        queries_.resize(m * p_.d_k);
        scores_.resize(m * p_.n_k);
        weights_.resize(m * p_.n_k);
        out_.resize(m * p_.d_v);
        out_radius_.resize(m * p_.d_v);
        rows_.assign(m, {});
        seen_.look(rows, slice_.unknown());
        for (std::size_t r = 0; r < m; ++r) {
            rows_[r].i = rows[r];
            rows_[r].clear = slice_.read_query(rows[r], queries_.data() + r * p_.d_k) && seen_[r].known;
        }
        const auto n = static_cast<std::ptrdiff_t>(p_.n_k), d_v = static_cast<std::ptrdiff_t>(p_.d_v);
        kernels_.multiply({.a = {queries_.data(), static_cast<std::ptrdiff_t>(p_.d_k)}, .m = m, .depth = p_.d_k, .b = slice_.packed_keys(), .b_depth = p_.d_k, .n = p_.n_k, .c = scores_.data(), .c_row = n, .scale = scale_});
        maximum_.resize(m);
        sum_.resize(m);
        kernels_.exponentials({.s = scores_.data(), .s_row = n, .m = m, .n = p_.n_k, .p = weights_.data(), .p_row = n, .maximum = maximum_.data(), .sum = sum_.data(), .mask = seen_.mask(0)});
        kernels_.multiply({.a = {weights_.data(), n}, .m = m, .depth = p_.n_k, .b = slice_.packed_values(), .b_depth = p_.n_k, .n = p_.d_v, .c = out_.data(), .c_row = d_v, .divisors = sum_.data()});
        for (std::size_t r = 0; r < m; ++r) bound(r);
    }

    static constexpr double tiny_weight = 0x1p-1020; ///< what a weight may be off by beside a part of itself

    /// Whether row r of those that were evaluated is known well enough for limits (its weights to 2^−32), and sees any key.
    [[nodiscard]] bool is_clear(std::size_t r) const { return rows_[r].clear; }
    /// Calls f(element, value) for the elements of one result of row r.
    template <class F> void for_each_result(std::string_view name, std::size_t r, const F& f) const {
        const row& of = rows_[r];
        if (name == "lse") return f(0, ball<double>(of.lse, upper_bound(of.lse_radius)));
        if (name == "out") {
            for (std::size_t c = 0, at = r * p_.d_v; c < p_.d_v; ++c, ++at) f(c, ball<double>(out_[at], upper_bound(out_radius_[at])));
            return;
        }
        const bool weights = name == "weights";
        for (std::size_t j = 0, at = r * p_.n_k; j < p_.n_k; ++j, ++at)
            if (!seen_.visible(r, j)) f(j, weights ? ball<double>() : ball<double>::declared(ball<double>::kind::minus_infinity));
            else if (!weights) f(j, ball<double>(score_at(r, j), upper_bound(of.score_radius)));
            else f(j, ball<double>(weight(r, j), upper_bound(is_lone(r) ? 0 : detail::unfused(of.weight_error * weight(r, j)) + tiny_weight)));
    }
    [[nodiscard]] row_values values(std::size_t r, std::size_t slice) const {
        row_values values{slice, rows_[r].i, {}, {}, {}, {out_.begin() + static_cast<std::ptrdiff_t>(r * p_.d_v), out_.begin() + static_cast<std::ptrdiff_t>((r + 1) * p_.d_v)}, rows_[r].lse, true, {}};
        values.visible.reserve(p_.n_k);
        values.scores.reserve(p_.n_k);
        values.weights.reserve(p_.n_k);
        for (std::size_t j = 0; j < p_.n_k; ++j) {
            if (!seen_.visible(r, j)) continue;
            values.visible.push_back(j);
            values.scores.push_back(score_at(r, j));
            values.weights.push_back(weight(r, j));
        }
        return values;
    }

    /// \name For the gradients: of the slice, and of the rows that were evaluated
    /// @{
    [[nodiscard]] const packed_slice& slice() const { return slice_; }
    [[nodiscard]] const ball<double>& scale() const { return exact_scale_; }
    [[nodiscard]] bool visible(std::size_t r, std::size_t j) const { return seen_.visible(r, j); }
    [[nodiscard]] bool is_lone(std::size_t r) const { return seen_[r].visible == 1; } ///< sees one key, whose weight is 1 exactly
    [[nodiscard]] const double* query(std::size_t r) const { return queries_.data() + r * p_.d_k; }
    [[nodiscard]] double weight(std::size_t r, std::size_t j) const { return weights_[r * p_.n_k + j] / sum_[r]; } ///< of a visible key
    [[nodiscard]] double weight_error(std::size_t r) const { return rows_[r].weight_error; }                         ///< as a part
    [[nodiscard]] const double* out(std::size_t r) const { return out_.data() + r * p_.d_v; }
    [[nodiscard]] const double* out_radius(std::size_t r) const { return out_radius_.data() + r * p_.d_v; }
    /// @}

private:
    struct row {
        std::size_t i = 0;
        bool clear = true;
        double score_radius = 0, weight_error = 0, lse = 0, lse_radius = 0;
    };
    static constexpr double unit = 0x1p-53, slack = detail::raised;

    [[nodiscard]] double score_at(std::size_t r, std::size_t j) const { return seen_.with_bias(scores_[r * p_.n_k + j], r, j); }

    // The radii of a row.
    void bound(std::size_t r) {
        row& of = rows_[r];
        if (!of.clear) return;
        double least = maximum_[r], squares = 0;
        for (std::size_t j = 0, at = r * p_.n_k; j < p_.n_k; ++j, ++at) {
            if (!seen_.visible(r, j)) continue;
            least = std::min(least, score_at(r, j));
            squares += detail::unfused(weights_[at] * weights_[at]);
        }
        const double n = static_cast<double>(p_.n_k), d = static_cast<double>(p_.d_k), scale = detail::absolute(scale_);
        const double product = detail::unfused(detail::norm_above({queries_.data() + r * p_.d_k, p_.d_k}) * slice_.key_norm());
        // (Products with the scale come first: it may be so small that what it is multiplied by must be great.)
        const double scaled = detail::unfused((scale + scale_error_) * product);
        const double but_for_bias = detail::unfused((detail::gamma_above(fast::roundings_of_products(p_.d_k)) + unit) * scaled) + detail::unfused(scale_error_ * product) + detail::unfused(2 * unit * detail::unfused(scale * product)) +
                                    detail::unfused((d + 2) * 0x1p-1073 * (1 + scale));
        const double bias_that_counts = std::min(seen_[r].greatest_bias, detail::absolute(maximum_[r]) + 710 + 2 * detail::unfused(scale * product));
        const double error = detail::unfused((but_for_bias + detail::unfused(unit * bias_that_counts)) * slack);
        const double theta = detail::unfused((error + detail::unfused(unit * std::min(maximum_[r] - least, 746.0)) + 1.01 * exp_error_relative) * slack);
        const double sum_error = detail::gamma_above(fast::roundings_of_row_sum(p_.n_k));
        // Below 2^900 nothing overflows on the way.
        of.clear = detail::unfused(product * (scale + 1)) + seen_[r].greatest_bias < 0x1p900 && theta + sum_error < 0x1p-33;
        if (!of.clear) return;
        const double root_of_squares = detail::unfused(detail::root_above(squares, p_.n_k) / sum_[r] * slack), root_of_n = detail::unfused(std::sqrt(n) * slack);
        const double product_error = detail::gamma_above(fast::roundings_of_products(p_.n_k)), flushed = n * 0x1p-1021;
        for (std::size_t c = 0; c < p_.d_v; ++c) {
            const double o = detail::absolute(out_[r * p_.d_v + c]), v = slice_.greatest(c);
            const double moved = std::min(2 * v, detail::unfused(root_of_squares * (slice_.norm(c) + detail::unfused(root_of_n * (o + 0x1p-30 * v)))));
            const double summed = std::min(v, detail::unfused(root_of_squares * slice_.norm(c)));
            const double radius = detail::unfused(theta * moved) + detail::unfused(product_error * summed) + detail::unfused((sum_error + 2 * unit) * o) + detail::unfused(flushed * (v + o + 2));
            // A lone key weighs 1, and a column of zeros adds up to 0: exactly.
            out_radius_[r * p_.d_v + c] = seen_[r].visible == 1 || v == 0 ? 0 : n * v < 0x1p900 ? detail::unfused(radius * slack) : detail::infinity_of_double;
        }
        of.score_radius = detail::unfused((but_for_bias + detail::unfused(unit * seen_[r].greatest_bias)) * slack);
        of.weight_error = (2 * theta + sum_error + 2 * unit) * slack;
        const double log_sum = attest::log(sum_[r]);
        of.lse = maximum_[r] + log_sum;
        of.lse_radius = (theta + sum_error + flushed + detail::unfused(log_error_relative * detail::absolute(log_sum)) + detail::unfused(unit * detail::absolute(of.lse))) * slack;
    }

    const attention_problem& p_;
    const fast::kernels& kernels_;
    packed_slice slice_;
    seen_keys<double> seen_;
    ball<double> exact_scale_;
    double scale_ = 1, scale_error_ = 0; // its parts
    // Of the rows at hand.
    std::vector<row> rows_;
    std::vector<double> queries_, scores_, weights_, maximum_, sum_, out_, out_radius_;
};

} // namespace attest
