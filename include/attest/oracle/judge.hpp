// SPDX-License-Identifier: BSL-1.0
/// \file
/// Judges one candidate tensor, element by element: its distance from the exact value against the two limits of each arithmetic.
///
/// Values come as enclosures, from one rung of the ladder after the other, and in any order: nothing that is reported depends on the order or on the rung,
/// but for the shares of the rungs and the last digits of rms (whose sums are exact, but to which an element next to the border of a cell adds what its
/// rung knows). An element counts once everything that is said of it is beyond doubt; until then `element` returns false and counts nothing. Doubt is about
///
/// - its correct rounding, for which both ends of the enclosure must round to the same number (a value that its radius does not tell from zero never does,
///   unless all of the enclosure rounds to zero);
/// - the side of a limit on which it lies, for each arithmetic that is tried, for the certain and for the expected limit;
/// - its distance to 1/32 ULP; and to 1/64 ULP, with its limits in ULP, if it could be the worst element or the first outside a limit; and its share of a limit, to 1/4096,
///   if that could be the greatest.
///
/// At the last rung doubt counts in the candidate's favour: both neighbours of a tie are correctly rounded, and on the limit is inside.
#pragma once

#include "attest/oracle/arithmetics.hpp"
#include "attest/oracle/decode.hpp"
#include "attest/oracle/element_limits.hpp"
#include "attest/oracle/tally.hpp"
#include "attest/oracle/verdict.hpp"

#include <range/v3/algorithm/all_of.hpp>
#include <range/v3/algorithm/any_of.hpp>
#include <range/v3/algorithm/find.hpp>
#include <range/v3/algorithm/min_element.hpp>
#include <range/v3/view/zip.hpp>
#include <span>
#include <stdexcept>

namespace attest {

/// What one rung knows of one element.
struct element_facts {
    exact_number exact{0};         ///< middle of the enclosure; NaN and infinities are declared answers
    exact_number radius{0};        ///< proved: the exact value is within this of `exact`; infinite: nothing is known
    double rounded_low = 0, rounded_high = 0; ///< both ends, rounded once to the candidate's format; equal: the correct rounding is proved
    rung from = rung::in_real;
    bool last = false;             ///< there is no further rung
    std::span<const element_limits> limits; ///< one for each possible arithmetic
    double reach = detail::infinity_of_double;     ///< how far from `exact` the row's values lie: a limit that covers them says nothing
    double hull_low = -detail::infinity_of_double; ///< no right kernel is below this by more than `beyond` of its limits …
    double hull_high = detail::infinity_of_double; ///< … or above this: the hull of V, or 0 and 1
    bool judged = true;            ///< false: the row sees NaN or infinity, and nothing is said
    std::optional<ball_in_doubles> doubles = {}; ///< the same as `exact` and `radius`, which then need not be given
    std::optional<std::size_t> row = {}; ///< number of the row, 0, 1, 2, …; nothing: rows lie along the last dimension
};

/// Which arithmetics keep a result in the format of their output. A candidate that is stored in a wider one, as `.float()` makes it, has that rounding
/// behind it too.
enum class kept_in_output_format {
    by_none,            ///< lse
    by_16_bit_scores,   ///< scores and weights: those that store scores in 16 bits
    by_all              ///< out and gradients
};

/// Gathers the elements of one candidate; `finish` gives the result.
class output_judge {
public:
    /// `possible`: the arithmetics to hold it against, strictest first.
    output_judge(std::string name, array_view candidate, std::vector<const arithmetic*> possible, kept_in_output_format kept)
        : candidate_{std::move(candidate)}, format_{format_of(candidate_.type)}, kept_{kept},
          tallies_(possible.size()), compared_(possible.size()), possible_{std::move(possible)} {
        result_.name = std::move(name);
        result_.type = candidate_.type;
        result_.shape = candidate_.shape;
    }

    [[nodiscard]] const std::string& name() const { return result_.name; }
    [[nodiscard]] const std::vector<const arithmetic*>& possible() const { return possible_; }
    /// The format that the candidate is stored in.
    [[nodiscard]] const format& stored() const { return format_; }

    /// The limits are propagated rounding bounds. `derived`: false where there are none for what the candidate may have computed in.
    void with_propagated_limits(bool derived, bool first_order) {
        result_.propagated = true;
        result_.first_order = first_order;
        result_.limits_derived = derived;
    }

    /// Compares the element at `position`, counted in C order of the candidate. True: it is settled, and counted. False: there is doubt, nothing was
    /// counted; call again with what the next rung knows. Never false at the last rung. Throws std::logic_error for a limit or a radius that is no number.
    bool element(std::size_t position, const element_facts& facts);

