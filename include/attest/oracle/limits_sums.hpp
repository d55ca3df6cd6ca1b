// SPDX-License-Identifier: BSL-1.0
/// \file
/// The sums over a row's entries that the limits of its output are made of, for all components at once (fast/limit_kernels.hpp).
#pragma once

#include "attest/oracle/limits_expected.hpp"
#include "attest/oracle/limits_values.hpp"

namespace attest {

/// Memory for the sums of one row after the other. Not for several threads at once.
class output_sums {
public:
    /// Of the values that a query sees, `values`, with o in `exact`; what depends on the values alone. The kernels must stay.
    void begin(const row_limits& certain, const seen_values& values, std::span<const double> exact) {
        kernels_ = certain.facts().kernels;
        stride_ = values.stride();
        exact_.assign(stride_, 0.0);
        std::copy(exact.begin(), exact.end(), exact_.begin());
        const row_limits::output_coefficients& c = certain.for_output();
        v_ = {values.rows(), c.factor.empty() ? nullptr : c.factor.data(), certain.entries(), values.components(), exact_.data()};
        const bool of_values_alone = v_.factor == nullptr && c.of_entry.empty() && c.of_exact == 0;
        const known_sizes as{values.number(), v_.entries, c.start, c.of_size, certain.expected_absolute(), {}};
        std::erase_if(known_, [&](const known_sizes& k) { return k.number != as.number; });
        if (of_values_alone)
            for (const known_sizes& k : known_)
                if (k.is_like(as)) {
                    size_ = k.sums;
                    return;
                }
        size_.resize(fast::size_sums_call::terms * stride_);
        kernels_->size_sums({v_, c.start, c.of_size, c.of_exact, pointer(c.of_entry), pointer(c.behind), as.expected_of_size, size_.data(), stride_});
        if (!of_values_alone) return;
        known_.push_back(as);
        known_.back().sums = size_;
    }
    /// Of both limits; without `expected`, of the certain one.
    void add_up(const row_limits& certain, const expected_output* expected) {
        const row_limits::output_coefficients& c = certain.for_output();
        const expected_output::output_coefficients* const x = expected == nullptr ? nullptr : &expected->for_output();
        careful_ = !(certain.raised_sum() < detail::infinity_of_double) || (x != nullptr && !x->finite);
        for (std::size_t e = 0; e < v_.components; ++e)
            careful_ = careful_ || !(at(size_, fast::size_sums_call::greatest, e) + detail::size_of(exact_[e]) < 0x1p1000);
        main_.resize(fast::main_sums_call::terms * stride_);
        kernels_->main_sums({v_, certain.weights().data(), certain.raised().data(), x == nullptr ? certain.raised().data() : x->raised.data(),
                             expected == nullptr ? nullptr : expected->summed_most(), careful_, main_.data(), stride_});
        if (x != nullptr && !range_does_not_matter(*expected))
            kernels_->partial_sums({v_, certain.weights().data(), main_.data() + fast::main_sums_call::lowest * stride_, main_.data() + fast::main_sums_call::highest * stride_});
        pair(stored_, c.stored, {}, careful_);
        if (x == nullptr) return;
        pair(operands_, x->operands, {}, false);
        pair(tiny_, x->tiny, x->behind, false);
        score_.assign(fast::score_sums_call::terms * stride_, 0.0);
        if (!x->bent.empty())
            kernels_->score_sums({v_, x->bent.data(), x->query.data(), x->alibi.data(), x->scaled.data(), score_.data(), stride_});
        alike(0, expected->alike_scaled(), x->own, true);
        alike(1, expected->alike_added(), x->added, true);
        alike(2, expected->alike_weights(), x->stored, false);
        alike(3, expected->alike_weights(), x->stored, true);
    }

