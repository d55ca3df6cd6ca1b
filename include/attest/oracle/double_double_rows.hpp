// SPDX-License-Identifier: BSL-1.0
/// \file
/// The second rung for many rows at once: attention's results as sums of two doubles, from kernels for those (fast/kernels.hpp), with radii from bounds of whole rows and
/// columns, as on the first rung (oracle/double_rows.hpp).
///
/// Derivation, for query i. u = 2^−53, δ_r = error_of_products_in_two(r), about u² r²; σ is the scale, known as σ^ (two doubles) within ρ; b_j a mask's bias;
/// ε = exp_in_two_error.
///
/// 1. Scores. Σ_c |q_c k_c| <= K = ‖q_i‖ max_j ‖k_j‖ (Cauchy–Schwarz) < 2^(E − 1), and so a computed q·k is off by e = δ_d 2^E (δ takes up what underflows).
///    Times σ^ (5u² of it), and b added (u² of q·k σ^ and of the sum):
///        |ŝ_j − s_j| <= F + 2u² |ŝ_j|,  F := (|σ^| + ρ) e + ρ K + 8u² |σ^| K, and what underflows, 2^−1000 (1 + |σ^|).
/// 2. Weights. m is the greatest high part of a ŝ, |m| <= 2^28. p_j = p_high + p_low is e^{s_j − m} e^{θ_j} + a_j. Where ŝ_j − m < −694, p_j is 0, and the exact
///    one is as small, whatever b_j is, for ŝ_j is off by less than 2^−30 and 2^−50 of ŝ_j − m: |a_j| <= τ = 2^−1000. Else |ŝ_j| <= |m| + 694, and the low part of
///    ŝ_j − m is rounded, by u² (|ŝ_j| + 694):
///        |θ_j| <= Θ := F + 3u² (|m| + 1400) + 1.01 ε.
///    The greatest p is at least e^(−u |m|), 1 but for 2^−24: P = Σ p_j >= 1/2. Its sum runs in 8 lanes, L = ⌈n/8⌉ of them in each: the low part collects at most
///    u (k + 1) P in k steps, and is rounded twice in each: off by u² (L + 2)² P; the lanes are added in 3 sums, 3u² each. ε_P = u² ((L + 2)² + 9).
/// 3. Moved weights. Write α for the exact weights and o' = Σ w_j v_j / Σ w_j, w_j = e^{s_j − m} e^{θ_j}. As on the first rung,
///        |o' − o| <= (e^Θ − 1) e^Θ Σ α_j |v_j − o|,  Σ α_j |v_j − o| <= min(2 V, R (N + √n |o|)),
///    V = max_j |v_j|, N = √Σ v_j², R >= √Σα_j², which is √Σp² / P but for Θ.
/// 4. Sums. Σ p_j |v_j| <= √Σp² N < 2^(E − 1), with another E for each row and column; so Σ p_j v_j is off by δ_n 2^E. The quotient loses 11u² of itself:
///        |out − o'| <= δ_n 2^E / P + (ε_P + 11u²) |out| + 2n τ (V + |out| + 2).
/// 5. A weight p_j/P is off by (2Θ + ε_P + 11u²) of itself, and 4τ if p_j is 0; else a_j is what is lost of a subnormal low part, and the quotient may lose as
///    much: 2^−1070.
/// 6. lse = m + log P. y = log P in double, t = P e^−y − 1, |t| < 2^−47: log P = y + log(1 + t), and t is off by 1.01 ε + 6u² + u |t|, log(1 + t) − t by t²: all
///    less than 2^−92. The sums lose 4u² (|lse| + 1); so it is off by Θ + ε_P + 2n τ + 2^−92 + 4u² (|lse| + 1).
///
/// All bounds are raised by 2^−20 of themselves for what is of second order (Θ, δ < 2^−30, or the row goes to the formula itself) and for their own roundings.
/// Keys that hold what is no number, or what is beyond 2^400, are read as 0; rows that see one are not clear. All operations have a fixed order and rounding: the
/// same bits everywhere.
#pragma once

