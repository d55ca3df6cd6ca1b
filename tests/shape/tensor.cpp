// SPDX-License-Identifier: BSL-1.0
#include "attest/shape/tensor.hpp"
#include "catch.hpp"

#include <string>
#include <type_traits>
#include <utility>

using namespace attest;

namespace {

struct n : axis<3> {};
struct m : axis<3> {};
struct d : axis<2> {};
struct batch : axis<2> {};
struct some : axis<dynamic> {};

// Where the elements live.
static_assert(sizeof(tensor<double, n, d>) == 6 * sizeof(double), "a small fixed tensor is its elements and nothing else");
static_assert(sizeof(tensor<double, axis<2048>>) == 16384, "16 KiB lie inside");
static_assert(sizeof(tensor<double, axis<2049>>) < 64, "more lie on the heap");
static_assert(sizeof(tensor<double, some>) < 64);
static_assert(std::is_trivially_copyable_v<tensor<float, n>>);

// Constant expressions: small results ...
constexpr tensor<double, n, d> fixed{{1, 2}, {3, 4}, {5, 6}};
static_assert(fixed(0, 1) == 2 && fixed(2, 0) == 5 && fixed.length(0) == 3 && fixed.length(1) == 2 && fixed.elements() == 6);
static_assert(fixed[1](1) == 4 && fixed.at(2, 1) == 6 && fixed == fixed);
constexpr tensor<double, n> vector{1.5, 2, -3};
static_assert(vector(0) == 1.5 && vector[2] == -3);
constexpr tensor<double> number; // rank 0
static_assert(number() == 0 && number.elements() == 1 && number == number);
static_assert(tensor<double, axis<0>>{}.elements() == 0);
static_assert(tensor<double, axis<1>, d>{{7, 8}}(0, 1) == 8, "one row is a row, not two lengths");
static_assert(tensor<double, n, axis<1>>{{7}, {8}, {9}}(2, 0) == 9);

// ... and heap tensors inside one: 64 KiB, copied, moved, assigned and grown.
constexpr double sum_on_the_heap() {
    tensor<double, axis<64>, axis<128>> big;
    big(63, 127) = 1;
    auto copy = big;
    copy(0, 0) = 2;
    auto moved = std::move(copy);
    big = moved;
    tensor<double, some, d> dynamic_rows = tensor<double, some, d>::with_lengths(5, 2);
    dynamic_rows(4, 1) = 4;
    dynamic_rows = tensor<double, some, d>(dynamic_rows);
    return big(0, 0) + big(63, 127) + dynamic_rows(4, 1) + dynamic_rows(0, 0);
}
static_assert(sum_on_the_heap() == 7);

// What must not compile, asked politely.
template <class X> concept can_slice_a_temporary = requires { std::declval<X>()[0]; };
using matrix = tensor<double, n, d>;
static_assert(!can_slice_a_temporary<matrix> && !can_slice_a_temporary<const matrix>, "the slice would outlive its tensor");
static_assert(can_slice_a_temporary<matrix&> && can_slice_a_temporary<const matrix&> && can_slice_a_temporary<view<double, n, d>>);
static_assert(!std::is_convertible_v<matrix, view<double, n, d>> && std::is_convertible_v<matrix&, view<double, n, d>>);
static_assert(std::is_convertible_v<const matrix&, view<const double, n, d>> && !std::is_convertible_v<const matrix&, view<double, n, d>>);
static_assert(!std::is_convertible_v<tensor<float, n>, tensor<double, n>>, "another scalar only in so many words");
template <class X> concept has_element_ij = requires(X x) { x(0, 0); };
static_assert(has_element_ij<matrix> && !has_element_ij<tensor<double, n>>, "as many indices as axes");

} // namespace

TEST_CASE("elements lie in C order, for every rank", "[shape]") {
    auto x = tensor<int, batch, some, n, d>::with_lengths(2, 4, 3, 2);
    REQUIRE(x.elements() == 48);
    int next = 0;
    for (std::size_t a = 0; a < 2; ++a)
        for (std::size_t b = 0; b < 4; ++b)
            for (std::size_t i = 0; i < 3; ++i)
                for (std::size_t j = 0; j < 2; ++j) x(a, b, i, j) = next++;
    for (int e = 0; e < 48; ++e) CHECK(x.data()[e] == e);
}

