// SPDX-License-Identifier: BSL-1.0
/// \file
/// Attention in double at the processor's speed: out = softmax(scale · Q Kᵀ + bias) V over the visible keys, for one head or many.
///
/// ```cpp
/// auto out = attest::fast::attention(q, k, v);                                            // n_q × d, n_k × d, n_k × d_v → n_q × d_v
/// auto all = attest::fast::attention(q, k, v, attest::causal_top_left{}, {.threads = 2}); // … × n_q × d, …: batches, heads
/// ```
///
/// With u = 2^−53 and r(n) = roundings_of_products(n), to first order in u and where nothing underflows, each of these errs on its own:
///
/// | | is rounded | off by at most |
/// |---|---|---|
/// | a score s = scale · Σ q_c k_c | d products and sums, the scale itself and the product with it | (r(d) + 2.5) u · scale Σ abs(q_c k_c) |
/// | with a bias | once more | u abs(s + bias) |
/// | x = s − m | once | u abs(x) |
/// | the exponential | | exp_error_relative = 1.125 u of it; below x = −708: 2^−1021 |
/// | the row's sum l | roundings_of_row_sum(n_k) | that many u of it |
/// | Σ e_j v_j | | r(n_k) u Σ e_j abs(v_j) |
/// | the quotient by l | once | u of it |
#pragma once

#include "attest/fast/attention_block.hpp"
#include "attest/fast/compiled.hpp"
#include "attest/fast/operands.hpp"
#include "attest/fast/parallel.hpp"
#include "attest/fast/tiny_attention-inl.hpp"

#include <cmath>
#include <optional>
#include <vector>

