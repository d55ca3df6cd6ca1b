// SPDX-License-Identifier: BSL-1.0
/// \file
/// From the bounds of a row's dS and weights to what dq, dk and dv may be off by, for certain (gradient_limits.hpp).
///
/// A term dS_l k_lc of dq_c/scale is off by e'_dS |k_lc|, by the errors of its operands, and by γ_{n+8} of itself in the sum, whatever its order;
/// where a derivative is a sum itself, or rotated, its own errors are relative to another size than |k_lc| (`derivative_rows`). What dS have in
/// common in a row acts through dq_c and Σ α_l (1 − t_l²) k_lc. Infinite where Σ|terms| may overflow.
///
/// Below the normal range an error is absolute, `tiny`. The scale may be in dS, or in q or k, before the sum; as a part of the sum without the scale
/// such an error is tiny/scale. What is stored in 16 bits there is added linearly, also by the expected limit: its sources are relative.
#pragma once

#include "attest/oracle/gradient_limits_pending.hpp"
#include "attest/oracle/gradient_limits_sources.hpp"

namespace attest::detail {

/// The last row, with the derivatives that its keys have.
struct gradient_row_of_keys {
    const gradient_row_facts* facts = nullptr;
    const gradient_row_values* values = nullptr;
    rows_of_keys keys;
    const brief_matrix* queries = nullptr;
    bool pairs = false;             ///< each key has a query derivative of its own
    std::vector<double> dq, k_mean; ///< dq/scale; Σ α_l (1 − t_l²) k_l

    void make(const gradient_row_facts& f, const gradient_row_values& r, const rows_of_keys& k, const brief_matrix& q, bool of_pairs,
              const gradient_shape& shape) {
        facts = &f;
        values = &r;
        keys = k;
        queries = &q;
        pairs = of_pairs;
        dq.assign(shape.d_k, 0);
        k_mean.assign(shape.d_k, 0);
        std::vector<double> w(r.n), s(r.n);
        for (std::size_t l = 0; l < r.n; ++l) {
            w[l] = brief(f.weight[l] * r.slope[l]);
            s[l] = brief(r.ds[l] * r.slope[l]);
        }
        const std::vector<const double*> rows = keys.values(r.n);
        f.kernels->row_sums({r.n, shape.d_k, rows.data(), 2, {s.data(), w.data()}, nullptr, {dq.data(), k_mean.data()}});
    }
};

class gradient_sums {
public:
    std::vector<double> dq;                     ///< of the last row, over the scale
    std::vector<double> dk, dv;                 ///< of all keys; dk over the scale
    std::vector<double> size_of_dk, size_of_dv; ///< Σ|terms| of a key's greatest component, or more
    double size_of_dq = 0;                      ///< the same of the last row

    void begin(const gradient_shape& shape) {
        dk.assign(shape.n_k * shape.d_k, 0);
        dv.assign(shape.n_k * shape.d_v, 0);
        size_of_dk.assign(shape.n_k, 0);
        size_of_dv.assign(shape.n_k, 0);
        pending_dk_.begin(shape.n_k, shape.d_k, true);
        pending_dv_.begin(shape.n_k, shape.d_v, true);
    }
    /// To be called before dk and dv are read.
    void flush() {
        pending_dk_.flush(dk);
        pending_dv_.flush(dv);
    }

