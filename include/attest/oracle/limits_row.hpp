// SPDX-License-Identifier: BSL-1.0
/// \file
/// The certain limit: how far a right computation in the declared arithmetic can be from the exact value, whatever its order of summation.
///
/// Derivation, for one query. Write α_j for the exact weights and o = Σ α_j f_j v_j; f_j is 1, or dropout's factor. A sink is one more key, with v =
/// 0. A right kernel, plain, blockwise or split, computes
///
///     out = Σ_j p_j (1 + σ_j)(1 + ρ_j) f_j v_j / Σ_j p_j (1 + σ'_j)(1 + τ_j),      p_j = α_j e^{ε_j} · (a factor common to the row),
///
/// where |ε_j| <= L_j gathers what happens to a weight before numerator and denominator part (errors of the score, limits_score.hpp; of the shift, of
/// exp, of up to n rescalings: e^0 is 1, so only a new maximum makes one), |σ_j| <= S_j its storing before the product with v, |ρ_j| <= R what
/// happens in the numerator alone (product, sum, rescaling, final quotient, dropout's factor), |τ_j| <= T in the denominator. The denominator sums
/// the weights as they were (σ' = 0) or as they are stored (σ' = σ). The shift is the greatest score seen, or up to 8 bits below it, so that some p
/// is at least 1 and the denominator too. A split kernel gives each part's output the weight e^(lse of the part − greatest lse), each lse rounded:
/// |lse| <= max(|s_j|, |m|) + log n for a part with key j in it, so that is 2u(max(|s_j|, |m|) + log n), and the logarithm's error, in L_j. Let v_j
/// stand for f_j v_j, α'_j = α_j e^{ε_j} / Σ α_l e^{ε_l} and o' = Σ α'_j v_j. Since Σ α_j (v_j − o) = 0,
///
///     |o' − o|  =  |Σ α_j (e^{ε_j} − 1)(v_j − o)| / Σ α_l e^{ε_l}  <=  Σ α_j (e^{L_j} − 1) |v_j − o| / Σ α_l e^{−L_l}  =: E1,
///
/// and o' lies in the convex hull of the visible v, so E1 is cut there. With W := Σ α'_j |v_j| <= min(max |v_j|, Σ α_j e^{L_j} |v_j| / Σ α_l
/// e^{−L_l}) and W_S := Σ α'_j S_j |v_j|, bounded in the same way (of W, Σ α e^L |v| <= Σ α |v| + Σ α (e^L − 1)(|v − o| + |o|): sums that are there
/// anyhow, and at most twice E1 more),
///
///     σ' = 0:   |out − o'| <= (R W + (1 + R) W_S + T |o'|) / (1 − T);
///     σ' = σ:   o'' = Σ α'_j (1 + σ_j) v_j / Σ α'_l (1 + σ_l) is off by A_S/(1 − S) with A_S := Σ α'_j S_j |v_j − o'| (as in E1), which can
///               exceed W_S (many keys with v = 0, and one with another v); then |out − o''| <= (R W (1 + S)/(1 − S) + T |o''|) / (1 − T).
///
/// E2 is the greater of the two. A_S <= min(Σ α_j e^{L_j} S_j |v_j − o| / Σ α_l e^{−L_l} + S E1, S · the width of the hull).
///
/// S_j is S but for the key of the greatest score, whose weight is near 1 where it outweighs the others: relative to the shift it is e^0 = 1, or, by
/// fma with a rounded shift, e^(u|s|) as exp gives it; normalised, it is at least 1 − (its greatest loss). 1 can be stored, so the rounding is no
/// greater than the distance from 1. (A shift that lags by up to 8 bits is that of another key with at least 2^−8 of its weight: then the distance of
/// the normalised weight from 1 is more than a unit of 16 bits.) With dropout the factor is stored too: then S is that of two stores, for all keys.
///
/// Below the normal range an error is absolute: that of a weight, a product, a sum or a rescaling acts through v over a denominator of at least 1 − T
/// (of a weight stored behind dropout's factor through v without it), that of v as an operand through f α', that of q times the scale through k. A
/// sum of products that may overflow on the way makes the limit infinite: Σ |q_c k_c| scale log2 e, and 2^8 Σ |v_j| for a shift that stays 8 bits
/// behind. The limit is E1 + E2 + those terms, and the final store adds half a ULP at |o| plus the limit.
/// An exp that is flushed adds at most exp_flush Σ |v_j − o| <= exp_flush · (Σ |v_j| + n |o|).
/// Everything is evaluated in double, and raised by `slack` at the end, which is far more than double loses over 10^6 keys; what is near 1 is never
/// formed where its distance from 1 is meant. Weights are divided by their sum first, so that it does not matter if they are all off by one factor.
///
/// The weights as an output may also be e^{s − lse} of a rounded lse: |lse| times a few units, the same in the whole row. Kernels that go backwards
/// make them so. That is granted to `weights` of attention, not to `out`, and not to softmax alone.
///
/// Not covered, so such kernels may fail where |lse| or |x| is many times n: a shift that is farther from the greatest visible score; softmax alone
/// by exp2(x log2 e − m log2 e) without fma, or by e^{x − lse} (errors of |x|, not of |x − m|). Nor is lse of weights as they are stored in 16 bits:
/// lse is kept in f32. Nor an exp that is good to 2^−13 only.
#pragma once

