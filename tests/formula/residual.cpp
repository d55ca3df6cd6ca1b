// SPDX-License-Identifier: BSL-1.0
#include "attest/formula/residual.hpp"
#include "attest/formula/layer_norm.hpp"
#include "attest/formula/matmul.hpp"
#include "catch.hpp"

#include <string>
#include <type_traits>

using namespace attest;

namespace {

using dyn = axis<dynamic>;
struct n : axis<2> {};
struct d : axis<3> {};
struct d_v : axis<4> {};

// A084: the sublayer must keep the shape; d_v ≠ d without W_O does not.
static_assert(rules::residual_keeps_shape::holds<d, d> && !rules::residual_keeps_shape::holds<d, d_v>);
// A085: element by element.
constexpr tensor<int, n, d> x{{1, 2, 3}, {4, 5, 6}}, f_of_x{{10, 20, 30}, {-4, -5, -6}};
static_assert(residual(x, f_of_x) == tensor<int, n, d>{{11, 22, 33}, {0, 0, 0}});
static_assert(residual(x[0], f_of_x[1]) == tensor<int, d>{-3, -3, -3});
static_assert(std::is_same_v<decltype(residual(x, tensor<int, axis<2>, dyn>{})), tensor<int, n, d>>);
static_assert(std::is_same_v<decltype(residual(tensor<int, axis<2>, dyn>{}, x)), tensor<int, n, d>>, "the named axis names the sum's");

} // namespace

TEST_CASE("a sublayer of zeros changes nothing", "[formula]") {
    const tensor<double, n, d> values{{0.1, -2e-300, 1e300}, {3, 4, 5}};
    CHECK(residual(values, tensor<double, n, d>{}) == values);
    CHECK(residual(tensor<double, n, d>{}, values) == values);
}

TEST_CASE("A084: another shape is refused, with the two lengths", "[formula]") {
    const auto two_by_three = tensor<double, dyn, dyn>::with_lengths(2, 3);
    const std::string sentence = rules::residual_keeps_shape::sentence;
    CHECK_THROWS_WITH(residual(two_by_three, tensor<double, dyn, dyn>::with_lengths(2, 4)), sentence + " (3 and 4)");
    CHECK_THROWS_WITH(residual(two_by_three, tensor<double, dyn, dyn>::with_lengths(5, 3)), sentence + " (2 and 5)");
    CHECK_THROWS_WITH(residual(two_by_three[0], tensor<double, axis<1>>{}), sentence + " (3 and 1)");
    CHECK(residual(tensor<double, dyn, dyn>{}, tensor<double, dyn, dyn>{}).length(0) == 0);
}

TEST_CASE("A081, A082: post-norm and pre-norm are two blocks, not one", "[formula]") {
    const tensor<double, n, d> start{{1, 2, 6}, {4, 5, -6}};
    const auto sublayer = [](const tensor<double, n, d>& rows) { return matmul(rows, tensor<double, d, d>{{0, 1, 0}, {0, 0, 1}, {1, 0, 0}}); };
    const auto post = layer_norm(residual(start, sublayer(start)));
    const auto pre = residual(start, sublayer(layer_norm(start)));
    for (std::size_t i = 0; i < 2; ++i) {
        CHECK(mean(post[i]) == Approx(0).margin(1e-15)); // a post-norm block hands on normalised rows; a pre-norm block does not
        CHECK(variance(post[i]) == Approx(1).epsilon(1e-4));
        CHECK(mean(pre[i]) == Approx(mean(start[i])));
        CHECK(variance(pre[i]) > 2);
    }
}
