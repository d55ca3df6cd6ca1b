// SPDX-License-Identifier: BSL-1.0
#include "attest/question/conventions.hpp"
#include "catch.hpp"
#include "question/arrays.hpp"

using namespace asked;
using attest::causal_alignment;
using attest::conventions;
using attest::settings;
using attest::tensor_layout;

namespace {

std::string in_force(const settings& given, std::string_view key) {
    for (const auto& [k, v] : attest::conventions_in_force(attest::read_conventions(given)))
        if (k == key) return v;
    return "(not in force)";
}
std::string refused(const settings& given) {
    return refusal([&] { return attest::read_conventions(given); });
}

} // namespace

TEST_CASE("without a word the defaults are in force, and each is the first value of the table", "[question]") {
    for (const char* const op : {"attention", "softmax"}) {
        std::size_t concerned = 0;
        for (const attest::convention_info& info : attest::convention_table()) {
            CAPTURE(op, info.key);
            const bool concerns = info.ops.find(op) != std::string_view::npos;
            concerned += concerns ? 1 : 0;
            CHECK(in_force({{"op", op}}, info.key) == (concerns ? std::string(info.values.front()) : "(not in force)"));
            CHECK_FALSE(info.summary.empty());
        }
        CHECK(attest::conventions_in_force(attest::read_conventions({{"op", op}})).size() == concerned);
    }
}

TEST_CASE("every value of every convention is taken, and comes out as it went in", "[question]") {
    for (const attest::convention_info& info : attest::convention_table()) {
        const std::string op = info.ops.find("attention") != std::string_view::npos ? "attention" : "softmax";
        for (const std::string_view value : info.values) {
            const std::string text = value == "NUMBER" ? "0x1.8p-3" : value == "INTEGER" ? "-3" : std::string(value);
            CAPTURE(info.key, text);
            CHECK(in_force({{"op", op}, {std::string(info.key), text}}, info.key) == text);
        }
    }
}

TEST_CASE("each setting changes its own member and nothing else", "[question]") {
    const auto with = [](const char* key, const char* value) { return attest::read_conventions({{"op", "attention"}, {key, value}}); };
    CHECK(with("causal", "top-left").causal == causal_alignment::top_left);
    CHECK(with("causal", "bottom-right").causal == causal_alignment::bottom_right);
    CHECK(with("causal", "none").causal == causal_alignment::none);
    CHECK(with("scale", "0.25").scale == "0.25");
    CHECK_FALSE(with("scale", "1/sqrt(d_k)").scale.has_value());
    CHECK(with("score", "dot").dot_score);
    CHECK_FALSE(with("score", "scaled").dot_score);
    CHECK_FALSE(with("mask-polarity", "drop").mask_keeps);
    CHECK(with("mask-polarity", "keep").mask_keeps);
    CHECK(with("mask-polarity", "keep").mask_polarity_declared);
    CHECK_FALSE(with("causal", "none").mask_polarity_declared);
    CHECK(with("empty-row", "nan").empty_row_is_nan);
    CHECK_FALSE(with("empty-row", "zero").empty_row_is_nan);
    CHECK(with("layout", "bnhd").layout == tensor_layout::bnhd);
    CHECK(with("layout", "nbd").layout == tensor_layout::nbd);
    CHECK(with("arithmetic", "bf16+f32").arithmetic == "bf16+f32");
    CHECK_FALSE(with("arithmetic", "undeclared").arithmetic.has_value());
    const conventions c = with("causal", "top-left");
    CHECK((c.op == "attention" && !c.scale && !c.dot_score && c.mask_keeps && c.layout == tensor_layout::bhnd && c.axis == -1 && !c.arithmetic));
}

TEST_CASE("axes are integers of one or two digits", "[question]") {
    const auto axis = [](const char* text) { return attest::read_conventions({{"op", "softmax"}, {"axis", text}}).axis; };
    CHECK(axis("-1") == -1);
    CHECK(axis("0") == 0);
    CHECK(axis("-0") == 0);
    CHECK(axis("31") == 31);
    CHECK(axis("-12") == -12);
    CHECK(axis("01") == 1);
    for (const char* const text : {"", "-", "+1", "1.0", "100", "99999999999999999999", "last", " 1", "1 ", "--1", "0x1", "1e0"}) {
        CAPTURE(text);
        CHECK(refused({{"op", "softmax"}, {"axis", text}}) == "the convention 'axis' is an integer such as -1 or 0, not '" + std::string(text) + "'");
    }
}

