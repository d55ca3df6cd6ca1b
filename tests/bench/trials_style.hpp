// SPDX-License-Identifier: BSL-1.0
// What right kernels differ in: everything that the contract of an arithmetic leaves open, drawn at random.
#pragma once

#include "attest/io/array.hpp"
#include "bench/trials_rounding.hpp"
#include "bench/trials_sums.hpp"

#include <stdexcept>
#include <string>
#include <string_view>

namespace trials {

using kernels::generator;
using kernels::inputs;
using kernels::scaling;

// `split`: each block of keys has its own softmax, and their outputs are merged by their lse.
enum class form { plain, flash, split };
// D_i = Σ_j α_ij dα_ij, or Σ_c dout_ic out_ic, with out as it was before its store, or after it.
enum class mean_from { weights, out, stored_out };
// How exp is off: hardly; always by 3 ULP one way; by up to 3 ULP as the bits of its argument say; or by |x| 2^−23, from x log2 e being rounded before exp2.
enum class exp_error { none, above, below, scattered, argument };

struct kernel_style {
    form shape = form::plain;
    std::size_t block = 16;           // keys a block, unless plain
    sum_style sum;                    // of every sum
    sum_style repeated;               // of scores that backward makes again
    scaling scale = scaling::of_product;
    bool base_two = false;            // exp2, log2 e folded into the scale where nothing is added to the scores
    exp_error exp = exp_error::none;
    bool divide_first = false;        // plain: weights are normalised before the product with V
    bool reciprocal = false;          // times 1/l for / l
    rounded_to operand = rounded_to::nothing;    // every operand of a product of matrices (tf32)
    rounded_to weights = rounded_to::nothing;    // weights before the products with V and with dout
    bool sum_of_stored = false;       // the denominator sums what is stored; lse does not
    rounded_to everything = rounded_to::nothing; // scaled q and k, scores, weights, their gradients, and gradients of scaled q and k
    rounded_to output = rounded_to::nothing;     // the final store, as D sees it
    // backward
    bool keep_weights = false;        // those of forward; else made again from scores and lse
    mean_from mean = mean_from::stored_out;
    bool apart = false;               // dS = α dα − α D for α (dα − D)
    rounded_to score_gradients = rounded_to::nothing; // dS before the products with q and k
    bool scale_early = false;         // on dS before it is stored

    [[nodiscard]] std::string text() const {
        const char *scalings[] = {"product", "query", "both"}, *means[] = {"weights", "out", "stored out"}, *exps[] = {"", ", exp 3 above", ", exp 3 below", ", exp off by 3", ", exp2(x log2 e)"};
        return (shape == form::plain ? "plain" : (shape == form::flash ? "blocks of " : "split ") + std::to_string(block)) + " " + sum.text() + ", again " + repeated.text() +
               ", scale on " + scalings[static_cast<int>(scale)] + (base_two ? ", base two" : "") + exps[static_cast<int>(exp)] + (divide_first ? ", divided first" : "") +
               (reciprocal ? ", reciprocal" : "") + (operand != rounded_to::nothing ? ", tf32" : "") + (weights != rounded_to::nothing ? ", stored weights" : "") +
               (sum_of_stored ? ", summed as stored" : "") + (everything != rounded_to::nothing ? ", all stored" : "") + (keep_weights ? ", weights kept" : "") + ", D from " +
               means[static_cast<int>(mean)] + (apart ? ", apart" : "") + (score_gradients != rounded_to::nothing ? ", stored dS" : "") + (scale_early ? ", scaled early" : "");
    }
};

// An arithmetic as the trials run it.
struct setting {
    const char* arithmetic;
    attest::dtype stored;
    const attest::format* format;
    rounded_to output;    // the final store
    bool stores_weights;  // X+f32, X
    bool stores_scores;   // X
    bool tf32;
};
inline constexpr setting all_settings[] = {
    {"f64", attest::dtype::f64, &attest::formats::f64, rounded_to::nothing, false, false, false},
    {"f32", attest::dtype::f32, &attest::formats::f32, rounded_to::nothing, false, false, false},
    {"tf32", attest::dtype::f32, &attest::formats::f32, rounded_to::nothing, false, false, true},
    {"bf16+f32", attest::dtype::bf16, &attest::formats::bf16, rounded_to::bf16, true, false, false},
    {"f16+f32", attest::dtype::f16, &attest::formats::f16, rounded_to::f16, true, false, false},
    {"bf16", attest::dtype::bf16, &attest::formats::bf16, rounded_to::bf16, true, true, false},
    {"f16", attest::dtype::f16, &attest::formats::f16, rounded_to::f16, true, true, false},
};
inline const setting& setting_of(std::string_view arithmetic) {
    for (const setting& s : all_settings)
        if (s.arithmetic == arithmetic) return s;
    throw std::invalid_argument("no such arithmetic");
}

inline sum_style draw_sum(generator& r) {
    const std::size_t widths[] = {2, 4, 8, 16, 32, 64, 128};
    sum_style s;
    s.order = static_cast<summing>(r.below(6));
    s.width = widths[r.below(7)];
    s.fma = r.below(2) == 0;
    s.seed = r.bits();
    return s;
}

// A kernel of an arithmetic that stores what it may store, if `always`; else each with probability 3/4. The rest is drawn.
inline kernel_style draw_style(const setting& s, form shape, std::size_t n_k, bool always, generator& r) {
    const std::size_t blocks[] = {1, 2, 7, 16, 32, 64, 128, n_k};
    const auto often = [&] { return r.below(4) != 0 || always; };
    kernel_style how;
    how.shape = shape;
    how.block = blocks[r.below(8)];
    how.sum = draw_sum(r);
    how.repeated = draw_sum(r);
    how.scale = static_cast<scaling>(r.below(3));
    how.base_two = r.below(3) == 0;
    how.divide_first = shape == form::plain && r.below(2) == 0;
    how.reciprocal = r.below(2) == 0;
    if (s.stored == attest::dtype::f64) how.exp = r.below(3) == 0 ? exp_error::argument : exp_error::none; // 1 ULP: none to spare
    else how.exp = static_cast<exp_error>(r.below(5));
    if (s.tf32) how.operand = rounded_to::tf32;
    if (s.stores_weights && often()) how.weights = s.output;
    if (s.stores_weights && often()) how.score_gradients = s.output;
    if (s.stores_scores && often()) how.everything = how.weights = how.score_gradients = s.output;
    how.output = s.output;
    how.keep_weights = shape == form::plain;
    how.mean = static_cast<mean_from>(r.below(3));
    how.apart = r.below(4) == 0;
    how.scale_early = r.below(2) == 0;
    // What is stored in 16 bits on the way to the scores is made the same way both times: the contract has no second rounding of it.
    if (how.everything != rounded_to::nothing) {
        how.repeated = how.sum;
        if (shape == form::plain) how.divide_first = true;
    }
    return how;
}

} // namespace trials
