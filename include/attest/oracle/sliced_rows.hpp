// SPDX-License-Identifier: BSL-1.0
/// \file
/// The second rung for many rows at once: attention's results as sums of two doubles, from matrix products in double (fast/kernels.hpp) of slices (oracle/slices.hpp),
/// with radii from bounds of whole rows and columns, as on the first rung (oracle/double_rows.hpp).
///
/// Products. Of x = x1 + x2 + x3, x' = x2 + x3, and y likewise,
///
///     x y = x1 y1 + (x1 y2 + x2 y1) + (x y3 + x' y2 + x3 y1):
///
/// six products of matrices. The sums A and B of the first two brackets are exact; that of the third, C, is an ordinary one of terms that are 2^−2β as large.
///
/// Derivation, for query i. u = 2^−53, γ_r = r u/(1 − r u); ‖·‖ is the Euclidean norm of the slices of q_i or p_i, or the greatest of those of the keys or of the
/// column of v; σ the scale, known as σ^ (two doubles) within ρ; b_j a mask's bias; ε = exp_in_two_error.
///
/// 1. Scores. C is a sum over blocks of 128, three times after one another: a term is rounded r = min(d, 128) + 3 ⌈d/128⌉ times at most, so C is off by γ_r S,
///    S = ‖q‖ ‖k3‖ + ‖q'‖ ‖k2‖ + ‖q3‖ ‖k1‖. A + B = t + l, |l| <= u T, T = (‖q1‖ + ‖q2‖) (‖k1‖ + ‖k2‖), and l + C is rounded: u (S + u T) more, and for the sum D
///        |D − q·k| <= e := γ_{r+2} S + 2u² T.
///    Times σ^ (off by 5u² of it), and b added (off by u of u |s| + u |s + b|), with K = ‖q‖ ‖k‖:
///        |ŝ_j − s_j| <= E := (|σ^| + ρ) e + ρ K + 8u² |σ^| K + 3u² max|b|, and what underflows, 2^−1000 (1 + |σ^|).
/// 2. Weights. m is the greatest high part of a ŝ, |m| <= 2^28. p_j = p_high + p_low is e^{s_j − m} e^{θ_j} + a_j: |θ_j| <= Θ := E + u² (|m| + 1400) + 1.01 ε, for the low part of
///    ŝ_j − m is rounded, and p_j is 0 where it is below −694: |a_j| <= τ = 2^−1000. p_j <= e^(u |m|) < 1 + 2^−24, and P = Σ p_j >= 1/2. The sum of L = ⌈n/8⌉ of
///    them in a lane: the low part collects at most u (k + 1) P after k steps, and is rounded twice in each: off by u² (L + 2)² P; the lanes are added in 3
///    sums, 3u² each. ε_P = u² ((L + 2)² + 9).
/// 3. Moved weights: as on the first rung, |o' − o| <= Θ min(2 V, R (N + √n |o|)), but for what is of second order.
/// 4. Sums. Slices of p: |p'| <= 2^−24, |p3| <= 1.04 · 2^−47, for p3 takes up p_low; p3 and p' are rounded, and x y3 has p_high for p: 2 roundings in each term of C,
///    beside r = min(n, 128) + 3 ⌈n/128⌉. A and B are exact in blocks of 128, and those, at most n_b = ⌈n/128⌉, are added up without loss but for the low parts,
///    which are at most u k W after k blocks: W = (‖p‖ + √n 2^−24) (‖v1‖ + ‖v2‖) + √n 2^−24 ‖v1‖. At last A + B = t + l, |l| <= u W, and l, C and the low parts are added in 4
///    roundings, and divided by P (11u²):
///        |out − o'| <= (γ_{r+6} S_v + u² (n_b² + 4 n_b + 8) W)/P + (ε_P + 11u²) |out| + 2n τ (V + |out| + 2),
///    S_v = ‖p‖ ‖v3‖ + √n 2^−24 ‖v2‖ + 1.04 √n 2^−47 ‖v1‖.
/// 5. A weight p_j/P is off by (2Θ + ε_P + 11u²) of itself, and 4τ.
/// 6. lse = m + log P. y = log P in double, t = P e^−y − 1, |t| < 2^−47: log P = y + log(1 + t), and t is off by 1.01 ε + 6u² + u |t|, log(1 + t) − t by t²: all less than 2^−92. The
///    sums lose 3u² |lse|; so it is off by Θ + ε_P + 2n τ + 2^−92 + 3u² |lse|.
///
/// Bounds are raised by 2^−20 of themselves (Θ, γ < 2^−30, or the row goes to the formula itself). Keys that are hidden, or hold what is no number or beyond 2^400, are read as 0;
/// rows that see one of the latter are not clear. Operations have a fixed order and rounding: the same bits everywhere.
#pragma once

