// SPDX-License-Identifier: BSL-1.0
#include "attest/formula/position.hpp"
#include "attest/arithmetic/real.hpp"
#include "attest/formula/matmul.hpp"
#include "attest/shape/ranges.hpp"
#include "catch.hpp"

#include <cmath>
#include <string>
#include <type_traits>

using namespace attest;

namespace {

using dyn = axis<dynamic>;
struct n : axis<3> {};
struct d : axis<4> {};
struct L_max : axis<5> {};

// B031: PE(0) = (0, 1, 0, 1, …); in constant expressions too.
constexpr auto table = sinusoidal<double, n, d>();
static_assert(table(0, 0) == 0 && table(0, 1) == 1 && table(0, 2) == 0 && table(0, 3) == 1);
static_assert(sinusoidal_pairs<double, n, d>() == table);
static_assert(std::is_same_v<decltype(sinusoidal<float>(3, 4)), tensor<float, dyn, dyn>>);
static_assert(std::is_same_v<decltype(sinusoidal<float, n, d>()), tensor<float, n, d>>);
// B030, B035: what does not fit.
static_assert(rules::even_dimension::holds<d> && !rules::even_dimension::holds<axis<5>>);
static_assert(rules::position_in_table::holds<n, L_max> && !rules::position_in_table::holds<L_max, n>);
static_assert(std::is_same_v<decltype(add_positions(tensor<int, n, axis<4>>{}, tensor<int, L_max, d>{})), tensor<int, n, d>>);

const real<50> tiny = ldexp(real<50>(1), -160);

} // namespace

TEST_CASE("B030: sine and cosine of t over base^(2i/d)", "[formula]") {
    for (const std::size_t width : {1U, 2U, 5U, 16U, 33U, 512U}) {
        const auto in_double = sinusoidal<double>(40, width);
        const auto in_float = sinusoidal<float>(40, width);
        const auto exact = sinusoidal<real<50>>(40, width);
        REQUIRE(in_double.length(0) == 40);
        REQUIRE(in_double.length(1) == width);
        for (std::size_t t = 0; t < 40; ++t)
            for (std::size_t c = 0; c < width; ++c) {
                const double pair = static_cast<double>(c / 2);
                const double angle = static_cast<double>(t) / std::pow(10000.0, 2 * pair / static_cast<double>(width));
                const double wanted = static_cast<double>(exact(t, c));
                CAPTURE(width, t, c, angle);
                CHECK(std::abs(wanted - (c % 2 == 0 ? std::sin(angle) : std::cos(angle))) < 1e-13); // a look from outside
                // The errors that the page names.
                CHECK(std::abs(static_cast<double>(real<50>(in_double(t, c)) - exact(t, c))) <= (40 * angle + 2) * 0x1p-53);
                CHECK(std::abs(static_cast<double>(in_float(t, c)) - wanted) <= (40 * angle + 2) * 0x1p-24);
            }
    }
}

TEST_CASE("B031: norms, scalar products and the map from one position to a later one", "[formula]") {
    constexpr std::size_t width = 16;
    const auto pe = sinusoidal<real<50>>(30, width);
    for (std::size_t t = 0; t < 30; ++t) {
        CAPTURE(t);
        CHECK(abs(dot(pe[t], pe[t]) - real<50>(8)) < tiny); // d/2
    }
    for (std::size_t s = 0; s < 20; ++s)
        for (std::size_t t = 0; t < 20; ++t) CHECK(abs(dot(pe[s], pe[t]) - dot(pe[s + 9], pe[t + 9])) < tiny);
    // PE(t + k) = R_k PE(t): the rotations of RoPE with the same frequencies, backward, since the sine comes first.
    for (std::size_t k = 0; k < 5; ++k)
        for (std::size_t t = 0; t < 20; ++t) {
            const auto moved = rope<real<50>>{}.rotate_back(pe[t], real<50>(static_cast<int>(k)));
            for (std::size_t c = 0; c < width; ++c) CHECK(abs(moved(c) - pe(t + k, c)) < tiny);
        }
}

