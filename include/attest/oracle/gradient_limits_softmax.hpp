// SPDX-License-Identifier: BSL-1.0
/// \file
/// The limits of softmax's gradient alone: dx_j = α_j (da_j − D), D = Σ α_l da_l, from x and da as they are given.
///
/// Kernels keep the weights as they gave them out, or make them again; not from lse. With e_α the bound of the weights before they are stored
/// (gradient_limits_weights.hpp, E being what rounding a wider x does), y = α + e_α + st(α) the greatest stored weight, γ and st as in
/// gradient_limits_row.hpp and ι the rounding of a wider da,
///
///     e_D  = Σ e_α |da − D|, of what leaves the sum of weights at 1, else Σ e_α |da|;  + Σ (st(α) + (γ_{n+3} + ι) y) |da|;  in X + Σ st(α da)
///     e_dx = (e_α + st(α)) |da − D| + y (e_D + ι |da| + 4u (|da| + |D|)) + γ …;                                                in X + st(α da)
///
/// **Expected**: the same without what is stored in 16 bits, plus λ times the root of the sum of squares of stored weights (bound st(α_l),
/// derivative 1_{jl} (da_j − D) − α_j da_l), and in X of stored α_l da_l (1_{jl} − α_j); what rounds alike is one (gradient_limits_runs.hpp).
/// Linear in the stores, so nothing is of second order.
#pragma once

#include "attest/oracle/element_limits.hpp"
#include "attest/oracle/gradient_limits_sources.hpp"
#include "attest/oracle/limits_order.hpp"

namespace attest {

/// One row (fibre). Vectors are over the visible entries.
struct softmax_gradient_facts {
    std::vector<double> x, weight, da;
    double lse = 0;
    input_width inputs = {}; ///< of x and da
};

/// In one arithmetic, before the final store. Arithmetic and facts must stay.
class softmax_gradient_limits {
public:
    softmax_gradient_limits(const arithmetic& a, const softmax_gradient_facts& f, double lambda) : a_{a}, f_{f} {
        facts_.score = f.x;
        facts_.weight = f.weight;
        facts_.lse = f.lse;
        const std::size_t n = f.x.size();
        for (std::size_t l = 0; l < n; ++l) {
            d_ += detail::unfused(f.weight[l] * f.da[l]);
            low_ = std::min(low_, f.da[l]);
            high_ = std::max(high_, f.da[l]);
        }
        certain_ = bounds(a, static_cast<double>(n));
        if (!detail::stores_weights(a)) return;
        plain_ = bounds(detail::without_stores(a), detail::expected_rescalings(f.x, lambda));
        squares(lambda);
    }

    /// Of visible entry j.
    [[nodiscard]] element_limits dx(std::size_t j) const {
        if (certain_.error.empty()) return {};
        const double certain = certain_.error[j] * slack;
        if (likely_.empty()) return {certain, certain};
        return {certain, std::min(certain, (plain_.error[j] + likely_[j]) * slack)};
    }

private:
    static constexpr double slack = 1 + 0x1p-20;