#include "attest/elementary/log.hpp"
#include "attest/fast/compiled.hpp"
#include "attest/oracle/ladder.hpp"
#include "attest/oracle/seen_keys.hpp"
#include "attest/oracle/sliced_operands.hpp"

#include <numeric>

namespace attest {

/// See the head of this file. What is given must stay.
class sliced_rows {
public:
    sliced_rows(const conventions& how, const std::vector<named_view>& inputs, const attention_problem& p, const fast::kernels& kernels)
        : how_{how}, p_{p}, kernels_{kernels}, has_extras_{find(inputs, "sink") != nullptr || find(inputs, "dropout_mask") != nullptr}, seen_(how, p), operands_(p, kernels) {}

    /// Whether a case is of the kind that this rung knows: dot products with a scale, and masks. The others take the formula itself in balls.
    [[nodiscard]] bool fits() const {
        constexpr std::size_t most = std::size_t{1} << 20;
        return (how_.score == score_kind::scaled || how_.score == score_kind::dot) && !how_.softcap && how_.position == position_kind::none && !has_extras_ && p_.d_k <= most &&
               p_.n_k <= most && p_.d_v > 0 && p_.d_k > 0;
    }

    /// How many rows are best evaluated together.
    [[nodiscard]] std::size_t block() const { return std::clamp<std::size_t>((std::size_t{3} << 14) / std::max<std::size_t>(p_.n_k, 1), 1, 48); }

    /// Makes a slice current, which is the engine's.
    void enter(const attention_engine<ball<double_double>>& engine, std::size_t slice) {
        scale_ = engine.score().scale();
        seen_.enter(engine, slice);
        operands_.enter(slice);
    }

    /// Evaluates rows of the slice.
    void evaluate(std::span<const std::size_t> rows) {
        const std::size_t m = rows.size(), n = (p_.n_k + 7) / 8 * 8, outs = m * p_.d_v;
        row_ = n;
        rows_.assign(m, {});
        seen_.look(rows, operands_.unknown());
        operands_.look(rows);
        for (std::size_t r = 0; r < m; ++r) {
            rows_[r].i = rows[r];
            rows_[r].clear = seen_[r].known && operands_.query(r).known;
        }
        for (std::vector<double>* of : {&score_high_, &score_low_, &weight_high_, &weight_low_}) of->resize(m * n);
        for (std::vector<double>* of : {&products_[0], &products_[1], &products_[2]}) of->resize(std::max(m * chunk, outs));
        slices_.resize(4 * m * chunk);
        maximum_.assign(m, -detail::infinity_of_double);
        sums_.assign(m * sums_of_row, 0.0);
        out_high_.resize(outs);
        out_low_.resize(outs);
        std::size_t first = p_.n_k, last = 0; // what any of the rows sees
        for (std::size_t r = 0; r < m; ++r)
            if (seen_[r].visible > 0) {
                first = std::min(first, seen_[r].first);
                last = std::max(last, seen_[r].last);
            }
        first = first / chunk * chunk;
        score(first, last);
        weigh(first, last);
        for (std::size_t r = 0; r < m; ++r) bound(r);
    }

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
            else if (!weights) f(j, ball<double_double>({score_high_[at], score_low_[at]}, upper_bound(of.score_radius)));
            else if (lone) f(j, ball<double_double>(1));
            else {
                const double_double weight = double_double(weight_high_[at], weight_low_[at]) / of.sum;
                f(j, ball<double_double>(weight, upper_bound(detail::unfused(of.weight_error * weight.high) + 0x1p-998)));
            }
    }
    [[nodiscard]] row_values values(std::size_t r, std::size_t slice) const {
        const auto out = out_high_.begin() + static_cast<std::ptrdiff_t>(r * p_.d_v);
        row_values values{slice, rows_[r].i, {}, {}, {}, {out, out + static_cast<std::ptrdiff_t>(p_.d_v)}, rows_[r].lse.high, {}};
        values.visible.reserve(seen_[r].visible);
        values.scores.reserve(seen_[r].visible);
        values.weights.reserve(seen_[r].visible);
        for (std::size_t j = 0, at = r * row_; j < p_.n_k; ++j, ++at) {
            if (!seen_.visible(r, j)) continue;
            values.visible.push_back(j);
            values.scores.push_back(score_high_[at]);
            values.weights.push_back(seen_[r].visible == 1 ? 1 : weight_high_[at] / rows_[r].sum.high);
        }
        return values;
    }

private:
    struct row {
        std::size_t i = 0;
        bool clear = true;
        double score_radius = 0, weight_error = 0, lse_radius = 0;
        double theta = 0, sum_error = 0, norm = 0, root_of_squares = 0; // Θ, ε_P, ‖p‖, R
        double_double sum, lse;
    };
    static constexpr std::size_t chunk = fast::sum_block, sums_of_row = 24;
    static constexpr double u_squared = double_double::u_squared, slack = detail::raised;
    // Products in bounds are not to be fused with sums.
    [[nodiscard]] static double times(double a, double b) { return detail::unfused(a * b); }
    [[nodiscard]] static std::size_t blocks(std::size_t terms) { return (terms + chunk - 1) / chunk; }
    [[nodiscard]] static std::size_t roundings(std::size_t terms) { return std::min(terms, chunk) + 3 * blocks(terms); }

