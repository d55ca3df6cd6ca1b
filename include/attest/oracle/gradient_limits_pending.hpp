// SPDX-License-Identifier: BSL-1.0
/// \file
/// Sums over rows for each key, dk and dv and their limits: a few rows are kept and added at once, each sum still in the order of the rows, since what they are
/// added to does not fit into the caches.
#pragma once

#include "attest/fast/limit_kernels.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace attest::detail {

/// To each key's d numbers, products of a coefficient of the key and d numbers of the row.
class pending_products {
public:
    /// `with_more`: whether there is also a number that is added alone.
    void begin(std::size_t keys, std::size_t d, bool with_more) {
        keys_ = keys;
        d_ = d;
        with_more_ = with_more;
        count_ = 0;
        coefficient_.assign(at_once * keys, 0.0);
        more_.assign(with_more ? at_once * keys : 0, 0.0);
        x_.assign(at_once * d, 0.0);
    }
    /// A row: `key` says whose the coefficients are.
    void add(const fast::limit_kernels& kernels, std::vector<double>& to, std::span<const std::size_t> key, const double* x, std::span<const double> coefficient,
             std::span<const double> more = {}) {
        kernels_ = &kernels;
        for (std::size_t c = 0; c < d_; ++c) x_[count_ * d_ + c] = x[c];
        for (std::size_t l = 0; l < key.size(); ++l) coefficient_[count_ * keys_ + key[l]] = coefficient[l];
        for (std::size_t l = 0; l < more.size(); ++l) more_[count_ * keys_ + key[l]] = more[l];
        if (++count_ == at_once) flush(to);
    }
    /// Adds what is kept to `to`, keys × d.
    void flush(std::vector<double>& to) {
        if (count_ == 0) return;
        kernels_->add_products({count_, keys_, d_, to.data(), x_.data(), coefficient_.data(), with_more_ ? more_.data() : nullptr});
        count_ = 0;
        coefficient_.assign(coefficient_.size(), 0.0);
        more_.assign(more_.size(), 0.0);
    }

private:
    static constexpr std::size_t at_once = 8;
    const fast::limit_kernels* kernels_ = nullptr;
    std::size_t keys_ = 0, d_ = 0, count_ = 0;
    bool with_more_ = false;
    std::vector<double> coefficient_, more_, x_;
};

} // namespace attest::detail
