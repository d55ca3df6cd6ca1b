// SPDX-License-Identifier: BSL-1.0
/// \file
/// What the limits of attention's gradients need to know, in double, and what follows from it whatever the arithmetic.
#pragma once

#include "attest/arithmetic/unfused.hpp"
#include "attest/fast/compiled_limits.hpp"
#include "attest/oracle/arithmetics.hpp"
#include "attest/oracle/gradient_limits_runs.hpp"
#include "attest/oracle/input_width.hpp"

namespace attest {

/// Rows of d numbers each that a gradient of scores is multiplied by: the derivatives of an unscaled score. For a dot product k_j (to q) and q_i
/// (to k), rotated where RoPE is; W k_j and Wᵀ q_i for `bilinear`; for `additive` they belong to the pair of i and j.
struct derivative_rows {
    std::span<const double> value;
    /// What the derivative's own errors are relative to: Σ|terms| where it is a sum, the norm of the pair where it is rotated; empty: |value|.
    std::span<const double> size;
};

/// The errors of a row's scores, before the shift, in one arithmetic, over the visible keys.
struct gradient_score_errors {
    std::vector<double> bound; ///< proved; infinity: a score may overflow
    std::vector<double> plain; ///< the same arithmetic without its 16-bit stores; empty: it has none
    /// The root of the sum of squares of the bounds of all that is stored in 16 bits on the way to the score; empty: `bound` − `plain`.
    std::vector<double> noise;
    double sink = 0; ///< `bound` of the sink's logit
};

/// One row. Vectors are over the visible keys.
struct gradient_row_facts {
    std::vector<std::size_t> key; ///< the visible keys, ascending
    std::vector<double> score;    ///< what enters softmax
    std::vector<double> weight;
    std::vector<double> factor; ///< of dropout: 0 or 1/(1 − p); empty: 1
    std::vector<double> tanh;   ///< of a softcap: tanh(s/cap); empty: there is none
    double lse = 0;
    double sink_weight = 0;                    ///< of an attention sink; 0: none
    std::span<const double> dz;                ///< the gradient of the row's output, d_v
    derivative_rows to_key;                    ///< d_k numbers; `additive`: a row for each visible key
    derivative_rows to_query;                  ///< empty: those of `gradient_shape`; `additive`: a row for each visible key
    std::vector<gradient_score_errors> errors; ///< one for each arithmetic
    const fast::limit_kernels* kernels = &fast::compiled_limit_kernels(); ///< what the sums are made with; the same bits with all
};

/// What the rows of one head have in common.
struct gradient_shape {
    std::size_t rows = 0;                  ///< the most that will come: n_q, or n_q times the heads that share keys and values
    std::size_t n_k = 0, d_k = 0, d_v = 0; ///< d_k: of dq and dk
    double scale = 1;
    double cap = 0;            ///< of a softcap; 0: none
    std::span<const double> v; ///< n_k × d_v
    derivative_rows to_query;  ///< n_k × d_k; empty where each row has its own
    double roundings = 1;    ///< that a derivative may have met, each relative to its `size`: 1 for a dot product, d + 8 with RoPE or learned weights
    double stores = 1;       ///< the same for what is stored in 16 bits, where scores are: 1 for a dot product, 5 with RoPE
    bool learned = false;    ///< derivatives are sums over weights: what is between is an operand, and in 16 bits stored, once more
    input_width inputs = {}; ///< of q, k, v, dout and the score's weights
};

namespace detail {

/// Rows in 26 bits, with their sizes.
struct brief_matrix {
    std::size_t d = 0;
    bool has_sizes = false; ///< other than |value|
    std::vector<double> value, magnitude, size;
    std::vector<double> greatest; ///< magnitude of each row

    brief_matrix() = default;
    brief_matrix(const derivative_rows& given, std::size_t columns) : d{columns}, has_sizes{!given.size.empty()} {
        for (const double x : given.value) {
            value.push_back(brief(x));
            magnitude.push_back(brief_above(size_of(x)));
        }
        for (const double x : given.size) size.push_back(brief_above(x));
        for (std::size_t j = 0; d > 0 && j < value.size() / d; ++j) {
            double most = 0;
            for (std::size_t c = 0; c < d; ++c) most = std::max(most, magnitude[j * d + c]);
            greatest.push_back(most);
        }
    }
    /// Of these rows, or of the first ones.
    [[nodiscard]] std::vector<const double*> rows(const std::vector<double>& of, const std::vector<std::size_t>* which, std::size_t count) const {
        std::vector<const double*> rows(count);
        for (std::size_t l = 0; l < count; ++l) rows[l] = of.data() + (which != nullptr ? (*which)[l] : l) * d;
        return rows;
    }
    /// The greatest magnitude of row j; rows without components are not counted.
    [[nodiscard]] double greatest_of(std::size_t j) const { return d == 0 ? 0 : greatest[j]; }
    [[nodiscard]] const double* row(std::size_t j) const { return value.data() + j * d; }
    [[nodiscard]] const double* magnitudes(std::size_t j) const { return magnitude.data() + j * d; }
    [[nodiscard]] const double* sizes(std::size_t j) const { return (has_sizes ? size : magnitude).data() + j * d; }
};

/// Rows in blocks, component by component, as fast::dot_sizes_call takes them.
struct columns_of_rows {
    std::size_t d = 0, padded = 0;
    std::vector<double> values;