#include "attest/elementary/log.hpp"
#include "attest/oracle/limits_entries.hpp"

#include <memory>

namespace attest {

/// The bounds of a row that do not depend on the output component. The arithmetic and the facts are the caller's, and must stay.
class row_limits {
public:
    /// A shift may stay behind the greatest score by 8 bits (kernels that rescale only where it pays).
    static constexpr double lazy_shift = 5.6;

    row_limits(const arithmetic& a, const row_facts& f)
        : row_limits(a, f, static_cast<double>(f.weight.size()), a.query_key > 0 ? a.weight_tiny : 0) {}
    /// With at most so many rescalings; `stored_tiny`: see score_errors. `like`: the same row in another arithmetic, from which is taken what is the same.
    row_limits(const arithmetic& a, const row_facts& f, double rescalings, double stored_tiny, const row_limits* like = nullptr)
        : a_{a}, f_{f}, rescalings_{rescalings}, stored_tiny_{stored_tiny}, errors_(a, f.rule, stored_tiny),
          entries_{like == nullptr ? std::make_shared<detail::row_entries>(f) : like->entries_}, weight_{entries_->weights()}, score_{entries_->scores()} {
        keys_ = f.weight.size();
        scores_ = like != nullptr && like->has_same_scores(a, stored_tiny) ? like->scores_ : std::make_shared<detail::row_score_errors>(f, errors_, *entries_);
        per_exp_ = 1.01 * (1 + rescalings) * a.exp_relative;
        const std::size_t n = weight_.size();
        const auto count = static_cast<double>(n);
        log_n_ = attest::log(count) + 1;
        merge();
        // n products, n sums, the rescalings; a quotient in two steps, and again where parts are merged.
        sum_ = detail::roundings(count + rescalings + 8, a.unit);
        store_ = detail::together(a.weight, a.operand);                             // the weight as stored, or as an operand
        factor_error_ = f.factor.empty() ? 0 : detail::roundings(greatest_factor() + 4, a.unit); // 1/(1 − p): that of p acts by p/(1 − p)
        if (!f.factor.empty()) store_ = detail::together(store_, a.weight);
        product_ = detail::together(detail::together(sum_, factor_error_),
                                    detail::together(a.operand, detail::input_unit(a, f.values))); // and v as an operand
        if (store_ > 0) stored_.assign(n, store_);
        if (n > 0 && f.factor.empty() && store_ > 0) limit_store_of_greatest();
    }
    row_limits(const row_limits&) = delete;
    row_limits& operator=(const row_limits&) = delete;

