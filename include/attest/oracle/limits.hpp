// SPDX-License-Identifier: BSL-1.0
/// \file
/// The certain limit: how far a right computation in the declared arithmetic can be from the exact value, whatever its order of summation.
///
/// Derivation, for one query. Write α_j for the exact weights and o = Σ α_j v_j. A right kernel, plain or blockwise, computes
///
///     out = Σ_j p_j (1 + σ_j)(1 + ρ_j) v_j / Σ_j p_j (1 + σ'_j)(1 + τ_j),      p_j = α_j e^{ε_j} · (a factor common to the row),
///
/// where |ε_j| <= L_j gathers what happens to a weight before numerator and denominator part (errors of the score, of the shift, of exp, of up to
/// n rescalings: e^0 is 1, so only a new maximum makes one), |σ_j| <= S its storing before the product with v, |ρ_j| <= R what happens in the numerator
/// alone (product, sum, rescaling, final quotient), |τ_j| <= T in the denominator. The denominator sums the weights as they were (σ' = 0) or as they are
/// stored (σ' = σ). The shift is the greatest score seen, so that some p is 1 and the denominator at least that.
/// Let α'_j = α_j e^{ε_j} / Σ α_l e^{ε_l} and o' = Σ α'_j v_j. Since Σ α_j (v_j − o) = 0,
///
///     |o' − o|  =  |Σ α_j (e^{ε_j} − 1)(v_j − o)| / Σ α_l e^{ε_l}  <=  Σ α_j (e^{L_j} − 1) |v_j − o| / Σ α_l e^{−L_l}  =: E1,
///
/// and o' lies in the convex hull of the visible v, so E1 is cut there. With W := Σ α'_j |v_j| <= min(max |v_j|, Σ α_j e^{L_j} |v_j| / Σ α_l e^{−L_l}),
///
///     σ' = 0:   |out − o'| <= ((R + S + RS) W + T |o'|) / (1 − T);
///     σ' = σ:   o'' = Σ α'_j (1 + σ_j) v_j / Σ α'_l (1 + σ_l) is off by S/(1 − S) · A with A := Σ α'_j |v_j − o'| (as in E1), which can exceed W (many keys
///               with v = 0, and one with another v); then |out − o''| <= (R W (1 + S)/(1 − S) + T |o''|) / (1 − T).
///
/// E2 is the greater of the two. A <= min(Σ α_j e^{L_j} |v_j − o| / Σ α_l e^{−L_l} + E1, the width of the hull).
///
/// Below the normal range an error is absolute: that of a weight, a product, a sum or a rescaling acts through v over a denominator of at least 1 − T, that of
/// q times the scale through k. A sum of products that may overflow on the way makes the limit infinite: Σ |q_c k_c| scale log2 e, and Σ |v_j| for
/// weights relative to the greatest. The limit is E1 + E2 + those terms, and the final store adds half a ULP at |o| plus the limit. Everything is evaluated
/// in double, and raised by `slack` at the end, which is far more than double loses over 10^6 keys; what is near 1 is never formed where its distance
/// from 1 is meant.
///
/// Not covered, so such kernels may fail where |lse| or |x| is many times n: weights e^{s − lse} with a rounded lse (its error, |lse| times the unit, stays in
/// the row); a shift that is not the greatest visible score; softmax alone by exp2(x log2 e − m log2 e) without fma (errors of |x|, not of |x − m|). Nor is lse of
/// weights as they are stored in 16 bits: lse is kept in f32.
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
    std::vector<double> operands;   ///< Σ_c |q_c| + |k_jc|
    std::vector<double> weight;
    double greatest = 0;            ///< greatest score
    double lse = 0;
    double scale = 0;
    std::size_t d_k = 0;
    bool scores_are_inputs = false; ///< softmax alone: nothing happens before the shift
    bool inputs_in_f64 = false;     ///< of softmax alone
    bool biased = false;            ///< a mask is added
};

