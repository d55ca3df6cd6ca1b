// SPDX-License-Identifier: BSL-1.0
/// \file
/// What a row stores in 16 bits on its way to the gradients, as error sources: their bounds, and the squares of their effects on dq and dS.
///
/// With κ_l = (1 − t_l²) k_l, K̄ = Σ α_l κ_l and g = Σ dS_l κ_l, the derivatives of dq/scale to the errors of what is stored are:
///
/// | stored | in | derivative, D = Σ α da | derivative, D = Σ dz out |
/// |---|---|---|---|
/// | dS_l, passed on | both | k_l | k_l |
/// | out_c; forward's weight l | both | | −K̄ dz_c; −K̄ da_l |
/// | score l, q and k on the way to it | X | dS_l (κ_l − K̄) − α_l g | the same |
/// | weight l | X | (da_l − D) κ_l − da_l K̄ | (da_l − D) κ_l |
/// | da_l; α_l da_l, if stored apart | X | α_l (κ_l − K̄); κ_l − K̄ | α_l κ_l; κ_l |
/// | k_lc, as an operand of this sum | X | (1 − t_l²) dS_l | the same |
///
/// The greater sum of squares counts. The bound of a source is half a ULP at its value and the noise that comes with it. Where that of a score is
/// not small, its derivative is the greatest over the box: weights there are up to e^{2b} times as large. The bias ½ Σ b² sup|∂²| is added
/// (`second`), with
///
///     |∂²dS_j/∂s_l²| <= α_l |dS_j| + 3 α_j |dS_l|  (l ≠ j),   |∂²dS_l/∂s_l²| <= |dS_l|,   |∂²α_j/∂s_l²| <= α_j α_l  (l ≠ j),   |∂²α_l/∂s_l²| <= α_l.
///
/// What is stored of the query is one source for all scores of its row. For dq it is taken as if it were one a key: Σ_l of the derivatives is 0, so
/// that a common error cancels (assumed: what is left of it does not add up).
#pragma once

#include "attest/oracle/gradient_limits_row.hpp"

namespace attest::detail {

/// ‖a + b‖² <= ‖a‖² + ‖b‖² + 2‖a'‖‖b‖, from the squares: for effects a and b of which only the part a' of a, its share of the square, has the same
/// sources as b.
[[nodiscard]] inline double square_of_sum(double a, double b, double share = 1) {
    return a + b + 2 * unfused(attest::sqrt(unfused(a * share)) * attest::sqrt(b));
}
[[nodiscard]] inline double square(double x) { return unfused(x * x); }
[[nodiscard]] inline double root_of_squares(double a, double b) { return attest::sqrt(square(a) + square(b)); }

/// Of one row, in one arithmetic that stores in 16 bits. Vectors are over the visible keys.
class gradient_row_sources {
public:
    std::vector<double> score;    ///< X: bound of all that is stored on the way to the score, raised to the greatest derivative over the box
    std::vector<double> ds_noise; ///< how far dS may be off before it is stored, if errors are as likely up as down
    std::vector<double> second, second_of_weight; ///< second order, of dS and of weights
    double shift = 0;                             ///< root of the squares of Σ α_l δ_l: what all weights of the row share
    double mean = 0;                              ///< the same of D: what all dS of the row share

    void make(const arithmetic& a, const gradient_row_values& r, const gradient_row_facts& f, const gradient_shape& shape,
              const gradient_score_errors& errors, const gradient_row_bounds& all, const gradient_row_bounds& plain, const brief_matrix& v,
              const rows_of_keys& k, const brief_matrix& q, double lambda) {
        a_ = &a;
        r_ = &r;
        f_ = &f;
        cap_ = f.tanh.empty() ? 0 : shape.cap;
        operand_ = a.query_key * shape.stores;
        for (std::vector<double>* x : {&score, &ds_noise, &second, &second_of_weight, &weight_, &da_, &product_, &passed_, &moved_})
            x->assign(r.n, 0);
        shift = mean = score_mean_ = mean_of_da_ = mean_of_out_ = 0;
        if (r.n == 0) return;
        of_keys(shape, k);
        if (stores_scores(a)) of_scores(shape, errors, k, q);
        of_weights(all, plain, lambda);
        if (stores_scores(a)) of_da(all);
        of_out(all, plain, v, lambda);
        mean = attest::sqrt(score_mean_ + std::max(mean_of_da_, mean_of_out_));
        of_ds(shape, all, plain, lambda);
    }

