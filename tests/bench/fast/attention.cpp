// SPDX-License-Identifier: BSL-1.0
// Attention of the double path, with the best kernels of the processor: one head of d = 64 over n tokens; eight heads on one thread and two; fixed n = d.
// FLOP/s count two products of 2 n² d forward, five backward.

#include "kernels.hpp"

#include "attest/fast/attention_gradient.hpp"

#include <benchmark/benchmark.h>

#include <random>

namespace {

using namespace attest;
using dyn = axis<dynamic>;
using stack = tensor<double, dyn, dyn, dyn>;

struct inputs {
    stack q, k, v, dout;
    inputs(std::size_t heads, std::size_t n, std::size_t d) {
        std::mt19937_64 generator(1);
        std::normal_distribution<> normal;
        for (stack* x : {&q, &k, &v, &dout}) {
            *x = stack::with_lengths(heads, n, d);
            for (std::size_t i = 0; i < x->elements(); ++i) x->data()[i] = normal(generator);
        }
    }
};
void count(benchmark::State& state, double products, std::size_t heads, std::size_t n, std::size_t d) {
    const double operations = products * 2 * static_cast<double>(heads * d) * static_cast<double>(n) * static_cast<double>(n);
    state.counters["FLOP/s"] = benchmark::Counter(operations, benchmark::Counter::kIsIterationInvariantRate, benchmark::Counter::kIs1000);
}

template <class M> void forward(benchmark::State& state, const M& mask) {
    const auto n = static_cast<std::size_t>(state.range(0)), heads = static_cast<std::size_t>(state.range(1));
    const inputs x(heads, n, 64);
    const fast::attention_options options{.threads = static_cast<unsigned>(state.range(2)), .with = &fast::best_kernels()};
    for (auto _ : state) benchmark::DoNotOptimize(fast::attention(x.q, x.k, x.v, mask, options));
    count(state, 2, heads, n, 64);
}
void full(benchmark::State& state) { forward(state, everything{}); }
void causal(benchmark::State& state) { forward(state, causal_top_left{}); }
void backward(benchmark::State& state) {
    const auto n = static_cast<std::size_t>(state.range(0)), heads = static_cast<std::size_t>(state.range(1));
    const inputs x(heads, n, 64);
    const fast::attention_options options{.threads = static_cast<unsigned>(state.range(2)), .with = &fast::best_kernels()};
    const auto result = fast::attention_with_lse(x.q, x.k, x.v, everything{}, options);
    for (auto _ : state) benchmark::DoNotOptimize(fast::attention_vjp(x.q, x.k, x.v, result, x.dout, everything{}, options));
    count(state, 5, heads, n, 64);
}

template <int N> void fixed(benchmark::State& state) {
    struct n : axis<N> {};
    struct d : axis<N> {};
    const inputs x(1, N, N);
    const view<const double, n, d> q(x.q.data(), {}), k(x.k.data(), {}), v(x.v.data(), {});
    for (auto _ : state) benchmark::DoNotOptimize(fast::attention(q, k, v, everything{}, {.with = &fast::best_kernels()}));
    count(state, 2, 1, N, N);
}

#define ATTEST_SIZES ->ArgNames({"n", "heads", "threads"})->Unit(benchmark::kMillisecond)->MeasureProcessCPUTime()->UseRealTime()
BENCHMARK(full) ATTEST_SIZES->ArgsProduct({{256, 1024, 4096, 16384}, {1}, {1}})->Args({1024, 1, 2})->Args({1024, 8, 1})->Args({1024, 8, 2});
BENCHMARK(causal) ATTEST_SIZES->ArgsProduct({{1024, 4096}, {1}, {1}});
BENCHMARK(fixed<4>);
BENCHMARK(fixed<16>);
BENCHMARK(fixed<64>);
BENCHMARK(backward) ATTEST_SIZES->ArgsProduct({{256, 1024, 4096}, {1}, {1}})->Args({1024, 8, 1})->Args({1024, 8, 2});

} // namespace
