// SPDX-License-Identifier: BSL-1.0
/// \file
/// The kernels of fast/limit_kernels.hpp that do not run over the components of the output: sizes of scores, exponentials, what a stored query does.

#if defined(ATTEST_FAST_LIMIT_SCORES_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTEST_FAST_LIMIT_SCORES_INL_HPP
#undef ATTEST_FAST_LIMIT_SCORES_INL_HPP
#else
#define ATTEST_FAST_LIMIT_SCORES_INL_HPP
#endif

#include "attest/elementary/exp.hpp"
#include "attest/fast/limit_kernels.hpp"
#include "attest/fast/pack-inl.hpp"

ATTEST_FAST_BEGIN
namespace attest::fast::ATTEST_FAST_TARGET {

inline void dot_sizes(const dot_sizes_call& call) {
    constexpr std::size_t at_once = limit_lanes / pack::lanes < 4 ? 4 : limit_lanes / pack::lanes, block = at_once * pack::lanes;
    const auto run = [&]<std::size_t count>(std::integral_constant<std::size_t, count>, std::size_t j) {
        pack raw[count], sizes[count];
        for (std::size_t v = 0; v < count; ++v) raw[v] = sizes[v] = pack::zero();
        const double* key = call.keys + j;
        for (std::size_t c = 0; c < call.components; ++c, key += call.stride) {
            const pack q = pack::broadcast(call.query[c]);
            for (std::size_t v = 0; v < count; ++v) {
                const pack term = product(q, pack::load(key + v * pack::lanes));
                raw[v] += term;
                sizes[v] += absolute(term);
            }
        }
        for (std::size_t v = 0; v < count; ++v) {
            raw[v].store(call.raw + j + v * pack::lanes);
            sizes[v].store(call.sizes + j + v * pack::lanes);
        }
    };
    std::size_t j = call.first;
    for (; j + block <= call.last; j += block) run(std::integral_constant<std::size_t, at_once>{}, j);
    for (; j < call.last; j += pack::lanes) run(std::integral_constant<std::size_t, 1>{}, j);
}

// Where no argument is far from 0, k is 0, and so the series is all there is: the operations of attest::exp, which it has between.
inline void exponentials_near_zero(const double* x, std::size_t count, double* to) {
    for (std::size_t j = 0; j < count; j += pack::lanes) {
        const std::size_t here = count - j < pack::lanes ? count - j : pack::lanes;
        const pack given = load_first(x + j, here, 0.0);
        if (!all_of(absolute(given) < pack::broadcast(0.34))) { // below log(2)/2: k = 0
            for (std::size_t i = 0; i < here; ++i) to[j + i] = attest::exp(x[j + i]);
            continue;
        }
        pack series = pack::zero();
        for (const double c : attest::detail::exp_coefficients) series = product(series, given) + pack::broadcast(c);
        const pack one = pack::broadcast(1.0), sum = one + given, lost = (one - sum) + given;
        store_first(sum + (lost + product(product(given, given), series)), to + j, here);
    }
}

// Four rows of keys, and as many packs of values as registers hold.
template <std::size_t rows, std::size_t packs> void moves_of(const moves_call& call, std::size_t c, std::size_t e) {
    const std::size_t stride = padded_to_lanes(call.d_v);
    pack sum[rows][packs], mean[rows];
    for (std::size_t r = 0; r < rows; ++r) {
        mean[r] = pack::zero();
        for (std::size_t v = 0; v < packs; ++v) sum[r][v] = pack::zero();
    }
    for (std::size_t j = 0; j < call.entries; ++j) {
        if (call.weight[j] == 0) continue;
        const pack w = pack::broadcast(call.weight[j]);
        pack value[packs];
        for (std::size_t v = 0; v < packs; ++v) value[v] = pack::load(call.value[j] + e + v * pack::lanes);
        for (std::size_t r = 0; r < rows; ++r) {
            const pack of_key = w * pack::broadcast(call.key[j][c + r]); // 36 bits
            mean[r] += of_key;
            for (std::size_t v = 0; v < packs; ++v) sum[r][v] = multiply_add(of_key, value[v], sum[r][v]); // 52 bits
        }
    }
    for (std::size_t r = 0; r < rows; ++r) {
        if (e == 0) {
            double lanes[pack::lanes];
            mean[r].store(lanes);
            call.mean[c + r] = lanes[0];
        }
        for (std::size_t v = 0; v < packs; ++v) sum[r][v].store(call.sum + (c + r) * stride + e + v * pack::lanes);
    }
}
inline void moves(const moves_call& call) {
    constexpr std::size_t rows = registers >= 32 ? 4 : 2, packs = 4;
    const std::size_t padded = padded_to_lanes(call.d_v), width = packs * pack::lanes;
    std::size_t c = 0;
    for (; c < call.d_k; c += c + rows <= call.d_k ? rows : 1) {
        const bool whole = c + rows <= call.d_k;
        std::size_t e = 0;
        for (; e + width <= padded; e += width) whole ? moves_of<rows, packs>(call, c, e) : moves_of<1, packs>(call, c, e);
        for (; e < padded; e += pack::lanes) whole ? moves_of<rows, 1>(call, c, e) : moves_of<1, 1>(call, c, e);
    }
}

} // namespace attest::fast::ATTEST_FAST_TARGET
ATTEST_FAST_END

#endif
