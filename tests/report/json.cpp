// SPDX-License-Identifier: BSL-1.0
// The fields that other programs rely on.
#include "attest/report/json.hpp"
#include "catch.hpp"
#include "json_text.hpp"
#include "report/results.hpp"

#include <algorithm>
#include <limits>
#include <set>

using namespace made;
using attest::verdict;
using nlohmann::json;

namespace {

json object(const attest::check_result& r) { return json::parse(attest::report::json(r, "run7.npz", 0.5).dump()); }
json first_output(const attest::check_result& r) { return object(r)["outputs"][0]; }

std::set<std::string> keys(const json& of) {
    std::set<std::string> all;
    for (const auto& item : of.items()) all.insert(item.key());
    return all;
}
bool holds(const std::set<std::string>& all, const std::set<std::string>& some) { return std::includes(all.begin(), all.end(), some.begin(), some.end()); }

} // namespace

TEST_CASE("a case's object has every field, with its type", "[report]") {
    for (const verdict v : all_verdicts) {
        json o = object(result(v));
        CAPTURE(o.dump(1));
        CHECK(holds(keys(o), {"attest", "case", "op", "conventions", "arithmetic", "assumed", "verdict", "first_bad_stage", "outputs", "mistakes", "seconds", "warnings"}));
        CHECK(o["attest"] == attest::version);
        CHECK(o["case"] == "run7.npz");
        CHECK(o["op"] == "attention");
        CHECK(o["conventions"] == json{{"causal", "bottom-right"}, {"scale", "1/sqrt(d_k)"}});
        CHECK(o["arithmetic"] == "bf16+f32");
        CHECK(o["assumed"] == false);
        CHECK(o["verdict"] == attest::name_of(v));
        CHECK(o["first_bad_stage"] == (v >= verdict::suspicious ? json("out") : json(nullptr)));
        CHECK(o["false_alarm"] == 1e-9);
        CHECK(o["trials"] == 65536);
        CHECK(o["lambda"] == 8.25);
        CHECK(o["sample"].is_null());
        CHECK(o["warnings"] == json::array());
        CHECK(holds(keys(o["seconds"]), {"read", "evaluate", "compare", "diagnose"}));
        CHECK(o["seconds"]["read"] == 0.5);
        CHECK(o["seconds"]["evaluate"] == 0.25);
        CHECK(o["seconds"]["compare"] == 0.125);
        CHECK(o["inputs"].size() == 2);
        CHECK(o["inputs"][1] == json{{"name", "mask"}, {"dtype", "bool"}, {"shape", {128, 128}}});
        CHECK(o["outputs"].size() == 1);
    }
}

TEST_CASE("an output's object has every field, with its type", "[report]") {
    for (const verdict v : all_verdicts) {
        json o = first_output(result(v));
        CAPTURE(o.dump(1));
        CHECK(holds(keys(o), {"name", "dtype", "shape", "elements", "outside_expected", "outside_certain", "exact", "max_ulp", "rms_ulp", "expected_limit_ulp_at_worst", "certain_limit_ulp_at_worst",
                              "worst", "rungs", "decided", "unseparated"}));
        CHECK(o["name"] == "out");
        CHECK(o["dtype"] == "bf16");
        CHECK(o["shape"] == json{1, 8, 128, 64});
        CHECK(o["elements"] == 65536);
        CHECK(o["exact"] == (v == verdict::exact ? 65536 : 1203));
        CHECK(o["outside_certain"] == (v >= verdict::inaccurate ? 41002 : 0));
        CHECK(o["outside_expected"] == (v >= verdict::suspicious ? 41980 : 0));
        CHECK(o["rows_outside"] == (v >= verdict::inaccurate ? 900 : 0));
        CHECK(o["rows_outside_expected"] == (v >= verdict::suspicious ? 950 : 0));
        CHECK(o["limit_share"] == 0.25);
        CHECK(o["expected_limit_share"] == 0.5);
        CHECK(o["max_ulp"] == 36.25);
        CHECK(o["rms_ulp"] == 7.5);
        CHECK(o["certain_limit_ulp_at_worst"] == 9.75);
        CHECK(o["expected_limit_ulp_at_worst"] == 2.25);
        CHECK(o["worst"]["certain_limit_ulp"] == 9.75);
        CHECK(o["worst"]["expected_limit_ulp"] == 2.25);
        CHECK(o["rungs"] == json{{"double", 60000}, {"double_double", 5000}, {"real", 530}});
        CHECK(o["decided"] == 6);
        CHECK(o["unseparated"] == 0);
        CHECK(o["worst"]["index"] == json{0, 3, 17, 5});
        CHECK(o["worst"]["got"] == "0x1.9p-3");
        CHECK(o["worst"]["got_decimal"] == "0.1953125");
        CHECK(o["worst"]["expected"] == "0.23071289062500000000");
        CHECK(o["worst"]["correctly_rounded"] == "0x1.d88p-3");
        CHECK(o["weaker_arithmetic"] == (v == verdict::inaccurate ? json("bf16") : json(nullptr)));
    }
}

