// SPDX-License-Identifier: BSL-1.0
/// \file
/// The limits of attention's gradients: how far a right backward kernel may be from the exact dq, dk, dv and dS in each arithmetic, before the
/// final store.
///
/// With α = softmax(s_i), da_j = f_j Σ_c dz_c v_jc, D = Σ α_j da_j and dS_j = α_j (da_j − D), passed on as (1 − t_j²) dS_j where scores are capped,
///
///     dq_i = scale Σ_j dS_ij k_j,   dk_j = scale Σ_i dS_ij q_i,   dv_j = Σ_i f_ij α_ij dz_i.
///
/// **Certain.** Bounds of the row's weights (gradient_limits_weights.hpp), of da, D and dS (gradient_limits_row.hpp) are e_α and e_dS. A sum of n
/// terms in any order and any blocks, its scale before or after, is off by γ_{n+8} Σ|terms|; operands are off by what the arithmetic allows (tf32:
/// 2^−11; stored k, q, weights in 16 bits; inputs wider than the arithmetic, once). So with e'_dS the bound of what is passed on, stored,
///
///     |dq_c error| <= scale Σ_j (e'_dS + (γ_{n+8} + operands)(|dS| + e'_dS)) |k_jc|,
///
/// but what a row's dS have in common, the error of D and a factor of all weights, is one error, and acts through the sums Σ α_j (1 − t²) k_jc and
/// dq_c themselves. The same holds for dk over rows (which have nothing in common), and Σ_i (f e_α + st(f α) + (γ + operands) f (α + e_α)) |dz_ic|
/// for dv. Arithmetic X stores dq and dk once more before the last scaling. Below the normal range an error is absolute: `tiny` for each operation,
/// times the other operand for an operand. Infinite where a sum or a store may overflow, and in a row whose scores, shift or exps are not known at
/// all; then for all keys that it sees.
///
/// **Expected**, for arithmetics that store in 16 bits: what the same arithmetic without those stores, and with no more rescalings than may be
/// expected (limits_order.hpp), may do for certain; plus λ times the root of the sum of squares of the stores' effects (gradient_limits_sources.hpp
/// for dq, gradient_limits_columns.hpp for dk and dv), plus second order; never above the certain limit. f64, f32 and tf32 have the certain limit
/// alone. So have, in X, scores with learned weights (what is stored between is not known), and dk with derivatives that belong to pairs
/// (`additive`).
///
/// Assumed: the backward kernel reads the scores that forward stored, or rounds them alike; lse is that of weights before they are stored in 16
/// bits; independence and alikeness as the files above say.
#pragma once

#include "attest/oracle/element_limits.hpp"
#include "attest/oracle/gradient_limits_columns.hpp"
#include "attest/oracle/gradient_limits_sums.hpp"
#include "attest/oracle/limits_order.hpp"

#include <memory>

namespace attest {

/// See the head of this file. Rows may come in any order, each once, and any subset of them where only `dq` and `ds` are asked. Spans of shape and
/// facts must stay, those of facts until the next row.
class attention_gradient_limits {
public:
    /// `possible`: the arithmetics, by whose number limits are asked; `lambda`: of the expected limit; `keys`: whose dk and dv will be asked for
    /// (each costs 12 to 24 bytes a row where something is stored in 16 bits).
    attention_gradient_limits(const std::vector<const arithmetic*>& possible, const gradient_shape& shape, double lambda,
                              const std::vector<std::size_t>& keys = {})
        : shape_{shape}, lambda_{lambda}, v_({shape.v, {}}, shape.d_v), v_columns_(v_), k_(shape.to_query, shape.d_k), dk_value_(shape.n_k * shape.d_k, 0.0),
          dv_value_(shape.n_k * shape.d_v, 0.0) {
        pending_dk_.begin(shape.n_k, shape.d_k, false);
        pending_dv_.begin(shape.n_k, shape.d_v, false);
        std::vector<const arithmetic*> stored;
        for (const arithmetic* const a : possible) {
            of_arithmetic& one = *of_.emplace_back(std::make_unique<of_arithmetic>());
            one.all = *a;
            one.plain = detail::without_stores(*a);
            one.sums.begin(shape);
            one.unbounded.assign(shape.n_k, false);
            if (!detail::stores_weights(one.all)) continue;
            one.in_columns = stored.size();
            stored.push_back(&one.all);
            one.plain_sums.begin(shape);
        }
        if (!stored.empty() && !keys.empty()) columns_ = std::make_unique<detail::gradient_columns>(shape, keys, stored, lambda);
    }

