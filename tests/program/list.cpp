// SPDX-License-Identifier: BSL-1.0
// attest list: the ops and conventions that this version knows.
#include "catch.hpp"
#include "json_text.hpp"
#include "program/program.hpp"

#include "attest/question/conventions.hpp"
#include "attest/version.hpp"

using namespace program;

TEST_CASE("list --json is one object with every op and convention", "[program]") {
    const outcome o = run({"list", "--json"});
    INFO(shown(o));
    REQUIRE(o.status == 0);
    CHECK(o.err.empty());
    CHECK(lines(o.out) == 1);
    nlohmann::json all = nlohmann::json::parse(o.out);
    CHECK(all["attest"] == attest::version);
    CHECK(all["mistakes"].is_null());
    REQUIRE(all["ops"].size() == attest::ops().size());
    for (std::size_t i = 0; i < attest::ops().size(); ++i) {
        const attest::op_info& op = attest::ops()[i];
        CAPTURE(op.name);
        CHECK(all["ops"][i]["name"] == op.name);
        REQUIRE(all["ops"][i]["inputs"].size() == op.inputs.size());
        REQUIRE(all["ops"][i]["outputs"].size() == op.outputs.size());
        for (std::size_t k = 0; k < op.inputs.size(); ++k) {
            CHECK(all["ops"][i]["inputs"][k]["name"] == op.inputs[k].name);
            CHECK(all["ops"][i]["inputs"][k]["optional"] == op.inputs[k].optional);
        }
    }
    REQUIRE(all["conventions"].size() == attest::convention_table().size());
    for (std::size_t i = 0; i < attest::convention_table().size(); ++i) {
        CHECK(all["conventions"][i]["key"] == attest::convention_table()[i].key);
        CHECK(all["conventions"][i]["values"].size() == attest::convention_table()[i].values.size());
    }
}

TEST_CASE("list names the same as text, and every convention is an option of check", "[program]") {
    const outcome o = run({"list"});
    const std::string help = run({"check", "--help"}).out;
    INFO(shown(o));
    CHECK(o.status == 0);
    CHECK(o.err.empty());
    for (const attest::op_info& op : attest::ops()) {
        CHECK(contains(o.out, std::string(op.name)));
        for (const attest::tensor_info& t : op.outputs) CHECK(contains(o.out, std::string(t.name)));
    }
    for (const attest::convention_info& c : attest::convention_table()) {
        CAPTURE(c.key);
        CHECK(contains(o.out, std::string(c.key)));
        CHECK(contains(help, "--" + std::string(c.key)));
        for (const std::string_view value : c.values) CHECK(contains(o.out, std::string(value)));
    }
}
