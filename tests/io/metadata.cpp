// SPDX-License-Identifier: BSL-1.0
#include "attest/io/metadata.hpp"
#include "catch.hpp"
#include "io/crafted.hpp"

using namespace crafted;

namespace {

std::string refused(const std::string& text) {
    return refusal([&text] { return attest::parse_settings(text, "a.npz: member attest.json"); });
}

} // namespace

TEST_CASE("settings are read as text, numbers as they are written", "[io]") {
    const attest::settings read = attest::parse_settings(
        R"({"op": "attention", "eps": 1e-5, "scale": 0.12500, "heads": 8, "axis": -1, "flag": true, "not": false, "hex": "0x1p-3",
            "big": 123456789012345678901234567890, "small": 1e-400, "exponent": 1E+2, "é\u00e9": "\n"})",
        "a.json");
    CHECK(read == attest::settings{{"op", "attention"},
                                   {"eps", "1e-5"},
                                   {"scale", "0.12500"},
                                   {"heads", "8"},
                                   {"axis", "-1"},
                                   {"flag", "true"},
                                   {"not", "false"},
                                   {"hex", "0x1p-3"},
                                   {"big", "123456789012345678901234567890"},
                                   {"small", "1e-400"},
                                   {"exponent", "1E+2"},
                                   {"éé", "\n"}});
    CHECK(attest::parse_settings(" {} ", "a.json").empty());
}

TEST_CASE("settings that are not flat, or not once, are refused with their key", "[io]") {
    const std::string where = "a.npz: member attest.json: ";
    CHECK(says(refused(R"({"op": "x", "op": "x"})"), {where + "key 'op' is there twice"}));
    CHECK(says(refused(R"({"op": null})"), {where + "key 'op' holds null; expected a string, a number or a boolean"}));
    CHECK(says(refused(R"({"op": ["x"]})"), {where + "key 'op' holds an array"}));
    CHECK(says(refused(R"({"op": {"op": 1}})"), {where + "key 'op' holds an object"}));
    CHECK(says(refused(R"({"eps": 1e400})"), {"the last key is 'eps'", "1e400"}));
    for (const auto& [text, what] : {std::pair{"[]", "an array"},
                                     {"3", "a number"},
                                     {"-3", "a number"},
                                     {"1.5", "a number"},
                                     {"\"x\"", "a string"},
                                     {"true", "a boolean"},
                                     {"null", "null"}}) {
        CAPTURE(text);
        CHECK(says(refused(text), {where + "the root is " + what + "; expected an object"}));
    }
}

TEST_CASE("what is not JSON is refused in one line", "[io]") {
    for (const char* const text : {"", "{", "{\"a\"", "{\"a\":", "{\"a\": 1", "{\"a\": 1} x", "{\"a\": 1}{}",
                                   "{'a': 1}", "{\"a\": 01}", "{\"a\": +1}", "{\"a\": .5}", "{\"a\": 1,}",
                                   "{\"a\": nan}", "{\"a\": \"\xff\"}", "{\"a\": \"\n\"}", "{\"a\": 1 /* x */}"}) {
        CAPTURE(text, refused(text));
        CHECK(says(refused(text), {"a.npz: member attest.json: not JSON at byte "}));
    }
    CHECK(says(refused(std::string(100000, '[')), {"the root is an array"})); // not followed down
    CHECK(says(refused("{\"a\": " + std::string(100000, '[')), {"'a' holds an array"}));
    CHECK(says(refused("{\"a\": 1}\0"s), {"not JSON"}));
    CHECK(refused("{\"a\": \"" + std::string(5000, 'x') + "\n\"}").size() < 500);
}

TEST_CASE("settings that are written are read back", "[io]") {
    const attest::settings values = {{"op", "rope"}, {"eps", "1e-5"}, {"", "\"\\\n\x01é"}, {"a b", ""}};
    const std::string text = attest::settings_text(values);
    CHECK(text.find('\n') == std::string::npos);
    CHECK(attest::parse_settings(text, "a.json") == values);
    CHECK(attest::settings_text({}) == "{}");
    CHECK(says(refusal([] { return attest::settings_text({{"a", "1"}, {"a", "2"}}); }), {"key 'a' is there twice"}));
    CHECK(says(refusal([] { return attest::settings_text({{"a", "\xff"}}); }), {"key 'a'", "UTF-8"}));
}
