// SPDX-License-Identifier: BSL-1.0
/// \file
/// The ladder for softmax: its fibres, and their gradients.
#pragma once

#include "attest/oracle/decided.hpp"
#include "attest/oracle/ladder.hpp"

#include <map>

namespace attest {

/// softmax along an axis: `out` and `dx` of every fibre. An x of −∞ is a key that is not there: its weight and its gradient are 0; where all are, the weights are NaN.
struct softmax_rows {
    const softmax_problem& p;
    const array_view* dout; ///< where dx is asked for

    [[nodiscard]] std::size_t position(std::size_t, std::size_t fibre, std::size_t j) const { return p.first(fibre) + j * p.stride(); }
    /// Whether the fibre holds no NaN and no +∞, and its dout numbers alone.
    [[nodiscard]] bool sees_numbers_alone(std::size_t, std::size_t fibre) const {
        for (std::size_t j = 0; j < p.length(); ++j) {
            const std::size_t at = position(0, fibre, j);
            if (const double x = p.x[at]; !(x < detail::infinity_of_double)) return false;
            if (dout != nullptr && p.x[at] != -detail::infinity_of_double && !detail::is_finite_number(decode(*dout, at))) return false;
        }
        return true;
    }

    template <class S> class engine {
    public:
        explicit engine(const softmax_rows& rows) : rows_{rows} {}
        void enter(std::size_t) {}
        /// What the fibre's limits need, and its results: f(name, element, value).
        template <class Begin, class F> void row(std::size_t fibre, const Begin& begin, const F& f) const {
            const softmax_problem& given = rows_.p;
            auto x = vector_in<S>::with_lengths(given.length());
            const auto visible = [&](std::size_t j) { return given.x[rows_.position(0, fibre, j)] != -detail::infinity_of_double; };
            evaluated_row<S> row;
            for (std::size_t j = 0; j < given.length(); ++j)
                if (visible(j)) {
                    x(j) = S(given.x[rows_.position(0, fibre, j)]);
                    row.visible.push_back(j);
                }
            row.weights = softmax(x, visible, empty_row::nan);
            row.lse = log_sum_exp(x, visible);
            row.scores = std::move(x);
            begin(row);
            for (std::size_t j = 0; j < given.length(); ++j) f("out", j, row.weights(j));
            if (rows_.dout == nullptr) return;
            auto da = vector_in<S>::with_lengths(given.length());
            for (const std::size_t j : row.visible) da(j) = S(decode(*rows_.dout, rows_.position(0, fibre, j)));
            const auto dx = softmax_vjp(row.weights, da, visible);
            for (std::size_t j = 0; j < given.length(); ++j) f("dx", j, dx(j));
        }

    private:
        const softmax_rows& rows_;
    };

    /// What exact arguments (oracle/decided.hpp) say of the elements of a fibre.
    class exact_row {
    public:
        exact_row(const softmax_rows& rows, std::size_t, std::size_t fibre) {
            for (std::size_t j = 0; j < rows.p.length(); ++j) {
                const std::size_t at = rows.position(0, fibre, j);
                if (rows.p.x[at] == -detail::infinity_of_double) continue;
                visible_.push_back(j);
                x_.push_back(rows.p.x[at]);
                if (rows.dout != nullptr) da_.push_back(decode(*rows.dout, at));
            }
            in_.bias = x_;
            in_.da = da_;
            row_.emplace(in_);
        }
        exact_row(const exact_row&) = delete; // the row refers to it
        exact_row& operator=(const exact_row&) = delete;
        [[nodiscard]] exact_fact element(std::string_view name, std::size_t j) const {
            const auto at = static_cast<std::size_t>(std::lower_bound(visible_.begin(), visible_.end(), j) - visible_.begin());
            if (at == visible_.size() || visible_[at] != j) return exact_fact::unknown(); // declared
            return name == "dx" ? row_->ds(at) : row_->weight(at);
        }