    attention_gradient_limits(const attention_gradient_limits&) = delete;
    attention_gradient_limits& operator=(const attention_gradient_limits&) = delete;

    /// Makes a row the last one, and adds it to its keys.
    void row(const gradient_row_facts& facts) {
        facts_ = &facts;
        const bool pairs = !facts.to_query.value.empty();
        pairs_ = pairs_ || pairs;
        if (pairs) pair_keys_ = detail::brief_matrix(facts.to_query, shape_.d_k);
        queries_ = detail::brief_matrix(facts.to_key, shape_.d_k);
        if (queries_.value.empty()) queries_ = detail::brief_matrix({std::vector<double>(shape_.d_k, 0.0), {}}, shape_.d_k); // an empty row of pairs
        values_.make(facts, v_, v_columns_);
        const detail::rows_of_keys keys = pairs ? detail::rows_of_keys{&pair_keys_, nullptr} : detail::rows_of_keys{&k_, &facts.key};
        row_.make(facts, values_, keys, queries_, pairs, shape_);
        add_values();
        for (std::size_t a = 0; a < of_.size(); ++a) {
            of_arithmetic& one = *of_[a];
            const gradient_score_errors& errors = facts.errors[a];
            const std::vector<double>& plain = errors.plain.empty() ? errors.bound : errors.plain;
            one.bounds.make(one.all, values_, facts, shape_, v_, errors.bound, plain, errors.sink, static_cast<double>(values_.n));
            if (one.bounds.unbounded)
                for (const std::size_t key : facts.key) one.unbounded[key] = true;
            if (!one.bounds.unbounded) one.sums.add_row(one.all, stored_tiny(one), shape_, row_, one.bounds, nullptr);
            if (detail::stores_weights(one.all)) expect(one, errors, plain);
        }
        if (columns_) columns_->add_row(values_, facts, queries_);
    }

    /// Of the last row; `a`: number of the arithmetic.
    [[nodiscard]] element_limits dq(std::size_t a, std::size_t c) const {
        const of_arithmetic& one = *of_[a];
        if (one.bounds.unbounded) return {};
        if (!knows_stores(one)) return finished(one, row_.dq[c], one.sums.dq[c], one.sums.dq[c]);
        return finished(one, row_.dq[c], one.sums.dq[c], one.plain_sums.dq[c] + likely(one.squares[c], one.plain_bounds.weight.relative));
    }
    /// dS of the last row's visible key number l, for the gradient of a mask. `summed`: the mask broadcasts, so that what it gets is a sum, and may
    /// be one of stored dS; of as many terms as `terms` says (0: no more than rows and keys). Limits of a sum: the sum of these.
    [[nodiscard]] element_limits ds(std::size_t a, std::size_t l, bool summed = false, std::size_t terms = 0) const {
        const of_arithmetic& one = *of_[a];
        if (one.bounds.unbounded) return {};
        const auto in_sum = [&](const arithmetic& of, double error) {
            if (!summed) return error;
            const double size = values_.ds_size[l] + error, count = static_cast<double>(terms != 0 ? terms : shape_.rows + shape_.n_k);
            return error + detail::error_of_store(of, size) + detail::unfused(detail::roundings(count, of.unit) * size);
        };
        const double certain = finite(in_sum(one.all, one.bounds.ds_error[l]) * slack);
        if (!detail::stores_weights(one.all)) return {certain, certain};
        const double expected = in_sum(one.plain, one.plain_bounds.ds_error[l]) + one.sources.second[l] +
                                likely(one.sources.square_of_ds(l, summed), one.plain_bounds.weight.relative);
        return {certain, std::min(certain, finite(expected * slack))};
    }

    /// Σ|terms| of the last row's dq and dS, and of a key's dk and dv, or more, the scale before or after: whether sums over several slices may
    /// overflow.
    [[nodiscard]] double size_of_dq(std::size_t a) const { return detail::unfused(of_[a]->sums.size_of_dq * most_scale()); }
    [[nodiscard]] double size_of_ds(std::size_t a, std::size_t l) const {
        return of_[a]->bounds.unbounded ? detail::infinity_of_double : values_.ds_size[l] + of_[a]->bounds.ds_error[l];
    }
    [[nodiscard]] double size_of_dk(std::size_t a, std::size_t key) const { return detail::unfused(of_[a]->sums.size_of_dk[key] * most_scale()); }
    [[nodiscard]] double size_of_dv(std::size_t a, std::size_t key) const { return of_[a]->sums.size_of_dv[key]; }

