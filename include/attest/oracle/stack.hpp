// SPDX-License-Identifier: BSL-1.0
/// \file
/// A stack of matrices: an array whose last two dimensions are a matrix's, and whose others are batch and head, in any of the layouts.
#pragma once

#include "attest/question/conventions.hpp"
#include "attest/oracle/decode.hpp"
#include "attest/shape/view.hpp"

#include <limits>

namespace attest {

using dynamic_axis = axis<dynamic>;
using matrix_view = view<const double, dynamic_axis, dynamic_axis>;

/// Matrices as doubles, one after another in C order of the batch.
struct matrix_stack {
    std::vector<std::size_t> batch;
    std::size_t rows = 0;
    std::size_t columns = 0;
    std::vector<double> values;

    [[nodiscard]] matrix_view operator[](std::size_t slice) const {
        return {values.data() + slice * rows * columns, extents<dynamic_axis, dynamic_axis>(rows, columns)};
    }
};

/// Where the elements of an array lie, seen as [batch…, rows, columns]: dimension k of that order has `length[k]`, and its index is multiplied by
/// `stride[k]` (in elements) to find an element of the array.
struct placement {
    std::vector<std::size_t> length;
    std::vector<std::size_t> stride;
};

/// The dimensions of a C-order array of this shape, reordered from a layout to [batch…, head, sequence, component].
[[nodiscard]] inline placement place(std::span<const std::size_t> shape, tensor_layout layout) {
    const std::size_t rank = shape.size();
    placement p{{shape.begin(), shape.end()}, std::vector<std::size_t>(rank, 1)};
    for (std::size_t k = rank; k-- > 1;) p.stride[k - 1] = p.stride[k] * shape[k];
    const auto swap_dimensions = [&p](std::size_t a, std::size_t b) {
        std::swap(p.length[a], p.length[b]);
        std::swap(p.stride[a], p.stride[b]);
    };
    if (layout == tensor_layout::bnhd && rank >= 3) swap_dimensions(rank - 3, rank - 2);
    if (layout == tensor_layout::nbd && rank >= 3) { // [n, b…, d] → [b…, n, d]
        for (std::size_t k = 0; k + 2 < rank; ++k) swap_dimensions(k, k + 1);
    }
    return p;
}

/// The shape of an array in a layout whose dimensions, reordered, are `ordered`: the inverse of `place`.
[[nodiscard]] inline std::vector<std::size_t> shape_in_layout(std::vector<std::size_t> ordered, tensor_layout layout) {
    const std::size_t rank = ordered.size();
    if (layout == tensor_layout::bnhd && rank >= 3) std::swap(ordered[rank - 3], ordered[rank - 2]);
    if (layout == tensor_layout::nbd && rank >= 3)
        for (std::size_t k = rank - 2; k-- > 0;) std::swap(ordered[k], ordered[k + 1]);
    return ordered;
}

/// Position of the first element of row i of a slice of the batch.
[[nodiscard]] inline std::size_t first_of_row(const placement& at, std::span<const std::size_t> batch, std::size_t slice, std::size_t i) {
    std::size_t position = i * at.stride[batch.size()];
    for (std::size_t k = batch.size(); k-- > 0; slice /= batch[k]) position += slice % batch[k] * at.stride[k];
    return position;
}

/// Decodes an array into a stack. usage_error for fewer than two dimensions or elements that are not numbers.
[[nodiscard]] inline matrix_stack stack_of(std::string_view name, const array_view& a, tensor_layout layout) {
    const auto fail = [&](const std::string& what) {
        throw usage_error(std::string(name) + " " + shape_text(a.shape) + " " + what);
    };
    if (a.shape.size() < 2) fail("has fewer than two dimensions; expected [..., rows, columns]");
    require_float(name, a);
    const placement p = place(a.shape, layout);
    const std::size_t rank = p.length.size();
    matrix_stack stack{{p.length.begin(), p.length.end() - 2}, p.length[rank - 2], p.length[rank - 1], {}};
    stack.values.reserve(a.elements());
    std::vector<std::size_t> index(rank, 0);
    std::size_t offset = 0;
    for (std::size_t e = 0, count = a.elements(); e < count; ++e) {
        stack.values.push_back(decode(a, offset));
        for (std::size_t k = rank; k-- > 0;) { // the next index, with its offset at its side
            offset += p.stride[k];
            if (++index[k] < p.length[k]) break;
            offset -= p.stride[k] * p.length[k];
            index[k] = 0;
        }
    }
    return stack;
}

/// The batch that two batches have in common: lengths equal or 1, missing leading ones 1. usage_error naming both otherwise.
/// `heads_may_divide`: the last length of `other` may divide that of `batch` (fewer key-value heads than heads).
[[nodiscard]] inline std::vector<std::size_t> common_batch(std::vector<std::size_t> batch, std::span<const std::size_t> other,
                                                           const std::string& names, bool heads_may_divide) {
    if (other.size() > batch.size()) batch.insert(batch.begin(), other.size() - batch.size(), 1);
    for (std::size_t back = 1; back <= other.size(); ++back) {
        std::size_t& mine = batch[batch.size() - back];
        const std::size_t theirs = other[other.size() - back];
        if (mine == theirs || theirs == 1) continue;
        if (mine == 1) mine = theirs;
        else if (heads_may_divide && back == 1 && theirs != 0 && mine % theirs == 0) continue;
        else
            throw usage_error(names + ": batch dimensions must be equal or 1" +
                              (heads_may_divide && back == 1 ? ", and the key-value heads must divide the heads" : "") + " (" +
                              std::to_string(mine) + " and " + std::to_string(theirs) + ")" + (heads_may_divide && back == 1 ? "; if sequence comes before head, say layout=bnhd" : ""));
    }
    return batch;
}

/// The slice of a stack with batch `own` that slice number `slice` of `batch` reads: query head h reads key-value head ⌊h·H_kv/H⌋.
[[nodiscard]] inline std::size_t source_slice(std::span<const std::size_t> batch, std::span<const std::size_t> own, std::size_t slice) {
    std::size_t source = 0;
    std::size_t stride = 1;
    for (std::size_t back = 1; back <= batch.size(); ++back) {
        const std::size_t length = batch[batch.size() - back];
        const std::size_t index = slice % length;
        slice /= length;
        if (back > own.size()) continue;
        const std::size_t own_length = own[own.size() - back];
        source += stride * (index * own_length / length);
        stride *= own_length;
    }
    return source;
}

} // namespace attest
