// SPDX-License-Identifier: BSL-1.0
// ALiBi: the slopes, and what is added to a score. (The lectures do not have it: no claims, but laws.)

#include "exact.hpp"

#include "attest/arithmetic/interval.hpp"
#include "attest/formula/alibi.hpp"
#include "attest/formula/mask_extras.hpp"

namespace attest::proofs {
namespace {

// [alibi]
// 8 heads have 1/2, …, 1/256. 12 heads have those, and then every other slope of 16: 2^(−1/2), 2^(−3/2), …
constexpr bool slopes_of_12 = [] {
    for (std::size_t h = 0; h < 8; ++h)
        if (alibi_slope<exact>(h, 12) != ratio(1, 2LL << h) || alibi_slope<exact>(h, 8) != ratio(1, 2LL << h)) return false;
    for (std::size_t h = 0; h < 4; ++h)
        if (alibi_slope<exact>(8 + h, 12) != root_two / (2LL << h)) return false;
    return true;
}();
static_assert(slopes_of_12);
static_assert(alibi<exact>{ratio(1, 4)}.added(5, 2) == ratio(-3, 4) && alibi<exact>{ratio(1, 4), 3}.added(0, 3) == 0);
// [/alibi]

// 2^x in whole steps of 2^(1/2), 2^(1/4), …: exponents instead of numbers, so that 2^(−8(h + 1)/H) is seen as −8(h + 1)/H. Sums do not occur.
class power_of_2 {
public:
    constexpr power_of_2() = default;
    constexpr explicit power_of_2(int x) : exponent_{x == 1 ? exact(0) : x == 2 ? exact(1) : throw no_such_value()} {}
    constexpr explicit power_of_2(const exact& exponent) : exponent_{exponent} {}
    [[maybe_unused]] friend constexpr power_of_2 operator+(const power_of_2& a, const power_of_2&) { return a.has_no_sums(); }
    [[maybe_unused]] friend constexpr power_of_2 operator-(const power_of_2& a, const power_of_2&) { return a.has_no_sums(); }
    [[maybe_unused]] friend constexpr power_of_2 operator-(const power_of_2& a) { return a.has_no_sums(); }
    friend constexpr power_of_2 operator*(const power_of_2& a, const power_of_2& b) { return power_of_2(a.exponent_ + b.exponent_); }
    friend constexpr power_of_2 operator/(const power_of_2& a, const power_of_2& b) { return power_of_2(a.exponent_ - b.exponent_); }
    friend constexpr bool operator==(const power_of_2&, const power_of_2&) = default;
    friend constexpr power_of_2 attest_sqrt(const power_of_2& a) { return power_of_2(a.exponent_ / 2); }

private:
    [[nodiscard]] constexpr power_of_2 has_no_sums() const { return exponent_ == exact(0, 1) ? *this : throw no_such_value(); }
    exact exponent_ = 0;
};

// H a power of two: 2^(−8(h + 1)/H).
constexpr bool is_slope_of_power_of_two(std::size_t h, std::size_t H, const power_of_2& slope) {
    return slope == power_of_2(ratio(-8 * (static_cast<long long>(h) + 1), static_cast<long long>(H)));
}
// Else: those of P, the greatest power of two below H, and then numbers 0, 2, 4, … of those of 2P.
constexpr bool is_slope(std::size_t h, std::size_t H, const power_of_2& slope) {
    for (std::size_t P = 1; P <= 256; P *= 2) {
        if (H == P) return is_slope_of_power_of_two(h, P, slope);
        if (P < H && H < 2 * P) return h < P ? is_slope_of_power_of_two(h, P, slope) : is_slope_of_power_of_two(2 * (h - P), 2 * P, slope);
    }
    return false;
}
template <std::size_t... H>
constexpr bool slopes_of() {
    const auto of = [](std::size_t heads) {
        for (std::size_t h = 0; h < heads; ++h)
            if (!is_slope(h, heads, alibi_slope<power_of_2>(h, heads))) return false;
        return true;
    };
    return (of(H) && ...);
}
static_assert(slopes_of<1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 20, 24, 31, 32, 33, 40, 64, 71, 96, 128>());

// The numbers themselves: 1/2 and 2^(−1/2), not powers by name.
static_assert(alibi_slope<exact>(0, 8) == ratio(1, 2) && alibi_slope<exact>(0, 16) == 1 / root_two && alibi_slope<exact>(0, 1) == ratio(1, 256));
static_assert(rounds_to(alibi_slope<interval>(0, 32), "0.8408964152537145430"), "2^(-1/4)");

// −slope · |i + shift − j|, written out for a slope of 3/7.
template <std::size_t N> struct bias_rows {
    exact of[N][N];
};
constexpr bool adds(const alibi<exact>& mask, const bias_rows<4>& bias) {
    for (std::size_t i = 0; i < 4; ++i)
        for (std::size_t j = 0; j < 4; ++j)
            if (!(mask.added(i, j) == ratio(3, 7) * bias.of[i][j]) || !mask.visible(i, j)) return false;
    return true;
}
static_assert(adds({ratio(3, 7)}, {{{0, -1, -2, -3}, {-1, 0, -1, -2}, {-2, -1, 0, -1}, {-3, -2, -1, 0}}}));
static_assert(adds({ratio(3, 7), 2}, {{{-2, -1, 0, -1}, {-3, -2, -1, 0}, {-4, -3, -2, -1}, {-5, -4, -3, -2}}}));

// A mask for each head: by the rule, or with slopes that are given; by default without a shift, and of no heads.
constexpr exact given[] = {ratio(2, 3), ratio(3, 5), ratio(5, 7)};
constexpr bool masks_of_heads = [] {
    const alibi_heads<exact> by_rule{nullptr, 3, 2}, as_given{given, 3, 2}, unshifted{given, 3};
    const exact rule[] = {ratio(1, 16), ratio(1, 256), ratio(1, 4)}; // those of 2, and the first of 4
    for (std::size_t h = 0; h < 3; ++h) {
        if (!(by_rule.head(h).slope == rule[h]) || by_rule.head(h).shift != 2) return false;
        if (!(as_given.head(h).slope == given[h]) || as_given.head(h).shift != 2 || unshifted.head(h).shift != 0) return false;
        if (!(mask_of_head(as_given, h).added(1, 0) == ratio(-3, 1) * given[h])) return false;
    }
    return alibi_heads<exact>{}.n_heads == 0 && mask_family<alibi_heads<exact>> && mask<alibi<exact>>;
}();
static_assert(masks_of_heads);

} // namespace
} // namespace attest::proofs
