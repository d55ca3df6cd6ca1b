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
            CHECK(all["ops"][i]["inputs"][k]["shape"] == op.inputs[k].shape);
            CHECK(all["ops"][i]["inputs"][k]["optional"] == op.inputs[k].optional);
        }
        for (std::size_t k = 0; k < op.outputs.size(); ++k) CHECK(all["ops"][i]["outputs"][k]["name"] == op.outputs[k].name);
        std::vector<std::string> keys;
        for (const attest::convention_info& c : attest::convention_table())
            if (attest::concerns(c, op.name)) keys.emplace_back(c.key);
        CHECK(all["ops"][i]["conventions"].get<std::vector<std::string>>() == keys);
    }
    REQUIRE(all["conventions"].size() == attest::convention_table().size());
    for (std::size_t i = 0; i < attest::convention_table().size(); ++i) {
        CHECK(all["conventions"][i]["key"] == attest::convention_table()[i].key);
        CHECK(all["conventions"][i]["values"].size() == attest::convention_table()[i].values.size());
        CHECK(all["conventions"][i]["ops"] == attest::convention_table()[i].ops);
        CHECK(all["conventions"][i]["summary"] == attest::convention_table()[i].summary);
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
        CHECK(contains(o.out, std::string(op.summary)));
        for (const auto& infos : {op.inputs, op.outputs})
            for (const attest::tensor_info& t : infos) // what a stack's layers have is listed once, as the layer's
                CHECK(contains(o.out, t.name.substr(0, 9) == "layers.N." ? " " + std::string(t.name.substr(9)) + " " : " " + std::string(t.name) + " "));
    }
    CHECK(contains(o.out, "layers.N.* (each of decoder_layer's for every layer N)"));
    std::size_t widest = 0;
    for (std::size_t from = 0, end = 0; (end = o.out.find('\n', from)) != std::string::npos; from = end + 1) widest = std::max(widest, end - from);
    CHECK(widest <= 120);
    for (const attest::convention_info& c : attest::convention_table()) {
        CAPTURE(c.key);
        CHECK(contains(o.out, std::string(c.key)));
        CHECK(contains(help, "--" + std::string(c.key)));
        for (const std::string_view value : c.values) CHECK(contains(o.out, std::string(value)));
    }
}
