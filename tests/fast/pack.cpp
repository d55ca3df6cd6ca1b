// SPDX-License-Identifier: BSL-1.0
// Every operation of a pack, in every lane, against the same operation on doubles: the same bits on every target. Read once for each instruction set.

#ifdef ATTEST_LINKED_WITH_HIGHWAY
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fast/pack.cpp"
#include <hwy/foreach_target.h>
#endif

#include "attest/fast/exp-inl.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

ATTEST_FAST_BEGIN
namespace attest::fast::ATTEST_FAST_TARGET {

// How many lanes of `computed` have other bits than f(i), i < lanes.
template <class F> std::size_t different(pack computed, const F& f) {
    double lanes[pack::lanes];
    computed.store(lanes);
    std::size_t count = 0;
    for (std::size_t i = 0; i < pack::lanes; ++i) count += std::bit_cast<std::uint64_t>(lanes[i]) != std::bit_cast<std::uint64_t>(static_cast<double>(f(i)));
    return count;
}

// x, y, z: lanes doubles each. Returns how many results are wrong.
inline std::size_t wrong_results(const double* x, const double* y, const double* z) {
    const pack a = pack::load(x), b = pack::load(y), c = pack::load(z);
    const auto product_of = [&](std::size_t i) { return attest::detail::unfused(x[i] * y[i]); };
    std::size_t wrong = 0;
    wrong += different(a + b, [&](std::size_t i) { return x[i] + y[i]; });
    wrong += different(a - b, [&](std::size_t i) { return x[i] - y[i]; });
    wrong += different(-a, [&](std::size_t i) { return -x[i]; });
    wrong += different(a / b, [&](std::size_t i) { return x[i] / y[i]; });
    wrong += different(product(a, b), product_of);
    wrong += different(product(a, b) + c, [&](std::size_t i) { return product_of(i) + z[i]; });
    wrong += different(c - product(a, b), [&](std::size_t i) { return z[i] - product_of(i); });
    wrong += different(multiply_add(a, b, c), [&](std::size_t i) { return std::fma(x[i], y[i], z[i]); });
    wrong += different(multiply_subtract_from(a, b, c), [&](std::size_t i) { return std::fma(-x[i], y[i], z[i]); });
    wrong += different(square_root(absolute(a)), [&](std::size_t i) { return std::sqrt(std::fabs(x[i])); });
    wrong += different(maximum(a, b), [&](std::size_t i) { return x[i] > y[i] ? x[i] : y[i]; });
    wrong += different(minimum(a, b), [&](std::size_t i) { return x[i] < y[i] ? x[i] : y[i]; });
    wrong += different(nearest_integer(a), [&](std::size_t i) { return std::nearbyint(x[i]); });
    wrong += different(select(a < b, a, c), [&](std::size_t i) { return x[i] < y[i] ? x[i] : z[i]; });
    wrong += different(select((a <= b) & (b > c), a, c), [&](std::size_t i) { return x[i] <= y[i] && y[i] > z[i] ? x[i] : z[i]; });
    wrong += different(select_or_zero((a == b) | (b < c), a), [&](std::size_t i) { return x[i] == y[i] || y[i] < z[i] ? x[i] : 0; });
    bool any = false, all = true;
    for (std::size_t i = 0; i < pack::lanes; ++i) {
        any = any || x[i] < y[i];
        all = all && x[i] < y[i];
    }
    wrong += any_of(a < b) != any;
    wrong += all_of(a < b) != all;
    return wrong;
}

// Parts of packs, and powers of two. Returns how many results are wrong.
inline std::size_t wrong_parts() {
    double from[pack::lanes + 1], to[pack::lanes + 1];
    std::size_t wrong = 0;
    for (std::size_t count = 0; count <= pack::lanes; ++count) {
        for (std::size_t i = 0; i <= pack::lanes; ++i) {
            from[i] = 1 + static_cast<double>(i);
            to[i] = -1;
        }
        const pack some = load_first(from, count, 7);
        wrong += different(some, [&](std::size_t i) { return i < count ? from[i] : 7; });
        store_first(some, to, count);
        for (std::size_t i = 0; i <= pack::lanes; ++i) wrong += to[i] != (i < count ? from[i] : -1);
    }
    for (int k = -1022; k <= 1023; ++k)
        wrong += different(power_of_two(pack::broadcast(k + integer_shift)), [&](std::size_t) { return std::ldexp(1.0, k); });
    // exp beyond the exponentials of rows, which are not above 1
    for (double x = -720; x <= 709; x += 0.37)
        wrong += different(exp(pack::broadcast(x)), [&](std::size_t) {
            double lanes[pack::lanes];
            exp(pack::broadcast(x)).store(lanes);
            return std::abs(lanes[0] - attest::exp(x)) <= 2 * exp_error_relative * attest::exp(x) || (x < exp_least && lanes[0] == 0) ? lanes[0] : -1;
        });
    return wrong;
}

inline constexpr std::size_t lanes_of_target = pack::lanes;

} // namespace attest::fast::ATTEST_FAST_TARGET
ATTEST_FAST_END

