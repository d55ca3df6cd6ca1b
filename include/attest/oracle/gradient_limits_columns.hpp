// SPDX-License-Identifier: BSL-1.0
/// \file
/// The 16-bit error sources of dk_j and dv_j: those of all rows that see key j, and what rows share.
///
/// A key's gradients are sums over rows, and which sources round alike is seen only when all rows are there. So rows leave what is needed: four
/// bytes a row and key for weights and for dS, in arithmetic X also for scores and the bounds of their sources. With t_i what dS_ij is multiplied
/// by (q_i) and f dropout's factor:
///
/// | source | alike where | derivative of dk_j/scale | of dv_j |
/// |---|---|---|---|
/// | stored dS_ij; stored weight | these are | t_i | dz_i |
/// | D_i, with the scores' part | queries are | −α_ij (1 − t²) t_i | |
/// | X: the sources of score ij | scores are | dS_ij t_i | f α_ij dz_i |
/// | X: Σ_l α_il δ_il | queries are | −dS_ij t_i | −f α_ij dz_i |
/// | X: stored weight (beside its part in D_i) | weights are | (da_ij − D_i) (1 − t²) t_i | |
/// | X: stored da_ij; α_ij da_ij | these are | α_ij (1 − t²) t_i; (1 − t²) t_i | |
/// | X: q_ic, as an operand of this sum | queries are | dS_ij | |
///
/// In X the stored k_j is one source of the scores of all rows. Its effect through the mean query is taken exactly (dk_j/scale, or dv_j, times the
/// bound that the mean query gives); that through q_i − mean is counted with the score's sources, as if rows were independent. That is an
/// assumption: the exact derivative would cost d times all else. Alike queries: those whose product with a fixed vector is, to the unit of 16 bits
/// and the size of its terms.
#pragma once

#include "attest/oracle/gradient_limits_sources.hpp"

#include <limits>

namespace attest::detail {

class gradient_columns {
public:
    /// `keys`: whose dk and dv will be asked for. `arithmetics`: those that store in 16 bits; they must stay.
    gradient_columns(const gradient_shape& shape, const std::vector<std::size_t>& keys, std::vector<const arithmetic*> arithmetics, double lambda)
        : shape_{shape}, lambda_{lambda}, column_(shape.n_k, none), columns_{keys.size()}, of_(arithmetics.size()),
          arithmetics_{std::move(arithmetics)} {
        for (std::size_t at = 0; at < keys.size(); ++at) column_[keys[at]] = at;
        for (const arithmetic* const a : arithmetics_) any_stores_scores_ = any_stores_scores_ || stores_scores(*a);
    }
    [[nodiscard]] bool wants(std::size_t key) const { return column_[key] != none; }

    /// What arithmetic number a adds. `noise_of_weights`, relative, and `noise_of_ds`, relative to the weight: how far values may be off before
    /// they are stored.
    void add_row(std::size_t a, const gradient_row_values& r, const gradient_row_facts& f, const gradient_row_sources& s, double noise_of_weights,
                 double noise_of_ds) {
        of_[a].rows.push_back({s.shift, s.mean, noise_of_weights, noise_of_ds});
        if (!stores_scores(*arithmetics_[a])) return;
        put(of_[a].bound, r, f, [&](std::size_t l) { return s.score[l]; });
        if (shape_.cap > 0) put(of_[a].cap_effect, r, f, [&](std::size_t l) { return s.cap_effect(l); });
    }
    /// What all arithmetics have in common; after that. `to_key`: without pairs' own derivatives.
    void add_row(const gradient_row_values& r, const gradient_row_facts& f, const brief_matrix& to_key) {
        put(weight_, r, f, [&](std::size_t l) { return f.weight[l]; });
        put(ds_, r, f, [&](std::size_t l) { return r.ds[l] * r.slope[l]; });
        if (any_stores_scores_) put(score_, r, f, [&](std::size_t l) { return f.score[l]; });
        if (shape_.cap > 0) put(slope_, r, f, [&](std::size_t l) { return r.slope[l]; });
        if (!f.factor.empty()) factor_.resize(rows_ * columns_, 1.0F); // rows before the first that drops some
        if (!factor_.empty() || !f.factor.empty()) put(factor_, r, f, [&](std::size_t l) { return r.factor[l]; });
        to_key_.insert(to_key_.end(), to_key.row(0), to_key.row(0) + shape_.d_k);
        to_key_size_.insert(to_key_size_.end(), to_key.sizes(0), to_key.sizes(0) + shape_.d_k);
        dz_.insert(dz_.end(), r.dz.begin(), r.dz.end());
        mean_.push_back(r.d);
        double projection = 0, square = 0; // on a fixed vector, whose components have nothing to do with each other
        for (std::size_t c = 0; c < shape_.d_k; ++c) {
            const double x = unfused(to_key.row(0)[c] * (1 + static_cast<double>((c * 2654435769U) % 4096) / 4096));
            projection += x;
            square += unfused(x * x);
        }
        projection_.push_back(projection);
        projection_size_.push_back(attest::sqrt(square));
        ++rows_;
    }

