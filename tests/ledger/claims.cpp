// SPDX-License-Identifier: BSL-1.0
// The ledger's data: 256 claims, each once, each said and settled.
#include "catch.hpp"

#include "proofs/claims.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>

using namespace attest::proofs;

namespace {

std::map<std::string, const claim*> by_id() {
    std::map<std::string, const claim*> all;
    for (const auto claims : ledger)
        for (const claim& c : claims) all.emplace(c.id, &c);
    return all;
}

std::string id_of(char lecture, int number) {
    const std::string digits = std::to_string(number);
    return lecture + std::string(3 - digits.size(), '0') + digits;
}

} // namespace

TEST_CASE("the ledger has 256 claims, none twice and none missing", "[ledger]") {
    std::map<std::string, int> times;
    for (const auto claims : ledger)
        for (const claim& c : claims) ++times[std::string(c.id)];
    std::set<std::string> wanted;
    const std::pair<char, int> lectures[] = {{'A', 117}, {'B', 60}, {'E', 79}};
    for (const auto& [lecture, count] : lectures)
        for (int i = 1; i <= count; ++i) wanted.insert(id_of(lecture, i));
    CHECK(wanted.size() == 256);
    for (const auto& [id, count] : times) {
        INFO(id);
        CHECK(count == 1);
        CHECK(wanted.count(id) == 1);
    }
    for (const std::string& id : wanted) {
        INFO(id);
        CHECK(times.count(id) == 1);
    }
}

TEST_CASE("each concept's claims stand in the order of the lectures", "[ledger]") {
    for (const auto claims : ledger)
        for (std::size_t i = 1; i < claims.size(); ++i) {
            INFO(claims[i - 1].id << " " << claims[i].id);
            CHECK(claims[i - 1].id < claims[i].id);
        }
}

TEST_CASE("each claim says what the lecture says, how that was settled, and what is true instead", "[ledger]") {
    for (const auto& [id, c] : by_id()) {
        INFO(id << ": " << c->statement);
        CHECK(c->statement.size() > 10);
        CHECK(c->statement.find("TODO") == std::string_view::npos);
        CHECK((c->statement.ends_with('.') || c->statement.ends_with(".)")));
        CHECK(c->details.size() > 3);
        CHECK(c->details.find("TODO") == std::string_view::npos);
        const bool by_a_machine = c->by < means::opinion;
        CHECK(by_a_machine == (c->status != outcome::not_checkable));
        const bool deviates = c->text == wording::imprecise || c->text == wording::wrong;
        CHECK(deviates == !c->correction.empty());
        if (c->status == outcome::proved || c->status == outcome::identity) CHECK(c->text == wording::correct);
        if (c->status == outcome::refuted) CHECK(deviates);
        if (c->text == wording::not_checkable) CHECK(c->status == outcome::not_checkable);
        if (c->status == outcome::tested) CHECK(!c->tests.empty());
        if (c->status == outcome::identity) CHECK(c->seeds >= 4);
        if (c->status == outcome::not_checkable) CHECK(c->value.empty());
        CHECK(c->value.empty() == c->value_is.empty()); // a number without a name tells nothing
    }
}

TEST_CASE("the numbers of a value are found", "[ledger]") {
    constexpr claim c{.id = "X", .statement = "", .text = wording::correct, .status = outcome::proved, .by = means::exact, .details = "", .value = "alpha_11 = 0.66976; (-1/2, 3), d2"};
    CHECK(c.number(0) == "0.66976");
    CHECK(c.number(1) == "-1/2");
    CHECK(c.number(2) == "3");
    CHECK(c.number(3).empty());
}

#ifdef ATTEST_NAMED_TESTS
TEST_CASE("the tests that claims name are those that CMake found, and asks to have passed", "[ledger]") {
    const std::string found = " " ATTEST_NAMED_TESTS " ";
    std::size_t count = 0;
    for (const auto& [id, c] : by_id())
        for (std::string_view rest = c->tests; !rest.empty();) {
            const std::size_t end = std::min(rest.find(' '), rest.size());
            const std::string name(rest.substr(0, end));
            rest.remove_prefix(std::min(end + 1, rest.size()));
            INFO(id << ": " << name);
            CHECK(found.find(" " + name + " ") != std::string::npos);
            ++count;
        }
    CHECK(count > 0);
}
#endif
