// SPDX-License-Identifier: BSL-1.0
/// \file
/// Attention's candidates against its certified values, up the ladder, and against both limits.
#pragma once

#include "attest/oracle/attention_gradient_facts.hpp"
#include "attest/oracle/certified_attention.hpp"
#include "attest/oracle/comparison.hpp"
#include "attest/oracle/not_numbers.hpp"

namespace attest::detail {

// The visitor of the ladder: makes the limits of what it is told, and asks the judges.
class attention_comparison {
public:
    static constexpr bool looks_back = true; // the report shows the greatest of all

    attention_comparison(const conventions& how, const std::vector<named_view>& inputs, const attention_problem& p, const std::vector<certified_output>& outputs,
                         std::vector<output_judge>& judges, double lambda, const fast::limit_kernels& kernels)
        : p_{p}, outputs_{outputs}, judges_{judges}, lambda_{lambda} {
        for (const output_judge& judge : judges)
            for (const arithmetic* a : judge.possible())
                if (!ranges::contains(arithmetics_, a)) arithmetics_.push_back(a);
        for (const output_judge& judge : judges) {
            std::vector<std::size_t>& number = numbers_.emplace_back();
            for (const arithmetic* a : judge.possible()) number.push_back(static_cast<std::size_t>(ranges::find(arithmetics_, a) - arithmetics_.begin()));
        }
        const bool stored_scores = ranges::any_of(arithmetics_, [](const arithmetic* a) { return a->score > 0; });
        facts_.emplace(how, inputs, p, stored_scores, kernels);
        if (ranges::any_of(outputs, [](const certified_output& o) { return is_gradient(o.name); })) gradients_.emplace(how, inputs, p, outputs, arithmetics_, *facts_, lambda);
    }
    /// Rows of dk and dv that will be asked for.
    void wants(std::size_t output, std::size_t own_slice, std::size_t row) { gradients_->wants(output, own_slice, row); }
    /// What limits and verdicts took.
    [[nodiscard]] double seconds() const { return seconds_; }

    template <class S> void begin_slice(const attention_engine<ball<S>>& engine, std::size_t slice) {
        slice_ = slice;
        facts_->enter(engine, slice);
        rounded_of_.reset();
        seen_.enter(facts_->values());
        if (gradients_) gradients_->begin_slice(engine, slice);
    }
    void begin_row(row_values values) {
        const stopwatch_of timing(seconds_);
        values_ = std::move(values);
        all_near_ = all_near_ && values.near;
        row_ = facts_->row(values_, std::move(row_));
        forward_.clear();
        for (const arithmetic* a : arithmetics_) forward_.push_back(std::make_unique<forward_limits>(*a, row_, lambda_));
        moves_.reset();
        out_.resize(arithmetics_.size());
        for (forward_limits::output_limits& of : out_) of.limits.clear();
        if (gradients_) gradients_->row(values_, row_, forward_);
    }
    template <class S> void end_slice(const slice_gradient<ball<S>>& gradient, std::size_t slice) {
        if (gradients_) gradients_->end_slice(gradient, slice);
    }
    void begin_columns() {
        all_near_ = true;
        if (gradients_) gradients_->begin();
    }

