// SPDX-License-Identifier: BSL-1.0
// What the tests of printed lines print instead.
#include "catch.hpp"

#include "misprints.hpp"

#include <algorithm>

using namespace attest::tests;

namespace {

template <class Lines>
bool has(const Lines& lines, std::string_view line) {
    return std::find(lines.begin(), lines.end(), line) != lines.end();
}

} // namespace

TEST_CASE("the numbers of a line are those that stand for themselves", "[ledger]") {
    using numbers = std::vector<std::string_view>;
    CHECK(numbers_of("8/1.41421=5.65685") == numbers{"8", "1.41421", "5.65685"});
    CHECK(numbers_of("(-2,0): 100.") == numbers{"2", "0", "100"});
    CHECK(numbers_of("alpha_11, L2.2 and d_k: 1.2.3") == numbers{"1.2", "3"});
    CHECK(numbers_of("").empty());
}

TEST_CASE("a minus is a sign where a number follows directly, and nothing to subtract from stands before", "[ledger]") {
    using numbers = std::vector<std::string>;
    CHECK(signed_numbers_of("(-2,0): −100.5") == numbers{"-2", "0", "-100.5"});
    CHECK(signed_numbers_of("1-0, 1 − 0, x-1 and (x)-1") == numbers{"1", "0", "1", "0", "1", "1"});
    CHECK(signed_numbers_of("").empty());
}

TEST_CASE("a plain line has no blanks, and the signs of a keyboard", "[ledger]") {
    CHECK(plain("8/√64 − 3 · 2") == "8/sqrt(64)-3*2");
    CHECK(plain("√d_k = 8, 3×4") == "sqrt(d_k)=8,3*4");
    CHECK(plain("").empty());
}

TEST_CASE("misprints differ from the line in one digit, sign or operator", "[ledger]") {
    CHECK(other_digits("1-0=1").size() == 27);
    CHECK(one_character_less("1 + 1") == std::vector<std::string>{" + 1", "1  1", "1 + "});
    CHECK(one_digit_more("0.5").size() == 10);
    CHECK((has(one_digit_more("0.5"), "0.50") && has(one_digit_more("(0,3)"), "(07,3)")));
    CHECK(other_signs("1-0=1") == std::vector<std::string>{"-1-0=1", "10=1", "1-0=-1"});
    CHECK(has(other_operators("3*4"), "3+4"));
    CHECK(!has(other_operators("3*4"), "3*4"));
}
