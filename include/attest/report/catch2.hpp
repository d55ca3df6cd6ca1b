// SPDX-License-Identifier: BSL-1.0
/// \file
/// A Catch2 matcher (version 2 or 3): `REQUIRE_THAT(attest::check(…), attest::report::Passes());` fails with the whole report.
///
/// Include Catch2 before this header.
#pragma once

#include "attest/report/text.hpp"

#if __has_include(<catch2/matchers/catch_matchers.hpp>)
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/catch_tostring.hpp>
#else
#include <catch2/catch.hpp>
#endif

namespace attest::report {

/// Matches results whose verdict is exact or consistent.
class Passes : public Catch::Matchers::
#if __has_include(<catch2/matchers/catch_matchers.hpp>)
                   MatcherBase
#else
                   Impl::MatcherBase
#endif
               <check_result> {
public:
    bool match(const check_result& result) const override { return passes(result.verdict); }

protected:
    std::string describe() const override { return "passes: exact, or consistent with the declared arithmetic"; }
};

} // namespace attest::report

/// On failure Catch2 prints the report.
template <> struct Catch::StringMaker<attest::check_result> {
    static std::string convert(const attest::check_result& result) { return attest::report::text(result, "check"); }
};
