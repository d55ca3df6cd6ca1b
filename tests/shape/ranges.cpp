// SPDX-License-Identifier: BSL-1.0
#include "attest/shape/ranges.hpp"
#include "catch.hpp"

#include <algorithm>
#include <numeric>
#include <range/v3/algorithm/equal.hpp>
#include <range/v3/numeric/accumulate.hpp>
#include <range/v3/numeric/inner_product.hpp>
#include <range/v3/range/conversion.hpp>
#include <range/v3/view/drop.hpp>
#include <range/v3/view/enumerate.hpp>
#include <range/v3/view/filter.hpp>
#include <range/v3/view/reverse.hpp>
#include <range/v3/view/transform.hpp>
#include <range/v3/view/zip.hpp>
#include <ranges>
#include <type_traits>
#include <vector>

using namespace attest;

namespace {

struct n : axis<3> {};
struct d : axis<4> {};
struct some : axis<dynamic> {};

using matrix = tensor<double, n, d>;
template <class X> using rows_of = decltype(attest::rows(std::declval<X>()));
template <class X> using columns_of = decltype(attest::columns(std::declval<X>()));
template <class X> using elements_of = decltype(attest::elements(std::declval<X>()));
using indices_of_n = decltype(attest::indices<0>(std::declval<const matrix&>()));

// Both libraries take all four, as random-access ranges that know their size and are views.
template <class R>
constexpr bool is_a_range_everywhere = ::ranges::random_access_range<R> && ::ranges::sized_range<R> && ::ranges::view_<R> &&
                                       ::ranges::viewable_range<R> && std::ranges::random_access_range<R> && std::ranges::sized_range<R> &&
                                       std::ranges::common_range<R> && std::ranges::viewable_range<R>;
static_assert(is_a_range_everywhere<rows_of<matrix&>> && is_a_range_everywhere<rows_of<const matrix&>>);
static_assert(is_a_range_everywhere<columns_of<matrix&>> && is_a_range_everywhere<columns_of<const matrix&>>);
static_assert(is_a_range_everywhere<elements_of<matrix&>> && is_a_range_everywhere<elements_of<const matrix&>>);
static_assert(is_a_range_everywhere<elements_of<view<const double, n, some>>> && is_a_range_everywhere<elements_of<view<double, n>>>);
static_assert(is_a_range_everywhere<rows_of<view<double, some, some>>> && is_a_range_everywhere<columns_of<view<double, some, some>>>);
static_assert(is_a_range_everywhere<indices_of_n>);

static_assert(std::is_same_v<::ranges::range_reference_t<elements_of<matrix&>>, double&>);
static_assert(std::is_same_v<::ranges::range_reference_t<elements_of<const matrix&>>, const double&>);
static_assert(std::is_same_v<::ranges::range_value_t<rows_of<matrix&>>, view<double, d>>);
static_assert(std::is_same_v<::ranges::range_value_t<columns_of<const matrix&>>, view<const double, n>>);
static_assert(std::is_same_v<::ranges::range_value_t<indices_of_n>, std::size_t>);

// A range of a temporary would outlive it.
template <class X> concept has_rows = requires { attest::rows(std::declval<X>()); };
template <class X> concept has_columns = requires { attest::columns(std::declval<X>()); };
template <class X> concept has_elements = requires { attest::elements(std::declval<X>()); };
static_assert(has_rows<matrix&> && has_rows<const matrix&> && !has_rows<matrix> && !has_rows<const matrix>);
static_assert(has_columns<matrix&> && has_columns<const matrix&> && !has_columns<matrix> && !has_columns<const matrix>);
static_assert(has_elements<matrix&> && has_elements<const matrix&> && !has_elements<matrix> && !has_elements<const matrix>);
static_assert(has_rows<view<double, n, d>> && has_columns<const view<double, n, d>> && has_elements<view<double, n>>, "views are no owners");
static_assert(!has_rows<tensor<double, n>&> && !has_rows<int>);

matrix counting() {
    matrix x;
    for (std::size_t i = 0; i < 3; ++i)
        for (std::size_t j = 0; j < 4; ++j) x(i, j) = static_cast<double>(10 * i + j);
    return x;
}

constexpr double sum_in_a_constant_expression() {
    const tensor<double, n, axis<2>> x{{1, 2}, {3, 4}, {5, 6}};
    double sum = 0;
    for (const auto row : attest::rows(x))
        for (const double value : attest::elements(row)) sum += value;
    for (const auto column : attest::columns(x)) sum += 100 * column(0);
    for (const std::size_t i : attest::indices<0>(x)) sum += 1000 * static_cast<double>(i);
    return sum;
}
static_assert(sum_in_a_constant_expression() == 21 + 300 + 3000);

} // namespace