namespace detail {

inline constexpr double slack = 1 + 0x1p-30;

// k roundings of relative error u each, multiplied out: (1 + u)^k − 1 and its like stay below k·u / (1 − k·u).
constexpr double roundings(double k, double u) noexcept { return k * u < 0.5 ? k * u / (1 - k * u) : infinity_of_double; }

// (1 + a)(1 + b) − 1, without rounding at 1.
constexpr double together(double a, double b) noexcept { return a + b + a * b; }

// An upper bound of e^x − 1 for x >= 0 that is near x for small x: the mean value theorem.
constexpr double expm1_above(double x) noexcept { return x > 700 ? infinity_of_double : x * attest::exp(x) * slack; }

} // namespace detail

/// How far an element may be from the exact value, and how far from the range of all that the row's values can give.
struct bound {
    double limit = detail::infinity_of_double;
    double beyond = detail::infinity_of_double;
};

/// The bounds of a row that do not depend on the output component.
class row_limits {
public:
    row_limits(const arithmetic& a, const row_facts& f) : a_{a}, f_{f} {
        const std::size_t n = f.weight.size();
        const auto count = static_cast<double>(n);
        score_.reserve(n);
        double top = -detail::infinity_of_double; // no computed score, and so no shift, is greater
        for (std::size_t j = 0; j < n; ++j) {
            score_.push_back(score_error(j));
            top = std::max(top, f.score[j] + score_.back());
        }
        const double rescalings = count; // a blockwise kernel meets a new maximum at most once a key
        const double per_exp = 1.01 * (1 + rescalings) * a.exp_relative;
        for (std::size_t j = 0; j < n; ++j) {
            const double distance = std::min(top - f.score[j] + score_[j], formats::f64.greatest());
            log_weight_.push_back(score_[j] + per_exp + (a.exp_slope + 2 * a.unit) * distance);
            greatest_log_weight_ = std::max(greatest_log_weight_, log_weight_[j]);
            low_sum_ += f.weight[j] * attest::exp(-log_weight_[j]);
            high_sum_ += f.weight[j] + raised(j);
        }
        // The roundings of these sums themselves: not `slack`, which is coarser than f64 and would show in the weights.
        low_sum_ *= 1 - (count + 8) * 0x1p-52;
        high_sum_ *= 1 + (count + 8) * 0x1p-52;
        sum_ = detail::roundings(2 * count + 4, a.unit); // n products, n sums, up to n rescalings, a quotient in two steps
        stored_ = detail::together(a.weight, a.operand);                            // the weight as stored, or as an operand
        product_ = detail::together(sum_, a.operand);                               // and v as an operand
    }

    /// True if nothing can be said: a score may overflow, or the sums are too long for the arithmetic.
    [[nodiscard]] bool unbounded() const { return overflow_ || !(sum_ < 0.5); }

    /// Bound of |computed − exact| for the score of visible key j, before its final store.
    [[nodiscard]] double score(std::size_t j) const { return score_[j] * detail::slack; }

    /// For q_i · k_j of size Σ_c |q_c k_jc| and operands Σ_c |q_c| + |k_jc|, before its final store.
    [[nodiscard]] double raw_score(double size, double operands) const {
        const double error = product_error(0) * size + tiny_products() + ((a_.query_key > 0 ? a_.weight_tiny : 0.0) + a_.operand_tiny) * operands;
        return size + error > greatest_sum() ? detail::infinity_of_double : error * detail::slack;
    }

    /// For the weight of visible key j.
    [[nodiscard]] bound weight(std::size_t j) const {
        if (unbounded()) return {};
        const double w = f_.weight[j], up = w + raised(j), down = w * attest::exp(-log_weight_[j]);
        // α_j e^ε / Σ α_l e^ε, with key j at one end of its bound and the others at the other.
        const double low_others = std::max(low_sum_ - down, 0.0), high_others = std::max(high_sum_ - up, 0.0);
        const double highest = up + low_others > 0 ? std::min(1.0, up / (up + low_others)) : 1.0;
        // A lone key weighs 1, whatever its score.
        const double lowest = f_.weight.size() == 1 ? 1.0 : down + high_others > 0 ? down / (down + high_others) : 0.0;
        const double before = std::max(highest - w, w - lowest) + 0x1p-50 * w;
        // Stored, and divided by a sum of stored weights.
        const double stored = (w + before) * (2 * stored_ + (product_ + sum_) * (1 + stored_)) / ((1 - stored_) * (1 - sum_));
        const double beyond = (stored + a_.weight_tiny + a_.exp_flush + 4 * a_.tiny) * detail::slack;
        return {std::max(before, 0.0) * detail::slack + beyond, beyond};
    }

