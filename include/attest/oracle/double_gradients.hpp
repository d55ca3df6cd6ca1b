// SPDX-License-Identifier: BSL-1.0
/// \file
/// The first rung of attention's gradients, for blocks of rows: the backward pass of the fast double path (fast/attention_gradient.hpp) on the weights of
/// oracle/double_rows.hpp, with radii from bounds of whole rows and columns (oracle/gradient_errors.hpp has the derivation).
///
/// What that file calls e, ρ and Γ is here, with γ_r = r u/(1 − r u), r(n) = roundings_of_products(n), l(n) = roundings_of_row_sum(n):
///
///     da_j: γ_r(d_v) ‖dz‖ max ‖v_j‖ + d_v 2^−1074
///     D = dz·out, out within its radii: γ_{2 + l(d_v)} ‖dz‖ ‖out‖ + ‖dz‖ ‖radii‖ + d_v 2^−1074
///     dS_j: da_j − D, and the product with the weight, are rounded: ρ = 2u, and 2^−1074
///     sums over keys: γ_r(n_k), and 2^−1074 for each product; over rows, in blocks of b that are added up: γ_{b + blocks}
///     the scale: its error; and the product with it, u of the result
///
/// A lone key weighs 1, its slope is 0: exactly. Rows that are not known well enough count as 0, and are left to the formula itself.
#pragma once

#include "attest/oracle/double_rows.hpp"
#include "attest/oracle/graded_slice.hpp"
#include "attest/oracle/gradient_errors.hpp"

namespace attest {

/// See the head of this file. What is given must stay.
class double_gradients {
public:
    double_gradients(const attention_problem& p, const fast::kernels& kernels) : p_{p}, kernels_{kernels}, slice_(p, kernels) {}

    /// Makes the slice current that `rows` has entered; `queries` rows of it will come at most, `block` at a time.
    void enter(const double_rows& rows, const matrix_view& dout, std::size_t queries, std::size_t block) {
        scale_ = rows.scale();
        slice_.enter(rows.slice(), dout, scale_.middle(), scale_.radius().as_double());
        errors_.begin(p_.n_k, p_.d_k, p_.d_v, detail::gamma_above(block + queries / block + 1));
        dk_.assign(p_.n_k * p_.d_k, 0.0);
        dv_.assign(p_.n_k * p_.d_v, 0.0);
    }

    /// The rows that `rows` has evaluated last.
    void add(const double_rows& rows, std::span<const std::size_t> numbers) {
        const std::size_t m = numbers.size(), n = p_.n_k, d_k = p_.d_k, d_v = p_.d_v;
        const auto wide = static_cast<std::ptrdiff_t>(n), of_d_k = static_cast<std::ptrdiff_t>(d_k), of_d_v = static_cast<std::ptrdiff_t>(d_v);
        rows_.assign(m, {});
        weights_.resize(m * n);
        slopes_.resize(m * n);
        queries_.assign(m * d_k, 0.0);
        douts_.resize(m * d_v);
        means_.resize(m);
        dq_.resize(m * d_k);
        for (std::size_t r = 0; r < m; ++r) rows_[r].clear = read(rows, r, numbers[r]);
        kernels_.multiply({.a = {douts_.data(), of_d_v}, .m = m, .depth = d_v, .b = slice_.packed_values(), .b_depth = d_v, .n = n, .c = slopes_.data(), .c_row = wide});
        kernels_.row_products({douts_.data(), of_d_v}, {rows.out(0), of_d_v}, m, d_v, means_.data());
        for (std::size_t r = 0; r < m; ++r)
            if (!rows_[r].clear) means_[r] = 0;
        kernels_.softmax_gradient({.p = weights_.data(), .p_row = wide, .m = m, .n = n, .d = slopes_.data(), .d_row = wide, .mean = means_.data()});
        for (std::size_t r = 0; r < m; ++r) {
            row& of = rows_[r];
            if (!of.clear) continue;
            if (of.lone) std::fill_n(slopes_.data() + r * n, n, 0.0);
            of.norms = errors_.add(of.errors, queries_.data() + r * d_k, douts_.data() + r * d_v, weights_.data() + r * n, slopes_.data() + r * n, 0, n, [&](std::size_t j) { return rows.visible(r, j); });
        }
        kernels_.multiply({.a = {slopes_.data(), wide}, .m = m, .depth = n, .b = slice_.packed_keys(), .b_depth = n, .n = d_k, .c = dq_.data(), .c_row = of_d_k, .scale = scale_.middle()});
        packed_.resize(std::max(fast::packed_elements(kernels_, m, d_k), fast::packed_elements(kernels_, m, d_v)));
        kernels_.pack({queries_.data(), of_d_k}, m, d_k, packed_.data());
        kernels_.multiply({.a = {slopes_.data(), 1, wide}, .m = n, .depth = m, .b = packed_.data(), .b_depth = m, .n = d_k, .c = dk_.data(), .c_row = of_d_k, .add = true});
        kernels_.pack({douts_.data(), of_d_v}, m, d_v, packed_.data());
        kernels_.multiply({.a = {weights_.data(), 1, wide}, .m = n, .depth = m, .b = packed_.data(), .b_depth = m, .n = d_v, .c = dv_.data(), .c_row = of_d_v, .add = true});
    }

