// SPDX-License-Identifier: BSL-1.0
// The example of docs/decoder.md.
#include "attest/gradient/decoder.hpp"
#include "catch.hpp"
#include "docs/digits.hpp"

#include <type_traits>

namespace {
// [snippet]
#include <attest/gradient/decoder.hpp>

struct n : attest::axis<3> {};   // tokens of the target
struct m : attest::axis<2> {};   // tokens of the source
struct d_model : attest::axis<4> {};
struct H : attest::axis<2> {};
struct d_k : attest::per_head<d_model, H> {};
struct d_v : attest::per_head<d_model, H> {};
struct d_ff : attest::axis<8> {};
using encoder_weights = attest::encoder_layer_weights<double, d_model, H, d_k, d_v, d_ff>;
using decoder_weights = attest::decoder_layer_weights<double, d_model, H, d_k, d_v, d_ff>;

attest::layer_stack<encoder_weights, 2> encoders; // weights of 0 do for a look at shapes
attest::layer_stack<decoder_weights, 2> decoders;
attest::layer_norm_weights<double, d_model> norm;
attest::tensor<double, m, d_model> source{{1, 2, 3, 4}, {4, 3, 2, 1}};
attest::tensor<double, n, d_model> target{{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}};

const attest::block_options<double> options{.norm = attest::norm_position::pre};
const attest::tensor<double, m, d_model> memory = attest::encoder(source, encoders, &norm, options);
const attest::attention_how causal{.mask = attest::causal_top_left{}}; // of the target to itself; the memory is seen whole
const attest::tensor<double, n, d_model> out = attest::decoder(target, memory, decoders, &norm, options, causal);

// The same in one call, and its gradient, given that of the output. The layers' gradients come one at a time, from the last layer to the first.
const auto same = attest::encoder_decoder(source, target, encoders, &norm, decoders, &norm, options);
const auto gradient = attest::encoder_decoder_vjp(source, target, encoders, &norm, decoders, &norm, options, attest::encoder_decoder_how<>{}, out,
                                                  [](std::size_t, const encoder_weights&) {}, [](std::size_t, const decoder_weights&) {});
// gradient.dsource is 2 × 4, gradient.dtarget 3 × 4
// [/snippet]
} // namespace

TEST_CASE("what docs/decoder.md says of its example", "[docs]") {
    CHECK(out == same);
    CHECK(out == attest::layer_norm(target, norm)); // weights of 0 add nothing
    static_assert(std::is_same_v<decltype(gradient.dsource), attest::tensor<double, m, d_model>>);
    static_assert(std::is_same_v<decltype(gradient.dtarget), attest::tensor<double, n, d_model>>);
    CHECK(gradient.dsource == attest::tensor<double, m, d_model>{});
    CHECK(gradient.dtarget == attest::layer_norm_vjp(target, norm, options.layer_norm, out).dx);
}
