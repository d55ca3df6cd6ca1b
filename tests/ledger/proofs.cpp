// SPDX-License-Identifier: BSL-1.0
// The ledger against the proofs that were built: each claim that the compiler is said to have settled has just one entry, and an entry
// is refused if its lecture had printed anything else: another digit, one digit more or less, another sign or operator.
#include "catch.hpp"

#ifdef ATTEST_PROOFS_BUILT

#include "misprints.hpp"
#include "proofs/settle.hpp"

#include <algorithm>
#include <fstream>
#include <map>
#include <string>
#include <vector>

using namespace attest::proofs;
using namespace attest::tests;

namespace {

std::map<std::string, std::vector<const entry*>> entries() {
    std::map<std::string, std::vector<const entry*>> all;
    for (const entry* e = entry::first(); e != nullptr; e = e->next()) all[std::string(e->of().id)].push_back(e);
    return all;
}

// A part that throws is false: what would throw does not compile.
bool holds_with(const settled_part& part, std::string_view printed, const claim& of) {
    try {
        return part.check(printed, of);
    } catch (const std::exception&) {
        return false;
    }
}

// Is what `misprints` makes of the printed line of a part refused by that part? The number of lines that it makes.
template <class Misprints> std::size_t refused(const Misprints& misprints) {
    std::size_t count = 0;
    for (const auto& [id, of_id] : entries())
        for (const entry* e : of_id)
            for (std::size_t i = 0; i < e->settled().n_parts; ++i) {
                const settled_part& part = e->settled().parts[i];
                for (const std::string& printed : misprints(part.printed)) {
                    ++count;
                    INFO(id << ", part " << i << ": \"" << part.printed << "\" printed as \"" << printed << "\"");
                    CHECK_FALSE(holds_with(part, printed, e->of()));
                }
            }
    return count;
}

} // namespace

TEST_CASE("what the compiler is said to have settled has an entry, and nothing else has", "[ledger]") {
    const auto all = entries();
    REQUIRE(!all.empty());
    for (const auto claims : ledger)
        for (const claim& c : claims) {
            INFO(c.id);
            const std::size_t count = all.count(std::string(c.id)) == 0 ? 0 : all.at(std::string(c.id)).size();
            CHECK(count <= 1);
            if (c.status == outcome::not_checkable) CHECK(count == 0);
            else if (c.status != outcome::tested) CHECK(count == 1);
        }
}

// The line of `settle` or that of the id behind it: compilers differ where a call goes over several lines.
TEST_CASE("the compiler notes each proof where it stands", "[ledger]") {
    for (const auto& [id, of_id] : entries())
        for (const entry* e : of_id) {
            const std::string file = e->settled().at.file_name();
            const auto line = static_cast<int>(e->settled().at.line());
            std::ifstream in(file);
            std::string text, near;
            for (int i = 1; i <= line + 1 && std::getline(in, text); ++i)
                if (i >= line - 1) near += text + "\n";
            INFO(id << ": " << file << ":" << line << "\n" << near);
            CHECK(near.find("settle(") != std::string::npos);
            CHECK(near.find("\"" + id + "\"") != std::string::npos);
        }
}

TEST_CASE("an identity without points is none", "[ledger]") {
    for (const auto& [id, of_id] : entries())
        for (const entry* e : of_id) {
            if (e->of().seeds == 0) continue;
            claim changed = e->of();
            changed.seeds = 0;
            bool all_hold = true;
            for (std::size_t i = 0; i < e->settled().n_parts; ++i) all_hold = all_hold && holds_with(e->settled().parts[i], e->settled().parts[i].printed, changed);
            INFO(id);
            CHECK_FALSE(all_hold);
        }
}

TEST_CASE("every part of every entry holds at run time too", "[ledger]") {
    for (const auto& [id, of_id] : entries())
        for (const entry* e : of_id)
            for (std::size_t i = 0; i < e->settled().n_parts; ++i) {
                INFO(id << ", part " << i);
                CHECK(holds_with(e->settled().parts[i], e->settled().parts[i].printed, e->of()));
            }
}

TEST_CASE("no digit that a lecture prints can be another one", "[ledger]") {
    const std::size_t count = refused(other_digits);
    WARN(count << " printed lines with one digit changed were refused");
    CHECK(count > 1000);
}

TEST_CASE("nothing that a lecture prints can be left out", "[ledger]") { CHECK(refused(one_character_less) > 300); }
TEST_CASE("no number that a lecture prints can have one digit more", "[ledger]") { CHECK(refused(one_digit_more) > 1000); }
TEST_CASE("no number that a lecture prints can have another sign", "[ledger]") { CHECK(refused(other_signs) > 100); }
TEST_CASE("no operator that a lecture prints can be another one", "[ledger]") { CHECK(refused(other_operators) > 500); }

TEST_CASE("each decimal number of a statement is held against a proof", "[ledger]") {
    std::size_t count = 0;
    for (const auto& [id, of_id] : entries())
        for (const entry* e : of_id) {
            std::vector<std::string_view> held = numbers_of(e->of().value);
            for (std::size_t i = 0; i < e->settled().n_parts; ++i)
                for (const std::string_view number : numbers_of(e->settled().parts[i].printed)) held.push_back(number);
            for (const std::string_view number : numbers_of(e->of().statement)) {
                if (number.find('.') == std::string_view::npos) continue;
                ++count;
                INFO(id << ": " << number << " of \"" << e->of().statement << "\"");
                CHECK(std::find(held.begin(), held.end(), number) != held.end());
            }
        }
    CHECK(count > 40);
}

TEST_CASE("no digit of a value can be another one", "[ledger]") {
    std::size_t flips = 0;
    for (const auto& [id, of_id] : entries())
        for (const entry* e : of_id) {
            // Only the digits of numbers that a part can read; those of names such as alpha_11 are none.
            std::size_t from = 0;
            for (std::size_t index = 0;; ++index) {
                const std::string_view number = e->of().number(index);
                if (number.empty()) break;
                const std::size_t at = static_cast<std::size_t>(number.data() - e->of().value.data());
                CHECK(at >= from);
                from = at;
                for (const std::string& flipped : other_digits(number)) {
                    ++flips;
                    const std::string value = std::string(e->of().value.substr(0, at)) + flipped + std::string(e->of().value.substr(at + number.size()));
                    claim changed = e->of();
                    changed.value = value;
                    bool all_hold = true;
                    for (std::size_t i = 0; i < e->settled().n_parts; ++i)
                        if (e->settled().parts[i].takes_claim) all_hold = all_hold && holds_with(e->settled().parts[i], e->settled().parts[i].printed, changed);
                    INFO(id << ": value " << e->of().value << " as " << value);
                    CHECK_FALSE(all_hold);
                }
            }
        }
    WARN(flips << " values with one digit changed were refused");
    CHECK(flips > 500);
}

#else

TEST_CASE("the proofs were not built, so nothing is held against the ledger here", "[ledger]") { WARN("configure with ATTEST_BUILD_PROOFS=ON"); SUCCEED(); }

#endif
