// SPDX-License-Identifier: BSL-1.0
/// \file
/// One slice's queries, keys and values for rungs that evaluate whole blocks: read, packed for the kernels, and with the norms that bounds are made of.
#pragma once

#include "attest/fast/kernels.hpp"
#include "attest/oracle/norms.hpp"
#include "attest/oracle/problem.hpp"

namespace attest {

/// Whether a case is of the kind that blocks know: dot products with a scale, and masks. The others take the formula itself in balls.
[[nodiscard]] inline bool fits_in_blocks(const conventions& how, const std::vector<named_view>& inputs, const attention_problem& p) {
    constexpr std::size_t most = std::size_t{1} << 20; // that the bounds' slack covers (oracle/norms.hpp)
    const bool has_extras = find(inputs, "sink") != nullptr || find(inputs, "dropout_mask") != nullptr;
    return (how.score == score_kind::scaled || how.score == score_kind::dot) && !how.softcap && how.position == position_kind::none && !has_extras && p.d_k <= most &&
           p.n_k <= most && p.n_q <= most && p.d_v > 0 && p.d_k > 0;
}

/// See the head of this file. What is given must stay.
class packed_slice {
public:
    /// Numbers of the size `beyond` or more count as unknown, as NaN and infinities do.
    packed_slice(const attention_problem& p, const fast::kernels& kernels, double beyond) : p_{p}, kernels_{kernels}, beyond_{beyond} {}

    /// Makes a slice current. Keys and values of a key that holds an unknown number are read as 0.
    void enter(std::size_t slice) {
        const matrix_view k = p_.k[source_slice(p_.batch, p_.k.batch, slice)], v = p_.v[source_slice(p_.batch, p_.v.batch, slice)];
        q_.emplace(p_.q[source_slice(p_.batch, p_.q.batch, slice)]);
        const std::size_t n = p_.n_k, d_k = p_.d_k, d_v = p_.d_v;
        unknown_.assign(n, false);
        keys_.resize(n * d_k);
        values_.resize(n * d_v);
        sizes_.begin(d_v);
        key_norm_ = 0;
        for (std::size_t j = 0; j < n; ++j) {
            double *const key = keys_.data() + j * d_k, *const value = values_.data() + j * d_v;
            const bool known_key = read(k, j, key, d_k), known = read(v, j, value, d_v) && known_key;
            if (!known) {
                unknown_[j] = true;
                std::fill_n(key, d_k, 0.0);
                std::fill_n(value, d_v, 0.0);
            }
            key_norm_ = std::max(key_norm_, detail::norm_above({key, d_k}));
            sizes_.add(value);
        }
        norms_.resize(d_v);
        for (std::size_t c = 0; c < d_v; ++c) norms_[c] = sizes_.norm(c);
        packed_keys_.resize(fast::packed_elements(kernels_, d_k, n));
        kernels_.pack({keys_.data(), 1, static_cast<std::ptrdiff_t>(d_k)}, d_k, n, packed_keys_.data());
        packed_values_.resize(fast::packed_elements(kernels_, n, d_v));
        kernels_.pack({values_.data(), static_cast<std::ptrdiff_t>(d_v)}, n, d_v, packed_values_.data());
    }
    /// Writes query i to `to`; zeros, and false, if it holds an unknown number.
    [[nodiscard]] bool read_query(std::size_t i, double* to) const {
        const bool known = read(*q_, i, to, p_.d_k);
        if (!known) std::fill_n(to, p_.d_k, 0.0);
        return known;
    }

    [[nodiscard]] const std::vector<bool>& unknown() const { return unknown_; } ///< of each key: it, or its value, holds an unknown number
    [[nodiscard]] double key_norm() const { return key_norm_; }                 ///< max_j ‖k_j‖, from above
    [[nodiscard]] double greatest(std::size_t c) const { return sizes_.greatest(c); } ///< V: max_j |v_jc|
    [[nodiscard]] double norm(std::size_t c) const { return norms_[c]; }        ///< N: √Σ_j v_jc², from above
    [[nodiscard]] const double* key(std::size_t j) const { return keys_.data() + j * p_.d_k; }
    [[nodiscard]] const double* value(std::size_t j) const { return values_.data() + j * p_.d_v; }
    [[nodiscard]] const double* packed_keys() const { return packed_keys_.data(); }
    [[nodiscard]] const double* packed_values() const { return packed_values_.data(); }

private:
    // Whether all numbers of row i are known.
    bool read(const matrix_view& m, std::size_t i, double* to, std::size_t columns) const {
        bool known = true;
        for (std::size_t c = 0; c < columns; ++c) known = detail::absolute(to[c] = m(i, c)) < beyond_ && known;
        return known;
    }

    const attention_problem& p_;
    const fast::kernels& kernels_;
    double beyond_;
    std::optional<matrix_view> q_;
    std::vector<bool> unknown_;
    double key_norm_ = 0;
    std::vector<double> keys_, values_, norms_, packed_keys_, packed_values_;
    detail::column_sizes sizes_;
};

} // namespace attest
