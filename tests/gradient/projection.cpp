// SPDX-License-Identifier: BSL-1.0
#include "attest/gradient/projection.hpp"
#include "catch.hpp"
#include "gradient/derivatives.hpp"

#include <string>
#include <type_traits>

using namespace attest;
using exactly::rational;

namespace {

struct n : axis<3> {};
struct d_in : axis<4> {};
struct d_out : axis<2> {};
using dyn = axis<dynamic>;

template <class S, class... Axes> const tensor<S, Axes...>& of();
using in_out = decltype(project_in_out_vjp(of<float, n, d_in>(), of<float, d_in, d_out>(), of<float, n, d_out>()));
static_assert(std::is_same_v<decltype(in_out::dx), tensor<float, n, d_in>>);
static_assert(std::is_same_v<decltype(in_out::dw), tensor<float, d_in, d_out>>);
static_assert(std::is_same_v<decltype(in_out::db), tensor<float, d_out>>);
using out_in = decltype(project_out_in_vjp(of<float, n, d_in>(), of<float, d_out, d_in>(), of<float, n, d_out>()));
static_assert(std::is_same_v<decltype(out_in::dx), tensor<float, n, d_in>>);
static_assert(std::is_same_v<decltype(out_in::dw), tensor<float, d_out, d_in>>);
static_assert(std::is_same_v<decltype(out_in::db), tensor<float, d_out>>);
// Axes are those of what a gradient is of, also where dy has no names.
static_assert(std::is_same_v<decltype(project_in_out_vjp(of<float, n, d_in>(), of<float, d_in, d_out>(), of<float, dyn, dyn>())), in_out>);

// In a constant expression, by hand: Y = (1 2) (3 4)ᵀ = 11.
constexpr auto by_hand = project_in_out_vjp(tensor<int, axis<1>, axis<2>>{{1, 2}}, tensor<int, axis<2>, axis<1>>{{3}, {4}}, tensor<int, axis<1>, axis<1>>{{10}});
static_assert(by_hand.dx == tensor<int, axis<1>, axis<2>>{{30, 40}});
static_assert(by_hand.dw == tensor<int, axis<2>, axis<1>>{{10}, {20}});
static_assert(by_hand.db == tensor<int, axis<1>>{10});

} // namespace

TEST_CASE("gradients of a projection, in both layouts, are those of dual numbers, exactly", "[gradient]") {
    const auto x = derived::filled(tensor<rational, n, d_in>{}, 1);
    const auto w = derived::filled(tensor<rational, d_in, d_out>{}, 2);
    const auto b = derived::filled(tensor<rational, d_out>{}, 3);
    const auto dy = derived::filled(tensor<rational, n, d_out>{}, 4);
    auto dual_x = derived::constants(x);
    auto dual_w = derived::constants(w);
    auto dual_b = derived::constants(b);
    const auto gradient = project_in_out_vjp(x, w, dy);
    const auto value = [&] { return derived::along(dy, project_in_out(dual_x, dual_w, dual_b)); };
    derived::check_derivative(dual_x, gradient.dx, value);
    derived::check_derivative(dual_w, gradient.dw, value);
    derived::check_derivative(dual_b, gradient.db, value);

    const auto wt = transpose(w);
    auto dual_wt = derived::constants(wt);
    const auto turned = project_out_in_vjp(x, wt, dy);
    const auto turned_value = [&] { return derived::along(dy, project_out_in(dual_x, dual_wt, dual_b)); };
    derived::check_derivative(dual_x, turned.dx, turned_value);
    derived::check_derivative(dual_wt, turned.dw, turned_value);
    derived::check_derivative(dual_b, turned.db, turned_value);
    CHECK(turned.dx == gradient.dx);
    CHECK(turned.dw == transpose(gradient.dw));
    CHECK(turned.db == gradient.db);
}

TEST_CASE("gradients of a projection on dynamic axes, of views, of one row and of none", "[gradient]") {
    const auto x = derived::filled(tensor<rational, n, d_in>{}, 5);
    const auto w = derived::filled(tensor<rational, d_in, d_out>{}, 6);
    const auto dy = derived::filled(tensor<rational, n, d_out>{}, 7);
    const auto fixed = project_in_out_vjp(x, w, dy);
    const tensor<rational, dyn, dyn> dynamic_x(x), dynamic_w(w), dynamic_dy(dy);
    const auto dynamic_gradient = project_in_out_vjp(dynamic_x, dynamic_w, dynamic_dy);
    CHECK(dynamic_gradient.dx == fixed.dx);
    CHECK(dynamic_gradient.dw == fixed.dw);
    CHECK(dynamic_gradient.db == fixed.db);
    const auto of_view = project_in_out_vjp(view<const rational, n, d_in>(x), w, dy);
    CHECK(of_view.dw == fixed.dw);

    // The rows' shares in dW and db add up to the whole.
    auto dw = tensor<rational, d_in, d_out>{};
    auto db = tensor<rational, d_out>{};
    for (std::size_t i = 0; i < 3; ++i) {
        const view<const rational, axis<1>, d_in> row(x.data() + 4 * i, {});
        const auto one = project_in_out_vjp(row, w, view<const rational, axis<1>, d_out>(dy.data() + 2 * i, {}));
        CHECK(one.dx[0] == fixed.dx[i]);
        for (std::size_t c = 0; c < 4; ++c)
            for (std::size_t o = 0; o < 2; ++o) dw(c, o) = dw(c, o) + one.dw(c, o);
        for (std::size_t o = 0; o < 2; ++o) db(o) = db(o) + one.db(o);
    }
    CHECK(dw == fixed.dw);
    CHECK(db == fixed.db);

    const auto none = project_in_out_vjp(tensor<rational, dyn, d_in>{}, w, tensor<rational, dyn, d_out>{});
    CHECK(none.dx.length(0) == 0);
    CHECK(none.dw == tensor<rational, d_in, d_out>{});
    CHECK(none.db == tensor<rational, d_out>{});
}

TEST_CASE("a gradient of another shape than the product is the rule's error at run time", "[gradient]") {
    const auto x = tensor<double, dyn, dyn>::with_lengths(3, 4), w = tensor<double, dyn, dyn>::with_lengths(4, 2);
    const std::string sentence = rules::gradient_has_shape_of_output::sentence;
    CHECK_THROWS_WITH(project_in_out_vjp(x, w, tensor<double, dyn, dyn>::with_lengths(2, 2)), sentence + " (2 and 3)");
    CHECK_THROWS_WITH(project_in_out_vjp(x, w, tensor<double, dyn, dyn>::with_lengths(3, 4)), sentence + " (4 and 2)");
    CHECK_THROWS_WITH(project_out_in_vjp(x, transpose(w), tensor<double, dyn, dyn>::with_lengths(3, 4)), sentence + " (4 and 2)");
    CHECK_THROWS_WITH(project_in_out_vjp(x, transpose(w), tensor<double, dyn, dyn>::with_lengths(3, 4)),
                      std::string(rules::weight_row_for_each_input::sentence) + " (4 and 2)");
    CHECK_THROWS_WITH(project_out_in_vjp(x, w, tensor<double, dyn, dyn>::with_lengths(3, 4)),
                      std::string(rules::weight_column_for_each_input::sentence) + " (4 and 2)");
}
