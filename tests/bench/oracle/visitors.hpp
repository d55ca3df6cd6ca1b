// SPDX-License-Identifier: BSL-1.0
// Visitors of the ladder (oracle/certified_attention.hpp) that do one part of a check alone, for the benchmarks.
#pragma once

#include "../clock.hpp"

#include "attest/oracle/attention_facts.hpp"
#include "attest/oracle/certified_attention.hpp"

namespace attest::bench {

/// Settles an element as `check` and `evaluate` do, where both ends of its enclosure round to one number, and asks for nothing else.
struct settling {
    static constexpr bool ignores_rows = true;
    format target;
    double* out;
    std::size_t* settled;       ///< by each rung
    std::clock_t last_row = 0;  ///< when the last row began on a rung that evaluates rows in blocks
    bool is_higher = false;     ///< whether there was a rung of higher precision
    void begin_row(const row_values&) {
        if (!is_higher) last_row = std::clock();
    }
    void begin_columns() const {}
    template <class S> void begin_slice(const attention_engine<ball<S>>&, std::size_t) { is_higher = std::same_as<S, big_float>; }
    template <class S> void end_slice(const slice_gradient<ball<S>>&, std::size_t) const {}
    void decided(std::size_t, std::size_t position, std::size_t, const exact_rational& x, std::size_t, std::size_t) const {
        count(position, round_to(target, attest::enclosure_of(x).value), rung::decided);
    }
    template <class S> bool element(const certified_element<S>& e) const {
        const rounded_ends ends = ends_of(target, e.value);
        if (!ends.agree() && !e.last) return false;
        count(e.position, ends.low, e.from);
        return true;
    }
    void count(std::size_t position, double value, rung from) const {
        out[position] = value;
        ++settled[static_cast<std::size_t>(from)];
    }
};

/// Makes the limits of each row as `check` does for an arithmetic that stores nothing in 16 bits, and settles nothing.
class making_limits {
public:
    making_limits(const conventions& how, const std::vector<named_view>& inputs, const attention_problem& p, const arithmetic& in, bool expected,
                  const fast::limit_kernels& kernels = fast::compiled_limit_kernels())
        : facts_(how, inputs, p, in.score > 0, kernels), in_{in}, expected_{expected}, lambda_{expected_factor(static_cast<double>(p.n_q * p.d_v), how.false_alarm)} {}
    /// What they took beside values and radii.
    [[nodiscard]] double seconds() const { return seconds_; }
    [[nodiscard]] double sum() const { return sum_; }

    template <class S> void begin_slice(const attention_engine<ball<S>>& engine, std::size_t slice) {
        seconds_ += processor_seconds([&] {
            facts_.enter(engine, slice);
            seen_.enter(facts_.values());
        });
    }
    void begin_row(const row_values& values) {
        seconds_ += processor_seconds([&] { make(values); });
    }
    void begin_columns() const {}
    template <class S> void end_slice(const slice_gradient<ball<S>>&, std::size_t) const {}
    void decided(std::size_t, std::size_t, std::size_t, const exact_rational&, std::size_t, std::size_t) const {}
    template <class S> bool element(const certified_element<S>&) const { return true; }

private:
    void make(const row_values& values) {
        const row_facts row = facts_.row(values);
        seen_.see(values.visible);
        if (expected_) {
            forward_limits(in_, row, lambda_).output(values.out, seen_, nullptr, sums_, limits_);
            for (const element_limits& of : limits_.limits) sum_ += of.expected;
            return;
        }
        const row_limits certain(in_, row);
        sums_.begin(certain, seen_, values.out);
        sums_.add_up(certain, nullptr);
        for (std::size_t e = 0; e < values.out.size(); ++e) sum_ += certain.output(values.out[e], sums_.certain(e)).limit;
    }
    attention_facts facts_;
    const arithmetic& in_;
    bool expected_;
    double lambda_;
    seen_values seen_;
    output_sums sums_;
    forward_limits::output_limits limits_;
    double seconds_ = 0, sum_ = 0;
};

} // namespace attest::bench
