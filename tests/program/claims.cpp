// SPDX-License-Identifier: BSL-1.0
// attest claims and attest explain, against the ledger's data.
#include "catch.hpp"
#include "json_text.hpp"
#include "program/program.hpp"

#include "proofs/claims.hpp"

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

using namespace program;
using attest::proofs::claim;

namespace {

nlohmann::json claims_json() {
    const outcome o = run({"claims", "--json"});
    INFO(shown(o));
    REQUIRE(o.status == 0);
    REQUIRE(o.err.empty());
    return nlohmann::json::parse(o.out);
}

std::string line_of(const std::string& file, int number) {
    std::ifstream in(std::string(ATTEST_SOURCE_DIR) + "/" + file);
    std::string line;
    for (int i = 0; i < number; ++i) std::getline(in, line);
    return in ? line : "";
}

} // namespace

TEST_CASE("attest claims --json is the ledger: each claim once, in order, with the fields that programs rely on", "[program]") {
    const nlohmann::json all = claims_json();
    REQUIRE(all.is_array());
    CHECK(all.size() == 256);
    std::string last;
    for (const nlohmann::json& c : all) {
        INFO(c.dump());
        for (const char* key : {"id", "statement", "text", "status", "method", "source", "details"}) REQUIRE(c.at(key).is_string());
        REQUIRE(c.contains("value"));
        const std::string id = c["id"];
        CHECK(last < id);
        last = id;
        const claim* known = attest::proofs::find_claim(id);
        REQUIRE(known != nullptr);
        CHECK(c["statement"] == std::string(known->statement));
        CHECK(c["value"] == (known->value.empty() ? nlohmann::json() : nlohmann::json(std::string(known->value))));
        CHECK(std::set<std::string>{"correct", "imprecise", "wrong", "not checkable"}.count(c["text"]) == 1);
        CHECK(std::set<std::string>{"proved", "refuted", "identity (probabilistic)", "tested", "not checkable"}.count(c["status"]) == 1);
    }
}

TEST_CASE("the source of each claim is the line where its proof stands", "[program]") {
    for (const nlohmann::json& c : claims_json()) {
        INFO(c.dump());
        const std::string source = c["source"], id = c["id"];
        const std::size_t colon = source.rfind(':');
        REQUIRE(colon != std::string::npos);
        const std::string file = source.substr(0, colon), line = line_of(file, std::stoi(source.substr(colon + 1)));
        CHECK(contains(line, "\"" + id + "\""));
        const bool has_proof = file.ends_with(".cpp");
        if (c["status"] == "not checkable") CHECK(file.starts_with("proofs/claims/"));
        else if (c["status"] != "tested") CHECK((has_proof && file.starts_with("proofs/")));
    }
}

TEST_CASE("attest claims ends with totals that add up", "[program]") {
    const nlohmann::json all = claims_json();
    const outcome o = run({"claims"});
    INFO(o.err);
    REQUIRE(o.status == 0);
    std::map<std::string, int> counts;
    for (const nlohmann::json& c : all) {
        ++counts["text " + std::string(c["text"])];
        ++counts["status " + std::string(c["status"])];
        CHECK(contains(o.out, std::string(c["id"]) + "  "));
    }
    const std::string totals = o.out.substr(o.out.rfind("256 claims"));
    INFO(totals);
    for (const auto& [name, count] : counts) {
        INFO(name);
        CHECK(contains(totals, std::to_string(count) + " " + name.substr(name.find(' ') + 1)));
    }
    CHECK((contains(totals, "the proofs were compiled with this program") || contains(totals, "the proofs were not compiled with this program")));
}

TEST_CASE("attest explain tells one claim, however its id is written", "[program]") {
    const outcome full = run({"explain", "A015"});
    INFO(shown(full));
    REQUIRE(full.status == 0);
    for (const char* part : {"A015", "wrong", "refuted", "says", "instead", "method", "types", "proofs/"}) CHECK(contains(full.out, part));
    for (const char* same : {"a015", "A15", "a15"}) CHECK(run({"explain", same}).out == full.out);
    const outcome identity = run({"explain", "E037"});
    INFO(shown(identity));
    CHECK(contains(identity.out, "random points"));
}

TEST_CASE("a code that does not exist is trouble, and the message says which do", "[program]") {
    for (const char* code : {"A118", "Z001", "", "ATT001", "A0015", "B", "12"}) {
        const outcome o = run({"explain", code});
        INFO(code << ": " << shown(o));
        CHECK(o.status == 2);
        CHECK(o.out.empty());
        CHECK(contains(o.err, "A001 to A117, B001 to B060, E001 to E079"));
    }
    CHECK(run({"explain"}).status == 2);
    CHECK(run({"claims", "extra"}).status == 2);
}

TEST_CASE("attest claims lists those of one text or status, and says so", "[program]") {
    std::map<std::string, std::size_t> counts;
    for (const nlohmann::json& c : claims_json()) ++counts[c["text"]], ++counts["status " + c["status"].get<std::string>()];
    const auto listed = [](const std::vector<std::string>& arguments) {
        const outcome o = run(arguments);
        INFO(shown(o));
        REQUIRE(o.status == 0);
        return nlohmann::json::parse(o.out);
    };
    CHECK(listed({"claims", "--json", "--text", "wrong"}).size() == counts["wrong"]);
    CHECK(listed({"claims", "--json", "--text", "not-checkable"}).size() == counts["not checkable"]);
    CHECK(listed({"claims", "--json", "--status", "identity"}).size() == counts["status identity (probabilistic)"]);
    CHECK(listed({"claims", "--json", "--status", "identity (probabilistic)"}).size() == counts["status identity (probabilistic)"]);
    CHECK(listed({"claims", "--json", "--text", "Wrong"}) == listed({"claims", "--json", "--text", "wrong"}));
    CHECK(listed({"claims", "--json", "--status", "NOT-CHECKABLE"}).size() == counts["status not checkable"]);
    // Nothing found is no trouble, and no table.
    CHECK(listed({"claims", "--json", "--text", "correct", "--status", "refuted"}).empty());
    const outcome none = run({"claims", "--text", "correct", "--status", "refuted"});
    CHECK((none.status == 0 && none.out == "0 of 256 claims of the three lectures are so\n"));
    const nlohmann::json both = listed({"claims", "--json", "--text", "wrong", "--status", "refuted"});
    CHECK(both.size() > 0);
    CHECK(both.size() < counts["wrong"]);
    for (const nlohmann::json& c : both) CHECK((c["text"] == "wrong" && c["status"] == "refuted"));
    const outcome o = run({"claims", "--text", "wrong"});
    CHECK(o.out.find(std::to_string(counts["wrong"]) + " of 256 claims") != std::string::npos);
    CHECK(o.out.substr(0, 8) == "id    te");
    for (const auto& [option, word] : std::vector<std::pair<std::string, std::string>>{{"--text", "rong"}, {"--status", "wrong"}, {"--text", ""}}) {
        const outcome refused = run({"claims", option, word});
        INFO(shown(refused));
        CHECK(refused.status == 2);
        CHECK(refused.err.find(option) != std::string::npos);
        CHECK(refused.out.empty());
    }
}

TEST_CASE("attest explain --json is one of the objects of attest claims --json", "[program]") {
    for (const nlohmann::json& c : claims_json()) {
        if (c["id"] != "A015" && c["id"] != "E016") continue;
        const outcome o = run({"explain", c["id"], "--json"});
        INFO(shown(o));
        CHECK(o.status == 0);
        CHECK(nlohmann::json::parse(o.out) == c);
    }
}
