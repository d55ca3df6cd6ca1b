// SPDX-License-Identifier: BSL-1.0
/// \file
/// The kernels of fast/limit_kernels.hpp that do not run over the components of the output: sizes of scores, what a stored query does.

#if defined(ATTEST_FAST_LIMIT_SCORES_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTEST_FAST_LIMIT_SCORES_INL_HPP
#undef ATTEST_FAST_LIMIT_SCORES_INL_HPP
#else
#define ATTEST_FAST_LIMIT_SCORES_INL_HPP
#endif

#include "attest/arithmetic/power_of_two.hpp"
#include "attest/fast/limit_kernels.hpp"
#include "attest/fast/limit_rows-inl.hpp"

ATTEST_FAST_BEGIN
namespace attest::fast::ATTEST_FAST_TARGET {

inline void dot_sizes(const dot_sizes_call& call) {
    constexpr std::size_t at_once = key_block / pack::lanes < 4 ? key_block / pack::lanes : 4;
    for (std::size_t block = call.first / key_block; block * key_block < call.last; ++block)
        for (std::size_t part = 0; part < key_block; part += at_once * pack::lanes) {
            const double* key = call.components == 0 ? nullptr : call.keys + block * key_block * call.components + part;
            pack raw[at_once], sizes[at_once];
            ATTEST_FAST_UNROLL
            for (std::size_t v = 0; v < at_once; ++v) raw[v] = sizes[v] = pack::zero();
            for (std::size_t c = 0; c < call.components; ++c, key += key_block) {
                const pack q = pack::broadcast(call.query[c]);
                ATTEST_FAST_UNROLL
                for (std::size_t v = 0; v < at_once; ++v) {
                    const pack term = product(q, pack::load(key + v * pack::lanes));
                    raw[v] += term;
                    sizes[v] += absolute(term);
                }
            }
            ATTEST_FAST_UNROLL
            for (std::size_t v = 0; v < at_once; ++v) {
                raw[v].store(call.raw + block * key_block + part + v * pack::lanes);
                sizes[v].store(call.sizes + block * key_block + part + v * pack::lanes);
            }
        }
}
template <std::size_t queries> void product_sizes_of(const product_sizes_call& call) {
    constexpr std::size_t at_once = key_block / pack::lanes < 2 ? key_block / pack::lanes : 2;
    for (std::size_t block = call.first / key_block; block * key_block < call.last; ++block)
        for (std::size_t part = 0; part < key_block; part += at_once * pack::lanes) {
            const double* key = call.components == 0 ? nullptr : call.keys + block * key_block * call.components + part;
            pack sizes[queries][at_once];
            ATTEST_FAST_UNROLL
            for (std::size_t i = 0; i < queries; ++i) {
                ATTEST_FAST_UNROLL
                for (std::size_t v = 0; v < at_once; ++v) sizes[i][v] = pack::zero();
            }
            for (std::size_t c = 0; c < call.components; ++c, key += key_block) {
                pack k[at_once];
                ATTEST_FAST_UNROLL
                for (std::size_t v = 0; v < at_once; ++v) k[v] = absolute(pack::load(key + v * pack::lanes));
                ATTEST_FAST_UNROLL
                for (std::size_t i = 0; i < queries; ++i) {
                    const pack q = absolute(pack::broadcast(call.query[i][c]));
                    ATTEST_FAST_UNROLL
                    for (std::size_t v = 0; v < at_once; ++v) sizes[i][v] += product(q, k[v]);
                }
            }
            ATTEST_FAST_UNROLL
            for (std::size_t i = 0; i < queries; ++i) {
                ATTEST_FAST_UNROLL
                for (std::size_t v = 0; v < at_once; ++v) sizes[i][v].store(call.sizes[i] + block * key_block + part + v * pack::lanes);
            }
        }
}
inline void product_sizes(const product_sizes_call& call) {
    switch (call.queries) {
    case 1: product_sizes_of<1>(call); break;
    case 2: product_sizes_of<2>(call); break;
    case 3: product_sizes_of<3>(call); break;
    case 4: product_sizes_of<4>(call); break;
    case 5: product_sizes_of<5>(call); break;
    default: product_sizes_of<product_sizes_call::most_queries>(call);
    }
}

inline void alike_squares(const alike_squares_call& call) {
    for (std::size_t i = 0; i < call.count; i += pack::lanes) {
        pack sum = pack::zero(), group = sum, squares = sum;
        for (std::size_t k = 0; k < call.components; ++k) {
            const std::size_t c = call.order[k];
            const pack one = product(product(pack::load(call.lanes + c * call.stride + i), pack::broadcast(call.x[c])), pack::broadcast(call.half[c]));
            group += one;
            squares += product(one, one);
            if (call.ends[k] == 0) continue;
            sum += maximum(squares, product(group, group));
            group = squares = pack::zero();
        }
        sum.store(call.squares + i);
    }
}

inline void score_errors(const score_errors_call& call) {
    const auto all = [](double x) { return pack::broadcast(x); };
    const pack relative = all(call.relative), tiny_of_sum = all(call.tiny_of_sum), kept_tiny = all(call.kept_tiny), tiny = all(call.tiny), scale = all(call.scale),
               of_sum = all(call.scale > 1 ? call.scale : 1), greatest_sum = all(call.greatest_sum), infinity = all(attest::detail::infinity_of_double),
               log2_e = all(call.log2_e), root = all(call.root_of_scale), score = all(call.score), score_tiny = all(call.score_tiny);
    const pack of_query = product(log2_e, all(call.of_query)) * all(call.scale < call.root_of_scale ? call.root_of_scale : call.scale);
    for (std::size_t j = 0; j < call.count; j += pack::lanes) {
        const std::size_t here = call.count - j < pack::lanes ? call.count - j : pack::lanes;
        const pack terms = load_first(call.terms + j, here, 0.0), scaled = call.stored ? absolute(load_first(call.scaled + j, here, 0.0)) : pack::zero();
        pack error = product(scale, product(relative, terms));
        error += product(of_sum, tiny_of_sum + product(kept_tiny, load_first(call.operands + j, here, 0.0))) + product(tiny, terms);
        const pack size = product(scale, terms) + error, unscaled = call.scale > 0 ? size / scale : maximum(terms, size);
        const auto overflows = (unscaled > greatest_sum) | (product(log2_e, size) > greatest_sum);
        const pack most = maximum(load_first(call.of_key + j, here, 0.0) * root, of_query);
        if (call.stored) {
            if (!call.scale_is_power) error += product(score, scaled + error) + product(scale, score_tiny);
            error += product(score, scaled + error) + score_tiny;
            error = select(scaled + error > all(call.greatest), infinity, error);
        }
        error = select(overflows, infinity, error);
        store_first(select(most * all(1 + 0x1p-7) < all(call.greatest_operand), error, infinity), call.error + j, here);
    }
}

inline void log_weights(const log_weights_call& call) {
    const auto all = [](double x) { return pack::broadcast(x); };
    const pack top = all(call.top), size_of_top = absolute(top), greatest = all(call.greatest), per_exp = all(call.per_exp), slope = all(call.slope),
               of_shift = all(call.of_shift), of_lse = all(call.of_lse), log_n = all(call.log_n), of_log = all(call.of_log);
    for (std::size_t j = 0; j < call.count; j += pack::lanes) {
        const std::size_t here = call.count - j < pack::lanes ? call.count - j : pack::lanes;
        const pack score = load_first(call.score + j, here, 0.0), error = load_first(call.error + j, here, 0.0);
        const pack distance = minimum(greatest, top - score + error), plain = error + per_exp + product(slope, distance);
        const pack size = minimum(greatest, maximum(size_of_top, absolute(score))) + log_n;
        store_first(plain + of_shift + product(of_lse, size) + of_log, call.log_weight + j, here);
    }
}

inline double greatest_sum(const double* a, const double* b, std::size_t count) {
    pack greatest[2] = {pack::broadcast(-attest::detail::infinity_of_double), pack::broadcast(-attest::detail::infinity_of_double)};
    std::size_t j = 0;
    for (; j + 2 * pack::lanes <= count; j += 2 * pack::lanes)
        ATTEST_FAST_UNROLL
        for (std::size_t v = 0; v < 2; ++v)
            greatest[v] = maximum(pack::load(a + j + v * pack::lanes) + pack::load(b + j + v * pack::lanes), greatest[v]);
    double lanes[pack::lanes];
    maximum(greatest[0], greatest[1]).store(lanes);
    double top = lanes[0];
    for (std::size_t i = 1; i < pack::lanes; ++i) top = lanes[i] > top ? lanes[i] : top;
    for (; j < count; ++j) top = a[j] + b[j] > top ? a[j] + b[j] : top;
    return top;
}

inline void divide(const double* x, std::size_t count, double by, double* to) {
    for (std::size_t j = 0; j < count; j += pack::lanes) {
        const std::size_t here = count - j < pack::lanes ? count - j : pack::lanes;
        store_first(load_first(x + j, here, 0.0) / pack::broadcast(by), to + j, here);
    }
}

// Of a few components of the key, and as many packs of values as registers hold, over entries that stay in the first cache.
template <std::size_t rows, std::size_t packs> void moves_of(const moves_call& call, std::size_t first, std::size_t last, std::size_t c, std::size_t e) {
    const std::size_t stride = padded_to_lanes(call.d_v);
    double* const at = call.sum + c * stride + e;
    pack sum[rows][packs], mean[rows];
    ATTEST_FAST_UNROLL
    for (std::size_t r = 0; r < rows; ++r) {
        mean[r] = pack::broadcast(call.mean[c + r]);
        ATTEST_FAST_UNROLL
        for (std::size_t v = 0; v < packs; ++v) sum[r][v] = pack::load(at + r * stride + v * pack::lanes);
    }
    for (std::size_t j = first; j < last; ++j) {
        if (call.weight[j] == 0) continue;
        const pack w = pack::broadcast(call.weight[j]);
        pack of_key[rows];
        ATTEST_FAST_UNROLL
        for (std::size_t r = 0; r < rows; ++r) {
            of_key[r] = w * pack::broadcast(call.key[j][c + r]); // 36 bits
            mean[r] += of_key[r];
        }
        ATTEST_FAST_UNROLL
        for (std::size_t v = 0; v < packs; ++v) {
            const pack value = pack::load(call.value[j] + e + v * pack::lanes);
            ATTEST_FAST_UNROLL
            for (std::size_t r = 0; r < rows; ++r) sum[r][v] = native_multiply_add(of_key[r], value, sum[r][v]); // 52 bits
        }
    }
    ATTEST_FAST_UNROLL
    for (std::size_t r = 0; r < rows; ++r) {
        if (e + packs * pack::lanes >= stride) { // the last of the row: once
            double lanes[pack::lanes];
            mean[r].store(lanes);
            call.mean[c + r] = lanes[0];
        }
        ATTEST_FAST_UNROLL
        for (std::size_t v = 0; v < packs; ++v) sum[r][v].store(at + r * stride + v * pack::lanes);
    }
}
inline void moves(const moves_call& call) {
    constexpr std::size_t rows = 2, packs = registers >= 32 ? 8 : 4, block = 32;
    const std::size_t padded = padded_to_lanes(call.d_v), width = packs * pack::lanes;
    for (std::size_t k = 0; k < call.d_k * padded; ++k) call.sum[k] = 0;
    for (std::size_t k = 0; k < call.d_k; ++k) call.mean[k] = 0;
    for (std::size_t first = 0; first < call.entries; first += block) {
        const std::size_t last = call.entries - first < block ? call.entries : first + block;
        for (std::size_t c = 0; c < call.d_k; c += c + rows <= call.d_k ? rows : 1) {
            const bool whole = c + rows <= call.d_k;
            std::size_t e = 0;
            for (; e + width <= padded; e += width) whole ? moves_of<rows, packs>(call, first, last, c, e) : moves_of<1, packs>(call, first, last, c, e);
            for (; e < padded; e += pack::lanes) whole ? moves_of<rows, 1>(call, first, last, c, e) : moves_of<1, 1>(call, first, last, c, e);
        }
    }
}

} // namespace attest::fast::ATTEST_FAST_TARGET
ATTEST_FAST_END

#endif
