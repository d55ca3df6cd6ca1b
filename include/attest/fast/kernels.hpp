// SPDX-License-Identifier: BSL-1.0
/// \file
/// The kernels of the double path as plain data: a table of functions, compiled for one instruction set. Everything else of `fast/` calls such a table:
/// that of the translation unit's own flags (fast/compiled.hpp), or one that a program chose at run time (tools/kernels.cpp).
///
/// How often each result is rounded is said here, for the bounds. The order of all sums is the same on every target, and products and sums are rounded
/// together on all of them (fast/pack-inl.hpp): the same bits everywhere.
#pragma once

#include "attest/fast/limit_kernels.hpp"

#include <cstddef>

namespace attest::fast {

/// A matrix in somebody's memory: element (i, j) lies at at[i · row + j · column].
struct strided {
    const double* at;
    std::ptrdiff_t row, column = 1;
};

/// Sums run over blocks of so many products, each from the first on; the sums of the blocks are added up from the first on.
inline constexpr std::size_t sum_block = 128;

/// How often a term of a sum of `n` products is rounded on its way into the sum, at most: product and sum are rounded together. So the
/// computed Σ a_c b_c is off by at most γ_r Σ |a_c b_c|, with γ_r = r u / (1 − r u), r this number and u = 2^−53 (as long as nothing underflows: each
/// product below the normal numbers adds at most 2^−1075).
constexpr std::size_t roundings_of_products(std::size_t n) {
    return n <= sum_block ? n : sum_block + (n + sum_block - 1) / sum_block - 1;
}

/// How often a term of the sum of `n` exponentials in a row is rounded, at most: they are added in 8 lanes, and then the lanes in pairs.
constexpr std::size_t roundings_of_row_sum(std::size_t n) { return (n + 7) / 8 - (n > 0) + 3; }

/// A matrix product C = A B, where B was packed. Shapes: A m × depth, B depth × n, C m × n.
struct product_call {
    strided a;
    std::size_t m, depth;
    const double* b;     ///< from `pack`, of a matrix of b_depth rows; moved on by f panel rows (f · panel doubles) to begin at its row f
    std::size_t b_depth;
    std::size_t n;
    double* c;
    std::ptrdiff_t c_row;
    double scale = 1;                ///< C = scale · (A B): one rounding more, unless it is 1
    const double* divisors = nullptr; ///< row i is divided by divisors[i]: one rounding more
    bool add = false;                ///< C is added to, the sum of the first block to begin with: one rounding more
};

/// What each row of a block of scores may see, and what is added to them. Each pointer may be null.
struct visibility {
    const unsigned char* seen = nullptr; ///< seen[i · seen_row + j]: 0 hides key j from row i
    std::ptrdiff_t seen_row = 0;
    const double* bias = nullptr; ///< bias[i · bias_row + j] is added to the score (rounded once); −∞ hides
    std::ptrdiff_t bias_row = 0;
    const std::size_t* first = nullptr; ///< row i sees none before first[i]
    const std::size_t* last = nullptr;  ///< and none from last[i] on
};

/// Exponentials of a block of scores. Shapes: s m × n, p m × n (may be s), maximum m, sum m.
struct exponentials_call {
    const double* s;
    std::ptrdiff_t s_row;
    std::size_t m, n;
    double* p;
    std::ptrdiff_t p_row;
    double* maximum; ///< written: the greatest visible score, −∞ where none is; or, if `given`, read
    double* sum;     ///< 0 where no key is visible
    visibility mask = {};
    bool given = false; ///< what is subtracted stands in `maximum` already (the backward pass: the log of the sum of exponentials)
};

/// Shapes: p m × n, d m × n, mean m.
struct softmax_gradient_call {
    const double* p;
    std::ptrdiff_t p_row;
    std::size_t m, n;
    double* d;
    std::ptrdiff_t d_row;
    const double* mean;
};

/// Shapes: x m × n, y m × n (may be x), gamma n, beta n.
struct layer_norm_call {
    const double* x;
    std::ptrdiff_t x_row;
    std::size_t m, n;
    double* y;
    std::ptrdiff_t y_row;
    const double* gamma = nullptr; ///< null: ones
    const double* beta = nullptr;  ///< null: zeros
    double eps = 1e-5;
    bool eps_in_root = true; ///< √(σ² + ε), else σ + ε
    bool unbiased = false;   ///< the squares are divided by n − 1, else by n
};

/// Sums of two doubles run over blocks of so many products, each from the first on; the low parts of the blocks are added up from the first on.
inline constexpr std::size_t pair_block = 256;

/// What the sum of `n` products with a result of two doubles loses, as a part of 2^E (fast/product_in_two-inl.hpp): u 2^−52 (B (l + 2)² + B (n + 2))/2, from above.
constexpr double error_of_products_in_two(std::size_t n) {
    const std::size_t blocks = (n + pair_block - 1) / pair_block, length = n < pair_block ? n : pair_block;
    return static_cast<double>(blocks * (length + 2) * (length + 2) + blocks * (n + 2)) * (0x1p-106 * (1 + 0x1p-20));
}
/// What exponentials_in_two loses, as a part of e^x (fast/exp_in_two-inl.hpp); far below the shift it is 0, off by less than 2^−1000.
inline constexpr double exp_in_two_error = 0x1p-94;

/// C = A B as unevaluated sums of two doubles, where B was packed. Shapes as in product_call.
struct product_in_two_call {
    const double* a;
    const double* a_low; ///< low parts of A, at most 2^−53 of it, in the same places; or null
    std::ptrdiff_t a_row;
    std::size_t m, depth;
    const double* b; ///< as in product_call
    std::size_t b_depth;
    std::size_t n;
    const double *row_base, *column_base; ///< m, n: their product is 1.5 · 2^E for each element, Σ |a b| (1 + 2^−21) < 2^(E − 1), −900 <= E <= 1000
    double *high, *low;                   ///< not normalised: low may be more than an ULP of high
    std::ptrdiff_t c_row;
};

/// Scores as sums of two doubles, in place: (high + low) · scale + bias, normalised. Shapes: m × n; rows of high and low can be read and written up to the next multiple of 8
/// columns.
struct scale_scores_call {
    double *high, *low; ///< −∞ and 0 where a key is hidden, and behind the last
    std::ptrdiff_t s_row;
    std::size_t m, n;
    double scale_high, scale_low;
    double* maximum;      ///< of each row: raised to the greatest visible `high`
    visibility mask = {}; ///< but for `first` and `last`
};

/// Exponentials of scores of two doubles, as such. Shapes as above; rows of all can be read and written up to the next multiple of 8 columns.
struct exponentials_in_two_call {
    const double *high, *low; ///< −∞: hidden
    std::ptrdiff_t s_row;
    std::size_t m, n;
    const double* maximum; ///< of each row, what is subtracted, below 2^48 in magnitude; −∞: 0
    double *p_high, *p_low;
    std::ptrdiff_t p_row;
    double* sums; ///< of each row 24 doubles: 8 lanes of high parts of Σ p, of low parts, and of Σ p_high²
};

/// (high + low)/divisor, in place, normalised. Shapes: m × n, a row after the other; divisors m.
struct quotients_call {
    double *high, *low;
    std::size_t m, n;
    const double *divisor_high, *divisor_low;
};

struct kernels {
    const char* name;  ///< of the instruction set
    bool has_fma;      ///< has the processor an operation for a · b + c, or is it a call of std::fma?
    std::size_t lanes; ///< doubles in a vector
    std::size_t panel; ///< columns of a packed panel