    /// True if nothing can be said: a score may overflow, or the sums are too long for the arithmetic.
    [[nodiscard]] bool unbounded() const { return scores_->overflow || !(sum_ < 0.5); }

    /// Bound of |computed − exact| for the score of visible key j, before its final store.
    [[nodiscard]] double score(std::size_t j) const { return error()[j] * detail::slack; }

    /// For raw, of any key, before its final store.
    [[nodiscard]] double raw_score(const score_size& s) const { return errors_.raw(s) * detail::slack; }

    /// For the weight of visible key j.
    [[nodiscard]] bound weight(std::size_t j) const {
        if (unbounded()) return {};
        const double w = weight_[j];
        const auto [lowest, highest] = range_of_weight(plain(), j);
        const double before = std::max(highest - w, w - lowest) + detail::unfused(0x1p-50 * w);
        // Stored, and divided by a sum of stored weights; or from a rounded lse, and stored.
        const double divided = (2 * store_ + detail::unfused((product_ + sum_) * (1 + store_))) / ((1 - store_) * (1 - sum_));
        const double off_lse = f_.scores_are_inputs ? 0 : error_of_lse() + detail::unfused(a_.exp_slope * (attest::log(static_cast<double>(keys_)) + 1));
        const double from_lse = f_.scores_are_inputs ? 0 : detail::together(detail::expm1_above(off_lse), store_);
        // A factor without bound, of a weight that may be 0: through logarithms.
        const double moved = from_lse < detail::infinity_of_double
                                 ? detail::unfused((w + before) * std::max(divided, from_lse))
                                 : std::max(detail::unfused((w + before) * divided), detail::unfused(raised_by(j, plain().log_weight[j] + plain().greatest + off_lse) * (1 + store_)));
        const double beyond = detail::unfused((moved + a_.weight_tiny + a_.exp_flush + 4 * a_.tiny) * detail::slack);
        return {detail::unfused(std::max(before, 0.0) * detail::slack) + beyond, beyond};
    }

    /// For lse = m + log Σ e^{s − m}.
    [[nodiscard]] double lse() const {
        if (weight_.empty()) return 0; // no key is visible: −∞, exactly
        if (unbounded()) return detail::infinity_of_double;
        const double above = attest::log(plain().high), below = -attest::log(plain().low);
        const double moved = std::min(std::max(above, below) + 0x1p-52, plain().greatest);
        return (moved + 2 * static_cast<double>(weight_.size()) * a_.exp_flush + error_of_lse()) * detail::slack;
    }

