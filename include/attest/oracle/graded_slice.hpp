// SPDX-License-Identifier: BSL-1.0
/// \file
/// One slice for the gradients of rungs that evaluate whole blocks: keys and values packed the other way round than for scores and outputs (oracle/packed_slice.hpp), the rows
/// of dout, and the sizes that bounds are made of.
#pragma once

#include "attest/oracle/packed_slice.hpp"

namespace attest {

/// See the head of this file. What is given must stay.
class graded_slice {
public:
    /// Of one row, from above.
    struct row_sizes {
        double dout, out, radii; ///< ‖dz‖, ‖out‖, and the norm of out's radii
        double most;             ///< ‖dz‖ max_j ‖v_j‖
        bool known;              ///< nothing overflows on the way, and the scale is known well enough for the slack of the bounds
    };

    graded_slice(const attention_problem& p, const fast::kernels& kernels) : p_{p}, kernels_{kernels} {}

    /// Makes a slice current, whose scale is known as `scale` within `scale_error`.
    void enter(const packed_slice& slice, const matrix_view& dout, double scale, double scale_error) {
        dout_.emplace(dout);
        const std::size_t n = p_.n_k, d_k = p_.d_k, d_v = p_.d_v;
        keys_.begin(d_k);
        value_norm_ = 0;
        for (std::size_t j = 0; j < n; ++j) {
            keys_.add(slice.key(j));
            value_norm_ = std::max(value_norm_, detail::norm_above({slice.value(j), d_v}));
        }
        key_norm_ = slice.key_norm();
        packed_keys_.resize(fast::packed_elements(kernels_, n, d_k));
        kernels_.pack({slice.key(0), static_cast<std::ptrdiff_t>(d_k)}, n, d_k, packed_keys_.data());
        packed_values_.resize(fast::packed_elements(kernels_, d_v, n));
        kernels_.pack({slice.value(0), 1, static_cast<std::ptrdiff_t>(d_v)}, d_v, n, packed_values_.data());
        scale_size_ = detail::unfused(detail::absolute(scale) * detail::raised) + scale_error;
        scale_part_ = scale_error == 0 ? 0 : scale_error / detail::absolute(scale) * detail::raised;
    }
    void read_dout(std::size_t i, double* to) const {
        for (std::size_t c = 0; c < p_.d_v; ++c) to[c] = (*dout_)(i, c);
    }
    [[nodiscard]] row_sizes sizes_of(const double* query, const double* dout, const double* out, std::span<const double> radii) const {
        row_sizes of{detail::norm_above({dout, p_.d_v}), detail::norm_above({out, p_.d_v}), detail::norm_above(radii), 0, scale_size_ < 0x1p60 && scale_part_ < 0x1p-30};
        of.most = detail::unfused(of.dout * value_norm_);
        for (const double size : {of.most, of.dout, of.out, of.radii, detail::norm_above({query, p_.d_k}), key_norm_, value_norm_}) of.known = of.known && size < 0x1p300;
        return of;
    }

    [[nodiscard]] const detail::column_sizes& keys() const { return keys_; }
    [[nodiscard]] const double* packed_keys() const { return packed_keys_.data(); }     ///< n × d_k
    [[nodiscard]] const double* packed_values() const { return packed_values_.data(); } ///< d_v × n
    [[nodiscard]] double scale_size() const { return scale_size_; }                     ///< |scale|, from above
    [[nodiscard]] double scale_part() const { return scale_part_; }                     ///< what the scale is off by, as a part of it

private:
    const attention_problem& p_;
    const fast::kernels& kernels_;
    std::optional<matrix_view> dout_;
    detail::column_sizes keys_;
    double key_norm_ = 0, value_norm_ = 0, scale_size_ = 0, scale_part_ = 0;
    std::vector<double> packed_keys_, packed_values_;
};

} // namespace attest
