// SPDX-License-Identifier: BSL-1.0
// The gradient of the feed-forward network is the transpose of its derivative, by x and by all four weights at once.

#include "../identity.hpp"

#include "attest/formula/feed_forward.hpp"
#include "attest/gradient/feed_forward.hpp"

namespace attest::proofs {
namespace {

struct n : axis<3> {};
struct d_model : axis<2> {};
struct d_ff : axis<4> {};

using weights = feed_forward_weights<field, d_model, d_ff>;
constexpr weights any_weights(draw& at) {
    return {at.matrix<d_model, d_ff>(), at.vector<d_ff>(), at.matrix<d_ff, d_model>(), at.vector<d_model>()};
}

// [vjp]
// ⟨dy, J (dx, dW)⟩ = ⟨gradient, (dx, dW)⟩ for all dx, dW and dy.
constexpr bool is_transpose(unsigned points, const activation& act) {
    return identity(points, [&act](draw& at) {
        const auto x = at.matrix<n, d_model>(), dx = at.matrix<n, d_model>(), dy = at.matrix<n, d_model>();
        const weights w = any_weights(at), dw = any_weights(at);
        const feed_forward_weights<dual<field>, d_model, d_ff> moved{along(w.w_1, dw.w_1), along(w.b_1, dw.b_1),
                                                                     along(w.w_2, dw.w_2), along(w.b_2, dw.b_2)};
        const auto gradient = feed_forward_vjp(x, w, act, dy);
        const field of_weights = inner(gradient.dw.w_1, dw.w_1) + inner(gradient.dw.b_1, dw.b_1) + inner(gradient.dw.w_2, dw.w_2) +
                                 inner(gradient.dw.b_2, dw.b_2);
        return agree(inner(dy, feed_forward(along(x, dx), moved, act)), inner(gradient.dx, dx) + of_weights);
    });
}
static_assert(is_transpose(2, {}));
static_assert(is_transpose(1, {activation_kind::gelu, gelu_form::erf}));
static_assert(is_transpose(1, {activation_kind::gelu, gelu_form::sigmoid}));
// [/vjp]

// Without biases their gradients are there all the same, and have their full length.
static_assert(identity(1, [](draw& at) {
    using any = axis<dynamic>;
    const auto x = at.matrix<n, d_model>(), dy = at.matrix<n, d_model>();
    const weights w = any_weights(at);
    const feed_forward_weights<field, any, any> unbiased{tensor<field, any, any>(w.w_1), {}, tensor<field, any, any>(w.w_2), {}};
    const auto gradient = feed_forward_vjp(x, unbiased, {}, dy);
    const auto with_zeros = feed_forward_vjp(x, weights{w.w_1, {}, w.w_2, {}}, {}, dy);
    return agree(gradient.dx, with_zeros.dx) & agree(gradient.dw.b_1, with_zeros.dw.b_1) &
           agree(gradient.dw.b_2, with_zeros.dw.b_2) &
           agree(gradient.dw.w_1, with_zeros.dw.w_1) & agree(gradient.dw.w_2, with_zeros.dw.w_2);
}));

} // namespace
} // namespace attest::proofs