    /// What is added up over the entries for one component of the output.
    struct output_sums {
        double moved, mean_size;                            // main_sums_call (fast/limit_kernels.hpp); Σ α_j |v_j|
        double stored_all, stored_apart;                   // pair_sums_call, of most · stored
        double sum_of_sizes, greatest, low, high, absolute; // size_sums_call
    };
    /// For one component of the output, Σ α_j f_j v_j; `exact` is o.
    [[nodiscard]] bound output(double exact, const output_sums& s) const {
        if (keys_ == 0) return {0, 0}; // no key is visible: zero or NaN, exactly
        if (unbounded()) return {};
        const double o = size(exact), low = s.low, high = s.high;
        // o is only as good as the weights, and v − o is rounded.
        const double off = 0x1.001p-31 * s.mean_size;
        const double moved = s.moved + detail::unfused(off * merged().raised_sum);
        const double all = s.mean_size + moved + detail::unfused(o * merged().raised_sum), flushed = detail::flushed(a_, s.sum_of_sizes, entries(), o);
        const double stored_apart = s.stored_apart + detail::unfused(off * store_ * (1 + merged().raised_sum));
        const double hull = low == high ? 0.0 : std::max(std::max(high - exact, exact - low), 0.0) + detail::unfused(0x1p-52 * o) + off;
        const auto over_sum = [&](double x, double otherwise) { return merged().low > 0 ? std::min(x / merged().low, otherwise) : otherwise; };
        const double e1 = over_sum(moved + flushed, hull), weighted = over_sum(all, s.greatest);
        // A kernel that divides at the end sums weights that are relative to the greatest so far, or to a shift 8 bits below it, and that may overflow.
        if (!(0x1p8 * s.sum_of_sizes * (1 + store_) * (1 + product_) < greatest_sum())) return {};
        const double stored_part = over_sum(s.stored_all, store_ * s.greatest);
        const double alone = detail::unfused(product_ * weighted) + detail::unfused((1 + product_) * stored_part) + detail::unfused(sum_ * (o + e1));
        const double in_both = over_sum(stored_apart + detail::unfused(store_ * e1), detail::unfused(store_ * (high - low))) / (1 - store_);
        const double both = detail::unfused(in_both * (1 - sum_)) + detail::unfused(product_ * (1 + store_) / (1 - store_) * weighted) +
                            detail::unfused(sum_ * (o + e1 + in_both));
        const double beyond =
            detail::unfused((std::max(alone, both) + detail::unfused(s.absolute * (1 + 2 * a_.exp_relative))) / (1 - sum_) * detail::slack);
        return {detail::unfused(e1 * detail::slack) + beyond, beyond};
    }
    /// The coefficients of those sums, of each entry.
    struct output_coefficients {
        std::vector<double> factor;                  // empty: all 1; 0 for a sink
        std::vector<double> stored;                  // most, times what a store loses; empty: all 0
        std::vector<double> of_entry, behind;        // absolute: of each entry, and of the value behind its factor; empty: all 0
        double start = 0, of_size = 0, of_exact = 0; // absolute
        bool made = false;
    };
    [[nodiscard]] const output_coefficients& for_output() const {
        output_coefficients& c = for_output_;
        if (c.made) return c;
        c.made = true;
        const std::size_t n = weight_.size();
        c.factor = f_.factor;
        if (!c.factor.empty()) c.factor.resize(n, 0.0);
        if (store_ > 0) {
            c.stored.resize(n);
            for (std::size_t j = 0; j < n; ++j) c.stored[j] = detail::unfused((weight_[j] + merged().raised[j]) * stored_[j]);
        }
        c.start = 4 * static_cast<double>(n) * a_.tiny;
        c.of_size = a_.weight_tiny + a_.operand_tiny + a_.exp_flush;
        c.of_exact = a_.weight_tiny;
        const double of_operands = a_.operand_tiny + detail::input_tiny(a_, f_.values);
        if (of_operands > 0) {
            c.of_entry.resize(n);
            for (std::size_t j = 0; j < n; ++j)
                c.of_entry[j] = detail::unfused(detail::unfused((j < keys_ ? f_.factor_of(j) : 0) * most_weight(j)) * of_operands);
        }
        if (a_.weight_tiny > 0 && !c.factor.empty()) { // the store behind the factor
            c.behind.resize(n);
            for (std::size_t j = 0; j < n; ++j) c.behind[j] = c.factor[j] > 1 ? a_.weight_tiny : 0;
        }
        return c;
    }

