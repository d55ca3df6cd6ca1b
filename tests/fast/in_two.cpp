// SPDX-License-Identifier: BSL-1.0
// The kernels whose results are sums of two doubles, against 50 digits: within the bounds that kernels.hpp states, and the same bits on all targets.

#include "targets.hpp"

#include "attest/arithmetic/double_double.hpp"
#include "attest/arithmetic/real.hpp"
#include "attest/elementary/exp.hpp"

#include "catch.hpp"

#include <algorithm>
#include <cmath>

using namespace attest::fast;
using namespace fast_tests;
using attest::real;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

real<50> whole(double high, double low) { return real<50>(high) + real<50>(low); }

std::size_t up(std::size_t n) { return (n + 7) / 8 * 8; }

struct exponentials_of_rows {
    std::vector<double> p_high, p_low, sums;
};
// One row.
exponentials_of_rows exponentials_of(const kernels& k, std::vector<double> high, std::vector<double> low, double maximum) {
    const std::size_t n = high.size(), padded = up(n);
    high.resize(padded, -infinity);
    low.resize(padded, 0);
    exponentials_of_rows result{std::vector<double>(padded), std::vector<double>(padded), std::vector<double>(24)};
    k.exponentials_in_two({.high = high.data(), .low = low.data(), .s_row = 0, .m = 1, .n = n,
                           .maximum = &maximum, .p_high = result.p_high.data(), .p_low = result.p_low.data(), .p_row = 0, .sums = result.sums.data()});
    return result;
}

// 2^E with Σ |a_c b_c| (1 + 2^−21) < 2^(E − 1), for two vectors of such norms.
double power_above(double squares) { return std::exp2(std::max(std::ceil(std::log2(std::sqrt(squares))) + 1.0, -400.0)); }

struct products {
    std::vector<double> high, low;
};

} // namespace

