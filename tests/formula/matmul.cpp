// SPDX-License-Identifier: BSL-1.0
#include "attest/formula/matmul.hpp"
#include "attest/arithmetic/real.hpp"
#include "catch.hpp"

#include <random>
#include <string>
#include <type_traits>
#include <vector>

using namespace attest;

namespace {

struct n : axis<3> {};
struct m : axis<4> {};
struct p : axis<2> {};
using dyn = axis<dynamic>;

// Small integers: every order of summation gives the same exact result, so that the twin may sum as it likes.
template <class S, class X> void fill(X& x, std::mt19937_64& generator) {
    for (std::size_t e = 0; e < x.elements(); ++e) x.data()[e] = S(static_cast<int>(generator() % 19) - 9);
}

// Shapes are decided by the compiler.
template <class S, class... Axes> const tensor<S, Axes...>& of();
static_assert(std::is_same_v<decltype(matmul(of<double, n, m>(), of<double, m, p>())), tensor<double, n, p>>);
static_assert(std::is_same_v<decltype(matmul(of<float, n, m>(), of<float, dyn, p>())), tensor<float, n, p>>);
static_assert(std::is_same_v<decltype(transpose(of<double, n, m>())), tensor<double, m, n>>);
static_assert(std::is_same_v<decltype(dot(of<float, n>(), of<float, n>())), float>);
static_assert(!rules::inner_dimension::holds<m, n> && rules::inner_dimension::holds<m, m>);

// At compile time, on both compilers, 32 KiB of product on the heap among it.
constexpr tensor<int, axis<2>, axis<3>> left{{1, 2, 3}, {4, 5, 6}};
static_assert(matmul(left, transpose(left)) == tensor<int, axis<2>, axis<2>>{{14, 32}, {32, 77}});
static_assert(transpose(transpose(left)) == left && dot(left[0], left[1]) == 32);
constexpr double corner_of_a_large_product() {
    tensor<double, axis<64>, axis<2>> a;
    for (std::size_t i = 0; i < 64; ++i) a(i, 0) = static_cast<double>(i), a(i, 1) = 1;
    const auto product = matmul(a, transpose(a));
    static_assert(sizeof(product) < 100, "64 x 64 doubles lie on the heap");
    return product(63, 63) + product(0, 63);
}
static_assert(corner_of_a_large_product() == 63 * 63 + 1 + 1);

} // namespace

TEMPLATE_TEST_CASE("the product is the sum over the inner index, in every scalar", "[formula]", int, float, double, real<50>) {
    std::mt19937_64 generator(21);
    tensor<TestType, n, m> a;
    tensor<TestType, m, p> b;
    fill<TestType>(a, generator);
    fill<TestType>(b, generator);
    const auto product = matmul(a, b);
    for (std::size_t i = 0; i < 3; ++i)
        for (std::size_t j = 0; j < 2; ++j) {
            TestType sum(0);
            for (std::size_t c = 4; c-- > 0;) sum = sum + b(c, j) * a(i, c);
            CAPTURE(i, j);
            CHECK(product(i, j) == sum);
            CHECK(product(i, j) == dot<rules::inner_dimension>(a[i], view<const TestType, m>(b.data() + j, {}, {2})));
        }
}

TEST_CASE("laws of the product: associative, distributive, reversed by transposing, the identity neutral", "[formula]") {
    std::mt19937_64 generator(22);
    for (int round = 0; round < 50; ++round) {
        tensor<double, n, m> a, a2;
        tensor<double, m, p> b;
        tensor<double, p, n> c;
        tensor<double, m, m> identity;
        fill<double>(a, generator);
        fill<double>(a2, generator);
        fill<double>(b, generator);
        fill<double>(c, generator);
        for (std::size_t i = 0; i < 4; ++i) identity(i, i) = 1;
        tensor<double, n, m> sum;
        for (std::size_t e = 0; e < 12; ++e) sum.data()[e] = a.data()[e] + a2.data()[e];
        CHECK(matmul(matmul(a, b), c) == matmul(a, matmul(b, c)));
        CHECK(transpose(matmul(a, b)) == matmul(transpose(b), transpose(a)));
        CHECK(matmul(a, identity) == a);
        const auto ab = matmul(a, b), a2b = matmul(a2, b), both = matmul(sum, b);
        for (std::size_t e = 0; e < 6; ++e) CHECK(both.data()[e] == ab.data()[e] + a2b.data()[e]);
    }
}

TEST_CASE("products on fixed and dynamic axes and on views with strides have the same bits", "[formula]") {
    std::mt19937_64 generator(23);
    std::uniform_real_distribution<double> any(-1, 1);
    tensor<double, n, m> a;
    tensor<double, m, p> b;
    for (std::size_t e = 0; e < 12; ++e) a.data()[e] = any(generator);
    for (std::size_t e = 0; e < 8; ++e) b.data()[e] = any(generator);
    const auto fixed = matmul(a, b);
    CHECK(matmul(tensor<double, dyn, dyn>(a), tensor<double, dyn, dyn>(b)) == fixed);
    CHECK(matmul(tensor<double, axis<3>, dyn>(a), b) == fixed);
    const tensor<double, m, n> a_by_columns = transpose(a);
    const view<const double, n, m> a_as_transpose(a_by_columns.data(), {}, {1, 3});
    CHECK(matmul(a_as_transpose, b) == fixed);
    std::vector<double> padded(4 * 5); // rows of b with room between them
    for (std::size_t i = 0; i < 4; ++i)
        for (std::size_t j = 0; j < 2; ++j) padded[i * 5 + j] = b(i, j);
    CHECK(matmul(a, view<double, m, p>(padded.data(), {}, {5, 1})) == fixed);
}

TEST_CASE("factors that do not fit are the rule's error at run time", "[formula]") {
    const auto a = tensor<double, dyn, dyn>::with_lengths(3, 4), b = tensor<double, dyn, dyn>::with_lengths(3, 4);
    CHECK_THROWS_WITH(matmul(a, b), std::string(rules::inner_dimension::sentence) + " (4 and 3)");
    CHECK_THROWS_WITH(matmul<rules::value_for_each_key>(a, b), std::string(rules::value_for_each_key::sentence) + " (4 and 3)");
    CHECK_THROWS_WITH(matmul(a, tensor<double, n, p>{}), std::string(rules::inner_dimension::sentence) + " (4 and 3)");
    CHECK_THROWS_WITH(dot(a[0], tensor<double, n>{}), std::string(rules::query_key_dimension::sentence) + " (4 and 3)");
    CHECK_NOTHROW(matmul(a, tensor<double, m, p>{}));
}

TEST_CASE("products without an inner index, without rows or without columns", "[formula]") {
    const auto zero = matmul(tensor<double, n, axis<0>>{}, tensor<double, axis<0>, p>{});
    CHECK(zero == tensor<double, n, p>{});
    CHECK(matmul(tensor<double, dyn, m>{}, tensor<double, m, p>{}).length(0) == 0);
    CHECK(dot(tensor<double, dyn>{}, tensor<double, dyn>{}) == 0);
    CHECK(transpose(tensor<double, dyn, m>{}).length(1) == 0);
}
