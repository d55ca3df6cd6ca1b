// SPDX-License-Identifier: BSL-1.0
// An example of docs/encoder.md: the encoder of the original paper, whole. With ATTEST_PROGRAM_ALONE it is a program with its own main.
#ifndef ATTEST_PROGRAM_ALONE
#include "attest/formula/encoder.hpp"
#include "catch.hpp"
#include "docs/digits.hpp"

#include <cstdio>
#include <random>

namespace {
#define main transformer_base
#endif
// [snippet]
#include <attest/formula/encoder.hpp>

#include <cstdio>
#include <random>

struct n : attest::axis<64> {};
struct d_model : attest::axis<512> {};
struct H : attest::axis<8> {};
struct d_k : attest::per_head<d_model, H> {};
struct d_v : attest::per_head<d_model, H> {};
struct d_ff : attest::axis<2048> {};
using layer = attest::encoder_layer_weights<double, d_model, H, d_k, d_v, d_ff>;

auto base_encoder() {
    std::mt19937 generator;
    const auto fill = [&](auto& matrix) { // numbers in [-1, 1), divided by the root of the number of rows
        for (std::size_t e = 0; e < matrix.elements(); ++e)
            matrix.data()[e] = (double(generator()) * 0x1p-31 - 1) / attest::sqrt(double(matrix.length(0)));
    };
    attest::layer_stack<layer, 6> layers; // biases are 0, gamma 1, beta 0
    for (layer& l : layers) {
        fill(l.self_attn.w_q), fill(l.self_attn.w_k), fill(l.self_attn.w_v), fill(l.self_attn.w_o);
        fill(l.ffn.w_1), fill(l.ffn.w_2);
    }
    attest::tensor<double, n, d_model> X;
    fill(X);
    return attest::encoder(X, layers);
}

int main() {
    const auto Z = base_encoder();
    std::printf("%.5f %.5f ... %.5f\n", Z(0, 0), Z(0, 1), Z(63, 511));
    return 0;
}
// [/snippet]
#ifndef ATTEST_PROGRAM_ALONE
#undef main
} // namespace

TEST_CASE("the base encoder of the original paper runs", "[docs]") {
    const auto Z = base_encoder();
    CHECK(docs::with_digits(attest::tensor<double, attest::axis<3>>{Z(0, 0), Z(0, 1), Z(63, 511)}, 5) == "0.40964, -0.51503, -0.65363");
    CHECK(transformer_base() == 0);
    CHECK(sizeof(attest::layer_stack<layer, 6>) < 400'000); // what a stack must hold: the matrices lie on the heap
}
#endif
