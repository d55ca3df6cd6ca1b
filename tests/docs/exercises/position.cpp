// SPDX-License-Identifier: BSL-1.0
// Answers of the exercises in docs/position.md.
#include "attest/arithmetic/rational.hpp"
#include "attest/formula/position.hpp"
#include "attest/formula/score.hpp"
#include "catch.hpp"

#include <cmath>

namespace {

using attest::rational;

// [exercise 1]
struct n : attest::axis<6> {};
struct d : attest::axis<4> {};
constexpr auto PE = attest::sinusoidal_pairs<double, n, d>();
static_assert(PE[0] == attest::tensor<double, d>{0, 1, 0, 1});
TEST_CASE("a position's norm") {
    for (std::size_t t = 0; t < n::size; ++t) CHECK(std::abs(attest::dot(PE[t], PE[t]) - 2) < 1e-15);
}
// [/exercise 1]

// [exercise 2]
TEST_CASE("products of sinusoids see the difference alone") {
    CHECK(std::abs(attest::dot(PE[5], PE[3]) - attest::dot(PE[2], PE[0])) < 1e-15);
    // But (x + PE(s)) · (x + PE(t)) sees more: here x = (1, 0, 0, 0).
    const auto with_x = [](std::size_t t) { return attest::tensor<double, d>{1 + PE(t, 0), PE(t, 1), PE(t, 2), PE(t, 3)}; };
    CHECK(std::abs(attest::dot(with_x(5), with_x(3)) - attest::dot(with_x(2), with_x(0))) > 1);
}
// [/exercise 2]

// [exercise 3]
using pair = attest::tensor<rational, attest::axis<2>>;
constexpr pair turned(pair x, int times) { // by the angle with cosine 3/5 and sine 4/5
    const rational cosine = rational::ratio(3, 5), sine = rational::ratio(4, 5);
    for (int t = 0; t < times; ++t) x = {x(0) * cosine - x(1) * sine, x(0) * sine + x(1) * cosine};
    return x;
}
constexpr pair q{3, 4}, k{0, 2};
constexpr rational score(int m, int n) { return attest::dot_product{}(turned(q, m), turned(k, n)); }
static_assert(score(5, 3) == rational::ratio(88, 25) && score(7, 5) == score(5, 3) && score(2, 0) == score(5, 3));
static_assert(!(score(3, 5) == score(5, 3))); // the difference has a sign
// [/exercise 3]

// [exercise 4]
using six = attest::tensor<double, attest::axis<6>>;
constexpr six x{1, 2, 3, 4, 5, 6};
constexpr six halves_of(const six& a) { return {a(0), a(2), a(4), a(1), a(3), a(5)}; } // (2i, 2i + 1) becomes (i, i + 3)
constexpr attest::rope<double> interleaved{attest::rope_pairing::interleaved}, half{attest::rope_pairing::half};
static_assert(half.rotate(halves_of(x), 7.0) == halves_of(interleaved.rotate(x, 7.0)));
static_assert(!(half.rotate(x, 7.0) == interleaved.rotate(x, 7.0)));
// [/exercise 4]

// [exercise 5]
TEST_CASE("a query that forgets how many keys the cache holds") {
    const attest::tensor<double, attest::axis<2>> query{3, 4}, key{0, 2};
    const attest::rope<double> turn;
    const auto at = [&](double m, double n) { return attest::dot_product{}(turn.rotate(query, m), turn.rotate(key, n)); };
    CHECK(std::abs(at(7, 5) - at(2, 0)) < 1e-14);  // right: two positions apart
    CHECK(std::abs(at(0, 5) - at(-5, 0)) < 1e-14); // with position 0: five apart, on the other side
    CHECK(std::abs(at(7, 5) - at(0, 5)) > 1);
}
// [/exercise 5]

} // namespace
