// SPDX-License-Identifier: BSL-1.0
/// \file
/// q, k and v of one slice of attention, cut into slices of numbers (oracle/slices.hpp), with the norms that bounds need, and their six products.
#pragma once

#include "attest/fast/kernels.hpp"
#include "attest/oracle/problem.hpp"
#include "attest/oracle/slices.hpp"

#include <array>
#include <optional>
#include <vector>

namespace attest {

/// See the head of this file. What is given must stay.
class sliced_operands {
public:
    /// Of a row or column, or the greatest of those of all rows: norms, from above.
    struct norms {
        double all = 0, first = 0, second = 0, third = 0, after_first = 0, greatest = 0;
        bool known = true; ///< no NaN, no infinity, nothing beyond 2^400
    };

    sliced_operands(const attention_problem& p, const fast::kernels& kernels) : p_{p}, kernels_{kernels}, bits_{detail::slice_bits(p.d_k)} {}

    void enter(std::size_t slice) {
        const matrix_view k = p_.k[source_slice(p_.batch, p_.k.batch, slice)];
        const std::size_t n = p_.n_k;
        q_.emplace(p_.q[source_slice(p_.batch, p_.q.batch, slice)]);
        v_.emplace(p_.v[source_slice(p_.batch, p_.v.batch, slice)]);
        unknown_.assign(n, false);
        of_keys_ = {};
        std::vector<double> key(p_.d_k), value(p_.d_v);
        three keys(n * p_.d_k), values(n * p_.d_v);
        std::vector<double> greatest(p_.d_v, 0.0);
        for (std::size_t j = 0; j < n; ++j) {
            bool known = true;
            for (std::size_t c = 0; c < p_.d_k; ++c) known = is_moderate(key[c] = k(j, c)) && known;
            for (std::size_t c = 0; c < p_.d_v; ++c) known = is_moderate(value[c] = (*v_)(j, c)) && known;
            unknown_[j] = !known;
            if (!known) continue;
            for (std::size_t c = 0; c < p_.d_v; ++c) greatest[c] = std::max(greatest[c], detail::absolute(value[c]));
            const norms of = cut(key, bits_, keys, j * p_.d_k);
            of_keys_.all = std::max(of_keys_.all, of.all);
            of_keys_.first = std::max(of_keys_.first, of.first);
            of_keys_.second = std::max(of_keys_.second, of.second);
            of_keys_.third = std::max(of_keys_.third, of.third);
        }
        for (std::size_t s = 0; s < 3; ++s) packed_keys_[s] = packed(keys.at[s], {keys.at[s].data(), 1, static_cast<std::ptrdiff_t>(p_.d_k)}, p_.d_k, n);
        of_values_.resize(p_.d_v);
        std::vector<double> column(n);
        three slices(n);
        for (std::size_t c = 0; c < p_.d_v; ++c) {
            for (std::size_t j = 0; j < n; ++j) column[j] = unknown_[j] ? 0 : (*v_)(j, c);
            of_values_[c] = cut(column, fast::weight_bits, slices, 0);
            for (std::size_t s = 0; s < 3; ++s)
                for (std::size_t j = 0; j < n; ++j) values.at[s][j * p_.d_v + c] = slices.at[s][j];
        }
        for (std::size_t s = 0; s < 3; ++s) packed_values_[s] = packed(values.at[s], {values.at[s].data(), static_cast<std::ptrdiff_t>(p_.d_v)}, n, p_.d_v);
    }
    /// Takes rows of q.
    void look(std::span<const std::size_t> rows) {
        const std::size_t m = rows.size(), d = p_.d_k;
        queries_ = three(m * d);
        for (std::vector<double>* of : {&after_first_, &all_}) of->assign(m * d, 0.0);
        of_queries_.assign(m, {});
        std::vector<double> query(d);
        for (std::size_t r = 0; r < m; ++r) {
            bool known = true;
            for (std::size_t c = 0; c < d; ++c) known = is_moderate(query[c] = (*q_)(rows[r], c)) && known;
            of_queries_[r].known = known;
            if (!known) continue; // reads as 0
            of_queries_[r] = cut(query, bits_, queries_, r * d);
            for (std::size_t c = 0, at = r * d; c < d; ++c, ++at) {
                all_[at] = query[c];
                after_first_[at] = queries_.at[1][at] + queries_.at[2][at];
            }
        }
        for (std::size_t s = 0; s < 3; ++s) zero_queries_[s] = all_zero(queries_.at[s]);
    }

    [[nodiscard]] const std::vector<bool>& unknown() const { return unknown_; }
    [[nodiscard]] const norms& query(std::size_t r) const { return of_queries_[r]; }
    [[nodiscard]] const norms& keys() const { return of_keys_; }
    [[nodiscard]] const norms& values(std::size_t c) const { return of_values_[c]; }
    [[nodiscard]] double value(std::size_t j, std::size_t c) const { return (*v_)(j, c); }

