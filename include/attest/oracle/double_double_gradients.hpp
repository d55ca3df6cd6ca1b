// SPDX-License-Identifier: BSL-1.0
/// \file
/// The second rung of attention's gradients, for blocks of rows: sums of two doubles, on the weights of oracle/double_double_rows.hpp, with radii from bounds of
/// whole rows and columns (oracle/gradient_errors.hpp has the derivation).
///
/// What that file calls e, ρ and Γ is here, with u = 2^−53 and δ_r, E as in fast/product_in_two-inl.hpp:
///
///     da_j: δ_{d_v} 2^E, and 3 · 2^−1075 for each product
///     D = dz·out, out within its radii: (5 + 3 d_v) u² ‖dz‖ ‖out‖ + ‖dz‖ ‖radii‖ + d_v 2^−1070
///     dS_j: a difference and a product: ρ = 8u², and 6 · 2^−1074
///     sums over keys: δ_{n_k} 2^E; over rows, block by block, that are added up: δ_b Σ 2^E, which is at most δ_b √Σ r² √Σ c² for 2^E <= r c, and 3u² for each block
///     the scale: its error; and the product with it, 5u² of the result
///
/// A lone key weighs 1, its slope is 0: exactly. Rows that are not known well enough count as 0, and are left to the formula itself.
#pragma once

#include "attest/oracle/double_double_rows.hpp"
#include "attest/oracle/graded_slice.hpp"
#include "attest/oracle/gradient_errors.hpp"

namespace attest {

namespace detail {

/// Sums over the rows of blocks, of two doubles: to element (j, c) each block adds Σ_r a_rj b_rc.
class sums_of_blocks {
public:
    void begin(std::size_t keys, std::size_t columns) {
        columns_ = columns;
        sums_.assign(keys * columns, double_double());
        row_squares_.assign(keys, 0.0);
        column_squares_.assign(columns, 0.0);
        most_ = 0;
    }
    /// `a`: of keys from `first` on, `keys` rows of m, and their low parts; `b`: m rows of columns.
    void add(const fast::kernels& kernels, std::span<const double> a, std::span<const double> a_low, std::size_t first, std::size_t keys, std::span<const double> b, std::size_t m) {
        packed_.resize(fast::packed_elements(kernels, m, columns_));
        kernels.pack({b.data(), static_cast<std::ptrdiff_t>(columns_)}, m, columns_, packed_.data());
        of_b_.begin(columns_);
        for (std::size_t r = 0; r < m; ++r) of_b_.add(b.data() + r * columns_);
        row_base_.resize(keys);
        column_base_.resize(columns_);
        for (std::size_t j = 0; j < keys; ++j) row_base_[j] = base_above(std::max(norm_above(a.subspan(j * m, m)), least)) / 3;
        for (std::size_t c = 0; c < columns_; ++c) {
            column_base_[c] = base_above(std::max(of_b_.norm(c), least));
            column_squares_[c] += unfused(column_base_[c] * column_base_[c]);
        }
        high_.resize(keys * columns_);
        low_.resize(keys * columns_);
        kernels.multiply_in_two({.a = a.data(), .a_low = a_low.data(), .a_row = static_cast<std::ptrdiff_t>(m), .m = keys, .depth = m, .b = packed_.data(), .b_depth = m, .n = columns_,
                                 .row_base = row_base_.data(), .column_base = column_base_.data(), .high = high_.data(), .low = low_.data(), .c_row = static_cast<std::ptrdiff_t>(columns_)});
        for (std::size_t j = 0; j < keys; ++j) {
            if (std::all_of(a.begin() + static_cast<std::ptrdiff_t>(j * m), a.begin() + static_cast<std::ptrdiff_t>((j + 1) * m), [](double x) { return x == 0; })) continue;
            row_squares_[first + j] += unfused(row_base_[j] * row_base_[j]);
            for (std::size_t c = 0; c < columns_; ++c) {
                double_double& to = sums_[(first + j) * columns_ + c];
                to = to + (double_double(high_[j * columns_ + c]) + double_double(low_[j * columns_ + c]));
            }
        }
        most_ = std::max(most_, m);
    }
    [[nodiscard]] const double_double& of(std::size_t j, std::size_t c) const { return sums_[j * columns_ + c]; }
    /// What the products lost, but for what underflows: 0 if there was nothing but zeros.
    [[nodiscard]] double lost(std::size_t j, std::size_t c) const { return unfused(fast::error_of_products_in_two(most_) * unfused(std::sqrt(row_squares_[j]) * std::sqrt(column_squares_[c]))); }

