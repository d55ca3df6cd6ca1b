// SPDX-License-Identifier: BSL-1.0
// Attention in long double (64 digits at least), and how far from it the double path may be: the table of fast/attention.hpp, as a number for each element.
#pragma once

#include "targets.hpp"

#include "attest/fast/attention.hpp"
#include "attest/formula/attention.hpp"

#include <cmath>

namespace fast_tests {

using dyn = attest::axis<attest::dynamic>;
using matrix = attest::tensor<double, dyn, dyn>;

inline matrix random_matrix(std::size_t rows, std::size_t columns, unsigned seed, double most = 1) {
    auto x = matrix::with_lengths(rows, columns);
    const auto values = random_doubles(rows * columns, seed, most);
    for (std::size_t i = 0; i < values.size(); ++i) x.data()[i] = values[i];
    return x;
}

using long_matrix = attest::tensor<long double, dyn, dyn>;

struct bounded {
    long_matrix out, out_bound;
    std::vector<long double> lse, lse_bound;
    long_matrix weights, weights_bound; ///< p_ij = exp(s_ij − lse_i) as the backward pass computes it
};

template <attest::mask M> bounded bounded_attention(const matrix& q, const matrix& k, const matrix& v, const M& m, double scale) {
    using attest::fast::roundings_of_products, attest::fast::roundings_of_row_sum;
    const std::size_t n_q = q.length(0), n_k = k.length(0), d = q.length(1), d_v = v.length(1);
    constexpr long double u = 0x1p-53L;
    bounded result{long_matrix::with_lengths(n_q, d_v), long_matrix::with_lengths(n_q, d_v), {}, {}, long_matrix::with_lengths(n_q, n_k),
                   long_matrix::with_lengths(n_q, n_k)};
    for (std::size_t i = 0; i < n_q; ++i) {
        std::vector<long double> s(n_k), off(n_k);
        long double greatest = -std::numeric_limits<long double>::infinity(), sum = 0;
        for (std::size_t j = 0; j < n_k; ++j) {
            if (!m.visible(i, j)) continue;
            long double size = 0;
            for (std::size_t c = 0; c < d; ++c) {
                const long double term = static_cast<long double>(q(i, c)) * k(j, c);
                s[j] += term;
                size += std::abs(term);
            }
            s[j] *= scale;
            off[j] = static_cast<long double>(roundings_of_products(d) + 1) * u * size * std::abs(scale); // (the scale is given)
            if constexpr (attest::detail::is_additive<M>) {
                s[j] += m.added(i, j);
                off[j] += u * std::abs(s[j]);
            }
            greatest = std::max(greatest, s[j]);
        }
        const std::vector<long double> score_off = off;
        std::vector<long double> e(n_k);
        long double weighted = 0; // Σ e_j δ_j
        for (std::size_t j = 0; j < n_k; ++j)
            if (m.visible(i, j)) {
                e[j] = std::exp(s[j] - greatest);
                sum += e[j];
                off[j] += u * std::abs(s[j] - greatest) + static_cast<long double>(attest::exp_error_relative);
                weighted += e[j] * off[j];
            }
        const long double log_sum = std::log(sum), first_order = 1.001L;
        result.lse.push_back(greatest + log_sum);
        const long double sum_off = weighted / sum + static_cast<long double>(roundings_of_row_sum(n_k)) * u;
        result.lse_bound.push_back((sum_off + 2 * u * (std::abs(greatest) + std::abs(log_sum) + 1)) * first_order);
        if (sum == 0) continue; // zeros
        for (std::size_t j = 0; j < n_k; ++j)
            if (m.visible(i, j)) {
                result.weights(i, j) = e[j] / sum;
                const long double relative = score_off[j] + result.lse_bound[i] + u * std::abs(s[j] - result.lse[i]) + attest::exp_error_relative;
                result.weights_bound(i, j) = e[j] / sum * first_order * relative;
            }
        for (std::size_t c = 0; c < d_v; ++c) {
            long double out = 0, size = 0, bound = 0;
            for (std::size_t j = 0; j < n_k; ++j) {
                out += e[j] * v(j, c);
                size += e[j] * std::abs(v(j, c));
            }
            out /= sum;
            for (std::size_t j = 0; j < n_k; ++j) bound += e[j] * off[j] * std::abs(v(j, c) - out);
            bound += static_cast<long double>(roundings_of_products(n_k)) * u * size;
            bound += static_cast<long double>(roundings_of_row_sum(n_k) + 1) * u * std::abs(out) * sum;
            result.out(i, c) = out;
            result.out_bound(i, c) = bound / sum * first_order;
        }
    }
    return result;
}

} // namespace fast_tests
