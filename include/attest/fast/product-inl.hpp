// SPDX-License-Identifier: BSL-1.0
/// \file
/// Matrix products in double: C = A B with B packed into panels, so that a tile of C stays in registers while a panel of B streams past it.
///
/// A tile is 6 rows of A times one panel: 4 vectors of columns where there are 32 registers, 2 where there are 16. In each step along the depth, each vector
/// of B meets 6 broadcast elements of A.

#if defined(ATTEST_FAST_PRODUCT_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTEST_FAST_PRODUCT_INL_HPP
#undef ATTEST_FAST_PRODUCT_INL_HPP
#else
#define ATTEST_FAST_PRODUCT_INL_HPP
#endif

#include "attest/fast/kernels.hpp"
#include "attest/fast/pack-inl.hpp"

ATTEST_FAST_BEGIN
namespace attest::fast::ATTEST_FAST_TARGET {

inline constexpr std::size_t tile_rows = 6, tile_vectors = registers == 32 ? 4 : 2;
inline constexpr std::size_t panel_columns = tile_vectors * pack::lanes;

// Panels of the columns of B (see kernels::pack).
inline void pack_columns(const strided& b, std::size_t depth, std::size_t n, double* packed) {
    if (depth == 0) return;
    for (std::size_t j = 0; j < n; j += panel_columns) {
        const std::size_t columns = n - j < panel_columns ? n - j : panel_columns;
        const double* from = b.at + static_cast<std::ptrdiff_t>(j) * b.column;
        for (std::size_t c = 0; c < depth; ++c, from += b.row, packed += panel_columns) {
            if (columns < panel_columns)
                for (std::size_t v = 0; v < tile_vectors; ++v) pack::zero().store(packed + v * pack::lanes);
            for (std::size_t i = 0; i < columns; ++i) packed[i] = from[static_cast<std::ptrdiff_t>(i) * b.column];
        }
    }
}

// What becomes of a tile's sums.
struct tile_end {
    bool add;               // to what is in C
    bool scaled;            // then times `scale`
    double scale;
    const double* divisors; // then divided by its row's; or null
    std::size_t columns;    // that C has: fewer than the panel's at the right edge
};

// Rows × panel of C, over `depth` products. `a`: its first row; `b`: the panel, from the first of these products on.
template <std::size_t Rows>
ATTEST_FAST_INLINE void multiply_tile(const double* a, std::ptrdiff_t a_row, std::ptrdiff_t a_column, std::size_t depth, const double* b, double* c,
                                      std::ptrdiff_t c_row, const tile_end& end) {
    pack sums[Rows][tile_vectors];
    ATTEST_FAST_UNROLL
    for (std::size_t r = 0; r < Rows; ++r)
        ATTEST_FAST_UNROLL
        for (std::size_t v = 0; v < tile_vectors; ++v) sums[r][v] = pack::zero();
    for (; depth > 0; --depth, a += a_column, b += panel_columns) {
        pack columns[tile_vectors];
        ATTEST_FAST_UNROLL
        for (std::size_t v = 0; v < tile_vectors; ++v) columns[v] = pack::load(b + v * pack::lanes);
        ATTEST_FAST_UNROLL
        for (std::size_t r = 0; r < Rows; ++r) {
            const pack element = pack::broadcast(a[static_cast<std::ptrdiff_t>(r) * a_row]);
            ATTEST_FAST_UNROLL
            for (std::size_t v = 0; v < tile_vectors; ++v) sums[r][v] = multiply_add(element, columns[v], sums[r][v]);
        }
    }
    ATTEST_FAST_UNROLL
    for (std::size_t r = 0; r < Rows; ++r, c += c_row)
        ATTEST_FAST_UNROLL
        for (std::size_t v = 0; v < tile_vectors; ++v) {
            const std::size_t at = v * pack::lanes;
            if (at < end.columns) {
                const std::size_t count = end.columns - at < pack::lanes ? end.columns - at : pack::lanes;
                pack value = sums[r][v];
                if (end.add) value = load_first(c + at, count, 0) + value;
                if (end.scaled) value = product(value, pack::broadcast(end.scale));
                if (end.divisors != nullptr) value = value / pack::broadcast(end.divisors[r]);
                store_first(value, c + at, count);
            }
        }
}

inline void multiply(const product_call& call) {
    const strided all = call.depth != 0 ? call.a : strided{nullptr, 0, 0};
    for (std::size_t from = 0; from == 0 || from < call.depth; from += sum_block) {
        const std::size_t left = call.depth - from, depth = left < sum_block ? left : sum_block;
        for (std::size_t j = 0; j < call.n; j += panel_columns) {
            const double* b = call.b + j * call.b_depth + from * panel_columns;
            for (std::size_t i = 0; i < call.m; i += tile_rows) {
                const auto row = static_cast<std::ptrdiff_t>(i);
                const double* a = all.at + row * all.row + static_cast<std::ptrdiff_t>(from) * all.column;
                double* c = call.c + row * call.c_row + j;
                tile_end end{call.add || from > 0, false, call.scale, nullptr, call.n - j < panel_columns ? call.n - j : panel_columns};
                if (depth == left) {
                    end.scaled = call.scale != 1;
                    if (call.divisors != nullptr) end.divisors = call.divisors + i;
                }
                switch (call.m - i) {
                case 1: multiply_tile<1>(a, all.row, all.column, depth, b, c, call.c_row, end); break;
                case 2: multiply_tile<2>(a, all.row, all.column, depth, b, c, call.c_row, end); break;
                case 3: multiply_tile<3>(a, all.row, all.column, depth, b, c, call.c_row, end); break;
                case 4: multiply_tile<4>(a, all.row, all.column, depth, b, c, call.c_row, end); break;
                case 5: multiply_tile<5>(a, all.row, all.column, depth, b, c, call.c_row, end); break;
                default: multiply_tile<tile_rows>(a, all.row, all.column, depth, b, c, call.c_row, end);
                }
            }
        }
    }
}

} // namespace attest::fast::ATTEST_FAST_TARGET
ATTEST_FAST_END

#endif
