// SPDX-License-Identifier: BSL-1.0
// The ledger against the proofs that were built: each claim that the compiler is said to have settled has just one entry, and an entry
// is refused if its lecture had printed anything else: another digit, one digit more or less, another sign or operator.
#include "catch.hpp"

#ifdef ATTEST_PROOFS_BUILT

#include "entries.hpp"
#include "misprints.hpp"

#include <fstream>
#include <string>

using namespace attest::proofs;
using namespace attest::tests;

namespace {

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

TEST_CASE("an identity without points is none, nor is one that states another degree", "[ledger]") {
    std::size_t count = 0;
    for (const auto& [id, of_id] : entries())
        for (const entry* e : of_id) {
            if (e->of().seeds == 0) continue;
            ++count;
            INFO(id);
            claim changed = e->of();
            changed.seeds = 0;
            CHECK_FALSE(all_parts_hold(*e, changed));
            for (const unsigned degree : {0U, 1U, e->of().degree / 2, e->of().degree + 1, 2 * e->of().degree + 2}) {
                if (degree == e->of().degree) continue;
                changed = e->of();
                changed.degree = degree;
                CHECK_FALSE(all_parts_hold(*e, changed));
            }
        }
    CHECK(count > 90);
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

#else

TEST_CASE("the proofs were not built, so nothing is held against the ledger here", "[ledger]") { WARN("configure with ATTEST_BUILD_PROOFS=ON"); SUCCEED(); }

#endif
