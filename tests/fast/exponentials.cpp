// SPDX-License-Identifier: BSL-1.0
// exp in lanes against 50 digits, and the exponentials of rows: their bounds, masks, odd lengths.

#include "targets.hpp"

#include "attest/arithmetic/real.hpp"
#include "attest/elementary/exp.hpp"

#include "catch.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

using namespace attest::fast;
using namespace fast_tests;
using attest::real;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

struct row_result {
    std::vector<double> p;
    double maximum, sum;
};
row_result exponentials_of_row(const kernels& k, const std::vector<double>& s, const visibility& mask = {}) {
    row_result result{std::vector<double>(s.size() + 1, -1.0), 0, 0};
    k.exponentials({.s = s.data(), .s_row = 0, .m = 1, .n = s.size(), .p = result.p.data(), .p_row = 0, .maximum = &result.maximum, .sum = &result.sum,
                    .mask = mask});
    REQUIRE(result.p.back() == -1); // no write behind the end
    result.p.pop_back();
    return result;
}

// Sum of the doubles, within 2^−63 of its size.
long double sum_of(const std::vector<double>& x) {
    long double sum = 0;
    for (const double value : x) sum += value;
    return sum;
}

} // namespace

TEST_CASE("the greatest error of exp in lanes is below its proved bound", "[fast]") {
    std::mt19937_64 generator(6);
    const auto uniform = [&](double a, double b) { return std::uniform_real_distribution<>(a, b)(generator); };
    std::vector<double> x(1'000'000);
    for (std::size_t i = 0; i < x.size(); ++i) switch (i % 4) {
        case 0: x[i] = uniform(-708, 0); break;
        case 1: x[i] = uniform(-50, 0); break;
        case 2: x[i] = uniform(-1, 0); break;
        default: x[i] = -std::exp2(-static_cast<double>(generator() % 60)) * uniform(0.5, 1);
        }
    x[0] = 0; // the maximum, so that nothing is subtracted
    x[1] = -708;
    std::map<bool, std::vector<double>> of_fused;
    for (const kernels* k : all_kernels()) {
        const auto row = exponentials_of_row(*k, x);
        CAPTURE(k->name);
        CHECK(row.maximum == 0);
        const auto [there, first] = of_fused.emplace(k->fused, row.p);
        CHECK((first || there->second == row.p)); // the same bits
        CHECK(std::abs(row.sum - sum_of(row.p)) <= (gamma(roundings_of_row_sum(x.size())) + 0x1p-40L) * row.sum);
    }
    std::map<bool, double> greatest;
    for (std::size_t i = 0; i < x.size(); ++i) {
        const real<50> exact = attest::exp(real<50>(x[i]));
        for (const auto& [fused, p] : of_fused) greatest[fused] = std::max(greatest[fused], std::abs(static_cast<double>((real<50>(p[i]) - exact) / exact)));
    }
    for (const auto& [fused, error] : greatest) {
        CAPTURE(fused, error / attest::exp_error_relative);
        CHECK(error <= attest::exp_error_relative);
        CHECK(error > 0.8 * attest::exp_error_relative); // the bound is not idle
    }
}

TEST_CASE("exponentials without fused operations are those of attest::exp", "[fast]") {
    auto x = random_doubles(10'001, 7, 350);
    for (double& value : x) value -= 350;
    x[0] = 0;
    const auto row = exponentials_of_row(plain_kernels(), x);
    std::size_t other = 0;
    for (std::size_t i = 0; i < x.size(); ++i) other += row.p[i] != attest::exp(x[i]);
    CHECK((plain_kernels().fused || other == 0));
}

TEST_CASE("far below the maximum exponentials are 0", "[fast]") {
    for (const kernels* k : all_kernels()) {
        const auto row = exponentials_of_row(*k, {5, 5 - 708.5, -1e300, -infinity, 5 - 707.5, 4, 3, 2, -1e9});
        CAPTURE(k->name);
        CHECK(row.p[0] == 1);
        CHECK(row.p[1] == 0);
        CHECK(row.p[2] == 0);
        CHECK(row.p[3] == 0);
        CHECK(row.p[4] > 0);
        CHECK(row.p[8] == 0);
        const auto not_a_number = exponentials_of_row(*k, {1, std::nan(""), 2});
        CHECK(std::isnan(not_a_number.p[1]));
        CHECK(std::isnan(not_a_number.sum));
    }
}

TEST_CASE("hidden keys have no weight, and a bias is added", "[fast]") {
    for (const std::size_t n : {1U, 7U, 8U, 9U, 31U, 64U, 683U}) {
        const auto s = random_doubles(n, 8, 20), bias = random_doubles(n, 9, 3);
        std::vector<unsigned char> seen(n);
        std::mt19937_64 generator(n);
        for (auto& value : seen) value = static_cast<unsigned char>(generator() % 3 != 0);
        const std::size_t first = n / 5, last = n - n / 7;
        for (const bool with_bytes : {false, true})
            for (const bool with_bias : {false, true})
                for (const bool with_range : {false, true}) {
                    visibility mask;
                    if (with_bytes) mask.seen = seen.data();
                    if (with_bias) mask.bias = bias.data();
                    if (with_range) {
                        mask.first = &first;
                        mask.last = &last;
                    }
                    double maximum = -infinity;
                    const auto visible = [&](std::size_t j) { return (!with_bytes || seen[j] != 0) && (!with_range || (first <= j && j < last)); };
                    const auto score = [&](std::size_t j) { return with_bias ? s[j] + bias[j] : s[j]; };
                    for (std::size_t j = 0; j < n; ++j)
                        if (visible(j)) maximum = std::max(maximum, score(j));
                    for (const kernels* k : all_kernels()) {
                        const auto row = exponentials_of_row(*k, s, mask);
                        CAPTURE(k->name, n, with_bytes, with_bias, with_range);
                        CHECK(row.maximum == maximum);
                        std::size_t wrong = 0;
                        for (std::size_t j = 0; j < n; ++j) {
                            const double exact = visible(j) ? attest::exp(score(j) - maximum) : 0;
                            wrong += !(std::abs(row.p[j] - exact) <= 2.5 * attest::exp_error_relative * exact); // each has its error
                        }
                        CHECK(wrong == 0);
                        CHECK(std::abs(row.sum - sum_of(row.p)) <= (gamma(roundings_of_row_sum(n)) + 0x1p-53L) * row.sum);
                    }
                }
    }
}

TEST_CASE("a row without a visible key has sum 0", "[fast]") {
    const std::vector<unsigned char> none(10, 0);
    const std::vector<double> s(10, 3.0), hidden(10, -infinity);
    const std::size_t at = 4;
    for (const kernels* k : all_kernels())
        for (const visibility& mask : {visibility{.seen = none.data()}, visibility{.bias = hidden.data()}, visibility{.first = &at, .last = &at}}) {
            const auto row = exponentials_of_row(*k, s, mask);
            CHECK(row.sum == 0);
            CHECK(row.maximum == -infinity);
            CHECK(row.p == std::vector<double>(10, 0.0));
        }
}
