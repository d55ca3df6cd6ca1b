// SPDX-License-Identifier: BSL-1.0
// Answers of the exercises in docs/gradient.md.
#include "attest/arithmetic/dual.hpp"
#include "attest/arithmetic/rational.hpp"
#include "attest/formula/projection.hpp"
#include "attest/gradient/attention.hpp"
#include "attest/gradient/projection.hpp"
#include "catch.hpp"
#include "docs/digits.hpp"

#include <cmath>

namespace {

using attest::axis;
using attest::rational;
using attest::tensor;

// [exercise 1]
constexpr tensor<rational, axis<3>> a{rational::ratio(1, 2), rational::ratio(1, 4), rational::ratio(1, 4)};
constexpr tensor<rational, axis<3>> dx{1, rational::ratio(-1, 2), rational::ratio(-1, 2)};
static_assert(attest::softmax_vjp(a, tensor<rational, axis<3>>{4, 0, 0}) == dx);
static_assert(attest::softmax_vjp(a, tensor<rational, axis<3>>{9, 5, 5}) == dx); // 5 added to each
// [/exercise 1]

// [exercise 2]
using token = tensor<rational, axis<1>, axis<2>>;
constexpr tensor<rational, axis<2>, axis<3>> w{{1, 2, 3}, {4, 5, 6}};
constexpr tensor<rational, axis<1>, axis<3>> dy{{1, -1, 2}};
constexpr rational paired_with_dy(const token& x) {
    const auto y = attest::project_in_out(x, w);
    return dy(0, 0) * y(0, 0) + dy(0, 1) * y(0, 1) + dy(0, 2) * y(0, 2);
}
constexpr token x{{7, -2}};
static_assert(attest::project_in_out_vjp(x, w, dy).dx == token{{1 - 2 + 6, 4 - 5 + 12}});
static_assert(paired_with_dy({{8, -2}}) - paired_with_dy(x) == 5 && paired_with_dy({{7, -1}}) - paired_with_dy(x) == 11);
// [/exercise 2]

// [exercise 3]
constexpr tensor<double, axis<1>, axis<2>> q{{3, 4}}, k{{0, 2}}, v{{5, -1}}, dout{{0.5, 2}};
constexpr auto of_one_key = attest::attention_vjp(q, k, v, dout);
static_assert(of_one_key.dq == tensor<double, axis<1>, axis<2>>{} && of_one_key.dk == tensor<double, axis<1>, axis<2>>{} && of_one_key.dv == dout);
// [/exercise 3]

// [exercise 4]
using number = attest::dual<double>;
double slope(number s_1, number s_2, double v_2 = 1) {
    const tensor<number, axis<1>, axis<1>> query{{1}};
    const tensor<number, axis<2>, axis<1>> keys{{s_1}, {s_2}}, values{{0}, {number(v_2)}};
    return attest::attention(query, keys, values, attest::everything{}, attest::dot_product{})(0, 0).derivative();
}
TEST_CASE("the derivative by a score, unscaled and scaled") {
    const number moving(0, 1), raw_moving(0, 1.0 / 8);
    const double unscaled = slope(8, moving), scaled = slope(1, moving), by_raw_score = slope(1, raw_moving);
    CHECK(docs::with_digits(unscaled, 9) == "0.000335238");
    CHECK(docs::with_digits(scaled, 6) == "0.196612");
    CHECK(docs::with_digits(by_raw_score, 7) == "0.0245765");
    CHECK(docs::with_digits(scaled / unscaled, 0) == "586");
    CHECK(docs::with_digits(by_raw_score / unscaled, 0) == "73");
    CHECK(std::abs(unscaled + slope(number(8, 1), 0)) <= 1e-16); // by the first score: the negative
    CHECK(slope(8, moving, 10000) > 3);

    const auto alpha = attest::softmax(tensor<double, axis<2>>{8, 0});
    CHECK(std::abs(unscaled - alpha(0) * alpha(1)) <= 1e-16);
    CHECK(alpha(0) > 0.999);
}
// [/exercise 4]

// [exercise 5]
double of_a_gap(double g) { return 1 / (2 + std::exp(g) + std::exp(-g)); }
TEST_CASE("when scaling makes the derivative by a raw score smaller") {
    const auto scaled = [](double g) { return of_a_gap(g / 8) / 8; };
    for (const double g : {0.0, 1.0, 3.4, 3.5, 8.0}) { // the formulas are those of the code
        CHECK(std::abs(slope(number(g, 1), 0) + of_a_gap(g)) <= 1e-15);
        CHECK(std::abs(slope(number(g / 8, 1.0 / 8), 0) + scaled(g)) <= 1e-15);
    }
    CHECK(of_a_gap(0) == 1.0 / 4);
    CHECK(scaled(0) == 1.0 / 32);
    for (double g = 0; g <= 3.4; g += 0.05) CHECK(scaled(g) < of_a_gap(g));
    for (double g = 3.5; g <= 100; g += 0.5) CHECK(scaled(g) > of_a_gap(g));
}
// [/exercise 5]

} // namespace
