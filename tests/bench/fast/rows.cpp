// SPDX-License-Identifier: BSL-1.0
// What stands around attention in the double path, with the best kernels of the processor: softmax, layer normalisation, GELU, projections and the feed-forward
// network of n tokens, d_model = 512, d_ff = 2048.

#include "kernels.hpp"

#include "attest/fast/projection.hpp"
#include "attest/fast/row_functions.hpp"

#include <benchmark/benchmark.h>

#include <random>

namespace {

using namespace attest;
using dyn = axis<dynamic>;
using matrix = tensor<double, dyn, dyn>;
constexpr std::size_t d_model = 512, d_ff = 2048;

matrix random_matrix(std::size_t rows, std::size_t columns) {
    std::mt19937_64 generator(1);
    std::normal_distribution<> normal;
    matrix x = matrix::with_lengths(rows, columns);
    for (std::size_t i = 0; i < x.elements(); ++i) x.data()[i] = normal(generator);
    return x;
}
tensor<double, dyn> zeros(std::size_t length) { return tensor<double, dyn>::with_lengths(length); }
std::size_t tokens(const benchmark::State& state) { return static_cast<std::size_t>(state.range(0)); }

// f(x) of n × columns; counts elements, or for products operations.
template <class F> void rows(benchmark::State& state, std::size_t columns, const F& f) {
    const matrix x = random_matrix(tokens(state), columns);
    for (auto _ : state) benchmark::DoNotOptimize(f(x));
    state.SetItemsProcessed(state.iterations() * state.range(0) * static_cast<std::int64_t>(columns));
}
template <class F> void products(benchmark::State& state, double multiplications_of_token, const F& f) {
    const matrix x = random_matrix(tokens(state), d_model);
    for (auto _ : state) benchmark::DoNotOptimize(f(x));
    const double operations = 2 * multiplications_of_token * static_cast<double>(tokens(state));
    state.counters["FLOP/s"] = benchmark::Counter(operations, benchmark::Counter::kIsIterationInvariantRate, benchmark::Counter::kIs1000);
}

const fast::kernels* best() { return &fast::best_kernels(); }

void softmax(benchmark::State& state) {
    rows(state, tokens(state), [](const matrix& x) { return fast::softmax(x, everything{}, empty_row::zero, best()); });
}
void layer_norm(benchmark::State& state) {
    rows(state, d_model, [](const matrix& x) { return fast::layer_norm(x, layer_norm_options<double>{}, best()); });
}
void gelu(benchmark::State& state) {
    rows(state, d_ff, [](const matrix& x) { return fast::gelu(x, best()); });
}
void projection(benchmark::State& state) {
    const matrix w = random_matrix(d_model, d_model);
    products(state, d_model * d_model, [&](const matrix& x) { return fast::project_in_out(x, w, zeros(d_model), {.with = best()}); });
}
void feed_forward(benchmark::State& state) {
    const feed_forward_weights<double, dyn, dyn> w{random_matrix(d_model, d_ff), zeros(d_ff), random_matrix(d_ff, d_model), zeros(d_model)};
    products(state, 2 * d_model * d_ff, [&](const matrix& x) { return fast::feed_forward(x, w, activation{activation_kind::gelu, gelu_form::erf}, {.with = best()}); });
}

#define ATTEST_TOKENS ->ArgName("n")->Unit(benchmark::kMillisecond)->Arg(256)->Arg(1024)
BENCHMARK(softmax) ATTEST_TOKENS;
BENCHMARK(layer_norm) ATTEST_TOKENS;
BENCHMARK(gelu) ATTEST_TOKENS;
BENCHMARK(projection) ATTEST_TOKENS;
BENCHMARK(feed_forward) ATTEST_TOKENS;

} // namespace
