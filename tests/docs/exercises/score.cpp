// SPDX-License-Identifier: BSL-1.0
// Answers of the exercises in docs/score.md.
#include "attest/arithmetic/rational.hpp"
#include "attest/formula/learned_score.hpp"
#include "catch.hpp"

#include <concepts>

namespace {

using attest::rational;

// [exercise 1]
constexpr attest::tensor<rational, attest::axis<2>> q_1{3, 4}, k_2{0, 2};
constexpr rational raw = attest::dot_product{}(q_1, k_2);
static_assert(raw == 8);
static_assert(raw * raw / 2 == 32); // (8/√2)², an exact number

TEST_CASE("the scaled score of q_1 and k_2") {
    const attest::tensor<double, attest::axis<2>> q{3, 4}, k{0, 2};
    const double s = attest::scaled_dot_product<double>::of_dimension(2)(q, k);
    CHECK(s >= 5.656845);
    CHECK(s < 5.656855); // 5.65685 to 5 digits
}
// [/exercise 1]

// [exercise 2]
struct tokens : attest::axis<3> {};
struct d_k : attest::axis<4> {};
using queries = attest::tensor<int, tokens, d_k>;
static_assert(std::same_as<decltype(attest::scores(queries{}, queries{})), attest::tensor<int, tokens, tokens>>);

// Another query 0: row 0 changes, rows 1 and 2 stay.
constexpr queries Q{{1, 2, 3, 4}, {0, 1, 0, 1}, {5, 0, 0, 5}}, other{{9, 9, 9, 9}, {0, 1, 0, 1}, {5, 0, 0, 5}};
constexpr auto S = attest::scores(Q, Q), S_other = attest::scores(other, Q);
static_assert(!(S[0] == S_other[0]) && S[1] == S_other[1] && S[2] == S_other[2]);
// [/exercise 2]

// [exercise 3]
// Four keys of length 1, and a query of length 5: −|q − k|²/2 is q·k − 13 for each of them.
constexpr attest::tensor<rational, attest::axis<4>, attest::axis<2>> of_one_length{
    {1, 0}, {0, -1}, {rational::ratio(3, 5), rational::ratio(4, 5)}, {rational::ratio(-4, 5), rational::ratio(3, 5)}};
constexpr bool distance_is_the_product_less_13 = [] {
    for (std::size_t j = 0; j < 4; ++j) {
        const rational a = q_1(0) - of_one_length(j, 0), b = q_1(1) - of_one_length(j, 1);
        if (!(-(a * a + b * b) / 2 == attest::dot_product{}(q_1, of_one_length[j]) - 13)) return false;
    }
    return true;
}();
static_assert(distance_is_the_product_less_13);

// And the score need not be great where the directions agree: here q = k, and q·k = 1/10000.
constexpr attest::tensor<rational, attest::axis<2>> is_short{rational::ratio(1, 100), 0};
static_assert(attest::dot_product{}(is_short, is_short) == rational::ratio(1, 10000));
// [/exercise 3]

// [exercise 4]
struct d_q : attest::axis<1> {};
struct d_x : attest::axis<2> {};
struct shared : attest::axis<3> {};
constexpr attest::tensor<int, d_q, shared> W_Q{{1, 2, -1}};
constexpr attest::tensor<int, d_x, shared> W_K{{0, 1, 4}, {2, 0, 1}};
constexpr attest::tensor<int, d_q> q{3};
constexpr attest::tensor<int, d_x> k{5, -2};
constexpr attest::bilinear score{attest::matmul(W_Q, attest::transpose(W_K))}; // d_q × d_x
static_assert(score(q, k) == attest::dot_product{}(attest::project_in_out(q, W_Q), attest::project_in_out(k, W_K)));
static_assert(score(q, k) == -36);
// [/exercise 4]

// [exercise 5]
TEST_CASE("a soft cap and the order of scores") {
    const auto capped = [](double s, double cap) {
        return attest::softcapped{attest::dot_product{}, cap}(attest::tensor<double, attest::axis<1>>{s}, attest::tensor<double, attest::axis<1>>{1});
    };
    CHECK(capped(20, 50) < capped(21, 50)); // of scores below the cap the order stays
    CHECK(capped(20, 1) == 1);              // far beyond it tanh rounds to 1,
    CHECK(capped(21, 1) == 1);              // and the two are equal
}
// [/exercise 5]

} // namespace
