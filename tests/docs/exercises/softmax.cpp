// SPDX-License-Identifier: BSL-1.0
// Answers of the exercises in docs/softmax.md.
#include "attest/formula/softmax.hpp"
#include "catch.hpp"

#include <cmath>

namespace {

// [exercise 1]
// log 3 is no number that a computer holds: the weights are 3/4 and 1/4 but for rounding.
TEST_CASE("scores that differ by log 3") {
    const auto a = attest::softmax(attest::tensor<double, attest::axis<2>>{std::log(3.0), 0});
    CHECK(std::abs(a(0) - 0.75) <= 0x1p-52);
    CHECK(std::abs(a(1) - 0.25) <= 0x1p-53);
}
// [/exercise 1]

// [exercise 2]
TEST_CASE("log-sum-exp of equal scores") {
    const attest::tensor<double, attest::axis<4>> x{2.5, 2.5, 2.5, 2.5};
    CHECK(std::abs(attest::log_sum_exp(x) - (2.5 + std::log(4.0))) <= 0x1p-50);
    for (std::size_t j = 0; j < 4; ++j) CHECK(attest::softmax(x)(j) == 0.25);
}
// [/exercise 2]

// [exercise 3]
TEST_CASE("scores twice as great") {
    const attest::tensor<double, attest::axis<3>> x{1, 0, -1}, twice{2, 0, -2};
    const auto a = attest::softmax(x), b = attest::softmax(twice);
    CHECK(std::abs(b(0) / b(1) - (a(0) / a(1)) * (a(0) / a(1))) <= 1e-14);
    CHECK(b(0) > a(0));
}
// [/exercise 3]

} // namespace