    struct squares {
        std::vector<double> dk, dv;
    };
    /// The sums of squares for a key: of dk/scale and of dv. `k`: sizes of its row; `dk`, `dv`: the exact dk/scale and dv.
    [[nodiscard]] squares of_key(std::size_t a, std::size_t key, const double* k, const double* dk, const double* dv) {
        const arithmetic& stored = *arithmetics_[a];
        sort_queries(stored);
        gather(a, column_[key]);
        squares s{std::vector<double>(shape_.d_k, 0.0), std::vector<double>(shape_.d_v, 0.0)};
        of_ds(stored, s.dk);
        add(queries_, s.dk, to_key_, [&](std::size_t i) { return w_[i] * slope_of_[i] * of_[a].rows[i].mean; });
        runs_.sort(stored.output, rows_, [&](std::size_t i) { return w_[i]; }, [&](std::size_t i) { return w_noise_[i]; });
        add(runs_, s.dv, dz_, [&](std::size_t i) {
            const two_stores both = errors_of_stores(stored, w_[i] + w_noise_[i], factor_of_[i]);
            return root_of_squares(both.before, both.after);
        });
        if (!stores_scores(stored)) return s;
        // The runs are still those of weights: their own part in dS.
        add(runs_, s.dk, to_key_, [&](std::size_t i) { return error_of_store(stored, w_[i] + w_noise_[i]) * apart(i) * slope_of_[i]; });
        of_da(stored, s.dk);
        of_scores(a, k, s);
        const double of_mean = through_mean_query(k) * stored.query_key * shape_.stores;
        for (std::size_t c = 0; c < shape_.d_k; ++c) s.dk[c] += square(dk[c] * of_mean);
        for (std::size_t c = 0; c < shape_.d_v; ++c) s.dv[c] += square(dv[c] * of_mean);
        return s;
    }

private:
    static constexpr std::size_t none = std::numeric_limits<std::size_t>::max();
    // Of one row, in one arithmetic.
    struct of_row {
        double shift, mean;       // gradient_row_sources
        double of_weights, of_ds; // noise
    };
    struct of_arithmetic {
        std::vector<of_row> rows;
        std::vector<float> bound, cap_effect; // row by row
    };