TEST_CASE("what this version does not compute is null", "[report]") {
    json o = object(result(verdict::consistent));
    CHECK(o["mistakes"].is_null());
    CHECK(o["seconds"]["diagnose"].is_null());
    CHECK(o["first_bad_stage"].is_null());
    attest::check_result empty = result(verdict::exact);
    empty.outputs[0].worst.reset();
    CHECK(first_output(empty)["worst"].is_null());
    CHECK(first_output(empty)["certain_limit_ulp_at_worst"].is_null());
    CHECK(first_output(empty)["expected_limit_ulp_at_worst"].is_null());
    CHECK(first_output(empty)["first_outside"].is_null());
}

TEST_CASE("a sample of rows, and its seed", "[report]") {
    attest::check_result r = result(verdict::consistent);
    r.sample = attest::row_sample{64, 18446744073709551615U};
    r.rows_checked = 64;
    r.rows_total = 8192;
    CHECK(object(r)["sample"] == json{{"rows", 64}, {"of", 8192}, {"seed", 18446744073709551615U}});
    r.lambda = 0;
    CHECK(object(r)["lambda"].is_null());
}

TEST_CASE("numbers that are not finite are strings", "[report]") {
    attest::check_result r = result(verdict::wrong);
    attest::output_result& o = r.outputs[0];
    o.max_ulp = std::numeric_limits<double>::infinity();
    o.rms_ulp = std::numeric_limits<double>::quiet_NaN();
    o.limit_share = std::numeric_limits<double>::infinity();
    o.worst->got = std::numeric_limits<double>::quiet_NaN();
    o.worst->ulp = std::numeric_limits<double>::infinity();
    o.worst->limit_ulp = std::numeric_limits<double>::infinity();
    o.worst->expected_limit_ulp = std::numeric_limits<double>::infinity();
    o.expected_share = std::numeric_limits<double>::infinity();
    o.worst->correctly_rounded = -std::numeric_limits<double>::infinity();
    o.worst->expected = "-inf";
    json all = first_output(r);
    CAPTURE(all.dump(1));
    CHECK(all["max_ulp"] == "inf");
    CHECK(all["rms_ulp"] == "nan");
    CHECK(all["limit_share"] == "inf");
    CHECK(all["expected_limit_share"] == "inf");
    CHECK(all["certain_limit_ulp_at_worst"] == "inf");
    CHECK(all["expected_limit_ulp_at_worst"] == "inf");
    CHECK(all["worst"]["got"] == "nan");
    CHECK(all["worst"]["got_decimal"] == "nan");
    CHECK(all["worst"]["ulp"] == "inf");
    CHECK(all["worst"]["correctly_rounded"] == "-inf");
    CHECK(all["worst"]["expected"] == "-inf");
}

TEST_CASE("conventions keep their order, and an object is one line", "[report]") {
    const std::string line = attest::report::json(result(verdict::wrong), "a\nb \"c\"", 0).dump();
    CAPTURE(line);
    CHECK(line.find('\n') == std::string::npos);
    CHECK(line.find("\"causal\"") < line.find("\"scale\""));
    CHECK(json::parse(line)["case"] == "a\nb \"c\"");
}

TEST_CASE("a case in trouble has its name and what is wrong", "[report]") {
    json o = json::parse(attest::report::json_error("x.npz", "no such file").dump());
    CHECK(o == json{{"attest", attest::version}, {"case", "x.npz"}, {"error", "no such file"}});
}
