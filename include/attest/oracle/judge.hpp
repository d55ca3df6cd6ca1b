// SPDX-License-Identifier: BSL-1.0
/// \file
/// Judges one candidate tensor, element by element: its distance from the exact value against the limits of each arithmetic.
#pragma once

#include "attest/oracle/limits.hpp"
#include "attest/oracle/rounding.hpp"
#include "attest/oracle/verdict.hpp"

#include <range/v3/algorithm/any_of.hpp>
#include <range/v3/view/enumerate.hpp>
#include <stdexcept>

namespace attest {

/// What is known of one element before it is compared.
struct element_facts {
    exact_number exact;
    double radius = 0;              ///< error estimate of `exact`
    std::span<const double> limits; ///< one for each arithmetic, before the final store
    double reach = detail::infinity_of_double; ///< how far from `exact` the row's values lie: a limit that covers them says nothing
    double low = -detail::infinity_of_double;  ///< no right kernel is below this by more than `beyond` …
    double high = detail::infinity_of_double;  ///< … or above this: the hull of V, or 0 and 1
    std::span<const double> beyond = {};       ///< one for each arithmetic; empty: no such bounds
    bool judged = true;             ///< false: the row sees NaN or infinity, and nothing is said
};

/// Gathers the elements of one candidate; `finish` gives the result.
class output_judge {
public:
    /// `possible`: the arithmetics to hold it against, strictest first. `rounds_output`: those that keep their output in a coarser format
    /// than the candidate's are granted that rounding too.
    output_judge(std::string name, array_view candidate, std::vector<const arithmetic*> possible, bool rounds_output)
        : candidate_{std::move(candidate)}, format_{format_of(candidate_.type)}, rounds_output_{rounds_output},
          tallies_(possible.size()), possible_{std::move(possible)} {
        result_.name = std::move(name);
        result_.type = candidate_.type;
        result_.shape = candidate_.shape;
    }

    [[nodiscard]] const std::string& name() const { return result_.name; }
    [[nodiscard]] const std::vector<const arithmetic*>& possible() const { return possible_; }

    /// The limits are propagated rounding bounds. `derived`: false where there are none for what the candidate may have computed in.
    void with_propagated_limits(bool derived, bool first_order) {
        result_.propagated = true;
        result_.first_order = first_order;
        result_.limits_derived = derived;
    }

    void begin_row() {
        ++result_.rows;
        for (tally& t : tallies_) t.row_counted = false;
    }

    /// Compares the element at `position`, counted in C order of the candidate.
    void element(std::size_t position, const element_facts& facts) {
        // A radius or limit that is no number would let anything pass.
        if (!is_finite(facts.radius) || ranges::any_of(facts.limits, [](double limit) { return !(limit >= 0); }))
            throw std::logic_error("a limit or an error estimate is not a number, in " + result_.name);
        const double got = decode(candidate_, position);
        // A value that its own error estimate does not tell from zero is taken for zero, and counted as unseparated.
        const bool may_be_zero = facts.exact.is_finite() && !facts.exact.is_zero() && abs(facts.exact) <= exact_number(facts.radius);
        const exact_number exact = may_be_zero ? exact_number(0) : facts.exact;
        const double distance = ulp_distance(format_, got, exact);
        const double unit = exact.is_finite() ? ulp(format_, static_cast<double>(exact)) : 1;
        ++result_.elements;
        // Where the estimate does not tell a number of the format from its neighbours' neighbours, precision ran out, and nothing is exact.
        const double strictest = limit_with_store(*possible_.front(), facts.limits.front(), exact);
        const bool settled = !exact.is_finite() || (facts.judged && (may_be_zero ? is_finite(strictest) && facts.radius <= 0x1p-10 * strictest : facts.radius <= unit / 2));
        if (settled) count_exact(got, exact, facts.radius, may_be_zero);
        else if (facts.judged) ++result_.unseparated;
        if (exact.is_finite() && !is_finite(got)) ++result_.not_finite;
        if (!exact.is_finite() && distance == 0) ++result_.not_finite_right;
        if (is_finite(distance)) sum_of_squares_ += distance * distance;

        const double error = distance == 0 ? 0 : exact.is_finite() && is_finite(got) ? static_cast<double>(abs(exact_number(got) - exact)) : detail::infinity_of_double;
        const bool is_worst = !result_.worst || result_.max_ulp < to_64ths(distance);
        if (is_worst) {
            result_.max_ulp = to_64ths(distance);
            result_.worst = describe(position, got, exact, distance);
        }
        for (const auto& [a, t] : ranges::views::enumerate(tallies_)) {
            const double limit = limit_with_store(*possible_[a], facts.limits[a], exact);
            if (is_worst) t.limit_at_worst = limit / unit;
            if (facts.judged && error > 0 && is_finite(limit)) t.limit_share = std::max(t.limit_share, error / limit);
            if (facts.limits[a] == 0) ++t.decided;
            const bool covers_all = facts.limits[a] >= facts.reach && facts.reach > unit;
            if (!facts.judged || !is_finite(limit) || covers_all || facts.radius > limit) ++t.blind;
            if (!facts.judged || !(is_outside(got, exact, facts.radius, limit) || is_beyond(got, *possible_[a], facts, a))) {
                // Nothing is a wildcard: what differs where nothing is said keeps the verdict from passing.
                if (distance != 0 && (!facts.judged || !is_finite(limit))) ++t.unjudged;
                continue;
            }
            if (t.outside++ == 0) {
                t.first = describe(position, got, exact, distance);
                t.first.limit_ulp = limit / unit;
            }
            if (!t.row_counted) ++t.rows_outside;
            t.row_counted = true;
        }
    }