    /// When all rows are there.
    [[nodiscard]] element_limits dk(std::size_t a, std::size_t key, std::size_t c) {
        flush();
        const of_arithmetic& one = *of_[a];
        if (one.unbounded[key] || detail::gradient_sums::overflows(one.all, shape_.scale, one.sums.size_of_dk[key])) return {};
        const std::size_t at = key * shape_.d_k + c;
        const double certain = one.sums.dk[at];
        if (!knows_stores(one) || pairs_ || !wants(key)) return finished(one, dk_value_[at], certain, certain);
        return finished(one, dk_value_[at], certain, one.plain_sums.dk[at] + likely(squares_of(a, key).dk[c], one.relative));
    }
    [[nodiscard]] element_limits dv(std::size_t a, std::size_t key, std::size_t c) {
        flush();
        const of_arithmetic& one = *of_[a];
        if (one.unbounded[key] || detail::gradient_sums::overflows(one.all, 1, one.sums.size_of_dv[key])) return {};
        const std::size_t at = key * shape_.d_v + c;
        const double certain = finite(one.sums.dv[at] * slack);
        if (!knows_stores(one) || !wants(key)) return {certain, certain};
        return {certain, std::min(certain, finite((one.plain_sums.dv[at] + likely(squares_of(a, key).dv[c], one.relative)) * slack))};
    }

private:
    struct of_arithmetic {
        arithmetic all, plain;
        std::size_t in_columns = 0;
        detail::gradient_row_bounds bounds, plain_bounds; // of the last row
        detail::gradient_row_sources sources;
        detail::gradient_sums sums, plain_sums;
        std::vector<double> squares; // of the effects of stores on dq of the last row, over the scale
        std::vector<bool> unbounded; // keys seen by a row of which nothing is known
        double relative = 0;         // greatest of all rows: what derivatives are off by
    };
    static constexpr double slack = 1 + 0x1p-20; // far more than double, and 26 bits, lose here

    [[nodiscard]] double most_scale() const { return std::max(detail::size_of(shape_.scale), 1.0); }
    [[nodiscard]] static double stored_tiny(const of_arithmetic& one) { return detail::stores_scores(one.all) ? one.all.weight_tiny : 0; }
    [[nodiscard]] static double finite(double x) { return x >= 0 && x < detail::infinity_of_double ? x : detail::infinity_of_double; }
    // Whether all that is stored in 16 bits is known as sources.
    [[nodiscard]] bool knows_stores(const of_arithmetic& one) const {
        return detail::stores_weights(one.all) && !(shape_.learned && detail::stores_scores(one.all));
    }
    [[nodiscard]] bool wants(std::size_t key) const { return columns_ != nullptr && columns_->wants(key); }
    [[nodiscard]] double likely(double squares, double relative) const {
        return detail::unfused(detail::unfused(lambda_ * attest::sqrt(squares)) * (1 + relative));
    }

    // Of dq_c or dk_c, from what the sums over dS may be off by, and the sum itself.
    [[nodiscard]] element_limits finished(const of_arithmetic& one, double value, double certain, double expected) const {
        const double scale = detail::size_of(shape_.scale);
        const auto scaled = [&](double before) {
            if (before == 0) return 0.0;
            if (detail::stores_scores(one.all)) { // before the last scaling
                const double size = detail::size_of(value) + before;
                if (!(size * std::max(scale, 1.0) < one.all.output.greatest())) return detail::infinity_of_double;
                before += detail::unfused(one.all.weight * size) + detail::unfused(one.all.weight_tiny * detail::most_over_scale(scale));
            }
            return finite(detail::unfused(before * scale) * slack);
        };
        const double proved = scaled(certain);
        return {proved, std::min(proved, scaled(expected))};
    }

