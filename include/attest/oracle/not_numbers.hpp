// SPDX-License-Identifier: BSL-1.0
/// \file
/// Attention's rows that see a NaN or an infinity. Of them nothing is proved and nothing is judged; what the formula makes of them in 192-bit numbers (∞ − ∞ is NaN, and so
/// on) is shown, and a candidate that has the same is not held against it.
#pragma once

#include "attest/oracle/attention_outputs.hpp"

namespace attest {

/// Finds these rows, and evaluates them.
class not_numbers {
public:
    not_numbers(const conventions& how, const std::vector<named_view>& inputs, const attention_problem& p, const std::vector<certified_output>& outputs)
        : how_{how}, inputs_{inputs}, p_{p}, outputs_{outputs}, engine_(how, inputs, p) {
        std::optional<matrix_stack> dout;
        for (const certified_output& output : outputs)
            if (detail::is_gradient(output.name) && !dout) dout = stack_of("dout", *find(inputs, "dout"), how.layout);
        bool weights = true; // and what all rows share
        for (const char* name : {"sink", "alibi_slopes", "w", "w1", "w2", "b"})
            if (const array_view* const given = find(inputs, name)) weights = weights && detail::all_finite(*given);
        for (std::size_t slice = 0; slice < p.slices(); ++slice) {
            engine_.enter_mask(slice);
            const detail::rows_of_numbers all(p, dout, slice);
            for (std::size_t i = 0; i < engine_.rules().queries(slice); ++i) {
                const bool numbers = weights && all.sees_numbers_alone(i, [&](std::size_t query, std::size_t key) { return engine_.visible(query, key); });
                (numbers ? rows_ : apart_).emplace_back(slice, i);
            }
        }
        dout_ = std::move(dout);
    }
    [[nodiscard]] bool none() const { return apart_.empty(); }
    [[nodiscard]] bool has(const std::pair<std::size_t, std::size_t>& slice_and_row) const { return std::binary_search(apart_.begin(), apart_.end(), slice_and_row); }
    /// The other rows, in order: f(slice, i). Those that are padding are in neither.
    template <class F> void for_each_row(const F& f) const {
        for (const auto& [slice, i] : rows_) f(slice, i);
    }
    [[nodiscard]] const detail::pair_rules<exact_number>& rules() const { return engine_.rules(); }
    /// The elements of these rows, where `wanted(slice, i)`: f(output, position, value).
    template <class Wanted, class F> void for_each(const Wanted& wanted, const F& f) const {
        attention_engine<exact_number> engine(how_, inputs_, p_);
        std::size_t current = static_cast<std::size_t>(-1);
        slice_gradient<exact_number> gradient;
        const bool raw = std::any_of(outputs_.begin(), outputs_.end(), [](const certified_output& o) { return o.name == "raw_scores"; });
        for (const auto& [slice, i] : apart_) {
            if (!wanted(slice, i)) continue;
            if (slice != current) {
                engine.enter(current = slice);
                gradient = engine.no_gradient();
            }
            const evaluated_row<exact_number> row = engine.row(i, raw);
            if (dout_) engine.add_gradient(gradient, i, vector_in<exact_number>((*dout_)[slice][i]), ignore_mask_gradient{});
            for (std::size_t o = 0; o < outputs_.size(); ++o) {
                if (!outputs_[o].of_rows) continue;
                const std::size_t first = first_element_of_row(p_, outputs_[o], slice, i);
                detail::for_each_result(outputs_[o].name, row, engine, gradient, slice, i,
                                        [&](std::size_t e, const exact_number& value) { f(o, first + e * outputs_[o].at.stride.back(), value); });
            }
        }
    }

    /// The gradients that are sums over rows, of the whole case, if there is any such row: f(output, position, value).
    template <class F> void for_each_column(const F& f) const {
        if (none() || std::all_of(outputs_.begin(), outputs_.end(), [](const certified_output& o) { return o.of_rows; })) return;
        attention_engine<exact_number> engine(how_, inputs_, p_);
        gradient_sums<exact_number> sum(p_, outputs_);
        for (std::size_t o = 0; o < outputs_.size(); ++o)
            if (!outputs_[o].of_rows) sum.want(o);
        for (std::size_t slice = 0; slice < p_.slices(); ++slice) {
            engine.enter(slice);
            auto gradient = engine.no_gradient();
            for (std::size_t i = 0; i < engine.rules().queries(slice); ++i)
                engine.add_gradient(gradient, i, vector_in<exact_number>((*dout_)[slice][i]), [&](std::size_t query, std::size_t key, const exact_number& ds) { sum.add_to_mask(slice, query, key, ds); });
            sum.add(engine, gradient, slice);
        }
        for (std::size_t o = 0; o < outputs_.size(); ++o)
            for (std::size_t e = 0; e < sum.of(o).size(); ++e) f(o, e, sum.of(o)[e]);
    }

private:
    const conventions& how_;
    const std::vector<named_view>& inputs_;
    const attention_problem& p_;
    const std::vector<certified_output>& outputs_;
    attention_engine<exact_number> engine_;
    std::optional<matrix_stack> dout_;
    std::vector<std::pair<std::size_t, std::size_t>> rows_, apart_;
};

} // namespace attest