#include "attest/elementary/log.hpp"
#include "attest/fast/compiled.hpp"
#include "attest/oracle/ladder.hpp"
#include "attest/oracle/packed_slice.hpp"
#include "attest/oracle/seen_keys.hpp"

namespace attest {

/// See the head of this file. What is given must stay.
class double_double_rows {
public:
    double_double_rows(const conventions& how, const attention_problem& p, const fast::kernels& kernels)
        : p_{p}, kernels_{kernels}, slice_(p, kernels, 0x1p400), seen_(how, p) {}

    /// How many rows are best evaluated together: few enough for a processor's cache to hold their scores and weights, enough to use each key that is fetched several times.
    /// `graded`: with their gradients, whose sums over rows are dearer the fewer rows they take at once.
    [[nodiscard]] std::size_t block(bool graded = false) const {
        return std::clamp<std::size_t>((std::size_t{3} << (graded ? 15 : 13)) / std::max<std::size_t>(p_.n_k, 1), graded ? 32 : 12, graded ? 96 : 48);
    }

    /// Makes a slice current, which is the engine's.
    void enter(const attention_engine<ball<double_double>>& engine, std::size_t slice) {
        scale_ = engine.score().scale();
        seen_.enter(engine, slice);
        slice_.enter(slice);
        column_base_.resize(p_.d_v);
        for (std::size_t c = 0; c < p_.d_v; ++c) column_base_[c] = detail::base_above(slice_.norm(c));
        ones_.assign(p_.n_k, 1.0);
    }

    /// Evaluates rows of the slice.
    void evaluate(std::span<const std::size_t> rows) {
        const std::size_t m = rows.size(), d = p_.d_k;
        row_ = (p_.n_k + 7) / 8 * 8;
        rows_.assign(m, {});
        seen_.look(rows, slice_.unknown());
        queries_.resize(m * d);
        query_base_.resize(m);
        first_ = p_.n_k;
        last_ = 0;
        for (std::size_t r = 0; r < m; ++r) {
            row& of = rows_[r];
            of.i = rows[r];
            double* const query = queries_.data() + r * d;
            of.clear = slice_.read_query(rows[r], query) && seen_[r].known;
            of.product = times(detail::norm_above({query, d}), slice_.key_norm());
            query_base_[r] = detail::base_above(of.product);
            if (seen_[r].visible == 0) continue;
            first_ = std::min(first_, seen_[r].first / alignment * alignment);
            last_ = std::max(last_, seen_[r].last);
        }
        if (last_ == 0) first_ = 0;
        for (std::vector<double>* of : {&score_high_, &score_low_, &weight_high_, &weight_low_}) of->resize(m * row_);
        maximum_.assign(m, -detail::infinity_of_double);
        sums_.resize(m * sums_of_row);
        for (std::vector<double>* of : {&out_high_, &out_low_}) of->resize(m * p_.d_v);
        for (std::vector<double>* of : {&sum_high_, &sum_low_, &row_base_}) of->resize(m);
        weigh();
        take_logs();
        for (std::size_t r = 0; r < m; ++r) bound(r);
    }

    static constexpr double tiny_weight = 0x1p-998; ///< what a weight may be off by beside a part of itself

