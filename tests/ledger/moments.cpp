// SPDX-License-Identifier: BSL-1.0
// The algebra of moments: what hypotheses give, what they leave open, and those that no random variables meet.
#include "catch.hpp"

#include "proofs/moments.hpp"

#include <string>

using namespace attest::proofs;

namespace {

constexpr variable x(0), y(1), z(2);
constexpr constant m(0), s(1);
constexpr hypotheses two() { return hypotheses().finite(2); }
constexpr hypotheses independent() { return two().independent({x, y, z}); }

template <class F>
std::string said_of(const F& f) {
    try {
        static_cast<void>(f());
    } catch (const contradiction& e) {
        return e.what();
    }
    return "nothing";
}

} // namespace

TEST_CASE("what is assumed of moments, and nothing else, is known of them", "[ledger]") {
    STATIC_REQUIRE(independent().mean(x * y) == independent().mean(x) * independent().mean(y));
    STATIC_REQUIRE_FALSE(two().mean(x * y) == two().mean(x) * two().mean(y));
    STATIC_REQUIRE_FALSE(independent().mean(x * y).known());
    STATIC_REQUIRE(independent().given(x, 0).mean(x * y) == 0);
    STATIC_REQUIRE(two().standard({x}).variance(x) == 1);
    CHECK_THROWS_AS(two().mean(x * x * x), not_known);
    CHECK_THROWS_AS(two().mean(x * x * y), not_known);
}

TEST_CASE("a moment has one value", "[ledger]") {
    const std::string sentence = "a moment is given with two values";
    CHECK(said_of([] { return two().given(x, 0).given(x, 1); }) == sentence);
    CHECK(said_of([] { return two().standard({x}).given(x * x, 2); }) == sentence);
    CHECK(said_of([] { return two().given(x, m).standard({x}); }) == sentence);
    CHECK(said_of([] { return two().given(1, 2); }) == sentence);
    CHECK(said_of([] { return two().given(x, 0).given(x, 0).given(1, 1).standard({x}); }) == "nothing");
}

TEST_CASE("no variable is independent of itself", "[ledger]") {
    const std::string sentence = "a variable is independent of itself";
    CHECK(said_of([] { return two().independent({x, y, x}); }) == sentence);
    CHECK(said_of([] { return two().independent({x, y}, {y, z}); }) == sentence);
    CHECK(said_of([] { return two().independent({x, y}, {z}).independent({x, y, z}); }) == "nothing");
}

TEST_CASE("a moment of independent variables is the product of theirs", "[ledger]") {
    const std::string sentence = "a given moment is not what independence makes of it";
    CHECK(said_of([] { return independent().standard({x, y}).given(x * y, 1); }) == sentence);
    CHECK(said_of([] { return two().standard({x, y}).given(x * y, 1).independent({x, y}); }) == sentence);
    CHECK(said_of([] { return two().given(x * y, 1).independent({x, y}); }) == sentence); // E[x] and E[y] are not known
    CHECK(said_of([] { return independent().given(x * x, s).given(y * y, s).given(x * x * y * y, s); }) == sentence);
    CHECK(said_of([] { return two().given(x, m).given(y, m).independent({x, y}).given(x * y, m); }) == sentence);
    CHECK(said_of([] { return independent().given(x, m).given(y, m).given(x * y, m * m); }) == "nothing");
    CHECK(said_of([] { return independent().standard({x, y}).given(x * y, 0); }) == "nothing");
    CHECK(said_of([] { return two().standard({x, y}).given(x * y, 1); }) == "nothing"); // x = y
    // Of each independence, not of the first alone that splits the product.
    const auto of_three = [] { return two().given(x * y, 1).given(z, 1).given(x * y * z, 1).independent({x, y}, {z}); };
    CHECK(said_of([&] { return of_three(); }) == "nothing");
    CHECK(said_of([&] { return of_three().independent({x}, {y, z}); }) == sentence);
}

TEST_CASE("no variance is negative", "[ledger]") {
    const std::string sentence = "a variance is negative";
    CHECK(said_of([] { return two().given(x, 2).given(x * x, 3); }) == sentence);
    CHECK(said_of([] { return two().given(x * x, 3).given(x, 2); }) == sentence);
    CHECK(said_of([] { return two().given(x * x, -1); }) == sentence);
    CHECK(said_of([] { return two().given(x * x * y * y, -1); }) == sentence);
    CHECK(said_of([] { return two().given(x, m).given(x * x, m * m - 1); }) == sentence);
    CHECK(said_of([] { return two().given(x * x, -1 - m * m); }) == sentence);
    CHECK(said_of([] { return two().given(x * x, 2).given(x * x * x * x, 3); }) == sentence); // E[x⁴] is at least E[x²]²
    CHECK(said_of([] { return two().given(x, 2).given(x * x, 4); }) == "nothing");            // x = 2
    CHECK(said_of([] { return two().given(x, m).given(x * x, s * s); }) == "nothing");
    CHECK(said_of([] { return two().given(x, m).given(x * x, 1 + m * m).given(x * x * x, -1); }) == "nothing");
}

TEST_CASE("no correlation is above 1", "[ledger]") {
    const std::string sentence = "a correlation is above 1";
    CHECK(said_of([] { return two().standard({x, y}).given(x * y, 2); }) == sentence);
    CHECK(said_of([] { return two().standard({x, z}).given(x * z, -2); }) == sentence);
    CHECK(said_of([] { return two().given(x * y, 2).standard({x, y}); }) == sentence);
    CHECK(said_of([] { return two().given(x, 1).given(x * x, 1).standard({y}).given(x * y, 1); }) == sentence); // x = 1
    CHECK(said_of([] { return two().standard({x, y}).given(x * y, -1); }) == "nothing");
    CHECK(said_of([] { return two().standard({x, y}).given(x * y, m); }) == "nothing");
}
