// SPDX-License-Identifier: BSL-1.0
// What exact arguments decide, asked of whole cases: ties and zeros that no enclosure settles, and a declared NaN.
#include "asked.hpp"
#include "catch.hpp"

using namespace asked;

namespace {

constexpr double quiet = std::numeric_limits<double>::quiet_NaN();

// With two equal scores ds = ±(a − b)/4. Of a = 1 and b = −(1 + 2^−23) that is 1/2 + 2^−25, the midpoint of two numbers of f32; even is 1/2.
const double above = -1 - 0x1p-23;

void holds_decided(const question& asked, const members& candidates, std::size_t decided) {
    const attest::check_result result = checked(asked, candidates, {{"arithmetic", "f32"}});
    const attest::output_result& o = result.outputs.back();
    CAPTURE(o.name, o.elements, o.exact, o.unseparated, o.rungs.in_double, o.rungs.in_double_double, o.rungs.in_real);
    CHECK(o.exact == o.elements);
    CHECK(o.decided == decided);
    CHECK(o.unseparated == 0);
}

} // namespace

TEST_CASE("the gradient of a softmax may be a tie", "[oracle]") {
    question asked{{{"op", "softmax"}}, {{"x", {{1, 2}, {3, 3}}}, {"dout", {{1, 2}, {1, above}}}}};
    holds_decided(asked, {{"dx", {{1, 2}, {0.5, -0.5}, dtype::f32}}}, 2);
    // Weights of 1/3, which no enclosure holds exactly: dx_0 is (2a - b - c)/9 = 1/2 + 2^-25, dx_1 is -1 + 2^-25, a tie too, and dx_2 is 1/2 - 2^-24, which double settles.
    asked = {{{"op", "softmax"}}, {{"x", {{1, 3}, {3, 3, 3}}}, {"dout", {{1, 3}, {0, -4.5, -9 * 0x1p-25}}}}};
    holds_decided(asked, {{"dx", {{1, 3}, {0.5, -1, 0.5 - 0x1p-24}, dtype::f32}}}, 2);
    // Along the first axis, beside a row of other numbers, and an entry that is not there.
    asked = {{{"op", "softmax"}, {"axis", "0"}},
             {{"x", {{3, 2}, {3, 0.5, -std::numeric_limits<double>::infinity(), 0.5, 3, 0.5}}}, {"dout", {{3, 2}, {1, 1, 9, 1, above, 1}}}}};
    holds_decided(asked, {{"dx", {{3, 2}, {0.5, 0, 0, 0, -0.5, 0}, dtype::f32}}}, 5);
}
TEST_CASE("the gradient of a softmax whose dout is constant is 0, and asked for no digits", "[oracle]") {
    const question asked{{{"op", "softmax"}}, {{"x", {{2, 3}, {0.1, 0.7, -3, 5, 4, 4}}}, {"dout", {{2, 3}, {0.1, 0.1, 0.1, 1, 1, 1}}}}};
    holds_decided(asked, {{"dx", {{2, 3}, {0, 0, 0, 0, 0, 0}, dtype::f32}}}, 6);
    const auto values = values_of(asked, {"dx"});
    CHECK(values.at("dx").values == std::vector<long double>(6, 0));
}
TEST_CASE("the gradient of a mask may be a tie", "[oracle]") {
    // Two queries of zeros.
    question asked{{{"op", "attention"}},
                   {{"q", {{1, 1, 2, 1}, {0, 0}}}, {"k", {{1, 1, 2, 1}, {1, 7}}}, {"v", {{1, 1, 2, 1}, {1, above}}}, {"mask", {{2, 2}, {0, 0, 0, 0}}}, {"dout", {{1, 1, 2, 1}, {1, 1}}}}};
    holds_decided(asked, {{"dmask", {{2, 2}, {0.5, -0.5, 0.5, -0.5}, dtype::f32}}}, 4);
    asked.inputs["mask"] = {{1, 2}, {0, 0}}; // both queries read it: a tie again, of twice the size
    holds_decided(asked, {{"dmask", {{1, 2}, {1, -1}, dtype::f32}}}, 2);
    asked.inputs["mask"] = {{2, 1}, {0.25, 3}}; // both keys: 0
    holds_decided(asked, {{"dmask", {{2, 1}, {0, 0}, dtype::f32}}}, 2);
}
TEST_CASE("the gradient of a query that batch elements share may be a tie", "[oracle]") {
    // The first query's keys are 1 and 0: dq is ds_0, of each batch element; the second's da are equal.
    const question asked{{{"op", "attention"}, {"scale", "1"}},
                         {{"q", {{1, 1, 1, 1}, {0}}}, {"k", {{2, 1, 2, 1}, {1, 0, 1, 0}}}, {"v", {{2, 1, 2, 1}, {1, above, 1, above}}}, {"dout", {{2, 1, 1, 1}, {1, 1}}}}};
    holds_decided(asked, {{"dq", {{1, 1, 1, 1}, {1}, dtype::f32}}}, 1);
    CHECK(values_of(asked, {"dq"}).at("dq").values == std::vector<long double>{1 + 0x1p-24L});
}
TEST_CASE("a declared NaN climbs no ladder", "[oracle]") {
    const question asked{{{"op", "attention"}, {"empty-row", "nan"}},
                         {{"q", {{1, 1, 2, 1}, {1, 1}}}, {"k", {{1, 1, 1, 1}, {1}}}, {"v", {{1, 1, 1, 1}, {1}}}, {"mask", {{2, 1}, {0, 1}, dtype::boolean}}}};
    const attest::check_result result = checked(asked, {{"out", {{1, 1, 2, 1}, {quiet, 1}, dtype::f32}}}, {{"arithmetic", "f32"}});
    CHECK(result.outputs.front().not_finite_right == 1);
    CHECK(result.outputs.front().exact == 2);
    CHECK(result.outputs.front().rungs.in_real == 0);
}
TEST_CASE("lambda is not taken below what errors that round alike need", "[oracle]") {
    const question asked{{{"op", "attention"}}, {{"q", {{1, 1, 1, 1}, {1}}}, {"k", {{1, 1, 1, 1}, {1}}}, {"v", {{1, 1, 1, 1}, {1}}}}};
    const members right{{"out", {{1, 1, 1, 1}, {1}, dtype::f32}}};
    CHECK(checked(asked, right, {{"false-alarm", "0.5"}}).lambda == 6);
    CHECK(checked(asked, right, {{"false-alarm", "1e-9"}}).lambda > 6);
}
TEST_CASE("where nothing is judged, no limit is told", "[oracle]") {
    const question asked{{{"op", "attention"}}, {{"q", {{1, 1, 1, 1}, {quiet}}}, {"k", {{1, 1, 1, 1}, {1}}}, {"v", {{1, 1, 1, 1}, {1}}}}};
    const attest::check_result result = checked(asked, {{"out", {{1, 1, 1, 1}, {5}, dtype::f32}}}, {{"arithmetic", "f32"}});
    CHECK(result.verdict == attest::verdict::undecided);
    CHECK(result.outputs.front().worst->limit_ulp == std::numeric_limits<double>::infinity());
}
