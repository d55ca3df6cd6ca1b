// SPDX-License-Identifier: BSL-1.0
/// \file
/// A tape: every operation of a computation in `tracked`, with its derivatives and what it may lose by its own rounding in double. Going back over
/// it from a result gives how strongly each operation acts on that result, and so a bound of its error to first order:
///
///     |computed − exact|  <=  Σ_operations |∂result/∂operation| · (what the operation loses)   +  terms of second order.
///
/// Propagating bounds forward (oracle/tracked.hpp) takes every error at its worst at every step, and grows by a factor of 100 or more with each
/// sublayer. This sum knows that an error acts once, by all its ways together. What it leaves out is of second order: products of two errors. Those
/// are negligible where errors are 2^−53 of a value, and not where a difference has cancelled (LayerNorm of a nearly constant row). So each operation also
/// carries the likely size of its error, by root mean squares along the way, and loses 16 times what the second derivatives make of that; and the limit
/// taken is twice the sum. That is an argument, not a proof: the report calls these limits first-order.
#pragma once

#include "attest/elementary/sqrt.hpp"

#include <algorithm>
#include <cstdint>
#include <exception>
#include <vector>

namespace attest {

/// More operations than a tape holds.
class tape_full : public std::exception {
public:
    [[nodiscard]] const char* what() const noexcept override { return "the computation has too many operations for a tape"; }
};

/// The second derivatives of an operation, absolute.
struct curvature {
    double aa = 0, ab = 0, bb = 0;
};

class tape {
public:
    static constexpr std::int32_t none = -1; ///< what no rounding has touched

    /// At most so many operations, of 48 bytes each; tape_full beyond that.
    explicit tape(std::size_t capacity) : capacity_{capacity} {}

    /// An operation on up to two earlier ones, its derivatives to them, and its own rounding.
    std::int32_t record(std::int32_t a, double to_a, std::int32_t b = none, double to_b = 0, double lost = 0, curvature second = {}) {
        if (operations_.size() >= capacity_) throw tape_full();
        const double likely_a = likely_error(a), likely_b = likely_error(b);
        const double bent = 16 * (second.aa * likely_a * likely_a / 2 + second.ab * likely_a * likely_b + second.bb * likely_b * likely_b / 2);
        const double of_a = to_a * likely_a, of_b = to_b * likely_b;
        operations_.push_back({a, b, to_a, to_b, lost, bent == bent ? bent : 0, attest::sqrt(of_a * of_a + of_b * of_b)});
        return static_cast<std::int32_t>(operations_.size() - 1);
    }
    /// What an operation loses when it ends: a sum's rounding, known when the sum is used.
    void lose(std::int32_t at, double lost) {
        if (at != none) operations_[static_cast<std::size_t>(at)].lost = lost;
    }
    /// How large an operation's error is likely to be; not a bound.
    [[nodiscard]] double likely_error(std::int32_t at) const {
        if (at == none) return 0;
        const operation& o = operations_[static_cast<std::size_t>(at)];
        return attest::sqrt(o.brought * o.brought + o.lost * o.lost) + o.bent;
    }
    [[nodiscard]] std::size_t size() const noexcept { return operations_.size(); }

    /// Σ |∂result/∂operation| · lost, over all operations that lead to the result.
    [[nodiscard]] double first_order_error(std::int32_t result) {
        if (result == none) return 0;
        const auto last = static_cast<std::size_t>(result);
        sensitivity_.assign(last + 1, 0.0);
        sensitivity_[last] = 1;
        double sum = 0;
        for (std::size_t k = last + 1; k-- > 0;) {
            const double s = sensitivity_[k];
            if (s == 0) continue;
            const operation& o = operations_[k];
            sum += (s < 0 ? -s : s) * (o.lost + o.bent);
            if (o.a != none) sensitivity_[static_cast<std::size_t>(o.a)] += s * o.to_a;
            if (o.b != none) sensitivity_[static_cast<std::size_t>(o.b)] += s * o.to_b;
        }
        return sum;
    }

private:
    struct operation {
        std::int32_t a, b;
        double to_a, to_b, lost, bent, brought;
    };
    std::size_t capacity_;
    std::vector<operation> operations_;
    std::vector<double> sensitivity_;
};

} // namespace attest
