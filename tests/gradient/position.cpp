// SPDX-License-Identifier: BSL-1.0
#include "attest/gradient/position.hpp"
#include "attest/formula/matmul.hpp"
#include "gradient/derivatives.hpp"

#include <cmath>
#include <string>
#include <type_traits>

using namespace attest;
using exactly::rational;
using dyn = axis<dynamic>;

namespace {

using derived::big;
struct n : axis<3> {};
struct L_max : axis<6> {};
struct d : axis<4> {};

static_assert(std::is_same_v<decltype(rope_rows_vjp(tensor<float, n, d>{}, rope_rotation<float>{})), tensor<float, n, d>>);
static_assert(std::is_same_v<decltype(add_positions_vjp(tensor<float, n, axis<4>>{}, tensor<float, L_max, d>{})),
                             add_positions_gradient<tensor<float, n, d>, tensor<float, L_max, d>>>);

} // namespace

TEST_CASE("the gradient of RoPE is that of dual numbers, for both pairings, offsets, positions and parts", "[gradient]") {
    const big positions[] = {big(1) / big(3), big(-2), big(40)};
    const dual<big> dual_positions[] = {dual<big>(positions[0]), dual<big>(positions[1]), dual<big>(positions[2])};
    for (const auto pairing : {rope_pairing::interleaved, rope_pairing::half})
        for (const std::size_t rotated : {0U, 2U, 4U})
            for (const bool given : {false, true}) {
                CAPTURE(static_cast<int>(pairing), rotated, given);
                const auto x = derived::filled(tensor<big, n, axis<6>>{}, 51), dy = derived::filled(x, 52);
                const rope_rotation<big> rotation{{pairing, big(10000), rotated}, 7, given ? positions : nullptr};
                const rope_rotation<dual<big>> dual_rotation{{pairing, dual<big>(big(10000)), rotated}, 7, given ? dual_positions : nullptr};
                auto dual_x = derived::constants(x);
                derived::check_derivative(dual_x, rope_rows_vjp(dy, rotation), [&] { return derived::along(dy, rope_rows(dual_x, dual_rotation)); });
            }
}

TEST_CASE("the gradient of RoPE is a rotation: it keeps norms, and undoes", "[gradient]") {
    const auto dy = derived::filled(tensor<double, n, d>{}, 53);
    const rope_rotation<double> rotation{{rope_pairing::half}, 5};
    const auto dx = rope_rows_vjp(dy, rotation), again = rope_rows(dx, rotation);
    for (std::size_t i = 0; i < 3; ++i) {
        CHECK(dot(dx[i], dx[i]) == Approx(dot(dy[i], dy[i])).epsilon(1e-14));
        for (std::size_t c = 0; c < 4; ++c) CHECK(again(i, c) == Approx(dy(i, c)).margin(1e-14));
    }
    CHECK(rope_rows_vjp(tensor<double, dyn, dyn>{}, rotation).length(0) == 0);
}

TEST_CASE("the gradient of learned positions goes to the rows that were used", "[gradient]") {
    for (std::size_t offset = 0; offset <= 3; ++offset) {
        const auto x = derived::filled(tensor<rational, n, d>{}, 54), dy = derived::filled(x, 55);
        const auto table = derived::filled(tensor<rational, L_max, d>{}, 56);
        const auto gradient = add_positions_vjp(dy, table, offset);
        auto dual_x = derived::constants(x);
        auto dual_table = derived::constants(table);
        const auto value = [&] { return derived::along(dy, add_positions(dual_x, dual_table, offset)); };
        derived::check_derivative(dual_x, gradient.dx, value);
        derived::check_derivative(dual_table, gradient.dtable, value);
    }
    // A gradient of −0 stays −0.
    const auto zero = add_positions_vjp(tensor<double, axis<1>, axis<1>>{{-0.0}}, tensor<double, axis<1>, axis<1>>{});
    CHECK(std::signbit(zero.dx(0, 0)));
    CHECK(std::signbit(zero.dtable(0, 0)));
}

TEST_CASE("the gradient of learned positions refuses what the value refuses", "[gradient]") {
    const auto dy = tensor<double, dyn, dyn>::with_lengths(3, 4);
    const auto of_lengths = [](std::size_t rows, std::size_t width) { return tensor<double, dyn, dyn>::with_lengths(rows, width); };
    CHECK_THROWS_WITH(add_positions_vjp(dy, of_lengths(4, 4), 2), std::string(rules::position_in_table::sentence) + " (5 and 4)");
    CHECK_THROWS_WITH(add_positions_vjp(dy, of_lengths(4, 5)), std::string(rules::position_component_for_each_component::sentence) + " (4 and 5)");
}

TEST_CASE("the gradient of learned positions hands on dy to the bit, its negative zeros too", "[gradient]") {
    tensor<double, n, d> dy;
    for (std::size_t t = 0; t < dy.length(0); ++t)
        for (std::size_t c = 0; c < dy.length(1); ++c) dy(t, c) = c == 0 ? -0.0 : static_cast<double>(t) - 0.5;
    const auto gradient = add_positions_vjp(dy, tensor<double, L_max, d>{}, 2);
    for (std::size_t t = 0; t < dy.length(0); ++t) {
        CHECK(std::signbit(gradient.dx(t, 0)));
        CHECK(gradient.dx(t, 1) == dy(t, 1));
    }
}
