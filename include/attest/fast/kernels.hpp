// SPDX-License-Identifier: BSL-1.0
/// \file
/// The kernels of the double path as plain data: a table of functions, compiled for one instruction set. Everything else of `fast/` calls such a table:
/// that of the translation unit's own flags (fast/compiled.hpp), or one that a program chose at run time (tools/kernels.cpp).
///
/// How often each result is rounded is said here, for the bounds. The order of all sums is the same on every target, and products and sums are rounded
/// together on all of them (fast/pack-inl.hpp): the same bits everywhere.
#pragma once

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

/// Bits of the slices that weights are cut into: 2 · 23 and the 7 of `sum_block` make 53.
inline constexpr int weight_bits = 23;
/// What exponentials_in_two loses, as a part of e^x (fast/exp_in_two-inl.hpp); far below the shift it is 0, off by less than 2^−1000.
inline constexpr double exp_in_two_error = 0x1p-94;

/// Scores as unevaluated sums of two doubles: (a + b + c) · scale + bias. Shapes: a, b, c, high, low m × n; rows of all of them can be read, and of the last two written,
/// up to the next multiple of 8 columns.
struct join_call {
    const double *a, *b, *c;
    std::ptrdiff_t row;
    std::size_t m, n;
    double scale_high, scale_low;
    double *high, *low; ///< −∞ and 0 where a key is hidden, and behind the last
    std::ptrdiff_t s_row;
    double* maximum;       ///< of each row: raised to the greatest visible `high`
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
    double* slices; ///< the slices p1, p2, p3 and p' of p, or null
    std::ptrdiff_t slice_row, next_slice;
    double* sums; ///< of each row 24 doubles, added to: 8 lanes of high parts of Σ p, of low parts, and of Σ p_high²
};

/// (a + b + c) / divisor. Shapes: all m × n, a row after the other; divisors m.
struct quotients_call {
    const double *a_high, *a_low, *b_high, *b_low, *c;
    std::size_t m, n;
    const double *divisor_high, *divisor_low;
    double *high, *low;
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

    /// high + low is (a + b + c) · scale + bias. With u = 2^−53: a + b = t + l exactly and l + c is rounded, by u |l + c|; the product is that of
    /// arithmetic/double_double.hpp; score + bias = t + l exactly, and l + low is rounded, |l + low| <= u |score| + u |score + bias|.
    void (*join_scores)(const join_call& call);

    /// p_high + p_low is e^x, but for exp_in_two_error, x = high + low − maximum: its low part is rounded, by u times at most u |high| + u |x|.
    ///
    /// Slices: p1, a multiple of 2^−23, is p_high but for at most 2^−24; p2, one of 2^−46, is the rest of p_high but for at most 2^−47; p3 is that rest plus p_low,
    /// rounded; p' is p2 + p3, rounded.
    ///
    /// Sums: each high part of a lane is exact but for what goes to its low part, which takes it and p_low in two roundings.
    void (*exponentials_in_two)(const exponentials_in_two_call& call);

    /// high_j + low_j grows by x_j: exactly, but that low_j is rounded.
    void (*add_to_pairs)(const double* x, std::size_t n, double* high, double* low);

    /// high + low is (a_high + a_low + b_high + b_low + c) / divisor: the low parts and c are added in four roundings, of sums that are at most |a_low| + |b_low| +
    /// u |a_high + b_high| + |c| large; the quotient loses 11u² of itself (arithmetic/double_double.hpp).
    void (*quotients)(const quotients_call& call);
};

/// Doubles that `pack` writes.
inline std::size_t packed_elements(const kernels& k, std::size_t depth, std::size_t n) { return (n + k.panel - 1) / k.panel * k.panel * depth; }

} // namespace attest::fast
