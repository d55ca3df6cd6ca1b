// SPDX-License-Identifier: BSL-1.0
#include "attest/gradient/score.hpp"
#include "catch.hpp"
#include "gradient/derivatives.hpp"

#include <type_traits>

using namespace attest;
using derived::big;
using exactly::rational;

namespace {

struct d_q : axis<3> {};
struct d_k : axis<4> {};
struct hidden : axis<5> {};
using dyn = axis<dynamic>;

static_assert(std::is_same_v<decltype(zero_score_gradient(dot_product{})), no_score_weights>);
static_assert(std::is_same_v<decltype(zero_score_gradient(scaled_dot_product<float>{1})), no_score_weights>);
static_assert(std::is_same_v<score_gradient_of<bilinear<view<const float, d_q, d_k>>>, bilinear<tensor<float, d_q, d_k>>>);
static_assert(std::is_same_v<score_gradient_of<additive<view<const float, hidden, d_k>, tensor<float, hidden, d_q>, tensor<float, hidden>>>,
                             additive<tensor<float, hidden, d_k>, tensor<float, hidden, d_q>, tensor<float, hidden>>>);
static_assert(std::is_same_v<score_gradient_of<softcapped<bilinear<tensor<float, d_q, d_k>>, float>>, bilinear<tensor<float, d_q, d_k>>>);
static_assert(differentiable_score<dot_product, tensor<float, d_k>, view<const float, d_k>>);
static_assert(differentiable_score<softcapped<scaled_dot_product<double>, double>, tensor<double, d_k>, tensor<double, d_k>>);
constexpr auto own_score = [](const auto& q, const auto& k) { return q(0) * k(0); };
static_assert(!differentiable_score<decltype(own_score), tensor<float, d_k>, tensor<float, d_k>>);

// In a constant expression: s = (1, 2) · (3, 4), ds = 10.
constexpr bool by_hand() {
    const tensor<int, axis<2>> q{1, 2}, k{3, 4};
    tensor<int, axis<2>> dq, dk{100, 0};
    no_score_weights none;
    score_vjp(dot_product{}, q, k, 10, dq, dk, none);
    return dq == tensor<int, axis<2>>{30, 40} && dk == tensor<int, axis<2>>{110, 20}; // added to what was there
}
static_assert(by_hand());

// The gradients of one score with ds, and dq, dk to begin with.
template <class S, class Score, class Q, class K> struct gradients {
    Q dq;
    K dk;
    score_gradient_of<Score> dscore;
    gradients(const Score& score, const Q& q, const K& k, const S& ds) : dscore{zero_score_gradient(score)} { score_vjp(score, q, k, ds, dq, dk, dscore); }
};
template <class S, class Score, class Q, class K> gradients(const Score&, const Q&, const K&, const S&) -> gradients<S, Score, Q, K>;

} // namespace

TEST_CASE("gradients of the scores that are polynomials are those of dual numbers, exactly", "[gradient]") {
    const auto q = derived::filled(tensor<rational, d_k>{}, 1), k = derived::filled(tensor<rational, d_k>{}, 2);
    const rational ds(7, 3);
    auto dual_q = derived::constants(q), dual_k = derived::constants(k);
    const dual<rational> dual_ds(ds);

    const gradients plain(dot_product{}, q, k, ds);
    const auto plain_value = [&] { return dual_ds * dot_product{}(dual_q, dual_k); };
    derived::check_derivative(dual_q, plain.dq, plain_value);
    derived::check_derivative(dual_k, plain.dk, plain_value);

    const scaled_dot_product<rational> score{rational(2, 5)};
    const gradients scaled(score, q, k, ds);
    const auto scaled_value = [&] { return dual_ds * scaled_dot_product{dual<rational>(score.scale)}(dual_q, dual_k); };
    derived::check_derivative(dual_q, scaled.dq, scaled_value);
    derived::check_derivative(dual_k, scaled.dk, scaled_value);

    const auto other_q = derived::filled(tensor<rational, d_q>{}, 3);
    auto dual_other_q = derived::constants(other_q);
    const bilinear general{derived::filled(tensor<rational, d_q, d_k>{}, 4)};
    bilinear dual_general{derived::constants(general.w)};
    const gradients mixed(general, other_q, k, ds);
    const auto mixed_value = [&] { return dual_ds * dual_general(dual_other_q, dual_k); };
    derived::check_derivative(dual_other_q, mixed.dq, mixed_value);
    derived::check_derivative(dual_k, mixed.dk, mixed_value);
    derived::check_derivative(dual_general.w, mixed.dscore.w, mixed_value);
}

