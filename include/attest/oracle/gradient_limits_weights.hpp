// SPDX-License-Identifier: BSL-1.0
/// \file
/// How far the weights of a right backward kernel can be from the exact ones, before they are stored: proved bounds of one row, in one arithmetic.
///
/// A backward kernel keeps the weights, or makes them again as e^{s' − lse} from a stored lse. Either is
///
///     α̂_l = α'_l e^{ζ_l},      α'_l = α_l e^{ε_l} / Σ_k α_k e^{ε_k}      (the sum with a sink's weight, if there is one),
///
/// with |ε_l| <= E_l, the error of score l, and a factor e^{ζ_l} of everything else:
///
/// - exp itself, its argument, and log2 e on score and lse apart: x_l = exp_relative + (exp_slope + 2u)·distance + 3u |s_l|. The distance is that
///   from a shift, which may stay behind the greatest score by 8 bits, or from lse;
/// - common to the row, so one source whatever their number: the denominator's exps (Σ α (e^x − 1)), its sum and up to R rescalings (n for the
///   certain limit, those that may be expected for the other), the roundings of lse, of its parts and of the parts' lse where they are merged, and
///   scores made a second time: P_l of the difference is not stored in 16 bits, nor an operand's rounding, which is the same both times (assumed:
///   what forward stores in 16 bits backward reads, or rounds alike): Σ α (e^{2P} − 1).
///
/// α' is bounded from both sides with key l at one end of its bound and all others at the other: it never exceeds 1.
#pragma once

#include "attest/elementary/exp.hpp"
#include "attest/elementary/log.hpp"
#include "attest/oracle/gradient_limits_facts.hpp"
#include "attest/oracle/limits_score.hpp"

namespace attest::detail {

class gradient_weight_bounds {
public:
    std::vector<double> error;      ///< of each weight
    std::vector<double> apart;      ///< the same without what is common to the row
    std::vector<double> normalised; ///< the part of it that leaves the sum of all weights at 1
    double common = 0;              ///< relative, in all weights of the row alike
    std::vector<double> high;       ///< the greatest that it may be
    double sink_error = 0;          ///< of a sink's weight
    double relative = 0;            ///< greatest error/weight, of weights that matter
    double rescalings = 0;
    bool unbounded = false;