    // dk (over the scale) and dv themselves.
    void add_values() {
        const std::size_t n = values_.n;
        std::vector<double> s(n), w(n);
        for (std::size_t l = 0; l < n; ++l) {
            s[l] = detail::brief(values_.ds[l] * values_.slope[l]);
            w[l] = detail::brief(facts_->weight[l] * values_.factor[l]);
        }
        if (n == 0) return;
        pending_dv_.add(*facts_->kernels, dv_value_, facts_->key, values_.dz.data(), w);
        if (!row_.pairs) return pending_dk_.add(*facts_->kernels, dk_value_, facts_->key, row_.queries->row(0), s);
        pending_dk_.flush(dk_value_);
        for (std::size_t l = 0; l < n; ++l) {
            const double* const q = row_.queries->row(l);
            double* const dk = dk_value_.data() + facts_->key[l] * shape_.d_k;
            for (std::size_t c = 0; c < shape_.d_k; ++c) dk[c] += s[l] * q[c];
        }
    }
    // Before sums over rows are read.
    void flush() {
        pending_dk_.flush(dk_value_);
        pending_dv_.flush(dv_value_);
        for (const auto& one : of_) {
            one->sums.flush();
            one->plain_sums.flush();
        }
    }

    // The last row's sources, and what columns need of it.
    void expect(of_arithmetic& one, const gradient_score_errors& errors, const std::vector<double>& plain) {
        one.squares.assign(shape_.d_k, 0);
        if (one.bounds.unbounded) { // its keys are unbounded too, whatever else they are given
            one.sources.make(one.all, nothing_, no_facts_, shape_, errors, one.bounds, one.plain_bounds, v_, row_.keys, queries_, lambda_);
            if (columns_) columns_->add_row(one.in_columns, nothing_, no_facts_, one.sources, 0, 0);
            return;
        }
        one.plain_bounds.make(one.plain, values_, *facts_, shape_, v_, plain, plain, errors.sink,
                              detail::expected_rescalings(facts_->score, lambda_));
        one.sources.make(one.all, values_, *facts_, shape_, errors, one.bounds, one.plain_bounds, v_, row_.keys, queries_, lambda_);
        one.plain_sums.add_row(one.plain, stored_tiny(one), shape_, row_, one.plain_bounds, &one.sources);
        one.sources.add_squares(one.squares, row_.keys);
        if (columns_) leave(one);
    }
    void leave(of_arithmetic& one) {
        double of_scores = 0, of_ds = 0;
        for (std::size_t l = 0; l < values_.n; ++l) {
            if (!(facts_->weight[l] > 0x1p-30)) continue;
            of_scores = std::max(of_scores, one.sources.score[l]);
            of_ds = std::max(of_ds, std::min(one.sources.ds_noise[l] / facts_->weight[l], one.bounds.da_error[l] + one.bounds.d_error));
        }
        const double relative = one.plain_bounds.weight.relative;
        one.relative = std::max(one.relative, relative);
        columns_->add_row(one.in_columns, values_, *facts_, one.sources,
                          std::min(relative + detail::unfused(lambda_ * detail::root_of_squares(of_scores, one.sources.shift)), 1.0), of_ds);
    }

    [[nodiscard]] const detail::gradient_columns::squares& squares_of(std::size_t a, std::size_t key) {
        if (!last_ || last_arithmetic_ != a || last_key_ != key) {
            last_ = columns_->of_key(of_[a]->in_columns, key, k_.value.empty() ? nullptr : k_.sizes(key), dk_value_.data() + key * shape_.d_k,
                                     dv_value_.data() + key * shape_.d_v);
            last_arithmetic_ = a;
            last_key_ = key;
        }
        return *last_;
    }

    gradient_shape shape_;
    double lambda_ = 0;
    detail::brief_matrix v_;
    detail::value_columns v_columns_;
    detail::brief_matrix k_, pair_keys_, queries_;
    const gradient_row_facts* facts_ = nullptr;
    gradient_row_facts no_facts_;
    detail::gradient_row_values values_, nothing_;
    std::vector<std::unique_ptr<of_arithmetic>> of_;
    detail::gradient_row_of_keys row_; // the last one
    std::vector<double> dk_value_, dv_value_;
    detail::pending_products pending_dk_, pending_dv_;
    std::unique_ptr<detail::gradient_columns> columns_;
    bool pairs_ = false;
    std::size_t last_arithmetic_ = 0, last_key_ = 0;
    std::optional<detail::gradient_columns::squares> last_;
};

} // namespace attest
