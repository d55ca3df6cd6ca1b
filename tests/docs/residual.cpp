// SPDX-License-Identifier: BSL-1.0
// The example of docs/residual.md.
#include "attest/arithmetic/dual.hpp"
#include "attest/formula/residual.hpp"
#include "attest/gradient/residual.hpp"
#include "catch.hpp"

namespace {
// [snippet]
#include <attest/arithmetic/dual.hpp>
#include <attest/formula/residual.hpp>
#include <attest/gradient/residual.hpp>

struct n : attest::axis<1> {};
struct d : attest::axis<2> {};

constexpr attest::tensor<double, n, d> x{{3, 4}}, f_of_x{{0.5, -4}};
static_assert(attest::residual(x, f_of_x) == attest::tensor<double, n, d>{{3.5, 0}});

// Backward, both terms get all of dy; what the sublayer makes of its part is added to dx.
constexpr auto back = attest::residual_vjp(attest::tensor<double, n, d>{{1, 2}});
static_assert(back.dx == back.dsublayer);

// "Still at least 1"? With f(x) = -x the slope of x + f(x) is 0.
using number = attest::dual<double>;
constexpr attest::tensor<number, attest::axis<1>> t{number(5.0, 1.0)}, minus_t{-t(0)};
static_assert(attest::residual(t, minus_t)(0).derivative() == 0);
// [/snippet]
} // namespace

TEST_CASE("the numbers of docs/residual.md", "[docs]") {
    CHECK(back.dx(0, 1) == 2);
    const auto slope_with = [](double f_slope) {
        return attest::residual(t, attest::tensor<number, attest::axis<1>>{number(f_slope) * t(0)})(0).derivative();
    };
    CHECK(slope_with(-0.01) == 0.99);
    CHECK(slope_with(-1) == 0);
}