    /// Of component e.
    [[nodiscard]] double low(std::size_t e) const { return at(size_, fast::size_sums_call::low, e); }
    [[nodiscard]] double high(std::size_t e) const { return at(size_, fast::size_sums_call::high, e); }
    [[nodiscard]] row_limits::output_sums certain(std::size_t e) const {
        using m = fast::main_sums_call;
        using s = fast::size_sums_call;
        using p = fast::pair_sums_call;
        return {.moved = at(main_, m::moved, e), .mean_size = at(main_, m::sizes, e),
                .stored_all = at(stored_, p::of_size, e), .stored_apart = at(stored_, p::of_distance, e),
                .sum_of_sizes = at(size_, s::sum, e), .greatest = at(size_, s::greatest, e), .low = low(e), .high = high(e), .absolute = at(size_, s::absolute, e)};
    }
    [[nodiscard]] expected_output::output_sums expected(std::size_t e) const {
        using m = fast::main_sums_call;
        using p = fast::pair_sums_call;
        using r = fast::score_sums_call;
        return {.moved = at(main_, m::expected_moved, e), .all = at(main_, m::expected_all, e), .prefix = at(main_, m::prefix, e),
                .lowest = at(main_, m::lowest, e), .highest = at(main_, m::highest, e), .squares = at(main_, m::squares, e),
                .greatest = at(main_, m::greatest, e), .sizes = at(main_, m::sizes, e),
                .sum_of_sizes = at(size_, fast::size_sums_call::sum, e), .low = low(e), .high = high(e), .absolute = at(size_, fast::size_sums_call::expected_absolute, e),
                .operands = at(operands_, p::of_size, e), .operands_apart = at(operands_, p::of_distance, e),
                .tiny = at(tiny_, p::of_size, e), .tiny_apart = at(tiny_, p::of_distance, e),
                .above = at(score_, r::above, e), .below = at(score_, r::below, e), .cheap = at(score_, r::cheap, e), .rounded = at(score_, r::rounded, e),
                .of_slope = at(score_, r::of_slope, e), .of_scale = at(score_, r::of_scale, e),
                .scaled_squares = alike_[0][e], .added_squares = alike_[1][e], .squares_through_v = alike_[2][e], .squares_through_x = alike_[3][e]};
    }

private:
    [[nodiscard]] double at(const std::vector<double>& sums, std::size_t term, std::size_t e) const { return sums[term * stride_ + e]; }
    [[nodiscard]] static const double* pointer(const std::vector<double>& x) { return x.empty() ? nullptr : x.data(); }
    void pair(std::vector<double>& to, const std::vector<double>& coefficient, const std::vector<double>& behind, bool careful) {
        to.assign(fast::pair_sums_call::terms * stride_, 0.0);
        // Zeros give nothing, but for NaN where a distance is infinite.
        if (coefficient.empty()) {
            if (!careful_ || careful) return;
            zeros_.assign(v_.entries, 0.0);
            kernels_->pair_sums({v_, zeros_.data(), nullptr, careful, to.data(), stride_});
            return;
        }
        kernels_->pair_sums({v_, coefficient.data(), pointer(behind), careful, to.data(), stride_});
    }
    // Whether it changes no bit which of its partial sums a row's are the greatest: their range, less than that of the blocks' and twice what a block can move
    // them, is below what is compared with it, or that is above Σ|terms|.
    [[nodiscard]] bool range_does_not_matter(const expected_output& expected) const {
        using m = fast::main_sums_call;
        for (std::size_t e = 0; e < v_.components; ++e) {
            const double range = at(main_, m::highest, e) - at(main_, m::lowest, e), sizes = at(main_, m::sizes, e);
            const double random = expected.greatest_random_sum(at(main_, m::prefix, e), at(main_, m::squares, e), at(main_, m::greatest, e));
            if (!(1.01 * range + 2.05 * at(main_, m::greatest_block, e) + 0x1p-40 * sizes <= random) && !(random >= sizes)) return false;
        }
        return true;
    }
    void alike(std::size_t which, const alike_runs& runs, const std::vector<double>& amplitude, bool from_exact) {
        alike_[which].assign(stride_, 0.0);
        if (!runs.order().empty())
            kernels_->alike({v_, runs.order().data(), runs.runs().data(), runs.runs().size(), amplitude.data(), from_exact, alike_[which].data()});
    }

    // What the last rows had, which often see the same values.
    struct known_sizes {
        std::size_t number, entries;
        double start, of_size, expected_of_size;
        std::vector<double> sums;
        [[nodiscard]] bool is_like(const known_sizes& k) const {
            return entries == k.entries && start == k.start && of_size == k.of_size && expected_of_size == k.expected_of_size;
        }
    };

    const fast::limit_kernels* kernels_ = nullptr;
    std::vector<known_sizes> known_;
    fast::limit_values v_{};
    std::size_t stride_ = 0;
    bool careful_ = false;
    std::vector<double> exact_, size_, main_, stored_, operands_, tiny_, score_, zeros_;
    std::vector<double> alike_[4];
};

/// The certain limit of one component of the output; `value(j)`: of visible key j.
template <class Value> [[nodiscard]] bound certain_output(const row_limits& row, double exact, const Value& value) {
    const seen_values values(row.facts().weight.size(), value);
    output_sums sums;
    sums.begin(row, values, {&exact, 1});
    sums.add_up(row, nullptr);
    return row.output(exact, sums.certain(0));
}

} // namespace attest