    /// Index in `possible()` of the strictest arithmetic whose certain limit holds every element; `possible().size()` if none does. Propagated limits of an
    /// arithmetic that say nothing of most elements hold nothing.
    [[nodiscard]] std::size_t strictest_that_holds() const {
        std::size_t a = 0;
        while (a < tallies_.size() && (tallies_[a].certain.outside != 0 || (a != 0 && result_.propagated && 2 * tallies_[a].blind >= result_.elements))) ++a;
        return a;
    }

    /// Elements that the last rung left in doubt.
    [[nodiscard]] std::size_t unseparated() const { return result_.unseparated; }

    /// The verdict when arithmetic number `chosen` of `possible()` is in force.
    [[nodiscard]] verdict verdict_of(std::size_t chosen) const;

    /// Of arithmetics that may be assumed, strictest first, the index in `possible()` of the one that is: the first that passes; if none does, the one
    /// with the mildest verdict. At least one of them must be in `possible()`.
    [[nodiscard]] std::size_t assumed(std::span<const arithmetic* const> tried) const {
        std::vector<std::size_t> indices;
        for (const arithmetic* a : tried)
            if (const auto found = ranges::find(possible_, a); found != possible_.end()) indices.push_back(static_cast<std::size_t>(found - possible_.begin()));
        return *ranges::min_element(indices, {}, [this](std::size_t a) { return verdict_of(a); }); // the first of equals
    }

    /// The result when arithmetic number `chosen` is in force.
    [[nodiscard]] output_result finish(std::size_t chosen) const;

    /// Positions of the elements that the result shows: the worst, and the first outside.
    [[nodiscard]] std::vector<std::size_t> shown(std::size_t chosen) const {
        std::vector<std::size_t> positions;
        if (worst_) positions.push_back(worst_->position);
        if (const auto* first = first_outside(chosen); first != nullptr && first->position != worst_->position) positions.push_back(first->position);
        return positions;
    }
    /// A shown element's exact value from a later rung, for the 20 digits of a report; true if they are beyond doubt. Without it there are only as many
    /// digits as were needed to settle the element.
    bool show(std::size_t position, const exact_number& exact, const exact_number& radius);

private:
    struct pair_of_limits {
        detail::compared certain, expected;
    };

    // judge_element.hpp: one element against the limits.
    [[nodiscard]] bool element_in_doubles(std::size_t position, double got, const element_facts& facts);
    [[nodiscard]] bool element_exactly(std::size_t position, double got, const element_facts& facts);
    void compare(double got, const detail::enclosed_distance& distance, const element_facts& facts);
    [[nodiscard]] bool is_settled(std::size_t position, const detail::enclosed_distance& distance, bool judged) const;
    void count_declared(std::size_t position, double got, const element_facts& facts);
    void count_settled(const detail::enclosed_distance& distance, const detail::shown_element& e, const element_facts& facts, bool differs, bool in_doubt, bool is_precise = true);
    void count_of_all(std::size_t row, const element_facts& facts);
    void count_against_limits(std::size_t row, const detail::enclosed_distance& distance, const detail::shown_element& e, const element_facts& facts,
                              bool differs, bool in_doubt);

    // Where both ends round to one number. (The sum is −0 only if both are.)
    [[nodiscard]] static double rounded_of(const element_facts& facts) { return facts.rounded_low == 0 ? facts.rounded_low + facts.rounded_high : facts.rounded_low; }
    [[nodiscard]] bool could_be_worst(std::size_t position, double cell) const {
        return !worst_ || cell > worst_->ulp || (cell == worst_->ulp && position < worst_->position);
    }
    [[nodiscard]] const detail::shown_element* first_outside(std::size_t chosen) const {
        const detail::arithmetic_tally& t = tallies_[chosen];
        return t.certain.first ? &*t.certain.first : t.expected.first ? &*t.expected.first : nullptr;
    }
    [[nodiscard]] std::size_t row_of(std::size_t position, const element_facts& facts) const {
        return facts.row ? *facts.row : position / (candidate_.shape.empty() ? 1 : candidate_.shape.back());
    }

    // A limit and the final store, of a value of this size or less; it never falls where the size grows.
    [[nodiscard]] double with_store(const arithmetic& a, double limit, double size) const {
        const double magnitude = detail::sum_above(size, limit);
        if (magnitude == 0) return 0; // a computed 0 is stored as 0
        const auto half_ulp = [&](const format& f) { return magnitude < f.greatest() ? ulp(f, magnitude) / 2 : detail::infinity_of_double; };
        const double total = detail::sum_above(limit, half_ulp(format_));
        const bool is_kept = kept_ == kept_in_output_format::by_all || (kept_ == kept_in_output_format::by_16_bit_scores && a.score > 0);
        return is_kept && a.output.precision < format_.precision ? detail::sum_above(total, half_ulp(a.output)) : total;
    }