    /// Rows and columns of less in size are taken as of this one.
    static constexpr double least = 0x1p-400;

private:
    std::size_t columns_ = 0, most_ = 0;
    std::vector<double_double> sums_;
    std::vector<double> row_squares_, column_squares_, packed_, row_base_, column_base_, high_, low_;
    column_sizes of_b_;
};

} // namespace detail

/// See the head of this file. What is given must stay.
class double_double_gradients {
public:
    double_double_gradients(const attention_problem& p, const fast::kernels& kernels) : p_{p}, kernels_{kernels}, slice_(p, kernels) {}

    /// Makes the slice current that `rows` has entered; `queries` rows of it will come at most, `block` at a time.
    void enter(const double_double_rows& rows, const matrix_view& dout, std::size_t queries, std::size_t block) {
        scale_ = rows.scale();
        slice_.enter(rows.slice(), dout, scale_.middle().high, scale_.radius().as_double());
        key_base_.resize(p_.d_k);
        for (std::size_t c = 0; c < p_.d_k; ++c) key_base_[c] = detail::base_above(std::max(slice_.keys().norm(c), least));
        ones_.assign(p_.n_k, 1.0);
        errors_.begin(p_.n_k, p_.d_k, p_.d_v, times(3.01 * u_squared, static_cast<double>(queries / block + 2)));
        dk_.begin(p_.n_k, p_.d_k);
        dv_.begin(p_.n_k, p_.d_v);
    }

    /// The rows that `rows` has evaluated last.
    void add(const double_double_rows& rows, std::span<const std::size_t> numbers) {
        const std::size_t m = numbers.size(), d_k = p_.d_k, d_v = p_.d_v;
        first_ = rows.first_key();
        keys_at_hand_ = rows.last_key() - first_;
        const std::size_t n = keys_at_hand_;
        const auto wide = static_cast<std::ptrdiff_t>(n), of_d_v = static_cast<std::ptrdiff_t>(d_v);
        rows_.assign(m, {});
        for (std::vector<double>* of : {&weight_high_, &weight_low_, &slope_high_, &slope_low_}) of->resize(m * n);
        for (std::vector<double>* of : {&dq_high_, &dq_low_}) of->resize(m * d_k);
        for (std::vector<double>* of : {&divisor_high_, &divisor_low_, &row_base_}) of->resize(m);
        queries_.assign(m * d_k, 0.0);
        douts_.resize(m * d_v);
        for (std::size_t r = 0; r < m; ++r) rows_[r].clear = read(rows, r, numbers[r]);
        kernels_.quotients({.high = weight_high_.data(), .low = weight_low_.data(), .m = m, .n = n, .divisor_high = divisor_high_.data(), .divisor_low = divisor_low_.data()});
        kernels_.multiply_in_two({.a = douts_.data(), .a_low = nullptr, .a_row = of_d_v, .m = m, .depth = d_v, .b = slice_.packed_values() + first_ * d_v, .b_depth = d_v, .n = n,
                                  .row_base = row_base_.data(), .column_base = ones_.data(), .high = slope_high_.data(), .low = slope_low_.data(), .c_row = wide});
        for (std::size_t r = 0; r < m; ++r) {
            make_slopes(rows, r);
            row& of = rows_[r];
            if (of.clear)
                of.norms = errors_.add(of.errors, queries_.data() + r * d_k, douts_.data() + r * d_v, weight_high_.data() + r * n, slope_high_.data() + r * n, first_, first_ + n,
                                       [&](std::size_t j) { return rows.visible(r, j); });
            row_base_[r] = detail::base_above(std::max(of.norms.slopes, least)) / 3;
        }
        kernels_.multiply_in_two({.a = slope_high_.data(), .a_low = slope_low_.data(), .a_row = wide, .m = m, .depth = n, .b = slice_.packed_keys() + first_ * kernels_.panel, .b_depth = p_.n_k, .n = d_k,
                                  .row_base = row_base_.data(), .column_base = key_base_.data(), .high = dq_high_.data(), .low = dq_low_.data(), .c_row = static_cast<std::ptrdiff_t>(d_k)});
        turn(slope_high_, slope_low_, m, n);
        dk_.add(kernels_, turned_high_, turned_low_, first_, n, queries_, m);
        turn(weight_high_, weight_low_, m, n);
        dv_.add(kernels_, turned_high_, turned_low_, first_, n, douts_, m);
    }

