// SPDX-License-Identifier: BSL-1.0
// What tests/bench/peers.py measures of Arb: attention in balls, as somebody who knows the library may write it.
//   g++ -O3 -march=native -shared -fPIC -std=c++20 tests/bench/others/arb.cpp -o arb.so -lflint-arb -lflint      (since FLINT 3, which has Arb in it: -lflint)

#include "../clock.hpp"

#if __has_include(<flint/arb_mat.h>)
#include <flint/arb_mat.h>
#else
#include <arb_mat.h>
#endif

#include <cstddef>

namespace {

struct matrix {
    arb_mat_t x;
    matrix(std::size_t rows, std::size_t columns) { arb_mat_init(x, static_cast<slong>(rows), static_cast<slong>(columns)); }
    matrix(const matrix&) = delete;
    matrix& operator=(const matrix&) = delete;
    ~matrix() { arb_mat_clear(x); }
    [[nodiscard]] arb_ptr operator()(std::size_t i, std::size_t j) { return arb_mat_entry(x, static_cast<slong>(i), static_cast<slong>(j)); }
};

// c = a bᵀ by one arb_dot for each element.
void dot_rows(matrix& c, matrix& a, matrix& b, std::size_t m, std::size_t depth, std::size_t n, slong bits) {
    for (std::size_t i = 0; i < m; ++i)
        for (std::size_t j = 0; j < n; ++j) arb_dot(c(i, j), nullptr, 0, a(i, 0), 1, b(j, 0), 1, static_cast<slong>(depth), bits);
}

} // namespace

extern "C" {

const char* arb_version_text() { return arb_version; }

/// Balls of the first rows with so many bits; `by_dots`: products by arb_dot instead of arb_mat_mul. `out`: their values, rounded to double; `settled`: how many elements'
/// ends round to one double. Keys and values are converted beforehand. There is no shift: exponents of Arb have no end.
double arb_attention(const double* q, const double* k, const double* v, double* out, std::size_t n, std::size_t d, std::size_t rows, int bits, int by_dots,
                     std::size_t* settled) {
    matrix queries(rows, d), keys(n, d), keys_across(d, n), values(n, d), values_across(d, n), weights(rows, n), sums(rows, d);
    for (std::size_t j = 0; j < n; ++j)
        for (std::size_t c = 0; c < d; ++c) {
            arb_set_d(keys(j, c), k[j * d + c]);
            arb_set_d(keys_across(c, j), k[j * d + c]);
            arb_set_d(values(j, c), v[j * d + c]);
            arb_set_d(values_across(c, j), v[j * d + c]);
        }
    *settled = 0;
    arb_t scale, total;
    arb_init(scale);
    arb_init(total);
    arf_t low, high;
    arf_init(low);
    arf_init(high);
    const double taken = processor_seconds([&] {
        arb_set_ui(scale, d);
        arb_rsqrt(scale, scale, bits);
        for (std::size_t i = 0; i < rows; ++i)
            for (std::size_t c = 0; c < d; ++c) arb_set_d(queries(i, c), q[i * d + c]);
        if (by_dots != 0) dot_rows(weights, queries, keys, rows, d, n, bits);
        else arb_mat_mul(weights.x, queries.x, keys_across.x, bits);
        for (std::size_t i = 0; i < rows; ++i)
            for (std::size_t j = 0; j < n; ++j) {
                arb_mul(weights(i, j), weights(i, j), scale, bits);
                arb_exp(weights(i, j), weights(i, j), bits);
            }
        if (by_dots != 0) dot_rows(sums, weights, values_across, rows, n, d, bits);
        else arb_mat_mul(sums.x, weights.x, values.x, bits);
        for (std::size_t i = 0; i < rows; ++i) {
            arb_zero(total);
            for (std::size_t j = 0; j < n; ++j) arb_add(total, total, weights(i, j), bits);
            for (std::size_t c = 0; c < d; ++c) {
                arb_div(sums(i, c), sums(i, c), total, bits);
                arb_get_interval_arf(low, high, sums(i, c), bits);
                out[i * d + c] = arf_get_d(low, ARF_RND_NEAR);
                if (out[i * d + c] == arf_get_d(high, ARF_RND_NEAR)) ++*settled;
            }
        }
    });
    arf_clear(low);
    arf_clear(high);
    arb_clear(scale);
    arb_clear(total);
    return taken;
}
}
