// SPDX-License-Identifier: BSL-1.0
#include "attest/shape/extents.hpp"
#include "catch.hpp"

#include <limits>
#include <string>
#include <type_traits>

using namespace attest;

namespace {

struct n : axis<3> {};
struct d : axis<5> {};
struct m : axis<dynamic> {};

static_assert(std::is_empty_v<extents<n, d>>, "fixed lengths take no room");
static_assert(!std::is_empty_v<extents<n, m>>);
static_assert(extents<n, d>{}[0] == 3 && extents<n, d>{}[1] == 5 && extents<n, d>{}.elements() == 15);
static_assert(extents<>{}.elements() == 1 && extents<>::rank == 0 && extents<>::fixed, "a number has one element");
static_assert(extents<n, m>{}.elements() == 0 && extents<n, m>{}[0] == 3, "dynamic axes start at 0");
static_assert(extents<n, m, d>(3, 4, 5).elements() == 60 && !extents<n, m>::fixed);
static_assert(extents<axis<0>, d>{}.elements() == 0);
static_assert(std::is_same_v<nth_axis<1, n, d, m>::type, d>);
static_assert(!std::is_constructible_v<extents<n, d>, int> && !std::is_constructible_v<extents<n, d>, int, int, int>, "all lengths, or none");
static_assert(!std::is_convertible_v<int, extents<m>>, "a number is not a shape by accident");

} // namespace

TEST_CASE("lengths of fixed axes must be those of their types", "[shape]") {
    CHECK(extents<n, m>(3, 9)[1] == 9);
    CHECK_THROWS_WITH((extents<n, m>(4, 9)), std::string(rules::length_of_fixed_axis::sentence) + " (4 and 3)");
    CHECK_THROWS_WITH((extents<n, d>(3, 6)), std::string(rules::length_of_fixed_axis::sentence) + " (6 and 5)");
    CHECK_NOTHROW(extents<n, d>(3, 5));
}

TEST_CASE("a shape whose elements cannot be counted is refused, not wrapped around", "[shape]") {
    constexpr std::size_t half = std::size_t{1} << (std::numeric_limits<std::size_t>::digits / 2);
    CHECK(extents<m, m>(half, half - 1).elements() == half * (half - 1));
    CHECK_THROWS_AS((extents<m, m>(half, half)), shape_error);
    CHECK_THROWS_AS((extents<m, n>(std::numeric_limits<std::size_t>::max() / 2, 3)), shape_error);
    CHECK_THROWS_AS((extents<m, n>(-1, 3)), shape_error); // a negative number of rows is a huge one
    CHECK(extents<m, m>(0, std::numeric_limits<std::size_t>::max()).elements() == 0);
}
