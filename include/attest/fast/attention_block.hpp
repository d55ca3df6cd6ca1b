// SPDX-License-Identifier: BSL-1.0
/// \file
/// Attention on pointers, block of queries by block of queries: what fast/attention.hpp calls once it knows the shapes.
///
/// A block of scores is as wide as the keys that its queries see, and so high that it stays in the second-level cache; so each row has its greatest score and
/// its sum before a value is weighted, no partial result is rescaled, and memory is linear in the number of keys.
#pragma once

#include "attest/elementary/log.hpp"
#include "attest/fast/buffer.hpp"
#include "attest/fast/masks.hpp"

#include <limits>

namespace attest::fast {

/// One head. Shapes: q n_q × d, k n_k × d, v n_k × d_v.
struct attention_head {
    strided q, k, v;
    std::size_t n_q, n_k, d, d_v;
};

/// Where its results go. Shapes: out n_q × d_v, contiguous, lse n_q.
struct attention_target {
    double* out;
    double* lse; ///< the greatest score + log of the sum of exponentials (−∞ where no key is visible); or null
};

/// Rows in a block of scores over n_k keys: about 512 KiB of scores, and whole tiles. Of more than 4096 keys the packed values do not stay near the processor either, and
/// are fetched once a block: then more rows are better, wherever their scores are.
constexpr std::size_t rows_of_block(std::size_t n_k) {
    const std::size_t fit = (std::size_t{1} << 16) / (n_k + 1) / 6 * 6, least = n_k > 4096 ? 48 : 6;
    return fit < least ? least : fit > 96 ? 96 : fit;
}
/// From one row of scores to the next: whole vectors, and never a multiple of a page, lest rows compete for the same lines of the cache.
constexpr std::size_t score_row(std::size_t n_k) { return (n_k + 7) / 8 * 8 + 8; }

/// A head's keys and values, packed.
class packed_head {
public:
    packed_head(const kernels& kernel, const attention_head& head)
        : keys{packed_elements(kernel, head.d, head.n_k)}, values{packed_elements(kernel, head.n_k, head.d_v)} {
        kernel.pack({head.k.at, head.k.column, head.k.row}, head.d, head.n_k, keys.data());
        kernel.pack(head.v, head.n_k, head.d_v, values.data());
    }
    buffer keys;   ///< Kᵀ
    buffer values; ///< V
};

/// Memory for a block of scores, and the rows of the mask.
struct block_memory {
    explicit block_memory(std::size_t n_k) : scores{rows_of_block(n_k) * score_row(n_k)} {}
    buffer scores;
    double maxima[96], sums[96];
    mask_rows mask;
};

/// Which scores a block of queries has: keys from a panel's first to the last that is visible.
inline key_range keys_of_block(const kernels& kernel, const mask_rows& mask) {
    const key_range visible = mask.keys();
    return {visible.first / kernel.panel * kernel.panel, visible.last};
}

/// Rows [row, row + count) of the scores, over `keys`. Shapes: count × keys.
inline void scores_of_block(const kernels& kernel, const attention_head& head, const buffer& packed_keys, double scale, std::size_t row, std::size_t count,
                            key_range keys, double* scores) {
    kernel.multiply({.a = {head.q.at + static_cast<std::ptrdiff_t>(row) * head.q.row, head.q.row, head.q.column},
                     .m = count,
                     .depth = head.d,
                     .b = packed_keys.data() + keys.first * head.d,
                     .b_depth = head.d,
                     .n = keys.last - keys.first,
                     .c = scores,
                     .c_row = static_cast<std::ptrdiff_t>(score_row(head.n_k)),
                     .scale = scale});
}

/// Rows [row, row + count) of the output (and lse). Their mask is in memory.mask.
inline void attend_block(const kernels& kernel, const attention_head& head, const attention_target& to, const packed_head& packed, double scale,
                         empty_row on_empty, std::size_t row, std::size_t count, block_memory& memory) {
    const key_range keys = keys_of_block(kernel, memory.mask);
    const std::size_t n = keys.last - keys.first;
    const auto scores_row = static_cast<std::ptrdiff_t>(score_row(head.n_k));
    double* const scores = memory.scores.data();
    scores_of_block(kernel, head, packed.keys, scale, row, count, keys, scores);
    kernel.exponentials({.s = scores,
                         .s_row = scores_row,
                         .m = count,
                         .n = n,
                         .p = scores,
                         .p_row = scores_row,
                         .maximum = memory.maxima,
                         .sum = memory.sums,
                         .mask = memory.mask.from(keys.first)});
    for (std::size_t i = 0; i < count; ++i) {
        if (to.lse != nullptr) to.lse[row + i] = memory.sums[i] == 0 ? memory.maxima[i] : memory.maxima[i] + attest::log(memory.sums[i]);
        if (memory.sums[i] == 0) memory.sums[i] = on_empty == empty_row::nan ? std::numeric_limits<double>::quiet_NaN() : 1;
    }
    kernel.multiply({.a = {scores, scores_row},
                     .m = count,
                     .depth = n,
                     .b = packed.values.data() + keys.first * kernel.panel,
                     .b_depth = head.n_k,
                     .n = head.d_v,
                     .c = to.out + row * head.d_v,
                     .c_row = static_cast<std::ptrdiff_t>(head.d_v),
                     .divisors = memory.sums});
}

} // namespace attest::fast