    /// Whether row r of those has been added. (No row is that is not clear in `rows`.)
    [[nodiscard]] bool is_clear(std::size_t r) const { return rows_[r].clear; }
    [[nodiscard]] ball<double_double> dq(std::size_t r, std::size_t c) const {
        const row& of = rows_[r];
        const std::size_t at = r * p_.d_k + c;
        if (of.lone || slice_.keys().greatest(c) == 0) return ball<double_double>();
        const double n = static_cast<double>(keys_at_hand_), of_row = times(of.errors.slope, of.norms.slopes) + times(of.errors.common, of.norms.weights);
        const double lost = times(fast::error_of_products_in_two(keys_at_hand_), times(row_base_[r], key_base_[c]));
        return scaled(double_double(dq_high_[at]) + double_double(dq_low_[at]), times(of_row, slice_.keys().norm(c)) + lost + times(n, times(of.errors.absolute, slice_.keys().greatest(c)) + 0x1p-1073));
    }
    /// dS of row r and key j, which is visible.
    [[nodiscard]] ball<double_double> ds(std::size_t r, std::size_t j) const {
        const row& of = rows_[r];
        const std::size_t at = r * keys_at_hand_ + j - first_;
        if (of.lone) return ball<double_double>();
        return ball<double_double>({slope_high_[at], slope_low_[at]}, upper_bound(gradient_errors::of_slope(of.errors, slope_high_[at], weight_high_[at])));
    }

    /// What all rows gave to dk and dv.
    [[nodiscard]] ball<double_double> dk(std::size_t j, std::size_t c) const {
        const double of_rows = errors_.of_key(j, c);
        return scaled(dk_.of(j, c), of_rows == 0 ? 0 : of_rows + dk_.lost(j, c) + underflow());
    }
    [[nodiscard]] ball<double_double> dv(std::size_t j, std::size_t c) const {
        const double of_rows = errors_.of_value(j, c);
        return ball<double_double>(dv_.of(j, c), upper_bound(of_rows == 0 ? 0 : times(of_rows + dv_.lost(j, c) + underflow(), detail::raised)));
    }

private:
    struct row {
        bool clear = false, lone = false;
        gradient_errors::row errors;
        gradient_errors::norms norms;
    };
    static constexpr double u_squared = double_double::u_squared, tiny = double_double_rows::tiny_weight, least = detail::sums_of_blocks::least;
    [[nodiscard]] static double times(double a, double b) { return detail::unfused(a * b); }
    [[nodiscard]] double underflow() const { return static_cast<double>(errors_.queries().rows()) * 0x1p-1073; } // of the products of sums over rows

