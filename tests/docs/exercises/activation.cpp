// SPDX-License-Identifier: BSL-1.0
// Answers of the exercises in docs/activation.md.
#include "attest/gradient/activation.hpp"
#include "catch.hpp"
#include "docs/digits.hpp"

#include <cmath>

namespace {

// [exercise 1]
constexpr bool is_made_of_relu = [] {
    for (int x = -1000; x <= 1000; ++x)
        if (attest::relu(x) + attest::relu(-x) != (x < 0 ? -x : x) || attest::relu(x) - attest::relu(-x) != x) return false;
    return true;
}();
static_assert(is_made_of_relu);
// [/exercise 1]

// [exercise 2]
TEST_CASE("GELU(x) − GELU(−x) is x") {
    CHECK(docs::with_digits(attest::gelu(3.0), 5) == "2.99595");
    CHECK(docs::with_digits(attest::gelu(-3.0), 5) == "-0.00405");
    for (const auto form : {attest::gelu_form::erf, attest::gelu_form::tanh, attest::gelu_form::sigmoid})
        for (double x = -5; x <= 5; x += 0.25) CHECK(std::abs(attest::gelu(x, form) - attest::gelu(-x, form) - x) <= 1e-14);
}
// [/exercise 2]

// [exercise 3]
TEST_CASE("a second x with the same GELU") {
    double low = -3, high = -0.7517915; // GELU is above GELU(−1/2) at the first, below at the second
    const double wanted = attest::gelu(-0.5);
    REQUIRE(attest::gelu(low) > wanted);
    REQUIRE(attest::gelu(high) < wanted);
    for (int step = 0; step < 60; ++step) {
        const double middle = (low + high) / 2;
        (attest::gelu(middle) > wanted ? low : high) = middle;
    }
    CHECK(docs::with_digits(wanted, 5) == "-0.15427");
    CHECK(docs::with_digits(low, 4) == "-1.0493");
    CHECK(std::abs(attest::gelu_slope(-0.7517915247)) < 1e-10);
}
// [/exercise 3]

// [exercise 4]
TEST_CASE("erf or tanh, by one input") {
    const auto difference = [](double x) { return attest::gelu(x, attest::gelu_form::tanh) - attest::gelu(x); };
    CHECK(std::abs(difference(3) - difference(-3)) <= 1e-14);
    CHECK(docs::with_digits(difference(-3) / -attest::gelu(-3.0), 1) == "0.1");
    const double unit = 0x1p-6; // of bf16 from 2 to 4: 8 digits
    CHECK(std::abs(difference(3)) < unit / 2);
}
// [/exercise 4]

// [exercise 5]
TEST_CASE("below 0 for every token") {
    using tokens = attest::tensor<double, attest::axis<3>>;
    const tokens hidden{-1, -0.25, -4}, dout{1, 2, 3};
    CHECK(attest::activate_vjp(hidden, attest::activation{}, dout) == tokens{0, 0, 0});
    const auto by_gelu = attest::activate_vjp(hidden, attest::activation{attest::activation_kind::gelu}, dout);
    CHECK(docs::with_digits(by_gelu(0), 5) == "-0.08332");
    CHECK(std::abs(attest::gelu_slope(-6.0)) < 1e-6);
}
// [/exercise 5]

} // namespace