    template <class S> bool element(const certified_element<S>& e) {
        output_judge& judge = judges_[e.output];
        const rounded_ends ends = ends_of(judge.stored(), e.value);
        if (const std::optional<ball_in_doubles> doubles = in_doubles(e.value)) {
            if (!e.last && !ends.agree()) return false;
            return ask(e.output, e.position, e.in_row, doubles->high, {.rounded_low = ends.low, .rounded_high = ends.high, .from = e.from, .last = e.last, .limits = {}, .doubles = doubles});
        }
        const enclosure exact = enclosure_of(e.value);
        if (!exact.known && outputs_[e.output].name == "raw_scores")
            if (const std::optional<double> other = raw_of_no_numbers(e.in_row)) {
                not_judged(e.output, e.position, exact_number(*other));
                return true;
            }
        // Without the last rung, an end that is not settled needs no limits.
        if (!e.last && (!exact.known || !ends.agree())) return false;
        return ask(e.output, e.position, e.in_row, exact, ends, e.from, e.last);
    }
    void decided(std::size_t output, std::size_t position, std::size_t in_row, const exact_rational& x, std::size_t slice, std::size_t i) {
        (void)slice;
        (void)i;
        const double rounded = round_to(judges_[output].stored(), x);
        (void)ask(output, position, in_row, attest::enclosure_of(x), {rounded, rounded}, rung::decided, true);
    }
    /// An element of a row that sees a NaN or an infinity.
    void not_judged(std::size_t output, std::size_t position, const exact_number& value) {
        output_judge& judge = judges_[output];
        const double rounded = round_to(judge.stored(), value);
        const std::vector<element_limits> nothing(judge.possible().size());
        (void)judge.element(position, {.exact = value, .radius = exact_number(0), .rounded_low = rounded, .rounded_high = rounded, .from = rung::in_real, .last = true, .limits = nothing, .judged = false});
    }

private:
    // A row may not see a key that holds a NaN or an infinity, and still have a raw score of it.
    [[nodiscard]] std::optional<double> raw_of_no_numbers(std::size_t key) const {
        const matrix_view q = p_.q[source_slice(p_.batch, p_.q.batch, slice_)], k = p_.k[source_slice(p_.batch, p_.k.batch, slice_)];
        double sum = 0;
        bool numbers = true;
        for (std::size_t c = 0; c < k.length(1); ++c) {
            numbers = numbers && is_finite_number(k(key, c));
            if (facts_->is_dot()) sum += unfused(q(values_.i, c) * k(key, c));
        }
        if (numbers) return std::nullopt;
        return facts_->is_dot() ? sum : std::numeric_limits<double>::quiet_NaN();
    }
    bool ask(std::size_t output, std::size_t position, std::size_t in_row, const enclosure& exact, const rounded_ends& ends, rung from, bool last) {
        return ask(output, position, in_row, static_cast<double>(exact.value),
                   {.exact = exact.value, .radius = exact.known ? exact.radius : ldexp(exact_number(1), 3000), .rounded_low = ends.low, .rounded_high = ends.high, .from = from, .last = last, .limits = {}});
    }
    // `nearest`: the exact value as a double.
    bool ask(std::size_t output, std::size_t position, std::size_t in_row, double nearest, element_facts facts) {
        const stopwatch_of timing(seconds_);
        output_judge& judge = judges_[output];
        limits_.clear();
        for (const std::size_t a : numbers_[output]) limits_.push_back(limits_of(output, position, in_row, a, nearest, facts));
        facts.limits = limits_;
        return judge.element(position, facts);
    }

    // The limits of an element in one arithmetic; fills in what surrounds it.
    element_limits limits_of(std::size_t output, std::size_t position, std::size_t in_row, std::size_t a, double nearest, element_facts& facts) {
        const std::string& name = outputs_[output].name;
        const double size = size_of(nearest);
        if (!(outputs_[output].of_rows ? values_.near : all_near_)) return {}; // no limit can be made of what is hardly known
        if (is_gradient(name)) {
            if (size > 0) facts.reach = size; // a limit that zero would pass says nothing
            return name == "dq" && outputs_[output].of_rows ? gradients_->dq(a, in_row) : gradients_->column(output, position, a);
        }
        const forward_limits& forward = *forward_[a];
        if (name == "lse") {
            // A limit that reaches 0 from lse says nothing, unless lse is near 0 itself: below 1 the weights' factor e^lse hardly differs.
            facts.reach = values_.visible.empty() ? 0.0 : std::max(size, 1.0);
            return forward.lse();
        }
        if (name == "out") return out(forward, in_row, a, facts);
        if (name == "raw_scores") {
            if (size > 0) facts.reach = size;
            return forward.raw_score(facts_->size(values_.i, in_row));
        }
        const auto at = static_cast<std::size_t>(std::lower_bound(values_.visible.begin(), values_.visible.end(), in_row) - values_.visible.begin());
        if (at == values_.visible.size() || values_.visible[at] != in_row) return name == "scores" ? element_limits{0, 0, 0} : forward.decided();
        if (name == "scores") {
            if (size > 0) facts.reach = size;
            return forward.score(at);
        }
        facts.reach = reach_of_weight(nearest, values_.visible.size());
        facts.hull_low = 0;
        facts.hull_high = 1;
        return forward.weight(at);
    }
    element_limits out(const forward_limits& forward, std::size_t c, std::size_t a, element_facts& facts) {
        if (values_.visible.empty()) return {0, 0, 0};
        forward_limits::output_limits& row = out_[a];
        if (row.limits.empty()) {
            seen_.see(values_.visible);
            if (arithmetics_[a]->query_key > 0 && facts_->is_dot() && !moves_) make_moves();
            forward.output(values_.out, seen_, moves_ ? &*moves_ : nullptr, sums_, row);
        }
        const auto hull = row.hulls[c];
        facts.hull_low = hull.low;
        facts.hull_high = hull.high;
        const double exact = values_.out[c], farthest = std::max(hull.high - exact, exact - hull.low);
        facts.reach = exact == 0 ? farthest : std::min(farthest, size_of(exact));
        return row.limits[c];
    }

