// SPDX-License-Identifier: BSL-1.0
#include "attest/gradient/feed_forward.hpp"
#include "catch.hpp"
#include "gradient/directions.hpp"

#include <string>
#include <type_traits>

using namespace attest;
using derived::big;
using exactly::rational;

namespace {

struct n : axis<3> {};
struct d_model : axis<4> {};
struct d_ff : axis<5> {};
using dyn = axis<dynamic>;
template <class S> using tokens = tensor<S, n, d_model>;
template <class S> using weights = feed_forward_weights<S, d_model, d_ff>;

template <class W> const W& any();
using gradient_f = decltype(feed_forward_vjp(any<tokens<float>>(), any<weights<float>>(), activation{}, any<tokens<float>>()));
static_assert(std::is_same_v<decltype(gradient_f::dx), tokens<float>> && std::is_same_v<decltype(gradient_f::dw), weights<float>>);

// In a constant expression, by hand: H = X W_1 = (2, -1), A = (2, 0), dA = dY W_2ᵀ = (3, 4), dH = (3, 0).
constexpr bool by_hand() {
    const tensor<double, axis<1>, axis<1>> x{{1}}, dy{{1}};
    const feed_forward_weights<double, axis<1>, axis<2>> w{{{2, -1}}, {}, {{3}, {4}}, {}};
    const auto g = feed_forward_vjp(x, w, activation{}, dy);
    return g.dx(0, 0) == 6 && g.dw.w_1(0, 0) == 3 && g.dw.w_1(0, 1) == 0 && g.dw.b_1(0) == 3 && g.dw.b_1(1) == 0 && g.dw.w_2(0, 0) == 2 && g.dw.w_2(1, 0) == 0 &&
           g.dw.b_2(0) == 1;
}
static_assert(by_hand());

} // namespace

TEST_CASE("with ReLU the gradient of FFN is that of dual numbers, exactly, for every element of x and of each weight", "[gradient]") {
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
        const auto x = layers::filled<tokens<rational>>(seed);
        const auto w = layers::filled_weights<weights<rational>>(seed + 10);
        const auto dy = layers::filled<tokens<rational>>(seed + 20);
        const auto g = feed_forward_vjp(x, w, activation{}, dy);
        auto x_dual = derived::constants(x);
        weights<dual<rational>> w_dual{derived::constants(w.w_1), derived::constants(w.b_1), derived::constants(w.w_2), derived::constants(w.b_2)};
        const auto value = [&] { return derived::along(dy, feed_forward(x_dual, w_dual)); };
        derived::check_derivative(x_dual, g.dx, value);
        derived::check_derivative(w_dual.w_1, g.dw.w_1, value);
        derived::check_derivative(w_dual.b_1, g.dw.b_1, value);
        derived::check_derivative(w_dual.w_2, g.dw.w_2, value);
        derived::check_derivative(w_dual.b_2, g.dw.b_2, value);
    }
}

TEST_CASE("at a hidden component of exactly 0 ReLU hands nothing back, as in PyTorch", "[gradient]") {
    const tensor<rational, axis<1>, axis<1>> x{{rational(1)}}, dy{{rational(1)}};
    const feed_forward_weights<rational, axis<1>, axis<1>> w{{{rational(2)}}, {rational(-2)}, {{rational(3)}}, {rational(0)}};
    const auto g = feed_forward_vjp(x, w, activation{}, dy);
    CHECK(g.dx(0, 0) == rational(0));
    CHECK(g.dw.w_1(0, 0) == rational(0));
    CHECK(g.dw.b_1(0) == rational(0));
    CHECK(g.dw.w_2(0, 0) == rational(0));
    CHECK(g.dw.b_2(0) == rational(1));
}

TEST_CASE("with each form of GELU the gradient of FFN is that of dual numbers at 50 digits", "[gradient]") {
    const auto x = layers::filled<tokens<big>>(31);
    const auto w = layers::filled_weights<weights<big>>(32);
    const auto dy = layers::filled<tokens<big>>(33);
    for (const auto form : {gelu_form::erf, gelu_form::tanh, gelu_form::sigmoid}) {
        const activation act{activation_kind::gelu, form};
        const auto g = feed_forward_vjp(x, w, act, dy);
        auto x_dual = layers::filled<tokens<dual<big>>>(31);
        auto w_dual = layers::filled_weights<weights<dual<big>>>(32);
        std::vector<directed::moving> all{directed::tensor_of("x", x_dual, g.dx)};
        directed::add_weights(all, "", w_dual, g.dw);
        directed::check(all, [&] { return derived::along(dy, feed_forward(x_dual, w_dual, act)); });
    }
}

TEST_CASE("dynamic axes give the same gradient, and an absent bias has one of full length", "[gradient]") {
    const auto x = layers::filled<tokens<rational>>(41);
    auto w = layers::filled_weights<weights<rational>>(42);
    w.b_1 = {}, w.b_2 = {};
    const auto dy = layers::filled<tokens<rational>>(43);
    using matrix = tensor<rational, dyn, dyn>;
    const feed_forward_weights<rational, dyn, dyn> v{matrix(w.w_1), {}, matrix(w.w_2), {}};
    const auto g = feed_forward_vjp(x, w, activation{}, dy);
    const auto h = feed_forward_vjp(matrix(x), v, activation{}, matrix(dy));
    CHECK(h.dx == g.dx);
    CHECK(h.dw.w_1 == g.dw.w_1);
    CHECK(h.dw.b_1 == g.dw.b_1);
    CHECK(h.dw.w_2 == g.dw.w_2);
    CHECK(h.dw.b_2 == g.dw.b_2);
    CHECK(h.dw.b_2.length(0) == 4);
    const std::string sentence = rules::gradient_has_shape_of_output::sentence;
    CHECK_THROWS_WITH(feed_forward_vjp(matrix(x), v, activation{}, matrix::with_lengths(3, 5)), sentence + " (5 and 4)");
    CHECK_THROWS_WITH(feed_forward_vjp(matrix(x), v, activation{}, matrix::with_lengths(2, 4)), sentence + " (2 and 3)");
}
