// SPDX-License-Identifier: BSL-1.0
/// \file
/// The certain limit: how far a right computation in the declared arithmetic can be from the exact value, whatever its order of summation.
///
/// Derivation, for one query. Write α_j for the exact weights and o = Σ α_j v_j. A right kernel, plain or blockwise, computes
///
///     out = Σ_j p_j (1 + ρ_j) v_j / Σ_j p_j (1 + τ_j),      p_j = α_j e^{ε_j} · (a factor common to the row),
///
/// where |ε_j| <= L_j gathers what happens to a weight before numerator and denominator part (errors of the score, of the shift, of exp, of up to
/// n rescalings), |ρ_j| <= R what happens to it in the numerator alone (its storing, product, sum, final quotient), |τ_j| <= T in the denominator.
/// Let α'_j = α_j e^{ε_j} / Σ α_l e^{ε_l} and o' = Σ α'_j v_j. Since Σ α_j (v_j − o) = 0,
///
///     |o' − o|  =  |Σ α_j (e^{ε_j} − 1)(v_j − o)| / Σ α_l e^{ε_l}  <=  Σ α_j (e^{L_j} − 1) |v_j − o| / Σ α_l e^{−L_l}  =: E1,
///
/// and o' lies in the convex hull of the visible v, so E1 is cut there. Then |out − o'| <= (R Σ α'_j |v_j| + T |o'|) / (1 − T) =: E2 with
/// Σ α'_j |v_j| <= min(max |v_j|, Σ α_j e^{L_j} |v_j| / Σ α_l e^{−L_l}). Weights below the normal range add absolute terms. The limit is E1 + E2, and the final
/// store adds half a ULP at |o| + E1 + E2. Everything is evaluated in double, and raised by `slack` at the end, which is far more than double
/// loses over 10^6 keys.
#pragma once

#include "attest/elementary/exp.hpp"
#include "attest/elementary/log.hpp"
#include "attest/oracle/arithmetics.hpp"
#include "attest/oracle/exact.hpp"

namespace attest {

/// What the limits need of one row, in double; vectors are over the visible keys.
struct row_facts {
    std::vector<double> score;      ///< what enters softmax
    std::vector<double> unbiased;   ///< the score before the mask was added
    std::vector<double> size;       ///< |scale| Σ_c |q_c k_jc|
    std::vector<double> weight;
    double greatest = 0;            ///< greatest score
    double lse = 0;
    double scale = 0;
    std::size_t d_k = 0;
    bool scores_are_inputs = false; ///< softmax alone: nothing happens before the shift
    bool biased = false;            ///< a mask is added
};

namespace detail {

inline constexpr double slack = 1 + 0x1p-30;

// k roundings of relative error u each, multiplied out: (1 + u)^k − 1 and its like stay below k·u / (1 − k·u).
constexpr double roundings(double k, double u) noexcept { return k * u < 0.5 ? k * u / (1 - k * u) : infinity_of_double; }

// An upper bound of e^x − 1 for x >= 0 that is near x for small x: the mean value theorem.
constexpr double expm1_above(double x) noexcept { return x > 700 ? infinity_of_double : x * attest::exp(x) * slack; }

} // namespace detail

/// The bounds of a row that do not depend on the output component.
class row_limits {
public:
    row_limits(const arithmetic& a, const row_facts& f) : a_{a}, f_{f} {
        const std::size_t n = f.weight.size();
        const auto count = static_cast<double>(n);
        score_.reserve(n);
        double worst_score = 0;
        for (std::size_t j = 0; j < n; ++j) {
            score_.push_back(score_error(j));
            worst_score = std::max(worst_score, score_.back());
        }
        const double rescalings = count; // a blockwise kernel meets a new maximum at most once a key
        const double per_exp = 1.01 * (1 + rescalings) * a.exp_relative;
        for (std::size_t j = 0; j < n; ++j) {
            const double distance = f.greatest - f.score[j] + 2 * worst_score;
            log_weight_.push_back(score_[j] + per_exp + (a.exp_slope + 2 * a.unit) * distance);
            greatest_log_weight_ = std::max(greatest_log_weight_, log_weight_[j]);
            low_sum_ += f.weight[j] * attest::exp(-log_weight_[j]) / detail::slack;
            high_sum_ += f.weight[j] + raised(j);
        }
        sum_ = detail::roundings(2 * count + 4, a.unit);                            // n products, n sums, up to n rescalings, a quotient in two steps
        numerator_ = (1 + sum_) * (1 + a.weight) * (1 + a.operand) * (1 + a.operand) - 1; // and the weight as stored, operands as rounded
    }

    /// True if nothing can be said: a score may overflow, or the sums are too long for the arithmetic.
    [[nodiscard]] bool unbounded() const { return overflow_ || !(sum_ < 0.5); }

    /// Bound of |computed − exact| for the score of visible key j, before its final store.
    [[nodiscard]] double score(std::size_t j) const { return score_[j] * detail::slack; }

    /// For q_i · k_j of size Σ_c |q_c k_jc|, before its final store.
    [[nodiscard]] double raw_score(double size) const {
        return (product_error(0) * size + tiny_products()) * detail::slack;
    }

    /// For the weight of visible key j.
    [[nodiscard]] double weight(std::size_t j) const {
        if (unbounded()) return detail::infinity_of_double;
        const double w = f_.weight[j], up = w + raised(j), down = w * attest::exp(-log_weight_[j]);
        // α_j e^ε / Σ α_l e^ε, with key j at one end of its bound and the others at the other.
        const double low_others = std::max(low_sum_ - down, 0.0), high_others = std::max(high_sum_ - up, 0.0);
        const double highest = up + low_others > 0 ? std::min(1.0, up / (up + low_others)) : 1.0;
        const double lowest = down + high_others > 0 ? down / (down + high_others) : 0.0;
        const double before = std::max(highest - w, w - lowest) + 0x1p-50 * w;
        const double stored = (w + before) * (numerator_ + sum_) / (1 - sum_);
        return (std::max(before, 0.0) + stored + a_.weight_tiny + a_.exp_flush + 4 * a_.tiny) * detail::slack;
    }