    /// For lse = m + log Σ e^{s − m}.
    [[nodiscard]] double lse() const {
        if (f_.weight.empty()) return 0; // no key is visible: −∞, exactly
        if (unbounded()) return detail::infinity_of_double;
        const double above = attest::log(high_sum_), below = -attest::log(low_sum_);
        const auto count = static_cast<double>(f_.weight.size());
        const double moved = std::min(std::max(above, below) + 0x1p-52, greatest_log_weight_);
        const double sizes = detail::absolute(f_.greatest) + detail::absolute(f_.lse) + attest::log(count) + 1;
        return (moved + sum_ / (1 - sum_) + 2 * count * a_.exp_flush + (8 * a_.unit + a_.exp_relative) * sizes) * detail::slack;
    }

    /// For output component c = Σ α_j v_jc: `value(j)` is v_jc of visible key j, `exact` is o.
    template <class Value> [[nodiscard]] bound output(double exact, const Value& value) const {
        const std::size_t n = f_.weight.size();
        if (n == 0) return {0, 0}; // no key is visible: zero or NaN, exactly
        if (unbounded()) return {};
        double moved = 0, size = 0, apart = 0, greatest = 0, low = detail::infinity_of_double, high = -low;
        const double o = detail::absolute(exact), count = static_cast<double>(n);
        double flushed = 0, sum_of_sizes = 0, absolute_terms = 4 * count * a_.tiny;
        for (std::size_t j = 0; j < n; ++j) {
            const double v = value(j), v_size = detail::absolute(v);
            // v − o in double is off by the rounding of o as well.
            const double from_mean = v == exact ? 0.0 : detail::absolute(v - exact) + 0x1p-51 * v_size + 0x1p-51 * o;
            const double more = raised(j);
            if (from_mean > 0 && more > 0) moved += more * from_mean;
            if (from_mean > 0) apart += (f_.weight[j] + more) * from_mean;
            if (v_size > 0) size += (f_.weight[j] + more) * v_size;
            flushed += a_.exp_flush * from_mean;
            sum_of_sizes += v_size;
            absolute_terms += (a_.weight_tiny + a_.operand_tiny + a_.exp_flush) * v_size + a_.weight_tiny * o + f_.weight[j] * a_.operand_tiny;
            greatest = std::max(greatest, v_size);
            low = std::min(low, v);
            high = std::max(high, v);
        }
        const double hull = low == high ? 0.0 : std::max(std::max(high - exact, exact - low), 0.0) + 0x1p-52 * o;
        const double e1 = low_sum_ > 0 ? std::min((moved + flushed) / low_sum_, hull) : hull;
        const double weighted = low_sum_ > 0 ? std::min(greatest, size / low_sum_) : greatest;
        // A kernel that divides at the end sums weights that are relative to the greatest so far, not to their sum, and that may overflow.
        if (!(sum_of_sizes * (1 + stored_) * (1 + product_) < greatest_sum())) return {};
        const double alone = detail::together(product_, stored_) * weighted + sum_ * (o + e1);
        const double around = low_sum_ > 0 ? std::min(apart / low_sum_ + e1, high - low) : high - low;
        const double in_both = stored_ / (1 - stored_) * around;
        const double both = in_both * (1 - sum_) + product_ * (1 + stored_) / (1 - stored_) * weighted + sum_ * (o + e1 + in_both);
        const double beyond = (std::max(alone, both) + absolute_terms * (1 + 2 * a_.exp_relative)) / (1 - sum_) * detail::slack;
        return {e1 * detail::slack + beyond, beyond};
    }

private:
    // α_j (e^{L_j} − 1), from above; through logarithms where the factors leave the range of double.
    [[nodiscard]] double raised(std::size_t j) const {
        const double weight = f_.weight[j], bound = log_weight_[j];
        if (weight > 1e-290 && bound < 600) return weight * detail::expm1_above(bound);
        const double log_up = f_.score[j] - f_.lse + bound + 0x1p-50 * detail::absolute(f_.score[j]) + 0x1p-50 * detail::absolute(f_.lse);
        return log_up < 650 ? attest::exp(log_up) * detail::slack : 1e290; // sums of them stay finite
    }
    // Relative error of a product of d_k terms summed in any order, with its operands as the arithmetic keeps them.
    [[nodiscard]] double product_error(double more_roundings) const {
        const double one = detail::together(a_.operand, a_.query_key);
        return detail::together(detail::together(one, one), detail::roundings(static_cast<double>(f_.d_k) + more_roundings, a_.unit));
    }
    [[nodiscard]] double tiny_products() const { return 2 * static_cast<double>(f_.d_k + 1) * a_.tiny; }

