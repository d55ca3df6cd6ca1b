// SPDX-License-Identifier: BSL-1.0
// The residual connection x + f(x): its sum, its Jacobian I + J, and what that does not promise.

#include "identity.hpp"
#include "polynomial.hpp"
#include "settle.hpp"

#include "attest/arithmetic/dual.hpp"
#include "attest/arithmetic/rational.hpp"
#include "attest/formula/activation.hpp"
#include "attest/formula/layer_norm.hpp"
#include "attest/formula/projection.hpp"
#include "attest/formula/residual.hpp"
#include "attest/gradient/layer_norm.hpp"
#include "attest/gradient/residual.hpp"
#include "attest/shape/heads.hpp"

namespace attest::proofs {
namespace {

struct n : axis<2> {};
struct d : axis<3> {};
struct other_d : axis<4> {};

// [A084]
// x + f(x), element by element, of a vector and of a matrix; f must keep the shape.
static_assert(rules::residual_keeps_shape::holds<d, d> && !rules::residual_keeps_shape::holds<d, other_d>);
constexpr agreement of_vectors(draw& at) {
    const auto x = at.vector<d>(), f = at.vector<d>();
    return agree(residual(x, f), tensor<field, d>{x(0) + f(0), x(1) + f(1), x(2) + f(2)});
}
constexpr agreement of_matrices(draw& at) {
    const auto x = at.matrix<n, d>(), f = at.matrix<n, d>();
    const tensor<field, n, d> sum{{x(0, 0) + f(0, 0), x(0, 1) + f(0, 1), x(0, 2) + f(0, 2)},
                                  {x(1, 0) + f(1, 0), x(1, 1) + f(1, 1), x(1, 2) + f(1, 2)}};
    using dynamic_rows = tensor<field, axis<dynamic>, axis<dynamic>>;
    return agree(residual(x, f), sum) & agree(residual(dynamic_rows(x), dynamic_rows(f)), sum);
}
// W_O brings the heads back to d_model
const entry A084 = settle("A084", holds([](const claim& c) { return identity(c.points_of_degree(1), of_matrices); }), holds([] {
    struct d_model : axis<512> {};
    struct H : axis<8> {};
    return rules::residual_keeps_shape::holds<d_model, d_model> && !rules::residual_keeps_shape::holds<d_model, heads<H, axis<32>>>;
}));
const entry A085 = settle("A085", holds([](const claim& c) { return identity(c.points_of_degree(1), of_matrices); }));
const entry B043 = settle("B043", holds([](const claim& c) { return identity(c.points_of_degree(1), of_vectors); }));
// [/A084]

// [A086]
// The Jacobian of x + f(x) for f(x) = A x, column by column: ∂y_i/∂x_j.
using square = tensor<rational, axis<2>, axis<2>>;
constexpr square jacobian(const square& A) {
    square J;
    for (std::size_t j = 0; j < 2; ++j) {
        using number = dual<rational>;
        const tensor<number, axis<2>> x{number(5, j == 0 ? 1 : 0), number(7, j == 1 ? 1 : 0)};
        const tensor<number, axis<2>, axis<2>> constants(A);
        const auto y = residual(x, project_out_in(x, constants));
        for (std::size_t i = 0; i < 2; ++i) J(i, j) = y(i).derivative();
    }
    return J;
}
// With one component: 1 + f′.
template <class S = rational> constexpr S slope_of_residual(const std::type_identity_t<S>& f_slope) {
    const tensor<dual<S>, axis<1>> x{dual<S>(5, 1)}, f{dual<S>(f_slope) * x(0)};
    return residual(x, f)(0).derivative();
}
// f(x) = ReLU(A x), an opaque function: the derivative along v is v + J v, and both paths add in the gradient. (Its slopes are free
// variables at three arguments of degree 2, with coefficients of degree 2. By chance they agree if one argument is another (2·2) or
// 0 (2), a coefficient 0 (2), or the slope the one that fits (1): 9, and the ledger's `degree` is 16.)
constexpr agreement is_unit_plus_jacobian(draw& at) {
    const auto x = at.vector<d>(), v = at.vector<d>();
    const auto A = at.matrix<d, d>();
    const auto moved = along(x, v);
    const auto f = relu(project_out_in(moved, tensor<dual<field>, d, d>(A)));
    const auto y = residual(moved, f);
    return agree(y(0).derivative(), v(0) + f(0).derivative()) & agree(y(1).derivative(), v(1) + f(1).derivative()) &
           agree(y(2).derivative(), v(2) + f(2).derivative());
}
// right for a number, and off the diagonal of a matrix wrong
const entry A086 = settle("A086", fails_as_printed("1", [](std::string_view printed) {
    const rational one = rational::decimal(printed);
    const square A{{2, 3}, {5, 7}}, J = jacobian(A);
    return slope_of_residual(3) == one + 3 && J(0, 0) == one + A(0, 0) && J(1, 1) == one + A(1, 1) &&
           !(J(0, 1) == one + A(0, 1)) && !(J(1, 0) == one + A(1, 0));
}), holds_corrected([] { return jacobian({{2, 3}, {5, 7}}) == square{{3, 3}, {5, 8}}; }),
    holds_corrected([](const claim& c) { return identity(c.points_of_degree(16), is_unit_plus_jacobian); }));
// [/A086]

// [A087]
// With y′ = v + w, w = J v: |y′|² = |v|² + 2 v·w + |w|², and |v|²|w|² − (v·w)² is a sum of squares (Lagrange). So |y′| >= ||v| −
// |w||. (Degree 8, in v, x, A and the slopes; and 3·2 + 3·2 for arguments that are equal or 0: 20, and the ledger's `degree` is 32.)
constexpr agreement length_is_bounded(draw& at) {
    const auto x = at.vector<d>(), v = at.vector<d>();
    const auto moved = along(x, v);
    const auto f = relu(project_out_in(moved, tensor<dual<field>, d, d>(at.matrix<d, d>())));
    const auto y = residual(moved, f);
    const field vw = inner(v, f), ww = inner(f, f), vv = inner(v, v);
    const auto square_of = [&](std::size_t i, std::size_t j) {
        const field minor = v(i) * f(j).derivative() - v(j) * f(i).derivative();
        return minor * minor;
    };
    return agree(inner(y, y), vv + 2 * vw + ww) & agree(vv * ww - vw * vw, square_of(0, 1) + square_of(0, 2) + square_of(1, 2));
}
// what f′ = 0 gives, and a small negative f′ does not
const entry A087 = settle("A087", fails_as_printed("1", [](std::string_view printed) {
    const rational one = rational::decimal(printed);
    return slope_of_residual(0) == one && slope_of_residual(rational::ratio(-1, 100)) < one;
}), holds_corrected([](const claim& c) {
    const auto number = [&c](std::size_t i) { return rational::decimal(c.number(i)); };
    return slope_of_residual(number(0)) == number(1) && slope_of_residual(number(2)) == number(3) && number(0) < 0 &&
           number(3) == 0 && c.value_reads("f' = # gives #, f' = # gives #");
}), holds_corrected([] { // for a = |f′|, f′² − a² = 0 and f′ + a >= 0: (1 + f′)² >= (1 − a)², and so |1 + f′| >= 1 − |f′|
    const polynomial f = variable(0), a = variable(1);
    return proofs::square(slope_of_residual<polynomial>(f)) - proofs::square(1 - a) == 2 * (f + a) + proofs::square(f) - proofs::square(a);
}), holds_corrected([] { // tenths from −3 to 3: with equality from −1 to 0
    for (int tenths = -30; tenths <= 30; ++tenths) {
        const rational f = rational::ratio(tenths, 10), y = slope_of_residual(f), size = y < 0 ? -y : y,
            least = 1 - (f < 0 ? -f : f);
        if (size < least || (size == least) != (tenths >= -10 && tenths <= 0)) return false;
    }
    return true;
}), holds_corrected([](const claim& c) { return identity(c.points_of_degree(32), length_is_bounded); }));
// [/A087]

// [B044]
// Not intact: post-norm, LN(x + f(x)), with f = 0: of a direction in which all components grow alike nothing is left; nor is all of it left
// of others.
constexpr tensor<dual<rational>, axis<4>> through_a_norm(const tensor<rational, axis<4>>& direction) {
    tensor<dual<rational>, axis<4>> x, zero;
    for (std::size_t c = 0; c < 4; ++c) x(c) = dual<rational>(c % 2 == 0 ? 3 : -3, direction(c));
    return layer_norm(residual(x, zero), {dual<rational>(0)}); // σ = 3
}
constexpr bool derivatives_are(const tensor<dual<rational>, axis<4>>& y, const tensor<rational, axis<4>>& expected) {
    for (std::size_t c = 0; c < 4; ++c)
        if (!(y(c).derivative() == expected(c))) return false;
    return true;
}
// The gradient of a post-norm block: what comes back through the norm, g, and then g along both paths.
constexpr agreement passes_the_norm(draw& at) {
    using one = axis<1>;
    const auto x = at.matrix<one, d>(), f = at.matrix<one, d>(), v = at.matrix<one, d>(), w = at.matrix<one, d>(), dy = at.matrix<one, d>();
    const auto sum = residual(x, f);
    const layer_norm_weights<field, d> weights{at.vector<d>(), at.vector<d>()};
    const field root = at.positive(), eps = root * root - variance(sum[0]);
    const layer_norm_weights<dual<field>, d> constants{tensor<dual<field>, d>(weights.gamma), tensor<dual<field>, d>(weights.beta)};
    const auto y = layer_norm(residual(along(x, v), along(f, w)), constants, {dual<field>(eps)});
    const auto g = residual_vjp(layer_norm_vjp(sum, weights, {eps}, dy).dx);
    return agree(inner(dy, y), inner(g.dx, v) + inner(g.dsublayer, w));
}
const entry B044 = settle("B044", fails_as_printed([] {
    return derivatives_are(through_a_norm({1, 1, 1, 1}), {0, 0, 0, 0}) &&
           derivatives_are(through_a_norm({1, -1, 1, -1}), {0, 0, 0, 0}) &&
           derivatives_are(through_a_norm({3, 3, -3, -3}), {1, 1, -1, -1});
}), holds_corrected([] {
    constexpr tensor<rational, axis<1>, d> dy{{2, -3, 5}};
    return residual_vjp(dy).dx == dy && residual_vjp(dy).dsublayer == dy;
}), holds_corrected([](const claim& c) { return identity(c.points_of_degree(32), passes_the_norm); }));
// [/B044]

} // namespace
} // namespace attest::proofs