    /// Index in `possible()` of the strictest arithmetic whose limit holds every element; `possible().size()` if none does. Propagated limits of an arithmetic
    /// that say nothing of most elements hold nothing.
    [[nodiscard]] std::size_t strictest_that_holds() const {
        std::size_t a = 0;
        while (a < tallies_.size() && (tallies_[a].outside != 0 || (a != 0 && result_.propagated && 2 * tallies_[a].blind >= result_.elements))) ++a;
        return a;
    }

    /// The result when arithmetic number `chosen` of `possible()` is in force.
    [[nodiscard]] output_result finish(std::size_t chosen) const {
        const tally& t = tallies_[chosen];
        output_result r = result_;
        r.arithmetic = possible_[chosen]->name;
        r.outside_certain = t.outside;
        r.rows_outside = t.rows_outside;
        r.blind = t.blind;
        r.unjudged = t.unjudged;
        r.limit_share = t.limit_share;
        r.rms_ulp = r.elements == 0 ? 0 : std::sqrt(sum_of_squares_ / static_cast<double>(r.elements));
        if (r.worst) r.worst->limit_ulp = t.limit_at_worst;
        if (t.outside != 0) r.first_outside = t.first;
        const std::size_t holds = strictest_that_holds();
        if (r.exact == r.elements && t.outside == 0) r.verdict = verdict::exact;
        else if (holds == possible_.size()) r.verdict = verdict::wrong;
        else if (t.outside != 0) {
            r.verdict = verdict::inaccurate;
            // A weaker one, if there is; else one that is otherwise (more range, fewer digits).
            std::size_t weaker = chosen;
            while (weaker < tallies_.size() && (tallies_[weaker].outside != 0 || weaker < holds)) ++weaker;
            r.weaker = possible_[weaker < tallies_.size() ? weaker : holds]->name;
        } else r.verdict = t.unjudged != 0 || 2 * r.blind >= r.elements - t.decided ? verdict::undecided : verdict::consistent;
        return r;
    }

private:
    struct tally {
        std::size_t outside = 0, rows_outside = 0, blind = 0, unjudged = 0;
        std::size_t decided = 0; // nothing at all is allowed there: hidden keys, empty rows
        bool row_counted = false;
        double limit_at_worst = 0;
        double limit_share = 0;
        worst_element first;
    };

    [[nodiscard]] static bool is_finite(double x) { return x - x == 0; }
    // Distances are compared and shown to 1/64 ULP, so that the last digits of an estimate never choose the worst element.
    [[nodiscard]] static double to_64ths(double distance) {
        return distance < 0x1p40 ? std::floor(distance * 64 + 0.5) / 64 : distance;
    }

    [[nodiscard]] double limit_with_store(const arithmetic& a, double limit, const exact_number& exact) const {
        if (!exact.is_finite()) return 0;
        const double size = detail::absolute(static_cast<double>(exact)) + limit;
        if (size == 0) return 0; // a computed 0 is stored as 0
        double total = limit + half_ulp_of_store(format_, size);
        if (rounds_output_ && a.output.precision < format_.precision) total += half_ulp_of_store(a.output, size);
        return total;
    }

    [[nodiscard]] static bool is_outside(double got, const exact_number& exact, double radius, double limit) {
        if (!exact.is_finite()) return exact.is_nan() ? got == got : !(got == static_cast<double>(exact));
        if (!is_finite(got)) return is_finite(limit);
        if (!is_finite(limit)) return false;
        return abs(exact_number(got) - exact) > exact_number(limit) + exact_number(radius);
    }

    // Outside what the row's values allow at all: the limit is symmetric about the exact value, they need not be.
    [[nodiscard]] bool is_beyond(double got, const arithmetic& a, const element_facts& facts, std::size_t number) const {
        if (facts.beyond.empty() || !is_finite(facts.beyond[number]) || !is_finite(got)) return false;
        const auto with_store = [&](double bound) {
            const double size = detail::absolute(bound) + facts.beyond[number];
            double total = facts.beyond[number] + half_ulp_of_store(format_, size);
            if (rounds_output_ && a.output.precision < format_.precision) total += half_ulp_of_store(a.output, size);
            return total;
        };
        return got < facts.low - with_store(facts.low) || got > facts.high + with_store(facts.high);
    }

    void count_exact(double got, const exact_number& exact, double radius, bool may_be_zero) {
        if (!exact.is_finite()) {
            result_.exact += is_outside(got, exact, 0, 0) ? 0 : 1;
            return;
        }
        const double low = round_to(format_, exact - exact_number(radius)), high = round_to(format_, exact + exact_number(radius));
        if (low != high || may_be_zero) ++result_.unseparated;
        if (got >= low && got <= high) ++result_.exact;
    }

    [[nodiscard]] worst_element describe(std::size_t position, double got, const exact_number& exact, double distance) const {
        worst_element w;
        w.index.assign(result_.shape.size(), 0);
        for (std::size_t k = w.index.size(); k-- > 0; position /= result_.shape[k]) w.index[k] = position % result_.shape[k];
        w.got = got;
        w.expected = exact.text(20);
        w.correctly_rounded = round_to(format_, exact);
        w.ulp = is_finite(distance) ? to_64ths(distance) : distance;
        return w;
    }

    array_view candidate_;
    format format_;
    bool rounds_output_;
    std::vector<tally> tallies_;
    std::vector<const arithmetic*> possible_;
    output_result result_;
    double sum_of_squares_ = 0;
};

} // namespace attest