TEST_CASE("slices along leading axes of rank 3 and 4 look at the tensor", "[shape]") {
    auto x = tensor<int, batch, some, n, d>::with_lengths(2, 4, 3, 2);
    for (int e = 0; e < 48; ++e) x.data()[e] = e;
    static_assert(std::is_same_v<decltype(x[0]), view<int, some, n, d>>);
    static_assert(std::is_same_v<decltype(x[0][0]), view<int, n, d>>);
    static_assert(std::is_same_v<decltype(x[0][0][0]), view<int, d>>);
    static_assert(std::is_same_v<decltype(x[0][0][0][0]), int&>);
    static_assert(std::is_same_v<decltype(std::as_const(x)[0][0][0][0]), const int&>);
    for (std::size_t a = 0; a < 2; ++a)
        for (std::size_t b = 0; b < 4; ++b)
            for (std::size_t i = 0; i < 3; ++i)
                for (std::size_t j = 0; j < 2; ++j) {
                    CAPTURE(a, b, i, j);
                    CHECK(x[a][b][i][j] == x(a, b, i, j));
                    CHECK(&x[a](b, i, j) == &x(a, b, i, j));
                    CHECK(&x[a][b](i, j) == &x(a, b, i, j));
                }
    CHECK(x[1].length(0) == 4);
    x[1][2](0, 1) = -1;
    CHECK(x(1, 2, 0, 1) == -1);

    tensor<int, batch, n, d> fixed_rank_3;
    fixed_rank_3[1][2][1] = 9;
    CHECK(fixed_rank_3(1, 2, 1) == 9);
    static_assert(std::is_same_v<decltype(fixed_rank_3[0]), view<int, n, d>>);
}

TEST_CASE("access by at is checked in every axis", "[shape]") {
    auto x = tensor<double, some, d>::with_lengths(3, 2);
    CHECK_NOTHROW(x.at(2, 1));
    x.at(2, 1) = 5;
    CHECK(std::as_const(x).at(2, 1) == 5);
    const std::string sentence = rules::index_in_range::sentence;
    CHECK_THROWS_WITH(x.at(3, 0), sentence + " (3 and 3)");
    CHECK_THROWS_WITH(x.at(0, 2), sentence + " (2 and 2)");
    CHECK_THROWS_AS(x.at(-1, 0), shape_error);
    CHECK_THROWS_AS(std::as_const(x).at(0, 7), shape_error);
    tensor<double, some> empty;
    CHECK_THROWS_AS(empty.at(0), shape_error);
}

TEST_CASE("copies convert the scalar and keep the elements, whatever the storage", "[shape]") {
    tensor<float, n, d> narrow{{1.5F, 2}, {3, 4}, {5, 6}};
    const tensor<double, n, d> wide(narrow);
    CHECK(wide(0, 0) == 1.5);
    CHECK(wide == narrow);
    const tensor<double, some, axis<dynamic>> on_the_heap = [&] {
        auto to = tensor<double, some, axis<dynamic>>::with_lengths(3, 2);
        for (std::size_t e = 0; e < 6; ++e) to.data()[e] = narrow.data()[e];
        return to;
    }();
    const tensor<double, axis<3>, d> back(on_the_heap);
    CHECK(back == narrow);
    const tensor<double, axis<dynamic>, axis<dynamic>> without_names(narrow);
    CHECK(without_names.length(0) == 3);
    CHECK(without_names == narrow);

    auto deep = tensor<int, batch, n, axis<dynamic>, d>::with_lengths(2, 3, 2, 2);
    for (int e = 0; e < 24; ++e) deep.data()[e] = e;
    const tensor<long, axis<2>, n, axis<2>, d> deep_copy(deep);
    for (int e = 0; e < 24; ++e) CHECK(deep_copy.data()[e] == e);
    CHECK(deep_copy == deep);

    CHECK(tensor<double>(tensor<float>{})() == 0);
}

TEST_CASE("a copy into fixed axes from dynamic ones of another length is the rule's error", "[shape]") {
    const auto four = tensor<double, axis<dynamic>, d>::with_lengths(4, 2);
    CHECK_THROWS_WITH((tensor<double, n, d>(four)), std::string(rules::same_shape::sentence) + " (3 and 4)");
    CHECK_NOTHROW(tensor<double, axis<dynamic>, d>(four));
}