    // Reads row r; false, and zeros, if it is not clear.
    bool read(const double_double_rows& rows, std::size_t r, std::size_t i) {
        const std::size_t n = keys_at_hand_, d_v = p_.d_v;
        double *const dout = douts_.data() + r * d_v, *const high = weight_high_.data() + r * n, *const low = weight_low_.data() + r * n;
        slice_.read_dout(i, dout);
        divisor_high_[r] = 1;
        divisor_low_[r] = 0;
        row_base_[r] = detail::base_above(0);
        if (!rows.is_clear(r) || !bound(rows, r)) {
            std::fill_n(dout, d_v, 0.0);
            std::fill_n(high, n, 0.0);
            std::fill_n(low, n, 0.0);
            return false;
        }
        std::copy_n(rows.query(r), p_.d_k, queries_.data() + r * p_.d_k);
        if (rows_[r].lone) {
            for (std::size_t j = 0; j < n; ++j) high[j] = rows.visible(r, first_ + j) ? 1 : 0;
            std::fill_n(low, n, 0.0);
            return true;
        }
        std::copy_n(rows.weight_high(r) + first_, n, high);
        std::copy_n(rows.weight_low(r) + first_, n, low);
        divisor_high_[r] = rows.sum(r).high;
        divisor_low_[r] = rows.sum(r).low;
        return true;
    }
    // The errors of row r; false if they are not known, or too great for the slack of the bounds.
    bool bound(const double_double_rows& rows, std::size_t r) {
        row& of = rows_[r];
        of.lone = rows.is_lone(r);
        const std::size_t d_v = p_.d_v;
        std::vector<double> radius(d_v);
        for (std::size_t c = 0; c < d_v; ++c) radius[c] = rows.out_radius(r, c);
        const graded_slice::row_sizes size = slice_.sizes_of(rows.query(r), douts_.data() + r * d_v, rows.out_high(r), radius);
        if (!size.known) return false;
        row_base_[r] = detail::base_above(size.most);
        const double d = static_cast<double>(d_v), of_da = times(fast::error_of_products_in_two(d_v), row_base_[r]);
        const double of_d = times(times(5 + 3 * d, u_squared), times(size.dout, size.out)) + times(size.dout, size.radii) + d * 0x1p-1069;
        of.errors.weight = of.lone ? 0 : rows.weight_error(r);
        of.errors.flushed = tiny;
        if (of.lone) return true;
        of.errors.slope = (of.errors.weight + 8.01 * u_squared + slice_.scale_part()) * detail::raised;
        of.errors.common = (of_da + of_d) * detail::raised;
        of.errors.absolute = 4 * tiny * (size.most + of.errors.common + 1);
        return true;
    }
    // dS of row r, where da is.
    void make_slopes(const double_double_rows& rows, std::size_t r) {
        const std::size_t n = keys_at_hand_;
        double *const high = slope_high_.data() + r * n, *const low = slope_low_.data() + r * n;
        if (!rows_[r].clear || rows_[r].lone) {
            std::fill_n(high, n, 0.0);
            std::fill_n(low, n, 0.0);
            return;
        }
        double_double d;
        for (std::size_t c = 0; c < p_.d_v; ++c) d = d + double_double(douts_[r * p_.d_v + c]) * double_double(rows.out_high(r)[c], rows.out_low(r)[c]);
        const double *const weight_high = weight_high_.data() + r * n, *const weight_low = weight_low_.data() + r * n;
        for (std::size_t j = 0; j < n; ++j) {
            const double_double slope = double_double(weight_high[j], weight_low[j]) * (double_double(high[j]) + double_double(low[j]) - d);
            high[j] = slope.high;
            low[j] = slope.low;
        }
    }
    // m × n as n × m.
    void turn(const std::vector<double>& high, const std::vector<double>& low, std::size_t m, std::size_t n) {
        turned_high_.resize(n * m);
        turned_low_.resize(n * m);
        for (std::size_t j = 0; j < n; ++j)
            for (std::size_t r = 0; r < m; ++r) {
                turned_high_[j * m + r] = high[r * n + j];
                turned_low_[j * m + r] = low[r * n + j];
            }
    }
    // A sum that is off by `before`, times the scale: with its error.
    [[nodiscard]] ball<double_double> scaled(const double_double& sum, double before) const {
        if (before == 0) return ball<double_double>();
        const double_double value = sum * scale_.middle();
        const double radius = times(slice_.scale_size(), before) + times(6 * u_squared, detail::absolute(value.high)) + 0x1p-1070;
        return ball<double_double>(value, upper_bound(times(radius, detail::raised)));
    }

    const attention_problem& p_;
    const fast::kernels& kernels_;
    graded_slice slice_;
    ball<double_double> scale_;
    std::vector<double> key_base_, ones_;
    gradient_errors errors_;
    detail::sums_of_blocks dk_, dv_;
    // Of the rows at hand.
    std::size_t first_ = 0, keys_at_hand_ = 0; // the keys that any of them sees
    std::vector<row> rows_;
    std::vector<double> weight_high_, weight_low_, slope_high_, slope_low_, dq_high_, dq_low_, divisor_high_, divisor_low_, row_base_, queries_, douts_, turned_high_, turned_low_;
};

} // namespace attest