    // Appends a row over all columns: 0 where the key is not visible.
    template <class X> void put(std::vector<float>& to, const gradient_row_values& r, const gradient_row_facts& f, const X& x) {
        to.resize((rows_ + 1) * columns_, 0.0F);
        for (std::size_t l = 0; l < r.n; ++l)
            if (wants(f.key[l])) to[rows_ * columns_ + column_[f.key[l]]] = static_cast<float>(x(l));
    }
    // One column of a matrix; `otherwise`: where there is none.
    void take(std::vector<double>& to, const std::vector<float>& from, std::size_t column, double otherwise) const {
        to.assign(rows_, otherwise);
        if (!from.empty())
            for (std::size_t i = 0; i < rows_; ++i) to[i] = static_cast<double>(from[i * columns_ + column]);
    }
    void gather(std::size_t a, std::size_t column) {
        take(w_, weight_, column, 0);
        take(ds_of_, ds_, column, 0);
        take(slope_of_, slope_, column, 1);
        take(factor_of_, factor_, column, 1);
        w_noise_.resize(rows_);
        ds_noise_.resize(rows_);
        for (std::size_t i = 0; i < rows_; ++i) {
            const of_row& row = of_[a].rows[i];
            w_noise_[i] = unfused(row.of_weights * w_[i]);
            ds_noise_[i] = unfused(row.of_weights * size_of(ds_of_[i])) + unfused(row.of_ds * w_[i]);
        }
        if (!stores_scores(*arithmetics_[a])) return;
        take(score_of_, score_, column, 0);
        take(bound_of_, of_[a].bound, column, 0);
        take(cap_effect_of_, of_[a].cap_effect, column, 0);
        da_of_.resize(rows_);
        for (std::size_t i = 0; i < rows_; ++i) {
            const double passed = w_[i] * slope_of_[i]; // below the range of float nothing goes on
            da_of_[i] = w_[i] == 0 ? 0 : mean_[i] + (passed > 0 ? ds_of_[i] / passed : 0);
        }
    }
    // Adds the squares of x(i) times row i.
    template <class X> void add(alike_sources& runs, std::vector<double>& totals, const std::vector<double>& rows, const X& x) {
        const std::size_t d = totals.size();
        runs.add_squares(totals, [&](std::size_t i, double sign, double* to) {
            const double first = brief(sign * x(i)), *const row = rows.data() + i * d;
            for (std::size_t c = 0; c < d; ++c) to[c] = first * row[c];
        });
    }

