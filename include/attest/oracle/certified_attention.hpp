// SPDX-License-Identifier: BSL-1.0
/// \file
/// Attention's results up the ladder (oracle/ladder.hpp). Rows climb by themselves; dk, dv and dmask are sums over rows, and climb as a whole.
#pragma once

#include "attest/oracle/decided_attention.hpp"
#include "attest/oracle/double_double_rows.hpp"
#include "attest/oracle/double_rows.hpp"
#include "attest/oracle/ladder.hpp"

#include <map>

namespace attest {

/// Attention's results, up the ladder. `Visitor` has
///
///     void begin_row(row_values)                                 before the elements of a row, on every rung that evaluates it
///     bool element(const certified_element<S>&)                  whether it is settled
///     void begin_slice(const attention_engine<ball<S>>&, slice)  before the rows of a slice
///     void begin_columns()                                       before the first slice, on a rung that gives the sums over rows
///     void end_slice(const slice_gradient<ball<S>>&, slice)      after the rows of a slice, on such a rung: all of them
///     void decided(output, position, in_row, exact_rational, slice, i)   what an exact argument gives; the row was begun before
///
/// Rows that are padding, and rows that see a NaN or an infinity (`finite_row`), are not visited.
template <class Visitor> class certified_attention {
public:
    certified_attention(const conventions& how, const std::vector<named_view>& inputs, const attention_problem& p, std::vector<certified_output> outputs, Visitor& visitor,
                        const fast::kernels& kernels = fast::compiled_kernels())
        : how_{how}, inputs_{inputs}, p_{p}, outputs_{std::move(outputs)}, visitor_{visitor}, fits_{fits_in_blocks(how, inputs, p)}, in_double_(how, p, kernels), in_double_double_(how, p, kernels) {
        for (std::size_t o = 0; o < outputs_.size(); ++o) (outputs_[o].of_rows ? any_rows_ : any_columns_) = true;
        if (const array_view* const dout = find(inputs, "dout")) dout_ = stack_of("dout", *dout, how.layout);
    }

    /// Asks for a row's elements.
    void add_row(std::size_t slice, std::size_t i) { rows_.push_back({slice, i, {}, true, false, {}}); }
    /// Asks for one element of a row, by its position in the output, and for nothing else of this ladder. Its slice and row; nothing if there is no such element.
    std::optional<std::pair<std::size_t, std::size_t>> add_element(std::size_t output, std::size_t position) {
        const certified_output& of = outputs_[output];
        const std::size_t length = of.name == "lse" ? 1 : of.name == "out" || of.name == "dq" ? of.at.length.back() : p_.n_k;
        for (std::size_t slice = 0; slice < p_.slices(); ++slice)
            for (std::size_t i = 0; i < p_.n_q; ++i)
                for (std::size_t e = 0, first = first_element_of_row(p_, of, slice, i); e < length; ++e)
                    if (first + e * of.at.stride.back() == position) {
                        rows_.push_back({slice, i, {{output, e}}, false, false, {}});
                        return std::pair(slice, i);
                    }
        return std::nullopt;
    }
    /// Asks for an element of a sum over rows; `at`: its index in the output.
    void add_column_element(std::size_t output, std::size_t position) { columns_.emplace_back(output, position); }

    void run(rung first, const progress& tell) {
        climb(first, how_.precision, [&]<class S>(rung from, bool last) { return attempt<S>(from, last, tell); });
    }

private:
    // The elements that are open: pairs of output and element of the row.
    struct open_row {
        std::size_t slice, i;
        std::vector<std::pair<std::size_t, std::size_t>> elements;
        bool all, asked = false; // not yet visited; exact arguments have been asked
        std::map<std::pair<std::size_t, std::size_t>, exact_rational> exact = {}; // what they gave
    };
    template <class S> bool attempt(rung from, bool last, const progress& tell) {
        attention_engine<ball<S>> engine(how_, inputs_, p_);
        // Before enclosures in many digits: what exact arguments say, once.
        if constexpr (std::same_as<S, big_float>) {
            decide(engine);
            if (rows_.empty() && columns_.empty()) return false;
        }
        const bool columns = !columns_.empty();
        gradient_sums<ball<S>> sum(p_, outputs_);
        for (const auto& [output, position] : columns_) sum.want(output);
        if (columns) visitor_.begin_columns();
        bool all_clear = true;
        const bool in_blocks = !std::same_as<S, big_float> && !any_columns_ && fits_ && !wants("raw_scores") && !wants("dq");
        std::vector<open_row> still_open;
        std::size_t done = 0, next = 0;
        for (std::size_t slice = 0; slice < p_.slices(); ++slice) {
            std::size_t end = next;
            while (end < rows_.size() && rows_[end].slice == slice) ++end;
            if (end == next && !columns) continue;
            engine.enter(slice);
            visitor_.begin_slice(engine, slice);
            if constexpr (!std::same_as<S, big_float>)
                if (in_blocks) {
                    auto& blocks = blocks_of<S>();
                    blocks.enter(engine, slice);
                    for (; next < end; next += std::min(blocks.block(), end - next)) evaluate_block<S>(engine, {rows_.data() + next, std::min(blocks.block(), end - next)}, slice, from, still_open, done, tell);
                    continue;
                }
            auto gradient = engine.no_gradient();
            const std::size_t first = columns ? 0 : rows_[next].i, rows = engine.rules().queries(slice);
            for (std::size_t i = first; i < rows && (columns || next < end); ++i) {
                open_row* const open = next < end && rows_[next].i == i ? &rows_[next++] : nullptr;
                if (open == nullptr && !columns) {
                    i = rows_[next].i - 1;
                    continue;
                }
                if (evaluate_row<S>(all_clear, engine, gradient, slice, i, open, columns, sum, from, last)) still_open.push_back(std::move(*open));
                if (tell) tell(++done, std::max(rows_.size(), columns ? p_.slices() * p_.n_q : 0));
            }
            next = end;
            if (!columns) continue;
            sum.add(engine, gradient, slice);
            visitor_.end_slice(gradient, slice);
        }
        if (columns && (all_clear || last)) {
            std::vector<std::pair<std::size_t, std::size_t>> open;
            for (const auto& [output, position] : columns_)
                if (!visitor_.element(certified_element<S>{output, position, 0, sum.of(output)[position], from, last})) open.emplace_back(output, position);
            columns_ = std::move(open);
            columns_seen_ = true;
        }
        rows_ = std::move(still_open);
        return !rows_.empty() || !columns_.empty();
    }

    // Finds those of the open elements that an exact argument gives.
    void decide(attention_engine<ball<big_float>>& engine) {
        decided_attention<ball<big_float>> exact(how_, inputs_, p_, engine, dout_);
        std::size_t slice = static_cast<std::size_t>(-1);
        for (open_row& open : rows_) {
            if (open.all || open.asked) continue; // not even its weights are known to 2^−32 yet; or all is said
            open.asked = true;
            if (open.slice != slice) engine.enter(slice = open.slice);
            const std::vector<std::size_t> visible = engine.visible_keys(open.i);
            exact.enter(open.slice, open.i, visible);
            for (const auto& [o, element] : open.elements)
                if (exact_fact fact = exact.element(outputs_[o].name, element); fact.has_value()) open.exact.emplace(std::pair(o, element), std::move(fact.value));
        }
        if (!columns_decided_ && columns_seen_ && !columns_.empty()) decide_columns(engine, exact);
    }
    // Exact sums of what all rows give. Of a mask each pair of query and key is asked for once; of the others each row for each open element.
    void decide_columns(attention_engine<ball<big_float>>& engine, decided_attention<ball<big_float>>& exact) {
        columns_decided_ = true;
        struct open_sum {
            std::size_t own_slice = 0, own_row = 0, component = 0; // not of dmask
            exact_sum sum;
        };
        std::vector<open_sum> sums(columns_.size());
        std::vector<std::size_t> others;                                    // of dk, dv and dq
        std::map<std::pair<std::size_t, std::size_t>, std::size_t> of_mask; // of dmask, by output and position
        for (std::size_t at = 0; at < columns_.size(); ++at) {
            if (outputs_[columns_[at].first].of == nullptr) of_mask.emplace(columns_[at], at);
            else {
                find_element(columns_[at], sums[at].own_slice, sums[at].own_row, sums[at].component);
                others.push_back(at);
            }
        }
        if ((others.size() + (of_mask.empty() ? 0 : p_.n_k)) * p_.slices() * p_.n_q > greatest_exact_sums) return;
        // What row i of the slice gives to an element of dq, dk or dv.
        const auto given = [&](const certified_output& output, const open_sum& to, std::size_t slice, std::size_t i, const std::vector<std::size_t>& visible) {
            if (source_slice(p_.batch, output.of->batch, slice) != to.own_slice) return exact_fact::of(0);
            if (output.name == "dq") return i == to.own_row ? exact.row().dq(to.component) : exact_fact::of(0);
            const auto key = std::lower_bound(visible.begin(), visible.end(), to.own_row);
            if (key == visible.end() || *key != to.own_row) return exact_fact::of(0);
            const auto j = static_cast<std::size_t>(key - visible.begin());
            return output.name == "dv" ? exact.row().dv(j, to.component) : exact.row().dk_before_scale(j, to.component);
        };
        for (std::size_t slice = 0; slice < p_.slices(); ++slice) {
            engine.enter(slice);
            for (std::size_t i = 0; i < engine.rules().queries(slice); ++i) {
                const std::vector<std::size_t> visible = engine.visible_keys(i);
                exact.enter(slice, i, visible);
                for (const std::size_t at : others) sums[at].sum.add(given(outputs_[columns_[at].first], sums[at], slice, i, visible));
                for (std::size_t o = 0; o < outputs_.size() && !of_mask.empty(); ++o) {
                    if (outputs_[o].name != "dmask") continue;
                    for (std::size_t j = 0; j < visible.size(); ++j) {
                        const auto open = of_mask.find({o, gradient_sums<ball<big_float>>::position_in_mask(p_, outputs_[o], slice, i, visible[j])});
                        if (open != of_mask.end()) sums[open->second].sum.add(exact.row().ds(j));
                    }
                }
            }
        }
        std::vector<std::pair<std::size_t, std::size_t>> left;
        for (std::size_t at = 0; at < columns_.size(); ++at) {
            const auto [o, position] = columns_[at];
            const exact_fact fact = outputs_[o].name == "dk" ? times(sums[at].sum.result(), exact.scale()) : sums[at].sum.result();
            if (fact.has_value()) visitor_.decided(o, position, 0, fact.value, 0, 0);
            else left.push_back(columns_[at]);
        }
        columns_ = std::move(left);
    }
    // The own slice, row and component of an element of dk, dv or dq.
    void find_element(const std::pair<std::size_t, std::size_t>& element, std::size_t& slice, std::size_t& row, std::size_t& component) const {
        const certified_output& output = outputs_[element.first];
        if (output.of == nullptr) return;
        for (slice = 0; slice < element_count(output.of->batch); ++slice)
            for (row = 0; row < output.of->rows; ++row) {
                const std::size_t first = first_of_row(output.at, output.of->batch, slice, row);
                for (component = 0; component < output.of->columns; ++component)
                    if (first + component * output.at.stride.back() == element.second) return;
            }
    }

    // The rungs that evaluate rows in blocks.
    template <class S> [[nodiscard]] auto& blocks_of() {
        if constexpr (std::same_as<S, double>) return in_double_;
        else return in_double_double_;
    }
    // Rows of a slice; those that stay open are added to `still_open`. Rows that are not clear in blocks take the formula itself on the second rung, and wait for that on the
    // first.
    template <class S> void evaluate_block([[maybe_unused]] attention_engine<ball<S>>& engine, std::span<open_row> rows, std::size_t slice, rung from, std::vector<open_row>& still_open, std::size_t& done, const progress& tell) {
        auto& blocks = blocks_of<S>();
        std::vector<std::size_t> numbers;
        for (const open_row& open : rows) numbers.push_back(open.i);
        blocks.evaluate(numbers);
        [[maybe_unused]] std::optional<slice_gradient<ball<S>>> none;
        [[maybe_unused]] std::optional<gradient_sums<ball<S>>> no_sum;
        for (std::size_t r = 0; r < rows.size(); ++r) {
            open_row& open = rows[r];
            bool is_open = true;
            if (blocks.is_clear(r)) {
                visitor_.begin_row(blocks.values(r, slice));
                is_open = visit_open<S>(open, slice, from, false, [&](std::string_view name, const auto& f) { blocks.for_each_result(name, r, f); });
            } else if constexpr (std::same_as<S, double_double>) {
                bool clear = true;
                if (!none) {
                    none = engine.no_gradient();
                    no_sum.emplace(p_, outputs_);
                }
                is_open = evaluate_row<S>(clear, engine, *none, slice, open.i, &open, false, *no_sum, from, false);
            }
            if (is_open) still_open.push_back(std::move(open));
            if (tell) tell(++done, rows_.size());
        }
    }

    // Whether the row is still open.
    template <class S, class Gradient>
    bool evaluate_row(bool& all_clear, attention_engine<ball<S>>& engine, Gradient& gradient, std::size_t slice, std::size_t i, open_row* open, bool columns, gradient_sums<ball<S>>& sum, rung from, bool last) {
        const evaluated_row<ball<S>> row = engine.row(i, wants("raw_scores"));
        row_values values = detail::values_of(row, slice, i);
        const bool clear = last || values.near;
        all_clear = all_clear && clear;
        if (dout_ && (columns || wants("dq"))) {
            const vector_in<ball<S>> dz((*dout_)[slice][i]);
            engine.add_gradient(gradient, i, dz, [&](std::size_t query, std::size_t key, const ball<S>& ds) { sum.add_to_mask(slice, query, key, ds); });
        }
        if (dout_)
            for (std::size_t c = 0; c < gradient.dq.length(1); ++c) values.dq.push_back(gradient.dq(i, c).nearest_double());
        if (clear) visitor_.begin_row(std::move(values));
        if (open == nullptr) return false;
        if (!clear) return true;
        return visit_open<S>(*open, slice, from, last, [&](std::string_view name, const auto& f) { detail::for_each_result(name, row, engine, gradient, slice, i, f); });
    }

    // Tells the visitor what a rung says of the open elements of a row: `results(name, f)` calls f(element, value) for all of one result. Whether any stays open.
    template <class S, class Results> bool visit_open(open_row& open, std::size_t slice, rung from, bool last, const Results& results) {
        std::vector<std::pair<std::size_t, std::size_t>> left;
        const auto visit = [&](std::size_t o, std::size_t e, const ball<S>& value) {
            const std::size_t position = first_of(o, slice, open.i) + e * outputs_[o].at.stride.back();
            // What an exact argument gives is told where the visitor has its row before it.
            if (const auto known = open.exact.find({o, e}); known != open.exact.end()) visitor_.decided(o, position, e, known->second, slice, open.i);
            else if (!visitor_.element(certified_element<S>{o, position, e, value, from, last})) left.emplace_back(o, e);
        };
        if (open.all) {
            for (std::size_t o = 0; o < outputs_.size(); ++o)
                if (outputs_[o].of_rows) results(outputs_[o].name, [&](std::size_t e, const ball<S>& value) { visit(o, e, value); });
        } else {
            std::size_t at = 0;
            for (std::size_t o = 0; o < outputs_.size(); ++o) {
                if (at == open.elements.size() || open.elements[at].first != o) continue;
                results(outputs_[o].name, [&](std::size_t e, const ball<S>& value) {
                    if (at == open.elements.size() || open.elements[at] != std::pair(o, e)) return;
                    ++at;
                    visit(o, e, value);
                });
            }
        }
        open.elements = std::move(left);
        open.all = false;
        return !open.elements.empty();
    }

    [[nodiscard]] bool wants(std::string_view name) const {
        return std::any_of(outputs_.begin(), outputs_.end(), [&](const certified_output& o) { return o.name == name; });
    }
    [[nodiscard]] std::size_t first_of(std::size_t o, std::size_t slice, std::size_t i) const { return first_element_of_row(p_, outputs_[o], slice, i); }
    const conventions& how_;
    const std::vector<named_view>& inputs_;
    const attention_problem& p_;
    std::vector<certified_output> outputs_;
    Visitor& visitor_;
    bool fits_; // in blocks
    double_rows in_double_;
    double_double_rows in_double_double_;
    bool any_rows_ = false, any_columns_ = false;
    std::optional<matrix_stack> dout_;
    std::vector<open_row> rows_; // by slice, then row
    std::vector<std::pair<std::size_t, std::size_t>> columns_;
    bool columns_seen_ = false, columns_decided_ = false;
    static constexpr std::size_t greatest_exact_sums = 10'000'000;
};

} // namespace attest