    /// Adds the squares of all effects on dq_c/scale, c from 0 to d_k − 1.
    void add_squares(std::span<double> totals, const rows_of_keys& k) {
        if (r_->n == 0) return;
        const std::size_t d = totals.size();
        const auto times_key = [&](const auto& factor) {
            return [&k, d, factor](std::size_t l, double sign, double* x) {
                const double first = brief(sign * factor(l)), *const row = k.value(l);
                for (std::size_t c = 0; c < d; ++c) x[c] = first * row[c];
            };
        };
        const double times = stores_of_ds(*a_, cap_ > 0);
        std::vector<double> of_ds(d, 0.0);
        by_ds_.add_squares(of_ds, times_key([&](std::size_t l) { return passed_[l]; }));
        for (std::size_t c = 0; c < d; ++c) totals[c] += unfused(times * of_ds[c]);
        if (!stores_scores(*a_)) return add_mean_of_out(totals);

        // of_row(l) κ_l + of_mean(l) K̄ + of_g(l) g
        const auto in_all = [&](const auto& of_row, const auto& of_mean, const auto& of_g) {
            return [this, &k, d, of_row, of_mean, of_g](std::size_t l, double sign, double* x) {
                const double p = brief(sign * of_row(l) * r_->slope[l]), s = brief(sign * of_mean(l)),
                             t = brief(sign * of_g(l)), *const row = k.value(l);
                for (std::size_t c = 0; c < d; ++c) x[c] = p * row[c] + (s * k_mean_[c] + t * g_[c]);
            };
        };
        const auto none = [](std::size_t) { return 0.0; };
        const auto minus = [](const auto& x) { return [x](std::size_t l) { return -x(l); }; };
        const auto by_score = [&](std::size_t l) { return score[l] * moved_ds(l); };
        std::vector<double> of_score(d, 0.0), of_cap(d, 0.0), of_key(d, 0.0), one(d, 0.0), other(d, 0.0);
        by_score_.add_squares(of_score, in_all(by_score, minus(by_score), [&](std::size_t l) { return -score[l] * f_->weight[l]; }));
        if (cap_ > 0) by_score_.add_squares(of_cap, times_key([&](std::size_t l) { return cap_effect(l); }));
        by_score_.add_squares(of_key, [&](std::size_t l, double, double* x) {
            const double first = brief(operand_ * r_->slope[l] * r_->ds[l]), *const row = k.size(l);
            for (std::size_t c = 0; c < d; ++c) x[c] = first * row[c];
        });
        for (std::size_t c = 0; c < d; ++c) totals[c] += square_of_sum(square_of_sum(of_score[c], of_cap[c]), of_key[c], share_of_keys_[c]);

        const auto of_weight = [&](std::size_t l) { return weight_[l] * r_->from_mean[l]; };
        const auto of_da = [&](std::size_t l) { return da_[l] * f_->weight[l]; };
        const auto of_product = [&](std::size_t l) { return product_[l]; };
        by_weight_.add_squares(one, in_all(of_weight, [&](std::size_t l) { return -weight_[l] * r_->da[l]; }, none));
        by_da_.add_squares(one, in_all(of_da, minus(of_da), none));
        by_product_.add_squares(one, in_all(of_product, minus(of_product), none));
        by_weight_.add_squares(other, in_all(of_weight, none, none));
        by_da_.add_squares(other, in_all(of_da, none, none));
        by_product_.add_squares(other, in_all(of_product, none, none));
        add_mean_of_out(other);
        for (std::size_t c = 0; c < d; ++c) totals[c] += std::max(one[c], other[c]);
    }

    /// The square of the effects on one dS, itself stored or not: as it is, before 1 − t² and the scale.
    [[nodiscard]] double square_of_ds(std::size_t l, bool stored) const {
        const double w = f_->weight[l],
                     effects[] = {moved_ds(l) * score[l], r_->ds_size[l] * shift, w * mean, r_->mean_size[l] * weight_[l], w * da_[l], product_[l],
                                  stored ? error_of_store(*a_, r_->ds_size[l] + ds_noise[l]) : 0};
        double sum = 0;
        for (const double x : effects) sum += square(x);
        return sum;
    }
    /// The effect of a score's sources on what is passed on, through 1 − t².
    [[nodiscard]] double cap_effect(std::size_t l) const { return cap_ > 0 ? 2 * f_->tanh[l] / cap_ * r_->ds[l] * score[l] : 0; }

private:
    // dS, and how far another source may have moved it: the mixed second order.
    [[nodiscard]] double moved_ds(std::size_t l) const { return r_->ds[l] < 0 ? r_->ds[l] - moved_[l] : r_->ds[l] + moved_[l]; }
    void add_mean_of_out(std::span<double> totals) const {
        for (std::size_t c = 0; c < totals.size(); ++c) totals[c] += unfused(square(k_mean_[c]) * mean_of_out_);
    }