    // Scores of keys [first, last), and their maximum.
    void score(std::size_t first, std::size_t last) {
        for (std::size_t from = first; from < last; from += chunk) {
            const std::size_t keys = std::min(chunk, p_.n_k - from);
            operands_.multiply_queries(rows_.size(), from, keys, {products_[0].data(), products_[1].data(), products_[2].data()}, chunk);
            kernels_.join_scores({.a = products_[0].data(), .b = products_[1].data(), .c = products_[2].data(), .row = chunk, .m = rows_.size(), .n = keys, .scale_high = scale_.middle().high, .scale_low = scale_.middle().low,
                                  .high = score_high_.data() + from, .low = score_low_.data() + from, .s_row = static_cast<std::ptrdiff_t>(row_), .maximum = maximum_.data(), .mask = seen_.mask(from)});
        }
    }

    // Their exponentials, sums and outputs.
    void weigh(std::size_t first, std::size_t last) {
        const std::size_t m = rows_.size(), outs = m * p_.d_v;
        const auto n = static_cast<std::ptrdiff_t>(row_);
        for (std::vector<double>& sum : totals_) sum.assign(outs, 0.0);
        for (std::size_t from = first; from < last; from += chunk) {
            const std::size_t keys = std::min(chunk, p_.n_k - from);
            kernels_.exponentials_in_two({.high = score_high_.data() + from, .low = score_low_.data() + from, .s_row = n, .m = m, .n = keys, .maximum = maximum_.data(), .p_high = weight_high_.data() + from,
                                          .p_low = weight_low_.data() + from, .p_row = n, .slices = slices_.data(), .slice_row = chunk, .next_slice = static_cast<std::ptrdiff_t>(m * chunk), .sums = sums_.data()});
            const auto slice = [&](std::size_t s) { return fast::strided{slices_.data() + s * m * chunk, chunk}; };
            operands_.multiply_values(m, from, keys, {slice(0), slice(1), slice(2), slice(3), {weight_high_.data() + from, n}}, {products_[0].data(), products_[1].data(), totals_[4].data()});
            kernels_.add_to_pairs(products_[0].data(), outs, totals_[0].data(), totals_[1].data());
            kernels_.add_to_pairs(products_[1].data(), outs, totals_[2].data(), totals_[3].data());
        }
        sum_high_.resize(m);
        sum_low_.resize(m);
        for (std::size_t r = 0; r < m; ++r) {
            const double* const of = sums_.data() + r * sums_of_row;
            const auto lane = [&](std::size_t l) { return double_double(of[l]) + double_double(of[8 + l]); };
            const double_double sum = ((lane(0) + lane(4)) + (lane(2) + lane(6))) + ((lane(1) + lane(5)) + (lane(3) + lane(7)));
            rows_[r].sum = sum;
            sum_high_[r] = sum.high;
            sum_low_[r] = sum.low;
        }
        kernels_.quotients({.a_high = totals_[0].data(), .a_low = totals_[1].data(), .b_high = totals_[2].data(), .b_low = totals_[3].data(), .c = totals_[4].data(), .m = m, .n = p_.d_v, .divisor_high = sum_high_.data(),
                            .divisor_low = sum_low_.data(), .high = out_high_.data(), .low = out_low_.data()});
        take_logs();
    }

