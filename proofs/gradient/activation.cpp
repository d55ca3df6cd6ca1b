// SPDX-License-Identifier: BSL-1.0
// Slopes of the activations: what dual numbers say, and the gradient's formula.

#include "../identity.hpp"

#include "attest/arithmetic/dual.hpp"
#include "attest/formula/activation.hpp"
#include "attest/gradient/activation.hpp"

namespace attest::proofs {
namespace {

struct n : axis<2> {};
struct d : axis<3> {};

constexpr activation with_relu{}, with_gelu{activation_kind::gelu}, with_gelu_tanh{activation_kind::gelu, gelu_form::tanh};
constexpr activation with_gelu_sigmoid{activation_kind::gelu, gelu_form::sigmoid};

// [relu]
// 1 above 0 and 0 below, and at 0, where there is no slope, 0 by convention; ε carries the same slope along. NaN stays NaN.
template <class Law> constexpr bool at_each(const Law& law) {
    for (int x = -500; x <= 500; ++x)
        if (!law(x)) return false;
    return true;
}
static_assert(relu_slope(0) == 0 && relu_slope(1) == 1 && relu_slope(-1) == 0);
static_assert(at_each([](int x) {
    return relu(dual<int>(x, 3)).value() == relu(x) && relu(dual<int>(x, 3)).derivative() == 3 * relu_slope(x);
}));
// Away from 0 the slope is the difference quotient.
static_assert(at_each([](int x) { return x == 0 || 2 * relu_slope(x) == relu(x + 1) - relu(x - 1); }));
static_assert(relu_slope(std::numeric_limits<double>::quiet_NaN()) != relu_slope(std::numeric_limits<double>::quiet_NaN()));
// [/relu]

// [gelu]
// Φ(x) + x φ(x), and what dual numbers make of the three forms. Of tanh the slope's formula takes that it is odd, 1 − tanh u = 1
// + tanh(−u), which the field's opaque function is not: so they agree but for a factor tanh(u) + tanh(−u).
constexpr dual<field> carried(const field& x, gelu_form form) { return gelu(dual<field>(x, 1), form); }
static_assert(identity(2, [](draw& at) {
    const field x = at.number(), phi = attest::exp(-(x * x / 2)) / attest::sqrt(2 * field::pi());
    return agree(gelu_slope(x), (1 + attest::erf(x / attest::sqrt(field(2)))) / 2 + x * phi) &
           agree(gelu_slope(x, gelu_form::erf), gelu_slope(x)) &
           agree(carried(x, gelu_form::erf).derivative(), gelu_slope(x)) & agree(activation_slope(x, with_gelu), gelu_slope(x));
}));
static_assert(identity(2, [](draw& at) {
    const field x = at.number(), factor = field(44715) / field(1000000), root = attest::sqrt(2 / field::pi());
    const field u = root * (x + factor * x * x * x), u_slope = root * (1 + 3 * factor * x * x), t = attest::tanh(u);
    const field difference = x * (1 + t) * (t + attest::tanh(-u)) * u_slope / 2;
    return agree(gelu_slope(x, gelu_form::tanh), carried(x, gelu_form::tanh).derivative() + difference) &
           agree(activation_slope(x, with_gelu_tanh), gelu_slope(x, gelu_form::tanh));
}));
static_assert(identity(2, [](draw& at) {
    const field x = at.number();
    return agree(carried(x, gelu_form::sigmoid).derivative(), gelu_slope(x, gelu_form::sigmoid)) &
           agree(activation_slope(x, with_gelu_sigmoid), gelu_slope(x, gelu_form::sigmoid));
}));
static_assert(identity(2, [](draw& at) {
    const field x = at.number();
    return agree(activation_slope(x, with_relu), relu_slope(x)) & agree(relu(dual<field>(x, 1)).derivative(), relu_slope(x));
}));
// [/gelu]

// [vjp]
// dx = f′(x) ⊙ dy is the transpose of the derivative, on vectors and on matrices.
constexpr bool is_transpose(const activation& how) {
    return identity(1, [&how](draw& at) {
        const auto x = at.vector<d>(), dx = at.vector<d>(), dy = at.vector<d>();
        return agree(inner(dy, activate(along(x, dx), how)), inner(activate_vjp(x, how, dy), dx));
    }) && identity(1, [&how](draw& at) {
        const auto x = at.matrix<n, d>(), dx = at.matrix<n, d>(), dy = at.matrix<n, d>();
        return agree(inner(dy, activate(along(x, dx), how)), inner(activate_vjp(x, how, dy), dx));
    });
}
static_assert(is_transpose(with_relu));
static_assert(is_transpose(with_gelu));
static_assert(is_transpose(with_gelu_sigmoid));
// [/vjp]

} // namespace
} // namespace attest::proofs