TEST_CASE("the greatest error of exponentials of two doubles is below its proved bound", "[fast]") {
    std::mt19937_64 generator(6);
    const auto uniform = [&](double a, double b) { return std::uniform_real_distribution<>(a, b)(generator); };
    std::vector<double> high(120'000), low(high.size());
    for (std::size_t i = 0; i < high.size(); ++i) {
        switch (i % 5) {
        case 0: high[i] = uniform(-694, 0); break;
        case 1: high[i] = uniform(-50, 0); break;
        case 2: high[i] = uniform(-1, 0); break;
        case 3: high[i] = attest::detail::ln2_high * (0.5 - static_cast<double>(generator() % 900)) * uniform(1 - 1e-6, 1 + 1e-6); break; // where k changes
        default: high[i] = -std::exp2(-static_cast<double>(generator() % 60)) * uniform(0.5, 1);
        }
        high[i] = std::max(high[i], -694.0);
        low[i] = high[i] * uniform(-0x1p-54, 0x1p-54);
    }
    std::vector<double> of_first;
    double greatest = 0;
    for (const kernels* k : all_kernels()) {
        const auto row = exponentials_of(*k, high, low, 0);
        CAPTURE(k->name);
        if (of_first.empty()) {
            of_first = row.sums;
            std::size_t odd = 0;
            for (std::size_t i = 0; i < high.size(); ++i) {
                const real<50> exact = attest::exp(whole(high[i], low[i]));
                const double error = std::abs(static_cast<double>((whole(row.p_high[i], row.p_low[i]) - exact) / exact));
                if (row.p_low[i] != 0 && std::abs(row.p_low[i]) < 0x1p-1022) ++odd; // rounded once more
                else greatest = std::max(greatest, error);
                odd += row.p_high[i] + row.p_low[i] != row.p_high[i] ? 1000 : 0;
            }
            CHECK(odd < 1000);
        }
        CHECK(of_first == row.sums); // the same bits
    }
    CAPTURE(greatest / exp_in_two_error);
    CHECK(greatest <= exp_in_two_error);
    CHECK(greatest > 0.05 * exp_in_two_error); // the bound is not idle
}

TEST_CASE("far below the shift, and where nothing is seen, exponentials of two doubles are 0", "[fast]") {
    for (const kernels* k : all_kernels()) {
        const auto row = exponentials_of(*k, {5, 5 - 694.5, -1e300, -infinity, 5 - 693.5, 4, 3, 2, -1e9}, {0, 1e-17, 1e280, 0, 0, 0x1p-60, 0, 0, 0}, 5);
        CAPTURE(k->name);
        CHECK((row.p_high[0] == 1 && row.p_low[0] == 0));
        for (const std::size_t j : {1U, 2U, 3U, 8U}) CHECK((row.p_high[j] == 0 && row.p_low[j] == 0));
        CHECK(row.p_high[4] > 0);
        const auto none = exponentials_of(*k, {-infinity, -infinity}, {0, 0}, -infinity);
        CHECK(none.sums == std::vector<double>(24, 0.0));
    }
}

TEST_CASE("products with results of two doubles are within their bound, and have the same bits on all targets", "[fast]") {
    struct shape {
        std::size_t m, depth, n;
    };
    double share = 0;
    for (const shape s : {shape{1, 1, 1}, {2, 3, 5}, {5, 64, 33}, {7, 17, 70}, {13, 255, 9}, {3, 256, 16}, {6, 257, 31}, {4, 700, 12}, {3, 0, 5}})
        for (const bool with_low : {false, true})
            for (const int kind : {0, 1, 2}) {
                std::vector<double> a = random_doubles(s.m * s.depth, 1), b = random_doubles(s.depth * s.n, 2), a_low = a;
                const auto spread = [&](std::vector<double>& x) {
                    std::mt19937_64 generator(x.size());
                    for (double& value : x) value = std::ldexp(value, static_cast<int>(generator() % 200) - (kind == 2 ? 800 : 100));
                };
                if (kind > 0) {
                    spread(a);
                    if (kind == 1) spread(b);
                }
                for (std::size_t i = 0; i < a.size(); ++i) a_low[i] = a[i] * 0x1p-53 * (i % 3 == 0 ? -0.9 : 0.7);
                std::vector<double> row_base(s.m), column_base(s.n);
                for (std::size_t i = 0; i < s.m; ++i) {
                    double squares = 0;
                    for (std::size_t c = 0; c < s.depth; ++c) squares += a[i * s.depth + c] * a[i * s.depth + c];
                    row_base[i] = power_above(squares);
                }
                for (std::size_t j = 0; j < s.n; ++j) {
                    double squares = 0;
                    for (std::size_t c = 0; c < s.depth; ++c) squares += b[c * s.n + j] * b[c * s.n + j];
                    column_base[j] = 1.5 * power_above(squares);
                }
                products of_first;
                for (const kernels* k : all_kernels()) {
                    CAPTURE(k->name, s.m, s.depth, s.n, with_low, kind);
                    const std::size_t c_row = s.n + 3;
                    std::vector<double> packed(packed_elements(*k, s.depth, s.n));
                    products c{std::vector<double>(s.m * c_row + 1, 7.0), std::vector<double>(s.m * c_row + 1, 7.0)};
                    k->pack({b.data(), static_cast<std::ptrdiff_t>(s.n)}, s.depth, s.n, packed.data());
                    k->multiply_in_two({.a = a.data(), .a_low = with_low ? a_low.data() : nullptr, .a_row = static_cast<std::ptrdiff_t>(s.depth), .m = s.m, .depth = s.depth,
                                        .b = packed.data(), .b_depth = s.depth, .n = s.n, .row_base = row_base.data(), .column_base = column_base.data(),
                                        .high = c.high.data(), .low = c.low.data(), .c_row = static_cast<std::ptrdiff_t>(c_row)});
                    if (of_first.high.empty()) {
                        of_first = c;
                        std::size_t outside = 0;
                        for (std::size_t i = 0; i < s.m; ++i)
                            for (std::size_t j = 0; j < c_row; ++j) {
                                if (j >= s.n) {
                                    CHECK(c.high[i * c_row + j] == 7); // no write beyond
                                    continue;
                                }
                                real<120> exact(0.0); // products of a spread of 400 bits
                                for (std::size_t l = 0; l < s.depth; ++l) {
                                    exact = exact + real<120>(a[i * s.depth + l]) * real<120>(b[l * s.n + j]);
                                    if (with_low) exact = exact + real<120>(a_low[i * s.depth + l]) * real<120>(b[l * s.n + j]);
                                }
                                const double off = std::abs(static_cast<double>(real<120>(c.high[i * c_row + j]) + real<120>(c.low[i * c_row + j]) - exact));
                                const double most = error_of_products_in_two(s.depth) * (row_base[i] * column_base[j] / 1.5);
                                outside += off > most ? 1 : 0;
                                if (most > 0) share = std::max(share, off / most);
                            }
                        CHECK(outside == 0);
                    }
                    CHECK((c.high == of_first.high && c.low == of_first.low));
                }
            }
    CAPTURE(share);
    CHECK(share > 1e-3); // bounds of sums in the worst case, for terms that are far from it
}

TEST_CASE("scores of two doubles: scale, bias and what is hidden", "[fast]") {
    for (const std::size_t n : {1U, 8U, 13U, 40U}) {
        const auto high = random_doubles(n, 3, 50), low = random_doubles(n, 4, 0x1p-40), bias = random_doubles(n, 5, 20);
        std::vector<unsigned char> seen(n, 1);
        for (std::size_t j = 0; j < n; j += 3) seen[j] = n > 1 ? 0 : 1;
        for (const bool masked : {false, true}) {
            std::vector<double> first;
            for (const kernels* k : all_kernels()) {
                std::vector<double> h = high, l = low;
                h.resize(up(n));
                l.resize(up(n));
                double maximum = -infinity;
                const double scale_high = 0x1.999999999999ap-4, scale_low = -0x1.999999999999ap-58;
                k->scale_scores({.high = h.data(), .low = l.data(), .s_row = 0, .m = 1, .n = n, .scale_high = scale_high, .scale_low = scale_low, .maximum = &maximum,
                                 .mask = masked ? visibility{.seen = seen.data(), .bias = bias.data()} : visibility{}});
                CAPTURE(k->name, n, masked);
                std::size_t outside = 0;
                double greatest = -infinity;
                for (std::size_t j = 0; j < n; ++j) {
                    if (masked && seen[j] == 0) {
                        outside += h[j] == -infinity && l[j] == 0 ? 0 : 1;
                        continue;
                    }
                    greatest = std::max(greatest, h[j]);
                    const real<50> score = whole(high[j], low[j]) * whole(scale_high, scale_low), exact = masked ? score + real<50>(bias[j]) : score;
                    const double size = std::abs(static_cast<double>(score)), most = 0x1p-106 * (6.01 * size + (masked ? 1.01 * std::abs(h[j]) : 0));
                    outside += std::abs(static_cast<double>(whole(h[j], l[j]) - exact)) <= most && h[j] + l[j] == h[j] ? 0 : 1;
                }
                CHECK(outside == 0);
                CHECK(maximum == greatest);
                for (std::size_t j = n; j < up(n); ++j) CHECK(h[j] == -infinity);
                h.insert(h.end(), l.begin(), l.end());
                if (first.empty()) first = h;
                CHECK(first == h);
            }
        }
    }
}

TEST_CASE("quotients of two doubles", "[fast]") {
    const std::size_t m = 3, n = 21;
    const auto high = random_doubles(m * n, 3, 50), low = random_doubles(m * n, 4, 0x1p-30), by = random_doubles(m, 5, 0.25);
    std::vector<double> by_high(m), by_low(m), first;
    for (std::size_t i = 0; i < m; ++i) {
        by_high[i] = 1 + by[i];
        by_low[i] = by[i] * 0x1p-53;
    }
    for (const kernels* k : all_kernels()) {
        std::vector<double> h = high, l = low;
        k->quotients({.high = h.data(), .low = l.data(), .m = m, .n = n, .divisor_high = by_high.data(), .divisor_low = by_low.data()});
        std::size_t outside = 0;
        for (std::size_t e = 0; e < m * n; ++e) {
            const real<50> exact = whole(high[e], low[e]) / whole(by_high[e / n], by_low[e / n]);
            outside += abs((whole(h[e], l[e]) - exact) / exact) <= real<50>(attest::double_double::quotient_error) && h[e] + l[e] == h[e] ? 0 : 1;
        }
        CHECK(outside == 0);
        h.insert(h.end(), l.begin(), l.end());
        if (first.empty()) first = h;
        CHECK(first == h);
    }
}
