// SPDX-License-Identifier: BSL-1.0
#include "attest/gradient/residual.hpp"
#include "attest/formula/matmul.hpp"
#include "attest/formula/residual.hpp"
#include "gradient/derivatives.hpp"

using namespace attest;
using exactly::rational;

namespace {

struct n : axis<2> {};
struct d : axis<3> {};

// A sublayer with the Jacobian W in each row: f(X) = X W.
template <class S> tensor<S, n, d> sublayer(const tensor<S, n, d>& x, const tensor<S, d, d>& w) { return matmul(x, w); }

} // namespace

TEST_CASE("A086: the Jacobian is I + J, exactly", "[gradient]") {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        const auto x = derived::filled(tensor<rational, n, d>{}, seed), dy = derived::filled(x, seed + 10);
        const auto w = derived::filled(tensor<rational, d, d>{}, seed + 20);
        const auto [direct, through] = residual_vjp(dy);
        CHECK(direct == dy);
        CHECK(through == dy);
        const auto dx = residual(direct, matmul(through, transpose(w))); // dy + J_fᵀ dy
        auto dual_x = derived::constants(x);
        const auto dual_w = derived::constants(w);
        derived::check_derivative(dual_x, dx, [&] { return derived::along(dy, residual(dual_x, sublayer(dual_x, dual_w))); });
    }
}

TEST_CASE("A087: the gradient is not at least 1", "[gradient]") {
    const auto slope_of = [](const rational& f_slope) { // of x + f′ x, in one component
        const tensor<dual<rational>, axis<1>> x{dual<rational>(rational(5), rational(1))}, f{dual<rational>(f_slope) * x(0)};
        return residual(x, f)(0).derivative();
    };
    CHECK(slope_of(rational(-1, 100)) == rational(99, 100));
    CHECK(slope_of(-1) == 0);
    CHECK(slope_of(-3) == -2);
    CHECK(slope_of(0) == 1);
    // What is true: at least 1 − |f′|.
    for (int p = -20; p <= 20; ++p) {
        const rational slope = slope_of(rational(p, 7)), magnitude = slope < 0 ? -slope : slope;
        CHECK(magnitude >= rational(1) - rational(p < 0 ? -p : p, 7));
    }
}
