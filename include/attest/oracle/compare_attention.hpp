// SPDX-License-Identifier: BSL-1.0
/// \file
/// Attention's candidates against its exact rows: raw_scores, scores, weights, lse and out.
#pragma once

#include "attest/oracle/comparison.hpp"

namespace attest::detail {

inline row_facts attention_facts(const exact_row& row, const attention_problem& p, double scale, const matrix_view* bias, std::size_t i) {
    row_facts f = facts_of(row);
    f.scale = absolute(scale);
    f.d_k = p.d_k;
    f.biased = p.bias_adds;
    for (std::size_t at = 0; at < row.visible.size(); ++at) {
        const std::size_t j = row.visible[at];
        const double size = f.scale * row.raw_size[j] * slack;
        const double added = bias == nullptr ? 0.0 : (*bias)(i, j);
        // q·k·scale is the score less what the mask added; in double that difference is off by their roundings.
        const double unbiased = absolute(f.score[at] - added) + 0x1p-50 * (absolute(f.score[at]) + absolute(added));
        f.size.push_back(size);
        f.operands.push_back(row.operands[j]);
        f.unbiased.push_back(std::min(size, unbiased));
    }
    return f;
}

// What an element is held against beside its limits.
struct surroundings {
    double reach = infinity_of_double;
    double low = -infinity_of_double, high = infinity_of_double;
};

// One row of one candidate, element by element.
class attention_row_comparison {
public:
    attention_row_comparison(const exact_row& row, const matrix_view& v, limits_of_row& limits) : row_{row}, v_{v}, limits_{limits} {}

    /// `first`: position of the row's first element in the candidate; `stride`: from one to the next.
    void operator()(output_judge& judge, std::size_t first, std::size_t stride) {
        judge.begin_row();
        const std::string& name = judge.name();
        if (name == "lse") {
            // A limit that reaches 0 from lse says nothing, unless lse is near 0 itself: below 1 the weights' factor e^lse hardly differs.
            const double reach = row_.visible.empty() ? 0.0 : std::max(absolute(static_cast<double>(row_.lse)), 1.0);
            judge_one(judge, first, row_.lse, row_.lse_radius, [](const row_limits& l) { return bound{l.lse()}; }, {.reach = reach});
        } else if (name == "out") {
            for (std::size_t c = 0; c < row_.out.length(0); ++c) out_component(judge, first + c * stride, c);
        } else {
            std::size_t at = 0; // the number of visible keys before key j
            for (std::size_t j = 0; j < row_.raw_size.size(); ++j) {
                const bool visible = at < row_.visible.size() && row_.visible[at] == j;
                over_keys(judge, first + j * stride, j, visible, at);
                at += visible ? 1 : 0;
            }
        }
    }

private:
    template <class Bound>
    void judge_one(output_judge& judge, std::size_t position, const exact_number& exact, double radius, const Bound& bound_of, const surroundings& around = {}) {
        std::vector<double> limits, beyond;
        for (const arithmetic* a : judge.possible()) {
            const bound b = row_.finite_inputs ? bound_of(limits_.of(*a)) : bound{};
            limits.push_back(b.limit);
            beyond.push_back(b.beyond);
        }
        judge.element(position, {.exact = exact, .radius = row_.finite_inputs ? radius : 0, .limits = limits, .reach = around.reach, .low = around.low, .high = around.high,
                                 .beyond = beyond, .judged = row_.finite_inputs});
    }

    // A limit that reaches the farthest value of the row says nothing; nor does one that zero would pass.
    static double reach_of_output(double exact, double low, double high) {
        const double farthest = std::max(high - exact, exact - low);
        return exact == 0 ? farthest : std::min(farthest, absolute(exact));
    }

    static double reach_of_score(const exact_number& score) { return score.is_zero() ? infinity_of_double : absolute(static_cast<double>(score)); }

    void out_component(output_judge& judge, std::size_t position, std::size_t c) {
        double low = infinity_of_double, high = -low;
        for (const std::size_t j : row_.visible) {
            low = std::min(low, v_(j, c));
            high = std::max(high, v_(j, c));
        }
        const auto exact = static_cast<double>(row_.out(c));
        judge_one(judge, position, row_.out(c), row_.out_radius[c],
                  [&](const row_limits& l) { return l.output(exact, [&](std::size_t at) { return v_(row_.visible[at], c); }); },
                  {reach_of_output(exact, low, high), low, high});
    }

    void over_keys(output_judge& judge, std::size_t position, std::size_t j, bool visible, std::size_t at) {
        // Where a score may overflow, the whole row may be NaN.
        const auto nothing_allowed = [](const row_limits& l) { return l.unbounded() ? bound{} : bound{0, 0}; };
        if (judge.name() == "raw_scores") {
            // Keys that the query does not see have raw scores as well, and what is NaN or infinite there is no matter of the row's.
            const double size = row_.raw_size[j];
            const bool judged = size < infinity_of_double;
            std::vector<double> limits;
            for (const arithmetic* a : judge.possible()) limits.push_back(judged ? limits_.of(*a).raw_score(size, row_.operands[j]) : infinity_of_double);
            judge.element(position, {.exact = row_.raw_scores(j), .radius = judged ? 0x1p-180 * size : 0, .limits = limits, .reach = reach_of_score(row_.raw_scores(j)), .judged = judged});
        } else if (judge.name() == "scores") {
            if (visible) judge_one(judge, position, row_.scores(j), row_.score_radius[j], [at](const row_limits& l) { return bound{l.score(at)}; },
                                    {.reach = reach_of_score(row_.scores(j))});
            else judge_one(judge, position, -std::numeric_limits<exact_number>::infinity(), 0, [](const row_limits&) { return bound{0, 0}; });
        } else { // weights: 0 where not visible, or NaN in an empty row that is declared so
            if (visible)
                judge_one(judge, position, row_.weights(j), static_cast<double>(row_.weights(j)) * row_.weight_radius,
                          [at](const row_limits& l) { return l.weight(at); }, {reach_of_weight(row_.weights(j), row_.visible.size()), 0, 1});
            else judge_one(judge, position, row_.weights(j), 0, nothing_allowed);
        }
    }

    const exact_row& row_;
    const matrix_view& v_;
    limits_of_row& limits_;
};

inline void compare_attention(const conventions& how, const std::vector<named_view>& inputs, const std::vector<named_view>& candidates,
                              std::vector<output_judge>& judges, check_result& result, const progress& tell) {
    const attention_problem p = make_attention_problem(how, inputs);
    result.warnings = p.warnings;
    std::vector<placement> places;
    bool want_raw_scores = false;
    for (const output_judge& judge : judges) {
        const array_view& candidate = *find(candidates, judge.name());
        places.push_back(place(candidate.shape, judge.name() == "out" ? how.layout : tensor_layout::bhnd));
        require_shape(judge, places.back().length, p.shape_of_output(judge.name()));
        want_raw_scores = want_raw_scores || judge.name() == "raw_scores";
    }
    stopwatch watch;
    for_each_row(p, want_raw_scores, [&](std::size_t slice, std::size_t i, const exact_row& row, const exact_attention& exact) {
        result.seconds.evaluate += watch.lap();
        limits_of_row limits(attention_facts(row, p, exact.scale(), exact.bias(), i));
        attention_row_comparison compare(row, exact.values(), limits);
        for (std::size_t o = 0; o < judges.size(); ++o) compare(judges[o], first_of_row(places[o], p.batch, slice, i), places[o].stride.back());
        result.seconds.compare += watch.lap();
        if (tell) tell(slice * p.n_q + i + 1, p.slices() * p.n_q);
    });
}

} // namespace attest::detail
