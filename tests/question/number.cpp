// SPDX-License-Identifier: BSL-1.0
#include "attest/question/number.hpp"
#include "attest/arithmetic/real.hpp"
#include "catch.hpp"
#include "question/arrays.hpp"

#include <cstdlib>

using namespace asked;
using attest::number_from;
using attest::real;

namespace {

std::string refused(std::string_view text) {
    return refusal([&] { return number_from<real<50>>("scale", text); });
}
double read(std::string_view text) { return static_cast<double>(number_from<real<50>>("scale", text)); }

} // namespace

TEST_CASE("a decimal is the number that is written, not the double next to it", "[question]") {
    const real<50> ten(10);
    CHECK(number_from<real<50>>("scale", "0.1") * ten == real<50>(1));
    CHECK(number_from<real<50>>("scale", "0.1") != real<50>(0.1));
    CHECK(number_from<real<50>>("scale", "1e-5") * real<50>(100000) == real<50>(1));
    CHECK(number_from<real<50>>("scale", "1e-5") != real<50>(1e-5));
    CHECK(number_from<real<50>>("scale", "0.3") * ten == real<50>(3));
    CHECK(number_from<real<50>>("scale", "123456789012345678901234567890") ==
          number_from<real<50>>("scale", "1234567890123456789012345678.90e2"));
    CHECK(number_from<real<50>>("scale", "123456789012345678901234567891") - number_from<real<50>>("scale", "123456789012345678901234567890") == real<50>(1));
}

TEST_CASE("decimals that doubles hold are read as strtod reads them", "[question]") {
    for (const char* const text : {"0", "1", "-1", "+1", "0.5", ".5", "5.", "007", "0.125", "-2.5e3", "1E2", "1e+2", "25e-2", "0.000", "-0.75", "4503599627370496.5",
                                   "179769313486231570000e288", "1e22", "00000.5"}) {
        CAPTURE(text);
        CHECK(read(text) == std::strtod(text, nullptr));
    }
}

TEST_CASE("hex floats are exact", "[question]") {
    for (const char* const text : {"0x1p-3", "0x1.8p1", "-0x1.921fb54442d18p+1", "0X.8P0", "0x1", "0xA.0p-4", "0xffffffffffffffp-60", "0x1p-1074", "0x1p1023", "0x0p0", "0x1.p4"}) {
        CAPTURE(text);
        CHECK(read(text) == std::strtod(text, nullptr));
    }
    // A fraction digit more than a double has.
    CHECK(number_from<real<50>>("scale", "0x1.00000000000001p0") - real<50>(1) == real<50>(0x1p-56));
}

TEST_CASE("exponents of four digits are taken, beyond the range of double too", "[question]") {
    const auto huge = number_from<real<50>>("scale", "1e400");
    CHECK(huge.is_finite());
    CHECK(huge / number_from<real<50>>("scale", "1e399") == real<50>(10));
    const auto tiny = number_from<real<50>>("scale", "1e-9999");
    CHECK(real<50>(0) < tiny);
    CHECK(tiny < real<50>(0x1p-1074));
}

TEST_CASE("what is no number is refused in one line that quotes it", "[question]") {
    for (const char* const text : {"", " ", " 1", "1 ", "nan", "inf", "-inf", "Infinity", "0x", "0x.", "0xp3", "1e", "1e+", "1e1.5", "--1", "+-1", "1_000", "1,5", "1.2.3", ".", "-",
                                   "e5", "0x1p", "0x1e5g", "1f", "1e99999", "0x1p-10000", "one", "1/3", "\xC2\xBD"}) {
        CAPTURE(text);
        CHECK(refused(text) == "'scale' must be a number such as 0.125, 1e-5 or 0x1p-3, not '" + std::string(text) + "'");
        CHECK_FALSE(refusal([&] { attest::check_number("scale", text); return 0; }).empty());
    }
    CHECK(says(refused(std::string(5000, '9')), {"'scale' must be a number", "...'"}));
    CHECK(refused(std::string(5000, '9')).size() < 200);
    CHECK(refused(std::string(200, '9')).empty());
}

TEST_CASE("numbers are held against their range exactly", "[question]") {
    const auto positive = [](const char* text) { return refusal([&] { attest::check_positive("softcap", text); return 0; }); };
    const auto not_negative = [](const char* text) { return refusal([&] { attest::check_not_negative("eps", text); return 0; }); };
    const auto probability = [](const char* text) { return refusal([&] { attest::check_probability("dropout-p", text); return 0; }); };
    for (const char* const text : {"1", "0.1", "1e-9999", "0x1p-2000", "+3", "000.001"}) {
        CAPTURE(text);
        CHECK(positive(text).empty());
        CHECK(not_negative(text).empty());
    }
    for (const char* const text : {"0", "-0", "0.00", "0e5", "0x0p3", "-1", "-1e-9999"}) {
        CAPTURE(text);
        CHECK(positive(text) == "'softcap' must be greater than 0, not '" + std::string(text) + "'");
    }
    for (const char* const text : {"0", "-0", "-0.000", "0x0"}) {
        CAPTURE(text);
        CHECK(not_negative(text).empty());
        CHECK(probability(text).empty());
    }
    CHECK(not_negative("-1e-300") == "'eps' must be 0 or greater, not '-1e-300'");
    for (const char* const text : {"0.1", "0.99999999999999999999999999999999", "9e-1", "99e-2", "0.9e0", "1e-1", "0x0.8", "0x1p-1", "0xfp-4", "0x0.ffffffffffffffffffff", "0x3p-2",
                                   "0x7p-3", "0xfffp-12", "0.00001", "123456e-6"}) {
        CAPTURE(text);
        CHECK(probability(text).empty());
    }
    for (const char* const text : {"1", "1.0", "01", "1.00000000000000000000000000000001", "10e-1", "0.1e1", "-0.1", "2", "100e-2", "0x1", "0x1p0", "0x8p-3", "0x10p-4", "0x2p-1", "0x4p-2",
                                   "0x1.0p0", "0.01e2", "1000000e-6", "-1"}) {
        CAPTURE(text);
        CHECK(probability(text) == "'dropout-p' must be at least 0 and less than 1, not '" + std::string(text) + "'");
    }
    for (const auto& said : {positive("x"), not_negative(""), probability("nan")}) CHECK(says(said, {"must be a number"}));
}

TEST_CASE("counts are decimal integers of at most nine digits", "[question]") {
    using attest::detail::parse_count;
    CHECK(parse_count("heads", "8", 1) == 8);
    CHECK(parse_count("heads", "08", 1) == 8);
    CHECK(parse_count("position-offset", "0", 0) == 0);
    CHECK(parse_count("length", "999999999", 1) == 999999999);
    for (const char* const text : {"", "-1", "+1", "1.0", "1e3", "0x8", " 8", "8 ", "1000000000", "99999999999999999999999", "eight", "0"}) {
        CAPTURE(text);
        CHECK(refusal([&] { return parse_count("heads", text, 1); }) == "the convention 'heads' is an integer of at most nine digits, 1 or greater, not '" + std::string(text) + "'");
    }
}
