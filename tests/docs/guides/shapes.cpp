// SPDX-License-Identifier: BSL-1.0
// What docs/guides/shapes.md shows; it prints shapes.txt.
#include <cstdio>
#include <vector>

// [axes]
#include <attest/formula/attention.hpp>

struct word : attest::axis<3> {};  // the queries: three words
struct note : attest::axis<2> {};  // what they look at: two notes
struct d_k : attest::axis<2> {};   // components of queries and keys
struct d_v : attest::axis<4> {};   // components of values

constexpr attest::tensor<double, word, d_k> Q{{1, 0}, {0, 1}, {0, 0}};
constexpr attest::tensor<double, note, d_k> K{{8, 0}, {0, 8}};
constexpr attest::tensor<double, note, d_v> V{{1, 2, 3, 4}, {5, 6, 7, 8}};

constexpr auto Z = attest::attention(Q, K, V); // a tensor<double, word, d_v>, at compile time
static_assert(Z.length(0) == 3 && Z.length(1) == 4);
static_assert(Z(2, 0) == 3); // the third word sees both notes alike, and gets their mean
// [/axes]

// [dynamic]
struct n_q : attest::axis<attest::dynamic> {};
struct n_k : attest::axis<attest::dynamic> {};
using component = attest::axis<attest::dynamic>; // no name: it meets every axis of its length

std::vector<float> attend(const std::vector<float>& q, const std::vector<float>& k, const std::vector<float>& v, std::size_t d) {
    const auto queries = attest::shaped<n_q, component>(q, q.size() / d, d); // views: nothing is copied
    const auto keys = attest::shaped<n_k, component>(k, k.size() / d, d);
    const auto values = attest::shaped<n_k, component>(v, v.size() / d, d);
    const auto z = attest::attention(queries, keys, values);
    return {z.data(), z.data() + z.elements()};
}
// [/dynamic]

// [heads]
struct batch : attest::axis<attest::dynamic> {};
struct head : attest::axis<attest::dynamic> {};

template <class T> using heads_of = attest::view<T, batch, head, n_q, component>;

void attend_in_heads(heads_of<const double> q, heads_of<const double> k, heads_of<const double> v, heads_of<double> out) {
    for (std::size_t b = 0; b < q.length(0); ++b)
        for (std::size_t h = 0; h < q.length(1); ++h) {
            const auto z = attest::attention(q[b][h], k[b][h], v[b][h], attest::causal_top_left{});
            for (std::size_t i = 0; i < z.length(0); ++i)
                for (std::size_t c = 0; c < z.length(1); ++c) out[b][h](i, c) = z(i, c);
        }
}
// [/heads]

// [strides]
// Memory of [batch, sequence, head, component], seen as [batch, head, sequence, component]: only the strides change.
heads_of<const double> of_bnhd(const double* memory, std::size_t b, std::size_t n, std::size_t h, std::size_t d) {
    const auto step = [](std::size_t elements) { return static_cast<std::ptrdiff_t>(elements); };
    const std::ptrdiff_t strides[] = {step(n * h * d), step(d), step(h * d), 1};
    return {memory, attest::extents<batch, head, n_q, component>(b, h, n, d), strides};
}
// [/strides]

int main() {
    // [errors]
    try {
        attend(std::vector<float>(6), std::vector<float>(8), std::vector<float>(6), 2); // 4 keys, and 3 values
    } catch (const attest::shape_error& error) {
        std::puts(error.what());
    }
    try {
        attend(std::vector<float>(7), std::vector<float>(8), std::vector<float>(8), 2); // 7 numbers are no rows of 2
    } catch (const attest::shape_error& error) {
        std::puts(error.what());
    }
    // [/errors]

    // The third row of a memory in bnhd, seen through the strides, is what attention in heads makes of it.
    const std::size_t b = 2, n = 3, h = 2, d = 4;
    std::vector<double> memory(b * n * h * d), out(memory.size());
    for (std::size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<double>(i % 5);
    const auto x = of_bnhd(memory.data(), b, n, h, d);
    const auto z = attest::shaped<batch, head, n_q, component>(out, b, h, n, d);
    attend_in_heads(x, x, x, z);
    for (std::size_t i = 0; i < b; ++i)
        for (std::size_t j = 0; j < h; ++j)
            for (std::size_t c = 0; c < d; ++c)
                if (z(i, j, 0, c) != memory[i * n * h * d + j * d + c]) return 1; // the first query sees its own key alone
}