    columns_of_rows() = default;
    columns_of_rows(const std::vector<double>& rows, std::size_t columns) : d{columns} {
        constexpr std::size_t block = fast::key_block;
        const std::size_t n = d == 0 ? 0 : rows.size() / d;
        padded = (n + block - 1) / block * block;
        values.assign(padded * d, 0.0);
        for (std::size_t j = 0; j < n; ++j)
            for (std::size_t c = 0; c < d; ++c) values[(j / block * d + c) * block + j % block] = rows[j * d + c];
    }
};
/// A head's values and their magnitudes so.
struct value_columns {
    columns_of_rows value, magnitude;
    value_columns() = default;
    explicit value_columns(const brief_matrix& v) : value(v.value, v.d), magnitude(v.magnitude, v.d) {}
};

/// What follows for one row. Everything is within 2^−24 relative to the sizes Σ |terms|: what is cut to 26 bits, and what the facts are off by.
struct gradient_row_values {
    std::size_t n = 0;
    std::vector<double> factor, slope;                     ///< 1 where there is no dropout, no cap
    std::vector<double> da, da_size, from_mean, mean_size; ///< f dz·v_j, f Σ |dz_c v_jc|, da − D, at least |da − D|
    std::vector<double> ds, ds_size;                       ///< α (da − D), at least |ds|
    double d = 0, d_size = 0;                              ///< D = Σ α da, Σ α da_size
    double da_low = 0, da_high = 0;                        ///< the hull of da, and of 0 where a sink takes part in the mean
    std::vector<double> out;                               ///< d_v
    std::vector<double> dz, dz_size;                       ///< dz_c, |dz_c|

    void make(const gradient_row_facts& f, const brief_matrix& v, const value_columns& columns) {
        n = f.key.size();
        factor = f.factor.empty() ? std::vector<double>(n, 1.0) : f.factor;
        slope.assign(n, 1.0);
        for (std::size_t l = 0; l < f.tanh.size(); ++l) slope[l] = unfused((1 - f.tanh[l]) * (1 + f.tanh[l]));
        dz.clear();
        dz_size.clear();
        for (const double x : f.dz) {
            dz.push_back(brief(x));
            dz_size.push_back(brief_above(size_of(x)));
        }
        for (std::vector<double>* x : {&da, &da_size, &from_mean, &mean_size, &ds, &ds_size}) x->resize(n);
        out.assign(v.d, 0);
        d = d_size = 0;
        da_low = f.sink_weight > 0 ? 0 : infinity_of_double;
        da_high = f.sink_weight > 0 ? 0 : -infinity_of_double;
        of_keys(f, v, columns);
        for (std::size_t l = 0; l < n; ++l) {
            from_mean[l] = da[l] - d;
            mean_size[l] = size_of(from_mean[l]) + unfused(0x1p-23 * (da_size[l] + d_size));
            ds[l] = unfused(f.weight[l] * from_mean[l]);
            ds_size[l] = unfused(f.weight[l] * mean_size[l]);
        }
    }

private:
    void of_keys(const gradient_row_facts& f, const brief_matrix& v, const value_columns& columns) {
        if (n == 0) return;
        // What a row of v is multiplied by may have no components: then all sums are 0.
        for (std::vector<double>* x : {&sums_, &sizes_, &unused_}) x->assign(std::max(columns.value.padded, f.key.back() + 1), 0.0);
        const std::size_t first = f.key.front(), last = f.key.back() + 1;
        if (v.d != 0) f.kernels->dot_sizes({dz.data(), columns.value.values.data(), v.d, first, last, sums_.data(), unused_.data()});
        if (v.d != 0) f.kernels->dot_sizes({dz_size.data(), columns.magnitude.values.data(), v.d, first, last, sizes_.data(), unused_.data()});
        weights_.resize(n);
        for (std::size_t l = 0; l < n; ++l) {
            da[l] = unfused(factor[l] * sums_[f.key[l]]);
            da_size[l] = unfused(factor[l] * sizes_[f.key[l]]);
            d += unfused(f.weight[l] * da[l]);
            d_size += unfused(f.weight[l] * da_size[l]);
            da_low = std::min(da_low, da[l]);
            da_high = std::max(da_high, da[l]);
            weights_[l] = brief(f.weight[l] * factor[l]);
        }
        f.kernels->row_sums({n, v.d, v.rows(v.value, &f.key, n).data(), 1, {weights_.data()}, nullptr, {out.data()}});
    }
    std::vector<double> sums_, sizes_, unused_, weights_;
};

/// A row of derivatives for each visible key: those of its key, or its own.
struct rows_of_keys {
    const brief_matrix* matrix = nullptr;
    const std::vector<std::size_t>* key = nullptr; ///< nullptr: row l is that of visible key l
    [[nodiscard]] const double* value(std::size_t l) const { return matrix->row(number(l)); }
    [[nodiscard]] const double* magnitude(std::size_t l) const { return matrix->magnitudes(number(l)); }
    [[nodiscard]] const double* size(std::size_t l) const { return matrix->sizes(number(l)); }
    [[nodiscard]] double greatest(std::size_t l) const { return matrix->greatest_of(number(l)); }
    [[nodiscard]] std::vector<const double*> values(std::size_t n) const { return matrix->rows(matrix->value, key, n); }
    [[nodiscard]] std::vector<const double*> magnitudes(std::size_t n) const { return matrix->rows(matrix->magnitude, key, n); }

private:
    [[nodiscard]] std::size_t number(std::size_t l) const { return key != nullptr ? (*key)[l] : l; }
};

} // namespace detail
} // namespace attest