namespace attest::fast {

struct attention_options {
    std::optional<double> scale = {};    ///< what scores are multiplied by; else 1/√d
    unsigned threads = 1;                ///< over heads and blocks of queries; the result does not depend on it
    empty_row on_empty = empty_row::zero; ///< what a row without a visible key gives
    const kernels* with = nullptr;        ///< else those compiled for the flags, compiled_kernels()
};

/// What attention gives for the backward pass. lse_i = log Σ_j exp(s_ij), −∞ where no key is visible.
template <class Out, class Lse> struct attention_result {
    Out out;
    Lse lse;
};

namespace detail {

inline double scale_of(const attention_options& options, std::size_t d) {
    return options.scale ? *options.scale : d == 0 ? 1 : 1 / std::sqrt(static_cast<double>(d));
}
inline const kernels& kernels_of(const attention_options& options) { return kernels_or_compiled(options.with); }

template <class Q, class K, class V> attention_head head_of(const Q& q, const K& k, const V& v) {
    return {matrix_of(q), matrix_of(k), matrix_of(v), q.length(0), k.length(0), q.length(1), v.length(1)};
}
// All heads, the first axis first.
template <class Q, class K, class V> void collect_heads(const Q& q, const K& k, const V& v, std::vector<attention_head>& heads) {
    if constexpr (Q::rank == 2) heads.push_back(head_of(q, k, v));
    else
        for (std::size_t i = 0; i < q.length(0); ++i) collect_heads(q[i], k[i], v[i], heads);
}

// Whether all lengths are known to the compiler, and few enough for attend_tiny.
template <class Q, class K, class V> constexpr bool is_tiny() {
    constexpr auto fits = [](std::size_t length) { return 1 <= length && length <= ATTEST_FAST_TARGET::tiny; };
    return Q::rank == 2 && fits(axis_of<Q, 0>::size) && fits(axis_of<Q, 1>::size) && fits(axis_of<K, 0>::size) && fits(axis_of<V, 1>::size);
}

// out: the heads' outputs one after another; lse the same, or null.
template <class Q, class K, class V, mask M>
void attend(const Q& q, const K& k, const V& v, const M& m, const attention_options& options, double* out, double* lse) {
    if constexpr (is_tiny<Q, K, V>() && std::same_as<M, everything>) {
        const attention_head head = head_of(q, k, v);
        if (options.with == nullptr && head.v.column == 1) {
            ATTEST_FAST_TARGET::attend_tiny<axis_of<Q, 0>::size, axis_of<K, 0>::size, axis_of<Q, 1>::size, axis_of<V, 1>::size>(head.q, head.k, head.v, scale_of(options, head.d), out, lse);
            return;
        }
    }
    const kernels& kernel = kernels_of(options);
    if constexpr (Q::rank == 2) { // one head of one block needs no lists
        const attention_head head = head_of(q, k, v);
        if (head.n_q <= rows_of_block(head.n_k)) {
            const packed_head packed(kernel, head);
            block_memory memory(head.n_k);
            memory.mask.look(m, 0, head.n_q, head.n_k);
            attend_block(kernel, head, {out, lse}, packed, scale_of(options, head.d), options.on_empty, 0, head.n_q, memory);
            return;
        }
    }
    std::vector<attention_head> heads;
    collect_heads(q, k, v, heads);
    if (heads.empty()) return;
    const std::size_t n_q = heads[0].n_q, n_k = heads[0].n_k, rows = rows_of_block(n_k), blocks = (n_q + rows - 1) / rows;
    const double scale = scale_of(options, heads[0].d);
    std::vector<std::optional<packed_head>> packed(heads.size());
    in_parallel(options.threads, heads.size(), [&] { return [&](std::size_t h) { packed[h].emplace(kernel, heads[h]); }; });
    in_parallel(options.threads, heads.size() * blocks, [&] {
        return [&, memory = block_memory(n_k)](std::size_t task) mutable {
            const std::size_t h = task / blocks, row = task % blocks * rows, count = n_q - row < rows ? n_q - row : rows;
            const attention_target to{out + h * n_q * heads[h].d_v, lse == nullptr ? nullptr : lse + h * n_q};
            memory.mask.look(m, row, count, n_k);
            attend_block(kernel, heads[h], to, *packed[h], scale, options.on_empty, row, count, memory);
        };
    });
}

// Says the rules of attention's shapes.
template <class Q, class K, class V, mask M> constexpr void check_attention(const Q& q, const K& k, const V& v, const M& m) {
    constexpr std::size_t rank = Q::rank;
    static_assert(rank == K::rank && rank == V::rank && rank >= 2, "Q, K and V must be matrices, or stacks of as many axes");
    rules::query_key_dimension::check<axis_of<Q, rank - 1>, axis_of<K, rank - 1>>(q.length(rank - 1), k.length(rank - 1));
    rules::value_for_each_key::check<axis_of<K, rank - 2>, axis_of<V, rank - 2>>(k.length(rank - 2), v.length(rank - 2));
    check_leading(q, k);
    check_leading(q, v);
    check_mask<axis_of<Q, rank - 2>, axis_of<K, rank - 2>>(m, q.length(rank - 2), k.length(rank - 2));
}

} // namespace detail

/// The outputs and the logarithms of the rows' sums. Shapes: Q … × n_q × d, K … × n_k × d, V … × n_k × d_v → … × n_q × d_v, … × n_q, where … are the same
/// batches and heads for all. `m`: a mask of formula/mask.hpp, n_q × n_k, for each head. Throws shape_error (or does not compile) unless the shapes fit.
/// Values must be finite also where no query sees them.
template <operand Q, operand K, operand V, mask M = everything>
[[nodiscard]] auto attention_with_lse(const Q& q, const K& k, const V& v, const M& m = {}, const attention_options& options = {}) {
    detail::check_attention(q, k, v, m);
    attention_result result{detail::like_with_last<axis_of<V, V::rank - 1>>(q, v.length(V::rank - 1)), detail::like_without_last(q)};
    detail::attend(q, k, v, m, options, result.out.data(), result.lse.data());
    return result;
}

/// The outputs alone.
template <operand Q, operand K, operand V, mask M = everything>
[[nodiscard]] auto attention(const Q& q, const K& k, const V& v, const M& m = {}, const attention_options& options = {}) {
    detail::check_attention(q, k, v, m);
    auto out = detail::like_with_last<axis_of<V, V::rank - 1>>(q, v.length(V::rank - 1));
    detail::attend(q, k, v, m, options, out.data(), nullptr);
    return out;
}

} // namespace attest::fast