TEST_CASE("B032: the largest period for d = 512 is 9646.6 times 2 pi, not 10000", "[formula]") {
    const auto pe = sinusoidal<real<50>>(2, 512);
    const auto between = [&](double low, double high) {
        return attest::sin(real<50>(1) / real<50>(high)) < pe(1, 510) && pe(1, 510) < attest::sin(real<50>(1) / real<50>(low));
    };
    CHECK(between(9646.55, 9646.65));
    CHECK_FALSE(between(9999.0, 10001.0));
    // One frequency for a pair of dimensions, not for a dimension: sin² + cos² = 1 in each.
    for (std::size_t i = 0; i < 256; ++i) CHECK(abs(pe(1, 2 * i) * pe(1, 2 * i) + pe(1, 2 * i + 1) * pe(1, 2 * i + 1) - real<50>(1)) < tiny);
}

TEST_CASE("an odd dimension has one sine more than cosines; the strict form refuses it", "[formula]") {
    const auto odd = sinusoidal<real<50>>(7, 5);
    for (std::size_t t = 0; t < 7; ++t)
        for (std::size_t i = 0; i < 3; ++i) {
            const auto angle = real<50>(static_cast<int>(t)) / attest::exp(real<50>(static_cast<int>(2 * i)) / real<50>(5) * attest::log(real<50>(10000)));
            CHECK(abs(odd(t, 2 * i) - attest::sin(angle)) < tiny);
            if (i < 2) CHECK(abs(odd(t, 2 * i + 1) - attest::cos(angle)) < tiny);
        }
    CHECK(sinusoidal<double, n, axis<5>>() == sinusoidal<double>(3, 5));
    CHECK_THROWS_WITH(sinusoidal_pairs<double>(3, 5), std::string(rules::even_dimension::sentence) + " (5 and 2)");
    CHECK(sinusoidal_pairs<double>(3, 6) == sinusoidal<double>(3, 6));
    CHECK(sinusoidal<double>(0, 6).length(1) == 6);
    CHECK(sinusoidal<double>(3, 0).length(0) == 3);
}

TEST_CASE("another base", "[formula]") {
    const auto pe = sinusoidal<double>(9, 4, 100.0); // periods 1 and 10
    for (std::size_t t = 0; t < 9; ++t) {
        CHECK(pe(t, 2) == Approx(std::sin(static_cast<double>(t) / 10)).margin(1e-15));
        CHECK(pe(t, 1) == Approx(std::cos(static_cast<double>(t))).margin(1e-15));
    }
    CHECK(sinusoidal<double, n, d>(100.0) == sinusoidal<double>(3, 4, 100.0));
}

TEST_CASE("B034: a learned position is a row of a table", "[formula]") {
    const tensor<int, n, d> x{{1, 2, 3, 4}, {5, 6, 7, 8}, {0, 0, 0, 0}};
    tensor<int, L_max, d> p;
    for (std::size_t t = 0; t < 5; ++t)
        for (std::size_t c = 0; c < 4; ++c) p(t, c) = static_cast<int>(100 * (t + 1) + 10 * c);
    for (std::size_t offset = 0; offset <= 2; ++offset) {
        const auto sum = add_positions(x, p, offset);
        for (std::size_t t = 0; t < 3; ++t)
            for (std::size_t c = 0; c < 4; ++c) CHECK(sum(t, c) == x(t, c) + static_cast<int>(100 * (t + offset + 1) + 10 * c));
    }
    CHECK(add_positions(tensor<int, dyn, dyn>(x), tensor<int, dyn, dyn>(p), 1) == add_positions(x, p, 1));
}

TEST_CASE("B035: no sequence goes beyond the table", "[formula]") {
    const auto table_of_5 = tensor<double, dyn, dyn>::with_lengths(5, 4);
    const auto of_length = [](std::size_t length, std::size_t width = 4) { return tensor<double, dyn, dyn>::with_lengths(length, width); };
    const std::string too_long = rules::position_in_table::sentence, other_width = rules::position_component_for_each_component::sentence;
    CHECK(add_positions(of_length(5), table_of_5).length(0) == 5);
    CHECK(add_positions(of_length(0), table_of_5, 5).length(0) == 0);
    CHECK_THROWS_WITH(add_positions(of_length(6), table_of_5), too_long + " (6 and 5)");
    CHECK_THROWS_WITH(add_positions(of_length(5), table_of_5, 1), too_long + " (6 and 5)");
    CHECK_THROWS_AS(add_positions(of_length(2), table_of_5, static_cast<std::size_t>(-1)), shape_error); // and not beyond std::size_t
    CHECK_THROWS_WITH(add_positions(of_length(5, 3), table_of_5), other_width + " (3 and 4)");
    CHECK_THROWS_WITH(add_positions(tensor<double, n, d>{}, tensor<double, L_max, d>{}, 3), too_long + " (6 and 5)");
}
