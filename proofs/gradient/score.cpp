// SPDX-License-Identifier: BSL-1.0
// The gradients of the score functions: each is the transpose of the derivative that dual numbers find, for every direction of
// every input at once. Queries have 2 components, keys 3, and the hidden space of the additive score 4.

#include "../identity.hpp"

#include "attest/gradient/score.hpp"

namespace attest::proofs {
namespace {

struct d_q : axis<2> {};
struct d_k : axis<3> {};
struct hidden : axis<4> {};

// [adds]
// What a gradient is added to: it must not be written over.
template <axis_type DQ, axis_type DK>
struct sums {
    tensor<field, DQ> dq, dq_before;
    tensor<field, DK> dk, dk_before;

    constexpr explicit sums(draw& x) : dq{x.vector<DQ>()}, dq_before{dq}, dk{x.vector<DK>()}, dk_before{dk} {}
    // ⟨dq, q̇⟩ + ⟨dk, k̇⟩ of what was added.
    [[nodiscard]] constexpr field along(const tensor<field, DQ>& q_dot, const tensor<field, DK>& k_dot) const {
        return inner(dq, q_dot) - inner(dq_before, q_dot) + inner(dk, k_dot) - inner(dk_before, k_dot);
    }
};
// ds · (the derivative of the score along q̇ and k̇) = what score_vjp adds, along q̇ and k̇: of a score without weights.
template <axis_type D, class Score, class DualScore>
constexpr agreement is_transpose(draw& x, const Score& score, const DualScore& dual_score) {
    const auto q = x.vector<D>(), k = x.vector<D>(), q_dot = x.vector<D>(), k_dot = x.vector<D>();
    const field ds = x.number();
    sums<D, D> sum(x);
    auto weights = zero_score_gradient(score);
    score_vjp(score, q, k, ds, sum.dq, sum.dk, weights);
    return agree(inner(ds, dual_score(along(q, q_dot), along(k, k_dot))), sum.along(q_dot, k_dot));
}
// [/adds]

// [products]
static_assert(identity(4, [](draw& x) { return is_transpose<d_k>(x, dot_product{}, dot_product{}); }));
static_assert(identity(4, [](draw& x) {
    const field scale = x.number();
    return is_transpose<d_k>(x, scaled_dot_product<field>{scale}, scaled_dot_product<dual<field>>{dual<field>(scale)});
}));
static_assert(identity(4, [](draw& x) {
    const field cap = x.number(), scale = x.number();
    const scaled_dot_product<dual<field>> of_duals{dual<field>(scale)};
    return is_transpose<d_k>(x, softcapped{scaled_dot_product<field>{scale}, cap}, softcapped{of_duals, dual<field>(cap)});
}));
static_assert(std::same_as<decltype(zero_score_gradient(dot_product{})), no_score_weights>);
static_assert(std::same_as<score_gradient_of<softcapped<dot_product, field>>, no_score_weights>);
// [/products]

// [bilinear]
// q, k and W vary at once. The gradients of the weights are added to what `bilinear` holds already.
template <axis_type A, axis_type B>
constexpr tensor<field, A, B> added(const tensor<field, A, B>& after, const tensor<field, A, B>& before) {
    tensor<field, A, B> result;
    for (std::size_t a = 0; a < A::size; ++a)
        for (std::size_t b = 0; b < B::size; ++b) result(a, b) = after(a, b) - before(a, b);
    return result;
}
static_assert(identity(4, [](draw& x) {
    const auto q = x.vector<d_q>(), q_dot = x.vector<d_q>();
    const auto k = x.vector<d_k>(), k_dot = x.vector<d_k>();
    const auto w = x.matrix<d_q, d_k>(), w_dot = x.matrix<d_q, d_k>(), before = x.matrix<d_q, d_k>();
    const field ds = x.number();
    sums<d_q, d_k> sum(x);
    bilinear dw{before};
    score_vjp(bilinear{w}, q, k, ds, sum.dq, sum.dk, dw);
    const field expected = inner(ds, bilinear{along(w, w_dot)}(along(q, q_dot), along(k, k_dot)));
    return agree(expected, sum.along(q_dot, k_dot) + inner(added(dw.w, before), w_dot));
}));
// The gradient inside a soft cap is that of the score inside.
static_assert(identity(4, [](draw& x) {
    const auto q = x.vector<d_q>(), q_dot = x.vector<d_q>();
    const auto k = x.vector<d_k>(), k_dot = x.vector<d_k>();
    const auto w = x.matrix<d_q, d_k>(), w_dot = x.matrix<d_q, d_k>();
    const field ds = x.number(), cap = x.number();
    sums<d_q, d_k> sum(x);
    const softcapped score{bilinear{w}, cap};
    auto dw = zero_score_gradient(score);
    score_vjp(score, q, k, ds, sum.dq, sum.dk, dw);
    const softcapped of_duals{bilinear{along(w, w_dot)}, dual<field>(cap)};
    return agree(inner(ds, of_duals(along(q, q_dot), along(k, k_dot))), sum.along(q_dot, k_dot) + inner(dw.w, w_dot));
}));
// [/bilinear]

// [additive]
// q, k, W_1, W_2 and b vary at once.
static_assert(identity(4, [](draw& x) {
    const auto q = x.vector<d_q>(), q_dot = x.vector<d_q>();
    const auto k = x.vector<d_k>(), k_dot = x.vector<d_k>();
    const auto w1 = x.matrix<hidden, d_k>(), w1_dot = x.matrix<hidden, d_k>(), w1_before = x.matrix<hidden, d_k>();
    const auto w2 = x.matrix<hidden, d_q>(), w2_dot = x.matrix<hidden, d_q>(), w2_before = x.matrix<hidden, d_q>();
    const auto b = x.vector<hidden>(), b_dot = x.vector<hidden>(), b_before = x.vector<hidden>();
    const field ds = x.number();
    sums<d_q, d_k> sum(x);
    additive dscore{w1_before, w2_before, b_before};
    score_vjp(additive{w1, w2, b}, q, k, ds, sum.dq, sum.dk, dscore);
    const additive of_duals{along(w1, w1_dot), along(w2, w2_dot), along(b, b_dot)};
    return agree(inner(ds, of_duals(along(q, q_dot), along(k, k_dot))),
                 sum.along(q_dot, k_dot) + inner(added(dscore.w1, w1_before), w1_dot) +
                     inner(added(dscore.w2, w2_before), w2_dot) + inner(dscore.b, b_dot) - inner(b_before, b_dot));
}));
// [/additive]

// [zeros]
// To begin with: zeros in the shape of the weights, whether the compiler knows it or not.
using any = axis<dynamic>;
constexpr bool zeros_have_the_shape_of_the_weights = [] {
    const bilinear<tensor<int, any, any>> form{tensor<int, any, any>{{1, 2, 3}, {4, 5, 6}}};
    const additive<tensor<int, any, any>, tensor<int, any, any>, tensor<int, any>> sum{
        {{1, 2, 3}, {4, 5, 6}}, {{7}, {8}}, {9, 10}};
    const auto of_form = zero_score_gradient(form);
    const auto of_sum = zero_score_gradient(sum);
    return of_form.w == tensor<int, any, any>{{0, 0, 0}, {0, 0, 0}} && of_sum.w1 == of_form.w &&
           of_sum.w2 == tensor<int, any, any>{{0}, {0}} && of_sum.b == tensor<int, any>{0, 0};
}();
static_assert(zeros_have_the_shape_of_the_weights);
static_assert(std::same_as<score_gradient_of<bilinear<tensor<field, d_q, d_k>>>, bilinear<tensor<field, d_q, d_k>>>);
static_assert(differentiable_score<dot_product, tensor<double, d_k>, tensor<double, d_k>>);
struct no_gradient {
    template <class Q, class K>
    constexpr double operator()(const Q& q, const K&) const {
        return q(0);
    }
};
static_assert(!differentiable_score<no_gradient, tensor<double, d_k>, tensor<double, d_k>>);
// [/zeros]

} // namespace
} // namespace attest::proofs