#if !defined(ATTEST_LINKED_WITH_HIGHWAY) || HWY_ONCE

#include "catch.hpp"

#include <random>
#include <vector>

namespace {

using wrong_of_three = std::size_t(const double*, const double*, const double*);
struct target {
    const char* name;
    std::size_t lanes;
    wrong_of_three* results;
    std::size_t (*parts)();
};

std::vector<target> targets() {
    namespace fast = attest::fast;
    std::vector<target> all;
#define ATTEST_ADD_TARGET(NAME) all.push_back({#NAME, fast::NAME::lanes_of_target, fast::NAME::wrong_results, fast::NAME::wrong_parts})
#ifdef ATTEST_LINKED_WITH_HIGHWAY
    [[maybe_unused]] const auto supported = hwy::SupportedTargets();
#if HWY_TARGETS & HWY_AVX3
    if (supported & HWY_AVX3) ATTEST_ADD_TARGET(N_AVX3);
#endif
#if HWY_TARGETS & HWY_AVX2
    if (supported & HWY_AVX2) ATTEST_ADD_TARGET(N_AVX2);
#endif
#if HWY_TARGETS & HWY_SSE4
    if (supported & HWY_SSE4) ATTEST_ADD_TARGET(N_SSE4);
#endif
#endif
    all.push_back({"of the flags", fast::ATTEST_FAST_TARGET::lanes_of_target, fast::ATTEST_FAST_TARGET::wrong_results, fast::ATTEST_FAST_TARGET::wrong_parts});
    return all;
}

} // namespace

TEST_CASE("every operation of a pack gives the bits of the same operation on doubles", "[fast]") {
    std::mt19937_64 generator(11);
    const double special[] = {0.0, -0.0, 1, -1, 0.5, 2.5, -2.5, 0x1p-1074, 0x1p-1022, 0x1.fffffffffffffp1023, 1e300, 0x1p52, 0x1.0000000000001p0, 3};
    const auto number = [&]() -> double {
        if (generator() % 4 == 0) return special[generator() % std::size(special)];
        return std::ldexp(std::uniform_real_distribution<>(-1, 1)(generator), static_cast<int>(generator() % 60) - 30);
    };
    for (const target& t : targets()) {
        std::size_t wrong = 0;
        std::vector<double> x(t.lanes), y(t.lanes), z(t.lanes);
        for (int round = 0; round < 20'000; ++round) {
            for (auto* numbers : {&x, &y, &z})
                for (double& value : *numbers) value = number();
            for (std::size_t i = 0; i < t.lanes; ++i)
                if (y[i] == 0 && x[i] == 0) y[i] = 1; // the sign of a NaN is nobody's business
            wrong += t.results(x.data(), y.data(), z.data());
        }
        CAPTURE(t.name);
        CHECK(wrong == 0);
        CHECK(t.parts() == 0);
    }
}

#endif
