// SPDX-License-Identifier: BSL-1.0
// Answers of the exercises in docs/layer_norm.md.
#include "attest/arithmetic/rational.hpp"
#include "attest/formula/layer_norm.hpp"
#include "attest/gradient/layer_norm.hpp"

namespace {

using attest::axis;
using attest::rational;
using attest::tensor;

// [exercise 1]
constexpr tensor<rational, axis<4>> by_hand{5, 1, 3, 3};
static_assert(attest::mean(by_hand) == 3 && attest::variance(by_hand) == 2);
static_assert(attest::layer_norm(by_hand, {.eps = 2}) == tensor<rational, axis<4>>{1, -1, 0, 0});
// [/exercise 1]

// [exercise 2]
constexpr bool is_one_of_two = [] {
    using pair = tensor<rational, axis<2>>;
    for (int a = -2; a <= 2; ++a)
        for (int b = -2; b <= 2; ++b)
            if (a != b && attest::layer_norm(pair{a, b}, {.eps = 0}) != (a > b ? pair{1, -1} : pair{-1, 1})) return false;
    return true;
}();
static_assert(is_one_of_two);
// [/exercise 2]

// [exercise 3]
template <class S> constexpr S in_one_pass(const tensor<S, axis<4>>& x) {
    const S mu = attest::mean(x);
    return (x(0) * x(0) + x(1) * x(1) + x(2) * x(2) + x(3) * x(3)) / 4 - mu * mu;
}
constexpr tensor<double, axis<4>> far{1e8 + 1, 1e8 - 1, 1e8 + 1, 1e8 - 1};
static_assert(in_one_pass(far) == 0 && attest::variance(far) == 1);

constexpr int m = 100'000'000;
constexpr tensor<rational, axis<4>> far_exactly{m + 1, m - 1, m + 1, m - 1};
static_assert(in_one_pass(far_exactly) == 1 && attest::variance(far_exactly) == 1);
// [/exercise 3]

// [exercise 4]
constexpr rational first(const rational& sigma, const rational& eps, attest::eps_placement placement) {
    return attest::layer_norm(tensor<rational, axis<2>>{sigma, -sigma}, {eps, placement})(0);
}
constexpr auto in_root = attest::eps_placement::variance, beside = attest::eps_placement::std;
constexpr rational other_sigma = rational::ratio(15, 2);
static_assert(first(3, 16, in_root) == first(3, 2, beside));
static_assert(first(other_sigma, 16, in_root) == first(other_sigma, 1, beside));
static_assert(first(other_sigma, 16, in_root) != first(other_sigma, 2, beside));
// [/exercise 4]

// [exercise 5]
constexpr tensor<rational, axis<1>, axis<4>> row{{7, 1, 7, 1}}, dy{{1, 2, 3, 5}}; // mean 4, root 3; RMSNorm's root is 5
constexpr attest::layer_norm_weights<rational, axis<4>> weights{{2, -1, 3, 1}, {}};

constexpr rational sum(const auto& a) { return a(0) + a(1) + a(2) + a(3); }
constexpr rational along(const auto& a, const auto& b) { return a(0) * b(0) + a(1) * b(1) + a(2) * b(2) + a(3) * b(3); }

constexpr auto dx = attest::layer_norm_vjp(row, weights, {.eps = 0}, dy).dx;
static_assert(dx != tensor<rational, axis<1>, axis<4>>{} && sum(dx[0]) == 0 && along(dx[0], attest::layer_norm(row[0], {.eps = 0})) == 0);

constexpr auto dx_of_rms = attest::rms_norm_vjp(row, weights.gamma, {.eps = 0}, dy).dx;
static_assert(sum(dx_of_rms[0]) != 0 && along(dx_of_rms[0], row[0]) == 0);
// [/exercise 5]

} // namespace