    /// `repeated`: P, of scores that are made a second time; `most_rescalings`: R. `from_lse`: whether weights may be made from a rounded lse.
    void make(const arithmetic& a, const gradient_row_facts& f, std::span<const double> bound, std::span<const double> repeated, double sink,
              double most_rescalings, bool from_lse = true) {
        const std::size_t n = f.weight.size();
        const auto count = static_cast<double>(n);
        for (std::vector<double>* x : {&error, &apart, &normalised, &high}) x->assign(n, 0);
        relative = sink_error = common = 0;
        rescalings = most_rescalings;
        unbounded = false;
        double top = -infinity_of_double;
        for (std::size_t l = 0; l < n; ++l) {
            unbounded = unbounded || !(bound[l] < infinity_of_double && repeated[l] < infinity_of_double);
            top = std::max(top, f.score[l] + bound[l]);
        }
        if (unbounded || n == 0) return;
        const double sink_up = unfused(f.sink_weight * attest::exp(std::min(sink, 600.0))), sink_down = unfused(f.sink_weight * attest::exp(-sink));
        double low_sum = sink_down, high_sum = sink_up, of_exp = 0, of_repetition = 0;
        // e^bound, e^−bound, e^error, e^2P.
        std::vector<double> up_by(n), down_by(n), by_error(n), by_repetition(n), ups(n), downs(n);
        f.kernels->exponentials(bound.data(), n, up_by.data());
        for (std::size_t l = 0; l < n; ++l) {
            down_by[l] = -bound[l];
            by_repetition[l] = 2 * repeated[l];
        }
        f.kernels->exponentials(down_by.data(), n, down_by.data());
        f.kernels->exponentials(by_repetition.data(), n, by_repetition.data());
        for (std::size_t l = 0; l < n; ++l) {
            const double distance = std::min(std::max(top - f.score[l] + lazy_shift, from_lse ? size_of(f.score[l] - f.lse) : 0.0) + bound[l],
                                             formats::f64.greatest());
            error[l] = unfused(1.01 * a.exp_relative) + unfused((a.exp_slope + 2 * a.unit) * distance) +
                       (from_lse ? unfused(3 * a.unit * size_of(f.score[l])) : 0.0);
        }
        f.kernels->exponentials(error.data(), n, by_error.data());
        for (std::size_t l = 0; l < n; ++l) {
            downs[l] = unfused(f.weight[l] * down_by[l]);
            ups[l] = f.weight[l] + raised(f, l, bound[l], up_by[l]);
            low_sum += downs[l];
            high_sum += ups[l];
            of_exp += raised(f, l, error[l], by_error[l]);
            of_repetition += raised(f, l, 2 * repeated[l], by_repetition[l]);
        }
        low_sum *= 1 - (count + 8) * 0x1p-52;
        high_sum *= 1 + (count + 8) * 0x1p-52;
        const double sum = roundings(count + rescalings + 8, a.unit), log_n = attest::log(count) + 1;
        const double of_lse = !from_lse ? 0.0
                                        : unfused(6 * a.unit * (size_of(top) + size_of(f.lse))) + unfused(2 * (a.function + 2 * a.unit) * log_n);
        const double shared = of_exp + of_repetition + unfused(1.01 * (rescalings + 2) * a.exp_relative) + sum / (1 - sum) + of_lse;
        unbounded = !(shared < 0.5);
        if (unbounded) return;
        common = unfused(shared * attest::exp(shared)); // e^x − 1 <= x e^x
        const bool alone = n == 1 && !(f.sink_weight > 0);
        std::vector<double>&by_own = by_repetition, &by_both = down_by;
        for (std::size_t l = 0; l < n; ++l) {
            by_own[l] = std::min(error[l], 600.0);
            by_both[l] = by_own[l] + shared;
        }
        f.kernels->exponentials(by_own.data(), n, by_own.data());
        f.kernels->exponentials(by_both.data(), n, by_both.data());
        for (std::size_t l = 0; l < n; ++l) {
            const double w = f.weight[l];
            normalised[l] = alone ? 0 : normalised_error(w, ups[l], downs[l], low_sum, high_sum);
            const double most = w + normalised[l], own = std::min(error[l], 600.0), below = std::min(a.exp_flush, most) + 4 * a.tiny;
            apart[l] = normalised[l] + unfused(unfused(most * own) * by_own[l]) + below;
            error[l] = normalised[l] + unfused(unfused(most * (own + shared)) * by_both[l]) + below;
            high[l] = w + error[l];
            if (w > 0x1p-60) relative = std::max(relative, error[l] / w);
        }
        if (f.sink_weight > 0) sink_error = normalised_error(f.sink_weight, sink_up, sink_down, low_sum, high_sum);
    }

private:
    static constexpr double lazy_shift = 5.6; // 8 bits

    // With this weight at one end of its bound and the others at the other; and the roundings of this.
    static double normalised_error(double w, double up, double down, double low_sum, double high_sum) {
        const double low_others = std::max(low_sum - down, 0.0), high_others = std::max(high_sum - up, 0.0);
        const double highest = up + low_others > 0 ? std::min(1.0, up / (up + low_others)) : 1.0;
        const double lowest = down + high_others > 0 ? down / (down + high_others) : 0.0;
        return std::max(std::max(highest - w, w - lowest), 0.0) + unfused(0x1p-50 * w);
    }
    // α (e^b − 1), from above; through logarithms where the factors leave the range of double.
    static double raised(const gradient_row_facts& f, std::size_t l, double b, double exp_of_b) {
        const double weight = f.weight[l];
        if (weight > 1e-290 && b < 600) return unfused(unfused(weight * b) * exp_of_b * slack); // the mean value theorem
        const double log_up = f.score[l] - f.lse + b + unfused(0x1p-50 * (size_of(f.score[l]) + size_of(f.lse)));
        return log_up < 650 ? unfused(attest::exp(log_up) * slack) : 1e290; // sums of them stay finite
    }
};

} // namespace attest::detail
