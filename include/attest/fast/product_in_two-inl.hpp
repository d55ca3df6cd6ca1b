// SPDX-License-Identifier: BSL-1.0
/// \file
/// Matrix products with results of two doubles: about twice the precision of product-inl.hpp for 2 to 4 times its operations.
///
/// Sums run on top of a great number, σ = 1.5 · 2^E, so that each product a b is cut at one and the same place, g = 2^(E − 52), the last bit of all numbers from 2^E to
/// 2^(E + 1): with s the sum so far,
///
///     t = s + a b (fused),  h = t − s,  e = a b − h (fused),  c = c + e,  s = t.
///
/// Derivation of the bound. Let Σ |a b| (1 + 2^−21) < 2^(E − 1), and at most 2^20 terms; u = 2^−53. All s are multiples of g, s − σ = Σ h is at most Σ |a b| + 2^20 g/2 in size, so s stays
/// between 2^E and 2^(E + 1): |a b − h| <= g/2, and h is exact, a multiple of g that is at most 2^E. So s − σ is exact too, and e is off by u g/2. In a block of
/// l terms c is at most k g/2 after k of them, but for what is of second order: adding up loses u g/2 · l (l + 1)/2. If a has a low part, a' <= u |a|, a' b is added to c in
/// one rounding: Σ |a' b| <= u 2^(E − 1) = g/4, and so c is at most (k + 1) g/2, and loses as much again and u g/2 for each term. In all less than
/// u g (l + 2)²/2. Each of B blocks is rounded once on its way to a total of at most (n + 1) g/2: u g B (n + 1)/2 (none if B = 1). The low part is off by less than
///
///     u g (B (l + 2)² + B (n + 2))/2,
///
/// and where products or e are below the normal numbers, by 3 · 2^−1075 for each term. kernels.hpp has it as error_of_products_in_two, raised for what is of second order.

#if defined(ATTEST_FAST_PRODUCT_IN_TWO_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTEST_FAST_PRODUCT_IN_TWO_INL_HPP
#undef ATTEST_FAST_PRODUCT_IN_TWO_INL_HPP
#else
#define ATTEST_FAST_PRODUCT_IN_TWO_INL_HPP
#endif

#include "attest/fast/kernels.hpp"
#include "attest/fast/product-inl.hpp"

