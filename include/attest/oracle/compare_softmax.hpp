// SPDX-License-Identifier: BSL-1.0
/// \file
/// Softmax's candidates against their certified values, up the ladder, and against both limits.
#pragma once

#include "attest/oracle/attention_facts.hpp"
#include "attest/oracle/certified_softmax.hpp"
#include "attest/oracle/comparison.hpp"
#include "attest/oracle/gradient_limits_softmax.hpp"

#include <deque>

namespace attest::detail {

// The visitor of the ladder: makes the limits of what it is told, and asks the judges.
class softmax_comparison {
public:
    /// `x`, `gradient`: of x, and of x and dout.
    softmax_comparison(std::vector<output_judge>& judges, check_result& result, const softmax_rows& rows, input_width x, input_width gradient)
        : judges_{judges}, result_{result}, rows_{rows}, x_{x}, inputs_of_gradient_{gradient} {
        for (const output_judge& judge : judges)
            for (const arithmetic* a : judge.possible())
                if (!ranges::contains(arithmetics_, a)) arithmetics_.push_back(a);
    }

    void begin_row(const row_values& values) {
        const stopwatch_of timing(result_.seconds.compare);
        values_ = values;
        facts_ = {};
        facts_.score = values.scores;
        facts_.weight = values.weights;
        facts_.lse = values.lse;
        facts_.scores_are_inputs = true;
        facts_.rule.inputs = x_;
        forward_.clear();
        for (const arithmetic* a : arithmetics_) forward_.push_back(std::make_unique<forward_limits>(*a, facts_, result_.lambda));
        if (rows_.dout == nullptr) return;
        gradient_facts_ = {values.scores, values.weights, {}, values.lse, inputs_of_gradient_};
        for (const std::size_t j : values.visible) gradient_facts_.da.push_back(decode(*rows_.dout, rows_.position(0, values.i, j)));
        gradient_.clear();
        for (const arithmetic* a : arithmetics_) gradient_.emplace_back(*a, gradient_facts_, result_.lambda);
    }
    template <class S> bool element(const certified_element<S>& e) {
        const rounded_ends ends = ends_of(judges_[e.output].stored(), e.value);
        const enclosure exact = enclosure_of(e.value);
        if (!e.last && (!exact.known || !ends.agree())) return false;
        return ask(e.output, e.position, e.in_row, exact, ends, e.from, e.last);
    }
    void decided(std::size_t output, std::size_t position, std::size_t in_row, const exact_rational& x, std::size_t, std::size_t) {
        const double rounded = round_to(judges_[output].stored(), x);
        (void)ask(output, position, in_row, attest::enclosure_of(x), {rounded, rounded}, rung::decided, true);
    }
    void apart(std::size_t output, std::size_t position, std::size_t fibre, const exact_number& value) { not_judged(output, position, fibre, value); }

private:
    bool ask(std::size_t output, std::size_t position, std::size_t in_row, const enclosure& exact, const rounded_ends& ends, rung from, bool last) {
        const stopwatch_of timing(result_.seconds.compare);
        output_judge& judge = judges_[output];
        const bool gradient = judge.name() == "dx";
        const auto at = static_cast<std::size_t>(std::lower_bound(values_.visible.begin(), values_.visible.end(), in_row) - values_.visible.begin());
        const bool seen = at < values_.visible.size() && values_.visible[at] == in_row;
        element_facts facts{.exact = exact.value, .radius = exact.known ? exact.radius : ldexp(exact_number(1), 3000), .rounded_low = ends.low, .rounded_high = ends.high, .from = from, .last = last, .limits = {}, .row = values_.i};
        const double size = size_of(static_cast<double>(exact.value));
        if (gradient) facts.reach = size > 0 ? size : infinity_of_double;
        else {
            facts.reach = reach_of_weight(static_cast<double>(exact.value), values_.visible.size());
            facts.hull_low = 0;
            facts.hull_high = 1;
        }
        limits_.clear();
        for (const arithmetic* a : judge.possible()) {
            const auto number = static_cast<std::size_t>(ranges::find(arithmetics_, a) - arithmetics_.begin());
            limits_.push_back(!values_.near ? element_limits{} : !seen ? element_limits{0, 0, 0} : gradient ? gradient_[number].dx(at) : forward_[number]->weight(at));
        }
        facts.limits = limits_;
        return judge.element(position, facts);
    }
    void not_judged(std::size_t output, std::size_t position, std::optional<std::size_t> row, const exact_number& value) {
        output_judge& judge = judges_[output];
        const double rounded = round_to(judge.stored(), value);
        const std::vector<element_limits> nothing(judge.possible().size());
        (void)judge.element(position, {.exact = value, .radius = exact_number(0), .rounded_low = rounded, .rounded_high = rounded, .from = rung::in_real, .last = true, .limits = nothing, .judged = false, .row = row});
    }