    // Outside what the row's values allow at all: the limits are symmetric about the exact value, those need not be.
    [[nodiscard]] bool is_beyond(double got, const arithmetic& a, double beyond, const element_facts& facts) const {
        if (!detail::is_finite(beyond) || !detail::is_finite(got) || (got >= facts.hull_low && got <= facts.hull_high)) return false;
        const double end = got < facts.hull_low ? facts.hull_low : facts.hull_high;
        const double allowed = with_store(a, beyond, end < 0 ? -end : end);
        return detail::is_finite(allowed) && abs(exact_number(got) - exact_number(end)) > exact_number(allowed);
    }

    [[nodiscard]] worst_element described(const detail::shown_element& e) const {
        worst_element w;
        w.index.assign(result_.shape.size(), 0);
        std::size_t position = e.position;
        for (std::size_t k = w.index.size(); k-- > 0; position /= result_.shape[k]) w.index[k] = position % result_.shape[k];
        w.got = e.got;
        w.expected = detail::certain_digits(e.exact, e.radius);
        w.correctly_rounded = e.rounded;
        w.ulp = e.ulp;
        w.limit_ulp = e.certain;
        w.expected_limit_ulp = e.expected;
        return w;
    }

    array_view candidate_;
    format format_;
    kept_in_output_format kept_;
    std::vector<detail::arithmetic_tally> tallies_;
    std::vector<pair_of_limits> compared_; // of the element at hand
    std::vector<const arithmetic*> possible_;
    output_result result_;
    detail::row_set rows_;
    detail::distances_squared squares_;
    std::optional<detail::shown_element> worst_;
};

inline verdict output_judge::verdict_of(std::size_t chosen) const {
    const detail::arithmetic_tally& t = tallies_[chosen];
    if (result_.exact == result_.elements && t.certain.outside == 0) return verdict::exact;
    if (strictest_that_holds() == possible_.size()) return verdict::wrong;
    if (t.certain.outside != 0) return verdict::inaccurate;
    if (t.expected.outside != 0) return verdict::suspicious;
    return t.unjudged != 0 || 2 * t.blind >= result_.elements - t.fixed ? verdict::undecided : verdict::consistent;
}

inline output_result output_judge::finish(std::size_t chosen) const {
    const detail::arithmetic_tally& t = tallies_[chosen];
    output_result r = result_;
    r.verdict = verdict_of(chosen);
    r.arithmetic = possible_[chosen]->name;
    r.outside_certain = t.certain.outside;
    r.outside_expected = t.expected.outside;
    r.rows_outside = t.certain.rows.size();
    r.rows_outside_expected = t.expected.rows.size();
    r.rows = rows_.size();
    r.blind = t.blind;
    r.unjudged = t.unjudged;
    r.limit_share = t.certain.share;
    r.expected_share = t.expected.share;
    r.has_expected = t.has_expected;
    r.rms_ulp = squares_.root();
    if (worst_) {
        r.max_ulp = worst_->ulp;
        r.worst = described(*worst_);
        r.worst->limit_ulp = t.certain_at_worst;
        r.worst->expected_limit_ulp = t.expected_at_worst;
    }
    if (const auto* first = first_outside(chosen)) r.first_outside = described(*first);
    if (r.verdict == verdict::inaccurate) {
        // A weaker one, if there is; else one that is otherwise (more range, fewer digits).
        const std::size_t holds = strictest_that_holds();
        std::size_t weaker = chosen;
        while (weaker < tallies_.size() && (tallies_[weaker].certain.outside != 0 || weaker < holds)) ++weaker;
        r.weaker = possible_[weaker < tallies_.size() ? weaker : holds]->name;
    }
    return r;
}

inline bool output_judge::show(std::size_t position, const exact_number& exact, const exact_number& radius) {
    const auto improve = [&](std::optional<detail::shown_element>& e) {
        if (!e || e->position != position) return;
        e->exact = exact;
        e->radius = radius;
        if (e->rounded == 0 && abs(exact) > radius) e->rounded = exact < exact_number(0) ? -0.0 : 0.0; // the sign of a zero, which no rung had to know
    };
    improve(worst_);
    for (detail::arithmetic_tally& t : tallies_) {
        improve(t.certain.first);
        improve(t.expected.first);
    }
    return detail::has_20_digits(exact, radius);
}

} // namespace attest

#include "attest/oracle/judge_element.hpp"
