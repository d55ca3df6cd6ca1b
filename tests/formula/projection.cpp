// SPDX-License-Identifier: BSL-1.0
#include "attest/formula/projection.hpp"
#include "attest/arithmetic/real.hpp"
#include "catch.hpp"

#include <random>
#include <string>
#include <type_traits>

using namespace attest;

namespace {

struct n : axis<3> {};
struct d_in : axis<4> {};
struct d_out : axis<2> {};
using dyn = axis<dynamic>;

template <class S, class... Axes> const tensor<S, Axes...>& of();
static_assert(std::is_same_v<decltype(project_in_out(of<float, n, d_in>(), of<float, d_in, d_out>())), tensor<float, n, d_out>>, "X W");
static_assert(std::is_same_v<decltype(project_out_in(of<float, n, d_in>(), of<float, d_out, d_in>())), tensor<float, n, d_out>>, "W x for each row");
static_assert(std::is_same_v<decltype(project_in_out(of<float, d_in>(), of<float, d_in, d_out>())), tensor<float, d_out>>);
static_assert(std::is_same_v<decltype(project_out_in(of<float, d_in>(), of<float, d_out, d_in>())), tensor<float, d_out>>);
static_assert(std::is_same_v<decltype(project_in_out(of<float, n, d_in>(), of<float, d_in, d_out>(), of<float, d_out>())), tensor<float, n, d_out>>);

constexpr tensor<int, d_in> x{1, 2, 3, 4};
constexpr tensor<int, d_out, d_in> w{{1, 0, 0, 1}, {0, 1, 1, 0}};
static_assert(project_out_in(x, w) == tensor<int, d_out>{5, 5});
static_assert(project_in_out(x, transpose(w)) == tensor<int, d_out>{5, 5});

template <class X> X filled(X of_zeros, std::uint64_t seed) { // whole numbers: products and sums are exact in every arithmetic here
    std::mt19937_64 generator(seed);
    for (std::size_t e = 0; e < of_zeros.elements(); ++e) of_zeros.data()[e] = typename X::value_type(static_cast<int>(generator() % 65) - 32);
    return of_zeros;
}

} // namespace

TEMPLATE_TEST_CASE("W x of the lecture and X W of the paper are transposes of each other (B016)", "[formula]", int, float, double, real<50>) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        const auto tokens = filled(tensor<TestType, n, d_in>{}, seed);
        const auto weights = filled(tensor<TestType, d_in, d_out>{}, seed + 100);
        const auto y = project_in_out(tokens, weights);
        CHECK(y == project_out_in(tokens, transpose(weights)));
        CHECK(y == matmul(tokens, weights));
        CHECK(transpose(y) == matmul(transpose(weights), transpose(tokens))); // (X W)ᵀ = Wᵀ Xᵀ
        for (std::size_t i = 0; i < 3; ++i) { // token by token
            CHECK(project_in_out(tokens[i], weights) == y[i]);
            CHECK(project_out_in(tokens[i], transpose(weights)) == y[i]);
        }
    }
}

TEST_CASE("a square W shows the difference: X W is not X Wᵀ", "[formula]") {
    const tensor<int, axis<1>, axis<2>> token{{1, 0}};
    const tensor<int, axis<2>, axis<2>> square{{1, 2}, {3, 4}};
    CHECK(project_in_out(token, square) == tensor<int, axis<1>, axis<2>>{{1, 2}});
    CHECK(project_out_in(token, square) == tensor<int, axis<1>, axis<2>>{{1, 3}});
}

TEST_CASE("a bias is added to every row; an empty dynamic one is none", "[formula]") {
    const auto tokens = filled(tensor<int, n, d_in>{}, 1);
    const auto weights = filled(tensor<int, d_in, d_out>{}, 2);
    const auto b = filled(tensor<int, d_out>{}, 3);
    const auto plain = project_in_out(tokens, weights), with = project_in_out(tokens, weights, b);
    for (std::size_t i = 0; i < 3; ++i)
        for (std::size_t o = 0; o < 2; ++o) CHECK(with(i, o) == plain(i, o) + b(o));
    CHECK(project_out_in(tokens, transpose(weights), b) == with);
    CHECK(project_in_out(tokens, weights, tensor<int, dyn>(b)) == with);
    CHECK(project_in_out(tokens, weights, tensor<int, dyn>{}) == plain);
    CHECK(project_in_out(tokens, weights, tensor<int, d_out>{}) == plain);
    // No outputs: an empty bias is the right one then.
    CHECK(project_in_out(tokens, tensor<int, d_in, axis<0>>{}, tensor<int, axis<0>>{}).elements() == 0);
}

TEST_CASE("projections on dynamic axes and of views have the same elements", "[formula]") {
    const auto tokens = filled(tensor<double, n, d_in>{}, 4);
    const auto weights = filled(tensor<double, d_in, d_out>{}, 5);
    const auto y = project_in_out(tokens, weights);
    CHECK(project_in_out(tensor<double, dyn, dyn>(tokens), tensor<double, dyn, dyn>(weights)) == y);
    const view<const double, d_out, d_in> turned(weights.data(), {}, {1, 2});
    CHECK(project_out_in(tokens, turned) == y);
    CHECK(project_in_out(tensor<double, dyn, d_in>{}, weights).length(0) == 0);
}

TEST_CASE("weights and biases that do not fit are the rule's error at run time", "[formula]") {
    const auto tokens = tensor<double, dyn, dyn>::with_lengths(3, 4), weights = tensor<double, dyn, dyn>::with_lengths(4, 2);
    const std::string in_out = rules::weight_row_for_each_input::sentence, out_in = rules::weight_column_for_each_input::sentence;
    CHECK_THROWS_WITH(project_in_out(tokens, transpose(weights)), in_out + " (4 and 2)");
    CHECK_THROWS_WITH(project_out_in(tokens, weights), out_in + " (4 and 2)");
    CHECK_THROWS_WITH(project_in_out(tokens[0], transpose(weights)), in_out + " (4 and 2)");
    CHECK_THROWS_WITH(project_out_in(tokens[0], weights), out_in + " (4 and 2)");
    CHECK_THROWS_WITH(project_in_out(tokens, weights, tensor<double, dyn>::with_lengths(3)), std::string(rules::bias_for_each_output::sentence) + " (2 and 3)");
    CHECK_THROWS_WITH(project_in_out(tokens, weights, tensor<double, axis<3>>{}), std::string(rules::bias_for_each_output::sentence) + " (2 and 3)");
}