    /// Packs B, depth × n: panels of `panel` columns, each row by row, zeros beyond the last column. Writes packed_elements(depth, n) doubles; memory
    /// aligned to 64 bytes is fastest. The transpose of a matrix is packed by exchanging its strides.
    void (*pack)(const strided& b, std::size_t depth, std::size_t n, double* packed);

    /// C = scale · A B / divisors. Each element of A B is a sum of `depth` products: roundings_of_products(depth).
    void (*multiply)(const product_call& call);

    /// p_ij = exp(s_ij + bias_ij − maximum_i), and 0 where key j is hidden; sum_i = Σ_j p_ij, of the rounded p_ij: roundings_of_row_sum(n).
    ///
    /// With x the difference: its rounding is at most 2^−53 |x|, and exp is off by at most exp_error_relative (0x1.2p-53; elementary/exp.hpp) of e^x; below
    /// x = −708 the result is 0, off by less than 2^−1021. Scores must be below 2^1000 in magnitude where they are visible.
    void (*exponentials)(const exponentials_call& call);

    /// d_ij = p_ij (d_ij − mean_i): two roundings.
    void (*softmax_gradient)(const softmax_gradient_call& call);

    /// sums_i = Σ_j a_ij b_ij, for m rows of n: each product is rounded, and then as often as a term of a row's sum.
    void (*row_products)(const strided& a, const strided& b, std::size_t m, std::size_t n, double* sums);

    /// x_ij / divisors_i in place; x_ij + bias_j in place: one rounding.
    void (*divide_rows)(double* x, std::ptrdiff_t row, std::size_t m, std::size_t n, const double* divisors);
    void (*add_to_rows)(double* x, std::ptrdiff_t row, std::size_t m, std::size_t n, const double* bias);

    /// y_ij = gamma_j (x_ij − μ_i)/√(σ_i² + ε) + beta_j. μ: a row's sum, and the division by n. σ²: the difference x − μ is rounded once, its square and the
    /// sum of squares 1 + roundings_of_row_sum(n) times, the division once. Then: the sum with ε, the root, x − μ, the quotient, the product with gamma, the sum
    /// with beta, once each.
    void (*layer_norm)(const layer_norm_call& call);

    /// y_j = gelu(x_j), the form with erf: off by at most 2^−52 |x_j| (measured); max(x_j, 0). y may be x.
    void (*gelu)(const double* x, std::size_t n, double* y);
    void (*relu)(const double* x, std::size_t n, double* y);

    const limit_kernels* limits; ///< what the oracle's limits are made with (fast/limit_kernels.hpp): the same bits on every target
    /// Each element of C is off by error_of_products_in_two(depth) · 2^E, and by 3 · 2^−1075 for each product where something underflows.
    void (*multiply_in_two)(const product_in_two_call& call);

    /// The product is that of arithmetic/double_double.hpp: off by 5u² of itself (u = 2^−53). score + bias = t + l exactly, and l + low is rounded: by u |l + low|, which is at
    /// most u² (|score| + |score + bias|).
    void (*scale_scores)(const scale_scores_call& call);

    /// p_high + p_low is e^x, but for exp_in_two_error, x = high + low − maximum: its low part is rounded, by u times at most u |high| + u |x|.
    ///
    /// Sums: each high part of a lane is exact but for what goes to its low part, which takes it and p_low in two roundings.
    void (*exponentials_in_two)(const exponentials_in_two_call& call);

    /// Off by 11u² of the quotient (arithmetic/double_double.hpp), and by 2^−1060 where something underflows, for divisors of two doubles from 1/2 to 2^60.
    void (*quotients)(const quotients_call& call);
};

/// Doubles that `pack` writes.
inline std::size_t packed_elements(const kernels& k, std::size_t depth, std::size_t n) { return (n + k.panel - 1) / k.panel * k.panel * depth; }

} // namespace attest::fast