    struct row {
        std::vector<double> error; // empty: nothing can be said
        double relative = 0;       // of weights
    };
    [[nodiscard]] row bounds(const arithmetic& a, double rescalings) const {
        const std::size_t n = f_.x.size();
        const double input = detail::input_unit(a, f_.inputs), input_tiny = detail::input_tiny(a, f_.inputs);
        std::vector<double> of_x(n);
        for (std::size_t l = 0; l < n; ++l) of_x[l] = detail::unfused(input * detail::size_of(f_.x[l])) + input_tiny;
        detail::gradient_weight_bounds w;
        w.make(a, facts_, of_x, of_x, 0, rescalings, false);
        if (w.unbounded) return {};
        const double sum = detail::together(detail::roundings(static_cast<double>(n) + 3, a.unit), input), few = detail::roundings(4, a.unit);
        double moved = 0, rest = 0, size_of_d = detail::size_of(d_);
        std::vector<double> stored(n), high(n), product(n), e(n);
        for (std::size_t l = 0; l < n; ++l) {
            const double da = detail::size_of(f_.da[l]);
            stored[l] = detail::error_of_store(a, w.high[l]);
            high[l] = w.high[l] + stored[l];
            product[l] = detail::stores_scores(a) ? detail::error_of_store(a, detail::unfused(high[l] * da)) : 0;
            moved += detail::unfused(w.normalised[l] * from_mean(l));
            rest += detail::unfused((w.error[l] - w.normalised[l] + stored[l] + detail::unfused(sum * high[l])) * da) + product[l] +
                    detail::unfused(high[l] * input_tiny) + 2 * a.tiny;
            if (!(detail::unfused(high[l] * da) < detail::greatest_sum(a) / static_cast<double>(n + 1))) return {};
        }
        const double d_error = std::min(moved, std::max(std::max(high_ - d_, d_ - low_), 0.0) + detail::unfused(0x1p-50 * size_of_d)) + rest;
        for (std::size_t l = 0; l < n; ++l) {
            const double da = detail::size_of(f_.da[l]);
            if (!((da + size_of_d + d_error) * (1 + 0x1p-10) < detail::greatest_sum(a))) return {}; // da − D
            e[l] = detail::unfused((w.error[l] + stored[l]) * from_mean(l)) +
                   detail::unfused(high[l] *
                                   (d_error + input_tiny + detail::unfused(input * da) + detail::unfused(few * (da + size_of_d + d_error)))) +
                   product[l] + 4 * a.tiny;
        }
        return {e, w.relative};
    }
    // At least |da − D|.
    [[nodiscard]] double from_mean(std::size_t l) const {
        return detail::size_of(f_.da[l] - d_) + detail::unfused(0x1p-40 * (detail::size_of(f_.da[l]) + detail::size_of(d_)));
    }

    void squares(double lambda) {
        const std::size_t n = f_.x.size();
        if (plain_.error.empty()) return;
        const double relative = plain_.relative;
        std::vector<double> stored(n), product(n, 0.0);
        for (std::size_t l = 0; l < n; ++l) {
            stored[l] = detail::error_of_store(a_, f_.weight[l] * (1 + relative));
            if (detail::stores_scores(a_))
                product[l] = detail::error_of_store(a_, detail::unfused(f_.weight[l] * detail::size_of(f_.da[l])) * (1 + relative + a_.weight));
        }
        detail::alike_sources runs;
        const auto noise = [](std::size_t) { return 0.0; };
        runs.sort(a_.output, n, [&](std::size_t l) { return f_.weight[l]; }, noise);
        double of_mean = runs.square([&](std::size_t l) { return stored[l] * f_.da[l]; });
        runs.sort(a_.output, n, [&](std::size_t l) { return f_.weight[l] * f_.da[l]; }, noise);
        of_mean += runs.square([&](std::size_t l) { return product[l]; });
        likely_.resize(n);
        for (std::size_t j = 0; j < n; ++j) {
            // Its own weight acts through D as well: with the other sign where that makes it greater.
            const double m = f_.da[j] - d_, own = detail::unfused(f_.weight[j] * detail::size_of(f_.da[j]));
            const double apart = detail::unfused(stored[j] * (from_mean(j) + ((m < 0) == (f_.da[j] < 0) ? 0 : own)));
            const double all = detail::square(apart) + detail::square(product[j]) + detail::unfused(detail::square(f_.weight[j]) * of_mean);
            likely_[j] = detail::unfused(lambda * attest::sqrt(all) * (1 + relative));
        }
    }

    const arithmetic& a_;
    const softmax_gradient_facts& f_;
    gradient_row_facts facts_;
    double d_ = 0, low_ = detail::infinity_of_double, high_ = -detail::infinity_of_double;
    row certain_, plain_;
    std::vector<double> likely_;
};

} // namespace attest
