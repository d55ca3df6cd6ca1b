// SPDX-License-Identifier: BSL-1.0
#include "attest/gradient/activation.hpp"
#include "catch.hpp"
#include "gradient/derivatives.hpp"
#include "gradient/rational.hpp"

#include <cmath>
#include <limits>
#include <random>

using namespace attest;
using exactly::rational;

namespace {

using many = real<50>;

struct n : axis<4> {};
struct d : axis<3> {};
using dyn = axis<dynamic>;

constexpr gelu_form forms[] = {gelu_form::erf, gelu_form::tanh, gelu_form::sigmoid};
constexpr double nan_value = std::numeric_limits<double>::quiet_NaN();

static_assert(relu_slope(2) == 1 && relu_slope(0) == 0 && relu_slope(-2) == 0);
static_assert(activation_slope(0.0, activation{}) == 0 && gelu_slope(0.0) == 0.5 && gelu_slope(0.0, gelu_form::tanh) == 0.5 &&
              gelu_slope(0.0, gelu_form::sigmoid) == 0.5);
static_assert(activate_vjp(tensor<int, d>{-1, 0, 4}, activation{}, tensor<int, d>{7, 8, 9}) == tensor<int, d>{0, 0, 9});

// The slope of f at x, by dual numbers.
template <class F>
many derivative(const F& f, const many& x) {
    return f(dual<many>(x, many(1))).derivative();
}

} // namespace

TEST_CASE("ReLU's slope is that of dual numbers, exactly, with 0 at 0", "[gradient]") {
    for (int p = -40; p <= 40; ++p) {
        const rational x(p, 7);
        CAPTURE(p);
        CHECK(relu_slope(x) == relu(dual<rational>(x, rational(1))).derivative());
        CHECK(activation_slope(x, activation{}) == relu_slope(x));
        if (p == 0) continue;
        const rational h(1, 1000); // smaller than |x|: the difference quotient is the slope
        CHECK(relu_slope(x) == (relu(x + h) - relu(x - h)) / (h + h));
    }
    CHECK(relu_slope(rational(0)) == 0);
    CHECK(std::isnan(relu_slope(nan_value)));
}

TEST_CASE("GELU's slopes are those of dual numbers over 50 digits", "[gradient]") {
    std::mt19937_64 generator(91);
    for (int i = 0; i < 400; ++i) {
        const many x = i < 25 ? many(i - 12) : many(std::uniform_real_distribution<>(-9, 9)(generator));
        for (const auto form : forms) {
            const activation how{activation_kind::gelu, form};
            const many slope = gelu_slope(x, form), wanted = derivative([form](const auto& at) { return gelu(at, form); }, x);
            CAPTURE(static_cast<double>(x), static_cast<int>(form), slope.text(45), wanted.text(45));
            CHECK(derived::agrees(slope, wanted));
            CHECK(derived::agrees(activation_slope(x, how), derivative(how, x)));
        }
    }
}

TEST_CASE("GELU's slopes are difference quotients, which no dual number has made", "[gradient]") {
    using wide = real<100>;
    const wide h(wide::number("1e-25")); // an error of h²/6 · |f‴|
    for (const double at : {-5.5, -2.0, -0.7517915246935645, -0.1, 0.0, 0.3, 1.4142135623730951, 4.0})
        for (const auto form : forms) {
            const wide quotient = (gelu(wide(at) + h, form) - gelu(wide(at) - h, form)) / (h + h);
            CAPTURE(at, static_cast<int>(form));
            CHECK(derived::agrees(gelu_slope(many(at), form), many(many::number(quotient.value()))));
        }
}

TEST_CASE("slope(x) + slope(−x) = 1 in each form", "[gradient]") {
    for (int i = 0; i <= 60; ++i)
        for (const auto form : forms) {
            const many x = many(i) / many(7);
            CAPTURE(i, static_cast<int>(form));
            CHECK(derived::agrees(gelu_slope(x, form) + gelu_slope(-x, form), many(1)));
        }
}

TEST_CASE("GELU's slopes in double have the absolute errors that the docstring gives", "[gradient]") {
    std::mt19937_64 generator(92);
    for (int i = 0; i < 10000; ++i) {
        const double x = std::uniform_real_distribution<>(-12, 12)(generator) *
                         std::exp2(i % 3 == 0 ? -static_cast<double>(generator() % 40) : 0.0);
        for (const auto form : forms) {
            const double error = std::abs(static_cast<double>(many(gelu_slope(x, form)) - gelu_slope(many(x), form))) * 0x1p53;
            if (!(error <= (form == gelu_form::tanh ? 32 : 3))) {
                CAPTURE(x, static_cast<int>(form), error);
                FAIL("further off than the docstring says");
            }
        }
    }
    for (const auto form : forms) {
        CAPTURE(static_cast<int>(form));
        CHECK(std::isnan(gelu_slope(nan_value, form)));
        CHECK(gelu_slope(1e100, form) == 1);
        CHECK(gelu_slope(-1e100, form) == 0);
    }
}

TEST_CASE("activate_vjp is the gradient, on vectors and matrices", "[gradient]") {
    for (const auto kind : {activation_kind::relu, activation_kind::gelu})
        for (const auto form : forms) {
            const activation how{kind, form};
            INFO("kind " << static_cast<int>(kind) << ", form " << static_cast<int>(form));
            const auto x = derived::filled(tensor<many, n, d>{}, 93), dy = derived::filled(tensor<many, n, d>{}, 94);
            auto at = derived::constants(x);
            derived::check_derivative(at, activate_vjp(x, how, dy), [&] { return derived::along(dy, activate(at, how)); });
            const auto v = derived::filled(tensor<many, d>{}, 95), dv = derived::filled(tensor<many, d>{}, 96);
            auto at_v = derived::constants(v);
            derived::check_derivative(at_v, activate_vjp(v, how, dv), [&] { return derived::along(dv, activate(at_v, how)); });
            const auto dx = activate_vjp(x, how, dy);
            CHECK(activate_vjp(tensor<many, dyn, dyn>(x), how, tensor<many, dyn, dyn>(dy)) == dx);
            CHECK(activate_vjp(x[1], how, dy[1]) == dx[1]);
        }
    // Exactly, for ReLU.
    const auto x = derived::filled(tensor<rational, n, d>{}, 97), dy = derived::filled(tensor<rational, n, d>{}, 98);
    auto at = derived::constants(x);
    derived::check_derivative(at, activate_vjp(x, activation{}, dy), [&] { return derived::along(dy, relu(at)); });
}

TEST_CASE("activate_vjp refuses a gradient of another shape", "[gradient]") {
    const auto matrix = [](std::size_t rows, std::size_t columns) {
        return tensor<double, dyn, dyn>::with_lengths(rows, columns);
    };
    CHECK_NOTHROW(activate_vjp(matrix(2, 3), activation{}, matrix(2, 3)));
    CHECK_THROWS_AS(activate_vjp(matrix(2, 3), activation{}, matrix(3, 3)), shape_error);
    CHECK_THROWS_AS(activate_vjp(matrix(2, 3), activation{}, matrix(2, 2)), shape_error);
    CHECK_THROWS_AS(activate_vjp(tensor<double, dyn>::with_lengths(2), activation{}, tensor<double, dyn>::with_lengths(3)),
                    shape_error);
}

TEST_CASE("an arithmetic without the functions of GELU says so", "[gradient]") {
    for (const auto form : forms)
        CHECK_THROWS_AS(activation_slope(rational(1, 3), activation{activation_kind::gelu, form}), no_such_function);
}
