// SPDX-License-Identifier: BSL-1.0
#include "attest/arithmetic/scalar.hpp"
#include "attest/arithmetic/real.hpp"
#include "attest/elementary/exp.hpp"
#include "attest/formula/attention.hpp"
#include "catch.hpp"

#include <cmath>
#include <string>

using namespace attest;

namespace scalar_test {

// The least scalar: the integers modulo 7. A field, without order, exponential, NaN or infinity; and nothing else that a formula could lean on.
class modulo_7 {
public:
    constexpr explicit modulo_7(int x) : x_{((x % 7) + 7) % 7} {}
    friend constexpr modulo_7 operator+(modulo_7 a, modulo_7 b) { return modulo_7(a.x_ + b.x_); }
    friend constexpr modulo_7 operator-(modulo_7 a, modulo_7 b) { return modulo_7(a.x_ - b.x_); }
    friend constexpr modulo_7 operator*(modulo_7 a, modulo_7 b) { return modulo_7(a.x_ * b.x_); }
    friend constexpr modulo_7 operator/(modulo_7 a, modulo_7 b) {
        int inverse = 1;
        while (inverse * b.x_ % 7 != 1) ++inverse;
        return modulo_7(a.x_ * inverse);
    }
    friend constexpr modulo_7 operator-(modulo_7 a) { return modulo_7(-a.x_); }
    friend constexpr bool operator==(modulo_7, modulo_7) = default;

private:
    int x_ = 0;

public:
    constexpr modulo_7() = default;
};

// A scalar that brings its points of customisation as friends: a double that counts how often it was asked.
struct counted {
    double value = 0;
    constexpr counted() = default;
    constexpr explicit counted(int x) : value{static_cast<double>(x)} {}
    constexpr explicit counted(double x) : value{x} {}
    friend counted operator+(counted a, counted b) { return counted(a.value + b.value); }
    friend counted operator-(counted a, counted b) { return counted(a.value - b.value); }
    friend counted operator*(counted a, counted b) { return counted(a.value * b.value); }
    friend counted operator/(counted a, counted b) { return counted(a.value / b.value); }
    friend counted operator-(counted a) { return counted(-a.value); }
    friend counted attest_exp(counted a) { return ++exps, counted(attest::exp(a.value)); }
    friend counted attest_log(counted a) { return ++logs, counted(attest::log(a.value)); }
    friend counted attest_sqrt(counted a) { return ++roots, counted(attest::sqrt(a.value)); }
    friend counted attest_shift_point(counted a, counted b) { return ++shifts, counted(a.value < b.value ? b.value : a.value); }
    static inline int exps = 0, logs = 0, roots = 0, shifts = 0;
};

struct no_division {
    no_division(int) {}
    friend no_division operator+(no_division a, no_division) { return a; }
    friend no_division operator-(no_division a, no_division) { return a; }
    friend no_division operator*(no_division a, no_division) { return a; }
    friend no_division operator-(no_division a) { return a; }
};
} // namespace scalar_test

namespace {

using namespace scalar_test;

static_assert(scalar<double> && scalar<float> && scalar<real<50>> && scalar<modulo_7> && scalar<counted> && scalar<int>);
static_assert(!scalar<no_division> && !scalar<std::string> && !scalar<void>);
static_assert(!std::is_convertible_v<real<50>, double> && !std::is_convertible_v<real<50>, real<100>>, "no scalar converts by itself");

struct n : axis<2> {};
struct d : axis<3> {};
using m7 = modulo_7;

// Formulas without exp take the least scalar, at compile time.
constexpr tensor<m7, n, d> q{{m7(1), m7(2), m7(3)}, {m7(4), m7(5), m7(6)}};
constexpr auto products = matmul(q, transpose(q));
static_assert(products(0, 0) == m7(14) && products(0, 1) == m7(32) && products(1, 1) == m7(77));
static_assert(scores(q, q) == products);

} // namespace

TEST_CASE("a scalar's own exp, log, sqrt and shift point are what the formulas call", "[arithmetic]") {
    const tensor<counted, n, d> q_{{counted(1), counted(2), counted(3)}, {counted(4), counted(5), counted(6)}};
    (void)attention(q_, q_, q_);
    CHECK(counted::exps == 4);   // one for each pair
    CHECK(counted::roots == 1);  // 1/√d_k once
    CHECK(counted::shifts == 4); // in each row of two: the first by itself, and with the second
    (void)log_sum_exp(q_[0]);
    CHECK(counted::exps == 7);
    CHECK(counted::logs == 1);
}

TEST_CASE("the shift point is the greater of two, and a NaN at its left stays", "[arithmetic]") {
    static_assert(shift_point(1.0, 2.0) == 2 && shift_point(2.0, 1.0) == 2);
    CHECK(std::isnan(shift_point(std::nan(""), 1.0)));
    CHECK(shift_point(real<50>(-3), real<50>(-2)) == real<50>(-2));
}

TEST_CASE("an arithmetic without NaN and infinity says so, instead of inventing a number", "[arithmetic]") {
    CHECK_THROWS_AS(not_a_number<modulo_7>(), no_such_value);
    CHECK_THROWS_WITH(minus_infinity<modulo_7>(), "the value is NaN or infinite, and the arithmetic has no such value");
    CHECK(std::isnan(not_a_number<float>()));
    CHECK(minus_infinity<double>() == -INFINITY);
    CHECK(not_a_number<real<50>>().is_nan());
    CHECK_FALSE(minus_infinity<real<50>>().is_finite());

    // Softmax of nothing: zeros where zeros are asked for, an error where NaN is.
    const auto nothing = [](std::size_t) { return false; };
    const tensor<counted, n> x{counted(1), counted(2)};
    CHECK(softmax(x, nothing)(0).value == 0);
    CHECK_THROWS_AS(softmax(x, nothing, empty_row::nan), no_such_value);
    CHECK_THROWS_AS(log_sum_exp(x, nothing), no_such_value);
}
