// SPDX-License-Identifier: BSL-1.0
/// \file
/// The limits of one row's forward results, certain and expected, in one arithmetic: scores, weights, lse and out of attention; out of softmax.
///
/// The certain ones are derived in limits_row.hpp (from scores: limits_score.hpp), the expected ones of `out` in limits_expected.hpp. Scores, weights
/// and lse have one source of error that dominates the others: their expected limit is the certain one.
#pragma once

#include "attest/oracle/element_limits.hpp"
#include "attest/oracle/limits_sums.hpp"

namespace attest {

/// √(2 log(2N/δ)): so many b does a sum of independent errors with Σb² = b² exceed with probability δ/N. N: all elements of all outputs, times the
/// arithmetics that are tried. Never below 6, since errors that round alike (limits_alike.hpp) may reach √32 = 5.66 times the root of Σb².
[[nodiscard]] inline double expected_factor(double elements, double false_alarm) {
    return std::max(6.0, detail::unfused(attest::sqrt(2 * attest::log(2 * std::max(elements, 1.0) / false_alarm)) * detail::slack));
}

/// All are limits before the final store. The arithmetic and the facts are the caller's, and must stay. Not for several threads at once.
class forward_limits {
public:
    forward_limits(const arithmetic& a, const row_facts& f, double lambda) : a_{a}, f_{f}, lambda_{lambda}, certain_(a, f) {}

    /// True if nothing can be said of the row but raw scores.
    [[nodiscard]] bool unbounded() const { return certain_.unbounded(); }

    /// Of raw = q · k (and the like) of any key.
    [[nodiscard]] element_limits raw_score(const score_size& s) const { return only_certain({certain_.raw_score(s)}); }
    /// Of visible key j.
    [[nodiscard]] element_limits score(std::size_t j) const { return only_certain({certain_.score(j)}); }
    [[nodiscard]] element_limits weight(std::size_t j) const { return only_certain(certain_.weight(j)); }
    /// Of what is decided in a row: a hidden key's weight, an empty row. Nothing is allowed, but where a score may overflow the whole row may be NaN.
    [[nodiscard]] element_limits decided() const { return unbounded() ? element_limits{} : element_limits{0, 0, 0}; }
    [[nodiscard]] element_limits lse() const { return only_certain({certain_.lse()}); }

    /// What the row's values can give: the hull of f_j v_je, with 0 where there is a sink.
    struct range {
        double low, high;
    };
    /// What is known of the output's components.
    struct output_limits {
        std::vector<element_limits> limits;
        std::vector<range> hulls;
    };
    /// Of all components: `exact` is o, `values` what the query sees. `moves`: for arithmetics that store scores, what a stored query does (of the same
    /// row); without it the expected limit is wider, up to the certain one where rows are long. `first`: the number of the first component there.
    void output(std::span<const double> exact, const seen_values& values, const query_moves* moves, output_sums& sums, output_limits& to,
                std::size_t first = 0) const {
        const std::size_t d = values.components();
        to.limits.assign(d, element_limits{0, 0, 0});
        to.hulls.resize(d);
        sums.begin(certain_, values, exact);
        const double no_sign = f_.sink ? 0.0 : -0.0; // a sink's 0 is +0
        for (std::size_t e = 0; e < d; ++e) to.hulls[e] = {sums.low(e) + no_sign, sums.high(e) + no_sign};
        if (f_.weight.empty()) return; // no key is visible: zero or NaN, exactly
        if (unbounded()) {
            to.limits.assign(d, {});
            return;
        }
        if (!expected_) expected_.emplace(a_, f_, certain_, lambda_);
        sums.add_up(certain_, &*expected_);
        for (std::size_t e = 0; e < d; ++e) {
            const bound certain = certain_.output(exact[e], sums.certain(e));
            if (!(certain.limit < detail::infinity_of_double) || certain.limit == 0) to.limits[e] = {certain.limit, certain.limit, certain.beyond};
            else
                to.limits[e] = {certain.limit, std::min(certain.limit, expected_->output(exact[e], sums.expected(e), moves, first + e)), certain.beyond};
        }
    }
    /// Of component e alone: `exact` is o_e, `value(j)` is v_je of visible key j.
    template <class Value>
    [[nodiscard]] element_limits out(double exact, const Value& value, const query_moves* moves = nullptr, std::size_t e = 0) const {
        const seen_values values(f_.weight.size(), value);
        output_sums sums;
        output_limits limits;
        output({&exact, 1}, values, moves, sums, limits, e);
        return limits.limits.front();
    }
    template <class Value> [[nodiscard]] range hull(const Value& value) const {
        range r{f_.sink ? 0 : detail::infinity_of_double, f_.sink ? 0 : -detail::infinity_of_double};
        for (std::size_t j = 0; j < f_.weight.size(); ++j) {
            const double v = detail::unfused(f_.factor_of(j) * value(j));
            r = {std::min(r.low, v), std::max(r.high, v)};
        }
        return r;
    }

private:
    [[nodiscard]] static element_limits only_certain(const bound& b) { return {b.limit, b.limit, b.beyond}; }

    const arithmetic& a_;
    const row_facts& f_;
    double lambda_;
    row_limits certain_;
    mutable std::optional<expected_output> expected_; // made when it is asked for
};

/// The certain limit of a score alone, as the op `score` gives it: `scaled` is |raw · scale|.
[[nodiscard]] inline element_limits limits_of_score(const arithmetic& a, const score_rule& rule, const score_size& s, double scaled) {
    const double limit = detail::unfused(score_errors(a, rule).before_added(s, scaled) * detail::slack);
    return {limit, limit, detail::infinity_of_double};
}

} // namespace attest