    // What a stored query does to the row's output. Keys and values are rounded once a slice, where dropout does not change the values.
    void make_moves() {
        if (rounded_of_ != slice_) {
            rounded_of_ = slice_;
            const matrix_view& v = facts_->values();
            rounded_keys_ = rounded_rows(p_.n_k, facts_->query(values_.i).x.size(), [&](std::size_t j, std::size_t c) { return facts_->key(j, c); });
            rounded_values_ = rounded_rows(p_.n_k, p_.d_v, [&](std::size_t j, std::size_t e) { return v(j, e); });
        }
        if (!row_.factor.empty())
            moves_.emplace(row_, facts_->query(values_.i), p_.d_v, [&](std::size_t j, std::size_t k) { return facts_->key(values_.visible[j], k); },
                           [&](std::size_t j, std::size_t e) { return facts_->values()(values_.visible[j], e); });
        else
            moves_.emplace(row_, facts_->query(values_.i), p_.d_v, rounded_keys_.rows(values_.visible), rounded_values_.rows(values_.visible));
    }

    const attention_problem& p_;
    const std::vector<certified_output>& outputs_;
    std::vector<output_judge>& judges_;
    double lambda_;
    std::vector<const arithmetic*> arithmetics_;   // of all judges
    std::vector<std::vector<std::size_t>> numbers_; // of each judge's, in these
    std::optional<attention_facts> facts_;
    std::optional<attention_gradient_facts> gradients_;
    std::size_t slice_ = 0;
    bool all_near_ = true; // the rows that sums over rows are made of
    row_values values_;
    row_facts row_;
    std::vector<std::unique_ptr<forward_limits>> forward_;
    std::optional<query_moves> moves_;
    std::optional<std::size_t> rounded_of_; // the slice of the next two
    rounded_rows rounded_keys_, rounded_values_;
    seen_values seen_;
    output_sums sums_;
    std::vector<forward_limits::output_limits> out_; // of each arithmetic; empty until the row's output is asked for
    std::vector<element_limits> limits_;
    double seconds_ = 0;
};

// Calls f(own slice, row, position) for the elements of a gradient that is a sum over rows, without those of tokens that are padding to all that read them. Of dk, dv and dq
// a sample takes rows.
template <class F>
void for_each_column(const attention_problem& p, const certified_output& output, const pair_rules<exact_number>& rules, const std::optional<row_sample>& sample, const F& f) {
    if (output.of == nullptr) { // dmask
        std::size_t size = 1;
        for (const std::size_t length : output.at.length) size *= length;
        for (std::size_t e = 0; e < size; ++e) f(0, 0, e);
        return;
    }
    const std::size_t slices = element_count(output.of->batch), rows = output.of->rows;
    std::vector<std::size_t> used(slices, 0);
    for (std::size_t s = 0; s < p.slices(); ++s) {
        std::size_t& most = used[source_slice(p.batch, output.of->batch, s)];
        most = std::max(most, output.name == "dq" ? rules.queries(s) : rules.keys(s));
    }
    const chosen_rows chosen(slices * rows, sample);
    for (std::size_t slice = 0; slice < slices; ++slice)
        for (std::size_t row = 0; row < used[slice]; ++row) {
            if (!chosen.has(slice * rows + row)) continue;
            const std::size_t first = first_of_row(output.at, output.of->batch, slice, row);
            for (std::size_t c = 0; c < output.of->columns; ++c) f(slice, row, first + c * output.at.stride.back());
        }
}

inline void compare_attention(const conventions& how, const std::vector<named_view>& inputs, const std::vector<named_view>& candidates, std::vector<output_judge>& judges,
                              check_result& result, const std::optional<row_sample>& sample, const fast::kernels& kernels, const progress& tell) {
    stopwatch watch;
    const attention_problem p = make_attention_problem(how, inputs);
    std::vector<certified_output> outputs;
    for (const output_judge& judge : judges) {
        auto [output, shape] = attention_output(how, inputs, p, judge.name());
        const array_view& candidate = *find(candidates, judge.name());
        if (candidate.shape != shape) {
            const tensor_layout layout = judge.name() == "out" ? how.layout : tensor_layout::bhnd;
            require_shape(judge, place(candidate.shape, is_gradient(judge.name()) ? tensor_layout::bhnd : layout).length, is_gradient(judge.name()) ? shape : p.shape_of_output(judge.name()));
        }
        outputs.push_back(std::move(output));
    }
    const not_numbers apart(how, inputs, p, outputs);
    result.warnings = p.warnings;
    for (const std::string& warning : apart.rules().warnings())
        if (!ranges::contains(result.warnings, warning)) result.warnings.push_back(warning);
    attention_comparison comparison(how, inputs, p, outputs, judges, result.lambda, *kernels.limits);
    certified_attention ladder(how, inputs, p, outputs, comparison, kernels);

    // Rows of the results, and rows of dk and dv, are sampled each by themselves.
    const chosen_rows rows(p.slices() * p.n_q, sample);
    apart.for_each_row([&](std::size_t slice, std::size_t i) {
        if (rows.has(slice * p.n_q + i)) ladder.add_row(slice, i);
    });
    apart.for_each([&](std::size_t slice, std::size_t i) { return rows.has(slice * p.n_q + i); },
                   [&](std::size_t o, std::size_t position, const exact_number& value) { comparison.not_judged(o, position, value); });
    result.rows_checked = rows.count();
    result.rows_total = rows.total();
    for (std::size_t o = 0; o < outputs.size(); ++o) {
        if (outputs[o].of_rows) continue;
        if (!apart.none()) continue;
        for_each_column(p, outputs[o], apart.rules(), sample, [&](std::size_t slice, std::size_t row, std::size_t position) {
            if (outputs[o].of != nullptr && outputs[o].name != "dq") comparison.wants(o, slice, row); // of keys
            ladder.add_column_element(o, position);
        });
    }
    apart.for_each_column([&](std::size_t o, std::size_t position, const exact_number& value) { comparison.not_judged(o, position, value); });
    const bool any_narrow = ranges::any_of(judges, [](const output_judge& judge) { return !(judge.stored() == formats::f64); });
    ladder.run(any_narrow ? rung::in_double : rung::in_double_double, tell);
    for (std::size_t o = 0; o < judges.size(); ++o) {
        if (!outputs[o].of_rows) continue; // a sum over rows is not made again for its digits
        for (const std::size_t position : judges[o].shown(arithmetic_in_force(judges[o], how, candidates))) {
            showing_visitor show{judges};
            certified_attention one(how, inputs, p, outputs, show);
            const auto row = one.add_element(o, position);
            if (row && !apart.has(*row)) one.run(rung::in_double_double, {});
        }
    }
    result.seconds.compare += comparison.seconds();
    result.seconds.evaluate += watch.lap() - comparison.seconds();
}

} // namespace attest::detail