TEST_CASE("a value that a convention does not have is refused with those that it has", "[question]") {
    for (const attest::convention_info& info : attest::convention_table()) {
        if (info.key == "scale" || info.key == "axis") continue;
        std::string values;
        for (const std::string_view value : info.values) values += (values.empty() ? "" : ", ") + std::string(value);
        for (const std::string bad : {"", "true", "None", "top_left", "0"}) {
            CAPTURE(info.key, bad);
            CHECK(refused({{std::string(info.key), bad}}) == "the convention '" + std::string(info.key) + "' has no value '" + bad + "'; it has " + values);
        }
    }
    CHECK(says(refused({{"scale", "1/sqrt(d)"}}), {"'scale' must be a number", "'1/sqrt(d)'"}));
}

TEST_CASE("an unknown key is refused with those there are", "[question]") {
    for (const char* const key : {"", "Causal", "causal-mask", "mask_polarity", "scale ", "bf16"}) {
        CAPTURE(key);
        CHECK(says(refused({{key, "x"}}), {"there is no convention '" + std::string(key) + "'", "op, causal, scale, score, mask-polarity, empty-row, layout, axis, arithmetic"}));
    }
}

TEST_CASE("the keys of later versions are refused as such, never ignored", "[question]") {
    for (const char* const key : {"window", "position", "rope-dim", "dropout-p", "softcap", "heads", "kv-heads", "weight-layout", "weights", "names", "rope-pairing", "rope-base",
                                  "position-offset", "norm", "eps", "eps-placement", "variance", "activation", "gelu", "length", "d-model", "false-alarm", "precision"}) {
        CAPTURE(key);
        CHECK(refused({{"op", "attention"}, {key, "none"}}) == "the convention '" + std::string(key) + "' is not in this version yet; remove it, or wait");
    }
}

TEST_CASE("of two settings of one key the later wins", "[question]") {
    CHECK(in_force({{"op", "attention"}, {"causal", "top-left"}, {"causal", "bottom-right"}}, "causal") == "bottom-right");
    CHECK(in_force({{"op", "attention"}, {"scale", "3"}, {"scale", "1/sqrt(d_k)"}}, "scale") == "1/sqrt(d_k)");
    CHECK(in_force({{"op", "attention"}, {"arithmetic", "f32"}, {"arithmetic", "undeclared"}}, "arithmetic") == "undeclared");
    CHECK(attest::read_conventions({{"op", "attention"}, {"op", "softmax"}}).op == "softmax");
    // But what is wrong is refused even if it is overridden.
    CHECK_FALSE(refused({{"op", "attention"}, {"causal", "what"}, {"causal", "none"}}).empty());
}

TEST_CASE("score=dot is scale 1, and no other scale goes with it", "[question]") {
    CHECK(in_force({{"op", "attention"}, {"score", "dot"}}, "scale") == "1");
    CHECK(refused({{"op", "attention"}, {"score", "dot"}, {"scale", "1"}}).empty());
    CHECK(says(refused({{"op", "attention"}, {"score", "dot"}, {"scale", "0.5"}}), {"score=dot", "scale=0.5", "use score=scaled"}));
    CHECK(says(refused({{"op", "attention"}, {"scale", "0.5"}, {"score", "dot"}}), {"score=dot", "scale=0.5"}));
}

TEST_CASE("a convention of another op is refused, wherever the op stands", "[question]") {
    CHECK(refused({{"op", "attention"}, {"axis", "0"}}) == "'axis' is a convention of softmax, not of attention");
    CHECK(refused({{"causal", "top-left"}, {"op", "softmax"}}) == "'causal' is a convention of attention, not of softmax");
    CHECK(refused({{"op", "softmax"}, {"arithmetic", "f32"}, {"axis", "0"}}).empty());
}