    void of_keys(const gradient_shape& shape, const rows_of_keys& k) {
        k_mean_.assign(shape.d_k, 0);
        g_.assign(shape.d_k, 0);
        for (std::size_t l = 0; l < r_->n; ++l) {
            const double w = brief(f_->weight[l] * r_->slope[l]), s = brief(r_->ds[l] * r_->slope[l]), *const row = k.value(l);
            for (std::size_t c = 0; c < shape.d_k; ++c) {
                k_mean_[c] += w * row[c];
                g_[c] += s * row[c];
            }
        }
        for (std::vector<double>* x : {&k_mean_, &g_})
            for (double& y : *x) y = brief(y);
    }

    void of_scores(const gradient_shape& shape, const gradient_score_errors& errors, const rows_of_keys& k, const brief_matrix& q) {
        const std::size_t n = r_->n;
        double box = 0; // how far the logarithm of the sum of weights may move
        for (std::size_t l = 0; l < n; ++l) box += unfused(f_->weight[l] * (attest::exp(std::min(errors.bound[l], 300.0)) - 1));
        double weighted = 0, weighted_ds = 0, of_weight = 0, of_ds = 0;
        for (std::size_t l = 0; l < n; ++l) {
            const double b = !errors.noise.empty()  ? errors.noise[l]
                             : errors.plain.empty() ? errors.bound[l]
                                                    : std::max(errors.bound[l] - errors.plain[l], 0.0);
            score[l] = unfused(b * attest::exp(std::min(errors.bound[l] + box, 300.0)));
            const double by_weight = unfused(f_->weight[l] * score[l]), by_ds = unfused(r_->ds_size[l] * score[l]);
            weighted += by_weight;
            weighted_ds += by_ds;
            of_weight += unfused(by_weight * score[l]);
            of_ds += unfused(by_ds * score[l]);
        }
        for (std::size_t l = 0; l < n; ++l) {
            const double w = f_->weight[l], b2 = square(score[l]);
            second[l] = (unfused(r_->ds_size[l] * (b2 + of_weight)) + unfused(3 * w * of_ds)) / 2;
            second_of_weight[l] = unfused(w * (b2 + of_weight)) / 2;
        }
        by_score_.sort(a_->output, n, [&](std::size_t l) { return f_->score[l]; }, [](std::size_t) { return 0.0; });
        share_of_keys_.assign(shape.d_k, shape.learned ? 1 : 0);
        if (shape.learned) { // what the query stores moves all scores of the row, in ways that are not known here
            shift = weighted;
            score_mean_ = square(weighted_ds);
            return;
        }
        // Component c of the key is also an operand of dq_c: the greatest share of the score's square that is its own.
        for (std::size_t l = 0; l < n; ++l) {
            const double inverse = brief_above(score[l] > 0 ? 1 / score[l] : 0), *const row = k.size(l);
            for (std::size_t c = 0; c < shape.d_k; ++c) share_of_keys_[c] = std::max(share_of_keys_[c], inverse * row[c]);
        }
        // What is stored of the query acts through the means of the keys.
        double through_mean = 0, through_g = 0;
        for (std::size_t c = 0; c < shape.d_k; ++c) {
            const double stored = q.sizes(0)[c] * size_of(shape.scale) * operand_;
            share_of_keys_[c] = std::min(square(stored * share_of_keys_[c]), 1.0);
            through_mean += square(stored * k_mean_[c]);
            through_g += square(stored * g_[c]);
        }
        shift = attest::sqrt(through_mean + by_score_.square([&](std::size_t l) { return f_->weight[l] * score[l]; }));
        score_mean_ = through_g + by_score_.square([&](std::size_t l) { return r_->ds[l] * score[l]; });
    }

    void of_weights(const gradient_row_bounds& all, const gradient_row_bounds& plain, double lambda) {
        std::vector<double> noise(r_->n);
        for (std::size_t l = 0; l < r_->n; ++l) {
            const double w = f_->weight[l];
            noise[l] = std::min(all.weight.error[l], plain.weight.error[l] + unfused(lambda * w * root_of_squares(score[l], shift)));
            if (stores_scores(*a_)) weight_[l] = error_of_store(*a_, w + noise[l]);
        }
        by_weight_.sort(a_->output, r_->n, [&](std::size_t l) { return f_->weight[l]; }, [&](std::size_t l) { return noise[l]; });
    }

