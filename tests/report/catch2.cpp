// SPDX-License-Identifier: BSL-1.0
#include "catch.hpp"

#include "attest/report/catch2.hpp"
#include "report/results.hpp"

using namespace made;
using attest::verdict;

TEST_CASE("the matcher passes what passes, and nothing else", "[report]") {
    CHECK_THAT(result(verdict::exact), attest::report::Passes());
    CHECK_THAT(result(verdict::consistent), attest::report::Passes());
    for (const verdict v : {verdict::undecided, verdict::suspicious, verdict::inaccurate, verdict::wrong}) CHECK_THAT(result(v), !attest::report::Passes());
    for (const verdict v : all_verdicts) CHECK(attest::report::Passes().match(result(v)) == attest::passes(v));
}

TEST_CASE("when the matcher fails, Catch2 shows the whole report", "[report]") {
    const attest::check_result wrong = result(verdict::wrong);
    const std::string shown = Catch::Detail::stringify(wrong);
    CAPTURE(shown);
    CHECK(shown == attest::report::text(wrong, "check"));
    CHECK(contains(shown, "41002 elements"));
    CHECK(contains(attest::report::Passes().toString(), "passes: exact, or consistent"));
}
