// SPDX-License-Identifier: BSL-1.0
/// \file
/// The values that a query sees, as the limits' kernels take them (fast/limit_kernels.hpp): a row of components for each visible key, and zeros for a sink.
#pragma once

#include "attest/fast/compiled_limits.hpp"
#include "attest/oracle/stack.hpp"

#include <span>
#include <vector>

namespace attest {

/// See the head of this file. Not for several threads at once.
class seen_values {
public:
    seen_values() = default;
    /// One component: value(j) of visible key j.
    template <class Value> seen_values(std::size_t keys, const Value& value) {
        set_size(keys, 1);
        for (std::size_t j = 0; j < keys; ++j) values_[j * stride_] = value(j);
        for (std::size_t j = 0; j <= keys; ++j) rows_.push_back(values_.data() + j * stride_);
    }
    seen_values(const seen_values&) = delete;
    seen_values& operator=(const seen_values&) = delete;

    /// Takes a copy of a slice's values.
    void enter(const matrix_view& v) {
        set_size(v.length(0), v.length(1));
        for (std::size_t j = 0; j < v.length(0); ++j)
            for (std::size_t e = 0; e < components_; ++e) values_[j * stride_ + e] = v(j, e);
        visible_.clear();
        rows_.assign(1, values_.data() + v.length(0) * stride_);
        ++number_;
    }
    /// What a query sees of them.
    void see(std::span<const std::size_t> visible) {
        if (std::equal(visible.begin(), visible.end(), visible_.begin(), visible_.end())) return;
        visible_.assign(visible.begin(), visible.end());
        const double* const zeros = rows_.back();
        rows_.clear();
        for (const std::size_t j : visible) rows_.push_back(values_.data() + j * stride_);
        rows_.push_back(zeros);
        ++number_;
    }

    [[nodiscard]] std::size_t components() const { return components_; }
    /// From one array over the components to the next.
    [[nodiscard]] std::size_t stride() const { return stride_; }
    /// Of each visible key, and one of zeros.
    [[nodiscard]] const double* const* rows() const { return rows_.data(); }
    /// Another number for other rows.
    [[nodiscard]] std::size_t number() const { return number_; }

private:
    void set_size(std::size_t keys, std::size_t components) {
        components_ = components;
        stride_ = fast::padded_to_lanes(components);
        values_.assign((keys + 1) * stride_, 0.0);
    }
    std::size_t components_ = 0, stride_ = 0, number_ = 0;
    std::vector<double> values_;
    std::vector<std::size_t> visible_;
    std::vector<const double*> rows_;
};

} // namespace attest