TEST_CASE("braces with the wrong number of elements for a dynamic tensor set its length", "[shape]") {
    const tensor<double, some> x{1, 2, 3, 4};
    CHECK(x.length(0) == 4);
    const tensor<double, some, axis<2>> rows{{1, 2}, {3, 4}, {5, 6}};
    CHECK(rows.length(0) == 3);
    CHECK(rows(2, 1) == 6);
}

TEST_CASE("equality compares lengths, then elements", "[shape]") {
    const tensor<double, some> a{1, 2}, b{1, 2, 3}, c{1, 2};
    CHECK(a == c);
    CHECK(a != b);
    CHECK(tensor<double, some>{} == tensor<double, some>{});
    // Empty tensors of different shapes are not equal.
    CHECK_FALSE(tensor<double, axis<dynamic>, some>::with_lengths(0, 2) == tensor<double, axis<dynamic>, some>::with_lengths(0, 3));
    CHECK_FALSE(tensor<double, axis<dynamic>, n, d>::with_lengths(1, 3, 2) == tensor<double, axis<dynamic>, n, d>::with_lengths(2, 3, 2));
    const double nan = std::numeric_limits<double>::quiet_NaN();
    CHECK_FALSE(tensor<double, n>{1, nan, 2} == tensor<double, n>{1, nan, 2});
    CHECK(tensor<double, n>{0.0, 1, 2} == tensor<double, n>{-0.0, 1, 2});
    // A tensor and a view of it, a named axis and an anonymous one.
    tensor<double, n, d> x{{1, 2}, {3, 4}, {5, 6}};
    const view<const double, n, d> v = x;
    CHECK(v == x);
    CHECK(x == tensor<double, axis<3>, axis<2>>{{1, 2}, {3, 4}, {5, 6}});
    x(2, 1) = 0;
    CHECK(x != tensor<double, n, d>{{1, 2}, {3, 4}, {5, 6}});
    tensor<int, batch, n, d> p, q;
    CHECK(p == q);
    q(1, 2, 1) = 1;
    CHECK(p != q);
}

TEST_CASE("a moved or self-assigned heap tensor keeps its elements where it should", "[shape]") {
    tensor<double, some> a{1, 2, 3};
    const double* const elements = a.data();
    tensor<double, some> b = std::move(a);
    CHECK(b.data() == elements); // no copy
    auto& same = b;
    b = same;
    CHECK(b == tensor<double, some>{1, 2, 3});
    a = b;
    a(0) = 7;
    CHECK(b(0) == 1);
}

TEST_CASE("a tensor of bool holds bools, not bits", "[shape]") {
    auto flags = tensor<bool, some, some>::with_lengths(3, 3);
    bool& one = flags(1, 2);
    one = true;
    CHECK(flags(1, 2));
    CHECK_FALSE(flags(2, 1));
}

namespace {

// A class whose default is not all bits 0.
struct begins_at_one {
    int value = 1;
    constexpr begins_at_one() = default;
    constexpr explicit begins_at_one(int x) : value{x} {}
};
struct six : attest::axis<6> {};
struct three : attest::axis<3> {};

constexpr auto with_two_rows_set() {
    attest::tensor<begins_at_one, six, three> t;
    for (std::size_t i = 0; i < 2; ++i)
        for (std::size_t c = 0; c < 3; ++c) t(i + 1, c) = begins_at_one(5);
    return t;
}
template <class X> constexpr int sum_of(const X& x) {
    int sum = 0;
    for (std::size_t i = 0; i < x.elements(); ++i) sum += x.data()[i].value;
    return sum;
}

} // namespace

// GCC 12 forgot the last of them once the function had been used in a constant expression.
TEST_CASE("elements begin as their class does, to the last, in constant expressions and beside them", "[tensor]") {
    constexpr int at_compile_time = sum_of(with_two_rows_set());
    STATIC_REQUIRE(at_compile_time == 12 * 1 + 6 * 5);
    CHECK(sum_of(with_two_rows_set()) == 12 * 1 + 6 * 5);
}