    /// `stored_tiny`: what a stored q or k loses below the normal range; `sources`: of plain ones, what is of second order.
    void add_row(const arithmetic& a, double stored_tiny, const gradient_shape& shape, const gradient_row_of_keys& row, const gradient_row_bounds& b,
                 const gradient_row_sources* sources) {
        const gradient_row_values& r = *row.values;
        const std::size_t d_k = shape.d_k;
        const bool sized = row.keys.matrix->has_sizes || row.queries->has_sizes;
        const operand_errors e = errors_of_operands(a, stored_tiny, shape, r.n);
        const double of_product = 2 * unfused(a.tiny * most_over_scale(shape.scale));
        const double most_of_dz = greatest_of(r.dz_size.data(), shape.d_v);
        double sizes = 0;
        dq.assign(d_k, 0);
        // What is added to dq, dk and dv for each key, times sizes and alone; by kernels where it can be.
        const bool by_kernel = !sized && !row.pairs;
        std::vector<double> of_dq, of_dk, alone, of_dv, dv_alone;
        std::vector<std::size_t> dv_keys;
        if (!by_kernel) pending_dk_.flush(dk);
        for (std::vector<double>* x : {&of_dq, &of_dk, &alone, &of_dv, &dv_alone}) x->reserve(r.n);
        dv_keys.reserve(r.n);
        for (std::size_t l = 0; l < r.n; ++l) {
            const std::size_t key = row.facts->key[l], own = row.pairs ? l : 0;
            const double slope = r.slope[l], second = sources != nullptr ? unfused(sources->second[l] * slope) : 0,
                         size = unfused(slope * r.ds_size[l]) + b.passed_error[l];
            const double in_row = b.passed_apart[l] + second, in_column = b.passed_error[l] + second, of_operand = unfused(e.key * size) + e.ds_tiny,
                         absolute = unfused(e.key_tiny * size) + of_product;
            const double *const k = row.keys.magnitude(l), *const q = row.queries->magnitudes(own);
            double* const to = dk.data() + key * d_k;
            if (by_kernel) {
                of_dq.push_back(brief_above(in_row + of_operand + unfused(e.over_keys * size)));
                of_dk.push_back(brief_above(in_column + of_operand + unfused(e.over_rows * size)));
                alone.push_back(absolute);
            } else if (!sized) {
                accumulate(dq.data(), k, in_row + of_operand + unfused(e.over_keys * size), absolute, d_k);
                accumulate(to, q, in_column + of_operand + unfused(e.over_rows * size), absolute, d_k);
            } else {
                accumulate(dq.data(), k, in_row, absolute, d_k);
                accumulate(dq.data(), row.keys.size(l), of_operand + unfused(e.over_keys * size), 0, d_k);
                accumulate(to, q, in_column, absolute, d_k);
                accumulate(to, row.queries->sizes(own), of_operand + unfused(e.over_rows * size), 0, d_k);
            }
            sizes += unfused(size * row.keys.greatest(l));
            size_of_dk[key] += unfused(size * row.queries->greatest_of(own));
            const double f = r.factor[l], w = b.weight.high[l];
            if (f == 0) continue;
            const two_stores stored = errors_of_stores(a, w, f);
            const double kept = unfused(f * w) + stored.before + stored.after,
                         of_second = sources != nullptr ? unfused(f * sources->second_of_weight[l]) : 0;
            const double error = unfused(f * b.weight.error[l]) + stored.before + stored.after + unfused(e.value * kept) + of_second + a.operand_tiny;
            of_dv.push_back(brief_above(error));
            dv_alone.push_back(unfused(e.tiny * kept) + 2 * a.tiny);
            dv_keys.push_back(key);
            size_of_dv[key] += unfused(kept * most_of_dz);
        }
        const fast::limit_kernels& kernels = *row.facts->kernels;
        pending_dv_.add(kernels, dv, dv_keys, r.dz_size.data(), of_dv, dv_alone);
        if (by_kernel) {
            kernels.row_sums({r.n, d_k, row.keys.magnitudes(r.n).data(), 1, {of_dq.data()}, alone.data(), {dq.data()}});
            pending_dk_.add(kernels, dk, row.facts->key, row.queries->magnitudes(0), of_dk, alone);
        }
        size_of_dq = sizes;
        const bool infinite = overflows(a, shape.scale, sizes);
        for (std::size_t c = 0; c < d_k; ++c)
            dq[c] = infinite ? infinity_of_double : dq[c] + unfused(b.of_sum * size_of(row.dq[c])) + unfused(b.of_mean * size_of(row.k_mean[c]));
    }

    /// Whether a sum of terms of these sizes, before or after the scale, may overflow.
    [[nodiscard]] static bool overflows(const arithmetic& a, double scale, double sizes) {
        return !(sizes * std::max(size_of(scale), 1.0) * (1 + 0x1p-10) < greatest_sum(a));
    }

private:
    pending_products pending_dk_, pending_dv_;

    // What a derivative and a value may be off by as operands, and what sums over keys and over rows may, relative; and below the normal range.
    struct operand_errors {
        double key, value, over_keys, over_rows, tiny, ds_tiny, key_tiny;
    };
    [[nodiscard]] static operand_errors errors_of_operands(const arithmetic& a, double stored_tiny, const gradient_shape& shape, std::size_t keys) {
        const double input = input_unit(a, shape.inputs), once = together(together(a.operand, input), a.query_key * shape.stores);
        // Learned weights: q or k, the weight, and their product, which X stores.
        const double between = !shape.learned ? 0 : unfused(3 * once) + (stores_scores(a) ? 4 * a.weight : 0);
        const double rows = static_cast<double>(shape.rows), tiny = a.operand_tiny + input_tiny(a, shape.inputs);
        operand_errors e{};
        e.key = together(together(once, a.operand), together(between, roundings(shape.roundings, a.unit)));
        e.value = together(together(a.operand, together(a.operand, input)), roundings(rows + 6, a.unit));
        e.over_keys = roundings(static_cast<double>(keys) + 8, a.unit);
        e.over_rows = roundings(rows + 8, a.unit);
        e.tiny = tiny;
        const double before_scale = most_over_scale(shape.scale);
        e.ds_tiny = unfused(tiny * before_scale);
        e.key_tiny = unfused((tiny + a.tiny + unfused(stored_tiny * shape.stores)) * before_scale);
        return e;
    }
    static void accumulate(double* to, const double* size, double times, double more, std::size_t d) {
        const double factor = brief_above(times);
        for (std::size_t c = 0; c < d; ++c) to[c] += factor * size[c] + more;
    }
    [[nodiscard]] static double greatest_of(const double* x, std::size_t d) {
        double most = 0;
        for (std::size_t c = 0; c < d; ++c) most = std::max(most, x[c]);
        return most;
    }
};

} // namespace attest::detail
