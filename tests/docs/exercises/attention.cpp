// SPDX-License-Identifier: BSL-1.0
// Answers of the exercises in docs/attention.md.
#include "attest/arithmetic/interval.hpp"
#include "attest/arithmetic/rational.hpp"
#include "attest/formula/attention.hpp"
#include "attest/formula/projection.hpp"
#include "catch.hpp"

#include <cmath>
#include <concepts>

namespace {

using attest::interval;
using attest::rational;

struct tokens : attest::axis<2> {};
struct width : attest::axis<2> {};
using two_by_two = attest::tensor<interval, tokens, width>;

// Does this number round to what is written, within half a unit of its fifth digit after the point?
constexpr bool rounds_to(const interval& x, const char* written) {
    const interval half_unit = interval::decimal("0.000005");
    return attest::surely(x > interval::decimal(written) - half_unit) && attest::surely(x < interval::decimal(written) + half_unit);
}

namespace exercise_1 {
// [exercise 1]
constexpr two_by_two Q{{1, 0}, {0, 1}}, V{{2, 0}, {0, 3}};
constexpr auto alpha = attest::attention_weights(Q, Q); // K = Q
constexpr auto Z = attest::attention(Q, Q, V);
static_assert(rounds_to(alpha(0, 0), "0.66976") && rounds_to(alpha(0, 1), "0.33024"));
static_assert(rounds_to(alpha(1, 0), "0.33024") && rounds_to(alpha(1, 1), "0.66976"));
static_assert(rounds_to(Z(0, 0), "1.33952") && rounds_to(Z(0, 1), "0.99072"));
static_assert(rounds_to(Z(1, 0), "0.66048") && rounds_to(Z(1, 1), "2.00928"));
// Both lie on the segment from (2, 0) to (0, 3), where x/2 + y/3 = 1.
static_assert(rounds_to(Z(0, 0) / 2 + Z(0, 1) / 3, "1") && rounds_to(Z(1, 0) / 2 + Z(1, 1) / 3, "1"));
// [/exercise 1]
} // namespace exercise_1

namespace exercise_2 {
// [exercise 2]
constexpr two_by_two Q{{1, 1}, {1, -1}}, V{{1, 0}, {0, 1}};
constexpr auto raw = attest::scores(Q, Q); // K = Q
static_assert(attest::surely(raw(0, 0) == 2) && attest::surely(raw(0, 1) == 0));
constexpr auto Z = attest::attention(Q, Q, V);
static_assert(rounds_to(Z(0, 0), "0.80443") && rounds_to(Z(0, 1), "0.19557"));
static_assert(rounds_to(Z(1, 0), "0.19557") && rounds_to(Z(1, 1), "0.80443"));
// [/exercise 2]
} // namespace exercise_2

namespace exercise_3 {
// [exercise 3]
constexpr attest::tensor<double, tokens, width> AB{{1, 0.5}, {-2, 3}}, BA{{-2, 3}, {1, 0.5}};
constexpr auto Z_AB = attest::raw_self_attention(AB), Z_BA = attest::raw_self_attention(BA);
static_assert(Z_BA[0] == Z_AB[1] && Z_BA[1] == Z_AB[0] && !(Z_BA == Z_AB));
// Under a causal mask the first token reads itself alone, whichever that is.
constexpr auto causal_AB = attest::raw_self_attention(AB, attest::causal_top_left{}), causal_BA = attest::raw_self_attention(BA, attest::causal_top_left{});
static_assert(causal_BA[0] == BA[0] && !(causal_AB[1] == BA[0]));
// [/exercise 3]
} // namespace exercise_3

namespace exercise_4 {
// [exercise 4]
// h_t = h_{t−1}/2 + x_t: what is left of x_120 after the updates 121 to 180.
constexpr double left_after(int updates) {
    double share = 1;
    for (int t = 0; t < updates; ++t) share = share / 2;
    return share;
}
static_assert(left_after(180 - 120) == 0x1p-60);

// One score 12 above 179 equal ones: the same weight wherever its key stands.
double weight_of_the_signal(std::size_t at) {
    auto scores = attest::tensor<double, attest::axis<180>>{};
    scores(at) = 12;
    return attest::softmax(scores)(at);
}
TEST_CASE("a key's weight does not depend on its distance") {
    CHECK(weight_of_the_signal(119) > 0.998);
    for (std::size_t at = 0; at < 180; ++at) CHECK(std::abs(weight_of_the_signal(at) - weight_of_the_signal(119)) < 1e-14);
}

// But what W_V maps to 0 arrives nowhere: the values of (1, −1) and of (0, 0) are the same.
constexpr attest::tensor<int, width, attest::axis<1>> W_V{{1}, {1}};
static_assert(attest::project_in_out(attest::tensor<int, width>{1, -1}, W_V)(0) == 0);
// [/exercise 4]
} // namespace exercise_4

namespace exercise_5 {
// [exercise 5]
struct three : attest::axis<3> {};
struct d_k : attest::axis<4> {};
struct d_v : attest::axis<5> {};
using Q = attest::tensor<double, three, d_k>;
using V = attest::tensor<double, three, d_v>;
static_assert(std::same_as<decltype(attest::attention_weights(Q{}, Q{})), attest::tensor<double, three, three>>);
static_assert(std::same_as<decltype(attest::attention(Q{}, Q{}, V{})), attest::tensor<double, three, d_v>>);
// [/exercise 5]
} // namespace exercise_5

namespace exercise_6 {
// [exercise 6]
double output(double q, double value) { // the keys are 0 and log 2, the values 0 and `value`
    const attest::tensor<double, attest::axis<1>, attest::axis<1>> Q{{q}};
    const attest::tensor<double, tokens, attest::axis<1>> K{{0}, {std::log(2.0)}}, V{{0}, {value}};
    return attest::attention(Q, K, V)(0, 0);
}
TEST_CASE("attention is linear in the values alone") {
    CHECK(std::abs(output(1, 1) - 2.0 / 3) < 1e-15);
    CHECK(std::abs(output(1, 2) - 4.0 / 3) < 1e-15); // twice the value: twice the output
    CHECK(std::abs(output(2, 1) - 4.0 / 5) < 1e-15); // twice the query: not twice the output
    CHECK(output(0, 1) == 0.5);                      // and a linear map would take 0 to 0
}
// [/exercise 6]
} // namespace exercise_6

} // namespace
