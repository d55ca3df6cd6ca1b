// SPDX-License-Identifier: BSL-1.0
#include "attest/shape/axis.hpp"
#include "catch.hpp"

#include <tuple>
#include <type_traits>

using namespace attest;

namespace {

struct n3 : axis<3> {};
struct m3 : axis<3> {};
struct d4 : axis<4> {};
struct length : axis<dynamic> {};
struct other_length : axis<dynamic> {};

// Axes for a table of all pairs: what the rules of meeting say about each, written out by hand, row by row.
using all = std::tuple<n3, m3, d4, axis<3>, axis<4>, length, other_length, axis<dynamic>>;
constexpr bool expected[8][8] = {
    // n3 m3 d4 axis<3> axis<4> length other axis<dynamic>
    {true, false, false, true, false, false, false, true},  // n3
    {false, true, false, true, false, false, false, true},  // m3
    {false, false, true, false, true, false, false, true},  // d4
    {true, true, false, true, false, true, true, true},     // axis<3>
    {false, false, true, false, true, true, true, true},    // axis<4>
    {false, false, false, true, true, true, false, true},   // length
    {false, false, false, true, true, false, true, true},   // other_length
    {true, true, true, true, true, true, true, true},       // axis<dynamic>
};
template <std::size_t I, std::size_t J> constexpr bool meets_at = meets<std::tuple_element_t<I, all>, std::tuple_element_t<J, all>>;
template <std::size_t I, std::size_t... J> constexpr bool row_agrees(std::index_sequence<J...>) {
    return ((meets_at<I, J> == expected[I][J]) && ...);
}
template <std::size_t... I> constexpr bool table_agrees(std::index_sequence<I...> all_indices) { return (row_agrees<I>(all_indices) && ...); }
static_assert(table_agrees(std::make_index_sequence<8>{}));

// Laws of the joined axis: one of the two; the same in both orders where only one is named; never loses a name or a fixed length to nothing.
template <class A, class B> constexpr bool joins() {
    if constexpr (meets<A, B>) {
        using forward = joined<A, B>;
        using backward = joined<B, A>;
        static_assert(std::is_same_v<forward, A> || std::is_same_v<forward, B>);
        static_assert(std::is_same_v<forward, backward>);
        static_assert(!is_anonymous<forward> || (is_anonymous<A> && is_anonymous<B>));
        static_assert(!is_dynamic<forward> || !is_anonymous<forward> || (is_dynamic<A> && is_dynamic<B>));
    }
    return true;
}
template <std::size_t I, std::size_t... J> constexpr bool row_joins(std::index_sequence<J...>) {
    return (joins<std::tuple_element_t<I, all>, std::tuple_element_t<J, all>>() && ...);
}
template <std::size_t... I> constexpr bool all_join(std::index_sequence<I...> all_indices) { return (row_joins<I>(all_indices) && ...); }
static_assert(all_join(std::make_index_sequence<8>{}));

static_assert(std::is_same_v<joined<n3, axis<3>>, n3> && std::is_same_v<joined<axis<3>, n3>, n3>);
static_assert(std::is_same_v<joined<axis<3>, axis<dynamic>>, axis<3>> && std::is_same_v<joined<axis<dynamic>, axis<3>>, axis<3>>);
static_assert(std::is_same_v<joined<length, axis<3>>, length>, "the named axis over the anonymous one comes first");

static_assert(axis_type<n3> && axis_type<axis<0>> && axis_type<length>);
struct not_an_axis {};
struct looks_like_one {
    static constexpr std::size_t size = 3;
};
struct lies_about_its_length : axis<3> {
    static constexpr std::size_t size = 4;
};
static_assert(!axis_type<not_an_axis> && !axis_type<looks_like_one> && !axis_type<lies_about_its_length> && !axis_type<int>);
static_assert(std::is_empty_v<n3>);

struct n3_again : n3 {}; // a name derived from a name is another axis
static_assert(axis_type<n3_again> && !is_anonymous<n3_again> && !meets<n3, n3_again>);

} // namespace

TEST_CASE("axes meet as the table says, in both orders", "[shape]") {
    for (std::size_t i = 0; i < 8; ++i)
        for (std::size_t j = 0; j < 8; ++j) {
            CAPTURE(i, j);
            CHECK(expected[i][j] == expected[j][i]);
        }
    CHECK(is_dynamic<length>);
    CHECK_FALSE(is_dynamic<n3>);
}
