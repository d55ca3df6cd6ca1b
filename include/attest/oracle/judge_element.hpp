// SPDX-License-Identifier: BSL-1.0
/// \file
/// How a judge settles and counts one element (oracle/judge.hpp).
#pragma once

#include "attest/oracle/judge.hpp"

namespace attest {

inline bool output_judge::element(std::size_t position, const element_facts& facts) {
    const auto is_no_limit = [](const element_limits& l) { return !(l.certain >= 0) || !(l.expected >= 0) || !(l.beyond >= 0); };
    // It would let anything pass.
    if (!(facts.doubles ? facts.doubles->radius >= 0 : facts.radius >= exact_number(0)) || facts.limits.size() != possible_.size() || ranges::any_of(facts.limits, is_no_limit))
        throw std::logic_error("a limit or a radius is not a number, or missing, in " + result_.name);
    const double got = decode(candidate_, position);
    if (!facts.doubles) return element_exactly(position, got, facts);
    if (element_in_doubles(position, got, facts)) return true;
    element_facts whole = facts;
    whole.exact = facts.doubles->exact();
    whole.radius = facts.doubles->exact_radius();
    return element_exactly(position, got, whole);
}

// Settles and counts what bounds in doubles tell for certain: narrower ones would say the same. False, and nothing is counted, if that is not enough.
inline bool output_judge::element_in_doubles(std::size_t position, double got, const element_facts& facts) {
    if (facts.rounded_low != facts.rounded_high || !detail::is_finite(got)) return false;
    const detail::enclosed_distance distance(format_, got, *facts.doubles);
    if (!distance.cell_is_certain() || !distance.unit_is_certain() || !detail::is_finite(distance.cell())) return false;
    compare(got, distance, facts);
    const auto is_certain = [](const pair_of_limits& c) { return c.certain.limit_is_certain() && c.expected.limit_is_certain(); };
    if (!ranges::all_of(compared_, is_certain) || !is_settled(position, distance, facts.judged)) return false;
    const auto is_outside = [](const pair_of_limits& c) { return c.certain.where == detail::side::outside || c.expected.where == detail::side::outside; };
    detail::shown_element shown{position, got, {}, {}, rounded_of(facts), distance.cell()};
    if (could_be_worst(position, distance.cell()) || ranges::any_of(compared_, is_outside)) {
        shown.exact = facts.doubles->exact();
        shown.radius = facts.doubles->exact_radius();
    }
    count_settled(distance, shown, facts, got != facts.rounded_low, false);
    return true;
}

inline bool output_judge::element_exactly(std::size_t position, double got, const element_facts& facts) {
    if (!facts.exact.is_finite()) {
        count_declared(position, got, facts);
        return true;
    }
    const bool is_rounded = facts.rounded_low == facts.rounded_high;
    if (!facts.last && !(is_rounded && facts.radius.is_finite())) return false;
    static const exact_number unknown = ldexp(exact_number(1), 2000); // beyond all formats and limits
    exact_number radius = facts.radius < unknown ? facts.radius : unknown;
    // What the last rung does not tell from zero is taken for zero, from which it is no farther than twice the radius.
    const bool is_zero = !is_rounded && abs(facts.exact) <= radius;
    const exact_number exact = is_zero ? exact_number(0) : facts.exact;
    if (is_zero) radius = radius + radius;

    const detail::enclosed_distance distance(format_, got, exact, radius);
    compare(got, distance, facts);
    if (!facts.last && !is_settled(position, distance, facts.judged)) return false;

    const bool differs = !(got >= facts.rounded_low && got <= facts.rounded_high);
    const auto is_open = [](const pair_of_limits& c) { return c.certain.where == detail::side::open || c.expected.where == detail::side::open; };
    const bool in_doubt = !is_rounded || ranges::any_of(compared_, is_open);
    // Where the radius does not even tell a number of the format from its neighbours' neighbours, precision ran out, and nothing is exact.
    const double coarsest = is_zero ? 0x1p-10 * compared_.front().certain.high : detail::times_power_of_two(0.5, distance.unit());
    const bool is_precise = is_rounded || (detail::is_finite(coarsest) && facts.radius <= exact_number(coarsest));
    if (facts.judged && in_doubt) ++result_.unseparated;
    if (!detail::is_finite(got)) ++result_.not_finite;
    count_settled(distance, {position, got, exact, radius, is_rounded ? rounded_of(facts) : round_to(format_, exact), distance.cell()}, facts, differs, in_doubt, is_precise);
    return true;
}

// The sides of all limits on which the element lies.
inline void output_judge::compare(double got, const detail::enclosed_distance& distance, const element_facts& facts) {
    for (std::size_t a = 0; a < possible_.size(); ++a) {
        const element_limits& limits = facts.limits[a];
        const auto against = [&](double limit) {
            const arithmetic& in = *possible_[a];
            detail::compared c(distance, with_store(in, limit, distance.least_size()), with_store(in, limit, distance.greatest_size()));
            if (!facts.judged) c.where = detail::side::inside;
            return c;
        };
        compared_[a] = {against(limits.certain), against(std::min(limits.expected, limits.certain))};
        if (facts.judged && is_beyond(got, *possible_[a], limits.beyond, facts))
            compared_[a].certain.where = compared_[a].expected.where = detail::side::outside;
    }
}

// Whether everything that would be said of the element is beyond doubt.
inline bool output_judge::is_settled(std::size_t position, const detail::enclosed_distance& distance, bool judged) const {
    if (!distance.cell_is_nearly_certain()) return false;
    bool is_shown = could_be_worst(position, distance.greatest_cell()), limits_are_certain = true;
    for (std::size_t a = 0; a < possible_.size(); ++a) {
        const auto settles = [&](const detail::compared& c, const detail::limit_tally& t) {
            is_shown = is_shown || (c.where == detail::side::outside && t.would_be_first(position));
            limits_are_certain = limits_are_certain && c.limit_is_certain();
            return c.where != detail::side::open && (!judged || c.share_is_settled(distance, t.share));
        };
        if (!settles(compared_[a].certain, tallies_[a].certain) || !settles(compared_[a].expected, tallies_[a].expected)) return false;
    }
    return !is_shown || (distance.cell_is_certain() && distance.unit_is_certain() && limits_are_certain);
}

// `differs`: from the correctly rounded value. `in_doubt`, not `is_precise`: precision ran out.
inline void output_judge::count_settled(const detail::enclosed_distance& distance, const detail::shown_element& e, const element_facts& facts, bool differs, bool in_doubt, bool is_precise) {
    const std::size_t row = row_of(e.position, facts);
    count_of_all(row, facts);
    if (facts.judged && is_precise && !differs) ++result_.exact;
    if (detail::is_finite(distance.cell())) squares_.add(distance.cell());
    count_against_limits(row, distance, e, facts, differs, in_doubt);
}

inline void output_judge::count_of_all(std::size_t row, const element_facts& facts) {
    ++result_.elements;
    rows_.insert(row);
    switch (facts.from) {
    case rung::decided: ++result_.decided; break;
    case rung::in_double: ++result_.rungs.in_double; break;
    case rung::in_double_double: ++result_.rungs.in_double_double; break;
    case rung::in_real: ++result_.rungs.in_real; break;
    }
}

inline void output_judge::count_against_limits(std::size_t row, const detail::enclosed_distance& distance, const detail::shown_element& e,
                                               const element_facts& facts, bool differs, bool in_doubt) {
    const double unit = detail::times_power_of_two(1, distance.unit());
    const double unit_of_rounded = ulp(format_, detail::is_finite(e.rounded) ? e.rounded : format_.greatest()); // the same on every rung
    const bool is_worst = could_be_worst(e.position, e.ulp);
    if (is_worst) worst_ = e;
    for (std::size_t a = 0; a < possible_.size(); ++a) {
        const auto& [certain, expected] = compared_[a];
        detail::arithmetic_tally& t = tallies_[a];
        const element_limits& limits = facts.limits[a];
        const bool is_limited = facts.judged && detail::is_finite(certain.high);
        const bool covers_all = std::min(limits.expected, limits.certain) >= facts.reach && facts.reach > unit_of_rounded;
        if (!is_limited || covers_all || (in_doubt && facts.radius > exact_number(expected.high))) ++t.blind;
        if (limits.certain == 0) ++t.fixed;
        if (limits.expected < limits.certain) t.has_expected = true;
        if (is_limited) {
            t.certain.share = std::max(t.certain.share, certain.told_share(distance));
            t.expected.share = std::max(t.expected.share, expected.told_share(distance));
        }
        detail::shown_element shown = e;
        shown.certain = facts.judged ? certain.high / unit : detail::infinity_of_double; // nothing is said of the others
        shown.expected = facts.judged ? expected.high / unit : detail::infinity_of_double;
        if (is_worst) {
            t.certain_at_worst = shown.certain;
            t.expected_at_worst = shown.expected;
        }
        if (expected.where == detail::side::outside) t.expected.count_outside(row, shown);
        if (certain.where == detail::side::outside) t.certain.count_outside(row, shown);
        else if (differs && !is_limited) ++t.unjudged; // nothing is a wildcard: this keeps the verdict from passing
    }
}

// The exact value is NaN or an infinity, and nothing else is right.
inline void output_judge::count_declared(std::size_t position, double got, const element_facts& facts) {
    const auto value = static_cast<double>(facts.exact);
    const bool is_right = value != value ? got != got : got == value;
    const std::size_t row = row_of(position, facts);
    count_of_all(row, facts);
    if (is_right) {
        ++result_.exact;
        ++result_.not_finite_right;
        squares_.add(0);
    }
    detail::shown_element e{position, got, facts.exact, exact_number(0), value, is_right ? 0 : detail::infinity_of_double};
    const bool is_worst = could_be_worst(position, e.ulp);
    if (is_worst) worst_ = e;
    for (std::size_t a = 0; a < possible_.size(); ++a) {
        detail::arithmetic_tally& t = tallies_[a];
        if (is_worst) t.certain_at_worst = t.expected_at_worst = facts.judged ? 0 : detail::infinity_of_double;
        if (facts.limits[a].certain == 0) ++t.fixed;
        if (!facts.judged || !detail::is_finite(facts.limits[a].certain)) ++t.blind;
        if (is_right) continue;
        if (!facts.judged) {
            ++t.unjudged;
            continue;
        }
        t.certain.share = t.expected.share = detail::infinity_of_double;
        t.certain.count_outside(row, e);
        t.expected.count_outside(row, e);
    }
}

} // namespace attest
