// SPDX-License-Identifier: BSL-1.0
// The ledger against the proofs that were built: each claim that the compiler is said to have settled has just one entry, and an entry whose numbers are
// changed, digit by digit, is refused.
#include "catch.hpp"

#ifdef ATTEST_PROOFS_BUILT

#include "proofs/settle.hpp"

#include <fstream>
#include <map>
#include <string>
#include <vector>

using namespace attest::proofs;

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

// `text` with each of its digits replaced by each other one.
template <class F> void for_each_flip(std::string_view text, const F& f) {
    for (std::size_t i = 0; i < text.size(); ++i)
        if (text[i] >= '0' && text[i] <= '9')
            for (char digit = '0'; digit <= '9'; ++digit)
                if (digit != text[i]) {
                    std::string flipped(text);
                    flipped[i] = digit;
                    f(flipped);
                }
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
    std::size_t flips = 0;
    for (const auto& [id, of_id] : entries())
        for (const entry* e : of_id)
            for (std::size_t i = 0; i < e->settled().n_parts; ++i) {
                const settled_part& part = e->settled().parts[i];
                for_each_flip(part.printed, [&](const std::string& flipped) {
                    ++flips;
                    INFO(id << ", part " << i << ": " << part.printed << " printed as " << flipped);
                    CHECK_FALSE(holds_with(part, flipped, e->of()));
                });
            }
    WARN(flips << " printed numbers with one digit changed were refused");
    CHECK(flips > 1000);
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
                for_each_flip(number, [&](const std::string& flipped) {
                    ++flips;
                    const std::string value = std::string(e->of().value.substr(0, at)) + flipped + std::string(e->of().value.substr(at + number.size()));
                    claim changed = e->of();
                    changed.value = value;
                    bool all_hold = true;
                    for (std::size_t i = 0; i < e->settled().n_parts; ++i)
                        if (e->settled().parts[i].takes_claim) all_hold = all_hold && holds_with(e->settled().parts[i], e->settled().parts[i].printed, changed);
                    INFO(id << ": value " << e->of().value << " as " << value);
                    CHECK_FALSE(all_hold);
                });
            }
        }
    WARN(flips << " values with one digit changed were refused");
    CHECK(flips > 500);
}

#else

TEST_CASE("the proofs were not built, so nothing is held against the ledger here", "[ledger]") { WARN("configure with ATTEST_BUILD_PROOFS=ON"); SUCCEED(); }

#endif