    /// Whether row r of those that were evaluated is known well enough for limits (its weights to 2^−32), and sees any key.
    [[nodiscard]] bool is_clear(std::size_t r) const { return rows_[r].clear; }
    /// Calls f(element, value) for the elements of one result of row r.
    template <class F> void for_each_result(std::string_view name, std::size_t r, const F& f) const {
        const row& of = rows_[r];
        if (name == "lse") return f(0, ball<double_double>(of.lse, upper_bound(of.lse_radius)));
        if (name == "out") {
            for (std::size_t c = 0, at = r * p_.d_v; c < p_.d_v; ++c, ++at) f(c, ball<double_double>({out_high_[at], out_low_[at]}, upper_bound(out_radius(r, c))));
            return;
        }
        const bool weights = name == "weights", lone = seen_[r].visible == 1;
        for (std::size_t j = 0, at = r * row_; j < p_.n_k; ++j, ++at)
            if (!seen_.visible(r, j)) f(j, weights ? ball<double_double>() : ball<double_double>::declared(ball<double_double>::kind::minus_infinity));
            else if (!weights) f(j, ball<double_double>({score_high_[at], score_low_[at]}, upper_bound(score_radius(r, at))));
            else if (lone) f(j, ball<double_double>(1));
            else {
                const double_double weight = double_double(weight_high_[at], weight_low_[at]) / of.sum;
                f(j, ball<double_double>(weight, upper_bound(times(of.weight_error, weight.high) + (weight_high_[at] == 0 ? tiny_weight : 0x1p-1070))));
            }
    }
    [[nodiscard]] row_values values(std::size_t r, std::size_t slice) const {
        const auto out = out_high_.begin() + static_cast<std::ptrdiff_t>(r * p_.d_v);
        row_values values{slice, rows_[r].i, {}, {}, {}, {out, out + static_cast<std::ptrdiff_t>(p_.d_v)}, rows_[r].lse.high, true, {}};
        const std::size_t count = seen_[r].visible;
        for (std::vector<double>* of : {&values.scores, &values.weights}) of->resize(count);
        values.visible.resize(count);
        const double *const scores = score_high_.data() + r * row_, *const weights = weight_high_.data() + r * row_, sum = count == 1 ? weights[seen_[r].first] : rows_[r].sum.high;
        for (std::size_t j = seen_[r].first, at = 0; at < count; ++j) {
            if (!seen_.visible(r, j)) continue;
            values.visible[at] = j;
            values.scores[at] = scores[j];
            values.weights[at++] = weights[j] / sum;
        }
        return values;
    }

    /// \name For the gradients: of the slice, and of the rows that were evaluated
    /// @{
    [[nodiscard]] const packed_slice& slice() const { return slice_; }
    [[nodiscard]] const ball<double_double>& scale() const { return scale_; }
    [[nodiscard]] std::size_t first_key() const { return first_; } ///< those that any of the rows sees, and some before
    [[nodiscard]] std::size_t last_key() const { return last_; }
    [[nodiscard]] bool visible(std::size_t r, std::size_t j) const { return seen_.visible(r, j); }
    [[nodiscard]] bool is_lone(std::size_t r) const { return seen_[r].visible == 1; } ///< sees one key, whose weight is 1 exactly
    [[nodiscard]] const double* query(std::size_t r) const { return queries_.data() + r * p_.d_k; }
    [[nodiscard]] const double* weight_high(std::size_t r) const { return weight_high_.data() + r * row_; } ///< before the division by `sum`; of the keys from first_key on
    [[nodiscard]] const double* weight_low(std::size_t r) const { return weight_low_.data() + r * row_; }
    [[nodiscard]] const double_double& sum(std::size_t r) const { return rows_[r].sum; }
    [[nodiscard]] double weight_error(std::size_t r) const { return rows_[r].weight_error; } ///< as a part
    [[nodiscard]] const double* out_high(std::size_t r) const { return out_high_.data() + r * p_.d_v; }
    [[nodiscard]] const double* out_low(std::size_t r) const { return out_low_.data() + r * p_.d_v; }
    [[nodiscard]] double out_radius(std::size_t r, std::size_t c) const {
        const row& of = rows_[r];
        const double v = slice_.greatest(c);
        // A column of zeros adds up to 0.
        if (seen_[r].visible == 1 || v == 0) return 0;
        const double n = static_cast<double>(p_.n_k), o = detail::absolute(out_high_[r * p_.d_v + c]), root_of_squares = of.norm / of.sum.high * slack;
        const double moved = std::min(2 * v, times(root_of_squares, slice_.norm(c) + times(std::sqrt(n) * slack, o + times(0x1p-30, v))));
        const double of_sum = times(fast::error_of_products_in_two(p_.n_k), times(row_base_[r], column_base_[c])) / of.sum.high;
        return times(times(of.theta, moved) + of_sum + times(of.sum_error + double_double::quotient_error, o) + times(n * 0x1p-999, v + o + 2), slack);
    }
    /// @}

private:
    struct row {
        std::size_t i = 0;
        bool clear = true;
        double product = 0, norm = 0; // K, √Σp²
        double theta = 0, sum_error = 0, score_error = 0, weight_error = 0, lse_radius = 0;
        double_double sum, lse;
    };
    static constexpr std::size_t sums_of_row = 24, alignment = 128; // of the first key: whole panels, whole lines
    static constexpr double u_squared = double_double::u_squared, slack = detail::raised;
    // Products in bounds are not to be fused with sums.
    [[nodiscard]] static double times(double a, double b) { return detail::unfused(a * b); }

