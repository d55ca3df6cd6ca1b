// SPDX-License-Identifier: BSL-1.0
#include "attest/shape/view.hpp"
#include "attest/shape/tensor.hpp"
#include "catch.hpp"

#include <array>
#include <numeric>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

using namespace attest;

namespace {

struct n : axis<3> {};
struct d : axis<4> {};
struct some : axis<dynamic> {};

template <class M, class... Axes> concept can_shape = requires(M m) { shaped<Axes...>(static_cast<M&&>(m)); };
static_assert(can_shape<std::vector<double>&, n, d> && can_shape<const std::vector<double>&, n, d> && can_shape<std::array<float, 12>&, n, d>);
static_assert(!can_shape<std::vector<double>, n, d> && !can_shape<const std::vector<double>, n, d> && !can_shape<std::array<double, 12>, n, d>,
              "a temporary that owns its elements would leave a view of nothing");
static_assert(can_shape<std::span<double>, n, d> && can_shape<std::span<const double>, n, d>, "a span is no owner");
static_assert(!can_shape<std::vector<double>&, n, some>, "a dynamic axis needs its length");
static_assert(!std::is_convertible_v<view<const double, n>, view<double, n>> && std::is_convertible_v<view<double, n>, view<const double, n>>);

constexpr int through_a_view() {
    int memory[12] = {};
    const auto x = shaped<n, d>(&memory[0]);
    for (std::size_t i = 0; i < 3; ++i)
        for (std::size_t j = 0; j < 4; ++j) x(i, j) = static_cast<int>(10 * i + j);
    const view<const int, n, d> reading = x;
    return memory[11] + reading[1](2) + memory[4 * 2 + 1];
}
static_assert(through_a_view() == 23 + 12 + 21);

} // namespace

TEST_CASE("a shape over a vector, an array, a span and a pointer sees the same memory", "[shape]") {
    std::vector<double> memory(12);
    std::iota(memory.begin(), memory.end(), 0.0);
    const auto over_vector = shaped<n, d>(memory);
    const auto over_span = shaped<n, d>(std::span<const double>(memory));
    const auto over_pointer = shaped<some, d>(memory.data(), 3, 4);
    const auto over_const = shaped<n, some>(std::as_const(memory), 3, 4);
    static_assert(std::is_same_v<decltype(over_vector), const view<double, n, d>>);
    static_assert(std::is_same_v<decltype(over_span), const view<const double, n, d>>);
    static_assert(std::is_same_v<decltype(over_const), const view<const double, n, some>>);
    for (std::size_t i = 0; i < 3; ++i)
        for (std::size_t j = 0; j < 4; ++j) {
            CAPTURE(i, j);
            const double* const element = &memory[i * 4 + j];
            CHECK(&over_vector(i, j) == element);
            CHECK(&over_span(i, j) == element);
            CHECK(&over_pointer(i, j) == element);
            CHECK(&over_const[i][j] == element);
        }
    over_vector(2, 3) = -1;
    CHECK(memory[11] == -1);
    CHECK(over_vector.elements() == 12);
}

TEST_CASE("memory of another size is refused, with both numbers", "[shape]") {
    std::vector<float> memory(11);
    const std::string sentence = rules::memory_fits_shape::sentence;
    CHECK_THROWS_WITH((shaped<n, d>(memory)), sentence + " (11 and 12)");
    CHECK_THROWS_WITH((shaped<some, d>(memory, 2, 4)), sentence + " (11 and 8)");
    CHECK_THROWS_WITH((shaped<n, d>(std::span(memory).first(10))), sentence + " (10 and 12)");
    CHECK_THROWS_WITH((shaped<n, some>(memory, 4, 4)), std::string(rules::length_of_fixed_axis::sentence) + " (4 and 3)");
    // 2^32 rows of 2^32: the product is 0 modulo 2^64, and an empty memory must not pass for it.
    std::vector<float> none;
    CHECK_THROWS_AS((shaped<some, axis<dynamic>>(none, std::size_t{1} << 32, std::size_t{1} << 32)), shape_error);
}

TEST_CASE("strides: a transpose, every other column and rows from last to first are views of the same memory", "[shape]") {
    std::vector<int> memory(12);
    std::iota(memory.begin(), memory.end(), 0);
    const auto x = shaped<n, d>(memory);
    const view<int, d, n> transposed(memory.data(), {}, {1, 4});
    const view<int, n, axis<2>> even_columns(memory.data(), {}, {4, 2});
    const view<int, n, d> upside_down(memory.data() + 8, {}, {-4, 1});
    const view<int, n, d> all_the_same_row(memory.data() + 4, {}, {0, 1});
    for (std::size_t i = 0; i < 3; ++i)
        for (std::size_t j = 0; j < 4; ++j) {
            CAPTURE(i, j);
            CHECK(transposed(j, i) == x(i, j));
            CHECK(transposed[j][i] == x(i, j));
            CHECK(even_columns(i, j / 2) == x(i, j / 2 * 2));
            CHECK(upside_down[2 - i](j) == x(i, j));
            CHECK(all_the_same_row[i][j] == x(1, j));
        }
    CHECK(transposed.stride(0) == 1);
    CHECK(transposed[1].stride(0) == 4);
    // A tensor made of a view holds the elements in C order.
    const tensor<int, d, n> copy(transposed);
    CHECK(copy == transposed);
    CHECK(copy.data()[1] == 4);
}

TEST_CASE("slices keep strides and dynamic lengths up to rank 4", "[shape]") {
    std::vector<int> memory(2 * 3 * 4 * 5);
    std::iota(memory.begin(), memory.end(), 0);
    using dyn = axis<dynamic>;
    const auto x = shaped<dyn, dyn, dyn, dyn>(memory, 2, 3, 4, 5);
    // The layout batch, position, head, component, seen as batch, head, position, component.
    const view<int, dyn, dyn, dyn, dyn> by_head(memory.data(), extents<dyn, dyn, dyn, dyn>(2, 4, 3, 5), {60, 5, 20, 1});
    for (std::size_t b = 0; b < 2; ++b)
        for (std::size_t i = 0; i < 3; ++i)
            for (std::size_t h = 0; h < 4; ++h)
                for (std::size_t c = 0; c < 5; ++c) {
                    CAPTURE(b, i, h, c);
                    CHECK(by_head[b][h][i][c] == x(b, i, h, c));
                    CHECK(by_head[b](h, i, c) == x[b][i][h][c]);
                }
    CHECK(by_head[0].length(0) == 4);
    CHECK(by_head[0][0].length(0) == 3);
    CHECK(by_head[0][0][0].length(0) == 5);
}

TEST_CASE("views check indices by at, and look on when their memory changes", "[shape]") {
    std::array<double, 12> memory{};
    const auto x = shaped<n, d>(memory);
    CHECK_THROWS_AS(x.at(3, 0), shape_error);
    CHECK_THROWS_AS(x.at(0, 4), shape_error);
    memory[5] = 2.5;
    CHECK(x.at(1, 1) == 2.5);
    const auto copy = x; // copies no elements
    copy(1, 1) = 3;
    CHECK(memory[5] == 3);
}