ATTEST_FAST_BEGIN
namespace attest::fast::ATTEST_FAST_TARGET {

// A tile holds two sums of each element.
inline constexpr std::size_t pair_rows = registers == 32 ? 6 : 2, pair_vectors = 2, pair_columns = pair_vectors * pack::lanes;
static_assert(tile_vectors % pair_vectors == 0);

// Where a tile stands: its block is the first, the last; the columns that C has.
struct pair_tile {
    bool first, last;
    std::size_t columns;
};

// Rows × pair_columns of C, over a block of the depth. Between blocks `high` holds s.
template <std::size_t Rows, bool WithLow>
ATTEST_FAST_INLINE void multiply_pair_tile(const double* a, const double* a_low, std::ptrdiff_t a_row, std::size_t depth, const double* b, const double* row_base,
                                           const double* column_base, double* high, double* low, std::ptrdiff_t c_row, const pair_tile& tile) {
    pack s[Rows][pair_vectors], c[Rows][pair_vectors];
    const auto base = [&](std::size_t r, std::size_t at, std::size_t count) { return product(pack::broadcast(row_base[r]), load_first(column_base + at, count, 0)); };
    const auto count_of = [&](std::size_t at) { return at >= tile.columns ? 0 : tile.columns - at < pack::lanes ? tile.columns - at : pack::lanes; };
    ATTEST_FAST_UNROLL
    for (std::size_t r = 0; r < Rows; ++r)
        ATTEST_FAST_UNROLL
        for (std::size_t v = 0; v < pair_vectors; ++v) {
            const std::size_t at = v * pack::lanes, count = count_of(at);
            s[r][v] = tile.first ? base(r, at, count) : load_first(high + static_cast<std::ptrdiff_t>(r) * c_row + at, count, 0);
            c[r][v] = pack::zero();
        }
    for (; depth > 0; --depth, ++a, b += panel_columns) {
        pack columns[pair_vectors];
        ATTEST_FAST_UNROLL
        for (std::size_t v = 0; v < pair_vectors; ++v) columns[v] = pack::load(b + v * pack::lanes);
        ATTEST_FAST_UNROLL
        for (std::size_t r = 0; r < Rows; ++r) {
            const pack element = pack::broadcast(a[static_cast<std::ptrdiff_t>(r) * a_row]);
            ATTEST_FAST_UNROLL
            for (std::size_t v = 0; v < pair_vectors; ++v) {
                const pack next = multiply_add(element, columns[v], s[r][v]);
                c[r][v] += multiply_add(element, columns[v], s[r][v] - next);
                s[r][v] = next;
            }
            if constexpr (WithLow) {
                const pack rest = pack::broadcast(a_low[static_cast<std::ptrdiff_t>(r) * a_row]);
                ATTEST_FAST_UNROLL
                for (std::size_t v = 0; v < pair_vectors; ++v) c[r][v] = multiply_add(rest, columns[v], c[r][v]);
            }
        }
        if constexpr (WithLow) ++a_low;
    }
    ATTEST_FAST_UNROLL
    for (std::size_t r = 0; r < Rows; ++r, high += c_row, low += c_row)
        ATTEST_FAST_UNROLL
        for (std::size_t v = 0; v < pair_vectors; ++v) {
            const std::size_t at = v * pack::lanes, count = count_of(at);
            if (count == 0) break;
            store_first(tile.last ? s[r][v] - base(r, at, count) : s[r][v], high + at, count);
            store_first(tile.first ? c[r][v] : load_first(low + at, count, 0) + c[r][v], low + at, count);
        }
}

template <bool WithLow> inline void multiply_pair(const product_in_two_call& call) {
    for (std::size_t from = 0; from == 0 || from < call.depth; from += pair_block) {
        const std::size_t left = call.depth - from, depth = left < pair_block ? left : pair_block;
        for (std::size_t j = 0; j < call.n; j += pair_columns) {
            const double* b = call.b + j / panel_columns * panel_columns * call.b_depth + from * panel_columns + j % panel_columns;
            const pair_tile tile{from == 0, depth == left, call.n - j < pair_columns ? call.n - j : pair_columns};
            for (std::size_t i = 0; i < call.m; i += pair_rows) {
                const auto row = static_cast<std::ptrdiff_t>(i);
                const double* a = call.depth != 0 ? call.a + row * call.a_row + from : nullptr;
                const double* a_low = WithLow && call.depth != 0 ? call.a_low + row * call.a_row + from : nullptr;
                const auto run = [&](auto rows) {
                    const std::ptrdiff_t at = row * call.c_row + static_cast<std::ptrdiff_t>(j);
                    multiply_pair_tile<decltype(rows)::value, WithLow>(a, a_low, call.a_row, depth, b, call.row_base + i, call.column_base + j, call.high + at, call.low + at, call.c_row, tile);
                };
                switch (call.m - i) {
                case 1: run(std::integral_constant<std::size_t, 1>()); break;
                case 2: run(std::integral_constant<std::size_t, 2>()); break;
                case 3: run(std::integral_constant<std::size_t, pair_rows < 3 ? pair_rows : 3>()); break;
                case 4: run(std::integral_constant<std::size_t, pair_rows < 4 ? pair_rows : 4>()); break;
                case 5: run(std::integral_constant<std::size_t, pair_rows < 5 ? pair_rows : 5>()); break;
                default: run(std::integral_constant<std::size_t, pair_rows>());
                }
            }
        }
    }
}

// See kernels::multiply_in_two.
inline void multiply_in_two(const product_in_two_call& call) {
    if (call.a_low != nullptr) multiply_pair<true>(call);
    else multiply_pair<false>(call);
}

} // namespace attest::fast::ATTEST_FAST_TARGET
ATTEST_FAST_END

#endif