    // Scores, their exponentials, sums and outputs; of keys [first_, last_), which are all that any of the rows sees.
    void weigh() {
        const std::size_t m = rows_.size(), keys = last_ - first_;
        const auto n = static_cast<std::ptrdiff_t>(row_), d_k = static_cast<std::ptrdiff_t>(p_.d_k), d_v = static_cast<std::ptrdiff_t>(p_.d_v);
        double *const high = score_high_.data() + first_, *const low = score_low_.data() + first_, *const p_high = weight_high_.data() + first_, *const p_low = weight_low_.data() + first_;
        kernels_.multiply_in_two({.a = queries_.data(), .a_low = nullptr, .a_row = d_k, .m = m, .depth = p_.d_k, .b = slice_.packed_keys() + first_ * p_.d_k, .b_depth = p_.d_k, .n = keys,
                                  .row_base = query_base_.data(), .column_base = ones_.data(), .high = high, .low = low, .c_row = n});
        kernels_.scale_scores({.high = high, .low = low, .s_row = n, .m = m, .n = keys, .scale_high = scale_.middle().high,
                               .scale_low = scale_.middle().low, .maximum = maximum_.data(), .mask = seen_.mask(first_)});
        kernels_.exponentials_in_two({.high = high, .low = low, .s_row = n, .m = m, .n = keys, .maximum = maximum_.data(), .p_high = p_high, .p_low = p_low, .p_row = n, .sums = sums_.data()});
        for (std::size_t r = 0; r < m; ++r) {
            const double* const of = sums_.data() + r * sums_of_row;
            const auto lane = [&](std::size_t l) { return double_double(of[l]) + double_double(of[8 + l]); };
            const double_double sum = ((lane(0) + lane(4)) + (lane(2) + lane(6))) + ((lane(1) + lane(5)) + (lane(3) + lane(7)));
            double squares = 0;
            for (std::size_t l = 16; l < sums_of_row; ++l) squares += of[l];
            rows_[r].sum = sum;
            rows_[r].norm = detail::root_above(squares, p_.n_k);
            sum_high_[r] = sum.high;
            sum_low_[r] = sum.low;
            // A power of two above the norm, which is at least 1 but for what the shift leaves.
            row_base_[r] = rows_[r].norm < 0x1p20 ? detail::base_above(std::max(rows_[r].norm, 0.5)) / 3 : 1;
        }
        kernels_.multiply_in_two({.a = p_high, .a_low = p_low, .a_row = n, .m = m, .depth = keys, .b = slice_.packed_values() + first_ * kernels_.panel, .b_depth = p_.n_k,
                                  .n = p_.d_v, .row_base = row_base_.data(), .column_base = column_base_.data(), .high = out_high_.data(), .low = out_low_.data(), .c_row = d_v});
        kernels_.quotients({.high = out_high_.data(), .low = out_low_.data(), .m = m, .n = p_.d_v, .divisor_high = sum_high_.data(), .divisor_low = sum_low_.data()});
    }