    private:
        std::vector<std::size_t> visible_;
        std::vector<double> x_, da_;
        decided_inputs in_;
        std::optional<decided_row> row_;
    };
};

/// Rows up the ladder, as `certified_attention` does it, exact arguments included. `Rows`: as `softmax_rows`.
template <class Rows, class Visitor> class certified_rows {
public:
    /// `outputs`: the names asked for; their number is their place.
    certified_rows(const Rows& rows, std::vector<std::string> outputs, Visitor& visitor) : of_{rows}, outputs_{std::move(outputs)}, visitor_{visitor} {}
    void add_row(std::size_t slice, std::size_t i) { rows_.push_back({slice, i, {}, true, false, {}}); }
    /// Asks for one element of a row.
    void add_element(std::size_t output, std::size_t slice, std::size_t i, std::size_t e) { rows_.push_back({slice, i, {{output, e}}, false, false, {}}); }
    void run(rung first, std::size_t precision, const progress& tell) {
        climb(first, precision, [&]<class S>(rung from, bool last) { return attempt<S>(from, last, tell); });
    }

private:
    struct open_row {
        std::size_t slice, i;
        std::vector<std::pair<std::size_t, std::size_t>> elements; // output and element; in the order in which they come
        bool all, asked = false; // not yet visited; exact arguments have been asked
        std::map<std::pair<std::size_t, std::size_t>, exact_rational> exact = {}; // what they gave
    };
    // Finds those of the open elements that an exact argument gives.
    void decide() {
        for (open_row& open : rows_) {
            if (open.all || open.asked) continue;
            open.asked = true;
            const typename Rows::exact_row row(of_, open.slice, open.i);
            for (const auto& [o, e] : open.elements)
                if (exact_fact fact = row.element(outputs_[o], e); fact.has_value()) open.exact.emplace(std::pair(o, e), std::move(fact.value));
        }
    }
    template <class S> bool attempt(rung from, bool last, const progress& tell) {
        typename Rows::template engine<ball<S>> engine(of_);
        if constexpr (std::same_as<S, big_float>) decide(); // before enclosures in many digits
        std::vector<open_row> still_open;
        std::size_t done = 0, slice = static_cast<std::size_t>(-1);
        for (open_row& open : rows_) {
            if (open.slice != slice) engine.enter(slice = open.slice);
            bool clear = true;
            std::vector<std::pair<std::size_t, std::size_t>> left;
            std::size_t at = 0;
            engine.row(
                open.i,
                [&](const evaluated_row<ball<S>>& row) {
                    const row_values values = detail::values_of(row, open.slice, open.i);
                    clear = last || values.near;
                    if (clear) visitor_.begin_row(values);
                },
                [&](std::string_view name, std::size_t e, const ball<S>& value) {
                    const auto o = static_cast<std::size_t>(std::find(outputs_.begin(), outputs_.end(), name) - outputs_.begin());
                    if (!clear || o == outputs_.size()) return;
                    if (!open.all && (at == open.elements.size() || open.elements[at] != std::pair(o, e))) return;
                    ++at;
                    const std::size_t position = of_.position(open.slice, open.i, e);
                    // What an exact argument gives is told where the visitor has its row before it.
                    if (const auto known = open.exact.find({o, e}); known != open.exact.end()) visitor_.decided(o, position, e, known->second, open.slice, open.i);
                    else if (!visitor_.element(certified_element<S>{o, position, e, value, from, last})) left.emplace_back(o, e);
                });
            if (clear) {
                open.elements = std::move(left);
                open.all = false;
            }
            if (!clear || !open.elements.empty()) still_open.push_back(std::move(open));
            if (tell) tell(++done, rows_.size());
        }
        rows_ = std::move(still_open);
        return !rows_.empty();
    }

    const Rows& of_;
    std::vector<std::string> outputs_;
    Visitor& visitor_;
    std::vector<open_row> rows_;
};

} // namespace attest