    void of_ds(const arithmetic& stored, std::vector<double>& dk) {
        std::vector<double> squares_of_one(shape_.d_k, 0.0);
        runs_.sort(stored.output, rows_, [&](std::size_t i) { return ds_of_[i]; }, [&](std::size_t i) { return ds_noise_[i]; });
        add(runs_, squares_of_one, to_key_,
            [&](std::size_t i) { return error_of_store_scaled(stored, size_of(ds_of_[i]) + ds_noise_[i], shape_.scale); });
        for (std::size_t c = 0; c < shape_.d_k; ++c) dk[c] += unfused(stores_of_ds(stored, shape_.cap > 0) * squares_of_one[c]);
    }
    // da − D, and α da where it has the other sign: the weight's own part in D.
    [[nodiscard]] double apart(std::size_t i) const {
        const double m = da_of_[i] - mean_[i], own = unfused(w_[i] * size_of(da_of_[i]));
        return (m < 0) == (da_of_[i] < 0) ? m : m < 0 ? m - own : m + own;
    }
    void of_da(const arithmetic& stored, std::vector<double>& dk) {
        const auto no_noise = [](std::size_t) { return 0.0; };
        runs_.sort(stored.output, rows_, [&](std::size_t i) { return da_of_[i]; }, no_noise);
        add(runs_, dk, to_key_, [&](std::size_t i) {
            if (factor_of_[i] == 0) return 0.0;
            const two_stores both = errors_of_stores(stored, size_of(da_of_[i]) / factor_of_[i], factor_of_[i]);
            return root_of_squares(both.before, both.after) * w_[i] * slope_of_[i];
        });
        runs_.sort(stored.output, rows_, [&](std::size_t i) { return w_[i] * da_of_[i]; }, no_noise);
        add(runs_, dk, to_key_, [&](std::size_t i) {
            return error_of_store(stored, (w_[i] + w_noise_[i] + error_of_store(stored, w_[i] + w_noise_[i])) * size_of(da_of_[i])) * slope_of_[i];
        });
    }
    void of_scores(std::size_t a, const double* k, squares& s) {
        const arithmetic& stored = *arithmetics_[a];
        std::vector<double> of_score(shape_.d_k, 0.0), of_cap(shape_.d_k, 0.0), of_query(shape_.d_k, 0.0);
        runs_.sort(stored.output, rows_, [&](std::size_t i) { return score_of_[i]; }, [](std::size_t) { return 0.0; });
        add(runs_, of_score, to_key_, [&](std::size_t i) { // with what other sources may have moved dS by
            const double moved = lambda_ * of_[a].rows[i].mean * w_[i] * slope_of_[i];
            return bound_of_[i] * (ds_of_[i] < 0 ? ds_of_[i] - unfused(moved) : ds_of_[i] + unfused(moved));
        });
        if (shape_.cap > 0) add(runs_, of_cap, to_key_, [&](std::size_t i) { return cap_effect_of_[i]; });
        add(queries_, of_query, to_key_size_, [&](std::size_t i) { return stored.query_key * shape_.stores * ds_of_[i]; });
        // Component c of a query is also an operand of dk_jc: the greatest share of a score's square that is its own.
        std::vector<double> share(shape_.d_k, 0.0);
        for (std::size_t i = 0; i < rows_; ++i) {
            const double inverse = brief_above(bound_of_[i] > 0 ? 1 / bound_of_[i] : 0), *const row = to_key_size_.data() + i * shape_.d_k;
            for (std::size_t c = 0; c < shape_.d_k; ++c) share[c] = std::max(share[c], inverse * row[c]);
        }
        for (std::size_t c = 0; c < shape_.d_k; ++c) {
            const double own = std::min(square(share[c] * k[c] * shape_.scale * shape_.stores * stored.query_key), 1.0);
            s.dk[c] += square_of_sum(square_of_sum(of_score[c], of_cap[c]), of_query[c], own);
        }
        add(queries_, s.dk, to_key_, [&](std::size_t i) { return ds_of_[i] * of_[a].rows[i].shift; });
        add(runs_, s.dv, dz_, [&](std::size_t i) { return bound_of_[i] * w_[i] * factor_of_[i]; });
        add(queries_, s.dv, dz_, [&](std::size_t i) { return w_[i] * factor_of_[i] * of_[a].rows[i].shift; });
    }

    void sort_queries(const arithmetic& a) {
        if (sorted_for_ == a.output.precision) return;
        sorted_for_ = a.output.precision;
        queries_.sort_by(
            rows_, [&](std::size_t i) { return projection_[i]; },
            [&](std::size_t i) { return unfused(a.output.unit_roundoff() * projection_size_[i]); });
        mean_query_.assign(shape_.d_k, 0);
        for (std::size_t i = 0; i < rows_; ++i)
            for (std::size_t c = 0; c < shape_.d_k; ++c) mean_query_[c] += to_key_[i * shape_.d_k + c];
        for (double& q : mean_query_) q /= static_cast<double>(rows_);
    }
    // Root of Σ_c (scale k_jc mean_c)².
    [[nodiscard]] double through_mean_query(const double* k) const {
        double sum = 0;
        for (std::size_t c = 0; c < shape_.d_k; ++c) sum += square(k[c] * mean_query_[c]);
        return attest::sqrt(sum) * size_of(shape_.scale);
    }

    gradient_shape shape_;
    double lambda_ = 0;
    std::vector<std::size_t> column_;
    std::size_t columns_ = 0, rows_ = 0;
    bool any_stores_scores_ = false;
    int sorted_for_ = 0;
    std::vector<of_arithmetic> of_;
    std::vector<const arithmetic*> arithmetics_;
    std::vector<float> weight_, ds_, slope_, factor_, score_; // row by row, over the columns
    std::vector<double> to_key_, to_key_size_, dz_, mean_, projection_, projection_size_, mean_query_;
    std::vector<double> w_, ds_of_, slope_of_, factor_of_, score_of_, bound_of_, cap_effect_of_, da_of_, w_noise_, ds_noise_; // of one column
    alike_sources runs_, queries_;
};

} // namespace attest::detail