    /// For lse = m + log Σ e^{s − m}.
    [[nodiscard]] double lse() const {
        if (f_.weight.empty()) return 0; // no key is visible: −∞, exactly
        if (unbounded()) return detail::infinity_of_double;
        const double above = attest::log(high_sum_), below = -attest::log(low_sum_);
        const auto count = static_cast<double>(f_.weight.size());
        const double moved = std::min(std::max(above, below) + count * 0x1p-52, greatest_log_weight_);
        const double sizes = detail::absolute(f_.greatest) + detail::absolute(f_.lse) + attest::log(count) + 1;
        return (moved + sum_ / (1 - sum_) + 2 * count * a_.exp_flush + (8 * a_.unit + a_.exp_relative) * sizes) * detail::slack;
    }

    /// For output component c = Σ α_j v_jc: `value(j)` is v_jc of visible key j, `exact` is o.
    template <class Value> [[nodiscard]] double output(double exact, const Value& value) const {
        const std::size_t n = f_.weight.size();
        if (n == 0) return 0; // no key is visible: zero or NaN, exactly
        if (unbounded()) return detail::infinity_of_double;
        double moved = 0, size = 0, spread = 0, greatest = 0, low = detail::infinity_of_double, high = -low, sum_of_sizes = 0;
        for (std::size_t j = 0; j < n; ++j) {
            const double v = value(j), v_size = detail::absolute(v);
            // v − o in double is off by the rounding of o as well.
            const double from_mean = detail::absolute(v - exact) + 0x1p-51 * (v_size + detail::absolute(exact)) * (v == exact ? 0 : 1);
            const double more = raised(j);
            if (from_mean > 0) moved += more * from_mean;
            if (v_size > 0) size += (f_.weight[j] + more) * v_size;
            spread += from_mean;
            sum_of_sizes += v_size;
            greatest = std::max(greatest, v_size);
            low = std::min(low, v);
            high = std::max(high, v);
        }
        const double hull = std::max(std::max(high - exact, exact - low), 0.0);
        const double e1 = low_sum_ > 0 ? std::min((moved + a_.exp_flush * spread) / low_sum_, hull) : hull;
        const double weighted = low_sum_ > 0 ? std::min(greatest, size / low_sum_) : greatest;
        const double e2 = (numerator_ * weighted + sum_ * (detail::absolute(exact) + e1)) / (1 - sum_);
        const double absolute_terms = (a_.weight_tiny + a_.exp_flush) * sum_of_sizes + 4 * static_cast<double>(n) * a_.tiny;
        return (e1 + e2 + absolute_terms) * detail::slack;
    }

private:
    // α_j (e^{L_j} − 1), from above; through logarithms where the factors leave the range of double.
    [[nodiscard]] double raised(std::size_t j) const {
        const double weight = f_.weight[j], bound = log_weight_[j];
        if (weight > 1e-290 && bound < 600) return weight * detail::expm1_above(bound);
        const double log_up = f_.score[j] - f_.lse + bound + 0x1p-50 * (detail::absolute(f_.score[j]) + detail::absolute(f_.lse));
        return log_up < 700 ? attest::exp(log_up) * detail::slack : 1e304;
    }
    // Relative error of a product of d_k terms summed in any order, with its operands as the arithmetic keeps them.
    [[nodiscard]] double product_error(double more_roundings) const {
        const double operands = (1 + a_.operand) * (1 + a_.operand) * (1 + a_.query_key) * (1 + a_.query_key);
        return operands * (1 + detail::roundings(static_cast<double>(f_.d_k) + more_roundings, a_.unit)) - 1;
    }
    [[nodiscard]] double tiny_products() const { return 2 * static_cast<double>(f_.d_k + 1) * a_.tiny; }

    [[nodiscard]] double score_error(std::size_t j) {
        if (f_.scores_are_inputs) return 0;
        // Eight more roundings: the scale (or its root, on q and on k; or with log2 e in it) and its products.
        double error = product_error(8) * f_.size[j] + std::max(1.0, f_.scale) * tiny_products();
        const double size = f_.size[j] + error;
        if (size > a_.greatest) overflow_ = true;
        error += a_.score * (detail::absolute(f_.unbiased[j]) + error);
        if (f_.biased) {
            // The sum is rounded, and stored once more.
            const double sum = detail::absolute(f_.score[j]) + error;
            if (sum > a_.greatest) overflow_ = true;
            error += (2 * a_.unit + a_.score) * sum;
        }
        return error;
    }

    const arithmetic& a_;
    const row_facts& f_;
    std::vector<double> score_, log_weight_;
    double greatest_log_weight_ = 0;
    double low_sum_ = 0;  // Σ α e^{−L}
    double high_sum_ = 0; // Σ α e^{L}
    double sum_ = 0;      // T
    double numerator_ = 0; // R
    bool overflow_ = false;
};

/// Half a ULP of the format at the greatest magnitude that a value can have before its store; infinity where that may overflow.
[[nodiscard]] inline double half_ulp_of_store(const format& f, double magnitude) {
    if (!(magnitude < f.greatest())) return detail::infinity_of_double;
    return ulp(f, magnitude) / 2;
}

} // namespace attest
