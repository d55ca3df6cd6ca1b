// SPDX-License-Identifier: BSL-1.0
// Answers of the exercises in docs/variance.md.
#include "attest/arithmetic/fixed_point.hpp"
#include "attest/arithmetic/rational.hpp"
#include "attest/formula/score.hpp"
#include "attest/formula/softmax.hpp"
#include "catch.hpp"

#include <cmath>

namespace {

using attest::rational;

constexpr int sign(unsigned outcome, unsigned bit) { return (outcome >> bit & 1U) != 0 ? 1 : -1; }

// [exercise 1]
// The components are random signs: each product is one, and j of the 64 are −1 in C(64, j) of 2^64 cases.
using integer = attest::fixed_point::integer<256>;
constexpr bool has_variance_64 = [] {
    integer cases = 1, outcomes = 0, first = 0, second = 0;
    for (int j = 0; j <= 64; ++j) {
        const int s = 64 - 2 * j;
        outcomes += cases;
        first += cases * s;
        second += cases * s * s;
        cases *= 64 - j;
        cases /= j + 1;
    }
    return first == 0 && second == 64 * outcomes;
}();
static_assert(has_variance_64);
constexpr rational scale = attest::scaled_dot_product<rational>::of_dimension(64).scale;
static_assert(scale == rational::ratio(1, 8) && scale * scale * 64 == 1);
// [/exercise 1]

// [exercise 2]
// q = k, three random signs: q·k is 3 in all 8 outcomes.
constexpr bool is_always_3 = [] {
    attest::tensor<int, attest::axis<3>> x;
    for (unsigned outcome = 0; outcome < 8; ++outcome) {
        for (unsigned c = 0; c < 3; ++c) x(c) = sign(outcome, c);
        if (attest::dot_product{}(x, x) != 3) return false;
    }
    return true;
}();
static_assert(is_always_3);
// Components 0 or 2: variance 1, but mean 1. For d_k = 3 the mean of q·k is 3, and its variance 3 (1 + 2) = 9.
constexpr bool has_mean_3_and_variance_9 = [] {
    int first = 0, second = 0;
    attest::tensor<int, attest::axis<3>> q, k;
    for (unsigned outcome = 0; outcome < 64; ++outcome) {
        for (unsigned c = 0; c < 3; ++c) q(c) = 1 + sign(outcome, c), k(c) = 1 + sign(outcome, 3 + c);
        const int s = attest::dot_product{}(q, k);
        first += s, second += s * s;
    }
    return first == 3 * 64 && second - 3 * first == 9 * 64;
}();
static_assert(has_mean_3_and_variance_9);
// [/exercise 2]

// [exercise 3]
// q = (a, c), k = (b, abc) with random signs a, b, c: any three of the four are independent, and q·k = ab + c·abc = 2ab.
constexpr bool has_variance_4 = [] {
    int first = 0, second = 0;
    for (unsigned outcome = 0; outcome < 8; ++outcome) {
        const int a = sign(outcome, 0), b = sign(outcome, 1), c = sign(outcome, 2);
        const int s = attest::dot_product{}(attest::tensor<int, attest::axis<2>>{a, c}, attest::tensor<int, attest::axis<2>>{b, a * b * c});
        if (s != 2 * a * b) return false;
        first += s, second += s * s;
    }
    return first == 0 && second == 4 * 8;
}();
static_assert(has_variance_4);
// [/exercise 3]

// [exercise 4]
constexpr rational by_d = rational::ratio(1, 64);
static_assert(by_d * by_d * 64 == rational::ratio(1, 64)); // the variance: a standard deviation of 1/8

TEST_CASE("two scores one standard deviation apart") {
    const auto greater = [](double apart) { return attest::softmax(attest::tensor<double, attest::axis<2>>{apart, 0})(0); };
    CHECK(std::abs(greater(8) - 0.9997) < 0.00005);       // not divided
    CHECK(std::abs(greater(1) - 0.7311) < 0.00005);       // divided by √64
    CHECK(std::abs(greater(1.0 / 8) - 0.5312) < 0.00005); // divided by 64
}
// [/exercise 4]

// [exercise 5]
// The derivative of the greater of two weights by its raw score: a_1 a_2 times the scale.
double by_raw_score(double raw_apart, double factor) {
    const auto a = attest::softmax(attest::tensor<double, attest::axis<2>>{raw_apart * factor, 0});
    return a(0) * a(1) * factor;
}
TEST_CASE("what the scale does to the gradient of a raw score") {
    CHECK(by_raw_score(8, 1.0 / 8) > 70 * by_raw_score(8, 1)); // one standard deviation apart: much more
    CHECK(by_raw_score(0, 1) == 1.0 / 4);                      // at a tie: an eighth
    CHECK(by_raw_score(0, 1.0 / 8) == 1.0 / 32);
    CHECK(by_raw_score(640, 1.0 / 8) < 1e-30);                 // and far apart: nothing, scaled or not
}
// [/exercise 5]

} // namespace
