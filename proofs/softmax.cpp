// SPDX-License-Identifier: BSL-1.0
// Softmax: the digits that the lectures print, weights that add to 1, and the shift that changes nothing.

#include "exact.hpp"

#include "attest/arithmetic/interval.hpp"
#include "attest/formula/matmul.hpp"
#include "attest/formula/softmax.hpp"

namespace attest::proofs {
namespace {

// [A047]
// A047: softmax(1.3, 5.1, 2.2, 0.7, 1.1) = (0.02, 0.90, 0.05, 0.01, 0.02).
struct classes : axis<5> {};
constexpr tensor<interval, classes> logits{interval::decimal("1.3"), interval::decimal("5.1"), interval::decimal("2.2"),
                                           interval::decimal("0.7"), interval::decimal("1.1")};
constexpr auto a = softmax(logits);
static_assert(rounds_to(a(0), "0.02") && rounds_to(a(0), "0.0201905"));
static_assert(rounds_to(a(1), "0.90") && rounds_to(a(1), "0.9025377"));
static_assert(rounds_to(a(2), "0.05") && rounds_to(a(2), "0.0496605"));
static_assert(rounds_to(a(3), "0.01") && rounds_to(a(3), "0.0110808"));
static_assert(rounds_to(a(4), "0.02") && rounds_to(a(4), "0.0165306"));
// The printed digits add to 1.00 as well, which rounded weights need not do.
static_assert(2 + 90 + 5 + 1 + 2 == 100);
// [/A047]

// [sum]
// A054, E005: the weights add to 1: the enclosure of the sum holds 1, and little else.
constexpr interval sum = a(0) + a(1) + a(2) + a(3) + a(4);
constexpr interval tiny = interval::power_of_two(-120);
static_assert(contains(sum, 1) && surely(sum.width() < tiny));
// Exactly so on rational weights: with scores in units of log 2, softmax(1, 3, 0) = (2, 8, 1)/11.
struct keys : axis<3> {};
constexpr auto weights = softmax(tensor<exact, keys>{1, 3, 0});
static_assert(weights == tensor<exact, keys>{ratio(2, 11), ratio(8, 11), ratio(1, 11)});
static_assert(weights(0) + weights(1) + weights(2) == 1);
// [/sum]

// [shift]
// A011: what is added to every score cancels; exactly in rational weights, and within the width of the enclosures for
// 1000.7.
static_assert(softmax(tensor<exact, keys>{1 + 20, 3 + 20, 0 + 20}) == weights);
static_assert(softmax(tensor<exact, keys>{1 - 20, 3 - 20, 0 - 20}) == weights);

constexpr auto shifted = [] {
    tensor<interval, classes> moved;
    for (std::size_t j = 0; j < moved.length(0); ++j) moved(j) = logits(j) + interval::decimal("1000.7");
    return softmax(moved);
}();
constexpr bool shift_is_lost = [] {
    for (std::size_t j = 0; j < a.length(0); ++j)
        if (!meet(shifted(j), a(j)) || !surely(hull(shifted(j), a(j)).width() < tiny)) return false;
    return true;
}();
static_assert(shift_is_lost);
// [/shift]

// [B013]
// B013: self-attention of x_1 = 1, x_2 = 2 with e_ij = x_i x_j: symmetric scores, weights that are not.
struct tokens : axis<2> {};
struct d : axis<1> {};
constexpr tensor<interval, tokens, d> x{{1}, {2}};
constexpr auto e = matmul(x, transpose(x));
constexpr auto alpha = softmax(e);
static_assert(surely(e(0, 1) == e(1, 0)));
static_assert(rounds_to(alpha(0, 0), "0.26894") && rounds_to(alpha(0, 1), "0.73106"));
static_assert(rounds_to(alpha(1, 0), "0.11920") && rounds_to(alpha(1, 1), "0.88080"));
static_assert(surely(alpha(0, 1) != alpha(1, 0)));
// B015: a dot product is not a similarity: token 1 attends more to token 2 than to itself.
static_assert(surely(alpha(0, 1) > alpha(0, 0)));
// [/B013]

// [E058]
// E058 to E061: scores (8, 0) are nearly one-hot; divided by √64 they are a blend.
constexpr auto unscaled = softmax(tensor<interval, tokens>{8, 0});
constexpr auto scaled = softmax(tensor<interval, tokens>{1, 0});
static_assert(rounds_to(exp(interval(8)), "2980.958") && rounds_to(unscaled(0), "0.99966") &&
              rounds_to(unscaled(1), "0.00034"));
static_assert(rounds_to(exp(interval(1)), "2.71828") && rounds_to(scaled(0), "0.73106") &&
              rounds_to(scaled(1), "0.26894"));
// [/E058]

} // namespace
} // namespace attest::proofs
