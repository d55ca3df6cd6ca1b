// SPDX-License-Identifier: BSL-1.0
// What tests/bench/peers.py measures of the oracle: functions for its process, each runs one thing once and returns the seconds. Tensors are n × d, their
// elements of an attest::dtype.
//   g++ -O3 -march=native -shared -fPIC -std=c++20 -Iinclude tests/bench/oracle/peers.cpp -o oracle.so

#include "../clock.hpp"

#include "attest/oracle/check.hpp"

#include <algorithm>
#include <cstdio>
#include <exception>

namespace {

using namespace attest;

struct tensors {
    std::size_t n, d;
    int type;
    const void *q, *k, *v;

    [[nodiscard]] array_view view(const void* data) const { return {static_cast<dtype>(type), {n, d}, static_cast<const std::byte*>(data)}; }
    [[nodiscard]] std::vector<named_view> inputs() const { return {{"q", view(q)}, {"k", view(k)}, {"v", view(v)}}; }
};

// Settles an element as `check` and `evaluate` do, where both ends of its enclosure round to one number, and asks for nothing else.
struct settling {
    format target;
    double* out;
    std::size_t* settled; // by each rung
    void begin_row(const row_values&) const {}
    void begin_columns() const {}
    template <class S> void begin_slice(const attention_engine<ball<S>>&, std::size_t) const {}
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

// Makes the limits of each row as `check` does, and settles nothing.
class making_limits {
public:
    making_limits(const conventions& how, const std::vector<named_view>& inputs, const attention_problem& p, const arithmetic& in, bool expected)
        : facts_(how, inputs, p, false), in_{in}, expected_{expected}, lambda_{expected_factor(static_cast<double>(p.n_q * p.d_v), how.false_alarm)} {}
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

// Seconds, or −1 and a line where it throws: no exception may reach Python.
template <class F> double seconds(const F& f) {
    try {
        return processor_seconds(f);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return -1;
    }
}

} // namespace

extern "C" {

const char* attest_kernels() { return fast::compiled_kernels().name; }

/// Values and radii of the first rows, up the ladder from the rung on which `check` begins, until each element is settled in the format of `target`. `out`: of all rows.
/// `settled`: elements settled by rules, in double, in double-double, in higher precision.
double attest_certified(const tensors* x, std::size_t rows, int target, double* out, std::size_t* settled) {
    const format to = format_of(static_cast<dtype>(target));
    std::fill_n(settled, 4, 0);
    return seconds([&] {
        const conventions how = read_conventions({{"op", "attention"}});
        const std::vector<named_view> inputs = x->inputs();
        const attention_problem p = make_attention_problem(how, inputs);
        const std::vector<certified_output> outputs{attention_output(how, inputs, p, "out").first};
        settling visitor{to, out, settled};
        const not_numbers apart(how, inputs, p, outputs);
        certified_attention ladder(how, inputs, p, outputs, visitor);
        apart.for_each_row([&](std::size_t slice, std::size_t i) {
            if (i < rows) ladder.add_row(slice, i);
        });
        ladder.run(to == formats::f64 ? rung::in_double_double : rung::in_double, {});
    });
}

/// Certain limits of all rows in the arithmetic of that name, and with `expected` both limits: what they take beside values and radii.
double attest_limits(const tensors* x, const char* arithmetic_name, int expected) {
    double taken = 0;
    const double all = seconds([&] {
        const conventions how = read_conventions({{"op", "attention"}});
        const std::vector<named_view> inputs = x->inputs();
        const attention_problem p = make_attention_problem(how, inputs);
        making_limits visitor(how, inputs, p, *find_arithmetic(arithmetic_name), expected != 0);
        certified_attention ladder(how, inputs, p, {attention_output(how, inputs, p, "out").first}, visitor);
        for (std::size_t i = 0; i < p.n_q; ++i) ladder.add_row(0, i);
        ladder.run(rung::in_double, {});
        taken = visitor.sum() > 0 ? visitor.seconds() : -1;
    });
    return all < 0 ? all : taken;
}

/// All of attest::check for a candidate of the inputs' type; `passed`: whether it did.
double attest_check(const tensors* x, const void* candidate, const char* arithmetic_name, int* passed) {
    return seconds([&] {
        const check_result result = check({{"op", "attention"}, {"arithmetic", arithmetic_name}}, x->inputs(), {{"out", x->view(candidate)}});
        *passed = passes(result.verdict) ? 1 : 0;
    });
}
}