    void of_da(const gradient_row_bounds& all) {
        for (std::size_t l = 0; l < r_->n; ++l) {
            const double size = size_of(r_->da[l]) + std::min(all.da_error[l], size_of(r_->da[l]));
            if (r_->factor[l] == 0) continue;
            const two_stores stored = errors_of_stores(*a_, size / r_->factor[l], r_->factor[l]);
            da_[l] = root_of_squares(stored.before, stored.after);
            product_[l] = error_of_store(*a_, unfused((f_->weight[l] + std::min(all.weight.error[l], f_->weight[l]) + weight_[l]) * size));
        }
        const auto no_noise = [](std::size_t) { return 0.0; };
        by_da_.sort(a_->output, r_->n, [&](std::size_t l) { return r_->da[l]; }, no_noise);
        by_product_.sort(a_->output, r_->n, [&](std::size_t l) { return f_->weight[l] * r_->da[l]; }, no_noise);
        mean_of_da_ = by_weight_.square([&](std::size_t l) { return weight_[l] * r_->da[l]; }) + by_da_.square([&](std::size_t l) {
            return da_[l] * f_->weight[l];
        }) + by_product_.square([&](std::size_t l) { return product_[l]; });
    }

    // D = Σ dz out, with forward's weights and the out as they were stored. Where stored weights are summed, theirs act through da − D.
    void of_out(const gradient_row_bounds& all, const gradient_row_bounds& plain, const brief_matrix& v, double lambda) {
        std::vector<double> stored(r_->n), squares(v.d, 0.0), kept(v.d), noise(v.d);
        for (std::size_t l = 0; l < r_->n; ++l) {
            const double w = f_->weight[l];
            stored[l] = error_of_store_anywhere(*a_, w + std::min(plain.weight.error[l], w));
            if (r_->factor[l] != 1) stored[l] = unfused(1.4143 * stored[l]); // before and after dropout's factor
            const double x = unfused((stored[l] + unfused(w * (score[l] + shift))) * r_->factor[l]), square = brief_above(x * x);
            const double* const row = v.magnitudes(f_->key[l]);
            for (std::size_t c = 0; c < v.d; ++c) squares[c] += brief_above(row[c] * row[c]) * square;
        }
        const double of_weights = std::max(by_weight_.square([&](std::size_t l) { return stored[l] * r_->da[l]; }),
                                           by_weight_.square([&](std::size_t l) { return stored[l] * r_->from_mean[l]; }));
        for (std::size_t c = 0; c < v.d; ++c) {
            const double most = std::min(all.out_high[c], plain.out_high[c] + unfused(lambda * attest::sqrt(squares[c])));
            noise[c] = most - size_of(r_->out[c]);
            kept[c] = error_of_store(*a_, most);
        }
        by_out_.sort(a_->output, v.d, [&](std::size_t c) { return r_->out[c]; }, [&](std::size_t c) { return noise[c]; });
        mean_of_out_ = of_weights + by_out_.square([&](std::size_t c) { return kept[c] * f_->dz[c]; });
    }

    void of_ds(const gradient_shape& shape, const gradient_row_bounds& all, const gradient_row_bounds& plain, double lambda) {
        std::vector<double> noise(r_->n);
        for (std::size_t l = 0; l < r_->n; ++l) {
            if (stores_scores(*a_)) moved_[l] = std::min(unfused(lambda * f_->weight[l] * mean), all.ds_error[l]);
            ds_noise[l] = std::min(all.ds_error[l], plain.ds_error[l] + unfused(lambda * attest::sqrt(square_of_ds(l, false))));
            noise[l] = unfused(r_->slope[l] * ds_noise[l]) + unfused(all.slope_error[l] * (r_->ds_size[l] + ds_noise[l]));
            passed_[l] = error_of_store_scaled(*a_, unfused(r_->slope[l] * r_->ds_size[l]) + noise[l], shape.scale);
        }
        by_ds_.sort(a_->output, r_->n, [&](std::size_t l) { return r_->slope[l] * r_->ds[l]; }, [&](std::size_t l) { return noise[l]; });
    }

    const arithmetic* a_ = nullptr;
    const gradient_row_values* r_ = nullptr;
    const gradient_row_facts* f_ = nullptr;
    double cap_ = 0, operand_ = 0, score_mean_ = 0, mean_of_da_ = 0, mean_of_out_ = 0; // the last three: squares
    std::vector<double> weight_, da_, product_;                                        // X: errors of stores
    std::vector<double> passed_;                                                       // of storing dS on its way to q and k, once
    std::vector<double> moved_, k_mean_, g_, share_of_keys_;
    alike_sources by_score_, by_weight_, by_da_, by_product_, by_ds_, by_out_;
};

} // namespace attest::detail