    std::vector<output_judge>& judges_;
    check_result& result_;
    std::vector<element_limits> limits_;
    const softmax_rows& rows_;
    input_width x_;
    std::vector<const arithmetic*> arithmetics_;
    row_values values_;
    row_facts facts_;
    std::vector<std::unique_ptr<forward_limits>> forward_;
    input_width inputs_of_gradient_;
    softmax_gradient_facts gradient_facts_;
    std::deque<softmax_gradient_limits> gradient_;
};

inline void compare_softmax(const conventions& how, const std::vector<named_view>& inputs, const std::vector<named_view>& candidates, std::vector<output_judge>& judges,
                            check_result& result, const std::optional<row_sample>& sample, const progress& tell) {
    stopwatch watch;
    const softmax_problem p = make_softmax_problem(how, inputs);
    std::vector<std::string> names;
    for (const output_judge& judge : judges) {
        require_shape(judge, find(candidates, judge.name())->shape, p.shape);
        names.push_back(judge.name());
    }
    const softmax_rows rows{p, ranges::contains(names, "dx") ? &dout_of(inputs, how.op, p.shape) : nullptr};
    softmax_comparison comparison(judges, result, rows, width_of({find(inputs, "x")}), width_of({find(inputs, "x"), rows.dout}));
    certified_rows ladder(rows, names, comparison);
    softmax_rows::engine<exact_number> plain(rows);
    const chosen_rows chosen(p.fibres(), sample);
    for (std::size_t fibre = 0; fibre < p.fibres(); ++fibre) {
        if (!chosen.has(fibre)) continue;
        if (rows.sees_numbers_alone(0, fibre)) ladder.add_row(0, fibre);
        else
            plain.row(fibre, [](const auto&) {}, [&](std::string_view name, std::size_t e, const exact_number& value) {
                const auto o = static_cast<std::size_t>(ranges::find(names, name) - names.begin());
                if (o < names.size()) comparison.apart(o, rows.position(0, fibre, e), fibre, value);
            });
    }
    result.rows_checked = chosen.count();
    result.rows_total = chosen.total();
    const bool any_narrow = ranges::any_of(judges, [](const output_judge& judge) { return !(judge.stored() == formats::f64); });
    ladder.run(any_narrow ? rung::in_double : rung::in_double_double, how.precision, tell);
    for (std::size_t o = 0; o < judges.size(); ++o)
        for (const std::size_t position : judges[o].shown(arithmetic_in_force(judges[o], how, candidates))) {
            showing_visitor show{judges};
            certified_rows one(rows, names, show);
            const std::size_t e = position / p.stride() % p.length(), fibre = position / p.stride() / p.length() * p.stride() + position % p.stride();
            if (!rows.sees_numbers_alone(0, fibre)) continue;
            one.add_element(o, 0, fibre, e);
            one.run(rung::in_double_double, how.precision, {});
        }
    result.seconds.evaluate += watch.lap() - result.seconds.compare;
}

} // namespace attest::detail