    // lse of each row: e^−y stands in the first of 8 columns.
    void take_logs() {
        const std::size_t m = rows_.size();
        std::vector<double> high(8 * m, -detail::infinity_of_double), low(8 * m, 0.0), none(m, 0.0), p_high(8 * m), p_low(8 * m), sums(m * sums_of_row, 0.0);
        for (std::size_t r = 0; r < m; ++r)
            if (rows_[r].clear) high[8 * r] = -attest::log(rows_[r].sum.high);
        kernels_.exponentials_in_two({.high = high.data(), .low = low.data(), .s_row = 8, .m = m, .n = 1, .maximum = none.data(), .p_high = p_high.data(),
                                      .p_low = p_low.data(), .p_row = 8, .sums = sums.data()});
        for (std::size_t r = 0; r < m; ++r) {
            const double t = (rows_[r].sum * double_double(p_high[8 * r], p_low[8 * r]) + double_double(-1.0)).high;
            if (!(detail::absolute(t) < 0x1p-47)) rows_[r].clear = false;
            rows_[r].lse = double_double(maximum_[r]) + double_double(-high[8 * r]) + double_double(t);
        }
    }

    // The radii of a row, but for out's.
    void bound(std::size_t r) {
        row& of = rows_[r];
        if (!of.clear) return;
        const double n = static_cast<double>(p_.n_k), scale = times(detail::absolute(scale_.middle().high), slack), scale_error = scale_.radius().as_double(), top = detail::absolute(maximum_[r]);
        const double of_sum = times(fast::error_of_products_in_two(p_.d_k), query_base_[r]);
        const double error = times(times(scale + scale_error, of_sum) + times(scale_error, of.product) + times(8 * u_squared, times(scale, of.product)) + times(0x1p-1000, 1 + scale), slack);
        of.theta = times(error + times(3 * u_squared, top + 1400) + 1.01 * fast::exp_in_two_error, slack);
        const double lanes = static_cast<double>(row_ / 8 + 2);
        of.sum_error = times(times(u_squared, times(lanes, lanes) + 9), slack);
        // Below 2^900 nothing overflows on the way.
        of.clear = times(query_base_[r], scale + 1) < 0x1p900 && top <= 0x1p28 && of.theta + of.sum_error < 0x1p-33;
        if (!of.clear) return;
        of.score_error = error;
        of.weight_error = times(2 * of.theta + of.sum_error + double_double::quotient_error, slack);
        of.lse_radius = times(of.theta + of.sum_error + times(n, 0x1p-999) + 0x1p-92 + times(4 * u_squared, detail::absolute(of.lse.high) + 1), slack);
        if (seen_[r].visible != 1) return;
        // A lone key weighs 1.
        const std::size_t j = seen_[r].first;
        of.lse = {score_high_[r * row_ + j], score_low_[r * row_ + j]};
        of.lse_radius = score_radius(r, r * row_ + j);
        for (std::size_t c = 0; c < p_.d_v; ++c) {
            out_high_[r * p_.d_v + c] = slice_.value(j)[c];
            out_low_[r * p_.d_v + c] = 0;
        }
    }

    [[nodiscard]] double score_radius(std::size_t r, std::size_t at) const { return times(rows_[r].score_error + times(2 * u_squared, detail::absolute(score_high_[at])), slack); }

    const attention_problem& p_;
    const fast::kernels& kernels_;
    packed_slice slice_;
    ball<double_double> scale_;
    seen_keys<double_double> seen_;
    std::vector<double> column_base_, ones_;
    // Of the rows at hand.
    std::size_t row_ = 0, first_ = 0, last_ = 0; // their length in memory; the keys that any of them sees
    std::vector<row> rows_;
    std::vector<double> queries_, query_base_, score_high_, score_low_, weight_high_, weight_low_, maximum_, sums_, sum_high_, sum_low_, row_base_, out_high_, out_low_;
};

} // namespace attest
