// SPDX-License-Identifier: BSL-1.0
// Certified values on both rungs that evaluate rows in blocks, and limits of f32, of one head of n tokens, d = 64, with the best kernels of the processor.

#include "visitors.hpp"

#include "kernels.hpp"

#include <benchmark/benchmark.h>

#include <array>
#include <random>

namespace {

using namespace attest;

template <class Number> struct head {
    std::size_t n;
    std::array<std::vector<Number>, 3> qkv;
    conventions how = read_conventions({{"op", "attention"}});
    std::vector<named_view> inputs;
    attention_problem problem;
    std::vector<certified_output> outputs;
    explicit head(std::size_t tokens) : n{tokens} {
        std::mt19937_64 generator(1);
        std::normal_distribution<> normal;
        for (std::size_t t = 0; t < 3; ++t) {
            for (std::size_t i = 0; i < n * 64; ++i) qkv[t].push_back(static_cast<Number>(normal(generator)));
            const auto type = std::same_as<Number, float> ? dtype::f32 : dtype::f64;
            inputs.emplace_back(std::string(1, "qkv"[t]), array_view{type, {n, 64}, reinterpret_cast<const std::byte*>(qkv[t].data())});
        }
        problem = make_attention_problem(how, inputs);
        outputs.push_back(attention_output(how, inputs, problem, "out").first);
    }
    template <class Visitor> void run(Visitor& visitor, rung first) const {
        certified_attention ladder(how, inputs, problem, outputs, visitor, fast::best_kernels());
        for (std::size_t i = 0; i < n; ++i) ladder.add_row(0, i);
        ladder.run(first, {});
    }
};

// Up to the last element; `settled`: the share that the first rung settles.
template <class Number> void certified(benchmark::State& state, const format& target, rung first) {
    const head<Number> x(static_cast<std::size_t>(state.range(0)));
    std::vector<double> out(x.n * 64);
    std::array<std::size_t, 4> settled{};
    bench::settling visitor{target, out.data(), settled.data()};
    for (auto _ : state) {
        settled = {};
        x.run(visitor, first);
    }
    state.counters["settled"] = static_cast<double>(settled[static_cast<std::size_t>(first)]) / static_cast<double>(out.size());
}
void certified_f32(benchmark::State& state) { certified<float>(state, formats::f32, rung::in_double); }
void certified_f64(benchmark::State& state) { certified<double>(state, formats::f64, rung::in_double_double); }

// Beside values and radii.
void limits(benchmark::State& state, bool expected) {
    const head<float> x(static_cast<std::size_t>(state.range(0)));
    for (auto _ : state) {
        bench::making_limits visitor(x.how, x.inputs, x.problem, *find_arithmetic("f32"), expected, *fast::best_kernels().limits);
        x.run(visitor, rung::in_double);
        state.SetIterationTime(visitor.seconds());
    }
}
void certain_limits(benchmark::State& state) { limits(state, false); }
void both_limits(benchmark::State& state) { limits(state, true); }

#define ATTEST_TOKENS ->ArgName("n")->Unit(benchmark::kMillisecond)->Arg(256)->Arg(1024)
BENCHMARK(certified_f32) ATTEST_TOKENS;
BENCHMARK(certified_f64) ATTEST_TOKENS;
BENCHMARK(certain_limits) ATTEST_TOKENS->UseManualTime();
BENCHMARK(both_limits) ATTEST_TOKENS->UseManualTime();

} // namespace