    // lse of each row: e^−y stands in the first of 8 columns.
    void take_logs() {
        const std::size_t m = rows_.size();
        std::vector<double> high(8 * m, -detail::infinity_of_double), low(8 * m, 0.0), none(m, 0.0), p_high(8 * m), p_low(8 * m), sums(m * sums_of_row, 0.0);
        for (std::size_t r = 0; r < m; ++r)
            if (rows_[r].clear) high[8 * r] = -attest::log(rows_[r].sum.high);
        kernels_.exponentials_in_two({.high = high.data(), .low = low.data(), .s_row = 8, .m = m, .n = 1, .maximum = none.data(), .p_high = p_high.data(), .p_low = p_low.data(), .p_row = 8, .slices = nullptr, .slice_row = 0, .next_slice = 0, .sums = sums.data()});
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
        double squares = 0;
        for (std::size_t l = 16; l < sums_of_row; ++l) squares += sums_[r * sums_of_row + l];
        const double d = static_cast<double>(p_.d_k), n = static_cast<double>(p_.n_k), scale = detail::absolute(scale_.middle().high) * slack, scale_error = scale_.radius().as_double();
        const sliced_operands::norms &q = operands_.query(r), &k = operands_.keys();
        const double third = times(q.all, k.third) + times(q.after_first, k.second) + times(q.third, k.first), most = times(q.all + 3 * q.after_first, k.first + k.second);
        const double product = times(q.all, k.all), bias = seen_[r].greatest_bias, top = detail::absolute(maximum_[r]);
        const double of_sum = times(detail::gamma_above(roundings(p_.d_k) + 2), third) + times(2 * u_squared, most);
        const double error = (times(scale + scale_error, of_sum) + times(scale_error, product) + times(8 * u_squared, times(scale, product)) + times(3 * u_squared, bias) + times(0x1p-1000, 1 + scale) + times(d, 0x1p-1070)) * slack;
        of.theta = (error + times(u_squared, top + 1400) + 1.01 * fast::exp_in_two_error) * slack;
        const double lanes = static_cast<double>(row_ / 8 + 2);
        of.sum_error = times(u_squared, times(lanes, lanes) + 9) * slack;
        // Below 2^900 nothing overflows on the way.
        of.clear = times(product + most, scale + 1) + bias < 0x1p900 && top <= 0x1p28 && of.theta + of.sum_error < 0x1p-33;
        if (!of.clear) return;
        of.norm = detail::root_above(squares, p_.n_k);
        of.root_of_squares = of.norm / of.sum.high * slack;
        of.score_radius = error;
        of.weight_error = (2 * of.theta + of.sum_error + double_double::quotient_error) * slack;
        of.lse_radius = (of.theta + of.sum_error + times(n, 0x1p-999) + 0x1p-92 + times(3 * u_squared, detail::absolute(of.lse.high))) * slack;
        if (seen_[r].visible != 1) return;
        // A lone key weighs 1.
        const std::size_t j = seen_[r].first;
        of.lse = {score_high_[r * row_ + j], score_low_[r * row_ + j]};
        of.lse_radius = error;
        for (std::size_t c = 0; c < p_.d_v; ++c) {
            out_high_[r * p_.d_v + c] = operands_.value(j, c);
            out_low_[r * p_.d_v + c] = 0;
        }
    }

    [[nodiscard]] double out_radius(std::size_t r, std::size_t c) const {
        const row& of = rows_[r];
        const sliced_operands::norms& v = operands_.values(c);
        // A column of zeros adds up to 0.
        if (seen_[r].visible == 1 || v.greatest == 0) return 0;
        const double n = static_cast<double>(p_.n_k), root_of_n = std::sqrt(n) * slack, o = detail::absolute(out_high_[r * p_.d_v + c]), blocks_of_n = static_cast<double>(blocks(p_.n_k));
        const double moved = std::min(2 * v.greatest, times(of.root_of_squares, v.all + times(root_of_n, o + times(0x1p-30, v.greatest))));
        const double after = root_of_n * 0x1p-24, third = times(of.norm, v.third) + times(after, v.second) + times(root_of_n * (1.04 * 0x1p-47), v.first);
        const double most = times(of.norm + after, v.first + v.second) + times(after, v.first);
        const double of_sums = (times(detail::gamma_above(roundings(p_.n_k) + 6), third) + times(u_squared * (times(blocks_of_n, blocks_of_n) + 4 * blocks_of_n + 8), most)) / of.sum.high;
        return times(times(of.theta, moved) + of_sums + times(of.sum_error + double_double::quotient_error, o) + times(n * 0x1p-999, v.greatest + o + 2), slack);
    }

    const conventions& how_;
    const attention_problem& p_;
    const fast::kernels& kernels_;
    bool has_extras_;
    ball<double_double> scale_;
    seen_keys<double_double> seen_;
    sliced_operands operands_;
    // Of the rows at hand.
    std::size_t row_ = 0; // their length in memory
    std::vector<row> rows_;
    std::vector<double> score_high_, score_low_, weight_high_, weight_low_, slices_, maximum_, sums_, sum_high_, sum_low_, out_high_, out_low_;
    std::vector<double> products_[3], totals_[5]; // A, B, C of a chunk; A and B in two parts, C
};

} // namespace attest