TEST_CASE("rows, columns, elements and indices are what their names say", "[shape]") {
    matrix x = counting();
    std::size_t i = 0;
    for (const auto row : attest::rows(x)) {
        for (std::size_t j = 0; j < 4; ++j) CHECK(&row(j) == &x(i, j));
        ++i;
    }
    CHECK(i == 3);
    std::size_t j = 0;
    for (const auto column : attest::columns(x)) {
        REQUIRE(column.length(0) == 3);
        for (std::size_t k = 0; k < 3; ++k) CHECK(&column(k) == &x(k, j));
        ++j;
    }
    CHECK(j == 4);
    CHECK(::ranges::equal(attest::elements(x), std::vector<double>{0, 1, 2, 3, 10, 11, 12, 13, 20, 21, 22, 23}));
    CHECK(::ranges::equal(attest::indices<1>(x), std::vector<std::size_t>{0, 1, 2, 3}));
    CHECK(attest::rows(x)[2](3) == 23);
    CHECK_FALSE(attest::rows(x).empty());
    CHECK(attest::elements(x).size() == 12);
}

TEST_CASE("elements of a view come in C order, whatever the strides", "[shape]") {
    matrix x = counting();
    const view<double, d, n> transposed(x.data(), {}, {1, 4});
    CHECK(::ranges::equal(attest::elements(transposed), std::vector<double>{0, 10, 20, 1, 11, 21, 2, 12, 22, 3, 13, 23}));
    auto deep = tensor<int, axis<2>, some, n>::with_lengths(2, 2, 3);
    std::iota(deep.data(), deep.data() + 12, 0);
    const view<int, axis<2>, some, n> same = deep;
    CHECK(::ranges::equal(attest::elements(same), attest::elements(deep)));
    const view<int, some, n, axis<2>> rotated(deep.data(), extents<some, n, axis<2>>(2, 3, 2), {3, 1, 6});
    CHECK(::ranges::equal(attest::elements(rotated), std::vector<int>{0, 6, 1, 7, 2, 8, 3, 9, 4, 10, 5, 11}));
}

TEST_CASE("range-v3's views make pipelines of them", "[shape]") {
    const matrix x = counting();
    namespace v = ::ranges::views;

    const auto row_sum = [](const auto& row) { return ::ranges::accumulate(attest::elements(row), 0.0); };
    CHECK((attest::rows(x) | v::transform(row_sum) | ::ranges::to<std::vector>()) == std::vector<double>{6, 46, 86});
    CHECK((attest::columns(x) | v::transform(row_sum) | v::reverse | ::ranges::to<std::vector>()) == std::vector<double>{39, 36, 33, 30});

    const auto even = [](double value) { return static_cast<int>(value) % 2 == 0; };
    CHECK((attest::elements(x) | v::filter(even) | v::drop(3) | ::ranges::to<std::vector>()) == std::vector<double>{12, 20, 22});

    double weighted = 0;
    for (const auto [i, row] : v::zip(attest::indices<0>(x), attest::rows(x))) weighted += static_cast<double>(i) * row(0);
    CHECK(weighted == 50);
    for (const auto [i, row] : v::enumerate(attest::rows(x))) CHECK(row(1) == x(i, 1));

    // A matrix product's entry, as an inner product of a row and a column.
    const tensor<double, d, n> y(view<const double, d, n>(x.data(), {}, {1, 4}));
    const auto inner = ::ranges::inner_product(attest::elements(attest::rows(x)[1]), attest::elements(attest::columns(y)[2]), 0.0);
    CHECK(inner == 10.0 * 20 + 11 * 21 + 12 * 22 + 13 * 23);

    // Written through.
    matrix doubled = x;
    for (double& value : attest::elements(doubled) | v::filter(even)) value = -1;
    CHECK(doubled(1, 2) == -1);
    CHECK(doubled(1, 1) == 11);
}

TEST_CASE("the standard's algorithms and views take them too", "[shape]") {
    matrix x = counting();
    std::ranges::reverse(attest::elements(x));
    CHECK(x(0, 0) == 23);
    std::ranges::sort(attest::elements(x));
    CHECK(x == counting());
    CHECK(std::accumulate(attest::elements(x).begin(), attest::elements(x).end(), 0.0) == 138);
    std::vector<double> firsts;
    for (const double first : attest::rows(x) | std::views::transform([](const auto& row) { return row(0); }) | std::views::reverse)
        firsts.push_back(first);
    CHECK(firsts == std::vector<double>{20, 10, 0});
    const auto indices = attest::indices<1>(x);
    CHECK(*std::ranges::find(indices, std::size_t{2}) == 2);
}

TEST_CASE("iterators count: the arithmetic of random access", "[shape]") {
    const matrix x = counting();
    const auto range = attest::elements(x);
    auto it = range.begin();
    CHECK(range.end() - it == 12);
    CHECK(*(it + 5) == it[5]);
    CHECK(*(5 + it) == 11);
    CHECK(*it++ == 0);
    CHECK(*++it == 2);
    CHECK(*it-- == 2);
    CHECK(*--it == 0);
    it += 7;
    it -= 2;
    CHECK(*it == 11);
    CHECK(it > range.begin());
    CHECK(it <= it + 0);
    decltype(it) singular{}, assigned{};
    CHECK(singular == assigned);
    assigned = it;
    CHECK(assigned == it);
}

TEST_CASE("empty tensors have empty ranges", "[shape]") {
    const tensor<double, some, d> none;
    CHECK(attest::rows(none).empty());
    CHECK(attest::elements(none).begin() == attest::elements(none).end());
    CHECK(attest::columns(none).size() == 4); // of no elements each
    CHECK(attest::columns(none)[3].length(0) == 0);
    const view<const double, some, d> same = none;
    CHECK(attest::elements(same).empty());
}
