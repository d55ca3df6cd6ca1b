// SPDX-License-Identifier: BSL-1.0
#include "attest/formula/alibi.hpp"
#include "attest/arithmetic/real.hpp"
#include "attest/elementary/exp.hpp"
#include "attest/elementary/log.hpp"
#include "attest/formula/attention.hpp"
#include "catch.hpp"

#include <cmath>
#include <vector>

using namespace attest;

namespace {

using dyn = axis<dynamic>;

static_assert(mask<alibi<double>> && detail::is_additive<alibi<double>>);
// The paper's example: 8 heads have 1/2, 1/4, …, 1/256; exactly, in double.
template <std::size_t H> constexpr bool slopes_are_powers(int first_exponent, int step) {
    double slope = 1;
    for (int k = 0; k < first_exponent; ++k) slope /= 2;
    for (std::size_t h = 0; h < H; ++h) {
        if (alibi_slope<double>(h, H) != slope || alibi_slope<float>(h, H) != static_cast<float>(slope)) return false;
        for (int k = 0; k < step; ++k) slope /= 2;
    }
    return true;
}
static_assert(slopes_are_powers<8>(1, 1) && slopes_are_powers<4>(2, 2) && slopes_are_powers<2>(4, 4) && slopes_are_powers<1>(8, 8));

// The exponents of the paper's code, `get_slopes`, as it is written: recursive, and each in units of 1/2^20.
std::vector<long> exponents(std::size_t n) {
    if ((n & (n - 1)) == 0) {
        std::vector<long> result; // start · ratio^i with start = ratio = 2^(−8/n)
        for (std::size_t i = 0; i < n; ++i) result.push_back(-static_cast<long>((8UL << 20) / n * (i + 1)));
        return result;
    }
    std::size_t closest = 1;
    while (2 * closest <= n) closest *= 2;
    auto result = exponents(closest);
    const auto doubled = exponents(2 * closest);
    for (std::size_t i = 0; result.size() < n; i += 2) result.push_back(doubled[i]);
    return result;
}

} // namespace

TEST_CASE("the slopes are those of the paper's code, for every number of heads", "[formula]") {
    const auto log_two = attest::log(real<50>(2));
    for (std::size_t heads = 1; heads <= 130; ++heads) {
        const auto expected = exponents(heads);
        for (std::size_t h = 0; h < heads; ++h) {
            const auto wanted = attest::exp(real<50>(static_cast<int>(expected[h])) / real<50>(1 << 20) * log_two);
            CAPTURE(heads, h, expected[h]);
            CHECK(abs(alibi_slope<real<50>>(h, heads) / wanted - real<50>(1)) < ldexp(real<50>(1), -170));
            // At most 8 + 5 products, 5 roots and a quotient are rounded in double.
            CHECK(std::abs(alibi_slope<double>(h, heads) / static_cast<double>(wanted) - 1) <= 20 * 0x1p-53);
        }
    }
}

TEST_CASE("12 heads: those of 8, then every other of 16", "[formula]") {
    for (std::size_t h = 0; h < 8; ++h) CHECK(alibi_slope<double>(h, 12) == alibi_slope<double>(h, 8));
    for (std::size_t h = 0; h < 4; ++h) {
        CHECK(alibi_slope<double>(8 + h, 12) == alibi_slope<double>(2 * h, 16));
        CHECK(alibi_slope<double>(8 + h, 12) == Approx(std::exp2(-0.5 - static_cast<double>(h))).epsilon(1e-15));
    }
    CHECK(alibi_slope<double>(2, 3) == 0.25); // of 4 heads, 1/4 is the first
    CHECK_THROWS_AS(alibi_slope<double>(12, 12), shape_error);
    CHECK_THROWS_AS(alibi_slope<double>(0, 0), shape_error);
}

TEST_CASE("the bias falls with the distance, on both sides, and hides nothing", "[formula]") {
    const alibi<double> bias{0.25, 3};
    for (std::size_t i = 0; i < 4; ++i)
        for (std::size_t j = 0; j < 9; ++j) {
            const double distance = std::abs(static_cast<double>(i) + 3 - static_cast<double>(j));
            CHECK(bias.visible(i, j));
            CHECK(bias.added(i, j) == -0.25 * distance);
        }
    const auto with_causal = causal_bottom_right{4, 7} & bias;
    CHECK(with_causal.visible(1, 4));
    CHECK_FALSE(with_causal.visible(1, 5));
    CHECK(with_causal.added(1, 2) == -0.5);
}

TEST_CASE("the mask of a head: by the rule, or from slopes that are given", "[formula]") {
    const double slopes[] = {3, 5};
    const alibi_heads<double> given{slopes, 2, 1}, by_rule{nullptr, 12, 4};
    CHECK(given.head(1).slope == 5);
    CHECK(given.head(1).shift == 1);
    for (std::size_t h = 0; h < 12; ++h) CHECK(by_rule.head(h).slope == alibi_slope<double>(h, 12));
    CHECK(by_rule.head(0).shift == 4);
    CHECK_THROWS_AS(given.head(2), shape_error);
    CHECK_THROWS_AS(alibi_heads<double>{}.head(0), shape_error);
}

TEST_CASE("attention with ALiBi is attention with its matrix; under a causal mask a bias that grows with j is the same", "[formula]") {
    constexpr std::size_t length = 6;
    auto q = tensor<real<50>, dyn, dyn>::with_lengths(length, 3), k = q, v = q;
    for (std::size_t i = 0; i < length; ++i)
        for (std::size_t c = 0; c < 3; ++c) {
            q(i, c) = real<50>(static_cast<int>((7 * i + 3 * c) % 5) - 2) / real<50>(2);
            k(i, c) = real<50>(static_cast<int>((5 * i + 2 * c) % 7) - 3) / real<50>(3);
            v(i, c) = real<50>(static_cast<int>((i + c * c) % 4));
        }
    const alibi<real<50>> bias{alibi_slope<real<50>>(0, 8)};
    tensor<real<50>, dyn, dyn> matrix = tensor<real<50>, dyn, dyn>::with_lengths(length, length), growing = matrix;
    for (std::size_t i = 0; i < length; ++i)
        for (std::size_t j = 0; j < length; ++j) {
            matrix(i, j) = real<50>(-std::abs(static_cast<int>(i) - static_cast<int>(j))) / real<50>(2);
            growing(i, j) = real<50>(static_cast<int>(j)) / real<50>(2); // i is missing: constant in a row
        }
    CHECK(attention(q, k, v, bias) == attention(q, k, v, additive_mask{matrix}));
    const auto causal = attention(q, k, v, causal_top_left{} & bias), shifted = attention(q, k, v, causal_top_left{} & additive_mask{growing});
    const auto symmetric = attention(q, k, v, bias), one_sided = attention(q, k, v, additive_mask{growing});
    real<50> greatest(0);
    for (std::size_t i = 0; i < length; ++i)
        for (std::size_t c = 0; c < 3; ++c) {
            CHECK(abs(causal(i, c) - shifted(i, c)) < ldexp(real<50>(1), -170));
            greatest = greatest < abs(symmetric(i, c) - one_sided(i, c)) ? abs(symmetric(i, c) - one_sided(i, c)) : greatest;
        }
    CHECK(greatest > real<50>(1) / real<50>(10)); // without the mask the two are not the same
}
