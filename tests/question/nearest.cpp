// SPDX-License-Identifier: BSL-1.0
#include "attest/question/nearest.hpp"
#include "catch.hpp"

using attest::detail::edits_between;
using attest::detail::nearest;

TEST_CASE("edits are characters added, dropped, replaced or swapped", "[question]") {
    CHECK(edits_between("weights", "weights", 3) == 0);
    CHECK(edits_between("weigths", "weights", 3) == 1);
    CHECK(edits_between("wights", "weights", 3) == 1);
    CHECK(edits_between("weightss", "weights", 3) == 1);
    CHECK(edits_between("weighxs", "weights", 3) == 1);
    CHECK(edits_between("kitten", "sitting", 3) == 3);
    CHECK(edits_between("kitten", "sitting", 2) == 3); // counted up to 2, and one more
    CHECK(edits_between("", "abc", 3) == 3);
    CHECK(edits_between("", "abcdef", 3) == 4);
    CHECK(edits_between("", "", 3) == 0);
}

TEST_CASE("the nearest name is guessed only where the guess is good", "[question]") {
    const std::vector<std::string_view> known = {"q", "k", "out", "mask", "weights", "raw_scores", "scores"};
    CHECK(nearest("weigths", known) == "weights");
    CHECK(nearest("score", known) == "scores");
    CHECK(nearest("raw-scores", known) == "raw_scores");
    CHECK(nearest("RawScores", known) == "raw_scores");
    CHECK(nearest("raw_scroe", known) == "raw_scores");
    CHECK(nearest("masks", known) == "mask");
    CHECK(nearest("Q", known) == "q");
    // Too short, or too far.
    CHECK(nearest("v", known).empty());
    CHECK(nearest("ou", known).empty());
    CHECK(nearest("query", known).empty());
    CHECK(nearest("", known).empty());
    CHECK(nearest("__", known).empty());
    CHECK(nearest(std::string(100000, 'a'), known).empty());
    CHECK(nearest("weights", {}).empty());
    CHECK(attest::detail::did_you_mean("weigths", known) == " (did you mean weights?)");
    CHECK(attest::detail::did_you_mean("banana", known).empty());
}
