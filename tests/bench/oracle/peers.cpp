// SPDX-License-Identifier: BSL-1.0
// What tests/bench/peers.py measures of the oracle: functions for its process, each runs one thing once and returns the seconds. Tensors are n × d, their
// elements of an attest::dtype.
//   g++ -O3 -march=native -shared -fPIC -std=c++20 -Iinclude tests/bench/oracle/peers.cpp -o oracle.so

#include "visitors.hpp"

#include "attest/oracle/check.hpp"

#include <algorithm>
#include <cstdio>
#include <exception>

namespace {

using namespace attest;
using namespace attest::bench;

struct tensors {
    std::size_t n, d;
    int type;
    const void *q, *k, *v;

    [[nodiscard]] array_view view(const void* data) const { return {static_cast<dtype>(type), {n, d}, static_cast<const std::byte*>(data)}; }
    [[nodiscard]] std::vector<named_view> inputs() const { return {{"q", view(q)}, {"k", view(k)}, {"v", view(v)}}; }
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
/// `settled`: elements settled by rules, in double, in double-double, in higher precision. `higher`: the seconds that the last of these and the rules took.
double attest_certified(const tensors* x, std::size_t rows, int target, double* out, std::size_t* settled, double* higher) {
    const format to = format_of(static_cast<dtype>(target));
    std::fill_n(settled, 4, 0);
    return seconds([&] {
        const conventions how = read_conventions({{"op", "attention"}});
        const std::vector<named_view> inputs = x->inputs();
        const attention_problem p = make_attention_problem(how, inputs);
        const std::vector<certified_output> outputs{attention_output(how, inputs, p, "out").first};
        const not_numbers apart(how, inputs, p, outputs);
        settling visitor{to, out, settled};
        certified_attention ladder(how, inputs, p, outputs, visitor);
        apart.for_each_row([&](std::size_t slice, std::size_t i) {
            if (i < rows) ladder.add_row(slice, i);
        });
        ladder.run(to == formats::f64 ? rung::in_double_double : rung::in_double, {});
        *higher = visitor.is_higher ? static_cast<double>(std::clock() - visitor.last_row) / CLOCKS_PER_SEC : 0;
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