    // What the expected limit builds on. Entries are the visible keys, then the sink.
    [[nodiscard]] double raised_by(std::size_t j, double bound) const { return entries_->raised_by(j, bound); } ///< α_j (e^{L} − 1), from above
    [[nodiscard]] std::size_t entries() const { return weight_.size(); }
    [[nodiscard]] const std::vector<double>& weights() const { return weight_; }
    [[nodiscard]] const std::vector<double>& scores() const { return score_; }
    [[nodiscard]] const std::vector<double>& errors() const { return error(); }            ///< of the scores
    [[nodiscard]] const std::vector<double>& errors_before_added() const { return scores_->before(); }
    [[nodiscard]] const std::vector<double>& log_weights() const { return merged_.log_weight; } ///< L
    [[nodiscard]] const std::vector<double>& stored() const { return stored_; }          ///< S; empty: all 0
    [[nodiscard]] double raised_sum() const { return merged().raised_sum; }
    [[nodiscard]] const row_facts& facts() const { return f_; }
    [[nodiscard]] double expected_absolute() const { return a_.operand_tiny + a_.exp_flush; }
    [[nodiscard]] double stored_most() const { return store_; }
    [[nodiscard]] const score_errors& of_scores() const { return errors_; }
    [[nodiscard]] double low_sum() const { return merged().low; }
    [[nodiscard]] const std::vector<double>& raised() const { return merged().raised; } ///< α (e^L − 1)
    [[nodiscard]] double sum_error() const { return sum_; }           ///< T
    [[nodiscard]] double factor_error() const { return factor_error_; }
    [[nodiscard]] double rescalings() const { return rescalings_; }

private:
    [[nodiscard]] static double size(double x) { return x < 0 ? -x : x; }
    // The weights e^{±L}: of plain kernels, and where parts are merged by their lse.
    struct perturbed {
        std::vector<double> log_weight, raised; // L; α (e^L − 1)
        double raised_sum = 0;
        double greatest = 0, low = 0, high = 0; // L; Σ α e^{−L}; Σ α e^{L}

        bool made = false;                      // all but L
    };
    [[nodiscard]] double plain_bound(std::size_t j) const {
        double distance = scores_->top - score_[j] + error()[j];
        if (j == keys_ && keys_ > 0) distance = std::max(distance, size(score_[j] - scores_->top_of_keys) + error()[j]); // the shift may leave the sink out
        distance = std::min(distance, formats::f64.greatest());
        return error()[j] + per_exp_ + detail::unfused((a_.exp_slope + 2 * a_.unit) * distance);
    }
    const perturbed& plain() const {
        if (plain_.made) return plain_;
        plain_.log_weight.resize(weight_.size());
        for (std::size_t j = 0; j < weight_.size(); ++j) plain_.log_weight[j] = plain_bound(j);
        finish(plain_);
        return plain_;
    }
    const perturbed& merged() const {
        if (!merged_.made) finish(merged_);
        return merged_;
    }
    void finish(perturbed& p) const {
        const std::size_t n = weight_.size();
        p.made = true;
        p.raised.resize(n);
        const fast::grown_weights_sums sums = f_.kernels->grown_weights({n, weight_.data(), p.log_weight.data(), detail::slack, nullptr, p.raised.data()});
        p.low = sums.shrunk;
        p.high = sums.more;
        p.raised_sum = sums.raised;
        p.greatest = std::max(0.0, sums.greatest_log_weight);
        if (!(sums.least_weight > 1e-290 && sums.greatest_log_weight < 600)) { // some are not in range
            p.high = p.raised_sum = p.greatest = 0;
            for (std::size_t j = 0; j < n; ++j) {
                if (!entries_->is_in_range(j, p.log_weight[j])) p.raised[j] = raised_by(j, p.log_weight[j]);
                p.greatest = std::max(p.greatest, p.log_weight[j]);
                p.high += weight_[j] + p.raised[j];
                p.raised_sum += p.raised[j];
            }
        }
        // The roundings of these sums themselves: not `slack`, which is coarser than f64 and would show in the weights.
        const double count = static_cast<double>(n) + 8;
        p.low = detail::unfused(p.low * (1 - count * 0x1p-52));
        p.high = detail::unfused(p.high * (1 + count * 0x1p-52));
    }

    [[nodiscard]] const std::vector<double>& error() const { return scores_->error(); }