TEST_CASE("gradients of the additive and the capped scores are those of dual numbers", "[gradient]") {
    const auto q = derived::filled(tensor<big, d_q>{}, 11);
    const auto k = derived::filled(tensor<big, d_k>{}, 12);
    auto dual_q = derived::constants(q);
    auto dual_k = derived::constants(k);
    const big ds(1.75);
    const dual<big> dual_ds(ds);

    const additive score{derived::filled(tensor<big, hidden, d_k>{}, 13), derived::filled(tensor<big, hidden, d_q>{}, 14),
                         derived::filled(tensor<big, hidden>{}, 15)};
    additive dual_score{derived::constants(score.w1), derived::constants(score.w2), derived::constants(score.b)};
    const gradients of_additive(score, q, k, ds);
    const auto value = [&] { return dual_ds * dual_score(dual_q, dual_k); };
    derived::check_derivative(dual_q, of_additive.dq, value);
    derived::check_derivative(dual_k, of_additive.dk, value);
    derived::check_derivative(dual_score.w1, of_additive.dscore.w1, value);
    derived::check_derivative(dual_score.w2, of_additive.dscore.w2, value);
    derived::check_derivative(dual_score.b, of_additive.dscore.b, value);

    // A cap over a score with weights, and a cap over that.
    const softcapped capped{bilinear{derived::filled(tensor<big, d_q, d_k>{}, 16)}, big(3)};
    softcapped dual_capped{bilinear{derived::constants(capped.score.w)}, dual<big>(3)};
    const gradients of_capped(capped, q, k, ds);
    const auto capped_value = [&] { return dual_ds * dual_capped(dual_q, dual_k); };
    derived::check_derivative(dual_q, of_capped.dq, capped_value);
    derived::check_derivative(dual_k, of_capped.dk, capped_value);
    derived::check_derivative(dual_capped.score.w, of_capped.dscore.w, capped_value);

    const softcapped twice{capped, big(2)};
    softcapped dual_twice{dual_capped, dual<big>(2)};
    const gradients of_twice(twice, q, k, ds);
    const auto twice_value = [&] { return dual_ds * dual_twice(dual_q, dual_k); };
    derived::check_derivative(dual_q, of_twice.dq, twice_value);
    derived::check_derivative(dual_twice.score.score.w, of_twice.dscore.w, twice_value);
}

TEST_CASE("far beyond the cap no gradient is left, and at 0 all of it", "[gradient]") {
    const tensor<double, axis<1>> q{30}, k{30}, zero{0};
    const softcapped score{dot_product{}, 5.0};
    const gradients far(score, q, k, 1.0);
    CHECK(far.dq(0) >= 0);
    CHECK(far.dq(0) <= 30 * 0x1p-51); // (1 − t)(1 + t)·30 with t = tanh 180, which is 1 but for the last bits
    const gradients at_zero(score, zero, k, 1.0);
    CHECK(at_zero.dq(0) == 30);
}

TEST_CASE("gradients of scores add up over dynamic axes as over fixed ones", "[gradient]") {
    const auto q = derived::filled(tensor<double, d_q>{}, 21);
    const auto k = derived::filled(tensor<double, d_k>{}, 22);
    const bilinear fixed{derived::filled(tensor<double, d_q, d_k>{}, 23)};
    const bilinear loose{tensor<double, dyn, dyn>(fixed.w)};
    const gradients a(fixed, q, k, 1.5);
    const gradients b(loose, q, k, 1.5);
    CHECK(a.dq == b.dq);
    CHECK(a.dk == b.dk);
    CHECK(a.dscore.w == b.dscore.w);
    static_assert(std::is_same_v<decltype(b.dscore), bilinear<tensor<double, dyn, dyn>>>);
}
