// SPDX-License-Identifier: BSL-1.0
// Matrix products of the double path: within the bound that their roundings give, and with the same bits on all targets that fuse alike.

#include "targets.hpp"

#include "catch.hpp"

#include <cmath>
#include <map>

using namespace attest::fast;
using namespace fast_tests;

namespace {

struct shape {
    std::size_t m, depth, n;
};

// A in either layout, B as it is or from its transpose; C with a margin that must stay as it was.
struct problem {
    shape of;
    bool transposed;
    std::vector<double> a, b, divisors;
    explicit problem(shape s, bool t)
        : of{s}, transposed{t}, a(random_doubles(s.m * s.depth, 1)), b(random_doubles(s.depth * s.n, 2)), divisors(random_doubles(s.m, 3)) {}
    [[nodiscard]] strided left() const {
        return transposed ? strided{a.data(), 1, static_cast<std::ptrdiff_t>(of.m)} : strided{a.data(), static_cast<std::ptrdiff_t>(of.depth), 1};
    }
    [[nodiscard]] strided right() const {
        return transposed ? strided{b.data(), 1, static_cast<std::ptrdiff_t>(of.depth)} : strided{b.data(), static_cast<std::ptrdiff_t>(of.n), 1};
    }
};
double at(const strided& x, std::size_t i, std::size_t j) {
    return x.at[static_cast<std::ptrdiff_t>(i) * x.row + static_cast<std::ptrdiff_t>(j) * x.column];
}

enum class ending { none, scaled, divided, added };
constexpr double margin = 1234.5, before = 0.25, scale = 0.3;

std::vector<double> run(const kernels& k, const problem& p, ending e) {
    const std::size_t row = p.of.n + 3;
    std::vector<double> packed(packed_elements(k, p.of.depth, p.of.n)), c(p.of.m * row + 1, margin);
    if (e == ending::added)
        for (std::size_t i = 0; i < p.of.m; ++i)
            for (std::size_t j = 0; j < p.of.n; ++j) c[i * row + j] = before;
    k.pack(p.right(), p.of.depth, p.of.n, packed.data());
    k.multiply({.a = p.left(),
                .m = p.of.m,
                .depth = p.of.depth,
                .b = packed.data(),
                .b_depth = p.of.depth,
                .n = p.of.n,
                .c = c.data(),
                .c_row = static_cast<std::ptrdiff_t>(row),
                .scale = e == ending::scaled ? scale : 1,
                .divisors = e == ending::divided ? p.divisors.data() : nullptr,
                .add = e == ending::added});
    return c;
}

void check(const kernels& k, const problem& p, ending e, const std::vector<double>& c) {
    const std::size_t row = p.of.n + 3;
    std::size_t outside = 0, touched = 0;
    for (std::size_t i = 0; i < p.of.m; ++i) {
        for (std::size_t j = 0; j < p.of.n; ++j) {
            long double sum = e == ending::added ? before : 0.0L, size = sum;
            for (std::size_t l = 0; l < p.of.depth; ++l) {
                const long double term = static_cast<long double>(at(p.left(), i, l)) * at(p.right(), l, j);
                sum += term;
                size += std::abs(term);
            }
            const long double factor = e == ending::scaled ? scale : e == ending::divided ? 1 / static_cast<long double>(p.divisors[i]) : 1;
            const std::size_t roundings = roundings_of_products(p.of.depth) + (e == ending::none ? 0 : 1);
            const long double own = static_cast<long double>(p.of.depth + 4) * 0x1p-63L; // of this sum
            const long double bound = (gamma(roundings) + own) * size * std::abs(factor);
            if (!(std::abs(c[i * row + j] - sum * factor) <= bound)) ++outside;
        }
        for (std::size_t j = p.of.n; j < row; ++j) touched += c[i * row + j] != margin;
    }
    CAPTURE(k.name, p.of.m, p.of.depth, p.of.n, static_cast<int>(e), p.transposed);
    CHECK(outside == 0);
    CHECK(touched + (c.back() != margin) == 0);
}

} // namespace

TEST_CASE("matrix products are within the bound of their roundings", "[fast]") {
    for (const shape s : {shape{0, 3, 4}, {1, 1, 1}, {7, 3, 5}, {6, 64, 32}, {13, 80, 33}, {5, 129, 64}, {48, 683, 17}, {4, 0, 6}, {2, 1024, 64}, {3, 2, 0}})
        for (const bool transposed : {false, true})
            for (const ending e : {ending::none, ending::scaled, ending::divided, ending::added}) {
                const problem p(s, transposed);
                std::map<bool, std::vector<double>> of_fused;
                for (const kernels* k : all_kernels()) {
                    const auto c = run(*k, p, e);
                    check(*k, p, e, c);
                    const auto [there, first] = of_fused.emplace(k->fused, c);
                    CAPTURE(k->name);
                    CHECK((first || there->second == c)); // the same bits
                }
            }
}

TEST_CASE("a product may begin and end within a packed matrix", "[fast]") {
    const std::size_t depth = 37, n = 21, from = 5, to = 30;
    const auto a = random_doubles(depth, 4), b = random_doubles(depth * n, 5);
    for (const kernels* k : all_kernels()) {
        std::vector<double> packed(packed_elements(*k, depth, n)), c(n), expected(n);
        k->pack({b.data(), static_cast<std::ptrdiff_t>(n)}, depth, n, packed.data());
        k->multiply({.a = {a.data() + from, 0}, .m = 1, .depth = to - from, .b = packed.data() + from * k->panel, .b_depth = depth, .n = n, .c = c.data(),
                     .c_row = 0});
        for (std::size_t j = 0; j < n; ++j)
            for (std::size_t l = from; l < to; ++l) {
                const double x = a[l], y = b[l * n + j];
                expected[j] = k->fused ? std::fma(x, y, expected[j]) : attest::detail::unfused(x * y) + expected[j];
            }
        CAPTURE(k->name);
        CHECK(c == expected);
    }
}

TEST_CASE("the roundings of a sum are counted", "[fast]") {
    STATIC_REQUIRE(roundings_of_products(0) == 0);
    STATIC_REQUIRE(roundings_of_products(64) == 64);
    STATIC_REQUIRE(roundings_of_products(128) == 128);
    STATIC_REQUIRE(roundings_of_products(129) == 129);
    STATIC_REQUIRE(roundings_of_products(1024) == 135);
    STATIC_REQUIRE(roundings_of_row_sum(1) == 3);
    STATIC_REQUIRE(roundings_of_row_sum(1024) == 130);
}
