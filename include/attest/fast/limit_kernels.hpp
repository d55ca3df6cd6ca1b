// SPDX-License-Identifier: BSL-1.0
/// \file
/// The sums that the limits of a row are made of, as plain data: a table of functions, compiled for one instruction set.
///
/// Lanes are the components of the output (or the keys, where scores are made): each lane does the operations of one component, key after key. So the bits
/// depend neither on the number of lanes nor on the target; no product is fused with a sum. What the sums mean is said in oracle/limits_row.hpp,
/// limits_expected.hpp, limits_alike.hpp, limits_query.hpp and limits_score_sizes.hpp; here is how they are added up.
///
/// In the formulas v_je is the value of entry j, times its factor if there are factors; x = v − o_e; |v − o| is 0 for x = 0, else |x| + 2^−51 (|v| + |o_e|),
/// unless it is said otherwise. All sums begin at 0. Arrays over the components have room for a whole number of `limit_lanes`, and can be read so far.
#pragma once

#include <cstddef>
#include <cstdint>

namespace attest::fast {

/// Rows of components are padded to a multiple of this.
inline constexpr std::size_t limit_lanes = 8;
constexpr std::size_t padded_to_lanes(std::size_t components) { return (components + limit_lanes - 1) / limit_lanes * limit_lanes; }

/// What a query sees.
struct limit_values {
    const double* const* row; ///< of each entry: its value's components
    const double* factor;     ///< of each entry; null: all 1
    std::size_t entries, components;
    const double* exact;      ///< o
};

/// Sums of distances and of the terms weight_j v_j, each over blocks of `partial_block` entries, whose sums are added up from the first on. `sums`: one array for
/// each of `term`, `stride` apart.
struct main_sums_call {
    enum term : std::size_t {
        moved,          ///< Σ raised |v − o|, v − o as computed
        expected_moved, ///< Σ expected_raised |v − o|
        expected_all,   ///< Σ expected_most |v|; not written without expected_most
        prefix,         ///< Σ weight v
        sizes,          ///< Σ |weight v|
        squares,        ///< Σ (weight v)²
        greatest,       ///< the greatest |weight v|
        lowest,         ///< the least of 0 and what `prefix` is after each block; then the greatest
        highest,
        greatest_block, ///< the greatest Σ |weight v| of a block
        terms
    };
    static constexpr std::size_t partial_block = 16;
    limit_values v;
    const double *weight, *raised, *expected_raised, *expected_most; ///< the last one may be null
    bool careful; ///< coefficients or distances may be infinite: of `moved`, terms in which a factor is 0 are left out
    double* sums;
    std::size_t stride;
};

/// Of the terms weight_j v_j, the least of 0 and all their partial sums, in order; and the greatest.
struct partial_sums_call {
    limit_values v;
    const double* weight;
    double *lowest, *highest;
};

/// What depends on the values, and hardly on anything else.
struct size_sums_call {
    enum term : std::size_t {
        sum,      ///< Σ |v|
        greatest, ///< of |v|, from 0
        low, high, ///< of v
        absolute, ///< start + Σ ((of_size |v| + of_exact |o|) + of_entry), and after each of these behind |the value without its factor|
        expected_absolute, ///< Σ expected_of_size |v|
        terms
    };
    limit_values v;
    double start, of_size, of_exact;
    const double *of_entry, *behind; ///< null: all 0
    double expected_of_size;
    double* sums;
    std::size_t stride;
};

/// Of one coefficient, Σ c |v| and Σ c |v − o|; to both is added, after each, behind |the value without its factor|.
struct pair_sums_call {
    enum term : std::size_t { of_size, of_distance, terms };
    limit_values v;
    const double *coefficient, *behind; ///< behind null: all 0
    bool careful;                       ///< terms whose |v| or |v − o| is 0 are left out
    double* sums;
    std::size_t stride;
};

/// What stored scores add.
struct score_sums_call {
    enum term : std::size_t {
        above,    ///< Σ bent |v − o| where x > 0
        below,    ///< and elsewhere
        cheap,    ///< Σ query |v − o|
        rounded,  ///< Σ query (|v| + |o|)
        of_slope, ///< Σ alibi x
        of_scale, ///< Σ scaled x
        terms
    };
    limit_values v;
    const double *bent, *query, *alibi, *scaled;
    double* sums;
    std::size_t stride;
};

/// A run of values that round alike: it ends before `end`, in the order of the values.
struct alike_run {
    std::uint32_t end;
    double spread; ///< in units of half a grid's step; 0: all are equal
};
/// Σ over runs of the square of what a run may do (oracle/limits_alike.hpp), of the amplitudes a_j v_j or a_j x_j.
struct alike_call {
    limit_values v;
    const std::uint32_t* order;
    const alike_run* runs;
    std::size_t count;
    const double* amplitude;
    bool from_exact; ///< a_j x_j
    double* squares;
};

/// Σ_j w_j k_jc v_je for all c and e, and Σ_j w_j k_jc. All products are exact, so that it does not matter whether they are fused with the sums. Terms with
/// w_j = 0 are left out.
struct moves_call {
    std::size_t entries, d_k, d_v;
    const double* weight;
    const double* const* key;   ///< rows of d_k, padded
    const double* const* value; ///< rows of d_v, padded
    double* sum;                ///< d_k rows, each of d_v padded
    double* mean;               ///< d_k
};

/// Σ_l (coefficient_l row_lc + more_l), for each component c, of one to three coefficients at once; `more` null: all 0. Products are exact.
struct row_sums_call {
    std::size_t count, components;
    const double* const* row; ///< need not be padded
    std::size_t sets;
    const double *coefficient[3], *more; ///< `more` is for one set alone
    double* sums[3];
};
/// To row k of `to` is added coefficient_rk x_r + more_rk, for r = 0, 1, … in this order, if one of the two is not 0; `more` null: all 0. Products are exact.
struct add_products_call {
    std::size_t count, keys, components; ///< of r, of k, of x_r and each row of `to`
    double* to;
    const double *x, *coefficient, *more; ///< count × components; count × keys
};

/// Of one query and the keys [first, last), Σ_c q_c k_jc and Σ_c |q_c k_jc|. `keys` holds blocks of `key_block` keys, each component by component: component c
/// of key j lies at keys[(j / key_block · components + c) · key_block + j % key_block]. Whole blocks are read and written.
inline constexpr std::size_t key_block = 32;
struct dot_sizes_call {
    const double *query, *keys;
    std::size_t components, first, last;
    double *raw, *sizes;
};
/// Σ_c |q_c k_jc| alone, of one to six queries at once.
struct product_sizes_call {
    static constexpr std::size_t most_queries = 6;
    const double* const* query;
    std::size_t queries;
    const double* keys; ///< as above
    std::size_t components, first, last;
    double* const* sizes; ///< of each query
};

/// Over groups of components, the sum of the greater of (Σ a_c)² and Σ a_c², with a_c = (lanes_c x_c) half_c; for `count` vectors at once, a multiple of
/// `limit_lanes`: component c of vector i lies at lanes[c · stride + i]. `order`: the components, a group next to each other; `ends` marks its last.
struct alike_squares_call {
    const double* lanes;
    std::size_t stride, count, components;
    const double *x, *half;
    const std::uint32_t* order;
    const unsigned char* ends;
    double* squares;
};

/// What plain scores may be off by before anything is added: score_errors::before_added (oracle/limits_score.hpp) without cap and rotation, for many keys.
struct score_errors_call {
    std::size_t count;
    const double *terms, *operands, *of_key, *scaled; ///< of score_size, and raw · scale with its sign, which may be null where scores are not stored
    double relative, tiny_of_sum, kept_tiny, tiny, scale, root_of_scale, of_query, greatest_sum, greatest_operand, log2_e;
    bool stored, scale_is_power; ///< scores are stored; the scale is a power of two
    double score, score_tiny, greatest;
    double* error;
};

/// L, what happens to a weight where parts are merged: row_limits (oracle/limits_row.hpp).
struct log_weights_call {
    std::size_t count;
    const double *score, *error;
    double top, greatest, per_exp, slope, of_shift, of_lse, log_n, of_log;
    double* log_weight; ///< ((error + per_exp + slope · distance) + of_shift) + of_lse (max(|score|, |top|) + log_n) + of_log; distance = top − score + error
};

/// Of weights w and L: grown = w e^L, raised = w ((L e^L) slack), shrunk = w e^−L; `grown` may be null. And the least w and the greatest L there are, and the sums of
/// raised, shrunk and w + raised, in 8 lanes that are added in pairs.
///
/// Where no |L| is above 2^−6, e^±L come from their series, off by less than 2^−51 of themselves; else they are attest::exp.
struct grown_weights_call {
    std::size_t count;
    const double *weight, *log_weight;
    double slack;
    double *grown, *raised;
};
struct grown_weights_sums {
    double least_weight, greatest_log_weight, raised, shrunk, more;
};

struct limit_kernels {
    void (*main_sums)(const main_sums_call&);
    void (*partial_sums)(const partial_sums_call&);
    void (*size_sums)(const size_sums_call&);
    void (*pair_sums)(const pair_sums_call&);
    void (*score_sums)(const score_sums_call&);
    void (*alike)(const alike_call&);
    void (*moves)(const moves_call&);
    void (*row_sums)(const row_sums_call&);
    void (*add_products)(const add_products_call&);
    void (*dot_sizes)(const dot_sizes_call&);
    void (*product_sizes)(const product_sizes_call&);
    void (*alike_squares)(const alike_squares_call&);
    void (*score_errors)(const score_errors_call&);
    void (*log_weights)(const log_weights_call&);
    grown_weights_sums (*grown_weights)(const grown_weights_call&);
    /// The greatest a_j + b_j, or −∞.
    double (*greatest_sum)(const double* a, const double* b, std::size_t count);
    /// x_j / by.
    void (*divide)(const double* x, std::size_t count, double by, double* to);
    /// exp of so many numbers, with the bits of attest::exp; `to` may be `x`.
    void (*exponentials)(const double* x, std::size_t count, double* to);
};

} // namespace attest::fast