    /// A, B and C of the rows with `keys` keys from one on (a multiple of the block), `row` apart.
    void multiply_queries(std::size_t m, std::size_t from, std::size_t keys, std::array<double*, 3> to, std::ptrdiff_t row) const {
        const auto d = static_cast<std::ptrdiff_t>(p_.d_k);
        const auto slice = [&](std::size_t s) { return fast::strided{queries_.at[s].data(), d}; };
        const auto to_keys = [&](const fast::strided& a, bool zero, std::size_t s) {
            return term{a, packed_keys_[s].at.data() + from * p_.d_k, zero || packed_keys_[s].zero};
        };
        const shape of{m, p_.d_k, p_.d_k, keys, row};
        sum(of, {to_keys(slice(0), zero_queries_[0], 0)}, to[0], false);
        sum(of, {to_keys(slice(0), zero_queries_[0], 1), to_keys(slice(1), zero_queries_[1], 0)}, to[1], false);
        const bool no_rest = zero_queries_[1] && zero_queries_[2];
        sum(of, {to_keys({all_.data(), d}, false, 2), to_keys({after_first_.data(), d}, no_rest, 1), to_keys(slice(2), zero_queries_[2], 0)}, to[2], false);
    }
    /// The same of weights, p1, p2, p3, p' and p, with the values of `keys` keys; C is added to.
    void multiply_values(std::size_t m, std::size_t from, std::size_t keys, const std::array<fast::strided, 5>& p, std::array<double*, 3> to) const {
        const auto to_values = [&](std::size_t a, std::size_t s) { return term{p[a], packed_values_[s].at.data() + from * kernels_.panel, packed_values_[s].zero}; };
        const shape of{m, keys, p_.n_k, p_.d_v, static_cast<std::ptrdiff_t>(p_.d_v)};
        sum(of, {to_values(0, 0)}, to[0], false);
        sum(of, {to_values(0, 1), to_values(1, 0)}, to[1], false);
        sum(of, {to_values(4, 2), to_values(3, 1), to_values(2, 0)}, to[2], true);
    }

private:
    struct three {
        explicit three(std::size_t count = 0) {
            for (std::vector<double>& of : at) of.assign(count, 0.0);
        }
        std::vector<double> at[3];
    };
    struct packed_matrix {
        std::vector<double> at;
        bool zero = true;
    };
    struct term {
        fast::strided a;
        const double* b;
        bool zero;
    };
    struct shape {
        std::size_t m, depth, b_depth, n;
        std::ptrdiff_t c_row;
    };

    [[nodiscard]] static bool is_moderate(double x) { return detail::absolute(x) < 0x1p400; }
    [[nodiscard]] static bool all_zero(const std::vector<double>& x) {
        return std::all_of(x.begin(), x.end(), [](double c) { return c == 0; });
    }
    // Cuts x, writes the slices from `at` on, and gives their norms.
    static norms cut(std::span<const double> x, int bits, three& to, std::size_t at) {
        norms of;
        for (const double c : x) of.greatest = std::max(of.greatest, detail::absolute(c));
        const detail::slicing slices(of.greatest, bits);
        std::vector<double> rest(x.size());
        for (std::size_t c = 0; c < x.size(); ++c) {
            const detail::slices_of_number cut = slices(x[c]);
            to.at[0][at + c] = cut.first;
            to.at[1][at + c] = cut.second;
            to.at[2][at + c] = cut.third;
            rest[c] = cut.after_first();
        }
        const auto norm = [&](std::size_t s) { return detail::norm_above({to.at[s].data() + at, x.size()}); };
        of.all = detail::norm_above(x);
        of.first = norm(0);
        of.second = norm(1);
        of.third = norm(2);
        of.after_first = detail::norm_above(rest);
        return of;
    }
    [[nodiscard]] packed_matrix packed(const std::vector<double>& x, const fast::strided& at, std::size_t depth, std::size_t n) const {
        packed_matrix b{std::vector<double>(fast::packed_elements(kernels_, depth, n)), all_zero(x)};
        kernels_.pack(at, depth, n, b.at.data());
        return b;
    }
    // C = Σ A B, without the terms that are 0.
    void sum(const shape& of, std::initializer_list<term> terms, double* c, bool add) const {
        for (const term& t : terms) {
            if (t.zero) continue;
            kernels_.multiply({.a = t.a, .m = of.m, .depth = of.depth, .b = t.b, .b_depth = of.b_depth, .n = of.n, .c = c, .c_row = of.c_row, .add = add});
            add = true;
        }
        if (add) return;
        for (std::size_t i = 0; i < of.m; ++i) std::fill_n(c + static_cast<std::ptrdiff_t>(i) * of.c_row, of.n, 0.0);
    }

    const attention_problem& p_;
    const fast::kernels& kernels_;
    int bits_;
    std::optional<matrix_view> q_, v_;
    std::vector<bool> unknown_;
    norms of_keys_;
    std::vector<norms> of_values_;
    packed_matrix packed_keys_[3], packed_values_[3];
    // Of the rows at hand.
    three queries_;
    std::vector<double> after_first_, all_;
    bool zero_queries_[3] = {};
    std::vector<norms> of_queries_;
};

} // namespace attest
