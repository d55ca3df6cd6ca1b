// SPDX-License-Identifier: BSL-1.0
/// \file
/// The backward pass of fast/attention.hpp. With p_ij = exp(s_ij − lse_i) and dout the gradient of the output,
///
///     dv_j = Σ_i p_ij dout_i,   D_i = dout_i · out_i,   ds_ij = p_ij (dout_i · v_j − D_i),
///     dq_i = scale Σ_j ds_ij k_j,   dk_j = scale Σ_i ds_ij q_i
///
/// Block of queries by block of queries: the weights of a block are computed again from the scores and lse, and dropped, so that memory stays linear in the
/// number of keys (arXiv 2205.14135).
///
/// What is rounded, beside the scores (fast/attention.hpp): x = s − lse once, and lse itself; the exponential; dout · v_j r(d_v) times, D_i
/// 1 + roundings_of_row_sum(d_v) times, ds twice more; then sums as everywhere: dq r(n_k) + 1 times; dk r(b) + ceil(n_q/b) − 1 + 1 and dv r(b) + ceil(n_q/b) − 1
/// times, with b = rows_of_block(n_k), for the sums of the blocks are added in their order. (r(n) = roundings_of_products(n).)
#pragma once

#include "attest/fast/attention.hpp"

namespace attest::fast {

/// dq, dk, dv have the shapes of q, k, v.
template <class DQ, class DK, class DV> struct attention_gradient {
    DQ dq;
    DK dk;
    DV dv;
};

/// One head's backward pass. Shapes: out and dout n_q × d_v, lse n_q, dq n_q × d, dk n_k × d, dv n_k × d_v; the last three contiguous, dk and dv zeros.
struct attention_gradient_head {
    attention_head forward;
    strided out;
    const double* lse;
    strided dout;
    double *dq, *dk, *dv;
};

namespace detail {

struct gradient_memory {
    gradient_memory(const kernels& kernel, const attention_head& head)
        : block{head.n_k}, slopes{rows_of_block(head.n_k) * score_row(head.n_k)}, queries{packed_elements(kernel, 96, head.d)},
          gradients{packed_elements(kernel, 96, head.d_v)}, transposed_keys{packed_elements(kernel, head.d, head.n_k)},
          keys{packed_elements(kernel, head.n_k, head.d)}, transposed_values{packed_elements(kernel, head.d_v, head.n_k)} {}
    block_memory block;
    buffer slopes;
    buffer queries, gradients;                        // packed, of a block
    buffer transposed_keys, keys, transposed_values; // packed, of the head
};

// Rows [row, row + count) of dq, and what they add to dk (before the scale) and dv.
inline void add_gradient_of_block(const kernels& kernel, const attention_gradient_head& head, double scale, std::size_t row, std::size_t count,
                                  gradient_memory& memory) {
    const attention_head& forward = head.forward;
    const key_range keys = keys_of_block(kernel, memory.block.mask);
    const std::size_t n = keys.last - keys.first, d = forward.d, d_v = forward.d_v;
    const auto at = static_cast<std::ptrdiff_t>(row), wide = static_cast<std::ptrdiff_t>(score_row(forward.n_k));
    double *const weights = memory.block.scores.data(), *const slopes = memory.slopes.data(), *const means = memory.block.sums;
    const strided q{forward.q.at + at * forward.q.row, forward.q.row, forward.q.column};
    const strided dout{head.dout.at + at * head.dout.row, head.dout.row, head.dout.column}, out{head.out.at + at * head.out.row, head.out.row};

    // The weights again.
    scores_of_block(kernel, forward, memory.transposed_keys, scale, row, count, keys, weights);
    for (std::size_t i = 0; i < count; ++i) memory.block.maxima[i] = head.lse[row + i];
    kernel.exponentials({.s = weights, .s_row = wide, .m = count, .n = n, .p = weights, .p_row = wide, .maximum = memory.block.maxima,
                         .sum = memory.block.sums, .mask = memory.block.mask.from(keys.first), .given = true});
    // dp = dout Vᵀ, then ds.
    kernel.multiply({.a = dout, .m = count, .depth = d_v, .b = memory.transposed_values.data() + keys.first * d_v, .b_depth = d_v, .n = n, .c = slopes,
                     .c_row = wide});
    kernel.row_products(dout, out, count, d_v, means);
    for (std::size_t i = 0; i < count; ++i) // a row that sees nothing has no gradient, whatever its output is
        if (head.lse[row + i] == -std::numeric_limits<double>::infinity()) means[i] = 0;
    kernel.softmax_gradient({.p = weights, .p_row = wide, .m = count, .n = n, .d = slopes, .d_row = wide, .mean = means});
    // dq = scale ds K, dk += dsᵀ Q, dv += pᵀ dout.
    const auto of_d = static_cast<std::ptrdiff_t>(d), of_d_v = static_cast<std::ptrdiff_t>(d_v);
    kernel.multiply({.a = {slopes, wide}, .m = count, .depth = n, .b = memory.keys.data() + keys.first * kernel.panel, .b_depth = forward.n_k, .n = d,
                     .c = head.dq + at * of_d, .c_row = of_d, .scale = scale});
    kernel.pack(q, count, d, memory.queries.data());
    kernel.multiply({.a = {slopes, 1, wide}, .m = n, .depth = count, .b = memory.queries.data(), .b_depth = count, .n = d, .c = head.dk + keys.first * d,
                     .c_row = of_d, .add = true});
    kernel.pack(dout, count, d_v, memory.gradients.data());
    kernel.multiply({.a = {weights, 1, wide}, .m = n, .depth = count, .b = memory.gradients.data(), .b_depth = count, .n = d_v,
                     .c = head.dv + keys.first * d_v, .c_row = of_d_v, .add = true});
}

template <mask M>
void gradient_of_head(const kernels& kernel, const attention_gradient_head& head, const M& m, double scale, gradient_memory& memory) {
    const attention_head& forward = head.forward;
    kernel.pack({forward.k.at, forward.k.column, forward.k.row}, forward.d, forward.n_k, memory.transposed_keys.data());
    kernel.pack(forward.k, forward.n_k, forward.d, memory.keys.data());
    kernel.pack({forward.v.at, forward.v.column, forward.v.row}, forward.d_v, forward.n_k, memory.transposed_values.data());
    const std::size_t rows = rows_of_block(forward.n_k);
    for (std::size_t row = 0; row < forward.n_q; row += rows) {
        const std::size_t count = forward.n_q - row < rows ? forward.n_q - row : rows;
        memory.block.mask.look(m, row, count, forward.n_k);
        add_gradient_of_block(kernel, head, scale, row, count, memory);
    }
    for (std::size_t i = 0; i < forward.n_k * forward.d; ++i) head.dk[i] *= scale;
}

template <class DOut> void collect_gradients(const DOut& dout, std::vector<strided>& heads) {
    if constexpr (DOut::rank == 2) heads.push_back(matrix_of(dout));
    else
        for (std::size_t i = 0; i < dout.length(0); ++i) collect_gradients(dout[i], heads);
}

} // namespace detail

/// The gradients of attention(q, k, v, m, options) from `dout`, that of its output, and from `forward`, what attention_with_lse gave for the same inputs.
/// Shapes: as there; dout as the output; dq, dk, dv as q, k, v. Threads share out the heads. A row without a visible key has gradient 0.
template <operand Q, operand K, operand V, class Out, class Lse, operand DOut, mask M = everything>
[[nodiscard]] auto attention_vjp(const Q& q, const K& k, const V& v, const attention_result<Out, Lse>& forward, const DOut& dout, const M& m = {},
                                 const attention_options& options = {}) {
    detail::check_attention(q, k, v, m);
    using rule = rules::gradient_has_shape_of_output;
    constexpr std::size_t rank = Q::rank;
    detail::check_leading(q, dout);
    for (const std::size_t axis : {rank - 2, rank - 1})
        if (forward.out.length(axis) != dout.length(axis)) throw shape_error(rule::sentence, dout.length(axis), forward.out.length(axis));
    attention_gradient gradient{detail::zeros_like(q), detail::zeros_like(k), detail::zeros_like(v)};
    std::vector<attention_head> heads;
    std::vector<strided> douts;
    detail::collect_heads(q, k, v, heads);
    detail::collect_gradients(dout, douts);
    if (heads.empty()) return gradient;
    const kernels& kernel = detail::kernels_of(options);
    const std::size_t n_q = heads[0].n_q, n_k = heads[0].n_k, d = heads[0].d, d_v = heads[0].d_v;
    in_parallel(options.threads, heads.size(), [&] {
        return [&, memory = detail::gradient_memory(kernel, heads[0])](std::size_t h) mutable {
            const strided out{forward.out.data() + h * n_q * d_v, static_cast<std::ptrdiff_t>(d_v)};
            const attention_gradient_head head{heads[h], out, forward.lse.data() + h * n_q, douts[h],
                                               gradient.dq.data() + h * n_q * d, gradient.dk.data() + h * n_k * d, gradient.dv.data() + h * n_k * d_v};
            detail::gradient_of_head(kernel, head, m, detail::scale_of(options, d), memory);
        };
    });
    return gradient;
}

} // namespace attest::fast
