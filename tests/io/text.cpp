// SPDX-License-Identifier: BSL-1.0
#include "attest/io/error.hpp"
#include "catch.hpp"

#include <string>

using namespace std::string_literals;

TEST_CASE("well-formed UTF-8 is told from what only looks like it", "[io]") {
    for (const char* const good :
         {"", "q.npy", "é", "ελ", "…", "\xED\x9F\xBF", "\xEE\x80\x80", "\xF0\x9F\x98\x80", "\xF4\x8F\xBF\xBF"}) {
        CAPTURE(good);
        CHECK(attest::is_utf8(good));
    }
    // A lone continuation, overlong forms, a surrogate, past U+10FFFF, cut short, no lead byte.
    for (const char* const bad :
         {"\x80", "\xC0\xAF", "\xC1\x81", "\xE0\x80\xAF", "\xF0\x80\x80\xAF", "\xED\xA0\x80", "\xF4\x90\x80\x80",
          "\xF5\x80\x80\x80", "\xC3", "\xE2\x82", "\xF0\x9F\x98", "a\xFF"}) {
        CAPTURE(bad);
        CHECK_FALSE(attest::is_utf8(bad));
    }
}

TEST_CASE("printable text has no control bytes and stays as it is the second time", "[io]") {
    CHECK(attest::printable("a\nb\x1b[31m\x7f") == "a\\x0ab\\x1b[31m\\x7f");
    CHECK(attest::printable("\0x"s) == "\\x00x");
    CHECK(attest::printable("\xC2\x9B") == "\\xc2\\x9b"); // C1: a terminal may take it for an escape
    CHECK(attest::printable("\xFFé") == "\\xffé");
    const std::string once = attest::printable("\xFF\n\\é");
    CHECK(attest::printable(once) == once);
}

TEST_CASE("an excerpt is cut between characters", "[io]") {
    CHECK(attest::excerpt("abc", 3) == "abc");
    CHECK(attest::excerpt("abcd", 3) == "abc…");
    CHECK(attest::excerpt("aéé", 4) == "aé…");
    CHECK(attest::is_utf8(attest::excerpt(std::string(300, '\xFF'))));
}

TEST_CASE("a file error is one line: file, member, what is wrong, what was expected", "[io]") {
    CHECK(attest::file_error("a.npy", "9 bytes", "8").what() == "a.npy: 9 bytes; expected 8"s);
    CHECK(attest::file_error("a.npy", "9 bytes").what() == "a.npy: 9 bytes"s);
    CHECK(attest::file_error(attest::member_of("a.npz", "q\n.npy"), "odd").what() == "a.npz: member q\\x0a.npy: odd"s);
    CHECK(attest::is_utf8(attest::file_error("\xFF.npy", "\xC3").what()));
}