    struct range {
        double lowest, highest;
    };
    // α_j e^ε / Σ α_l e^ε, with key j at one end of its bound and the others at the other.
    [[nodiscard]] range range_of_weight(const perturbed& p, std::size_t j) const {
        if (weight_.size() == 1) return {1, 1}; // a lone key weighs 1, whatever its score
        const double up = weight_[j] + p.raised[j], down = detail::unfused(weight_[j] * attest::exp(-p.log_weight[j]));
        const double low_others = std::max(p.low - down, 0.0), high_others = std::max(p.high - up, 0.0);
        return {down + high_others > 0 ? down / (down + high_others) : 0.0, up + low_others > 0 ? std::min(1.0, up / (up + low_others)) : 1.0};
    }
    // What the sum of weights, its logarithm and m + log l add: in base 2 that sum is rounded, and multiplied by log 2 as rounded.
    [[nodiscard]] double error_of_lse() const {
        const double log_n = attest::log(static_cast<double>(weight_.size())) + 1;
        return sum_ / (1 - sum_) + detail::unfused(6 * a_.unit * (size(f_.lse) + 1)) + detail::unfused((a_.function + 2 * a_.unit) * log_n);
    }
    void limit_store_of_greatest() {
        std::size_t j = 0;
        for (std::size_t k = 1; k < weight_.size(); ++k)
            if (weight_[k] > weight_[j]) j = k;
        const double lowest = range_of_weight(merged(), j).lowest;
        if (lowest <= 0.5 || unbounded() || (a_.truncates && a_.operand > 0)) return; // what is cut off may be a unit just below 1
        const double from_one = detail::expm1_above(detail::unfused(2 * a_.unit * (size(score_[j]) + error()[j])) + 2 * a_.exp_relative);
        stored_[j] = std::min(store_, detail::unfused(std::max((1 - lowest) / lowest + sum_ / (1 - sum_), from_one) * detail::slack));
    }
    // α'_j
    [[nodiscard]] double most_weight(std::size_t j) const { return merged().low > 0 ? std::min((weight_[j] + merged().raised[j]) / merged().low, 1.0) : 1; }
    [[nodiscard]] double greatest_factor() const {
        double greatest = 1;
        for (const double f : f_.factor) greatest = std::max(greatest, f);
        return greatest;
    }

    [[nodiscard]] bool has_same_scores(const arithmetic& a, double stored_tiny) const {
        return a.unit == a_.unit && a.tiny == a_.tiny && a.operand == a_.operand && a.operand_tiny == a_.operand_tiny && a.function == a_.function &&
               a.query_key == a_.query_key && a.score == a_.score && a.greatest == a_.greatest && a.output == a_.output &&
               stored_tiny == stored_tiny_ && (a.score == 0 || a.weight_tiny == a_.weight_tiny);
    }
    // L where parts are merged.
    void merge() {
        const std::size_t n = weight_.size();
        merged_.log_weight.resize(n);
        const double slope = a_.exp_slope + 2 * a_.unit, of_shift = detail::unfused(slope * lazy_shift), of_lse = 2 * a_.unit,
                     of_log = detail::unfused((a_.function + a_.unit) * log_n_), top = scores_->top;
        f_.kernels->log_weights({keys_, score_.data(), error().data(), top, formats::f64.greatest(), per_exp_, slope, of_shift, of_lse, log_n_, of_log,
                                 merged_.log_weight.data()});
        if (n == keys_) return;
        const double greatest = std::min(std::max(size(score_[keys_]), size(top)), formats::f64.greatest()) + log_n_; // the sink
        merged_.log_weight[keys_] = plain_bound(keys_) + of_shift + detail::unfused(of_lse * greatest) + of_log;
    }

    [[nodiscard]] double greatest_sum() const { return a_.unit < formats::f32.unit_roundoff() ? formats::f64.greatest() : formats::f32.greatest(); }

    const arithmetic& a_;
    const row_facts& f_;
    double rescalings_, stored_tiny_;
    score_errors errors_;
    std::shared_ptr<const detail::row_entries> entries_;
    const std::vector<double>&weight_, &score_;
    std::shared_ptr<const detail::row_score_errors> scores_;
    std::size_t keys_ = 0;
    std::vector<double> stored_;
    double per_exp_ = 0, log_n_ = 0;
    mutable perturbed plain_, merged_;
    double sum_ = 0;      // T
    double store_ = 0;    // S
    double product_ = 0;  // R
    double factor_error_ = 0;
    mutable output_coefficients for_output_; // made when they are asked for
};

} // namespace attest
