// SPDX-License-Identifier: BSL-1.0
/// \file
/// What the comparisons of all ops share: which candidates there are, which arithmetics they are held against, and the limits of a row.
#pragma once

#include "attest/oracle/judge.hpp"
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

// The arithmetics to hold a candidate against: those of its type, and the declared one in front if it is not among them.
inline std::vector<const arithmetic*> arithmetics_for(const array_view& candidate, const std::optional<std::string>& declared) {
    auto possible = arithmetics_of(candidate.type);
    if (declared) {
        const arithmetic* const wanted = find_arithmetic(*declared);
        if (!ranges::contains(possible, wanted)) possible.insert(possible.begin(), wanted);
    }
    return possible;
}

// Candidates in the order of computation (of norm=post), one judge each.
inline std::vector<output_judge> make_judges(const op_info& op, const conventions& how, const std::vector<named_view>& candidates) {
    std::vector<output_judge> judges;
    for (const named_view& candidate : candidates) {
        if (!is_output(op, candidate.name)) throw usage_error("'" + candidate.name + "' is not an output of " + std::string(op.name));
        if (&candidate.value != find(candidates, candidate.name)) throw usage_error("'" + candidate.name + "' is given twice");
    }
    for (const tensor_info& output : op.outputs)
        for (const named_view& candidate : candidates)
            if (matches(output.name, candidate.name)) {
                require_float(candidate.name, candidate.value);
                judges.emplace_back(candidate.name, candidate.value, arithmetics_for(candidate.value, how.arithmetic), candidate.name == "out");
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

// The limits of every arithmetic that some judge asks for, made once a row.
class limits_of_row {
public:
    explicit limits_of_row(row_facts facts) : facts_{std::move(facts)} {}
    const row_limits& of(const arithmetic& a) {
        for (const auto& [known, limits] : made_)
            if (known == &a) return *limits;
        return *made_.emplace_back(&a, std::make_unique<row_limits>(a, facts_)).second;
    }
    [[nodiscard]] const row_facts& facts() const { return facts_; }

private:
    row_facts facts_;
    std::vector<std::pair<const arithmetic*, std::unique_ptr<row_limits>>> made_;
};

// A limit as wide as this lets both 0 and the weight of n equal keys stand for the weight: it sees nothing. (Not [0, 1]: where weights are small,
// limits far below 1 let everything pass.)
inline double reach_of_weight(const exact_number& weight, std::size_t n) {
    const auto w = static_cast<double>(weight), equal = 1 / static_cast<double>(n);
    return std::max(w, absolute(w - equal));
}

// The part of a row's facts that every op has.
inline row_facts facts_of(const exact_row& row) {
    row_facts f;
    for (const std::size_t j : row.visible) {
        f.score.push_back(static_cast<double>(row.scores(j)));
        f.weight.push_back(static_cast<double>(row.weights(j)));
        f.greatest = f.score.size() == 1 ? f.score.back() : std::max(f.greatest, f.score.back());
    }
    f.lse = static_cast<double>(row.lse);
    return f;
}

} // namespace detail

} // namespace attest