    [[nodiscard]] double score_error(std::size_t j) {
        if (f_.scores_are_inputs) { // exact, unless they are wider than the arithmetic, and are rounded to it first
            const bool rounded = f_.inputs_in_f64 && a_.unit > formats::f64.unit_roundoff();
            return rounded ? detail::roundings(1, a_.unit) * detail::absolute(f_.score[j]) : 0;
        }
        // Eight more roundings: the scale (or its root, on q and on k; or with log2 e in it) and its products.
        double error = product_error(8) * f_.size[j] + std::max(1.0, f_.scale) * tiny_products();
        // Below the normal range: q or k times the scale, or its root, each error times the other operand; the scale itself.
        const double kept_tiny = (a_.query_key > 0 ? a_.weight_tiny : a_.tiny) + a_.operand_tiny;
        error += std::max(1.0, f_.scale) * kept_tiny * f_.operands[j];
        if (f_.scale > 0) error += a_.tiny * (f_.size[j] / f_.scale);
        const double size = f_.size[j] + error;
        // Some kernels sum the product before they scale it; in 16 bits it is stored scaled.
        const double unscaled = f_.scale > 0 ? size / f_.scale : size;
        if (size > a_.greatest || unscaled > greatest_sum() || log2_e * size > greatest_sum()) return overflow();
        const double score_tiny = a_.score > 0 ? a_.weight_tiny : 0;
        error += a_.score * (detail::absolute(f_.unbiased[j]) + error) + score_tiny;
        if (f_.biased) {
            // The sum is rounded, and stored once more.
            const double sum = detail::absolute(f_.score[j]) + error;
            // −∞ for a score whose key weighs nothing does no harm.
            if ((sum > a_.greatest || log2_e * sum > greatest_sum()) && !(f_.score[j] < 0 && f_.weight[j] < 1e-300)) return overflow();
            error += (2 * a_.unit + a_.score) * sum + score_tiny;
        }
        return error;
    }

    // Products are summed in f64 or f32; beyond the greatest number of that, sums overflow. A kernel that uses exp2 has scores times log2 e.
    static constexpr double log2_e = 1.4427;
    [[nodiscard]] double greatest_sum() const { return a_.unit < formats::f32.unit_roundoff() ? formats::f64.greatest() : formats::f32.greatest(); }
    [[nodiscard]] double overflow() {
        overflow_ = true;
        return detail::infinity_of_double;
    }

    const arithmetic& a_;
    const row_facts& f_;
    std::vector<double> score_, log_weight_;
    double greatest_log_weight_ = 0;
    double low_sum_ = 0;  // Σ α e^{−L}
    double high_sum_ = 0; // Σ α e^{L}
    double sum_ = 0;      // T
    double stored_ = 0;   // S
    double product_ = 0;  // R
    bool overflow_ = false;
};

/// Half a ULP of the format at the greatest magnitude that a value can have before its store; infinity where that may overflow.
[[nodiscard]] inline double half_ulp_of_store(const format& f, double magnitude) {
    if (!(magnitude < f.greatest())) return detail::infinity_of_double;
    return ulp(f, magnitude) / 2;
}

} // namespace attest
