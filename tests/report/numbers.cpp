// SPDX-License-Identifier: BSL-1.0
#include "attest/report/numbers.hpp"
#include "catch.hpp"

#include <cstdlib>
#include <limits>

using namespace attest::report;

namespace {
constexpr double inf = std::numeric_limits<double>::infinity();
const double no_number = std::numeric_limits<double>::quiet_NaN();
} // namespace

TEST_CASE("decimals and hex floats read back to the same double", "[report]") {
    for (const double x : {0.0, -0.0, 1.0, 0.1, -2.5e-8, 1e22, 5e-324, 1.7976931348623157e308, 0x1.123456789abcdp-700, 3.0, 65504.0}) {
        CAPTURE(x);
        CHECK(std::strtod(shortest(x).c_str(), nullptr) == x);
        CHECK(std::strtod(hex(x).c_str(), nullptr) == x);
        CHECK(std::signbit(std::strtod(hex(x).c_str(), nullptr)) == std::signbit(x));
        CHECK(hex(x).find("0x") != std::string::npos);
    }
    CHECK(shortest(0.1) == "0.1");
    CHECK(hex(0.1875) == "0x1.8p-3");
    CHECK(hex(-1) == "-0x1p+0");
}

TEST_CASE("what is not finite is a word", "[report]") {
    CHECK(shortest(inf) == "inf");
    CHECK(shortest(-inf) == "-inf");
    CHECK(shortest(no_number) == "nan");
    CHECK(hex(inf) == "inf");
    CHECK(hex(-inf) == "-inf");
    CHECK(hex(no_number) == "nan");
}

TEST_CASE("distances have two decimals while they mean something", "[report]") {
    CHECK(ulp_text(0) == "0.00");
    CHECK(ulp_text(0.5) == "0.50");
    CHECK(ulp_text(36.25) == "36.25");
    CHECK(ulp_text(123456.789) == "123456.79");
    CHECK(ulp_text(7.5603e15) == "7.56e+15");
    CHECK(ulp_text(inf) == "infinitely many");
    CHECK(ulp_text(no_number) == "infinitely many");
}

TEST_CASE("a probability is written as it would be declared", "[report]") {
    CHECK(probability(1e-9) == "1e-9");
    CHECK(probability(2.5e-7) == "2.5e-7");
    CHECK(probability(1e-12) == "1e-12");
    CHECK(probability(1e-300) == "1e-300");
    CHECK(probability(0.01) == "0.01");
}

TEST_CASE("all is 100 %, nothing is 0 %, and nothing else is either", "[report]") {
    CHECK(percent(0, 10) == "0.0 %");
    CHECK(percent(10, 10) == "100.0 %");
    CHECK(percent(1, 2) == "50.0 %");
    CHECK(percent(273, 1000) == "27.3 %");
    CHECK(percent(0, 0) == "-");
    for (const std::size_t whole : {std::size_t{3000}, std::size_t{100000}, std::size_t{1} << 40}) {
        CAPTURE(whole);
        CHECK(percent(1, whole) == "< 0.1 %");
        CHECK(percent(whole - 1, whole) == "> 99.9 %");
    }
    for (std::size_t part = 1; part < 1000; ++part) {
        CAPTURE(part);
        CHECK(percent(part, 1000) != "0.0 %");
        CHECK(percent(part, 1000) != "100.0 %");
    }
}

TEST_CASE("a share of the limit says how many times where it is beyond", "[report]") {
    CHECK(share(0) == "0.0 % of");
    CHECK(share(0.0004) == "less than 0.1 % of");
    CHECK(share(0.013) == "1.3 % of");
    CHECK(share(1) == "100.0 % of");
    CHECK(share(212) == "212 times");
    CHECK(share(3e8) == "3.00e+08 times");
    CHECK(share(inf) == "infinitely many times");
}
