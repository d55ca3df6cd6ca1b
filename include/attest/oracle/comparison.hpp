// SPDX-License-Identifier: BSL-1.0
/// \file
/// What the comparisons of all ops share: which candidates there are, which arithmetics they are held against, and the limits of a row.
#pragma once

#include "attest/oracle/decided_attention.hpp"
#include "attest/oracle/judge.hpp"
#include "attest/oracle/ladder.hpp"
#include "attest/oracle/limits_forward.hpp"
#include "attest/oracle/stages.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <range/v3/algorithm/any_of.hpp>
#include <range/v3/algorithm/contains.hpp>
#include <range/v3/algorithm/equal.hpp>

namespace attest {

namespace detail {

class stopwatch {
public:
    /// Seconds since the last lap.
    double lap() {
        const auto now = std::chrono::steady_clock::now();
        const double seconds = std::chrono::duration<double>(now - last_).count();
        last_ = now;
        return seconds;
    }

private:
    std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

// Adds the time that it lives to a sum.
class stopwatch_of {
public:
    explicit stopwatch_of(double& sum) : sum_{sum} {}
    stopwatch_of(const stopwatch_of&) = delete;
    stopwatch_of& operator=(const stopwatch_of&) = delete;
    ~stopwatch_of() { sum_ += watch_.lap(); }

private:
    double& sum_;
    stopwatch watch_;
};

// All rows, or a sample of them.
class chosen_rows {
public:
    chosen_rows(std::size_t total, const std::optional<row_sample>& sample) : total_{total}, count_{total} {
        if (!sample) return;
        chosen_.assign(total, false);
        const std::vector<std::size_t> rows = sampled_rows(total, *sample);
        for (const std::size_t row : rows) chosen_[row] = true;
        count_ = rows.size();
    }
    [[nodiscard]] bool has(std::size_t row) const { return chosen_.empty() || chosen_[row]; }
    [[nodiscard]] std::size_t total() const { return total_; }
    [[nodiscard]] std::size_t count() const { return count_; }

private:
    std::size_t total_, count_;
    std::vector<bool> chosen_;
};

// The arithmetics to hold a candidate against: those of its type, and the declared one in front if it is not among them.
inline std::vector<const arithmetic*> arithmetics_for(const array_view& candidate, const std::optional<std::string>& declared) {
    auto possible = arithmetics_of(candidate.type);
    if (declared) {
        const arithmetic* const wanted = find_arithmetic(*declared);
        if (!ranges::contains(possible, wanted)) possible.insert(possible.begin(), wanted);
    }
    return possible;
}

// The declared arithmetic, or those that are assumed, strictest first.
inline std::vector<const arithmetic*> arithmetics_tried(const std::optional<std::string>& declared, dtype stored) {
    if (declared) return {find_arithmetic(*declared)};
    switch (stored) {
    case dtype::f64: return {find_arithmetic("f64")};
    case dtype::f32: return {find_arithmetic("f32")};
    default: return arithmetics_of(stored); // X+f32, then X
    }
}

[[nodiscard]] inline kept_in_output_format kept_of(std::string_view output) {
    if (output == "out" || is_gradient(output)) return kept_in_output_format::by_all;
    return output == "lse" ? kept_in_output_format::by_none : kept_in_output_format::by_16_bit_scores;
}

// Which arithmetics a candidate is held against: the first that is asked for, or all that it may be in.
enum class against { first, all };

// Candidates in the order of computation (of norm=post), one judge each.
inline std::vector<output_judge> make_judges(const op_info& op, const conventions& how, const std::vector<named_view>& candidates, against which) {
    std::vector<output_judge> judges;
    for (const named_view& candidate : candidates) {
        if (!is_output(op, candidate.name)) throw usage_error("'" + candidate.name + "' is not an output of " + std::string(op.name));
        if (&candidate.value != find(candidates, candidate.name)) throw usage_error("'" + candidate.name + "' is given twice");
    }
    for (const tensor_info& output : op.outputs)
        for (const named_view& candidate : candidates)
            if (matches(output.name, candidate.name)) {
                require_float(candidate.name, candidate.value);
                judges.emplace_back(candidate.name, candidate.value, which == against::all ? arithmetics_for(candidate.value, how.arithmetic) : std::vector{arithmetics_tried(how.arithmetic, candidate.value.type).front()}, kept_of(candidate.name));
            }
    if (judges.empty()) {
        std::string names;
        for (const tensor_info& output : op.outputs) names += (names.empty() ? "" : ", ") + std::string(output.name);
        throw usage_error("nothing to compare: the case holds none of the outputs of " + std::string(op.name) + " (" + names + ")");
    }
    return judges;
}

inline void require_shape(const output_judge& judge, std::span<const std::size_t> have, std::span<const std::size_t> expected) {
    if (!ranges::equal(have, expected))
        throw usage_error(judge.name() + " " + shape_text(have) + " does not have the shape of the result; expected " + shape_text(expected) + (have.size() >= 3 && judge.name() == "out" ? " as batch, head, sequence, component (layout says in which order they lie)" : ""));
}

// An element from an estimate: there is no further rung, and no expected limit.
inline void judge_estimate(output_judge& judge, std::size_t position, element_facts facts, const exact_number& exact, double radius) {
    facts.exact = exact;
    facts.radius = exact_number(exact.is_finite() ? radius : 0);
    facts.rounded_low = round_to(judge.stored(), exact - facts.radius);
    facts.rounded_high = round_to(judge.stored(), exact + facts.radius);
    facts.last = true;
    (void)judge.element(position, facts);
}

// A limit as wide as this lets both 0 and the weight of n equal keys stand for the weight: it sees nothing. (Not [0, 1]: where weights are small,
// limits far below 1 let everything pass.)
inline double reach_of_weight(double w, std::size_t n) {
    const double equal = 1 / static_cast<double>(n);
    return std::max(w, size_of(w - equal));
}

// A visitor of the ladder that asks for nothing but the digits of the elements that a report shows.
struct showing_visitor {
    static constexpr bool ignores_rows = true;
    std::vector<output_judge>& judges;
    void begin_row(const row_values&) const {}
    void begin_columns() const {}
    template <class S> void begin_slice(const attention_engine<ball<S>>&, std::size_t) const {}
    template <class S> void end_slice(const slice_gradient<ball<S>>&, std::size_t) const {}
    template <class S> bool element(const certified_element<S>& e) const {
        if (!e.value.is_number()) return true; // declared
        const enclosure exact = enclosure_of(e.value);
        return (exact.known && judges[e.output].show(e.position, exact.value, exact.radius)) || e.last;
    }
    void decided(std::size_t output, std::size_t position, std::size_t, const exact_rational& x, std::size_t, std::size_t) const {
        const enclosure exact = attest::enclosure_of(x);
        (void)judges[output].show(position, exact.value, exact.radius);
    }
};

// Which arithmetic a judge's result is in: the declared one, or the strict one that is assumed.
[[nodiscard]] inline std::size_t arithmetic_in_force(const output_judge& judge, const conventions& how, const std::vector<named_view>& candidates) {
    return judge.assumed(arithmetics_tried(how.arithmetic, find(candidates, judge.name())->type));
}

} // namespace detail

} // namespace attest
