// SPDX-License-Identifier: BSL-1.0
// The gradients of layer and root-mean-square normalisation are the transposes of their derivatives, by x, γ and β at once: in
// each place of ε, for each variance, with weights and without.

#include "../identity.hpp"

#include "attest/arithmetic/interval.hpp"
#include "attest/arithmetic/rational.hpp"
#include "attest/formula/layer_norm.hpp"
#include "attest/gradient/layer_norm.hpp"

namespace attest::proofs {
namespace {

struct n : axis<2> {};
struct d : axis<3> {};
using any = axis<dynamic>;
template <class S> using any_vector = tensor<S, any>;

constexpr auto in_variance = eps_placement::variance, beside_std = eps_placement::std;
constexpr auto biased = variance_kind::biased, unbiased = variance_kind::unbiased;

// ε that gives row 0 a root which is drawn (a square), so that luck is needed for row 1 alone; beside σ, for both.
constexpr layer_norm_options<field> options_for(draw& at, const field& variance_of_row_0, eps_placement placement,
                                                variance_kind variance) {
    const field root = at.positive();
    return {placement == in_variance ? root * root - variance_of_row_0 : root, placement, variance};
}
constexpr layer_norm_options<dual<field>> constant(const layer_norm_options<field>& how) {
    return {dual<field>(how.eps), how.placement, how.variance};
}

// [layer_norm]
constexpr bool is_transpose(eps_placement placement, variance_kind kind) {
    return identity(1, [=](draw& at) {
        const auto x = at.matrix<n, d>(), dx = at.matrix<n, d>(), dy = at.matrix<n, d>();
        const auto gamma = at.vector<d>(), beta = at.vector<d>(), dgamma = at.vector<d>(), dbeta = at.vector<d>();
        const auto how = options_for(at, variance(x[0], kind), placement, kind);
        const auto y = layer_norm(along(x, dx), layer_norm_weights{along(gamma, dgamma), along(beta, dbeta)}, constant(how));
        if (agree(inner(dy, y), 0) == agreement::undefined) return agreement::undefined;
        const auto gradient = layer_norm_vjp(x, layer_norm_weights{gamma, beta}, how, dy);
        // Absent weights: dx as with γ = 1 or with β = 0, and the gradients of γ and β in full length.
        const auto absent = layer_norm_vjp(x, layer_norm_weights<field, any>{}, how, dy);
        const auto ones = layer_norm_vjp(x, layer_norm_weights<field, d>{}, how, dy);
        const auto gamma_alone = layer_norm_vjp(x, layer_norm_weights{any_vector<field>(gamma), any_vector<field>{}}, how, dy);
        const field of_weights = inner(gradient.dweights.gamma, dgamma) + inner(gradient.dweights.beta, dbeta);
        return agree(inner(dy, y), inner(gradient.dx, dx) + of_weights) & agree(absent.dx, ones.dx) &
               agree(gamma_alone.dx, gradient.dx) & agree(absent.dweights.gamma, gradient.dweights.gamma) & agree(absent.dweights.beta, gradient.dweights.beta);
    });
}
static_assert(is_transpose(in_variance, biased));
static_assert(is_transpose(in_variance, unbiased));
static_assert(is_transpose(beside_std, biased));
static_assert(is_transpose(beside_std, unbiased));
// [/layer_norm]

// [rms_norm]
constexpr bool is_transpose_of_rms(eps_placement placement) {
    return identity(1, [=](draw& at) {
        const auto x = at.matrix<n, d>(), dx = at.matrix<n, d>(), dy = at.matrix<n, d>();
        const auto gamma = at.vector<d>(), dgamma = at.vector<d>();
        const auto how = options_for(at, inner(x[0], x[0]) / 3, placement, biased);
        const auto y = rms_norm(along(x, dx), along(gamma, dgamma), constant(how));
        if (agree(inner(dy, y), 0) == agreement::undefined) return agreement::undefined;
        const auto gradient = rms_norm_vjp(x, gamma, how, dy);
        const auto absent = rms_norm_vjp(x, any_vector<field>{}, how, dy);
        const auto ones = rms_norm_vjp(x, tensor<field, d>{1, 1, 1}, how, dy);
        return agree(inner(dy, y), inner(gradient.dx, dx) + inner(gradient.dgamma, dgamma)) & agree(absent.dx, ones.dx) &
               agree(absent.dgamma, gradient.dgamma);
    });
}
static_assert(is_transpose_of_rms(in_variance));
static_assert(is_transpose_of_rms(beside_std));
// [/rms_norm]

// [constant_row]
// Where σ = 0 and ε stands beside it, σ has no derivative, but x̂ has: (x_c − μ)/(σ + ε) is (v_c − mean v) t/(t |..| + ε) along
// v, with the slope (v_c − mean v)/ε. So dx is (g − mean g)/ε: here ε = 1/3, g = (2, −4, 15) with the mean 13/3.
constexpr tensor<rational, axis<1>, d> constant_row{{7, 7, 7}}, dy{{2, 4, 5}};
constexpr layer_norm_weights<rational, d> weights{{1, -1, 3}, {}};
constexpr layer_norm_options<rational> third_beside{rational::ratio(1, 3), beside_std, biased};
static_assert(layer_norm_vjp(constant_row, weights, third_beside, dy).dx == tensor<rational, axis<1>, d>{{-7, -25, 32}});
static_assert(rms_norm_vjp(tensor<rational, axis<1>, d>{}, weights.gamma, third_beside, dy).dx ==
              tensor<rational, axis<1>, d>{{6, -12, 45}});
// In the root there is nothing to it: √ε = 1/2.
static_assert(layer_norm_vjp(constant_row, weights, {rational::ratio(1, 4)}, dy).dx ==
              tensor<rational, axis<1>, d>{{rational::ratio(-14, 3), rational::ratio(-50, 3), rational::ratio(64, 3)}});
// Intervals decide the same.
constexpr tensor<interval, axis<1>, d> row_enclosed{{7, 7, 7}}, dy_enclosed{{2, 4, 5}};
constexpr layer_norm_weights<interval, d> weights_enclosed{{1, -1, 3}, {}};
constexpr auto dx_enclosed = layer_norm_vjp(row_enclosed, weights_enclosed, {interval::ratio(1, 3), beside_std, biased}, dy_enclosed).dx;
static_assert(rounds_to(dx_enclosed(0, 0), "-7.000") && rounds_to(dx_enclosed(0, 1), "-25.000") && rounds_to(dx_enclosed(0, 2), "32.000"));
// [/constant_row]

// A row of nothing has gradients of nothing, one of a single component is constant: β alone has a gradient.
constexpr bool nothing_gives_nothing = [] {
    const auto nothing = tensor<rational, any, any>::with_lengths(1, 0);
    return layer_norm_vjp(nothing, layer_norm_weights<rational, any>{}, {}, nothing).dx.elements() == 0 &&
           rms_norm_vjp(nothing, any_vector<rational>{}, {}, nothing).dx.elements() == 0;
}();
static_assert(nothing_gives_nothing);
using one_by_one = tensor<rational, axis<1>, axis<1>>;
using one_weight = layer_norm_weights<rational, axis<1>>;
constexpr auto of_one = layer_norm_vjp(one_by_one{{5}}, one_weight{}, {1}, one_by_one{{3}});
static_assert(of_one.dx == one_by_one{{0}} && of_one.dweights.gamma(0) == 0 && of_one.dweights.beta(0) == 3);
static_assert(rms_norm_vjp(one_by_one{{3}}, one_weight{}.gamma, {16}, one_by_one{{5}}).dgamma(0) == 3); // 5·3/√(9 + 16)

} // namespace
} // namespace attest::proofs
