// SPDX-License-Identifier: BSL-1.0
/// \file
/// Attention's results up the ladder (oracle/ladder.hpp). Rows climb by themselves; dk, dv and dmask are sums over rows, and climb as a whole.
#pragma once

#include "attest/oracle/decided_columns.hpp"
#include "attest/oracle/double_double_gradients.hpp"
#include "attest/oracle/double_gradients.hpp"
#include "attest/oracle/ladder.hpp"

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
/// A visitor with a member `looks_back` says that what settles an element depends on others: what could have been the greatest of all that came before need not be known so
/// well when all have come. Sums over rows are told to it twice by a rung. One with a member `ignores_rows` is told of a row its slice and number alone, where that is cheaper.
///
/// Rows that are padding, and rows that see a NaN or an infinity (`finite_row`), are not visited.
template <class Visitor> class certified_attention {
public:
    certified_attention(const conventions& how, const std::vector<named_view>& inputs, const attention_problem& p, std::vector<certified_output> outputs, Visitor& visitor,
                        const fast::kernels& kernels = fast::compiled_kernels())
        : how_{how}, inputs_{inputs}, p_{p}, outputs_{std::move(outputs)}, visitor_{visitor}, fits_{fits_in_blocks(how, inputs, p)}, in_double_(how, p, kernels), in_double_double_(how, p, kernels), gradients_in_double_(p, kernels),
          gradients_in_double_double_(p, kernels) {
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
        climb(first, how_.precision, [&]<class S>(rung from, bool last) {
            // What bounds of whole rows leave open, a later rung must be able to settle.
            constexpr std::size_t bits_of_pairs = 106;
            const bool in_blocks = (std::same_as<S, double> || (std::same_as<S, double_double> && how_.precision > bits_of_pairs)) && fits_ && !wants("raw_scores");
            const bool open = attempt<S>(from, last, in_blocks, tell);
            // What bounds of whole rows and columns leave open is dear on the next rung, sums over rows most of all, and most likely settled by the formula itself on this one.
            if (!std::same_as<S, double_double> || !in_blocks || !open) return open;
            return attempt<S>(from, last, false, tell);
        });
    }

private:
    static constexpr bool visitor_looks_back = requires { Visitor::looks_back; }, visitor_wants_rows = !requires { Visitor::ignores_rows; };

    // The elements that are open: pairs of output and element of the row.
    struct open_row {
        std::size_t slice, i;
        std::vector<output_element> elements;
        bool all, asked = false; // not yet visited; exact arguments have been asked
        std::map<output_element, exact_rational> exact = {}; // what they gave
    };
    template <class S> bool attempt(rung from, bool last, bool in_blocks, const progress& tell) {
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
        std::vector<open_row> still_open;
        std::size_t done = 0, next = 0;
        for (std::size_t slice = 0; slice < p_.slices(); ++slice) {
            std::size_t end = next;
            while (end < rows_.size() && rows_[end].slice == slice) ++end;
            if (end == next && !columns) continue;
            engine.enter(slice);
            visitor_.begin_slice(engine, slice);
            // Made where there is something to write to it.
            std::optional<slice_gradient<ball<S>>> gradient;
            if (!in_blocks || columns || (dout_ && wants("dq"))) gradient = engine.no_gradient();
            if constexpr (!std::same_as<S, big_float>)
                if (in_blocks) evaluate_blocks<S>(all_clear, engine, gradient, slice, {rows_.data() + next, end - next}, columns, sum, from, still_open, done, tell);
            const std::size_t first = columns ? 0 : rows_[next].i, rows = in_blocks ? 0 : engine.rules().queries(slice);
            for (std::size_t i = first; i < rows && (columns || next < end); ++i) {
                open_row* const open = next < end && rows_[next].i == i ? &rows_[next++] : nullptr;
                if (open == nullptr && !columns) {
                    i = rows_[next].i - 1;
                    continue;
                }
                if (evaluate_row<S>(all_clear, engine, *gradient, slice, i, open, columns, sum, from, last)) still_open.push_back(std::move(*open));
                if (tell) tell(++done, std::max(rows_.size(), columns ? p_.slices() * p_.n_q : 0));
            }
            next = end;
            if (!columns) continue;
            sum.add(engine, *gradient, slice);
            visitor_.end_slice(*gradient, slice);
        }
        if (columns && (all_clear || last)) {
            for (int pass = 0; pass < (visitor_looks_back ? 2 : 1); ++pass) {
                std::vector<output_element> open;
                for (const auto& [output, position] : columns_)
                    if (!visitor_.element(certified_element<S>{output, position, 0, sum.of(output)[position], from, last})) open.emplace_back(output, position);
                columns_ = std::move(open);
            }
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
        if (columns_decided_ || !columns_seen_ || columns_.empty()) return;
        columns_decided_ = true;
        columns_ = decide_columns(p_, outputs_, columns_, engine, exact, [&](std::size_t o, std::size_t position, const exact_rational& value) { visitor_.decided(o, position, 0, value, 0, 0); });
    }
    // The rungs that evaluate rows in blocks.
    template <class S> [[nodiscard]] auto& blocks_of() {
        if constexpr (std::same_as<S, double>) return in_double_;
        else return in_double_double_;
    }
    template <class S> [[nodiscard]] auto& gradients_of() {
        if constexpr (std::same_as<S, double>) return gradients_in_double_;
        else return gradients_in_double_double_;
    }
    // Rows of a slice: those that are open, and all where sums over rows are asked for. Those that stay open are added to `still_open`.
    template <class S>
    void evaluate_blocks(bool& all_clear, attention_engine<ball<S>>& engine, std::optional<slice_gradient<ball<S>>>& gradient, std::size_t slice, std::span<open_row> open, bool columns, gradient_sums<ball<S>>& sum, rung from,
                         std::vector<open_row>& still_open, std::size_t& done, const progress& tell) {
        auto& blocks = blocks_of<S>();
        auto& gradients = gradients_of<S>();
        const bool graded = dout_ && (columns || wants("dq"));
        const std::size_t queries = engine.rules().queries(slice), count = columns ? queries : open.size(), block = blocks.block(graded);
        blocks.enter(engine, slice);
        if (graded) gradients.enter(blocks, (*dout_)[slice], queries, block);
        std::size_t next = 0;
        for (std::size_t begin = 0; begin < count; begin += block) {
            std::vector<std::size_t> rows;
            for (std::size_t at = begin; at < std::min(begin + block, count); ++at) rows.push_back(columns ? at : open[at].i);
            blocks.evaluate(rows);
            if (graded) gradients.add(blocks, rows);
            for (std::size_t r = 0; r < rows.size(); ++r) {
                open_row* const row = next < open.size() && open[next].i == rows[r] ? &open[next++] : nullptr;
                bool is_open = row != nullptr;
                if (blocks.is_clear(r) && (!graded || gradients.is_clear(r))) is_open = visit_row<S>(gradient, slice, rows[r], r, row, columns, graded, sum, from);
                // On the first rung a row that is not clear can wait for the second, but for sums over rows.
                else if (columns || std::same_as<S, double_double>) {
                    if (!gradient) gradient = engine.no_gradient();
                    is_open = evaluate_row<S>(all_clear, engine, *gradient, slice, rows[r], row, columns, sum, from, false);
                }
                if (is_open) still_open.push_back(std::move(*row));
                if (tell) tell(++done, std::max(rows_.size(), columns ? p_.slices() * p_.n_q : 0));
            }
        }
        if (!columns) return;
        for (std::size_t j = 0; j < p_.n_k; ++j) {
            for (std::size_t c = 0; c < p_.d_k; ++c) gradient->dk(j, c) = gradient->dk(j, c) + gradients.dk(j, c);
            for (std::size_t c = 0; c < p_.d_v; ++c) gradient->dv(j, c) = gradient->dv(j, c) + gradients.dv(j, c);
        }
    }
    // Row i, which is row r of a block that was evaluated. Whether it is still open.
    template <class S> bool visit_row(std::optional<slice_gradient<ball<S>>>& gradient, std::size_t slice, std::size_t i, std::size_t r, open_row* open, bool columns, bool graded, gradient_sums<ball<S>>& sum, rung from) {
        auto& blocks = blocks_of<S>();
        auto& gradients = gradients_of<S>();
        row_values values{slice, i, {}, {}, {}, {}, 0, true, {}};
        if constexpr (visitor_wants_rows) values = blocks.values(r, slice);
        if (graded)
            for (std::size_t c = 0; c < p_.d_k; ++c) {
                gradient->dq(i, c) = gradients.dq(r, c);
                values.dq.push_back(gradient->dq(i, c).nearest_double());
            }
        if (columns && wants("dmask"))
            for (std::size_t j = 0; j < p_.n_k; ++j)
                if (blocks.visible(r, j)) sum.add_to_mask(slice, i, j, gradients.ds(r, j));
        visitor_.begin_row(std::move(values));
        return open != nullptr && visit_open<S>(*open, slice, from, false, [&](std::string_view name, const auto& f) {
            if (name != "dq") return blocks.for_each_result(name, r, f);
            for (std::size_t c = 0; c < p_.d_k; ++c) f(c, gradients.dq(r, c));
        });
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
        std::vector<output_element> left;
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
    double_gradients gradients_in_double_;
    double_double_gradients gradients_in_double_double_;
    bool any_rows_ = false, any_columns_ = false;
    std::optional<matrix_stack> dout_;
    std::vector<open_row> rows_; // by slice, then row
    std::vector<output_element> columns_;
    bool columns_seen_ = false, columns_decided_ = false;
};

} // namespace attest