    /// Whether row r of those has been added. (No row is that is not clear in `rows`.)
    [[nodiscard]] bool is_clear(std::size_t r) const { return rows_[r].clear; }
    [[nodiscard]] ball<double> dq(std::size_t r, std::size_t c) const {
        const row& of = rows_[r];
        const double value = dq_[r * p_.d_k + c], n = static_cast<double>(p_.n_k);
        if (of.lone || slice_.keys().greatest(c) == 0) return ball<double>();
        const double sum_error = detail::gamma_above(fast::roundings_of_products(p_.n_k));
        const double of_row = detail::unfused((of.errors.slope + sum_error) * of.norms.slopes) + detail::unfused(of.errors.common * of.norms.weights);
        const double before = detail::unfused(of_row * slice_.keys().norm(c)) + detail::unfused(n * (detail::unfused(of.errors.absolute * slice_.keys().greatest(c)) + 0x1p-1074));
        return scaled(value, before);
    }
    /// dS of row r and key j, which is visible.
    [[nodiscard]] ball<double> ds(std::size_t r, std::size_t j) const {
        const row& of = rows_[r];
        const std::size_t at = r * p_.n_k + j;
        if (of.lone) return ball<double>();
        return ball<double>(slopes_[at], upper_bound(gradient_errors::of_slope(of.errors, slopes_[at], weights_[at])));
    }

    /// What all rows gave to dk and dv.
    [[nodiscard]] ball<double> dk(std::size_t j, std::size_t c) const { return scaled(detail::unfused(scale_.middle() * dk_[j * p_.d_k + c]), errors_.of_key(j, c)); }
    [[nodiscard]] ball<double> dv(std::size_t j, std::size_t c) const { return ball<double>(dv_[j * p_.d_v + c], upper_bound(errors_.of_value(j, c))); }

private:
    struct row {
        bool clear = false, lone = false;
        gradient_errors::row errors;
        gradient_errors::norms norms;
    };
    static constexpr double unit = 0x1p-53, tiny = double_rows::tiny_weight;

    // Reads row r; false, and zeros, if it is not clear.
    bool read(const double_rows& rows, std::size_t r, std::size_t i) {
        const std::size_t n = p_.n_k, d_k = p_.d_k, d_v = p_.d_v;
        double *const dout = douts_.data() + r * d_v, *const weights = weights_.data() + r * n;
        slice_.read_dout(i, dout);
        if (rows.is_clear(r) && bound(rows, r)) {
            std::copy_n(rows.query(r), d_k, queries_.data() + r * d_k);
            for (std::size_t j = 0; j < n; ++j) weights[j] = rows.visible(r, j) ? rows.weight(r, j) : 0;
            return true;
        }
        std::fill_n(dout, d_v, 0.0);
        std::fill_n(weights, n, 0.0);
        return false;
    }
    // The errors of row r; false if they are not known, or too great for the slack of the bounds.
    bool bound(const double_rows& rows, std::size_t r) {
        row& of = rows_[r];
        of.lone = rows.is_lone(r);
        const graded_slice::row_sizes size = slice_.sizes_of(rows.query(r), douts_.data() + r * p_.d_v, rows.out(r), {rows.out_radius(r), p_.d_v});
        if (!size.known) return false;
        const double underflow = static_cast<double>(p_.d_v) * 0x1p-1074;
        const double of_da = detail::unfused(detail::gamma_above(fast::roundings_of_products(p_.d_v)) * size.most) + underflow;
        const double of_d = detail::unfused(detail::gamma_above(2 + fast::roundings_of_row_sum(p_.d_v)) * detail::unfused(size.dout * size.out)) + detail::unfused(size.dout * size.radii) + underflow;
        of.errors.weight = of.lone ? 0 : rows.weight_error(r);
        of.errors.flushed = tiny;
        if (of.lone) return true;
        of.errors.slope = (of.errors.weight + 2.01 * unit + slice_.scale_part()) * detail::raised;
        of.errors.common = (of_da + of_d) * detail::raised;
        of.errors.absolute = 4 * tiny * (size.most + of.errors.common + 1);
        return true;
    }
    // A sum that is off by `before`, times the scale: as computed, and with its error.
    [[nodiscard]] ball<double> scaled(double value, double before) const {
        if (before == 0) return ball<double>();
        const double radius = detail::unfused(slice_.scale_size() * before) + detail::unfused(2 * unit * detail::absolute(value)) + 0x1p-1074;
        return ball<double>(value, upper_bound(detail::unfused(radius * detail::raised)));
    }

    const attention_problem& p_;
    const fast::kernels& kernels_;
    graded_slice slice_;
    ball<double> scale_;
    gradient_errors errors_;
    std::vector<double> dk_, dv_;
    // Of the rows at hand.
    std::vector<row> rows_;
    std::vector<double> weights_, slopes_, queries_, douts_, means_, dq_, packed_;
};

} // namespace attest
